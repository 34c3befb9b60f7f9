"""TD and TC for n-tuple networks: games played and learned from, as fast as memory allows.

One step of a game:

    s --move, reward r--> s' --spawn--> s''

After-state values choose argmax r + γV(s') and learn V(s') += α(r_next + γV(s'_next) - V(s')).
State values choose argmax r + γE[V(s'')] and learn V(s) += α(r + γV(s'') - V(s)).
V is 0 after the last move. (Szubert & Jaśkowski 2014.) TD(lambda) and n-step TD put more of the
rewards to come in place of V; how an error is shared among weights is the learner's (`learners`).

Each look-up of a large table waits for memory. Two games are therefore played in turns by one
thread: while the weights of one game's after-states are on their way, the other game moves.
The two *slots* share the tables and learn whenever one of their games ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import LONGEST_GAME, WIDE, Rules, largest, opening, slides, spawn, view, wide_slides
from tuplet.games.g2048.statistics import Results
from tuplet.kernel import draw, inlined, kernel, line_aligned, stream
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
    weight_step,
    weights_of,
)

Array = np.ndarray[Any, Any]

SLOTS = 2  # games played in turns: 1.2 times as fast as one; three were 3 % slower, four 6 %
EMPTY, FINISHED = -2, -1  # in place of the number of a slot's game
_MARGIN = 32  # words: four cache lines
SHORT = 500  # moves: a game is not restarted for the sake of fewer
AHEAD = 4  # boards whose weights are on their way while a game is walked back; a power of two


class Hyperparameters(NamedTuple):
    """How to learn; alpha 0 only plays."""

    by: Any  # how weights take their share: a learner's type, see `learners`
    alpha: np.float32
    gamma: np.float32
    forward: bool = False  # as the game goes, instead of from its end
    lam: np.float32 = np.float32(0)  # TD(lambda), from the end
    steps: int = 1  # n-step TD: rewards counted before V takes over
    restart: bool = False  # play on from the middle of a game learned from, again until short


class Workspace(NamedTuple):
    """A thread's working memory, made once."""

    path: Array  # uint64[SLOTS, LONGEST_GAME]: the boards to learn from
    gains: Array  # uint32[SLOTS, LONGEST_GAME]: the reward of each move
    board: Array  # uint64[SLOTS]: the game at each slot, and its tiles beyond 32768
    high: Array  # uint64[SLOTS]
    state: Array  # uint64[SLOTS]: of its random stream
    legal: Array  # uint64[SLOTS]: how many moves it has
    length: Array  # uint64[SLOTS]: moves made
    score: Array  # int64[SLOTS]
    game: Array  # int64[SLOTS]: its number, or EMPTY or FINISHED
    wide: Array  # uint64[SLOTS]: whether its after-states have tiles beyond 32768
    again: Array  # uint64[SLOTS]: whether it began in the middle of another
    tally: Array  # int64[2]: moves of games begun in the middle; games whose values were no numbers
    after: Array  # uint64[SLOTS * 4]: after-states under consideration
    after_high: Array  # uint64[SLOTS * 4]
    rewards: Array  # uint64[SLOTS * 4]
    found: Array  # uint32 or uint64[SLOTS * 4 * m]: where their weights are
    ring: Array  # the same[AHEAD * m], for boards walked back over
    seen: Array  # float32[m]


def make_workspace(m: int, index: Any = np.uint32) -> Workspace:
    """Room for a network of m look-ups; `index` is its tables' `index_type`.

    The small arrays are written all the time. They stand in one block with free cache lines
    around it, so that two threads never write to one line.
    """
    wide, narrow = [4 * SLOTS * m, AHEAD * m, *[4 * SLOTS] * 3], [*[SLOTS] * 9, 2, m]
    sizes = [*wide, *narrow]  # vectors are written to the first: each begins at a cache line
    block = line_aligned(sum(sizes) + 2 * _MARGIN, np.uint64)
    ends = np.cumsum([_MARGIN, *sizes])
    found, ring, after, after_high, rewards, *small = (
        block[end - size : end] for end, size in zip(ends[1:], sizes, strict=True)
    )
    return Workspace(
        np.zeros((SLOTS, LONGEST_GAME), np.uint64),
        np.zeros((SLOTS, LONGEST_GAME), np.uint32),
        small[0],
        small[1],
        small[2],
        small[3],
        small[4],
        small[5].view(np.int64),
        small[6].view(np.int64),
        small[7],
        small[8],
        small[9].view(np.int64),
        after,
        after_high,
        rewards,
        found.view(index)[: len(found)],
        ring.view(index)[: len(ring)],
        small[10].view(np.float32)[:m],
    )


