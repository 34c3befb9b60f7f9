"""`Network`: an n-tuple network that people hold, ask, teach, save and load."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tuplet.games.g2048.board import MOVES, Board, Move
from tuplet.games.g2048.rules import as_share, rules_for, view
from tuplet.kernel import line_aligned
from tuplet.values import tables as kernels
from tuplet.values.patterns import (
    NETWORKS,
    SMALL_NETWORKS,
    Size,
    Tuple,
    as_size,
    parse,
    placements,
    spell,
)

Array = np.ndarray[Any, Any]
Target = Literal["afterstate", "state"]


class Contribution(NamedTuple):
    """What one tuple, in its eight placements, adds to a board's value."""

    cells: str
    value: float
    placements: list[tuple[str, float]]  # the cells of each placement, and the weight found


class MoveValue(NamedTuple):
    """A move as a player sees it. `value` is reward + V, None where the move is illegal."""

    move: Move
    legal: bool
    reward: int
    value: float | None


def best_of(moves: Iterable[MoveValue]) -> Move | None:
    """The legal move of the highest value (the first of equals), None if none is legal."""
    values = {move.move: move.value for move in moves if move.value is not None}
    return max(values, key=values.__getitem__, default=None)


class Network:
    """V(board) as a sum of table look-ups: each tuple's table, in eight symmetric placements.

    `tuples` is a name ("4x6"), text ("0123 4567 ..."), or lists of cells. All weights start at
    `initial / m`, so that every board is worth `initial`. `target`, `gamma` and `spawn4` say
    what the values mean, and so how a move is chosen; training sets them.

    `board` is the size of the boards it looks at, 4x4 or smaller. With `stages`, some large
    tiles such as "16384 8192", a board's tables depend on which of them it holds; a weight that
    a later stage reads for the first time starts from the stage before.
    """

    def __init__(
        self,
        tuples: str | Iterable[str | Sequence[int]] | None = None,
        *,
        board: str | Size = (4, 4),
        stages: str | Sequence[int] = (),
        initial: float = 0.0,
        target: Target = "afterstate",
        gamma: float = 1.0,
        spawn4: float = 0.1,
    ) -> None:
        if not abs(initial) <= 1e30:  # also refuses what is not a number
            raise ValueError(f"the initial value must be a finite number, not {initial}")
        if target not in ("afterstate", "state"):
            raise ValueError(f"the target is 'afterstate' or 'state', not {target!r}")
        if not 0 <= gamma <= 1:
            raise ValueError(f"the discount gamma is between 0 and 1, not {gamma}")
        self.size = as_size(board)
        self.tuples: list[Tuple] = parse(
            usual_network(self.size) if tuples is None else tuples, self.size
        )
        self.stages = as_stages(stages)
        self.target: Target = target
        self.gamma = gamma
        self.spawn4 = as_share(spawn4)
        self.initial = float(initial)
        stage = kernels.stage_size(self.tuples, 1 << len(self.stages))
        self.weights = _allocate(self, stage << len(self.stages))
        if self.initial != 0:
            self.weights[:stage] = self.initial_weight
        self.weights[stage:] = np.nan  # not read yet
        self.coherence: Array | None = None
        self.tables = self._lay_out()

    def _lay_out(self) -> kernels.Tables:
        flat = None if self.coherence is None else self.coherence.reshape(-1)
        marks = [tile.bit_length() - 1 for tile in self.stages]
        return kernels.make_tables(self.tuples, self.weights, flat, marks, self.size)

    def remember_updates(self) -> None:
        """Make room for what TC remembers of each weight, if there is none: `coherence`.

        float32[weights, 2]: the sum of a weight's updates, and the sum of their sizes.
        """
        if self.coherence is None:
            count = len(self.weights)
            self.coherence = _allocate(self, 2 * count, beside=count).reshape(-1, 2)
            self.tables = self._lay_out()

    @property
    def name(self) -> str:
        """The network's name, or its tuples where it has none."""
        spelled = " ".join(spell(t, self.size) for t in self.tuples)
        named = NETWORKS.items() if self.size == (4, 4) else ()
        return next((name for name, tuples in named if tuples == spelled), spelled)

    @property
    def m(self) -> int:
        """How many weights make up a value: eight for each tuple."""
        return 8 * len(self.tuples)

    @property
    def sizes(self) -> list[int]:
        """How many weights each table has: one for each tuple, stage after stage."""
        return [16 ** len(t) for t in self.tuples] * (1 << len(self.stages))

    @property
    def initial_weight(self) -> np.float32:
        """What every weight was before any learning."""
        return np.float32(self.initial / self.m)

    @property
    def trained(self) -> bool:
        """Whether any weight has left its initial value."""
        step, stage = 1 << 22, int(self.tables.stride)
        parts = (self.weights[i : min(i + step, stage)] for i in range(0, stage, step))
        return any(bool((part != self.initial_weight).any()) for part in parts)

    def table(self, number: int) -> Array:
        """The part of `weights` that is one table, in storage order."""
        return self.weights[self.span(number)]

    def span(self, number: int) -> slice:
        """Where in `weights` a table stands: tuple `number`'s, or in a later stage, counting on."""
        stage, number = divmod(number, len(self.tuples))
        start = stage * int(self.tables.stride) + kernels.table_starts(self.tuples)[number]
        return slice(start, start + self.sizes[number])

    def value(self, board: object) -> float:
        """V(board)."""
        return float(kernels.value(self.tables, self._view(board)))

    def update(self, board: object, target: float, alpha: float = 0.1) -> float:
        """Move V(board) by alpha * (target - V): each of the m weights by an m-th of that.

        Returns the error, target - V. (A board that is its own mirror image finds some weights
        more than once; such a weight takes its share each time, and V moves further. On boards
        smaller than 4x4, where that is common, shares are smaller and V moves by just that.)
        """
        return float(
            kernels.update(
                self.tables, self._view(board), np.float32(target), np.float32(alpha), False
            )
        )

    def explain(self, board: object) -> list[Contribution]:
        """Which tuple contributes what to V(board)."""
        weights = self.weights[kernels.weights_of(self.tables, self._view(board))].tolist()
        parts = []
        for t, cells in enumerate(self.tuples):
            own = weights[8 * t : 8 * t + 8]
            where = [spell(p, self.size) for p in placements(cells, self.size)]
            spelled = spell(cells, self.size)
            parts.append(Contribution(spelled, sum(own), list(zip(where, own, strict=True))))
        return parts

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left."""
        low, high = self.as_board(board).words
        rewards, values = np.zeros(4, np.uint64), np.zeros(4, np.float32)
        kernels.move_values(
            rules_for(*self.size, self.spawn4), self.tables, self.target == "state",
            np.float32(self.gamma), low, high, rewards, values,
        )  # fmt: skip
        return [
            MoveValue(move, not np.isnan(v), int(r) if not np.isnan(v) else 0,
                      None if np.isnan(v) else float(v))
            for move, r, v in zip(MOVES, rewards, values, strict=True)
        ]  # fmt: skip

    def best_move(self, board: object) -> Move | None:
        """The legal move of the highest value (the first of equals), None if the game is over."""
        return best_of(self.moves(board))

    def save(self, path: str | Path) -> Path:
        """Write a weight file (safetensors) that holds what was visited."""
        from tuplet.formats.weights import save_network

        return save_network(self, path)

    @staticmethod
    def load(path: str | Path) -> Network:
        """Read a weight file (ours, packed, or another program's), a run folder's weights, or the
        player that comes with tuplet ("small").
        """
        from tuplet.formats.weights import load_network

        return load_network(path)

    def __repr__(self) -> str:
        return f"Network({self.name!r}, target={self.target!r}, weights={len(self.weights):,})"

    def as_board(self, board: object) -> Board:
        """A board that the network can look at; ValueError for another."""
        if not isinstance(board, Board):
            rows, columns = self.size
            board = Board(board, rows=rows, columns=columns)  # type: ignore[arg-type]
        if (board.rows, board.columns) != self.size:
            rows, columns = self.size
            raise ValueError(
                f"this network looks at {rows}x{columns} boards, not {board.rows}x{board.columns}"
            )
        return board

    def _view(self, board: object) -> np.uint64:
        return np.uint64(view(*self.as_board(board).words))


def _available_memory() -> int:
    """Bytes that can still be had, as far as the system tells."""
    try:
        with Path("/proc/meminfo").open() as file:
            sizes = dict(line.split(":") for line in file)
        return int(sizes["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def usual_network(size: Size) -> str:
    """The tuples to take for a board where none are given."""
    if size == (4, 4):
        return "4x6"
    if size not in SMALL_NETWORKS:
        raise ValueError(
            f"there is no usual network for a {size[0]}x{size[1]} board: give its tuples, such as "
            '"012 345"'
        )
    return SMALL_NETWORKS[size]


def as_stages(tiles: str | Sequence[int]) -> tuple[int, ...]:
    """The tiles that tell the stages, from text or numbers; the largest first."""
    words = tiles.replace(",", " ").split() if isinstance(tiles, str) else tiles
    try:
        marks = tuple(sorted((int(word) for word in words), reverse=True))
    except (TypeError, ValueError):
        marks = (0,)
    if len(set(marks)) < len(marks) or not all(8 <= t <= 32768 and not t & (t - 1) for t in marks):
        raise ValueError(f"stages are told by different tiles from 8 to 32768, not {tiles!r}")
    if len(marks) > 5:
        raise ValueError(f"{len(marks)} tiles would make {2 ** len(marks)} stages: take at most 5")
    return marks


def _allocate(net: Network, count: int, beside: int = 0) -> Array:
    """Room for weights, or what TC remembers of them; zeros cost no memory until touched.

    Refused at once where the machine could never hold them (and those `beside` them, which may
    not be touched yet), instead of being killed later.
    """
    memory, needed = _available_memory(), 4 * (count + beside)
    if needed > memory:
        raise ValueError(
            f"network {net.name} needs {needed / 1e9:.1f} GB for its weights and this machine "
            f"has {memory / 1e9:.1f} GB free: take shorter tuples"
        )
    # Sixteen weights that are asked for together should share a cache line.
    return line_aligned(count, np.float32)
