"""TD learning for n-tuple networks: games played greedily and learned from, as fast as memory allows.

One step of a game:

    s --move, reward r--> s' --spawn--> s''

After-state values choose argmax r + γV(s') and learn V(s') += α(r_next + γV(s'_next) - V(s')).
State values choose argmax r + γE[V(s'')] and learn V(s) += α(r + γV(s'') - V(s)).
V is 0 after the last move (Szubert & Jaśkowski 2014). TD(λ) and n-step TD change the target; how
each weight takes its share of the TD error is the learner's rule (`learners`).

Each look-up in a large table waits for memory. One thread therefore plays two games in turns: while
the weights of one game's after-states are being fetched, the other game moves. The two *slots* share
the tables, and learn whenever one of their games ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import LONGEST_GAME, WIDE, Rules2048, largest, opening, slides, spawn, view, wide_slides
from tuplet.games.g2048.statistics import Results
from tuplet.kernel import allocating, draw, inlined, kernel, line_aligned, stream
from tuplet.learn.learners import prefetch_memory, update_weights
from tuplet.values.tables import (
    Tables,
    expected_value,
    fetch,
    inherit_stage,
    locate,
    repeat_count,
    total,
    value,
    weight_indices,
    weight_step,
)

Array = np.ndarray[Any, Any]

SLOTS = 2  # games played in turns: 1.2 times as fast as one; three were 3 % slower, four 6 %
EMPTY, DONE = -2, -1  # in place of a slot's game number: before its first game, after its last
RESTART_MOVES, DIVERGED = 0, 1  # the places of `Workspace.tally`
SHORTEST_RESTART = 1000  # moves: a shorter game is not played again from its middle
AHEAD = 4  # boards whose weights are prefetched while a game is walked back; a power of two
_MARGIN = 32  # words: four cache lines


class Hyperparameters(NamedTuple):
    """How to learn; alpha 0 only plays."""

    rule: Any  # a learner's rule, see `learners`
    alpha: np.float32
    gamma: np.float32
    forward: bool = False  # learn during the game, instead of from its end
    lam: np.float32 = np.float32(0)  # TD(lambda), backward only
    steps: int = 1  # n-step TD: rewards summed before V is used
    restart: bool = False  # play on from the middle of a finished game, until it is short


class Workspace(NamedTuple):
    """A thread's working memory, allocated once."""

    path: Array  # uint64[SLOTS, LONGEST_GAME]: the boards to learn from
    rewards: Array  # uint32[SLOTS, LONGEST_GAME]: the reward of each move
    board: Array  # uint64[SLOTS]: the current board, and its tiles beyond 32768
    high: Array  # uint64[SLOTS]
    rng: Array  # uint64[SLOTS]: the state of the game's random stream
    legal: Array  # uint64[SLOTS]: number of legal moves
    length: Array  # uint64[SLOTS]: moves made
    score: Array  # int64[SLOTS]
    game: Array  # int64[SLOTS]: game number, or EMPTY or DONE
    wide: Array  # uint64[SLOTS]: whether its after-states have tiles beyond 32768
    restarted: Array  # uint64[SLOTS]: whether it began in the middle of another game
    tally: Array  # int64[2]: moves of restarted games; games after which V was not finite
    after: Array  # uint64[SLOTS * 4]: after-states of the legal moves
    after_high: Array  # uint64[SLOTS * 4]
    after_rewards: Array  # uint64[SLOTS * 4]
    indices: Array  # uint32 or uint64[SLOTS * 4 * m]: of their weights
    ring: Array  # the same[AHEAD * m]: of boards that a finished game is walked back over
    seen: Array  # float32[m]: for `expected_value`


def make_workspace(m: int, index: Any = np.uint32) -> Workspace:
    """A workspace for a network of m look-ups; `index` is its tables' `index_type`.

    The small arrays are written all the time. They share one block with free cache lines around it,
    so that two threads never write to the same line.
    """
    wide, narrow = [4 * SLOTS * m, AHEAD * m, *[4 * SLOTS] * 3], [*[SLOTS] * 9, 2, m]
    sizes = [*wide, *narrow]  # vectors are written to the first: each begins at a cache line
    block = line_aligned(sum(sizes) + 2 * _MARGIN, np.uint64)
    ends = np.cumsum([_MARGIN, *sizes])
    indices, ring, after, after_high, after_rewards, *small = (
        block[end - size : end] for end, size in zip(ends[1:], sizes, strict=True)
    )
    board, high, rng, legal, length, score, game, wide_flag, restarted, tally, seen = small
    return Workspace(
        path=np.zeros((SLOTS, LONGEST_GAME), np.uint64),
        rewards=np.zeros((SLOTS, LONGEST_GAME), np.uint32),
        board=board,
        high=high,
        rng=rng,
        legal=legal,
        length=length,
        score=score.view(np.int64),
        game=game.view(np.int64),
        wide=wide_flag,
        restarted=restarted,
        tally=tally.view(np.int64),
        after=after,
        after_high=after_high,
        after_rewards=after_rewards,
        indices=indices.view(index)[: len(indices)],
        ring=ring.view(index)[: len(ring)],
        seen=seen.view(np.float32)[:m],
    )


