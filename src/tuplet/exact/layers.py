"""Layers: the boards of one sum of tiles, each once, and the steps from layer to layer.

A move keeps the sum of tiles, a spawn raises it by 2 or 4: everything that can follow a board is in
the next two layers. With `symmetric`, boards that are mirror images or rotations of one another
count as one, the *canonical* one with the smallest word.

In a table, a board is stored as all its cells but the first, four bits each: the first follows from
the sum. Nine cells then fit into 32 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuplet.games.g2048.rules import Rules2048, empty_cells, largest, quick_slide
from tuplet.games.g2048.symmetry import canonical
from tuplet.games.protocol import Array
from tuplet.kernel import inlined, kernel, mix, pdep, pext, popcount

PART = 1 << 14  # boards that are handled at a time
OPTIMAL, RANDOM, REACHES = range(3)  # columns of values; from REACHES on, tiles 4, 8, ...
_ZERO = np.uint64(0)


class Arrays(NamedTuple):
    """The arrays of a layer, as kernels take them."""

    boards: Array  # uint64
    probabilities: Array  # float64
    slots: Array  # int32: a hash table of the boards' numbers


class Layer:
    """A growing set of boards, `boards[:count]`, with their probabilities and a hash table, `slots`."""

    def __init__(self) -> None:
        self.boards, self.probabilities = np.empty(256, np.uint64), np.zeros(256)
        self.slots = np.full(512, -1, np.int32)
        self.count = 0

    @staticmethod
    def of(boards: Array) -> Layer:
        """The layer of these boards, in their order."""
        layer = Layer()
        layer.boards, layer.probabilities, layer.count = boards, np.zeros(len(boards)), len(boards)
        layer.reserve(0)
        index(layer.boards, layer.slots, layer.count)
        return layer

    def reserve(self, more: int) -> None:
        """Make room for `more` boards, with at least as many slots free as taken."""
        need = self.count + more
        if need > len(self.boards):
            size = max(need, 2 * len(self.boards))
            boards, probabilities = np.empty(size, np.uint64), np.zeros(size)
            boards[: self.count] = self.boards[: self.count]
            probabilities[: self.count] = self.probabilities[: self.count]
            self.boards, self.probabilities = boards, probabilities
        if 2 * need > len(self.slots):
            self.slots = np.full(1 << (2 * need - 1).bit_length(), -1, np.int32)
            index(self.boards, self.slots, self.count)

    def arrays(self, part: slice = slice(None)) -> Arrays:
        """The arrays, or a part of the boards."""
        return Arrays(self.boards[part], self.probabilities[part], self.slots)

    def __len__(self) -> int:
        return self.count


class LayerValues(NamedTuple):
    """A layer and the values of its states, float64[states, columns]."""

    layer: Layer
    values: Array


def unpacked_layer(rules: Rules2048, total: int, keys: Array) -> Layer:
    """The layer of a table's boards whose tiles sum to `total`."""
    boards = np.empty(len(keys), np.uint64)
    unpack(rules.cells, total, keys, boards)
    return Layer.of(boards)


def first_layers(rules: Rules2048, spawn4: float, symmetric: bool) -> dict[int, Layer]:
    """The boards that games start with, two tiles each, by their sum."""
    empty, single, layers = Layer.of(np.zeros(1, np.uint64)), dict[int, Layer](), dict[int, Layer]()
    empty.probabilities[0] = 1.0
    add_spawns(rules, spawn4, symmetric, empty, 0, single)
    for total, layer in single.items():
        add_spawns(rules, spawn4, symmetric, layer, total, layers)
    return layers


def add_spawns(
    rules: Rules2048, spawn4: float, symmetric: bool, after: Layer, total: int, layers: dict[int, Layer]
) -> None:
    """Add what a new tile makes of the after-states with the sum `total` to the layers ahead."""
    for exponent, share in ((1, 1 - spawn4), (2, spawn4)):
        if not share or not len(after):
            continue
        layer = layers.setdefault(total + (1 << exponent), Layer())
        for first in range(0, len(after), PART):
            part = after.arrays(slice(first, min(first + PART, len(after))))
            layer.reserve(9 * len(part.boards))
            layer.count = _insert_spawns(
                rules, symmetric, part, np.uint64(exponent), share, layer.arrays(), layer.count
            )


def after_states(
    rules: Rules2048, symmetric: bool, states: Layer, policy: Array | None = None
) -> tuple[Layer, Array, Array]:
    """The after-states of a layer, and for each state and move: its number, -1 if there is none, and the reward.

    `policy`, float64[states, 4], has the probability of each move; without it all legal moves are
    made, and the after-states have no probabilities.
    """
    after = Layer()
    links, rewards = np.empty((len(states), 4), np.int32), np.zeros((len(states), 4), np.int32)
    policy = np.zeros((0, 4)) if policy is None else policy
    for first in range(0, len(states), PART):
        part = slice(first, min(first + PART, len(states)))
        after.reserve(4 * (part.stop - part.start))
        after.count = _insert_after_states(
            rules, symmetric, states.arrays(part), policy[part], after.arrays(), after.count, links[part], rewards[part]
        )
    return after, links, rewards


