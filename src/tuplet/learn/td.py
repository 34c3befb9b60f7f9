"""TD and TC for n-tuple networks: games played and learned from, as fast as memory allows.

One step of a game:

    s --move, reward r--> s' --spawn--> s''

After-state values choose argmax r + γV(s') and learn V(s') += α(r_next + γV(s'_next) - V(s')).
State values choose argmax r + γE[V(s'')] and learn V(s) += α(r + γV(s'') - V(s)).
V is 0 after the last move. (Szubert & Jaśkowski 2014.) TD(lambda) and n-step TD put more of the
rewards to come in place of V; TC gives each weight a rate of its own in place of α.

Each look-up of a large table waits for memory. Two games are therefore played in turns by one
thread: while the weights of one game's after-states are on their way, the other game moves.
The two *seats* share the tables and learn whenever one of their games ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import (
    LONGEST_GAME,
    WIDE,
    Rules,
    largest,
    opening,
    slides,
    spawn,
    view,
    wide_slides,
)
from tuplet.kernel import draw, inlined, kernel, line_aligned, stream
from tuplet.values.tables import (
    Tables,
    add,
    add_coherently,
    expected_value,
    fetch,
    fetch_coherence,
    locate,
    take_over,
    times_found,
    total,
    update,
    value,
)

Array = np.ndarray[Any, Any]

SEATS = 2  # games played in turns: 1.2 times as fast as one; three were 3 % slower, four 6 %
NOT_SEATED, GONE = -2, -1  # in place of the number of a seat's game
_MARGIN = 32  # words: four cache lines
SHORT = 500  # moves: a game is not restarted for the sake of fewer
AHEAD = 4  # boards whose weights are on their way while a game is walked back; a power of two


class Learner(NamedTuple):
    """How to learn; alpha 0 only plays."""

    alpha: np.float32
    gamma: np.float32
    forward: bool = False  # as the game goes, instead of from its end
    coherent: bool = False  # TC: each weight has a learning rate of its own
    lam: np.float32 = np.float32(0)  # TD(lambda), from the end
    steps: int = 1  # n-step TD: rewards counted before V takes over
    restart: bool = False  # play on from the middle of a game learned from, again until short


class Desk(NamedTuple):
    """A thread's working memory, made once."""

    path: Array  # uint64[SEATS, LONGEST_GAME]: the boards to learn from
    gains: Array  # uint32[SEATS, LONGEST_GAME]: the reward of each move
    board: Array  # uint64[SEATS]: the game at each seat, and its tiles beyond 32768
    high: Array  # uint64[SEATS]
    state: Array  # uint64[SEATS]: of its random stream
    legal: Array  # uint64[SEATS]: how many moves it has
    length: Array  # uint64[SEATS]: moves made
    score: Array  # int64[SEATS]
    game: Array  # int64[SEATS]: its number, or NOT_SEATED or GONE
    wide: Array  # uint64[SEATS]: whether its after-states have tiles beyond 32768
    again: Array  # uint64[SEATS]: whether it began in the middle of another
    tally: Array  # int64[2]: moves of games begun in the middle; games whose values were no numbers
    after: Array  # uint64[SEATS * 4]: after-states under consideration
    after_high: Array  # uint64[SEATS * 4]
    rewards: Array  # uint64[SEATS * 4]
    found: Array  # uint64[SEATS * 4 * m]: where their weights are
    ring: Array  # uint64[AHEAD * m]: the same, for boards walked back over
    seen: Array  # float32[m]


