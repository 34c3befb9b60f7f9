"""Layers: the boards of one sum of tiles, each once, and what leads from layer to layer.

A move keeps the sum of tiles, a spawn raises it by 2 or 4: all that can follow a board lies in
the next two layers. Boards that are mirror images or rotations of one another are one board, the
*canonical* one: the smallest of their words.

In a table a board is its cells but the first, four bits each: the sum says what the first is.
Nine cells then fit into 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.g2048.rules import Rules2048, empty_cells, largest, slides
from tuplet.games.g2048.symmetry import canonical
from tuplet.kernel import inlined, kernel, mix, pdep, pext

Array = np.ndarray[Any, Any]

OPTIMAL, RANDOM, REACHES = range(3)  # columns of values; from REACHES on, tiles 4, 8, ...
_ZERO = np.uint64(0)


class Layer:
    """A set of boards that grows: `boards[:count]`, found through `slots` by their hash."""

    def __init__(self) -> None:
        self.boards = np.empty(256, np.uint64)
        self.slots = np.full(512, -1, np.int32)
        self.count = 0

    @staticmethod
    def of(boards: Array) -> Layer:
        """The layer of these boards, in their order."""
        layer = Layer()
        layer.boards, layer.count = boards, len(boards)
        layer.reserve(0)
        index(layer.boards, layer.slots, layer.count)
        return layer

    def reserve(self, more: int) -> None:
        """Make room for `more` boards, with at least as many slots free as taken."""
        need = self.count + more
        if need > len(self.boards):
            boards = np.empty(max(need, 2 * len(self.boards)), np.uint64)
            boards[: self.count] = self.boards[: self.count]
            self.boards = boards
        if 2 * need > len(self.slots):
            self.slots = np.full(1 << (2 * need - 1).bit_length(), -1, np.int32)
            index(self.boards, self.slots, self.count)

    def __len__(self) -> int:
        return self.count


@inlined
def find(boards: Array, slots: Array, board: np.uint64) -> np.uint64:
    """The slot that holds the board's number, or the free one where it belongs."""
    last = np.uint64(len(slots) - 1)
    at = mix(board) & last
    while slots[at] >= 0 and boards[slots[at]] != board:
        at = (at + np.uint64(1)) & last
    return at


@kernel
def index(boards: Array, slots: Array, count: int) -> None:
    """Enter all boards into empty slots."""
    for i in range(count):
        slots[find(boards, slots, boards[i])] = i


@inlined
def insert(boards: Array, slots: Array, count: int, board: np.uint64) -> int:
    """Add a board unless it is there; returns how many there are."""
    at = find(boards, slots, board)
    if slots[at] < 0:
        slots[at] = count
        boards[count] = board
        count += 1
    return count


@kernel
def insert_after_states(
    rules: Rules2048,
    states: Array,
    first: int,
    last: int,
    after: Array,
    slots: Array,
    count: int,
    links: Array,
    rewards: Array,
) -> int:
    """Enter the after-states of states `first` to `last`; returns how many there are then.

    `links` and `rewards` (int32[states, 4]) receive the number of each legal move's after-state,
    -1 behind the last, and its reward.
    """
    across, down = rules.across, rules.down
    slid, gained = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    for i in range(first, last):
        n = slides(across, down, states[i], slid, gained, _ZERO)
        for k in range(4):
            links[i, k] = -1
            if np.uint64(k) < n:
                board = canonical(rules, slid[k])
                count = insert(after, slots, count, board)
                links[i, k] = slots[find(after, slots, board)]
                rewards[i, k] = np.int32(gained[k])
    return count


@kernel
def insert_spawns(
    rules: Rules2048, after: Array, first: int, last: int, exponent: np.uint64, boards: Array, slots: Array, count: int
) -> int:
    """Enter what a new tile makes of after-states `first` to `last`; returns the count then."""
    for i in range(first, last):
        empty = empty_cells(rules.cells, after[i], _ZERO)
        while empty != _ZERO:
            cell = empty & (~empty + np.uint64(1))
            empty ^= cell
            board = canonical(rules, after[i] | (cell * exponent))
            count = insert(boards, slots, count, board)
    return count


@kernel
def expect(
    rules: Rules2048,
    spawn4: float,
    after: Array,
    first: int,
    last: int,
    near: Array,
    near_slots: Array,
    near_values: Array,
    far: Array,
    far_slots: Array,
    far_values: Array,
    out: Array,
) -> bool:
    """What after-states are worth: the mean over their spawns, column by column.

    `near` are the boards of the sum that is larger by 2, `far` by 4. False if one is not there.
    """
    columns = out.shape[1]
    for i in range(first, last):
        for k in range(columns):
            out[i, k] = 0.0
        empty = empty_cells(rules.cells, after[i], _ZERO)
        cells = 0
        while empty != _ZERO:
            cell = empty & (~empty + np.uint64(1))
            empty ^= cell
            cells += 1
            if spawn4 < 1.0:
                at = near_slots[find(near, near_slots, canonical(rules, after[i] | cell))]
                if at < 0:
                    return False
                for k in range(columns):
                    out[i, k] += (1.0 - spawn4) * near_values[at, k]
            if spawn4 > 0.0:
                four = canonical(rules, after[i] | (cell << np.uint64(1)))
                at = far_slots[find(far, far_slots, four)]
                if at < 0:
                    return False
                for k in range(columns):
                    out[i, k] += spawn4 * far_values[at, k]
        for k in range(columns):
            out[i, k] /= cells
    return True


@kernel
def decide(states: Array, first: int, last: int, links: Array, rewards: Array, worth: Array, values: Array) -> None:
    """What states are worth to the best player, to a random one, and to those who want a tile.

    `worth` has a row for each after-state, `values` for each state.
    """
    columns = values.shape[1]
    for i in range(first, last):
        top = np.int64(largest(states[i], _ZERO))
        moves = 0
        while moves < 4 and links[i, moves] >= 0:
            moves += 1
        for k in range(columns):
            best = total = 0.0
            for move in range(moves):
                gain = worth[links[i, move], k]
                if k < REACHES:
                    gain += rewards[i, move]
                best = max(best, gain)
                total += gain
            if k >= REACHES and top >= k:  # tile 4 is exponent 2, and column 2
                best = 1.0
            values[i, k] = total / moves if k == RANDOM and moves > 0 else best


@kernel
def pack(cells: np.uint64, boards: Array, keys: Array) -> None:
    """Boards as a table has them. `cells` are the rules'."""
    rest = (cells ^ np.uint64(1)) * np.uint64(15)
    for i in range(len(boards)):
        keys[i] = np.uint32(pext(boards[i], rest))


@kernel
def unpack(cells: np.uint64, total: int, keys: Array, boards: Array) -> None:
    """Undo `pack` for boards whose tiles sum to `total`."""
    rest = (cells ^ np.uint64(1)) * np.uint64(15)
    for i in range(len(keys)):
        key, left, first = np.uint64(keys[i]), np.uint64(total), np.uint64(0)
        while key != _ZERO:
            exponent = key & np.uint64(15)
            if exponent != _ZERO:
                left -= np.uint64(1) << exponent
            key >>= np.uint64(4)
        while left > np.uint64(1):
            left >>= np.uint64(1)
            first += np.uint64(1)
        boards[i] = pdep(np.uint64(keys[i]), rest) | first
