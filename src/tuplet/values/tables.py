"""The kernels of an n-tuple network: V(board) as a sum of m weights, and its update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import Rules, empty_cells, slide, view
from tuplet.kernel import index_of, indices, kernel, popcount, prefetch
from tuplet.kernel.shuffle import ABSENT, close_gap
from tuplet.values.patterns import Tuple, placements, storage_order

Array = np.ndarray[Any, Any]


class Tables(NamedTuple):
    """All weights of a network, and where each of its m look-ups finds one.

    A board's look-up j reads `weights[index_of(board, places[j]) + its table's start]`.
    """

    weights: Array  # float32[sum of 16^length]: the tables one after another
    places: Array  # uint64[m]: the cells of each look-up, a byte each, eight per tuple
    offsets: Array  # uint64[m]: the start of each look-up's table, or 0 if `odd`
    odd: bool  # some tuple has an odd length: its gap is to be closed, then `starts` added
    gaps: Array  # uint64[m]
    starts: Array  # uint64[m]
    # The look-ups that hold a cell c are number `holders[first[c]:first[c + 1]]`; a 2 (a 4)
    # put on the empty cell changes their index by exclusive-or with `twos` (`fours`).
    first: Array  # uint64[17]
    holders: Array  # uint64[cells of all look-ups]
    twos: Array  # uint64[the same]
    fours: Array  # uint64[the same]


def storage_place(cells: Tuple, order: list[int]) -> np.uint64:
    """The bytes of a placement, in storage order."""
    row = [cells[p] for p in order] + [ABSENT] * (8 - len(order))
    return np.uint64(sum(c << 8 * i for i, c in enumerate(row)))


def storage_gap(length: int) -> np.uint64:
    """The two bits that a tuple of odd length leaves too high, or none."""
    return np.uint64(3 << (8 * (length // 2) + 4) if length % 2 else 0)


def make_tables(tuples: list[Tuple], weights: Array) -> Tables:
    """The look-ups of a network whose tables stand one after another in `weights`."""
    places, starts, gaps, where = [], [], [], []
    start = 0
    for cells in tuples:
        order = storage_order(cells)
        for placed in placements(cells):
            places.append(storage_place(placed, order))
            where.append(placed)
            starts.append(start)
            gaps.append(storage_gap(len(cells)))
        start += 16 ** len(cells)
    odd = any(gaps)

    first, holders, twos, fours = [0], [], [], []
    for cell in range(16):
        for j, placed in enumerate(where):
            if cell in placed:
                holders.append(j)
                for exponent, change in ((1, twos), (2, fours)):
                    index = index_of(np.uint64(exponent << 4 * cell), places[j])
                    change.append(close_gap(np.uint64(index), gaps[j]))
        first.append(len(holders))

    def words(values: list[Any]) -> Array:
        return np.array(values, np.uint64)

    offsets = words([0] * len(starts) if odd else starts)
    return Tables(
        weights, words(places), offsets, odd, words(gaps), words(starts),
        words(first), words(holders), words(twos), words(fours),
    )  # fmt: skip


@kernel
def look_up(tables: Tables, board: np.uint64, out: Array, start: np.uint64) -> None:
    """Write the indices of the board's m weights to `out[start:start + m]` (uint64)."""
    indices(board, tables.places, tables.offsets, out, start)
    if tables.odd:
        for j in range(np.uint64(tables.places.shape[0])):
            k = start + np.uint64(j)
            out[k] = close_gap(out[k], tables.gaps[j]) + tables.starts[j]


@kernel
def fetch(tables: Tables, found: Array, start: np.uint64, count: np.uint64) -> None:
    """Prefetch the weights of `count` indices (a multiple of eight)."""
    for i in range(start, start + count, np.uint64(8)):
        for j in range(np.uint64(8)):
            prefetch(tables.weights, found[i + j])


@kernel
def total(tables: Tables, found: Array, start: np.uint64) -> np.float32:
    """V: the sum of the m weights whose indices `look_up` wrote."""
    weights = tables.weights
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(start, start + np.uint64(tables.places.shape[0]), np.uint64(8)):
        a += weights[found[i]]
        b += weights[found[i + np.uint64(1)]]
        c += weights[found[i + np.uint64(2)]]
        d += weights[found[i + np.uint64(3)]]
        a += weights[found[i + np.uint64(4)]]
        b += weights[found[i + np.uint64(5)]]
        c += weights[found[i + np.uint64(6)]]
        d += weights[found[i + np.uint64(7)]]
    return (a + b) + (c + d)


@kernel
def add(tables: Tables, found: Array, start: np.uint64, amount: np.float32) -> None:
    """Add `amount` to each of the m weights (k times to a weight that is looked up k times)."""
    for i in range(start, start + np.uint64(tables.places.shape[0]), np.uint64(8)):
        for j in range(np.uint64(8)):
            tables.weights[found[i + j]] += amount


@kernel
def value(tables: Tables, board: np.uint64) -> np.float32:
    """V of one board."""
    found = np.empty(tables.places.shape[0], np.uint64)
    look_up(tables, board, found, np.uint64(0))
    return total(tables, found, np.uint64(0))


@kernel
def expected_value(
    rules: Rules, tables: Tables, board: np.uint64, high: np.uint64, found: Array, seen: Array
) -> np.float32:
    """The mean of V over every spawn on an after-state; a state without moves counts 0.

    A spawn changes one cell, so only the look-ups that hold it change: V of the after-state
    is summed once, and differences are added. `found` and `seen` are room for m indices and m
    weights.
    """
    weights = tables.weights
    m = np.uint64(tables.places.shape[0])
    look_up(tables, view(board, high), found, np.uint64(0))
    fetch(tables, found, np.uint64(0), m)
    empty = empty_cells(rules, board, high)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            for h in range(tables.first[cell], tables.first[cell + np.uint64(1)]):
                at = found[tables.holders[h]]
                prefetch(weights, at ^ tables.twos[h])
                prefetch(weights, at ^ tables.fours[h])
    bare = np.float64(total(tables, found, np.uint64(0)))
    for j in range(m):
        seen[j] = weights[found[j]]

    twos, fours = np.float64(0), np.float64(0)
    for cell in range(np.uint64(16)):
        if (empty >> (cell * np.uint64(4))) & np.uint64(1) != np.uint64(0):
            two, four = np.float32(0), np.float32(0)
            for h in range(tables.first[cell], tables.first[cell + np.uint64(1)]):
                j = tables.holders[h]
                two += weights[found[j] ^ tables.twos[h]] - seen[j]
                four += weights[found[j] ^ tables.fours[h]] - seen[j]
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
def stuck(rules: Rules, board: np.uint64, high: np.uint64) -> bool:
    """Whether no move changes the board."""
    for move in range(4):
        slid, slid_high, _ = slide(rules, board, high, move)
        if slid != board or slid_high != high:
            return False
    return True


@kernel
def move_values(
    rules: Rules, tables: Tables, states: bool, gamma: np.float32,
    board: np.uint64, high: np.uint64, rewards: Array, values: Array,
) -> None:  # fmt: skip
    """Reward and reward + gamma V of each move (up, right, down, left); NaN where illegal.

    V is that of the after-state, or with `states` the mean over the states a spawn makes.
    """
    found = np.empty(tables.places.shape[0], np.uint64)
    seen = np.empty(tables.places.shape[0], np.float32)
    for move in range(4):
        slid, slid_high, reward = slide(rules, board, high, move)
        rewards[move] = reward
        if slid == board and slid_high == high:
            values[move] = np.nan
            continue
        if states:
            v = expected_value(rules, tables, slid, slid_high, found, seen)
        else:
            look_up(tables, view(slid, slid_high), found, np.uint64(0))
            v = total(tables, found, np.uint64(0))
        values[move] = np.float32(reward) + gamma * v


@kernel
def visited(
    table: Array, initial: np.float32, place: np.uint64, gap: np.uint64,
    start: np.uint64, stop: np.uint64, where: Array, weight: Array,
) -> int:  # fmt: skip
    """List the weights that differ from their initial value, in the order of files.

    A file's index has a tuple's first cell in its lowest four bits; looks at those from
    `start` to `stop`. Returns how many were written to `where` and `weight`.
    """
    n = 0
    for i in range(start, stop):
        w = table[close_gap(index_of(np.uint64(i), place), gap)]
        if w != initial:
            where[n], weight[n] = i, w
            n += 1
    return n


@kernel
def restore(
    table: Array, place: np.uint64, gap: np.uint64, where: Array, weight: Array
) -> None:
    """Undo `visited`: write listed weights to their places in the table."""
    for i in range(where.shape[0]):
        table[close_gap(index_of(np.uint64(where[i]), place), gap)] = weight[i]