@inlined
def n_step_return(rewards: Array, first: np.uint64, last: np.uint64, gamma: np.float32) -> Any:
    """The discounted sum of rewards[first:last], and the discount of what follows them."""
    earned, discount = np.float32(0), np.float32(1)
    for move in range(first, last):
        earned += discount * np.float32(rewards[move])
        discount *= gamma
    return earned, discount


@allocating("the values of the last n boards")
def learn_backward(
    tables: Tables,
    hyper: Hyperparameters,
    states: bool,
    path: Array,
    rewards: Array,
    count: np.int64 | int,
    ring: Array,
) -> np.float32:
    """Walk a finished game from its end, moving each V towards values just updated.

        after-states   s'0 --r1--> s'1 --r2--> s'2 ... s'(n-1) --0--> end
        states         s0 --r0--> s1 --r1--> s2 ... s(n-1) --r(n-1)--> end

    `rewards[k]` is the reward of move k, `path[k]` the after-state it led to (or the state it was
    made in). The target of board k is r + γ((1 - λ)V + λz), with V and z the value and the target of
    the board after it, or the n-step return. Returns the first board's target (not finite if a
    weight is not).
    """
    weights, memory, plan = tables.weights, tables.memory, tables.plan
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    m, one = np.uint64(plan.shape[1]), np.uint64(1)
    ahead = np.uint64(AHEAD)
    rule, gamma, lam, small = hyper.rule, hyper.gamma, hyper.lam, tables.small
    step = hyper.alpha / np.float32(m)
    steps, length = np.uint64(hyper.steps), np.uint64(count)
    later = np.zeros(hyper.steps, np.float32)  # V of the boards after this one
    k = length
    shift = np.uint64(states)  # the reward that leads to board k is that of move k, or k - 1
    for _ in range(min(count, AHEAD)):
        k -= one
        locate(path[k], plan, marks, stride, ring, (k % ahead) * m)
        fetch(weights, ring, (k % ahead) * m, m)
        prefetch_memory(rule, memory, ring, (k % ahead) * m, m)
    k = length
    target = np.float32(rewards[k - one]) if states and count > 0 else np.float32(0)
    while k > np.uint64(0):
        k -= one
        start = (k % ahead) * m
        if staged:
            inherit_stage(weights, stride, ring, start, m)
        if small:
            step = hyper.alpha / repeat_count(ring, start, m)
        delta = target - total(weights, ring, start, m)  # the TD error
        update_weights(rule, weights, memory, ring, start, m, step * delta)
        if k >= shift:
            v = total(weights, ring, start, m)
            if steps > one:
                if k > np.uint64(0):  # the target of board k - 1
                    first, last = k - shift, min(k - shift + steps, length)
                    target, discount = n_step_return(rewards, first, last, gamma)
                    later[k % steps] = v
                    if k - one + steps < length:
                        target += discount * later[(k - one) % steps]
            else:
                z = lam * target + (np.float32(1) - lam) * v
                target = np.float32(rewards[k - shift]) + gamma * z
        if k >= ahead:
            locate(path[k - ahead], plan, marks, stride, ring, start)
            fetch(weights, ring, start, m)
            prefetch_memory(rule, memory, ring, start, m)
    return target


@allocating("weight_indices returns an array")
def td_update(
    tables: Tables, hyper: Hyperparameters, states: bool, path: Array, rewards: Array, k: np.uint64, count: np.uint64
) -> np.float32:
    """Move V of board k towards its n-step return, as far as the game is known, which it returns.

    `count` boards are known; V is 0 after the last of them.
    """
    one, steps = np.uint64(1), np.uint64(hyper.steps)
    shift = np.uint64(states)
    first, last = k + one - shift, min(k + one - shift + steps, count)
    target, discount = n_step_return(rewards, first, last, hyper.gamma)
    if k + steps < count:
        target += discount * value(tables, path[k + steps])
    indices, zero, m = weight_indices(tables, path[k]), np.uint64(0), np.uint64(tables.plan.shape[1])
    delta = target - total(tables.weights, indices, zero, m)
    step = weight_step(tables, indices, hyper.alpha)
    update_weights(hyper.rule, tables.weights, tables.memory, indices, zero, m, step * delta)
    return np.float32(target)


