"""One game, played and learned from by the kernels of training, with every number written down.

A `Recording` has the last moves of a game: what the player saw before each of them, and how the value of the board was
updated. Learning from the end is one kernel, `learn_backward`, which walks a whole game. The state of the weights after
j steps of that walk is what it makes of the game's last j boards alone, so each step is seen by learning from one board
more, beginning again with the first weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import LONGEST_GAME, Rules2048, empty_cells, slide, spawn, stuck, view
from tuplet.kernel import allocating, draw, kernel
from tuplet.learn.learners import coherence
from tuplet.learn.td import AHEAD, Hyperparameters, learn_backward, td_update
from tuplet.values.layout import ABSENT
from tuplet.values.tables import Tables, expected_value, locate, total, value

Array = np.ndarray[Any, Any]

LOW, HIGH = 0, 1  # the two words of a board
BEFORE, AFTER = 0, 1
WEIGHT, E, A = range(3)  # what an entry of a table has: the last two are TC's sums


class Recording(NamedTuple):
    """The last `n` moves of a game, move k in place k % n, for a network of m look-ups."""

    path: Array  # uint64[LONGEST_GAME]: the boards that are learned from, of the whole game
    rewards: Array  # uint32[LONGEST_GAME]
    moves: Array  # uint8[LONGEST_GAME]: the moves to begin with, then those that were played
    last: Array  # uint64[2]: the board at the end
    # Playing
    boards: Array  # uint64[n, 2]: the state s
    after: Array  # uint64[n, 4, 2]: the after-state s' of each move; s, if the move is illegal
    gains: Array  # uint32[n, 4]: its reward
    values: Array  # float32[n, 4]: V(s'), or the expected V(s''); NaN if it is illegal
    sums: Array  # float32[n, 4]: reward + gamma * value
    next_values: Array  # float32[n, 4, 16, 2]: for states, V(s'') with a 2 or a 4 on a cell; NaN if it is not empty
    best: Array  # int64[n]: the move with the largest sum
    spawned: Array  # uint64[n]: the tile that appeared, on a board of its own
    # Learning
    changes: Array  # float32[n, 4]: V before, its target, the value of the board after it in that target, V after
    indices: Array  # uint32 or uint64[n, m]: of the weights
    numbers: Array  # uint64[n, m]: the same entries, numbered as files number them: four bits a cell, the first lowest
    entries: Array  # float32[n, m, 2, 3]: weight, E and A before and after
    rates: Array  # float32[n, m]: the part of the update that a weight takes
    # Working memory
    cells: Array  # uint8[m, 8]: the cells of each look-up
    first: Array  # float32[n, m, 3]: the entries before any learning
    ring: Array  # as indices[AHEAD * m]
    look_ups: Array  # as indices[m]
    current: Array  # float32[m]


V_BEFORE, TARGET, FOLLOWING, V_AFTER = range(4)  # the columns of `changes`


def make_recording(n: int, placements: list[tuple[int, ...]], index: Any = np.uint32) -> Recording:
    """A recording of n moves; `placements` are the cells of each look-up, `index` the tables' `index_type`."""
    m = len(placements)
    return Recording(
        path=np.zeros(LONGEST_GAME, np.uint64),
        rewards=np.zeros(LONGEST_GAME, np.uint32),
        moves=np.zeros(LONGEST_GAME, np.uint8),
        last=np.zeros(2, np.uint64),
        boards=np.zeros((n, 2), np.uint64),
        after=np.zeros((n, 4, 2), np.uint64),
        gains=np.zeros((n, 4), np.uint32),
        values=np.zeros((n, 4), np.float32),
        sums=np.zeros((n, 4), np.float32),
        next_values=np.zeros((n, 4, 16, 2), np.float32),
        best=np.zeros(n, np.int64),
        spawned=np.zeros(n, np.uint64),
        changes=np.zeros((n, 4), np.float32),
        indices=np.zeros((n, m), index),
        numbers=np.zeros((n, m), np.uint64),
        entries=np.zeros((n, m, 2, 3), np.float32),
        rates=np.zeros((n, m), np.float32),
        cells=np.array([[*cells, *[ABSENT] * (8 - len(cells))] for cells in placements], np.uint8),
        first=np.zeros((n, m, 3), np.float32),
        ring=np.zeros(AHEAD * m, index),
        look_ups=np.zeros(m, index),
        current=np.zeros(m, np.float32),
    )