def expect(rules: Rules2048, spawn4: float, after: Array, near: LayerValues, far: LayerValues, out: Array) -> bool:
    """The values of canonical after-states, column by column: the mean over all spawns.

    `near` and `far` are the layers of the sums that are larger by 2 and by 4. False if one of the
    next boards is missing there.
    """
    return bool(_expect(rules, spawn4, after, near.layer.arrays(), near.values, far.layer.arrays(), far.values, out))


@inlined
def find(boards: Array, slots: Array, board: np.uint64) -> np.uint64:
    """The slot of the board's number, or the free slot where it belongs."""
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
def insert(boards: Array, slots: Array, count: int, board: np.uint64) -> tuple[int, int]:
    """Add a board unless it is there; returns its number and the new count."""
    at = find(boards, slots, board)
    if slots[at] < 0:
        slots[at] = count
        boards[count] = board
        count += 1
    return int(slots[at]), count


@kernel
def _insert_after_states(
    rules: Rules2048,
    symmetric: bool,
    states: Arrays,
    policy: Array,
    after: Arrays,
    count: int,
    links: Array,
    rewards: Array,
) -> int:
    across, down = rules.across, rules.down
    boards, probabilities, _ = states
    after_boards, after_probabilities, slots = after
    for i in range(len(boards)):
        for move in range(4):
            links[i, move] = -1
            if len(policy) > 0 and policy[i, move] == 0.0:
                continue
            board, reward = quick_slide(across, down, boards[i], move)
            if board == boards[i]:
                continue
            if symmetric:  # (a conditional expression takes a third longer)
                board = canonical(rules, board)
            number, count = insert(after_boards, slots, count, board)
            links[i, move], rewards[i, move] = number, np.int32(reward)
            if len(policy) > 0:
                after_probabilities[number] += probabilities[i] * policy[i, move]
    return count


@kernel
def _insert_spawns(
    rules: Rules2048, symmetric: bool, after: Arrays, exponent: np.uint64, share: float, layer: Arrays, count: int
) -> int:
    after_boards, after_probabilities, _ = after
    boards, probabilities, slots = layer
    for i in range(len(after_boards)):
        empty = empty_cells(rules.cells, after_boards[i], _ZERO)
        cells = np.float64(popcount(empty))
        while empty != _ZERO:
            cell = empty & (~empty + np.uint64(1))
            empty ^= cell
            board = after_boards[i] | (cell * exponent)
            if symmetric:  # (a conditional expression takes a third longer)
                board = canonical(rules, board)
            number, count = insert(boards, slots, count, board)
            probabilities[number] += share * after_probabilities[i] / cells
    return count


@kernel
def _expect(
    rules: Rules2048,
    spawn4: float,
    after: Array,
    near: Arrays,
    near_values: Array,
    far: Arrays,
    far_values: Array,
    out: Array,
) -> bool:
    (near_boards, _, near_slots), (far_boards, _, far_slots) = near, far
    columns = out.shape[1]
    for i in range(len(after)):
        for k in range(columns):
            out[i, k] = 0.0
        empty = empty_cells(rules.cells, after[i], _ZERO)
        cells = 0
        while empty != _ZERO:
            cell = empty & (~empty + np.uint64(1))
            empty ^= cell
            cells += 1
            if spawn4 < 1.0:
                at = near_slots[find(near_boards, near_slots, canonical(rules, after[i] | cell))]
                if at < 0:
                    return False
                for k in range(columns):
                    out[i, k] += (1.0 - spawn4) * near_values[at, k]
            if spawn4 > 0.0:
                at = far_slots[find(far_boards, far_slots, canonical(rules, after[i] | (cell << np.uint64(1))))]
                if at < 0:
                    return False
                for k in range(columns):
                    out[i, k] += spawn4 * far_values[at, k]
        for k in range(columns):
            out[i, k] /= cells
    return True


@kernel
def decide(states: Array, links: Array, rewards: Array, after_values: Array, values: Array) -> None:
    """The values of states: for optimal play, for random play, and for reaching each tile."""
    columns = values.shape[1]
    for i in range(len(states)):
        top = np.int64(largest(states[i], _ZERO))
        for k in range(columns):
            best = total = 0.0
            moves = 0
            for move in range(4):
                if links[i, move] >= 0:
                    gain = after_values[links[i, move], k]
                    if k < REACHES:
                        gain += rewards[i, move]
                    best = max(best, gain)
                    total += gain
                    moves += 1
            if k >= REACHES and top >= k:  # tile 4 is exponent 2, and column 2
                best = 1.0
            values[i, k] = total / moves if k == RANDOM and moves > 0 else best


@kernel
def pack(cells: np.uint64, boards: Array, keys: Array) -> None:
    """Boards as the keys of a table. `cells` are the rules'."""
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