@kernel
def learn_forward(
    tables: Tables, hyper: Hyperparameters, states: bool, path: Array, rewards: Array, count: np.int64 | int
) -> None:
    """The same game from its beginning, each V moved towards a value not yet updated."""
    for k in range(np.uint64(count)):
        td_update(tables, hyper, states, path, rewards, np.uint64(k), np.uint64(count))


@inlined
def choose(
    weights: Array, gamma: np.float32, rewards: Array, indices: Array, first: np.uint64, end: np.uint64, m: np.uint64
) -> np.uint64:
    """Greedy play: argmax r + γV(s') of the after-states from `first` to before `end`."""
    best, best_value = first, np.float32(-np.inf)
    for n in range(first, end):
        v = np.float32(rewards[n]) + gamma * total(weights, indices, n * m, m)
        best = np.uint64(n) if v > best_value else best
        best_value = max(v, best_value)
    return best


@kernel
def finish(
    tables: Tables,
    hyper: Hyperparameters,
    states: bool,
    work: Workspace,
    slot: np.uint64 | int,
    results: Results,
    at: int,
) -> bool:
    """Learn from a slot's finished game, and write its result if it began at the beginning.

    Returns whether the slot is done with the game: not if it is to be played again from its middle.
    """
    path, rewards, count, high = work.path[slot], work.rewards[slot], work.length[slot], work.high[slot]
    learns, target = hyper.alpha != np.float32(0), np.float32(0)
    if learns and hyper.forward:
        for k in range(count - min(count, np.uint64(hyper.steps)), count):
            td_update(tables, hyper, states, path, rewards, np.uint64(k), count)
        target = value(tables, path[0])
    elif learns:
        target = learn_backward(tables, hyper, states, path, rewards, np.int64(count), work.ring)
    work.tally[DIVERGED] += not np.isfinite(target)
    if work.restarted[slot] == np.uint64(0):
        place = at + work.game[slot]
        results.scores[place] = work.score[slot]
        results.tiles[place] = largest(work.board[slot], high)
        results.lengths[place] = np.int64(count)
    else:
        work.tally[RESTART_MOVES] += np.int64(count)
    again = learns and hyper.restart and high == np.uint64(0) and count >= np.uint64(SHORTEST_RESTART)
    work.restarted[slot] = np.uint64(again)
    return not again


@kernel
def restart(
    rules: Rules2048,
    states: bool,
    work: Workspace,
    slot: np.uint64 | int,
    seed: np.uint64,
    first: int,
    game: int,
    games: int,
) -> int:
    """Set up a slot's next game: its last one from the middle, or number `game`, or none.

    Returns the number of games started so far.
    """
    if work.restarted[slot] != np.uint64(0):
        middle = work.path[slot, work.length[slot] >> np.uint64(1)]
        if states:
            work.board[slot] = middle
        else:
            work.rng[slot], bits = draw(work.rng[slot])
            work.board[slot] = spawn(rules, middle, np.uint64(0), bits)
    elif game == games:
        work.game[slot] = DONE
    else:
        work.game[slot] = game
        work.rng[slot], work.board[slot] = opening(rules, stream(seed, np.uint64(first + game)))
        game += 1
    work.high[slot] = work.length[slot] = np.uint64(0)
    work.score[slot] = 0
    return game