@kernel
def _value(tables: Tables, board: np.uint64, indices: Array) -> np.float32:
    """V of a board; `indices` is a buffer."""
    locate(board, tables.plan, tables.marks, tables.stride, indices, np.uint64(0))
    return total(tables.weights, indices, np.uint64(0), np.uint64(tables.plan.shape[1]))


@kernel
def _look_at_moves(
    rules: Rules2048,
    tables: Tables,
    gamma: np.float32,
    states: bool,
    board: np.uint64,
    high: np.uint64,
    record: Recording,
    slot: int,
) -> None:
    """Write down the four moves of a state, and the best of them."""
    best, best_sum = 0, np.float32(-np.inf)
    for move in range(4):
        slid, slid_high, reward = slide(rules, board, high, move)
        record.after[slot, move, LOW], record.after[slot, move, HIGH] = slid, slid_high
        record.gains[slot, move] = reward
        record.values[slot, move] = record.sums[slot, move] = np.float32(np.nan)
        for cell in range(16):
            record.next_values[slot, move, cell, 0] = record.next_values[slot, move, cell, 1] = np.float32(np.nan)
        if slid == board and slid_high == high:
            continue
        if states:
            v = expected_value(rules, tables, slid, slid_high, record.look_ups, record.current)
            empty = empty_cells(rules.cells, slid, slid_high)
            for cell in range(16):
                at = np.uint64(4 * cell)
                if (empty >> at) & np.uint64(1) != np.uint64(0):
                    for four in range(2):
                        state = slid | (np.uint64(1 + four) << at)
                        over = stuck(rules, state, slid_high)
                        v_next = _value(tables, view(state, slid_high), record.look_ups)
                        record.next_values[slot, move, cell, four] = np.float32(0) if over else v_next
        else:
            v = _value(tables, view(slid, slid_high), record.look_ups)
        record.values[slot, move] = v
        record.sums[slot, move] = np.float32(reward) + gamma * v
        if record.sums[slot, move] > best_sum:
            best, best_sum = move, record.sums[slot, move]
    record.best[slot] = best


@kernel
def _note_entries(tables: Tables, per_weight: int, record: Recording, slot: int, when: int) -> None:
    """Write down the table entries of a board: before or after its update."""
    for j in range(record.indices.shape[1]):
        at = record.indices[slot, j]
        record.entries[slot, j, when, WEIGHT] = tables.weights[at]
        if per_weight == 2:
            record.entries[slot, j, when, E] = tables.memory[at + at]
            record.entries[slot, j, when, A] = tables.memory[at + at + np.uint64(1)]


@kernel
def _note_before(tables: Tables, per_weight: int, board: np.uint64, record: Recording, slot: int) -> None:
    """Write down a board's look-ups, its value, and the rate of each weight, before its update."""
    locate(board, tables.plan, tables.marks, tables.stride, record.look_ups, np.uint64(0))
    for j in range(record.indices.shape[1]):
        record.indices[slot, j] = record.look_ups[j]
        number = np.uint64(0)
        for place in range(8):
            cell = record.cells[j, place]
            if cell != ABSENT:
                number |= ((board >> np.uint64(4 * cell)) & np.uint64(15)) << np.uint64(4 * place)
        record.numbers[slot, j] = number
    _note_entries(tables, per_weight, record, slot, BEFORE)
    for j in range(record.indices.shape[1]):
        e, a = record.entries[slot, j, BEFORE, E], record.entries[slot, j, BEFORE, A]
        record.rates[slot, j] = coherence(e, a) if per_weight == 2 else np.float32(1)
    record.changes[slot, V_BEFORE] = _value(tables, board, record.look_ups)


@kernel
def _note_after(
    tables: Tables,
    per_weight: int,
    board: np.uint64,
    target: np.float32,
    following: np.float32,
    record: Recording,
    slot: int,
) -> None:
    """Write down the same after its update, which was towards `target`."""
    _note_entries(tables, per_weight, record, slot, AFTER)
    record.changes[slot, TARGET], record.changes[slot, FOLLOWING] = target, following
    record.changes[slot, V_AFTER] = _value(tables, board, record.look_ups)


