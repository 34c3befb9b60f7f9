"""`Network`: an n-tuple network that people hold, ask, teach, save and load."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.analysis import MoveValue, best_of
from tuplet.games.g2048.board import Board, slide_values
from tuplet.games.g2048.rules import rules_for, view
from tuplet.values import tables as kernels
from tuplet.values.parameters import Parameters
from tuplet.values.patterns import format_tuple, placements
from tuplet.values.weights import read_weights, save_weights

Array = np.ndarray[Any, Any]


class Contribution(NamedTuple):
    """What one tuple, in its eight placements, adds to a board's value."""

    cells: str
    value: float
    placements: list[tuple[str, float]]  # the cells of each placement, and the weight found


class Network(Parameters):
    """V(board) as a sum of table look-ups: each tuple's table, in eight symmetric placements.

    `tuples` is a name ("4x6"), text ("0123 4567 ..."), or lists of cells. All weights start at
    `initial / m`, so that every board is worth `initial`. `target`, `gamma` and `spawn4` say
    what the values mean, and so how a move is chosen; training sets them.

    `board` is the size of the boards it looks at, 4x4 or smaller. With `stages`, some large
    tiles such as "16384 8192", a board's tables depend on which of them it holds; a weight that
    a later stage reads for the first time starts from the stage before.
    """

    @cached_property
    def tables(self) -> kernels.Tables:
        """The network as kernels take it."""
        marks = [tile.bit_length() - 1 for tile in self.stages]
        return kernels.make_tables(self.tuples, self.weights, marks, self.size)

    def tables_with_memory(self, name: str, count: int) -> kernels.Tables:
        """The same, with what a learner remembers of each weight: `count` numbers."""
        if count == 0:
            return self.tables
        return self.tables._replace(memory=self.learner_memory(name, count).reshape(-1))

    def grow(self, tuples: str) -> None:  # noqa: D102  # as said there
        super().grow(tuples)
        self.__dict__.pop("tables", None)

    def value(self, board: object) -> float:
        """V(board)."""
        return float(kernels.value(self.tables, self._view(board)))

    def update(self, board: object, target: float, alpha: float = 0.1) -> float:
        """Move V(board) by alpha * (target - V): each of the m weights by an m-th of that.

        Returns the error, target - V. (A board that is its own mirror image finds some weights
        more than once; such a weight takes its share each time, and V moves further. On boards
        smaller than 4x4, where that is common, shares are smaller and V moves by just that.)
        """
        return float(kernels.update(self.tables, self._view(board), np.float32(target), np.float32(alpha)))

    def explain(self, board: object) -> list[Contribution]:
        """Which tuple contributes what to V(board)."""
        weights = self.weights[kernels.weights_of(self.tables, self._view(board))].tolist()
        parts = []
        for t, cells in enumerate(self.tuples):
            own = weights[8 * t : 8 * t + 8]
            where = [format_tuple(p, self.size) for p in placements(cells, self.size)]
            spelled = format_tuple(cells, self.size)
            parts.append(Contribution(spelled, sum(own), list(zip(where, own, strict=True))))
        return parts

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left."""
        low, high = self.as_board(board).packed
        rewards, values = np.zeros(4, np.uint64), np.zeros(4, np.float32)
        kernels.move_values(
            rules_for(*self.size, self.spawn4),
            self.tables,
            self.target == "state",
            np.float32(self.gamma),
            low,
            high,
            rewards,
            values,
        )
        return slide_values(rewards, values)

    def best_move(self, board: object) -> str | None:
        """The legal move of the highest value (the first of equals), None if the game is over."""
        return best_of(self.moves(board))

    def save(self, path: str | Path) -> Path:
        """Write a weight file (safetensors) that holds what was visited."""
        return save_weights(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a weight file (ours, packed, or another program's), a run folder's weights, or a
        player that comes with tuplet ("small", "strong").
        """
        return cls.of(read_weights(path).parameters)

    @classmethod
    def of(cls, parameters: Parameters) -> Network:
        """The network of these parameters."""
        net = cls.__new__(cls)
        net.__dict__.update(parameters.__dict__)
        return net

    def __repr__(self) -> str:
        return f"Network({self.name!r}, target={self.target!r}, weights={len(self.weights):,})"

    def as_board(self, board: object) -> Board:
        """A board that the network can look at; ValueError for another."""
        if not isinstance(board, Board):
            rows, columns = self.size
            board = Board(board, rows=rows, columns=columns)  # type: ignore[arg-type]
        if (board.rows, board.columns) != self.size:
            rows, columns = self.size
            raise UserError(f"this network looks at {rows}x{columns} boards, not {board.rows}x{board.columns}")
        return board

    def _view(self, board: object) -> np.uint64:
        return np.uint64(view(*self.as_board(board).packed))