def make_desk(m: int) -> Desk:
    """A desk for a network of m look-ups.

    The small arrays are written all the time. They stand in one block with free cache lines
    around it, so that two threads never write to one line.
    """
    wide, narrow = [4 * SEATS * m, AHEAD * m, *[4 * SEATS] * 3], [*[SEATS] * 9, 2, m]
    sizes = [*wide, *narrow]  # vectors are written to the first: each begins at a cache line
    block = line_aligned(sum(sizes) + 2 * _MARGIN, np.uint64)
    ends = np.cumsum([_MARGIN, *sizes])
    found, ring, after, after_high, rewards, *small = (
        block[end - size : end] for end, size in zip(ends[1:], sizes, strict=True)
    )
    return Desk(
        np.zeros((SEATS, LONGEST_GAME), np.uint64),
        np.zeros((SEATS, LONGEST_GAME), np.uint32),
        small[0], small[1], small[2], small[3], small[4],
        small[5].view(np.int64), small[6].view(np.int64), small[7], small[8],
        small[9].view(np.int64), after, after_high, rewards, found, ring,
        small[10].view(np.float32)[:m],
    )  # fmt: skip


class Results(NamedTuple):
    """What became of each game."""

    scores: Array  # int64[games]
    tiles: Array  # uint8[games]: the exponent of the largest tile
    lengths: Array  # int64[games]: moves


def make_results(games: int) -> Results:
    """Room for the results of so many games."""
    return Results(np.zeros(games, np.int64), np.zeros(games, np.uint8), np.zeros(games, np.int64))


@inlined
def rewards_between(gains: Array, first: np.uint64, last: np.uint64, gamma: np.float32) -> Any:
    """The discounted sum of the rewards from move `first` to before move `last`."""
    earned, discount = np.float32(0), np.float32(1)
    for move in range(first, last):
        earned += discount * np.float32(gains[move])
        discount *= gamma
    return earned, discount


@kernel
def learn_backward(
    tables: Tables,
    learner: Learner,
    states: bool,
    path: Array,
    gains: Array,
    count: np.int64 | int,
    ring: Array,
) -> np.float32:
    """Walk a finished game from its end, moving each V towards values just updated.

        after-states   s'0 --r1--> s'1 --r2--> s'2 ... s'(n-1) --0--> end
        states         s0 --r0--> s1 --r1--> s2 ... s(n-1) --r(n-1)--> end

    `gains[k]` is the reward of move k, `path[k]` the after-state it led to (or the state it
    was made in). A board's target is the lambda-return z, r + gamma (lambda z + (1 - lambda) V)
    of the board after it, or the return of the next `steps` rewards and the V behind them.
    Returns the first board's target (no finite number if some weight is none).
    """
    weights, coherence, plan = tables.weights, tables.coherence, tables.plan
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    m, one = np.uint64(plan.shape[1]), np.uint64(1)
    ahead = np.uint64(AHEAD)
    gamma, lam, coherent, small = learner.gamma, learner.lam, learner.coherent, tables.small
    share = learner.alpha / np.float32(m)
    steps, length = np.uint64(learner.steps), np.uint64(count)
    behind = np.zeros(learner.steps, np.float32)  # V of the boards walked over
    k = length
    shift = np.uint64(states)  # the reward that leads to board k is that of move k, or k - 1
    for _ in range(min(count, AHEAD)):
        k -= one
        locate(path[k], plan, marks, stride, ring, (k % ahead) * m)
        fetch(weights, ring, (k % ahead) * m, m)
        if coherent:
            fetch_coherence(coherence, ring, (k % ahead) * m, m)
    k = length
    target = np.float32(gains[k - one]) if states and count > 0 else np.float32(0)
    while k > np.uint64(0):
        k -= one
        start = (k % ahead) * m
        if staged:
            take_over(weights, stride, ring, start, m)
        v = total(weights, ring, start, m)
        if small:
            share = learner.alpha / times_found(ring, start, m)
        amount = share * (target - v)
        if coherent:
            add_coherently(weights, coherence, ring, start, m, amount)
        else:
            add(weights, ring, start, m, amount)
        if k >= shift:
            v = total(weights, ring, start, m)
            if steps > one:
                if k > np.uint64(0):  # of board k - 1
                    first, last = k - shift, min(k - shift + steps, length)
                    target, discount = rewards_between(gains, first, last, gamma)
                    behind[k % steps] = v
                    if k - one + steps < length:
                        target += discount * behind[(k - one) % steps]
            else:
                z = lam * target + (np.float32(1) - lam) * v
                target = np.float32(gains[k - shift]) + gamma * z
        if k >= ahead:
            locate(path[k - ahead], plan, marks, stride, ring, start)
            fetch(weights, ring, start, m)
            if coherent:
                fetch_coherence(coherence, ring, start, m)
    return target


