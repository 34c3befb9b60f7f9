"""`Network`: an n-tuple network to evaluate, train, save and load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.analysis import MoveValue, best_of
from tuplet.games.g2048.board import Board, Size, as_size, slide_values
from tuplet.games.g2048.rules import as_share, rules_for, view
from tuplet.kernel import line_aligned
from tuplet.system.memory import available_memory
from tuplet.values import tables as kernels
from tuplet.values.patterns import (
    NETWORKS,
    Tuple,
    add_tuples,
    default_network,
    format_tuple,
    format_tuples,
    parse,
    parse_stages,
    placements,
)

Array = np.ndarray[Any, Any]
Target = Literal["afterstate", "state"]

MAX_WEIGHT = 1e30  # sums of weights, and initial values, stay far from float32's limit
COHERENCE = "coherence"  # the name of TC's memory: E and A of each weight


class Memory(NamedTuple):
    """The numbers that a learner keeps for each weight, such as TC's E and A."""

    name: str  # of the arrays in a file
    values: Array  # float32[weights, k]


class Contribution(NamedTuple):
    """What one tuple, in its eight placements, adds to a board's value."""

    cells: str
    value: float
    placements: list[tuple[str, float]]  # the cells of each placement, and its weight


class TableNetwork:
    """What networks of all games have: weights in one array, and a learner's memory beside them."""

    name: Any  # a text, or a property
    weights: Array
    memory: Memory | None
    tables: Any  # the network as kernels take it

    def tables_with_memory(self, name: str, count: int) -> Any:
        """The same, with a learner's memory of `count` numbers for each weight."""
        if count == 0:
            return self.tables
        return self.tables._replace(memory=self.learner_memory(name, count).reshape(-1))

    def learner_memory(self, name: str, count: int) -> Array:
        """A learner's `count` numbers for each weight, float32[weights, count].

        Starts with zeros, and replaces the memory of another learner.
        """
        if self.memory is None or self.memory.name != name:
            weights = len(self.weights)
            self.memory = Memory(name, allocate(self.name, count * weights, beside=weights).reshape(-1, count))
        if self.memory.values.shape[1] != count:
            raise UserError(f"{name} needs {count} numbers for each weight (got {self.memory.values.shape[1]})")
        return self.memory.values

    def has_learner_memory(self, name: str) -> bool:
        """Whether there is a learner's memory of this name."""
        return self.memory is not None and self.memory.name == name


