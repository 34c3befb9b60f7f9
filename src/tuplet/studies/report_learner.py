"""2048 learned as the reports' programs did it: plainly, one game after another, slips and all.

`LearnerVariant` says how a program learns. Without any of its flags it is TD(0) from the end of each game, as
`train` does it: the same games, the same weights. The flags are what reports wrote, each by itself:

    states    s0 --r0--> s1 --r1--> s2 ... s(n-1) --r(n-1)--> end      V(s0) towards r0 + V(s1)
    swapped_reward   the same, with the reward of the next move               V(s0) towards r1 + V(s1)
    after-states   s'0 --r1--> s'1 --r2--> s'2 ... s'(n-1) --0--> end  V(s'0) towards r1 + V(s'1)
    swapped_reward   the same, with the reward that led to it                 V(s'0) towards r0 + V(s'1)

It also counts look-ups: the weights that a plain program reads. To choose by after-states it reads
m for each legal move, by states m for each of the 2 x empty cells that a spawn may make of it
(`expected_value`, which adds differences, reads fewer); to update a board it reads m twice, once
for the error and once as it adds to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.rules import (
    LONGEST_GAME,
    WIDE,
    Rules2048,
    empty_cells,
    largest,
    opening,
    slides,
    spawn,
    stuck,
    view,
    wide_slides,
)
from tuplet.games.g2048.statistics import Results
from tuplet.kernel import draw, kernel, line_aligned, popcount, stream
from tuplet.values.network import check_memory
from tuplet.values.patterns import Tuple, parse, placements, storage_order
from tuplet.values.tables import Tables, expected_value, fetch, locate, table_starts, tables_for, total, value

Array = np.ndarray[Any, Any]


class LearnerVariant(NamedTuple):
    """How a program learns; what is not set is right."""

    states: bool = False  # values of states, not of after-states
    shared: bool = False  # one table for all tuples
    table_per_placement: bool = False  # a table for each placement of each tuple
    no_symmetry: bool = False  # a tuple is looked up where it is, not in its eight placements
    undivided_alpha: bool = False  # each placement gets the whole of its tuple's part of an update
    swapped_reward: bool = False  # targets have the reward that belongs to the other kind of values
    no_terminal_update: bool = False  # the last board of a game is not moved towards what came of it
    skip_first: int = 0  # boards at the beginning of a game that are not learned from
    summed_expectation: bool = False  # expectations are summed over empty cells, not divided by their number
    no_terminal_check: bool = False  # a state without moves is worth what the tables say, not 0


class Program(NamedTuple):
    """A program that learns: its tables, how it uses them, and its working memory."""

    rules: Rules2048
    tables: Tables
    variant: LearnerVariant
    look_ups: np.uint64  # that make up a value; the tables' plan has more where eight do not fit
    share: np.float32  # of an error, for each weight
    path: Array  # uint64[LONGEST_GAME]: the boards to learn from
    gains: Array  # uint32[LONGEST_GAME]: the reward of each move
    after: Array  # uint64[4]: after-states under consideration
    after_high: Array  # uint64[4]
    rewards: Array  # uint64[4]
    found: Array  # uint64[4 * m]: where their weights are
    seen: Array  # float32[m]


def tuples_of(net: str, variant: LearnerVariant) -> list[Tuple]:
    """A network's tuples; ValueError if it has none, or they cannot be used that way."""
    tuples = parse(net)
    if variant.shared and len({len(cells) for cells in tuples}) > 1:
        raise UserError(f"tuples that share a table are equally long, those of {net!r} are not")
    return tuples


def make_program(rules: Rules2048, net: str, variant: LearnerVariant, alpha: float) -> Program:
    """A program that has learned nothing yet."""
    tuples = tuples_of(net, variant)
    read = [  # each look-up's cells, and those that its table was made for
        (placed, tuples[0] if variant.shared else placed if variant.table_per_placement else cells)
        for cells in tuples
        for placed in ([cells] if variant.no_symmetry else placements(cells))
    ]
    owners = list(dict.fromkeys(owner for _, owner in read))
    starts = dict(zip(owners, table_starts(owners), strict=True))
    # In a table the n-th cells of all that share it stand at the same place.
    look_ups = [(placed, storage_order(owner), starts[owner]) for placed, owner in read]
    count, size = len(read), sum(16 ** len(owner) for owner in owners)
    check_memory(net, size)
    look_ups += [((), [], size)] * (-count % 8)  # of a weight that stays 0: kernels take eights
    tables = tables_for(look_ups, line_aligned(size + 1, np.float32))
    share = np.float32(alpha) / np.float32(len(tuples) if variant.undivided_alpha else count)
    return Program(
        rules,
        tables,
        variant,
        np.uint64(count),
        share,
        np.zeros(LONGEST_GAME, np.uint64),
        np.zeros(LONGEST_GAME, np.uint32),
        np.zeros(4, np.uint64),
        np.zeros(4, np.uint64),
        np.zeros(4, np.uint64),
        line_aligned(4 * len(look_ups), np.uint64),
        np.zeros(len(look_ups), np.float32),
    )