@allocating("td_update does")
def _update_forward(
    tables: Tables, hyper: Hyperparameters, states: bool, per_weight: int, record: Recording, k: int, count: int
) -> None:
    """Learn from board k during the game, when `count` boards are known."""
    slot, board = k % len(record.boards), record.path[k]
    following = value(tables, record.path[k + 1]) if k + 1 < count else np.float32(0)
    _note_before(tables, per_weight, board, record, slot)
    target = td_update(tables, hyper, states, record.path, record.rewards, np.uint64(k), np.uint64(count))
    _note_after(tables, per_weight, board, target, following, record, slot)


@kernel
def _restore(tables: Tables, per_weight: int, record: Recording, count: int, shown: int) -> None:
    """Give the entries of the last `shown` boards back what they had before any learning."""
    for k in range(count - shown, count):
        slot = k % len(record.boards)
        for j in range(record.indices.shape[1]):
            at = record.indices[slot, j]
            tables.weights[at] = record.first[slot, j, WEIGHT]
            if per_weight == 2:
                tables.memory[at + at] = record.first[slot, j, E]
                tables.memory[at + at + np.uint64(1)] = record.first[slot, j, A]


@allocating("learn_backward does")
def _walk_back(
    tables: Tables, hyper: Hyperparameters, states: bool, per_weight: int, record: Recording, count: int
) -> None:
    """Learn from the end, and write down the last steps (see the top of this file)."""
    n = len(record.boards)
    shown = min(count, n)
    for k in range(count - shown, count):
        slot = k % n
        _note_before(tables, per_weight, record.path[k], record, slot)
        for j in range(record.indices.shape[1]):
            for part in range(3):
                record.first[slot, j, part] = record.entries[slot, j, BEFORE, part]
    target = following = np.float32(0)
    for back in range(shown):
        k = count - 1 - back
        slot, board = k % n, record.path[k]
        _note_before(tables, per_weight, board, record, slot)
        _restore(tables, per_weight, record, count, shown)
        path, rewards = record.path[k:count], record.rewards[k:count]
        # What it returns is the target of its first board for states, of the board before it for after-states.
        result = learn_backward(tables, hyper, states, path, rewards, np.int64(back + 1), record.ring)
        _note_after(tables, per_weight, board, result if states else target, following, record, slot)
        target, following = result, record.changes[slot, V_AFTER]
    if shown < count:
        _restore(tables, per_weight, record, count, shown)
        learn_backward(
            tables, hyper, states, record.path[0:count], record.rewards[0:count], np.int64(count), record.ring
        )


@allocating("learning does")
def record_game(
    rules: Rules2048,
    tables: Tables,
    hyper: Hyperparameters,
    states: bool,
    per_weight: int,
    board: np.uint64,
    high: np.uint64,
    state: np.uint64,
    given: int,
    record: Recording,
) -> int:
    """Play a game to its end from a board, and learn from it; returns its number of moves.

    The first `given` moves are those of the recording, the others the best ones. If one of them changes nothing, the
    game ends there without learning, and the result is -1 minus its number. `state` is that of the random stream,
    `per_weight` the number of sums that the learner has for each weight (TC: 2).
    """
    n, k = len(record.boards), 0
    while not stuck(rules, board, high):
        slot = k % n
        _look_at_moves(rules, tables, hyper.gamma, states, board, high, record, slot)
        move = np.int64(record.moves[k]) if k < given else record.best[slot]
        slid, slid_high = record.after[slot, move, LOW], record.after[slot, move, HIGH]
        if slid == board and slid_high == high:
            return -1 - k
        record.boards[slot, LOW], record.boards[slot, HIGH] = board, high
        record.moves[k] = move
        record.path[k] = view(board, high) if states else view(slid, slid_high)
        record.rewards[k] = record.gains[slot, move]
        if hyper.forward and k > 0:
            _update_forward(tables, hyper, states, per_weight, record, k - 1, k + 1)
        state, bits = draw(state)
        board, high = spawn(rules, slid, slid_high, bits), slid_high
        record.spawned[slot] = board ^ slid
        k += 1
    record.last[LOW], record.last[HIGH] = board, high
    if hyper.forward:
        if k > 0:
            _update_forward(tables, hyper, states, per_weight, record, k - 1, k)
    else:
        _walk_back(tables, hyper, states, per_weight, record, k)
    return k
