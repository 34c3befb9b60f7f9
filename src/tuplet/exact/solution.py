"""`Solution`: the exact value of every board of a small 2048, to look up, save and load.

The file is a safetensors file: `sums` and `counts` (int64) of the layers, and for all their states,
layer by layer and sorted, `keys` (uint32) and `values` (float64): twelve bytes per state. It is
memory-mapped, so opening a large table takes no time and no memory.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.exact.layers import pack
from tuplet.exact.table_files import Header, map_arrays, read_header, write_table
from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.g2048.board import MOVES, Board
from tuplet.games.g2048.rules import as_share, rules_for
from tuplet.games.g2048.symmetry import canonical_all
from tuplet.games.protocol import Array
from tuplet.system.tables import Displayable, TextTable

FORMAT = "tuplet-solution-1"
SIZES = ("2x2", "2x3", "3x2", "2x4", "4x2", "3x3")
_ARRAYS = {"sums": "<i8", "counts": "<i8", "values": "<f8", "keys": "<u4"}


def solvable(board: str | tuple[int, int]) -> tuple[int, int]:
    """The rows and columns of a board that can be solved; UserError for any other."""
    text = board if isinstance(board, str) else "x".join(map(str, board))
    if text not in SIZES:
        what = "cannot be solved" if re.fullmatch(r"[2-4]x[2-4]", text) else "is not a board"
        raise UserError(f"{text} {what}: {', '.join(SIZES)} can be solved")
    return int(text[0]), int(text[2])


class Solution(Displayable):
    """Optimal play on a small board.

    >>> import tuplet
    >>> solution = tuplet.solve("2x2")
    >>> round(solution.expected_score, 6), solution.states
    (66.964149, 110)
    >>> solution.best_move([[2, 2], [4, 8]])
    'left'
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        spawn4: float,
        *,
        sums: Array,
        counts: Array,
        keys: Array,
        values: Array,
        expected_score: float,
        random_score: float,
        reached: dict[int, float],
        after_states: int,
    ) -> None:
        self.rows, self.columns, self.spawn4 = rows, columns, spawn4
        self.sums, self.counts = sums, counts  # of the layers
        self.keys, self.values = keys, values  # of the states, layer by layer
        self.expected_score = expected_score  # of optimal play
        self.random_score = random_score  # of random play
        self.reached = reached  # tile -> probability, for play that only aims at this tile
        self.after_states = after_states
        ends = np.cumsum(counts).tolist()
        self._slices = dict(zip(sums.tolist(), zip([0, *ends[:-1]], ends, strict=True), strict=True))
        self.rules = rules_for(rows, columns)

    @property
    def size(self) -> str:
        """The board's size: "3x3"."""
        return f"{self.rows}x{self.columns}"

    @property
    def states(self) -> int:
        """The number of states, counting mirror images and rotations once."""
        return len(self.keys)

    def layer(self, total: int) -> slice:
        """The part of `keys` and `values` for the states with this sum of tiles."""
        return slice(*self._slices.get(total, (0, 0)))

    def value(self, board: object) -> float:
        """The expected score of optimal play from a state."""
        return float(self._values([self.as_board(board)])[0])

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with their reward, and value: reward + expected score of optimal play."""
        after = self.as_board(board).after_states()
        return [
            MoveValue(move, after[move][1] + self.expected(after[move][0]), True, after[move][1])
            if move in after
            else MoveValue(move, None, legal=False)
            for move in MOVES
        ]

    def expected(self, after: Board) -> float:
        """The expected score of optimal play from an after-state: the mean over all new tiles."""
        boards, shares = zip(*after.spawns(self.spawn4), strict=True)
        return float(np.dot(shares, self._values(boards)))

    def best_move(self, board: object) -> str | None:
        """The legal move with the highest value (the first of equals), None if the game is over."""
        return best_of(self.moves(board))

    def fresh(self) -> Solution:
        """Itself: threads may share it."""
        return self

    def choose(self, position: object) -> str:
        """The best move: a solution is an agent."""
        move = self.best_move(position)
        if move is None:
            raise UserError("no move is legal: the game is over")
        return move

    def analyze(self, board: object) -> Analysis:
        """All four moves with their exact values."""
        position = self.as_board(board)
        moves = self.moves(position)
        note = "Exact: reward + expected score of optimal play."
        return Analysis(moves, best_of(moves), note=note, points=True, position=position)

    def _values(self, boards: tuple[Board, ...] | list[Board]) -> Array:
        words = np.array([board.packed[0] for board in boards], np.uint64)
        canonical_all(self.rules, words)
        keys = np.empty(len(words), np.uint32)
        pack(self.rules.cells, words, keys)
        values = np.empty(len(words))
        for i, board in enumerate(boards):
            layer = self.layer(sum(board.tiles))
            at = int(np.searchsorted(self.keys[layer], keys[i])) + layer.start
            if at >= layer.stop or self.keys[at] != keys[i]:
                raise UserError(f"this board does not occur in any game: {board!r}")
            values[i] = self.values[at]
        return values

    def as_board(self, board: object) -> Board:
        """A board of the solution's size, from a position or anything `Board` takes."""
        board = getattr(board, "board", board)
        if not isinstance(board, Board):
            board = Board(board, rows=self.rows, columns=self.columns)  # type: ignore[arg-type]
        if (board.rows, board.columns) != (self.rows, self.columns):
            raise UserError(f"this solution is for {self.size} boards (got {board.rows}x{board.columns})")
        return board

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "board": self.size,
            "spawn4": self.spawn4,
            "expected_score": self.expected_score,
            "random_score": self.random_score,
            "states": self.states,
            "after_states": self.after_states,
            "layers": len(self.sums),
            "reached": {str(tile): chance for tile, chance in self.reached.items()},
        }

    def text_tables(self) -> list[TextTable]:
        """The scores of optimal and random play, and the probability of each tile."""
        title = (
            f"{self.size}, fours {100 * self.spawn4:g} %: {self.states:,} states, "
            f"{self.after_states:,} after-states (mirror images counted once)"
        )
        scores = [["optimal play", f"{self.expected_score:,.6f}"], ["random play", f"{self.random_score:,.6f}"]]
        tiles = [[str(tile), f"{chance:.10f}"] for tile, chance in self.reached.items()]
        columns = ["tile", "probability of reaching it, if play aims at nothing else"]
        return [TextTable(title, (), scores, strong=(1,), words=(0, 1)), TextTable("", columns, tiles, words=())]

    def save(self, path: str | Path) -> Path:
        """Write the table beside `path` and rename it into place: 12 bytes per state."""
        notes = {"format": FORMAT, "solution": json.dumps(self.as_json())}
        arrays = {name: np.ascontiguousarray(getattr(self, name), kind) for name, kind in _ARRAYS.items()}
        return write_table(path, notes, arrays)

    @staticmethod
    def load(path: str | Path) -> Solution:
        """Open a table. Raises UserError if it is not valid."""
        path = Path(path)
        header = read_header(path, FORMAT)
        if header is None:
            raise UserError(f"{path} is not a table of exact values")
        try:
            return _read(path, header)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UserError(f"{path} is not a valid table of exact values: {error}") from None

    def __repr__(self) -> str:
        return f"<Solution of {self.size}: {self.states:,} states, {self.expected_score:,.2f}>"