@kernel
def spawned_value(program: Program, board: np.uint64, high: np.uint64) -> np.float32:
    """What a program by states takes an after-state to be worth: what a spawn makes of it."""
    rules, tables, variant = program.rules, program.tables, program.variant
    v = expected_value(rules, tables, board, high, program.found, program.seen)
    empty = empty_cells(rules.cells, board, high)
    if variant.no_terminal_check and popcount(empty) == np.uint64(1):
        fours = np.float32(rules.fours) / np.float32(1 << 32)
        for tile in range(2):
            full = board | (empty << np.uint64(tile))
            if stuck(rules, full, high):
                share = fours if tile == 1 else np.float32(1) - fours
                v += share * value(tables, view(full, high))
    return v * np.float32(popcount(empty)) if variant.summed_expectation else v


@kernel
def walk_back(program: Program, count: np.uint64) -> np.uint64:
    """Learn from the game of so many moves that stands in `path` and `gains`, from its end.

    Returns the number of look-ups.
    """
    variant, weights, plan = program.variant, program.tables.weights, program.tables.plan
    marks, stride, found = program.tables.marks, program.tables.stride, program.found
    path, gains = program.path, program.gains
    m, zero, one = np.uint64(plan.shape[1]), np.uint64(0), np.uint64(1)
    own = variant.states != variant.swapped_reward  # the reward of the board's own move
    behind, read = np.float32(0), zero  # V of the board after this one
    k = count
    while k > np.uint64(variant.skip_first):
        k -= one
        if own:
            target = np.float32(gains[k]) + behind
        else:
            target = (np.float32(gains[k + one]) if k + one < count else np.float32(0)) + behind
        locate(path[k], plan, marks, stride, found, zero)
        behind = total(weights, found, zero, m)
        read += program.look_ups
        if not (variant.no_terminal_update and k + one == count):
            amount = program.share * (target - behind)
            for i in range(program.look_ups):
                weights[found[i]] += amount
            behind = total(weights, found, zero, m)
            read += program.look_ups
    return read


@kernel
def play(
    program: Program, learns: bool, seed: np.uint64, first: int, games: int, results: Results, look_ups: Array, at: int
) -> None:
    """Play games number `first` to `first + games` of a seed, and learn from them.

    What became of each, and its look-ups, are written from place `at` on.
    """
    rules, tables, states = program.rules, program.tables, program.variant.states
    after, after_high, rewards = program.after, program.after_high, program.rewards
    weights, plan, found = tables.weights, tables.plan, program.found
    zero, one, m = np.uint64(0), np.uint64(1), np.uint64(plan.shape[1])
    for place in range(at, at + games):
        state, board = opening(rules, stream(seed, np.uint64(first + place - at)))
        high, k, score, read = zero, zero, np.int64(0), zero
        while True:
            legal = WIDE
            if high == zero:
                legal = slides(rules.across, rules.down, board, after, rewards, zero)
                after_high[:] = zero
            if legal == WIDE:
                legal = wide_slides(rules, board, high, after, after_high, rewards, zero)
            if legal == zero:
                break
            if not states:
                for n in range(legal):
                    locate(view(after[n], after_high[n]), plan, tables.marks, tables.stride, found, n * m)
                fetch(weights, found, zero, legal * m)
            best, best_value = zero, np.float32(-np.inf)
            for n in range(legal):
                if states:
                    v = spawned_value(program, after[n], after_high[n])
                    spawns = popcount(empty_cells(rules.cells, after[n], after_high[n]))
                    read += (spawns + spawns) * program.look_ups
                else:
                    v = total(weights, found, n * m, m)
                    read += program.look_ups
                v += np.float32(rewards[n])
                best = np.uint64(n) if v > best_value else best
                best_value = max(v, best_value)
            program.path[k] = view(board, high) if states else view(after[best], after_high[best])
            program.gains[k] = rewards[best]
            k += one
            score += np.int64(rewards[best])
            state, bits = draw(state)
            high = after_high[best]
            board = spawn(rules, after[best], high, bits)
        if learns:
            read += walk_back(program, k)
        results.scores[place] = score
        results.tiles[place] = largest(board, high)
        results.lengths[place] = np.int64(k)
        look_ups[place] = np.int64(read)
