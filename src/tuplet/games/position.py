"""What people hold: a `Game`, and positions of it, which are printed, drawn and played on.

`AnyPosition` is what positions of all games have in common. A game of one's own is a `Game`, and
its positions are `GamePosition`s, which know the rest from the game's kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games import game as generic
from tuplet.games.drawing import Cells, grid_svg, grid_text
from tuplet.games.game import MOST_MOVES, NOBODY, ONGOING, Int, Words, same_rules
from tuplet.kernel import as_seed, draw, implementation_of, kernel, stream

Array = np.ndarray[Any, Any]


@kernel
def legal_moves(game: Any, position: Words, moves: Array) -> int:
    """`legal`, to be called from Python."""
    return generic.legal(game, position, moves, 0)


@kernel
def apply_move(game: Any, position: Words, move: Int) -> Words:
    """`apply`, to be called from Python."""
    return generic.apply(game, position, move)


@kernel
def ended(game: Any, position: Words) -> int:
    """`ending`, to be called from Python."""
    return generic.ending(game, position)


class AnyPosition:
    """A position of any game; never changes: a move, or what chance does, gives a new one.

    Moves are texts, and so is what chance does. A kind of position has `game` (the name), `sides`,
    `rules` and `as_words()` (as searches take them), `at(words)`, `text_of`, `outcome_text`,
    `kind_of`, and `notation`.
    """

    __slots__ = ()

    rules: Any
    sides: Any  # tuple[str, ...]: their names, who moves first by the rules first
    game: Any  # str
    notation: Any  # str
    cells: Any  # the board as rows of short texts

    def as_words(self) -> Words:
        """The position as kernels take it."""
        raise NotImplementedError

    def at(self, words: Words) -> Any:
        """Another position of the same game."""
        raise NotImplementedError

    def text_of(self, code: int) -> str:
        """A move as text."""
        raise NotImplementedError

    def outcome_text(self, outcome: int) -> str:
        """What chance does, as text."""
        return str(outcome)

    def kind_of(self, ending: int) -> str:
        """How a game ended that ended so."""
        return "win" if generic.winner(self.rules, ending) != NOBODY else "draw"

    @property
    def ending(self) -> int:
        """ONGOING, or how the game ended, in its own code."""
        return int(ended(self.rules, self.as_words()))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.ending != ONGOING

    @property
    def is_chance(self) -> bool:
        """Whether chance acts before anybody can move."""
        return not self.over and bool(generic.is_chance(self.rules, self.as_words()))

    @property
    def turn(self) -> Any:
        """Who moves next, also where chance acts before."""
        return self.sides[int(generic.side(self.rules, self.as_words()))]

    @property
    def winner(self) -> Any:
        """Who has won, if anybody has."""
        won = int(generic.winner(self.rules, ending)) if (ending := self.ending) else NOBODY
        return None if won == NOBODY else self.sides[won]

    @property
    def kind(self) -> Any:
        """How the game ended, in a word; None while it goes on."""
        return self.kind_of(ending) if (ending := self.ending) else None

    @property
    def outcome(self) -> float | None:
        """What the first side has in the end: 1, 1/2 or 0, or its points; None until then."""
        ending = self.ending
        if ending == ONGOING:
            return None
        return float(generic.payoff(self.rules, self.as_words(), ending, False))

    def codes(self) -> list[int]:
        """The legal moves as kernels number them."""
        if self.over or self.is_chance:
            return []
        moves = np.zeros(MOST_MOVES, np.uint8)
        return [int(m) for m in moves[: legal_moves(self.rules, self.as_words(), moves)]]

    def legal_moves(self) -> Any:
        """The legal moves as text; none where the game is over, or chance acts."""
        return [self.text_of(code) for code in self.codes()]

    def code_of(self, move: str) -> int:
        """The number of a legal move; ValueError if it is not legal."""
        for code in self.codes():
            if self.text_of(code) == move:
                return code
        if self.over:
            raise UserError("the game is over")
        if self.is_chance:
            raise UserError(f"{self.needed()} first")
        raise UserError(f"{move!r} is not legal here: {', '.join(self.legal_moves())}")

    def play(self, move: str) -> Any:
        """The position after a legal move."""
        return self.after(self.code_of(move))

    def after(self, code: int) -> Any:
        """The position after a legal move, given by its number."""
        first, second = apply_move(self.rules, self.as_words(), code)
        return self.at((np.uint64(first), np.uint64(second)))

    def outcomes(self) -> dict[str, float]:
        """What chance can do here, and how likely each is."""
        if not self.is_chance:
            return {}
        rules, words = self.rules, self.as_words()
        return {
            self.outcome_text(n): float(generic.likelihood(rules, words, n))
            for n in range(generic.outcomes(rules, words))
        }

    def happen(self, outcome: object) -> Any:
        """The position after chance did it; ValueError if it cannot."""
        known = list(self.outcomes())
        if str(outcome) not in known:
            what = _few(known) if known else "chance does not act here"
            raise UserError(f"{outcome!r} cannot happen: {what}")
        done = generic.chance(self.rules, self.as_words(), known.index(str(outcome)))
        return self.at((np.uint64(done[0]), np.uint64(done[1])))

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and something that chance does."""
        state, bits = draw(np.uint64(state))
        outcome = generic.random_outcome(self.rules, self.as_words(), np.uint64(bits))
        return np.uint64(state), self.outcome_text(int(outcome))

    def random_move(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a legal move, each as likely as the others."""
        moves = self.legal_moves()
        state, bits = draw(np.uint64(state))
        return np.uint64(state), moves[(int(bits) >> 32) * len(moves) >> 32]

    def needed(self) -> str:
        """What must be done where chance acts."""
        return "chance must act"

    def as_json(self) -> dict[str, Any]:
        """As plain values: what stands there, who moves, and what can be done."""
        return {
            "game": self.game,
            "notation": self.notation,
            "cells": self.cells,
            "sides": list(self.sides),
            "turn": self.turn,
            "caption": self.caption(),
            "legal_moves": self.legal_moves(),
            "is_chance": self.is_chance,
            "outcomes": self.outcomes(),
            "over": self.over,
            "winner": self.winner,
            "kind": self.kind,
        }

    def caption(self) -> str:
        """Who has won, or who is to move."""
        if self.over and len(self.sides) == 1:
            return f"the game is over: {self.outcome:,.0f} points"
        if self.over:
            won = f"{self.winner} has won" if self.winner else "drawn"
            return f"{won} ({self.kind})"
        return self.needed() if self.is_chance else f"{self.turn} to move"


def _few(texts: Any) -> str:
    """Some of many texts."""
    texts = list(texts)
    return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")


class GamePosition(AnyPosition):
    """A position of a game of one's own."""

    __slots__ = ("held", "words")

    def __init__(self, held: Game, words: Words) -> None:
        self.held, self.words = held, (np.uint64(words[0]), np.uint64(words[1]))

    @property
    def rules(self) -> Any:
        """As kernels take them."""
        return self.held.rules

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.held.name

    @property
    def sides(self) -> tuple[str, ...]:
        """Their names."""
        return self.held.sides

    def as_words(self) -> Words:
        """The position as kernels take it."""
        return self.words

    def at(self, words: Words) -> GamePosition:
        """Another position of the same game."""
        return type(self)(self.held, words)

    def text_of(self, code: int) -> str:
        """A move as text."""
        return self.held.move_text(self.words, code)

    def outcome_text(self, outcome: int) -> str:
        """What chance does, as text."""
        return self.held.outcome_text(self.words, outcome)

    def kind_of(self, ending: int) -> str:
        """How a game ended that ended so."""
        return self.held.kind_of(ending)

    @property
    def notation(self) -> str:
        """One line: the game and the position; `Game.parse` undoes it."""
        return f"{self.game} {self.held.write(self.words)}"

    @property
    def cells(self) -> Cells:
        """The board as rows of short texts."""
        return self.held.cells(self.words)

    def __str__(self) -> str:
        board = grid_text(self.cells) if self.cells else self.notation
        return f"{board}\n{self.caption()}"

    def __repr__(self) -> str:
        return f"<{self.notation}>"

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return grid_svg(self.cells, self.held.colours, self.caption())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GamePosition) and (self.words == other.words and self.held == other.held)

    def __hash__(self) -> int:
        return hash((self.game, self.words))


