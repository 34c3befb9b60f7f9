"""`Game`: the rules of a game for kernels, and how people see them. `Position`: one of its positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games import protocol
from tuplet.games.drawing import Cells, grid_svg, grid_text
from tuplet.games.protocol import MOST_MOVES, NO_WINNER, ONGOING, Words, call_apply, call_ending, call_legal, same_rules
from tuplet.kernel import as_seed, draw, implementation_of, stream

if TYPE_CHECKING:
    from tuplet.games.analysis import MoveValue


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
    encoding: Any = None  # an `Encoding`, if it can be learned: how a position looks to a network
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

    self_play_varies = False  # whether `self_play_start` gives other rules for other states

    def self_play_start(self, state: np.uint64) -> tuple[Any, Words]:  # noqa: ARG002
        """Rules and a first position for some games of self-play; kernels vary it further (`random_start`)."""
        return self.rules, self.first()

    def opening(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """The random stream's next state, and a first position followed by `openings` random steps."""
        state, position = self.initial_position(state)
        for _ in range(self.openings):
            state, after = position.random_step(state)
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


class Position:
    """A position of a game. It never changes: a move, or an outcome of chance, gives a new one.

    Moves and outcomes are texts. Actions are the numbers that kernels use for moves.
    """

    __slots__ = ("game", "words")

    game: Any  # Game
    words: Words  # the position as kernels take it

    def __init__(self, game: Game, words: Words) -> None:
        self.game, self.words = game, (np.uint64(words[0]), np.uint64(words[1]))

    @staticmethod
    def parse(notation: str) -> Any:
        """Read a notation of any known game; UserError says what is wrong with it."""
        from tuplet.games.registry import parse_position  # which imports this module

        return parse_position(notation)

    @property
    def rules(self) -> Any:
        """The rules as kernels take them."""
        return self.game.rules

    @property
    def sides(self) -> Any:
        """The names of the sides; the first one moves first by the rules."""
        return self.game.sides

    def at(self, words: Words) -> Any:
        """Another position of the same game."""
        return type(self)(self.game, words)

    def move_text(self, action: int) -> str:
        """A move as text."""
        return str(self.game.move_text(self.words, action))

    @property
    def ending(self) -> int:
        """ONGOING, or how the game ended, in the game's own code."""
        return int(call_ending(self.rules, self.words))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.ending != ONGOING

    @property
    def is_chance(self) -> bool:
        """Whether chance acts before the next move."""
        return not self.over and bool(protocol.is_chance(self.rules, self.words))

    @property
    def turn(self) -> Any:
        """The side that moves next, also where chance acts before it."""
        return self.sides[0 if len(self.sides) == 1 else int(protocol.side(self.rules, self.words))]

    @property
    def winner(self) -> Any:
        """The side that has won; None if there is none, as in a game for one."""
        ending = ONGOING if len(self.sides) == 1 else self.ending
        won = int(protocol.winner(self.rules, ending)) if ending else NO_WINNER
        return None if won == NO_WINNER else self.sides[won]

    @property
    def termination(self) -> str | None:
        """How the game ended, in one word; None while it goes on."""
        return self.game.termination_of(ending) if (ending := self.ending) else None

    @property
    def result(self) -> float | None:
        """The result of the first side: 1, 1/2 or 0, or its points; None while the game goes on."""
        ending = self.ending
        if ending == ONGOING:
            return None
        return float(protocol.payoff(self.rules, self.words, ending, False))

    def legal_actions(self) -> list[int]:
        """The legal moves as kernels number them."""
        if self.over or self.is_chance:
            return []
        moves = np.zeros(MOST_MOVES, np.uint8)
        return [int(m) for m in moves[: call_legal(self.rules, self.words, moves)]]

    def legal_moves(self) -> Any:
        """The legal moves as text; empty where the game is over or chance acts."""
        return [self.move_text(action) for action in self.legal_actions()]

    def action_of(self, move: str) -> int:
        """The number of a legal move; UserError if it is not legal."""
        for action in self.legal_actions():
            if self.move_text(action) == move:
                return action
        if self.over:
            raise UserError("the game is over")
        if self.is_chance:
            raise UserError(f"{self.chance_prompt()} first")
        raise UserError(f"{move!r} is not legal here: {', '.join(self.legal_moves())}")

    def all_moves(self, values: Iterable[MoveValue]) -> list[MoveValue]:
        """The moves of an analysis, as this game lists them."""
        return list(values)

    def play(self, move: str) -> Any:
        """The position after a legal move."""
        return self.after(self.action_of(move))

    def after(self, action: int) -> Any:
        """The position after a legal move, given by its number."""
        first, second = call_apply(self.rules, self.words, action)
        return self.at((np.uint64(first), np.uint64(second)))

    def chance_outcomes(self) -> dict[str, float]:
        """The outcomes of chance in this position, each with its probability."""
        if not self.is_chance:
            return {}
        rules, words = self.rules, self.words
        return {
            self.game.outcome_text(words, n): float(protocol.probability(rules, words, n))
            for n in range(protocol.count_outcomes(rules, words))
        }

    def apply_outcome(self, outcome: object) -> Any:
        """The position after an outcome of chance; UserError if it is not possible."""
        known = list(self.chance_outcomes())
        if str(outcome) not in known:
            some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            raise UserError(f"{outcome!r} cannot happen: {some or 'chance does not act here'}")
        first, second = protocol.apply_outcome(self.rules, self.words, known.index(str(outcome)))
        return self.at((np.uint64(first), np.uint64(second)))

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a random outcome of chance."""
        state, bits = draw(np.uint64(state))
        outcome = protocol.random_outcome(self.rules, self.words, np.uint64(bits))
        return np.uint64(state), self.game.outcome_text(self.words, int(outcome))

    def random_move(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a legal move, all equally likely."""
        moves = self.legal_moves()
        state, bits = draw(np.uint64(state))
        return np.uint64(state), moves[(int(bits) >> 32) * len(moves) >> 32]

    def random_step(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """The random stream's next state, and the position after a random move or outcome of chance."""
        if self.is_chance:
            state, outcome = self.random_outcome(state)
            return state, self.apply_outcome(outcome)
        state, move = self.random_move(state)
        return state, self.play(move)

    def chance_prompt(self) -> str:
        """What must be done where chance acts."""
        return "chance must act"

    def as_json(self) -> dict[str, Any]:
        """As plain values: the board, the side to move, and what can be done."""
        return {
            "game": self.game.name,
            "notation": self.notation,
            "cells": self.cells,
            "sides": list(self.sides),
            "turn": self.turn,
            "caption": self.caption(),
            "legal_moves": self.legal_moves(),
            "is_chance": self.is_chance,
            "outcomes": self.chance_outcomes(),
            "over": self.over,
            "winner": self.winner,
            "kind": self.termination,
        }

    def caption(self) -> str:
        """The winner, or the side to move."""
        if self.over and len(self.sides) == 1:
            return f"the game is over: {self.result:,.0f} points"
        if self.over:
            won = f"{self.winner} has won" if self.winner else "drawn"
            return f"{won} ({self.termination})"
        return self.chance_prompt() if self.is_chance else f"{self.turn} to move"

    @property
    def notation(self) -> str:
        """The position as one line: the name of the game, and what `Game.write` makes; `parse` reads it."""
        return f"{self.game.name} {self.game.write(self.words)}"

    @property
    def cells(self) -> Cells:
        """The board as rows of short texts, "" for an empty cell."""
        return self.game.cells(self.words)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        board = grid_text(self.cells) if self.cells else self.notation
        return f"{board}\n{self.caption()}"

    def __repr__(self) -> str:
        return f"Position.parse({self.notation!r})"

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return grid_svg(self.cells, self.game.colours, self.caption())

    def _key(self) -> tuple[object, ...]:
        """What makes two positions equal."""
        return self.words, self.game

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.words, self.game.name))

    def __deepcopy__(self, memo: object) -> Position:
        return self  # it never changes

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Position.parse, (self.notation,)  # the tables of the rules are not sent
