"""The kernels of an n-tuple network: V(board) as a sum of m weights, and its update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tuplet.games.g2048.board import Size
from tuplet.games.g2048.rules import Rules2048, empty_cells, slide, stuck, view
from tuplet.kernel import allocating, inlined, kernel, line_aligned, load_pair, popcount, prefetch
from tuplet.values.layout import ABSENT, compute_indices, index_of
from tuplet.values.patterns import Tuple, placements, storage_order

Array = np.ndarray[Any, Any]
FirstCell = Literal["low", "high"]  # a tuple's first cell has the lowest or the highest bits of an index

_PART_BITS = 18  # files are read and written in parts of 2^18 weights

_EVERY = np.uint64(0x1111111111111111)
_TOP = np.uint64(0x8888888888888888)
_BYTES = np.uint64(0x0101010101010101)
_LOW = np.uint64(0x0F0F0F0F0F0F0F0F)


class Tables(NamedTuple):
    """A network as kernels take it: its weights, and the plan of its m look-ups.

    V(board) is the sum of `weights[i]` over the m indices i that `locate` computes. Kernels in the
    inner loop take single arrays, not this tuple: Numba counts references each time an array is
    taken out of a tuple.
    """

    weights: Array  # float32[stages * stride]: the tables of each stage, see `table_starts`
    memory: Array  # float32[k * len(weights)]: a learner's k numbers per weight; empty in play
    plan: Array  # uint32[4 or 5, m]: place, table and gap of each look-up, see `compute_indices`
    # The look-ups that contain cell c are `holders[first[c]:first[c + 1]]`. A 2 (or a 4) placed
    # on the empty cell changes their indices by exclusive-or with `twos` (`fours`).
    first: Array  # uint64[17]
    holders: Array  # uint64[cells of all look-ups]
    twos: Array  # uint64[the same]
    fours: Array  # uint64[the same]
    # Each stage has its own tables. A board's stage depends on which of these tiles it has.
    marks: Array  # uint64[log2(stages)]: exponents, the largest first
    stride: np.uint64  # weights of a stage: see `stage_size`
    small: bool  # smaller than 4x4: many look-ups of a board read the same weight


def storage(cells: Tuple, order: list[int]) -> tuple[np.uint64, np.uint64]:
    """The place and the gap (see `layout`) of a tuple's cells in storage order."""
    row = [cells[p] for p in order] + [ABSENT] * (8 - len(order))
    row = row[::2] + row[1::2]
    gap = 3 << (8 * (len(cells) // 2) + 4) if len(cells) % 2 else 0
    return np.uint64(sum(c << 8 * i for i, c in enumerate(row))), np.uint64(gap)


class FileOrder:
    """Maps a table's indices in files to its indices in memory.

    In a file's index the tuple's first cell has the lowest four bits (or the highest). The map is
    linear in exclusive-or (see `layout`), so an index is looked up in two parts.
    """

    def __init__(self, cells: Tuple, first: FirstCell = "low") -> None:
        nibbles = tuple(range(len(cells)))
        place, gap = storage(nibbles if first == "low" else nibbles[::-1], storage_order(cells))
        bits = [int(index_of(np.uint64(1 << bit), place, gap)) for bit in range(4 * len(cells))]
        self._low, self._high = _xor_combinations(bits[:_PART_BITS]), _xor_combinations(bits[_PART_BITS:])

    def indices(self, where: Array) -> Array:
        """The indices in memory of indices in a file."""
        indices: Array = self._low[where & (len(self._low) - 1)] ^ self._high[where >> _PART_BITS]
        return indices

    def parts(self) -> Iterator[tuple[int, Array]]:
        """All indices in memory in the order of a file: part by part, with the file index of its start."""
        for number, high in enumerate(self._high):
            yield number << _PART_BITS, self._low ^ high


def _xor_combinations(bits: Sequence[int]) -> Array:
    """For each integer of `len(bits)` bits, the exclusive-or of `bits[k]` over its bits k that are 1."""
    combinations = np.zeros(1, np.intp)
    for bit in bits:
        combinations = np.concatenate([combinations, combinations ^ bit])
    return combinations


def table_starts(tuples: list[Tuple]) -> list[int]:
    """Where each tuple's table starts.

    The largest tables come first, so that each starts at a multiple of its size and adding the
    start leaves the bits of an index as they are.
    """
    starts, start = [0] * len(tuples), 0
    for t in sorted(range(len(tuples)), key=lambda t: -len(tuples[t])):
        starts[t] = start
        start += 16 ** len(tuples[t])
    return starts


def stage_size(tuples: list[Tuple], stages: int = 1) -> int:
    """The number of weights per stage.

    With several stages it is a multiple of the largest table, so that adding a stage's start
    leaves the bits of an index as they are.
    """
    sizes = [1 << 4 * len(t) for t in tuples]
    return sum(sizes) if stages == 1 else -(-sum(sizes) // max(sizes)) * max(sizes)


def make_tables(tuples: list[Tuple], weights: Array, marks: Sequence[int] = (), size: Size = (4, 4)) -> Tables:
    """The kernels' form of a network with these tuples and weights."""
    look_ups = [
        (placed, storage_order(cells), start)
        for cells, start in zip(tuples, table_starts(tuples), strict=True)
        for placed in placements(cells, size)
    ]
    return tables_for(look_ups, weights, marks, stage_size(tuples, 1 << len(marks)), size != (4, 4))


def tables_for(
    look_ups: Sequence[tuple[Tuple, list[int], int]],
    weights: Array,
    marks: Sequence[int] = (),
    stride: int = 0,
    small: bool = False,
) -> Tables:
    """Tables with these look-ups, a multiple of eight: cells, storage order, and the table's start.

    A look-up without cells always reads the first weight of its table.
    """
    stored = [(*storage(placed, order), start) for placed, order, start in look_ups]
    where = [placed for placed, _, _ in look_ups]

    first, holders, twos, fours = [0], [], [], []
    for cell in range(16):
        for j, placed in enumerate(where):
            if cell in placed:
                place, gap, _ = stored[j]
                holders.append(j)
                twos.append(index_of(np.uint64(1 << 4 * cell), place, gap))
                fours.append(index_of(np.uint64(2 << 4 * cell), place, gap))
        first.append(len(holders))

    def words(values: Sequence[Any]) -> Array:
        return np.array(values, np.uint64)

    return Tables(
        weights,
        np.zeros(0, np.float32),
        _plan(stored),
        words(first),
        words(holders),
        words(twos),
        words(fours),
        words(marks),
        np.uint64(stride),
        small,
    )


def index_type(weights: Array) -> type[np.unsignedinteger[Any]]:
    """The integer type for indices into these weights."""
    return np.uint32 if len(weights) <= 1 << 32 else np.uint64


def _plan(stored: Sequence[tuple[np.uint64, np.uint64, int]]) -> Array:
    """The plan for `compute_indices`: places, starts and gaps of all look-ups."""
    places, gaps, starts = (np.array(each, np.uint64) for each in zip(*stored, strict=True))
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    rows = [places & low, places >> half, starts & low, starts >> half]
    rows += [gaps] if gaps.any() else []
    plan = line_aligned(len(rows) * len(stored), np.uint32).reshape(len(rows), -1)
    plan[:] = rows
    return plan


@kernel
def stage_of(board: np.uint64, marks: Array) -> np.uint64:
    """The board's stage: a binary number with one digit per tile of `marks`, 1 if it is present.

    A tile larger than the first mark counts as that mark. Stages only increase during a game,
    because its tiles add up like a binary counter.
    """
    least = (np.uint64(16) - marks[0]) * _BYTES
    carries = (board & _LOW) + least | ((board >> np.uint64(4)) & _LOW) + least
    stage = np.uint64(carries & (_BYTES << np.uint64(4)) != np.uint64(0))
    for i in range(np.uint64(1), np.uint64(len(marks))):
        differs = board ^ (marks[i] * _EVERY)
        same = (differs - _EVERY) & ~differs & _TOP
        stage = (stage << np.uint64(1)) | np.uint64(same != np.uint64(0))
    return stage


@kernel
def _add_stage(board: np.uint64, marks: Array, stride: np.uint64, out: Array, start: np.uint64, m: np.uint64) -> None:
    offset = stage_of(board, marks) * stride
    for j in range(start, start + m):
        out[j] += offset


@inlined
def locate(board: np.uint64, plan: Array, marks: Array, stride: np.uint64, out: Array, start: np.uint64) -> None:
    """Write the indices of a board's m weights, in the tables of its stage, to `out[start:start + m]`."""
    compute_indices(board, plan, out, start)
    if len(marks) > 0:
        _add_stage(board, marks, stride, out, start, np.uint64(plan.shape[1]))


@kernel
def inherit_stage(weights: Array, stride: np.uint64, indices: Array, start: np.uint64, m: np.uint64) -> None:
    """Initialise weights of later stages that are read for the first time.

    NaN marks a weight that was never read. It gets the value it has in the nearest earlier stage.
    """
    for i in range(start, start + m):
        at = indices[i]
        if np.isnan(weights[at]):
            while np.isnan(weights[at]) and at >= stride:
                at -= stride
            weights[indices[i]] = weights[at]


@inlined
def fetch(weights: Array, indices: Array, start: np.uint64, count: np.uint64) -> None:
    """Prefetch the weights of `count` indices (a multiple of eight)."""
    two, eight = np.uint64(2), np.uint64(8)
    for i in range(start, start + count, eight):
        for j in range(np.uint64(0), eight, two):
            one, other = load_pair(indices, i + j)
            prefetch(weights, one)
            prefetch(weights, other)


@inlined
def total(weights: Array, indices: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """V: the sum of the m weights at `indices[start:start + m]`."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(start, start + m, np.uint64(8)):
        i0, i1 = load_pair(indices, i)
        i2, i3 = load_pair(indices, i + np.uint64(2))
        i4, i5 = load_pair(indices, i + np.uint64(4))
        i6, i7 = load_pair(indices, i + np.uint64(6))
        a += weights[i0]
        b += weights[i1]
        c += weights[i2]
        d += weights[i3]
        a += weights[i4]
        b += weights[i5]
        c += weights[i6]
        d += weights[i7]
    return (a + b) + (c + d)


@inlined
def value_at(weights: Array, stride: np.uint64, indices: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """The same as `total`, for networks with stages: NaN weights are initialised first."""
    v = total(weights, indices, start, m)
    if np.isnan(v):
        inherit_stage(weights, stride, indices, start, m)
        v = total(weights, indices, start, m)
    return v


@kernel
def repeat_count(indices: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """How much V changes when 1 is added to the weight of each of the m look-ups.

    A weight that is looked up k times changes by k and counts k times in V. On the 4x4 board that
    is rare, and m is used instead, as in the literature. On smaller boards V would overshoot.
    """
    times = 0
    for i in range(start, start + m):
        for j in range(start, start + m):
            times += indices[i] == indices[j]
    return np.float32(times)


@inlined
def add(weights: Array, indices: Array, start: np.uint64, m: np.uint64, amount: np.float32) -> None:
    """Add `amount` to the weight of each of the m look-ups (k times if it is looked up k times)."""
    two, eight = np.uint64(2), np.uint64(8)
    for i in range(start, start + m, eight):
        for j in range(np.uint64(0), eight, two):
            one, other = load_pair(indices, i + j)
            weights[one] += amount
            weights[other] += amount


@allocating("returns its array")
def weight_indices(tables: Tables, board: np.uint64) -> Array:
    """The indices of the board's m weights."""
    m = np.uint64(tables.plan.shape[1])
    indices = np.empty(m, np.uint64)
    locate(board, tables.plan, tables.marks, tables.stride, indices, np.uint64(0))
    if len(tables.marks) > 0:
        inherit_stage(tables.weights, tables.stride, indices, np.uint64(0), m)
    return indices


@allocating("weight_indices returns an array")
def value(tables: Tables, board: np.uint64) -> np.float32:
    """V of one board."""
    m = np.uint64(tables.plan.shape[1])
    return total(tables.weights, weight_indices(tables, board), np.uint64(0), m)


@allocating("weight_indices returns an array")
def update(tables: Tables, board: np.uint64, target: np.float32, alpha: np.float32) -> np.float32:
    """V += alpha (target - V), in equal parts to each of the m weights; returns target - V."""
    start, m = np.uint64(0), np.uint64(tables.plan.shape[1])
    indices = weight_indices(tables, board)
    error = target - total(tables.weights, indices, start, m)
    add(tables.weights, indices, start, m, weight_step(tables, indices, alpha) * error)
    return error


@inlined
def weight_step(tables: Tables, indices: Array, alpha: np.float32) -> np.float32:
    """The factor by which an error changes each weight: alpha / m on 4x4 boards."""
    start, m = np.uint64(0), np.uint64(tables.plan.shape[1])
    return alpha / (repeat_count(indices, start, m) if tables.small else np.float32(m))


@kernel
def expected_value(
    rules: Rules2048, tables: Tables, board: np.uint64, high: np.uint64, indices: Array, current: Array
) -> np.float32:
    """The expected V after a random spawn on an after-state; a state without moves counts 0.

    A spawn changes one cell, so only the look-ups that contain it change: V of the after-state is
    summed once and differences are added. `indices` and `current` are buffers for m numbers each.
    """
    weights, first, holders = tables.weights, tables.first, tables.holders
    with_two, with_four = tables.twos, tables.fours
    m = np.uint64(tables.plan.shape[1])
    locate(view(board, high), tables.plan, tables.marks, tables.stride, indices, np.uint64(0))
    fetch(weights, indices, np.uint64(0), m)
    empty = empty_cells(rules.cells, board, high)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            for h in range(first[cell], first[cell + np.uint64(1)]):
                at = indices[holders[h]]
                prefetch(weights, at ^ with_two[h])
                prefetch(weights, at ^ with_four[h])
    bare = np.float64(value_at(weights, tables.stride, indices, np.uint64(0), m))
    for j in range(m):
        current[j] = weights[indices[j]]

    twos, fours = np.float64(0), np.float64(0)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            two, four = np.float32(0), np.float32(0)
            for h in range(first[cell], first[cell + np.uint64(1)]):
                j = holders[h]
                two += weights[indices[j] ^ with_two[h]] - current[j]
                four += weights[indices[j] ^ with_four[h]] - current[j]
            if np.isnan(two + four):  # weights that this stage never read
                at = cell * np.uint64(4)
                two = value(tables, view(board | (np.uint64(1) << at), high)) - np.float32(bare)
                four = value(tables, view(board | (np.uint64(2) << at), high)) - np.float32(bare)
            twos += np.float64(two)
            fours += np.float64(four)
    count = popcount(empty)
    twos = bare + twos / np.float64(count)
    fours = bare + fours / np.float64(count)
    if count == np.uint64(1):  # the spawn fills the board: the game may be over
        if stuck(rules, board | empty, high):
            twos = np.float64(0)
        if stuck(rules, board | (empty << np.uint64(1)), high):
            fours = np.float64(0)
    share = np.float64(rules.fours) / np.float64(1 << 32)
    return np.float32((np.float64(1) - share) * twos + share * fours)


@allocating("indices and weights of a board")
def move_values(
    rules: Rules2048,
    tables: Tables,
    states: bool,
    gamma: np.float32,
    board: np.uint64,
    high: np.uint64,
    rewards: Array,
    values: Array,
) -> None:
    """The reward and reward + gamma V of each move (up, right, down, left); NaN where illegal.

    V is the value of the after-state, or with `states` the expected value of the next state.
    """
    m = tables.plan.shape[1]
    indices, current = np.empty(m, np.uint64), np.empty(m, np.float32)
    for move in range(4):
        slid, slid_high, reward = slide(rules, board, high, move)
        rewards[move] = reward
        if slid == board and slid_high == high:
            values[move] = np.nan
            continue
        if states:
            v = expected_value(rules, tables, slid, slid_high, indices, current)
        else:
            v = value(tables, view(slid, slid_high))
        values[move] = np.float32(reward) + gamma * v