@inlined
def n_step_return(gains: Array, first: np.uint64, last: np.uint64, gamma: np.float32) -> Any:
    """The discounted sum of the rewards from move `first` to before move `last`."""
    earned, discount = np.float32(0), np.float32(1)
    for move in range(first, last):
        earned += discount * np.float32(gains[move])
        discount *= gamma
    return earned, discount


@kernel
def learn_backward(
    tables: Tables, rule: Hyperparameters, states: bool, path: Array, gains: Array, count: np.int64 | int, ring: Array
) -> np.float32:
    """Walk a finished game from its end, moving each V towards values just updated.

        after-states   s'0 --r1--> s'1 --r2--> s'2 ... s'(n-1) --0--> end
        states         s0 --r0--> s1 --r1--> s2 ... s(n-1) --r(n-1)--> end

    `gains[k]` is the reward of move k, `path[k]` the after-state it led to (or the state it
    was made in). A board's target is the lambda-return z, r + gamma (lambda z + (1 - lambda) V)
    of the board after it, or the return of the next `steps` rewards and the V behind them.
    Returns the first board's target (no finite number if some weight is none).
    """
    weights, memory, plan = tables.weights, tables.memory, tables.plan
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    m, one = np.uint64(plan.shape[1]), np.uint64(1)
    ahead = np.uint64(AHEAD)
    by, gamma, lam, small = rule.by, rule.gamma, rule.lam, tables.small
    share = rule.alpha / np.float32(m)
    steps, length = np.uint64(rule.steps), np.uint64(count)
    behind = np.zeros(rule.steps, np.float32)  # V of the boards walked over
    k = length
    shift = np.uint64(states)  # the reward that leads to board k is that of move k, or k - 1
    for _ in range(min(count, AHEAD)):
        k -= one
        locate(path[k], plan, marks, stride, ring, (k % ahead) * m)
        fetch(weights, ring, (k % ahead) * m, m)
        prefetch_memory(by, memory, ring, (k % ahead) * m, m)
    k = length
    target = np.float32(gains[k - one]) if states and count > 0 else np.float32(0)
    while k > np.uint64(0):
        k -= one
        start = (k % ahead) * m
        if staged:
            inherit_stage(weights, stride, ring, start, m)
        v = total(weights, ring, start, m)
        if small:
            share = rule.alpha / repeat_count(ring, start, m)
        update_weights(by, weights, memory, ring, start, m, share * (target - v))
        if k >= shift:
            v = total(weights, ring, start, m)
            if steps > one:
                if k > np.uint64(0):  # of board k - 1
                    first, last = k - shift, min(k - shift + steps, length)
                    target, discount = n_step_return(gains, first, last, gamma)
                    behind[k % steps] = v
                    if k - one + steps < length:
                        target += discount * behind[(k - one) % steps]
            else:
                z = lam * target + (np.float32(1) - lam) * v
                target = np.float32(gains[k - shift]) + gamma * z
        if k >= ahead:
            locate(path[k - ahead], plan, marks, stride, ring, start)
            fetch(weights, ring, start, m)
            prefetch_memory(by, memory, ring, start, m)
    return target