@kernel
def learn_ahead(
    tables: Tables, learner: Learner, states: bool, path: Array, gains: Array,
    k: np.uint64, count: np.uint64,
) -> None:  # fmt: skip
    """Move V of board k towards the next rewards and the V behind them, as far as known.

    `count` boards are known; V is 0 behind the last of them.
    """
    one, steps = np.uint64(1), np.uint64(learner.steps)
    shift = np.uint64(states)
    first, last = k + one - shift, min(k + one - shift + steps, count)
    target, discount = rewards_between(gains, first, last, learner.gamma)
    if k + steps < count:
        target += discount * value(tables, path[k + steps])
    update(tables, path[k], target, learner.alpha, learner.coherent)


@kernel
def learn_forward(
    tables: Tables, learner: Learner, states: bool, path: Array, gains: Array, count: np.int64 | int
) -> None:
    """The same game from its beginning, each V moved towards a value not yet updated."""
    for k in range(np.uint64(count)):
        learn_ahead(tables, learner, states, path, gains, np.uint64(k), np.uint64(count))


@kernel
def play_afterstates(
    rules: Rules, tables: Tables, learner: Learner, desk: Desk,
    seed: np.uint64, first: int, games: int, results: Results, at: int,
) -> None:  # fmt: skip
    """Play games number `first` to `first + games` greedily on after-state values.

    Learns if the learner's alpha is not 0. Results go to `results` from place `at` on.
    """
    weights, plan, path, gains = tables.weights, tables.plan, desk.path, desk.gains
    across, down, after, after_high = rules.across, rules.down, desk.after, desk.after_high
    rewards, found, ring = desk.rewards, desk.found, desk.ring
    m, zero, one, four = np.uint64(plan.shape[1]), np.uint64(0), np.uint64(1), np.uint64(4)
    gamma, steps, short = learner.gamma, np.uint64(learner.steps), np.uint64(2 * SHORT)
    marks, stride, staged = tables.marks, tables.stride, len(tables.marks) > 0
    learns = learner.alpha != np.float32(0)
    # Learning as the game goes, the other seat's updates would be seen in the middle of a move.
    seats = min(SEATS, games) if not (learns and learner.forward) else 1
    board, high, state, legal = desk.board, desk.high, desk.state, desk.legal
    length, score, game, wide = desk.length, desk.score, desk.game, desk.wide
    again, tally = desk.again, desk.tally
    for seat in range(np.uint64(seats)):
        game[seat], legal[seat], again[seat] = NOT_SEATED, zero, zero
    started = finished = 0
    while finished < games:
        for seat in range(np.uint64(seats)):
            if game[seat] == GONE:
                continue
            mine = four * seat  # where this seat's after-states stand
            k = length[seat]
            if legal[seat] > zero:
                best, best_value = mine, np.float32(-np.inf)
                if staged:
                    take_over(weights, stride, found, mine * m, legal[seat] * m)
                for n in range(mine, mine + legal[seat]):
                    v = np.float32(rewards[n]) + gamma * total(weights, found, n * m, m)
                    best = np.uint64(n) if v > best_value else best
                    best_value = max(v, best_value)
                high[seat] = after_high[best] if wide[seat] != zero else zero
                path[seat, k] = view(after[best], high[seat])
                gains[seat, k] = rewards[best]
                if learns and learner.forward and k >= steps:
                    learn_ahead(tables, learner, False, path[seat], gains[seat], k - steps, k + one)
                length[seat] = k + one
                score[seat] += np.int64(rewards[best])
                state[seat], bits = draw(state[seat])
                board[seat] = spawn(rules, after[best], high[seat], bits)
            else:
                if game[seat] != NOT_SEATED:
                    end = np.float32(0)
                    if learns and learner.forward:
                        for j in range(k - min(k, steps), k):
                            learn_ahead(
                                tables, learner, False, path[seat], gains[seat], np.uint64(j), k
                            )
                        end = value(tables, path[seat, 0])
                    elif learns:
                        end = learn_backward(
                            tables, learner, False, path[seat], gains[seat], np.int64(k), ring
                        )
                    tally[1] += not np.isfinite(end)
                    if again[seat] == zero:
                        place = at + game[seat]
                        results.scores[place] = score[seat]
                        results.tiles[place] = largest(board[seat], high[seat])
                        results.lengths[place] = np.int64(k)
                    else:
                        tally[0] += np.int64(k)
                    again[seat] = np.uint64(
                        learns and learner.restart and high[seat] == zero and k >= short
                    )
                    finished += again[seat] == zero
                if again[seat] != zero:
                    state[seat], bits = draw(state[seat])
                    board[seat] = spawn(rules, path[seat, k >> one], zero, bits)
                elif started == games:
                    game[seat] = GONE
                    continue
                else:
                    game[seat] = started
                    state[seat], board[seat] = opening(
                        rules, stream(seed, np.uint64(first + started))
                    )
                    started += 1
                high[seat] = length[seat] = zero
                score[seat] = 0

            # Lay out the after-states of the new board and send for their weights.
            wide[seat] = np.uint64(high[seat] != zero)
            if wide[seat] == zero:
                legal[seat] = slides(across, down, board[seat], after, rewards, mine)
                wide[seat] = np.uint64(legal[seat] == WIDE)
            if wide[seat] != zero:
                legal[seat] = wide_slides(
                    rules, board[seat], high[seat], after, after_high, rewards, mine
                )
                for n in range(mine, mine + legal[seat]):
                    locate(view(after[n], after_high[n]), plan, marks, stride, found, n * m)
            else:
                for n in range(mine, mine + legal[seat]):
                    locate(after[n], plan, marks, stride, found, n * m)
            fetch(weights, found, mine * m, legal[seat] * m)


