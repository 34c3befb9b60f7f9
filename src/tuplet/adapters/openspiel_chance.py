"""What chance does in our games, as numbered outcomes: before the first move, and between moves."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games import protocol as generic
from tuplet.games.ewn.game import EwnGame
from tuplet.games.ewn.position import EwnPosition
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.games.game import Game

Outcomes = list[tuple[int, float]]
MOST_OUTCOMES = 256  # of a game of one's own


class ChanceModel:
    """Of a game that has one first position (else it is that of seed 0)."""

    first: tuple[str, ...] = ()  # what is dealt before the first move, one after another
    most = MOST_OUTCOMES

    def __init__(self, game: Game) -> None:
        self.game = game

    def first_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:
        """What can be dealt next, and how likely it is."""
        raise UserError(f"nothing is dealt in {self.game.name} after {dealt}")

    def first_text(self, dealt: tuple[int, ...], outcome: int) -> str:
        """The same as people write it."""
        return f"{self.first[len(dealt)]} {outcome}"

    def position(self, dealt: tuple[int, ...]) -> Any:
        """The first position, when all is dealt; until then None."""
        return self.game.start() if len(dealt) == len(self.first) else None

    def outcomes(self, position: Any) -> Outcomes:
        """What chance can do in a position, and how likely it is."""
        rules, words = position.rules, position.words
        count = generic.count_outcomes(rules, words)
        return [(n, float(generic.probability(rules, words, n))) for n in range(count)]

    def apply_outcome(self, position: Any, outcome: int) -> Any:
        """The position after that."""
        one, other = generic.apply_outcome(position.rules, position.words, outcome)
        return position.at((np.uint64(one), np.uint64(other)))

    def text(self, position: Any, outcome: int) -> str:
        """An outcome as people write it."""
        return str(position.game.outcome_text(position.words, outcome))


class ChanceModel2048(ChanceModel):
    """Two tiles, then one after each move. An outcome is twice the cell, and 1 more for a 4."""

    first = ("tile", "tile")

    def __init__(self, game: Game2048) -> None:
        super().__init__(game)
        self.most = 2 * game.rows * game.columns

    def _tiles(self, board: Board) -> Outcomes:
        assert isinstance(self.game, Game2048)
        empty, four = board.empty, self.game.spawn4
        shares = [(more, p / len(empty)) for more, p in ((0, 1 - four), (1, four)) if p > 0]
        return [(2 * cell + more, p) for cell in empty for more, p in shares]

    def _board(self, dealt: tuple[int, ...]) -> Board:
        assert isinstance(self.game, Game2048)
        board = Board(rows=self.game.rows, columns=self.game.columns)
        for outcome in dealt:
            board = board.place(outcome // 2, 4 if outcome % 2 else 2)
        return board

    def first_outcomes(self, dealt: tuple[int, ...]) -> Outcomes:  # noqa: D102
        return self._tiles(self._board(dealt))

    def first_text(self, dealt: tuple[int, ...], outcome: int) -> str:  # noqa: ARG002, D102
        return _tile(outcome)

    def position(self, dealt: tuple[int, ...]) -> Position2048 | None:  # noqa: D102
        assert isinstance(self.game, Game2048)
        return self.game.position(self._board(dealt)) if len(dealt) == 2 else None

    def outcomes(self, position: Position2048) -> Outcomes:  # noqa: D102
        return self._tiles(position.board)

    def apply_outcome(self, position: Position2048, outcome: int) -> Position2048:  # noqa: D102
        board = position.place(outcome // 2, 4 if outcome % 2 else 2)
        return position.game.position(board, position.score)

    def text(self, position: Position2048, outcome: int) -> str:  # noqa: ARG002, D102
        return _tile(outcome)


def _tile(outcome: int) -> str:
    return f"{4 if outcome % 2 else 2}@{outcome // 2}"


@cache
def orders(cubes: int, first: int) -> list[tuple[int, ...]]:
    """The orders in which cubes can be placed."""
    return list(permutations(range(first, first + cubes)))


class ChanceModelEwn(ChanceModel):
    """How Red's cubes stand, and Blue's, then the values of a known die; the die between moves."""

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
    """What is dealt in a game."""
    if isinstance(game, Game2048):
        return ChanceModel2048(game)
    return ChanceModelEwn(game) if isinstance(game, EwnGame) else ChanceModel(game)