class Game:
    """A game of one's own: its rules for kernels (see `register_game`), and how people see them.

    What follows `rules` has a usual meaning each; a class that inherits says what is different.
    """

    name: str
    rules: Any
    sides: tuple[str, ...] = ("first", "second")
    kinds: tuple[str, ...] = ()  # how games end, in a word; usually win and draw, or over
    colours: Mapping[str, str] = {}  # of what stands on the board
    openings: int = 0  # random steps that games of a match begin with, so that they differ
    actions: Any = 255  # all moves have numbers below it; Any, as a game may make it a property

    def __init__(self, rules: Any, name: str) -> None:
        self.rules, self.name = rules, name
        self.kinds = self.kinds or (("win", "draw") if self.players == 2 else ("over",))

    def first(self) -> Words:
        """The first position."""
        return np.uint64(0), np.uint64(0)

    def cells(self, words: Words) -> Cells:  # noqa: ARG002
        """The board as rows of short texts, "" for an empty cell."""
        return []

    def move_text(self, words: Words, code: int) -> str:  # noqa: ARG002
        """A move as people write it."""
        return str(code)

    def outcome_text(self, words: Words, outcome: int) -> str:  # noqa: ARG002
        """What chance does, as people write it."""
        return str(outcome)

    def kind_of(self, ending: int) -> str:
        """How a game ended: one of `kinds`."""
        return self.kinds[0 if generic.winner(self.rules, ending) != NOBODY else -1]

    def write(self, words: Words) -> str:
        """A position as text, which `read` undoes."""
        return "{:x}:{:x}".format(*map(int, words))

    def read(self, text: str) -> Words:
        """Undo `write`; ValueError says what is wrong with a text."""
        try:
            first, second = (np.uint64(int(word, 16)) for word in text.split(":"))
        except (ValueError, OverflowError):
            raise UserError("a position is two hexadecimal numbers, as in 0:1f") from None
        return first, second

    @property
    def players(self) -> int:
        """1, for points, or 2."""
        code: Any = implementation_of(generic.players, self.rules)
        return int(getattr(code, "py_func", code)(self.rules))  # nothing need be compiled

    @property
    def has_draws(self) -> bool:
        """Whether a game for two can end with no winner."""
        return bool(generic.has_draws(self.rules))

    def deal(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """A random stream's next state, and a first position."""
        return np.uint64(state), GamePosition(self, self.first())

    def start(self, seed: int = 0) -> Any:
        """A first position; where there are many, the seed's."""
        return self.deal(np.uint64(stream(as_seed(seed), np.uint64(0))))[1]

    def opening(self, state: np.uint64) -> tuple[np.uint64, Any]:
        """A position that a game of a match begins with: a first one, and `openings` steps."""
        state, position = self.deal(state)
        for _ in range(self.openings):
            if position.is_chance:
                state, outcome = position.random_outcome(state)
                after = position.happen(outcome)
            else:
                state, move = position.random_move(state)
                after = position.play(move)
            if after.over:
                break
            position = after
        return state, position

    def parse(self, text: str) -> Any:
        """Read a notation, with or without the game's name; ValueError says what is wrong."""
        words = text.split()
        if words and words[0] == self.name:
            del words[0]
        return GamePosition(self, self.read(" ".join(words)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and (self.name == other.name and same_rules(self.rules, other.rules))

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<Game {self.name}>"
