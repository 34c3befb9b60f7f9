"""`Game`: the rules of a game for kernels, and how people see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games import protocol
from tuplet.games.drawing import Cells
from tuplet.games.position import Position
from tuplet.games.protocol import NO_WINNER, Words, same_rules
from tuplet.kernel import as_seed, implementation_of, stream


class Game:
    """A game: its rules as kernels take them (see `register_game`), and how people see them.

    Everything after `rules` has a default; a subclass overrides what differs.
    """

    name: str
    rules: Any
    sides: tuple[str, ...] = ("first", "second")
    terminations: tuple[str, ...] = ()  # how games end, a word each; by default win and draw, or over
    colours: Mapping[str, str] = {}  # of the texts on the board
    openings: int = 0  # random steps that games of a match begin with, so that they differ
    formats: Mapping[str, Any] = {}  # text formats of records besides JSON, by name: g2048/formats.py
    actions: Any = 255  # all moves have numbers below it; Any, as a game may make it a property

    def __init__(self, rules: Any, name: str) -> None:
        self.rules, self.name = rules, name
        self.terminations = self.terminations or (("win", "draw") if self.players == 2 else ("over",))

    @property
    def family(self) -> str:
        """The name without settings: all games of a family have one class of positions."""
        return self.name

    def first(self) -> Words:
        """The first position."""
        return np.uint64(0), np.uint64(0)

    def cells(self, words: Words) -> Cells:  # noqa: ARG002
        """The board as rows of short texts, "" for an empty cell."""
        return []

    def move_text(self, words: Words, action: int) -> str:  # noqa: ARG002
        """A move as people write it."""
        return str(action)

    def outcome_text(self, words: Words, outcome: int) -> str:  # noqa: ARG002
        """An outcome of chance as people write it."""
        return str(outcome)

    def termination_of(self, ending: int) -> str:
        """How a game ended: one of `terminations`."""
        return self.terminations[0 if protocol.winner(self.rules, ending) != NO_WINNER else -1]

    def write(self, words: Words) -> str:
        """A position as text, which `read` understands."""
        return "{:x}:{:x}".format(*map(int, words))

    def read(self, text: str) -> Words:
        """Read what `write` made; UserError says what is wrong with a text."""
        try:
            first, second = (np.uint64(int(word, 16)) for word in text.split(":"))
        except (ValueError, OverflowError):
            raise UserError("a position is two hexadecimal numbers, as in 0:1f") from None
        return first, second

    @property
    def players(self) -> int:
        """1, for points, or 2."""
        code: Any = implementation_of(protocol.players, self.rules)
        return int(getattr(code, "py_func", code)(self.rules))  # nothing need be compiled

    @property
    def has_draws(self) -> bool:
        """Whether a game for two can end with no winner."""
        return bool(protocol.has_draws(self.rules))

    def initial_position(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """The random stream's next state, and a first position."""
        return np.uint64(state), Position(self, self.first())

    def start(self, seed: int = 0) -> Any:
        """A first position; where there are several, the seed chooses."""
        return self.initial_position(np.uint64(stream(as_seed(seed), np.uint64(0))))[1]

    def opening(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """The random stream's next state, and a first position followed by `openings` random steps."""
        state, position = self.initial_position(state)
        for _ in range(self.openings):
            if position.is_chance:
                state, outcome = position.random_outcome(state)
                after = position.apply_outcome(outcome)
            else:
                state, move = position.random_move(state)
                after = position.play(move)
            if after.over:
                break
            position = after
        return state, position

    def parse(self, text: str) -> Any:
        """Read a notation, with or without the game's name; UserError says what is wrong."""
        words = text.split()
        if words and words[0] == self.name:
            del words[0]
        return Position(self, self.read(" ".join(words)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and (self.name == other.name and same_rules(self.rules, other.rules))

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<Game {self.name}>"
