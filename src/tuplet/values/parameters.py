"""What a network has learned: its tables of weights, and what they mean. All that a file holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import Size, as_size
from tuplet.games.g2048.rules import as_share
from tuplet.kernel import line_aligned
from tuplet.system.memory import available_memory
from tuplet.values.patterns import NETWORKS, SMALL_NETWORKS, Tuple, add_tuples, format_tuple, parse
from tuplet.values.tables import stage_size, table_starts

Array = np.ndarray[Any, Any]
Target = Literal["afterstate", "state"]

MAX_WEIGHT = 1e30  # and the most that an initial value may be: far from where float32 ends


class Memory(NamedTuple):
    """What a learner remembers of each weight, besides the weight."""

    name: str  # of the arrays in a file
    values: Array  # float32[weights, k]


class Parameters:
    """The tuples, weights and meaning of a network.

    All weights start at `initial / m`, so that every board is worth `initial`; those of tuples that
    join later (`grow`) start at 0, so that no value changes. `original_tuples` is the number of the others.
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
        if not abs(initial) <= MAX_WEIGHT:  # also refuses what is not a number
            raise UserError(f"the initial value must be a finite number, not {initial}")
        if target not in ("afterstate", "state"):
            raise UserError(f"the target is 'afterstate' or 'state', not {target!r}")
        if not 0 <= gamma <= 1:
            raise UserError(f"gamma must be 0 to 1 (got {gamma})")
        self.size = as_size(board)
        self.tuples: list[Tuple] = parse(default_network(self.size) if tuples is None else tuples, self.size)
        self.original_tuples = len(self.tuples) if original_tuples is None else original_tuples
        if not 1 <= self.original_tuples <= len(self.tuples):
            raise UserError(f"of {len(self.tuples)} tuples, {self.original_tuples} cannot be the first")
        self.stages = parse_stages(stages)
        self.target: Target = target
        self.gamma = float(gamma)
        self.spawn4 = float(as_share(spawn4))
        self.initial = float(initial)
        self.stride = stage_size(self.tuples, 1 << len(self.stages))  # weights of a stage
        self.weights = self._allocate(self.stride << len(self.stages))
        if self.initial != 0:
            for t in range(self.original_tuples):
                self.table(t)[:] = self.initial_weight(t)
        self.weights[self.stride :] = np.nan  # not read yet
        self.memory: Memory | None = None

    def grow(self, tuples: str) -> None:
        """Let the tuples of another network join that this one lacks. Their weights are 0: no
        board's value changes, only what can be learned.
        """
        stages, spans = 1 << len(self.stages), [self.span(t) for t in range(len(self.sizes))]
        weights, memory, count = self.weights, self.memory, len(self.tuples)
        floats = 0 if memory is None else memory.values.shape[1]
        grown = add_tuples(self.tuples, tuples, self.size)
        check_memory(tuples, stage_size(grown, stages) * stages * (1 + floats))
        self.tuples, self.stride = grown, stage_size(grown, stages)
        size = self.stride * stages
        self.weights = self._allocate(size, beside=floats * size)
        self.weights[self.stride :] = np.nan
        if memory is not None:
            room = self._allocate(floats * size, beside=size).reshape(-1, floats)
            self.memory = Memory(memory.name, room)
        for number, old in enumerate(spans):
            stage, t = divmod(number, count)
            new = self.span(stage * len(self.tuples) + t)
            self.weights[new] = weights[old]
            if memory is not None:
                room[new] = memory.values[old]

    def learner_memory(self, name: str, count: int) -> Array:
        """Make room for `count` numbers that a learner remembers of each weight; returns them.

        Those of the same name are kept as they are; another learner's are forgotten.
        """
        if self.memory is None or self.memory.name != name:
            weights = len(self.weights)
            values = self._allocate(count * weights, beside=weights).reshape(-1, count)
            self.memory = Memory(name, values)
        if self.memory.values.shape[1] != count:
            raise UserError(f"{name} has {count} numbers for each weight, not {self.memory.values.shape[1]}")
        return self.memory.values

    def has_learner_memory(self, name: str) -> bool:
        """Whether a learner's numbers of this name are there."""
        return self.memory is not None and self.memory.name == name

    def _allocate(self, count: int, beside: int = 0) -> Array:
        """Room for numbers; zeros cost no memory until touched (nor may those `beside` them)."""
        check_memory(self.name, count + beside)
        # Sixteen weights that are asked for together should share a cache line.
        try:
            return line_aligned(count, np.float32)
        except MemoryError:
            why = f"there is not enough memory for network {self.name}: take shorter tuples"
            raise MemoryError(why) from None

    @property
    def name(self) -> str:
        """The network's name, or its tuples where it has none."""
        spelled = " ".join(format_tuple(t, self.size) for t in self.tuples)
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

    def initial_weight(self, number: int) -> np.float32:
        """What the weights of a table were before any learning; no number: not read yet."""
        if number >= len(self.tuples):
            return np.float32(np.nan)
        return np.float32(self.initial / (8 * self.original_tuples) if number < self.original_tuples else 0)

    @property
    def trained(self) -> bool:
        """Whether any weight has left its initial value."""
        step = 1 << 22
        return any(
            bool((table[i : i + step] != self.initial_weight(t)).any())
            for t, table in enumerate(map(self.table, range(len(self.tuples))))
            for i in range(0, len(table), step)
        )

    def table(self, number: int) -> Array:
        """The part of `weights` that is one table, in storage order."""
        return self.weights[self.span(number)]

    def span(self, number: int) -> slice:
        """Where in `weights` a table stands: tuple `number`'s, or in a later stage, counting on."""
        stage, number = divmod(number, len(self.tuples))
        start = stage * self.stride + table_starts(self.tuples)[number]
        return slice(start, start + self.sizes[number])


def check_memory(name: str, numbers: int) -> None:
    """Raise ValueError if a network that needs so many numbers could never be held.

    It is refused at once, instead of being killed later.
    """
    memory, needed = available_memory(), 4 * numbers
    if needed > memory:
        raise UserError(
            f"network {name} needs {needed / 1e9:.1f} GB for its weights and this machine "
            f"has {memory / 1e9:.1f} GB free: take shorter tuples"
        )


def are_valid_weights(numbers: Array) -> bool:
    """Whether all are numbers, and small enough for sums of them to be numbers."""
    return bool((np.abs(numbers) <= MAX_WEIGHT).all())


def default_network(size: Size) -> str:
    """The tuples to take for a board where none are given."""
    if size == (4, 4):
        return "4x6"
    if size not in SMALL_NETWORKS:
        raise UserError(
            f'there is no usual network for a {size[0]}x{size[1]} board: give its tuples, such as "012 345"'
        )
    return SMALL_NETWORKS[size]


def parse_stages(tiles: str | Sequence[int]) -> tuple[int, ...]:
    """The tiles that tell the stages, from text or numbers; the largest first."""
    words = tiles.replace(",", " ").split() if isinstance(tiles, str) else tiles
    try:
        marks = tuple(sorted((int(word) for word in words), reverse=True))
    except (TypeError, ValueError):
        marks = (0,)
    if len(set(marks)) < len(marks) or not all(8 <= t <= 32768 and not t & (t - 1) for t in marks):
        raise UserError(f"stages must be different tiles from 8 to 32768 (got {tiles!r})")
    if len(marks) > 5:
        raise UserError(f"{len(marks)} tiles would make {2 ** len(marks)} stages: take at most 5")
    return marks