@kernel
def play_afterstates(
    rules: Rules2048,
    tables: Tables,
    hyper: Hyperparameters,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
    at: int,
) -> None:
    """Play games number `first` to `first + games` greedily on after-state values.

    Learns unless alpha is 0. Results go to `results` from place `at` on.
    """
    weights, plan, path, rewards = tables.weights, tables.plan, work.path, work.rewards
    across, down, after, after_high = rules.across, rules.down, work.after, work.after_high
    after_rewards, indices = work.after_rewards, work.indices
    m, zero, one, four = np.uint64(plan.shape[1]), np.uint64(0), np.uint64(1), np.uint64(4)
    gamma, steps = hyper.gamma, np.uint64(hyper.steps)
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    forward = hyper.forward and hyper.alpha != np.float32(0)
    # Learning during the game, one slot would see the other's updates in the middle of a move.
    slots = 1 if forward else min(SLOTS, games)
    board, high, rng, legal = work.board, work.high, work.rng, work.legal
    length, score, game, wide = work.length, work.score, work.game, work.wide
    for slot in range(np.uint64(slots)):
        game[slot], legal[slot], work.restarted[slot] = EMPTY, zero, zero
    started = finished = 0
    while finished < games:
        for slot in range(np.uint64(slots)):
            if game[slot] == DONE:
                continue
            mine = four * slot  # this slot's after-states
            if legal[slot] > zero:
                if staged:
                    inherit_stage(weights, stride, indices, mine * m, legal[slot] * m)
                best = choose(weights, gamma, after_rewards, indices, mine, mine + legal[slot], m)
                k = length[slot]
                high[slot] = after_high[best] if wide[slot] != zero else zero
                path[slot, k] = view(after[best], high[slot])
                rewards[slot, k] = after_rewards[best]
                if forward and k >= steps:
                    td_update(tables, hyper, False, path[slot], rewards[slot], k - steps, k + one)
                length[slot] = k + one
                score[slot] += np.int64(after_rewards[best])
                rng[slot], bits = draw(rng[slot])
                board[slot] = spawn(rules, after[best], high[slot], bits)
            else:
                if game[slot] != EMPTY:
                    finished += finish(tables, hyper, False, work, slot, results, at)
                started = restart(rules, False, work, slot, seed, first, started, games)
                if game[slot] == DONE:
                    continue

            # List the after-states of the new board and prefetch their weights.
            wide[slot] = np.uint64(high[slot] != zero)
            if wide[slot] == zero:
                legal[slot] = slides(across, down, board[slot], after, after_rewards, mine)
                wide[slot] = np.uint64(legal[slot] == WIDE)
            if wide[slot] != zero:
                legal[slot] = wide_slides(rules, board[slot], high[slot], after, after_high, after_rewards, mine)
                for n in range(mine, mine + legal[slot]):
                    locate(view(after[n], after_high[n]), plan, marks, stride, indices, n * m)
            else:
                for n in range(mine, mine + legal[slot]):
                    locate(after[n], plan, marks, stride, indices, n * m)
            fetch(weights, indices, mine * m, legal[slot] * m)


@kernel
def play_states(
    rules: Rules2048,
    tables: Tables,
    hyper: Hyperparameters,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
    at: int,
) -> None:
    """The same as `play_afterstates`, on state values, in one slot.

    A move looks up some 600 weights, prefetched cell by cell: that is enough to hide the memory's
    latency without a second game.
    """
    slot, zero, one = np.uint64(0), np.uint64(0), np.uint64(1)
    after, after_high, after_rewards = work.after, work.after_high, work.after_rewards
    path, rewards, steps = work.path[slot], work.rewards[slot], np.uint64(hyper.steps)
    forward = hyper.forward and hyper.alpha != np.float32(0)
    work.restarted[slot] = zero
    started = restart(rules, True, work, slot, seed, first, 0, games)
    while work.game[slot] != DONE:
        board, high, k = work.board[slot], work.high[slot], work.length[slot]
        legal = WIDE
        if high == zero:
            legal = slides(rules.across, rules.down, board, after, after_rewards, zero)
            after_high[:] = zero
        if legal == WIDE:
            legal = wide_slides(rules, board, high, after, after_high, after_rewards, zero)
        if legal == zero:
            finish(tables, hyper, True, work, slot, results, at)
            started = restart(rules, True, work, slot, seed, first, started, games)
            continue
        best, best_value = zero, np.float32(-np.inf)
        for n in range(legal):
            expected = expected_value(rules, tables, after[n], after_high[n], work.indices, work.seen)
            v = np.float32(after_rewards[n]) + hyper.gamma * expected
            best = np.uint64(n) if v > best_value else best
            best_value = max(v, best_value)
        path[k] = view(board, high)
        if forward and k >= steps:
            td_update(tables, hyper, True, path, rewards, k - steps, k + one)
        rewards[k] = after_rewards[best]
        work.length[slot] = k + one
        work.score[slot] += np.int64(after_rewards[best])
        work.rng[slot], bits = draw(work.rng[slot])
        work.high[slot] = after_high[best]
        work.board[slot] = spawn(rules, after[best], after_high[best], bits)