@kernel
def td_update(
    tables: Tables, rule: Hyperparameters, states: bool, path: Array, gains: Array, k: np.uint64, count: np.uint64
) -> None:
    """Move V of board k towards the next rewards and the V behind them, as far as known.

    `count` boards are known; V is 0 behind the last of them.
    """
    one, steps = np.uint64(1), np.uint64(rule.steps)
    shift = np.uint64(states)
    first, last = k + one - shift, min(k + one - shift + steps, count)
    target, discount = n_step_return(gains, first, last, rule.gamma)
    if k + steps < count:
        target += discount * value(tables, path[k + steps])
    found, zero, m = weights_of(tables, path[k]), np.uint64(0), np.uint64(tables.plan.shape[1])
    error = target - total(tables.weights, found, zero, m)
    amount = weight_step(tables, found, rule.alpha) * error
    update_weights(rule.by, tables.weights, tables.memory, found, zero, m, amount)


@kernel
def learn_forward(
    tables: Tables, rule: Hyperparameters, states: bool, path: Array, gains: Array, count: np.int64 | int
) -> None:
    """The same game from its beginning, each V moved towards a value not yet updated."""
    for k in range(np.uint64(count)):
        td_update(tables, rule, states, path, gains, np.uint64(k), np.uint64(count))


@kernel
def play_afterstates(
    rules: Rules,
    tables: Tables,
    rule: Hyperparameters,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
    at: int,
) -> None:
    """Play games number `first` to `first + games` greedily on after-state values.

    Learns if the rule's alpha is not 0. Results go to `results` from place `at` on.
    """
    weights, plan, path, gains = tables.weights, tables.plan, work.path, work.gains
    across, down, after, after_high = rules.across, rules.down, work.after, work.after_high
    rewards, found, ring = work.rewards, work.found, work.ring
    m, zero, one, four = np.uint64(plan.shape[1]), np.uint64(0), np.uint64(1), np.uint64(4)
    gamma, steps, short = rule.gamma, np.uint64(rule.steps), np.uint64(2 * SHORT)
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    learns = rule.alpha != np.float32(0)
    # Learning as the game goes, the other slot's updates would be seen in the middle of a move.
    slots = min(SLOTS, games) if not (learns and rule.forward) else 1
    board, high, state, legal = work.board, work.high, work.state, work.legal
    length, score, game, wide = work.length, work.score, work.game, work.wide
    again, tally = work.again, work.tally
    for slot in range(np.uint64(slots)):
        game[slot], legal[slot], again[slot] = EMPTY, zero, zero
    started = finished = 0
    while finished < games:
        for slot in range(np.uint64(slots)):
            if game[slot] == FINISHED:
                continue
            mine = four * slot  # where this slot's after-states stand
            k = length[slot]
            if legal[slot] > zero:
                best, best_value = mine, np.float32(-np.inf)
                if staged:
                    inherit_stage(weights, stride, found, mine * m, legal[slot] * m)
                for n in range(mine, mine + legal[slot]):
                    v = np.float32(rewards[n]) + gamma * total(weights, found, n * m, m)
                    best = np.uint64(n) if v > best_value else best
                    best_value = max(v, best_value)
                high[slot] = after_high[best] if wide[slot] != zero else zero
                path[slot, k] = view(after[best], high[slot])
                gains[slot, k] = rewards[best]
                if learns and rule.forward and k >= steps:
                    td_update(tables, rule, False, path[slot], gains[slot], k - steps, k + one)
                length[slot] = k + one
                score[slot] += np.int64(rewards[best])
                state[slot], bits = draw(state[slot])
                board[slot] = spawn(rules, after[best], high[slot], bits)
            else:
                if game[slot] != EMPTY:
                    end = np.float32(0)
                    if learns and rule.forward:
                        for j in range(k - min(k, steps), k):
                            td_update(tables, rule, False, path[slot], gains[slot], np.uint64(j), k)
                        end = value(tables, path[slot, 0])
                    elif learns:
                        end = learn_backward(tables, rule, False, path[slot], gains[slot], np.int64(k), ring)
                    tally[1] += not np.isfinite(end)
                    if again[slot] == zero:
                        place = at + game[slot]
                        results.scores[place] = score[slot]
                        results.tiles[place] = largest(board[slot], high[slot])
                        results.lengths[place] = np.int64(k)
                    else:
                        tally[0] += np.int64(k)
                    again[slot] = np.uint64(learns and rule.restart and high[slot] == zero and k >= short)
                    finished += again[slot] == zero
                if again[slot] != zero:
                    state[slot], bits = draw(state[slot])
                    board[slot] = spawn(rules, path[slot, k >> one], zero, bits)
                elif started == games:
                    game[slot] = FINISHED
                    continue
                else:
                    game[slot] = started
                    state[slot], board[slot] = opening(rules, stream(seed, np.uint64(first + started)))
                    started += 1
                high[slot] = length[slot] = zero
                score[slot] = 0

            # Lay out the after-states of the new board and send for their weights.
            wide[slot] = np.uint64(high[slot] != zero)
            if wide[slot] == zero:
                legal[slot] = slides(across, down, board[slot], after, rewards, mine)
                wide[slot] = np.uint64(legal[slot] == WIDE)
            if wide[slot] != zero:
                legal[slot] = wide_slides(rules, board[slot], high[slot], after, after_high, rewards, mine)
                for n in range(mine, mine + legal[slot]):
                    locate(view(after[n], after_high[n]), plan, marks, stride, found, n * m)
            else:
                for n in range(mine, mine + legal[slot]):
                    locate(after[n], plan, marks, stride, found, n * m)
            fetch(weights, found, mine * m, legal[slot] * m)