@kernel
def play_states(
    rules: Rules, tables: Tables, learner: Learner, desk: Desk,
    seed: np.uint64, first: int, games: int, results: Results, at: int,
) -> None:  # fmt: skip
    """The same as `play_afterstates`, on state values: one game after another.

    A move looks at some 600 weights, asked for cell by cell, so there is enough on its way
    without a second seat.
    """
    zero, one = np.uint64(0), np.uint64(1)
    learns = learner.alpha != np.float32(0)
    after, after_high, rewards, found = desk.after, desk.after_high, desk.rewards, desk.found
    path, gains, steps = desk.path[0], desk.gains[0], np.uint64(learner.steps)
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
                expected = expected_value(rules, tables, after[n], after_high[n], found, desk.seen)
                v = np.float32(rewards[n]) + learner.gamma * expected
                best = np.uint64(n) if v > best_value else best
                best_value = max(v, best_value)
            seen = view(board, high)
            path[k] = seen
            if learns and learner.forward and k >= steps:
                learn_ahead(tables, learner, True, path, gains, k - steps, k + one)
            gains[k] = rewards[best]
            k += one
            score += np.int64(rewards[best])
            state, bits = draw(state)
            high = after_high[best]
            board = spawn(rules, after[best], high, bits)
        end = np.float32(0)
        if learns and learner.forward:
            for j in range(k - min(k, steps), k):
                learn_ahead(tables, learner, True, path, gains, np.uint64(j), k)
            end = value(tables, path[0])
        elif learns:
            end = learn_backward(tables, learner, True, path, gains, np.int64(k), desk.ring)
        desk.tally[1] += not np.isfinite(end)
        if again:
            desk.tally[0] += np.int64(k)
        else:
            results.scores[at + game] = score
            results.tiles[at + game] = largest(board, high)
            results.lengths[at + game] = np.int64(k)
        again = bool(learns and learner.restart and high == zero and k >= np.uint64(2 * SHORT))
        if again:
            board = path[k >> one]
        else:
            game += 1
            state, board = opening(rules, stream(seed, np.uint64(first + game)))
