"""One game of self-play, played and learned from by the kernels of training, with every number written down.

As `step_kernels` does for 2048: a step of the walk back is what `learn_backward` makes of one position more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.protocol import (
    LONGEST,
    ONGOING,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    random_outcome,
    random_start,
    reward,
    side,
)
from tuplet.kernel import draw, kernel, stream
from tuplet.learn.game_play import GameHyperparameters, Workspace, best_move, learn_backward, random_move, target_of
from tuplet.learn.learners import coherence
from tuplet.learn.step_kernels import AFTER, BEFORE, WEIGHT, A, E
from tuplet.values.game_network import GameTables, Scratch, locate, logistic, result_of, seen_by, value
from tuplet.values.tables import total

Array = np.ndarray[Any, Any]

FACES = 8  # outcomes of chance, at most
V_BEFORE, EXPECTED, REST, TARGET, V_AFTER = range(5)  # the columns of `changes`
_HALF = np.uint64(32)


class SelfPlayRecording(NamedTuple):
    """A game of self-play, for a network of m look-ups."""

    outcomes: Array  # int64[LONGEST]: what chance did; -1: it was not its turn
    moves: Array  # int64[LONGEST]
    best: Array  # int64[LONGEST, FACES]: the best move after each outcome, the first without chance
    values: Array  # float32[LONGEST, FACES]: what it is worth to the mover
    end: Array  # uint64[2]: the last position
    result: Array  # float32[1]: what the game came to for the side that moved last
    changes: Array  # float32[LONGEST, 5]: V before; its target: the mean of the best moves, the rest of the game, mixed
    indices: Array  # uint32[LONGEST, m]
    entries: Array  # float32[LONGEST, m, 2, 3]: weight, E and A before and after
    rates: Array  # float32[LONGEST, m]
    first: Array  # float32[LONGEST, m, 3]: the entries before any learning


def make_self_play_recording(m: int) -> SelfPlayRecording:
    """A recording for a network of m look-ups."""
    return SelfPlayRecording(
        outcomes=np.zeros(LONGEST, np.int64),
        moves=np.zeros(LONGEST, np.int64),
        best=np.zeros((LONGEST, FACES), np.int64),
        values=np.zeros((LONGEST, FACES), np.float32),
        end=np.zeros(2, np.uint64),
        result=np.zeros(1, np.float32),
        changes=np.zeros((LONGEST, 5), np.float32),
        indices=np.zeros((LONGEST, m), np.uint32),
        entries=np.zeros((LONGEST, m, 2, 3), np.float32),
        rates=np.zeros((LONGEST, m), np.float32),
        first=np.zeros((LONGEST, m, 3), np.float32),
    )


@kernel
def _note_entries(tables: GameTables, per_weight: int, record: SelfPlayRecording, k: int, when: int) -> None:
    for j in range(record.indices.shape[1]):
        at = record.indices[k, j]
        record.entries[k, j, when, WEIGHT] = tables.weights[at]
        if per_weight == 2:
            record.entries[k, j, when, E] = tables.memory[np.uint64(2) * at]
            record.entries[k, j, when, A] = tables.memory[np.uint64(2) * at + np.uint64(1)]


@kernel
def _note_before(
    rules: Any,
    tables: GameTables,
    per_weight: int,
    position: Words,
    record: SelfPlayRecording,
    scratch: Scratch,
    k: int,
) -> None:
    locate(rules, tables, position, scratch)
    for j in range(record.indices.shape[1]):
        record.indices[k, j] = scratch.indices[j]
    _note_entries(tables, per_weight, record, k, BEFORE)
    for j in range(record.indices.shape[1]):
        e, a = record.entries[k, j, BEFORE, E], record.entries[k, j, BEFORE, A]
        record.rates[k, j] = coherence(e, a) if per_weight == 2 else np.float32(1)
    v = total(tables.weights, scratch.indices, np.uint64(0), np.uint64(len(scratch.indices)))
    record.changes[k, V_BEFORE] = logistic(v) if tables.logistic else v


@kernel
def _restore(tables: GameTables, per_weight: int, record: SelfPlayRecording, length: int) -> None:
    for k in range(length):
        for j in range(record.indices.shape[1]):
            at = record.indices[k, j]
            tables.weights[at] = record.first[k, j, WEIGHT]
            if per_weight == 2:
                tables.memory[np.uint64(2) * at] = record.first[k, j, E]
                tables.memory[np.uint64(2) * at + np.uint64(1)] = record.first[k, j, A]


@kernel
def _from(work: Workspace, k: int) -> Workspace:
    """The same game from position k on."""
    return Workspace(
        work.path[k:],
        work.targets[k:],
        work.rewards[k:],
        work.movers[k:],
        work.follows[k:],
        work.moves,
        work.replies,
        work.best,
        work.keys,
        work.known,
        work.stamps,
        work.clock,
    )


@kernel
def _walk_back(
    rules: Any,
    tables: GameTables,
    hyper: GameHyperparameters,
    per_weight: int,
    work: Workspace,
    scratch: Scratch,
    record: SelfPlayRecording,
    length: int,
    last: int,
) -> None:
    """Learn from the end, and write down each step."""
    for k in range(length):
        position = (work.path[k, 0], work.path[k, 1])
        _note_before(rules, tables, per_weight, position, record, scratch, k)
        for j in range(record.indices.shape[1]):
            for part in range(3):
                record.first[k, j, part] = record.entries[k, j, BEFORE, part]
    z, mover, one, result = record.result[0], last, np.float32(1), record.result[0]
    for k in range(length - 1, -1, -1):
        position = (work.path[k, 0], work.path[k, 1])
        _note_before(rules, tables, per_weight, position, record, scratch, k)
        # The target, as `learn_backward` computes it.
        z = work.rewards[k] + hyper.gamma * seen_by(tables, z, mover != work.movers[k])
        mover = work.movers[k]
        record.changes[k, EXPECTED], record.changes[k, REST] = work.targets[k], z
        target = work.targets[k]
        if work.follows[k] != np.uint8(0):
            target = (one - hyper.lam) * target + hyper.lam * z
        record.changes[k, TARGET] = z = target
        _restore(tables, per_weight, record, length)
        learn_backward(rules, tables, hyper, _from(work, k), scratch, length - k, result, last)
        _note_entries(tables, per_weight, record, k, AFTER)
        record.changes[k, V_AFTER] = value(rules, tables, position, scratch)


@kernel
def record_self_play(
    rules: Any,
    start: Words,
    tables: GameTables,
    hyper: GameHyperparameters,
    rewarded: bool,
    per_weight: int,
    work: Workspace,
    scratch: Scratch,
    seed: np.uint64,
    number: int,
    record: SelfPlayRecording,
) -> int:
    """Play game `number` of a seed as `play_games` does, and learn from it; returns its number of moves.

    `per_weight` is the number of sums that the learner has for each weight (TC: 2).
    """
    state, position = random_start(rules, start, stream(seed, np.uint64(number)))
    state, bits = draw(state)
    opening = np.int64(((bits >> _HALF) * np.uint64(hyper.opening + 1)) >> _HALF)
    length, ended = 0, ending(rules, position)
    while ended == ONGOING and length < LONGEST:
        work.path[length, 0], work.path[length, 1] = position
        work.movers[length] = side(rules, position)
        work.targets[length] = target_of(rules, tables, position, hyper.ahead, hyper.gamma, rewarded, work, scratch)
        best, record.outcomes[length] = work.best[0], -1
        if is_chance(rules, position):
            for face in range(min(count_outcomes(rules, position), FACES)):
                record.best[length, face], record.values[length, face] = best_move(
                    rules,
                    tables,
                    apply_outcome(rules, position, face),
                    hyper.ahead,
                    hyper.gamma,
                    rewarded,
                    work,
                    scratch,
                )
            state, bits = draw(state)
            outcome = random_outcome(rules, position, bits)
            position = apply_outcome(rules, position, outcome)
            best, record.outcomes[length] = work.best[outcome], outcome
        else:
            record.best[length, 0], record.values[length, 0] = best, work.targets[length]
        move = best
        state, bits = draw(state)
        chance = np.float64(bits >> np.uint64(11)) * 2.0**-53
        if length < opening or chance < hyper.explore:
            state, bits = draw(state)
            move = random_move(rules, position, work.moves, bits)
        work.follows[length] = np.uint8(move == best)
        record.moves[length] = move
        after = apply(rules, position, move)
        work.rewards[length] = np.float32(reward(rules, position, after)) if rewarded else np.float32(0)
        position = after
        length += 1
        ended = ending(rules, position)
    record.end[0], record.end[1] = position
    if length > 0:
        last = work.movers[length - 1]
        record.result[0] = result_of(rules, tables, position, ended, last, rewarded)
        _walk_back(rules, tables, hyper, per_weight, work, scratch, record, length, last)
    return length