@kernel
def play_states(
    rules: Rules,
    tables: Tables,
    rule: Hyperparameters,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
    at: int,
) -> None:
    """The same as `play_afterstates`, on state values: one game after another.

    A move looks at some 600 weights, asked for cell by cell, so there is enough on its way
    without a second slot.
    """
    zero, one = np.uint64(0), np.uint64(1)
    learns = rule.alpha != np.float32(0)
    after, after_high, rewards, found = work.after, work.after_high, work.rewards, work.found
    path, gains, steps = work.path[0], work.gains[0], np.uint64(rule.steps)
    game, again = 0, False
    state, board = opening(rules, stream(seed, np.uint64(first)))
    while game < games:
        high, k, score = zero, zero, np.int64(0)
        while True:
            legal = WIDE
            if high == zero:
                legal = slides(rules.across, rules.down, board, after, rewards, zero)
                after_high[:] = zero
            if legal == WIDE:
                legal = wide_slides(rules, board, high, after, after_high, rewards, zero)
            if legal == zero:
                break
            best, best_value = zero, np.float32(-np.inf)
            for n in range(legal):
                expected = expected_value(rules, tables, after[n], after_high[n], found, work.seen)
                v = np.float32(rewards[n]) + rule.gamma * expected
                best = np.uint64(n) if v > best_value else best
                best_value = max(v, best_value)
            seen = view(board, high)
            path[k] = seen
            if learns and rule.forward and k >= steps:
                td_update(tables, rule, True, path, gains, k - steps, k + one)
            gains[k] = rewards[best]
            k += one
            score += np.int64(rewards[best])
            state, bits = draw(state)
            high = after_high[best]
            board = spawn(rules, after[best], high, bits)
        end = np.float32(0)
        if learns and rule.forward:
            for j in range(k - min(k, steps), k):
                td_update(tables, rule, True, path, gains, np.uint64(j), k)
            end = value(tables, path[0])
        elif learns:
            end = learn_backward(tables, rule, True, path, gains, np.int64(k), work.ring)
        work.tally[1] += not np.isfinite(end)
        if again:
            work.tally[0] += np.int64(k)
        else:
            results.scores[at + game] = score
            results.tiles[at + game] = largest(board, high)
            results.lengths[at + game] = np.int64(k)
        again = bool(learns and rule.restart and high == zero and k >= np.uint64(2 * SHORT))
        if again:
            board = path[k >> one]
        else:
            game += 1
            state, board = opening(rules, stream(seed, np.uint64(first + game)))
