"""Chance in tuplet's games as numbered outcomes, before the first move and between moves."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import Any

from tuplet.errors import UserError
from tuplet.games import protocol as generic
from tuplet.games.ewn.game import EwnGame
from tuplet.games.ewn.position import EwnPosition
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.games.game import Game

Outcomes = list[tuple[int, float]]
MOST_OUTCOMES = 256  # of a user's game


class ChanceModel:
    """The chance of a game with one initial position (otherwise that of seed 0)."""

    first: tuple[str, ...] = ()  # the chance nodes before the first move
    most = MOST_OUTCOMES

    def __init__(self, game: Any) -> None:
        self.game = game

    def first_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:
        """The outcomes of the next chance node before the first move, and their probabilities."""
        raise UserError(f"nothing is dealt in {self.game.name} after {dealt}")

    def first_text(self, dealt: tuple[int, ...], outcome: int) -> str:
        """Such an outcome as text."""
        return f"{self.first[len(dealt)]} {outcome}"

    def position(self, dealt: tuple[int, ...]) -> Any:
        """The initial position once everything is dealt; None before."""
        return self.game.start() if len(dealt) == len(self.first) else None

    def outcomes(self, position: Any) -> Outcomes:
        """The outcomes of chance in a position, and their probabilities."""
        rules, words = position.rules, position.words
        count = generic.count_outcomes(rules, words)
        shares = ((n, float(generic.probability(rules, words, n))) for n in range(count))
        return [(n, share) for n, share in shares if share > 0]

    def apply_outcome(self, position: Any, outcome: int) -> Any:
        """The position after an outcome."""
        return position.apply_outcome(self.text(position, outcome))

    def text(self, position: Any, outcome: int) -> str:
        """An outcome as text."""
        return str(position.game.outcome_text(position.words, outcome))


class ChanceModel2048(ChanceModel):
    """Two tiles before the first move, then one after each move: outcome 2n is a 2 on empty cell n, 2n + 1 a 4."""

    first = ("tile", "tile")

    def __init__(self, game: Game2048) -> None:
        super().__init__(game)
        self.most = 2 * game.rows * game.columns

    def _board(self, dealt: tuple[int, ...]) -> Board:
        board = Board(rows=self.game.rows, columns=self.game.columns)
        for outcome in dealt:
            board = board.place(board.empty[outcome // 2], 4 if outcome % 2 else 2)
        return board

    def first_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:  # noqa: D102
        return self.outcomes(self.game.position(self._board(dealt), 0, tile_due=True))

    def first_text(self, dealt: tuple[int, ...], outcome: int) -> str:  # noqa: D102
        return self.text(self.game.position(self._board(dealt), 0, tile_due=True), outcome)

    def position(self, dealt: tuple[int, ...]) -> Position2048 | None:  # noqa: D102
        return self.game.position(self._board(dealt)) if len(dealt) == 2 else None


@cache
def orders(cubes: int, first: int) -> list[tuple[int, ...]]:
    """The orders in which cubes can be placed."""
    return list(permutations(range(first, first + cubes)))


class ChanceModelEwn(ChanceModel):
    """Red's and Blue's arrangement, then the values of a known die; between moves the die."""

    def __init__(self, game: EwnGame) -> None:
        super().__init__(game)
        self.kind = game
        self.first = ("red", "blue", *["die"] * self.kind.cycle)
        self.most = factorial(self.kind.cubes)

    def first_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:  # noqa: D102
        count = factorial(self.kind.cubes) if len(dealt) < 2 else self.kind.cubes
        return [(n, 1 / count) for n in range(count)]

    def first_text(self, dealt: tuple[int, ...], outcome: int) -> str:  # noqa: D102
        if len(dealt) >= 2:
            return f"die {outcome + self.kind.first_cube}"
        order = orders(self.kind.cubes, self.kind.first_cube)[outcome]
        return f"{self.first[len(dealt)]} {''.join(map(str, order))}"

    def position(self, dealt: tuple[int, ...]) -> EwnPosition | None:  # noqa: D102
        if len(dealt) < len(self.first):
            return None
        red, blue = (orders(self.kind.cubes, self.kind.first_cube)[n] for n in dealt[:2])
        die = [value + self.kind.first_cube for value in dealt[2:]]
        return EwnGame(self.kind.name).setup(red=red, blue=blue, die=die)


def chance_model_of(game: Game) -> ChanceModel:
    """The chance model of a game."""
    if isinstance(game, Game2048):
        return ChanceModel2048(game)
    return ChanceModelEwn(game) if isinstance(game, EwnGame) else ChanceModel(game)