def is_solution(path: str | Path) -> bool:
    """Whether a file is a table of exact values, judged by its contents."""
    path = Path(path)
    return path.is_file() and read_header(path, FORMAT) is not None


def _read(path: Path, header: Header) -> Solution:
    def need(valid: bool, text: str) -> None:
        if not valid:
            raise UserError(text)

    notes = json.loads(header["__metadata__"]["solution"])
    rows, columns = solvable(notes["board"])
    arrays = map_arrays(path, header, _ARRAYS)
    sums, counts = arrays["sums"], arrays["counts"]
    states = len(arrays["keys"])
    need(len(sums) == len(counts) < 1 << 11, "sums and counts differ")
    need(bool((counts > 0).all() and (counts <= states).all()), "a layer's count is wrong")
    need(int(counts.sum()) == states == len(arrays["values"]), "the arrays' lengths differ")
    need(bool((np.diff(sums) > 0).all()) and sums[0] >= 4, "the layers are out of order")
    reached = {int(tile): float(chance) for tile, chance in notes["reached"].items()}
    scores = float(notes["expected_score"]), float(notes["random_score"])
    need(all(map(math.isfinite, (*scores, *reached.values()))), "a value is not a finite number")
    return Solution(
        rows,
        columns,
        as_share(float(notes["spawn4"])),
        **arrays,
        expected_score=scores[0],
        random_score=scores[1],
        reached=reached,
        after_states=int(notes["after_states"]),
    )