class Network(TableNetwork):
    """V(board) as a sum of table look-ups: each tuple's table, in eight symmetric placements.

    `tuples` is a name ("4x6"), text ("0123 4567 ..."), or lists of cells. All weights start at
    `initial / m`, so that the value of every board is `initial`; weights of tuples added later
    (`grow`) start at 0, so that no value changes. `original_tuples` is the number of the others.
    `target`, `gamma` and `spawn4` define what the values mean, and so how a move is chosen;
    training sets them.

    `board` is the size of its boards, 4x4 or smaller. With `stages`, some large tiles such as
    "16384 8192", a board's tables depend on which of them it has; a weight that a later stage
    reads for the first time starts from the stage before.
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
        original_tuples: int | None = None,
    ) -> None:
        if not abs(initial) <= MAX_WEIGHT:  # also refuses NaN
            raise UserError(f"the initial value must be a finite number (got {initial})")
        if target not in ("afterstate", "state"):
            raise UserError(f"the target must be 'afterstate' or 'state' (got {target!r})")
        if not 0 <= gamma <= 1:
            raise UserError(f"gamma must be 0 to 1 (got {gamma})")
        self.size = as_size(board)
        self.tuples: list[Tuple] = parse(default_network(self.size) if tuples is None else tuples, self.size)
        self.original_tuples = len(self.tuples) if original_tuples is None else original_tuples
        if not 1 <= self.original_tuples <= len(self.tuples):
            raise UserError(f"the original tuples must be 1 to {len(self.tuples)} (got {original_tuples})")
        self.stages = parse_stages(stages)
        self.target: Target = target
        self.gamma = float(gamma)
        self.spawn4 = float(as_share(spawn4))
        self.initial = float(initial)
        self.stride = kernels.stage_size(self.tuples, 1 << len(self.stages))  # weights per stage
        self.weights = allocate(self.name, self.stride << len(self.stages))
        if self.initial != 0:
            for t in range(self.original_tuples):
                self.table(t)[:] = self.initial_weight(t)
        self.weights[self.stride :] = np.nan  # never read
        self.memory: Memory | None = None

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a weight file (tuplet's, packed, or another program's), a run folder's weights, or
        a player that comes with tuplet ("small", "strong").
        """
        from tuplet.values.weights import read_weights  # which imports this module

        network = read_weights(path).network
        if not isinstance(network, Network):
            raise UserError(f"{path} holds values of {network.game.name}, not of 2048")
        return network

    def save(self, path: str | Path) -> Path:
        """Write the visited weights to a weight file (safetensors)."""
        from tuplet.values.weights import save_weights

        return save_weights(self, path)

    def empty_copy(self) -> Network:
        """A network of the same kind, with no weights of its own yet."""
        copy = Network(
            self.name,
            board=self.size,
            stages=self.stages,
            target=self.target,
            gamma=self.gamma,
            spawn4=self.spawn4,
            original_tuples=self.original_tuples,
        )
        copy.initial = self.initial
        return copy

    def __repr__(self) -> str:
        return f"Network({self.name!r}, target={self.target!r}, weights={len(self.weights):,})"

    @property
    def name(self) -> str:
        """The network's name, or its tuples if it has none."""
        text = format_tuples(self.tuples, self.size)
        named = NETWORKS.items() if self.size == (4, 4) else ()
        return next((name for name, tuples in named if tuples == text), text)

    @property
    def m(self) -> int:
        """The number of weights summed for a value: eight for each tuple."""
        return 8 * len(self.tuples)

    @property
    def metadata(self) -> dict[str, str]:
        """What a weight file says of it."""
        return {
            "board": "x".join(str(n) for n in self.size),
            "tuples": format_tuples(self.tuples, self.size),
            "stages": " ".join(str(tile) for tile in self.stages),
            "target": self.target,
            "gamma": repr(self.gamma),
            "spawn4": repr(self.spawn4),
            "initial": repr(self.initial),
            **({"born": str(self.original_tuples)} if self.original_tuples < len(self.tuples) else {}),
        }

    def file_order(self, number: int) -> kernels.FileOrder:
        """The order of a table in files."""
        return kernels.FileOrder(self.tuples[number % len(self.tuples)])

    @property
    def trained(self) -> bool:
        """Whether any weight differs from its initial value."""
        step = 1 << 22
        return any(
            bool((table[i : i + step] != self.initial_weight(t)).any())
            for t, table in enumerate(map(self.table, range(len(self.tuples))))
            for i in range(0, len(table), step)
        )

    # Values and moves

    def value(self, board: object) -> float:
        """V(board)."""
        return float(kernels.value(self.tables, self._view(board)))

    def update(self, board: object, target: float, alpha: float = 0.1) -> float:
        """Move V(board) by alpha * (target - V), in equal parts to its m weights.

        Returns the error, target - V. (A board that is its own mirror image reads some weights more
        than once; each time such a weight gets its part, and V moves further. On boards smaller
        than 4x4, where that is common, the parts are smaller and V moves by exactly that much.)
        """
        return float(kernels.update(self.tables, self._view(board), np.float32(target), np.float32(alpha)))

    def explain(self, board: object) -> list[Contribution]:
        """What each tuple contributes to V(board)."""
        weights = self.weights[kernels.weight_indices(self.tables, self._view(board))].reshape(-1, 8).tolist()
        return [
            Contribution(
                format_tuple(cells, self.size),
                sum(own),
                [(format_tuple(p, self.size), w) for p, w in zip(placements(cells, self.size), own, strict=True)],
            )
            for cells, own in zip(self.tuples, weights, strict=True)
        ]

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left."""
        low, high = self.as_board(board).packed
        rules, states, gamma = rules_for(*self.size, self.spawn4), self.target == "state", np.float32(self.gamma)
        rewards, values = np.zeros(4, np.uint64), np.zeros(4, np.float32)
        kernels.move_values(rules, self.tables, states, gamma, low, high, rewards, values)
        return slide_values(rewards, values)

    def best_move(self, board: object) -> str | None:
        """The legal move with the highest value (the first of equals), None if the game is over."""
        return best_of(self.moves(board))

    def as_board(self, board: object) -> Board:
        """A board of this network's size; UserError for any other."""
        rows, columns = self.size
        if not isinstance(board, Board):
            board = Board(board, rows=rows, columns=columns)  # type: ignore[arg-type]
        if (board.rows, board.columns) != self.size:
            raise UserError(f"this network is for {rows}x{columns} boards (got {board.rows}x{board.columns})")
        return board

    def _view(self, board: object) -> np.uint64:
        return np.uint64(view(*self.as_board(board).packed))

    # Tables

    @cached_property
    def tables(self) -> kernels.Tables:
        """The network as kernels take it."""
        marks = [tile.bit_length() - 1 for tile in self.stages]
        return kernels.make_tables(self.tuples, self.weights, marks, self.size)

    @property
    def sizes(self) -> list[int]:
        """The number of weights of each table: one table for each tuple, stage after stage."""
        return [16 ** len(t) for t in self.tuples] * (1 << len(self.stages))

    def table(self, number: int) -> Array:
        """The part of `weights` that is one table, in storage order."""
        return self.weights[self.table_slice(number)]

    def table_slice(self, number: int) -> slice:
        """A table's place in `weights`: tuple `number`'s, or in a later stage, counting on."""
        stage, number = divmod(number, len(self.tuples))
        start = stage * self.stride + kernels.table_starts(self.tuples)[number]
        return slice(start, start + self.sizes[number])

    def initial_weight(self, number: int) -> np.float32:
        """The value of a table's weights before any learning; NaN in later stages: never read."""
        if number >= len(self.tuples):
            return np.float32(np.nan)
        return np.float32(self.initial / (8 * self.original_tuples) if number < self.original_tuples else 0)

    def grow(self, tuples: str) -> None:
        """Add the tuples of another network that this one lacks. Their weights start at 0, so no
        board's value changes.
        """
        stages, slices = 1 << len(self.stages), [self.table_slice(t) for t in range(len(self.sizes))]
        weights, memory, count = self.weights, self.memory, len(self.tuples)
        floats = 0 if memory is None else memory.values.shape[1]
        more = add_tuples(self.tuples, tuples, self.size)
        stride = kernels.stage_size(more, stages)
        size = stride * stages
        check_memory(tuples, size * (1 + floats))
        self.tuples, self.stride = more, stride
        self.weights = allocate(self.name, size, beside=floats * size)
        self.weights[stride:] = np.nan
        if memory is not None:
            self.memory = Memory(memory.name, allocate(self.name, floats * size, beside=size).reshape(-1, floats))
        for number, old in enumerate(slices):
            stage, t = divmod(number, count)
            new = self.table_slice(stage * len(more) + t)
            self.weights[new] = weights[old]
            if self.memory is not None and memory is not None:
                self.memory.values[new] = memory.values[old]
        self.__dict__.pop("tables", None)


def allocate(name: str, count: int, beside: int = 0) -> Array:
    """Float32 zeros for a network, which use no memory until touched. The check counts those `beside` them, too."""
    check_memory(name, count + beside)
    try:
        return line_aligned(count, np.float32)  # sixteen weights that are read together share a cache line
    except MemoryError:
        raise MemoryError(f"there is not enough memory for network {name}: use shorter tuples") from None


def check_memory(name: str, numbers: int) -> None:
    """Raise UserError if this many float32 numbers do not fit into free memory."""
    free, required = available_memory(), 4 * numbers
    if required > free:
        raise UserError(
            f"network {name} needs {required / 1e9:.1f} GB for its weights and this machine "
            f"has {free / 1e9:.1f} GB free: use shorter tuples"
        )


def are_valid_weights(numbers: Array) -> bool:
    """Whether all are finite, and small enough that sums of them are finite."""
    return bool((np.abs(numbers) <= MAX_WEIGHT).all())
