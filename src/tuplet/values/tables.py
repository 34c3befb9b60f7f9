"""The kernels of an n-tuple network: V(board) as a sum of m weights, and its update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.board import Size
from tuplet.games.g2048.rules import Rules2048, empty_cells, slide, stuck, view
from tuplet.kernel import inlined, kernel, line_aligned, load_pair, popcount, prefetch
from tuplet.values.layout import ABSENT, index_of, indices
from tuplet.values.patterns import Tuple, placements, storage_order

Array = np.ndarray[Any, Any]

_EVERY = np.uint64(0x1111111111111111)
_TOP = np.uint64(0x8888888888888888)
_BYTES = np.uint64(0x0101010101010101)
_LOW = np.uint64(0x0F0F0F0F0F0F0F0F)


class Tables(NamedTuple):
    """All weights of a network, and where each of its m look-ups finds one.

    A board's look-ups read `weights[i]` for each i that `indices(board, plan, ...)` writes.
    Kernels in the inner loop take the arrays they need, not this tuple: Numba counts
    references each time an array is taken out of one.
    """

    weights: Array  # float32[stages * stride]: the tables of each stage, see `table_starts`
    memory: Array  # float32[k * len(weights)]: what a learner remembers of each; empty in play
    plan: Array  # uint32[4 or 5, m]: place, table and gap of each look-up, see `indices`
    # The look-ups that hold a cell c are number `holders[first[c]:first[c + 1]]`; a 2 (a 4)
    # put on the empty cell changes their index by exclusive-or with `twos` (`fours`).
    first: Array  # uint64[17]
    holders: Array  # uint64[cells of all look-ups]
    twos: Array  # uint64[the same]
    fours: Array  # uint64[the same]
    # A board's stage is told by which of these tiles it holds; a stage has tables of its own.
    marks: Array  # uint64[log2(stages)]: exponents, the largest first
    stride: np.uint64  # weights of a stage: see `stage_size`
    small: bool  # a board on which many look-ups find the same weight


def storage(cells: Tuple, order: list[int]) -> tuple[np.uint64, np.uint64]:
    """The place and the gap of a tuple's cells, laid out in storage order."""
    row = [cells[p] for p in order] + [ABSENT] * (8 - len(order))
    row = row[::2] + row[1::2]
    gap = 3 << (8 * (len(cells) // 2) + 4) if len(cells) % 2 else 0
    return np.uint64(sum(c << 8 * i for i, c in enumerate(row))), np.uint64(gap)


def table_order(cells: Tuple) -> tuple[np.uint64, np.uint64]:
    """Place and gap that lead from a file's index, read as a board, to the table's."""
    return storage(tuple(range(len(cells))), storage_order(cells))


def table_starts(tuples: list[Tuple]) -> list[int]:
    """Where each tuple's table starts: the largest first, so that a table starts at a multiple
    of its size, and an index keeps its bits when the start is added.
    """
    starts, start = [0] * len(tuples), 0
    for t in sorted(range(len(tuples)), key=lambda t: -len(tuples[t])):
        starts[t] = start
        start += 16 ** len(tuples[t])
    return starts


def stage_size(tuples: list[Tuple], stages: int = 1) -> int:
    """The weights of one stage; where there are more, each begins at a multiple of any table's
    size, so that an index keeps its bits there, too.
    """
    sizes = [1 << 4 * len(t) for t in tuples]
    return sum(sizes) if stages == 1 else -(-sum(sizes) // max(sizes)) * max(sizes)


def make_tables(tuples: list[Tuple], weights: Array, marks: Sequence[int] = (), size: Size = (4, 4)) -> Tables:
    """The look-ups of a network whose tables stand in `weights`."""
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
    """Tables that look up these, a multiple of eight: the cells, the order in which the table has
    them, and where it starts. (A look-up of no cells reads the weight at the start.)
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
    """What the places of these weights are written as."""
    return np.uint32 if len(weights) <= 1 << 32 else np.uint64


def _plan(stored: Sequence[tuple[np.uint64, np.uint64, int]]) -> Array:
    """The places, gaps and starts of look-ups as `indices` takes them."""
    places, gaps, starts = (np.array(each, np.uint64) for each in zip(*stored, strict=True))
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    rows = [places & low, places >> half, starts & low, starts >> half]
    rows += [gaps] if gaps.any() else []
    plan = line_aligned(len(rows) * len(stored), np.uint32).reshape(len(rows), -1)
    plan[:] = rows
    return plan


@kernel
def stage_of(board: np.uint64, marks: Array) -> np.uint64:
    """Which of the marked tiles are on the board, as a binary number; a tile beyond the largest
    counts as that.

    The tiles of a game add up like a binary counter, so a game goes through its stages upwards.
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
def _go_to_stage(board: np.uint64, marks: Array, stride: np.uint64, out: Array, start: np.uint64, m: np.uint64) -> None:
    ahead = stage_of(board, marks) * stride
    for j in range(start, start + m):
        out[j] += ahead


@inlined
def locate(board: np.uint64, plan: Array, marks: Array, stride: np.uint64, out: Array, start: np.uint64) -> None:
    """Where the weights of a board's m look-ups stand, in the tables of its stage."""
    indices(board, plan, out, start)
    if len(marks) > 0:
        _go_to_stage(board, marks, stride, out, start, np.uint64(plan.shape[1]))


@kernel
def inherit_stage(weights: Array, stride: np.uint64, found: Array, start: np.uint64, m: np.uint64) -> None:
    """Give each weight of a later stage that is read for the first time (it is no number) the
    value of the stage before.
    """
    for i in range(start, start + m):
        at = found[i]
        if np.isnan(weights[at]):
            while np.isnan(weights[at]) and at >= stride:
                at -= stride
            weights[found[i]] = weights[at]


@inlined
def fetch(weights: Array, found: Array, start: np.uint64, count: np.uint64) -> None:
    """Prefetch the weights of `count` indices (a multiple of eight)."""
    two, eight = np.uint64(2), np.uint64(8)
    for i in range(start, start + count, eight):
        for j in range(np.uint64(0), eight, two):
            one, other = load_pair(found, i + j)
            prefetch(weights, one)
            prefetch(weights, other)


@inlined
def total(weights: Array, found: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """V: the sum of the m weights whose indices stand in `found` from `start` on."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(start, start + m, np.uint64(8)):
        i0, i1 = load_pair(found, i)
        i2, i3 = load_pair(found, i + np.uint64(2))
        i4, i5 = load_pair(found, i + np.uint64(4))
        i6, i7 = load_pair(found, i + np.uint64(6))
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
def value_at(weights: Array, stride: np.uint64, found: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """The same, where a weight may belong to a stage that never read it."""
    v = total(weights, found, start, m)
    if np.isnan(v):
        inherit_stage(weights, stride, found, start, m)
        v = total(weights, found, start, m)
    return v


@kernel
def repeat_count(found: Array, start: np.uint64, m: np.uint64) -> np.float32:
    """By how much V moves when each of its m look-ups' weights moves by 1.

    A weight that is looked up k times moves k times, and counts k times in V. On the 4x4 board
    that is rare, and m is taken instead, as everybody does; on a small board V would overshoot
    by far.
    """
    times = 0
    for i in range(start, start + m):
        for j in range(start, start + m):
            times += found[i] == found[j]
    return np.float32(times)


@inlined
def add(weights: Array, found: Array, start: np.uint64, m: np.uint64, amount: np.float32) -> None:
    """Add `amount` to each of the m weights (k times to a weight that is looked up k times)."""
    two, eight = np.uint64(2), np.uint64(8)
    for i in range(start, start + m, eight):
        for j in range(np.uint64(0), eight, two):
            one, other = load_pair(found, i + j)
            weights[one] += amount
            weights[other] += amount


@kernel
def weights_of(tables: Tables, board: np.uint64) -> Array:
    """Where the board's m weights stand."""
    m = np.uint64(tables.plan.shape[1])
    found = np.empty(m, np.uint64)
    locate(board, tables.plan, tables.marks, tables.stride, found, np.uint64(0))
    if len(tables.marks) > 0:
        inherit_stage(tables.weights, tables.stride, found, np.uint64(0), m)
    return found


@kernel
def value(tables: Tables, board: np.uint64) -> np.float32:
    """V of one board."""
    m = np.uint64(tables.plan.shape[1])
    return total(tables.weights, weights_of(tables, board), np.uint64(0), m)


@kernel
def update(tables: Tables, board: np.uint64, target: np.float32, alpha: np.float32) -> np.float32:
    """V += alpha (target - V), an m-th of it to each weight; returns target - V."""
    start, m = np.uint64(0), np.uint64(tables.plan.shape[1])
    found = weights_of(tables, board)
    error = target - total(tables.weights, found, start, m)
    add(tables.weights, found, start, m, weight_step(tables, found, alpha) * error)
    return error


@inlined
def weight_step(tables: Tables, found: Array, alpha: np.float32) -> np.float32:
    """The part of an error that each weight of one board takes."""
    start, m = np.uint64(0), np.uint64(tables.plan.shape[1])
    return alpha / (repeat_count(found, start, m) if tables.small else np.float32(m))


@kernel
def expected_value(
    rules: Rules2048, tables: Tables, board: np.uint64, high: np.uint64, found: Array, seen: Array
) -> np.float32:
    """The mean of V over every spawn on an after-state; a state without moves counts 0.

    A spawn changes one cell, so only the look-ups that hold it change: V of the after-state
    is summed once, and differences are added. `found` and `seen` are room for m indices and m
    weights.
    """
    weights, first, holders = tables.weights, tables.first, tables.holders
    with_two, with_four = tables.twos, tables.fours
    m = np.uint64(tables.plan.shape[1])
    locate(view(board, high), tables.plan, tables.marks, tables.stride, found, np.uint64(0))
    fetch(weights, found, np.uint64(0), m)
    empty = empty_cells(rules.cells, board, high)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            for h in range(first[cell], first[cell + np.uint64(1)]):
                at = found[holders[h]]
                prefetch(weights, at ^ with_two[h])
                prefetch(weights, at ^ with_four[h])
    bare = np.float64(value_at(weights, tables.stride, found, np.uint64(0), m))
    for j in range(m):
        seen[j] = weights[found[j]]

    twos, fours = np.float64(0), np.float64(0)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            two, four = np.float32(0), np.float32(0)
            for h in range(first[cell], first[cell + np.uint64(1)]):
                j = holders[h]
                two += weights[found[j] ^ with_two[h]] - seen[j]
                four += weights[found[j] ^ with_four[h]] - seen[j]
            if np.isnan(two + four):  # some were never read at this stage
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


@kernel
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
    """Reward and reward + gamma V of each move (up, right, down, left); NaN where illegal.

    V is that of the after-state, or with `states` the mean over the states a spawn makes.
    """
    m = tables.plan.shape[1]
    found, seen = np.empty(m, np.uint64), np.empty(m, np.float32)
    for move in range(4):
        slid, slid_high, reward = slide(rules, board, high, move)
        rewards[move] = reward
        if slid == board and slid_high == high:
            values[move] = np.nan
            continue
        if states:
            v = expected_value(rules, tables, slid, slid_high, found, seen)
        else:
            v = value(tables, view(slid, slid_high))
        values[move] = np.float32(reward) + gamma * v
