"""Expectimax, and alpha-beta where there is no chance: one search for both.

Negamax with iterative deepening, principal variation search (Marsland & Campbell 1982), a
transposition table, and Star1 pruning at chance nodes (Ballard 1983). Depth counts the moves of
players; a chance outcome costs none. Values are those of the side to move.

A win or a loss is proven by its value alone; a draw has the value of an even position. So where a
game can be drawn, the search counts the heuristic leaves (GUESSED): a value without any is proven.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.protocol import (
    MOST_MOVES,
    NO_WINNER,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    estimate,
    has_draws,
    is_chance,
    legal,
    move_priority,
    payoff,
    players,
    probability,
    side,
    value_range,
    winner,
)
from tuplet.kernel import allocating, inlined, kernel, now
from tuplet.search.transpositions import AT_LEAST, AT_MOST, ENTRY, EXACT, NO_MOVE, key_of, look_up, store

Array = np.ndarray[Any, Any]

DEEPEST = 100
TINY = 1e-9  # the width of a null window
PROVEN_DEPTH = 255  # the depth of a table entry that rests on no heuristic value
DONE, FIRST = -(1 << 40), 1 << 40  # in the order of moves
# Late move reductions: from the third move on one ply less, from the fifth on two, where at least
# SHALLOW plies are left.
LATE, VERY_LATE, SHALLOW = 2, 4, 4
# Counters. DUE: the node count at which limits are checked next. GUESSED: heuristic leaves that the
# value rests on. PROVEN: whether the last result is proven. REACHED: the last completed depth.
NODES, STOPPED, DUE, GUESSED, PROVEN, REACHED = range(6)
DEADLINE, MOST_NODES, REDUCES = range(3)  # limits


class Workspace(NamedTuple):
    """A search's working memory."""

    table: Array  # ENTRY[2^k]
    words: Array  # uint64[DEEPEST * MOST_MOVES * 2]: the positions after each move, by ply
    moves: Array  # uint8[DEEPEST * MOST_MOVES]
    order: Array  # int64[DEEPEST * MOST_MOVES]: the priority of each move
    history: Array  # int64[DEEPEST * 256]: history heuristic, by ply and move
    counters: Array  # int64[6]
    limits: Array  # float64[3]
    root_values: Array  # float64[MOST_MOVES]
    stop: Array  # bool[1]: set to end the search (`Stop.flag`)


def make_workspace(bits: int = 20, reduces: bool = False) -> Workspace:
    """Allocate a workspace with a table of 2^bits entries, 16 bytes each."""
    work = Workspace(
        np.zeros(1 << bits, ENTRY),
        np.zeros(DEEPEST * MOST_MOVES * 2, np.uint64),
        np.zeros(DEEPEST * MOST_MOVES, np.uint8),
        np.zeros(DEEPEST * MOST_MOVES, np.int64),
        np.zeros(DEEPEST * 256, np.int64),
        np.zeros(6, np.int64),
        np.zeros(3),
        np.zeros(MOST_MOVES),
        np.zeros(1, np.bool_),
    )
    work.limits[REDUCES] = reduces
    return work


@inlined
def terminal_value(game: Any, position: Words, ended: Int, of: Int) -> float:
    """The value of a finished game to a side: points, or that of a win, a draw or a loss."""
    if players(game) == 1:
        return payoff(game, position, ended, False)
    low, high = value_range(game)
    won = winner(game, ended)
    if won == NO_WINNER:
        return (low + high) / 2.0
    return high if won == of else low


@inlined
def _can_be_drawn(game: Any) -> bool:
    """A constant to the compiler: games without draws have no code for their proofs."""
    return players(game) == 2 and has_draws(game)


@inlined
def _child_window(game: Any, child: Words, mover: Int, lo: float, hi: float) -> tuple[float, float, float]:
    """Sign and window of a child's value: negated and swapped unless the mover moves again."""
    if side(game, child) == mover:
        return 1.0, lo, hi
    return -1.0, -hi, -lo


@inlined
def _move_to_front(words: Array, moves: Array, order: Array, at: Int, end: Int) -> None:
    """Bring the move of the highest order among `at` to `end` to `at`."""
    for i in range(at + 1, end):
        if order[i] > order[at]:
            order[i], order[at] = order[at], order[i]
            moves[i], moves[at] = moves[at], moves[i]
            words[2 * i], words[2 * at] = words[2 * at], words[2 * i]
            words[2 * i + 1], words[2 * at + 1] = words[2 * at + 1], words[2 * i + 1]


@kernel
def negamax(game: Any, position: Words, depth: Int, alpha: float, beta: float, ply: Int, work: Workspace) -> float:
    """The value of an unfinished position to the side to move, exact if within (alpha, beta).

    Otherwise a bound (fail-soft). Meaningless once the search has been stopped. Where draws are
    possible, GUESSED is raised unless the value is proven.
    """
    counters = work.counters
    low, high = value_range(game)
    draws = _can_be_drawn(game)
    guesses = counters[GUESSED] if draws else 0
    mover = side(game, position)
    if is_chance(game, position):
        # The expectation, by Star1: stops once the other outcomes cannot bring it into the window.
        # (Not a function of its own: Numba cannot cache two kernels that call each other.)
        total, rest = 0.0, 1.0
        least, most = high, low
        for outcome in range(count_outcomes(game, position)):
            share = probability(game, position, outcome)
            if share <= 0.0:
                continue
            rest = max(rest - share, 0.0)
            floor = max(low, (alpha - total - high * rest) / share)
            top = min(high, (beta - total - low * rest) / share)
            if floor >= high or top <= low:  # the outcomes so far decide
                return alpha if floor >= high else beta
            child = apply_outcome(game, position, outcome)
            ended = ending(game, child)
            if ended != ONGOING:
                value = terminal_value(game, child, ended, mover)
            else:
                sign, lo, hi = _child_window(game, child, mover, floor, top)
                value = sign * negamax(game, child, depth, lo, hi, ply, work)
            total += share * value
            if counters[STOPPED]:
                return 0.0
            if value <= floor and floor > low:
                return min(total + high * rest, alpha)
            if value >= top and top < high:
                return max(total + low * rest, beta)
            least, most = min(least, value), max(most, value)
        return min(max(total, least), most)  # rounding must not turn six sixths of a win into less

    counters[NODES] += 1
    if counters[NODES] >= counters[DUE]:
        left = work.limits[MOST_NODES] - counters[NODES]
        if left < 0.0 or work.stop[0] or now() > work.limits[DEADLINE]:
            counters[STOPPED] = 1
        counters[DUE] += np.int64(min(left + 1.0, 1024.0))
    if counters[STOPPED]:
        return 0.0

    table, key = work.table, key_of(position)
    bucket = key & np.uint64(len(table) - 4)
    table_move: Int = NO_MOVE
    if depth > 1:
        table_move, deep, value = look_up(table, key, bucket, depth, alpha, beta)
        if deep > 0:
            if draws and deep != PROVEN_DEPTH:
                counters[GUESSED] += 1
            return value

    words, moves, order, history = work.words, work.moves, work.order, work.history
    start = ply * MOST_MOVES
    end = start + legal(game, position, moves, start)
    for i in range(start, end):
        child = apply(game, position, np.int64(moves[i]))
        words[2 * i], words[2 * i + 1] = child
        ended = ending(game, child)
        order[i] = ended
        if ended != ONGOING:
            counters[NODES] += 1
            if terminal_value(game, child, ended, mover) >= high:
                return high

    best, best_move, floor = low, np.int64(moves[start]), alpha
    best_proven = True  # the best move is worth at least `best`, without heuristic values
    if depth <= 1:
        for i in range(start, end):
            counters[NODES] += 1
            child = (words[2 * i], words[2 * i + 1])
            if order[i] != ONGOING:
                value = terminal_value(game, child, order[i], mover)
            else:
                value = estimate(game, child)
                if side(game, child) != mover:
                    value = -value
                if draws:
                    counters[GUESSED] += 1
            if value > best:
                best, best_proven = value, order[i] != ONGOING
                if best >= beta:
                    break
        if draws and best >= beta and best_proven:
            counters[GUESSED] = guesses
        return best

    for i in range(start, end):
        move = np.int64(moves[i])
        child = (words[2 * i], words[2 * i + 1])
        if order[i] != ONGOING:
            value = terminal_value(game, child, order[i], mover)
            if value > best:
                best, best_move = value, move
                floor = max(floor, best)
            order[i] = DONE
        elif move == table_move:
            order[i] = FIRST
        else:
            order[i] = move_priority(game, position, move, child) + history[ply << 8 | move]
    reduces = work.limits[REDUCES] > 0.0
    for at in range(start, end):
        if best >= beta:
            break
        _move_to_front(words, moves, order, at, end)
        if order[at] == DONE:
            break
        child = (words[2 * at], words[2 * at + 1])
        n = at - start
        before = counters[GUESSED] if draws else 0
        # The first move with the whole window, the others with a null window, late ones reduced;
        # again in full where that fails high.
        top = beta if n == 0 else floor + TINY
        less = 1
        if reduces and n >= LATE and depth >= SHALLOW:
            less = 3 if n >= VERY_LATE and depth >= SHALLOW + 2 else 2
        sign, lo, hi = _child_window(game, child, mover, floor, top)
        value = sign * negamax(game, child, depth - less, lo, hi, ply + 1, work)
        if value > floor and less > 1:
            if draws:
                counters[GUESSED] = before
            value = sign * negamax(game, child, depth - 1, lo, hi, ply + 1, work)
        if n > 0 and floor < value < beta:
            if draws:
                counters[GUESSED] = before
            sign, lo, hi = _child_window(game, child, mover, floor, beta)
            value = sign * negamax(game, child, depth - 1, lo, hi, ply + 1, work)
        if counters[STOPPED]:
            return 0.0
        if value > best or n == 0:
            best_move = np.int64(moves[at])
            if draws and value > best:
                best_proven = counters[GUESSED] == before
            best = max(best, value)
            floor = max(floor, best)
    if best > alpha:
        history[ply << 8 | best_move] += depth * depth
    bound = AT_LEAST if best >= beta else EXACT if best > alpha else AT_MOST
    if best >= high or best <= low:
        depth, bound = np.int64(PROVEN_DEPTH), EXACT
    elif draws and (best_proven if best >= beta else counters[GUESSED] == guesses):
        depth = np.int64(PROVEN_DEPTH)
    if draws and depth == PROVEN_DEPTH:
        counters[GUESSED] = guesses
    store(table, key, bucket, depth, bound, best_move, best)
    return best


@allocating("history // 8")
def iterative_deepening(
    game: Any, position: Words, deepest: Int, seconds: float, most_nodes: Int, work: Workspace
) -> tuple[Int, float, Int]:
    """The best move, its value, and the depth that was completed.

    Searches depth 1, 2, ... until a limit is reached or the result is proven (PROVEN).
    """
    counters, moves, words = work.counters, work.moves, work.words
    root_values, order = work.root_values, work.order
    counters[NODES] = counters[STOPPED] = counters[PROVEN] = counters[REACHED] = 0
    counters[DUE] = min(most_nodes, 1024)
    work.limits[DEADLINE] = now() + seconds
    work.limits[MOST_NODES] = most_nodes
    work.history[:] = work.history // 8
    mover = side(game, position)
    next_ply = np.int64(1)  # a literal would compile `negamax` twice, and not be cached
    count = legal(game, position, moves, 0)
    low, high = value_range(game)
    draws = _can_be_drawn(game)
    chosen, chosen_value, reached = np.int64(moves[0]), low, 0
    for i in range(count):
        child = apply(game, position, np.int64(moves[i]))
        words[2 * i], words[2 * i + 1] = child
        order[i] = ending(game, child)
        root_values[i] = 0.0
        if order[i] == ONGOING:
            root_values[i] = np.float64(move_priority(game, position, np.int64(moves[i]), child))
    for depth in range(1, deepest + 1):
        # The best move of the last depth first; the others keep the order of their values.
        for a in range(1, count):
            i = a
            while i > 0 and root_values[i] > root_values[i - 1]:
                root_values[i], root_values[i - 1] = root_values[i - 1], root_values[i]
                moves[i], moves[i - 1] = moves[i - 1], moves[i]
                order[i], order[i - 1] = order[i - 1], order[i]
                for w in range(2):
                    words[2 * i + w], words[2 * i - 2 + w] = words[2 * i - 2 + w], words[2 * i + w]
                i -= 1
        best, best_move = low, np.int64(moves[0])
        counters[GUESSED] = 0
        for i in range(count):
            before = counters[GUESSED]
            child = (words[2 * i], words[2 * i + 1])
            if order[i] != ONGOING:
                value = terminal_value(game, child, order[i], mover)
            elif depth == 1:
                value = estimate(game, child) if side(game, child) == mover else -estimate(game, child)
                counters[GUESSED] += 1
            else:
                top = high if i == 0 else best + TINY
                sign, lo, hi = _child_window(game, child, mover, best, top)
                value = sign * negamax(game, child, depth - 1, lo, hi, next_ply, work)
                if i > 0 and value > best and top < high:
                    counters[GUESSED] = before
                    sign, lo, hi = _child_window(game, child, mover, best, high)
                    value = sign * negamax(game, child, depth - 1, lo, hi, next_ply, work)
            if counters[STOPPED]:
                break
            root_values[i] = value
            if value > best or i == 0:
                best, best_move = value, np.int64(moves[i])
            if best >= high:
                break
        if counters[STOPPED]:
            # A move that beat the last depth's choice counts, though not all were searched.
            if best > low and best_move != chosen and reached > 0:
                chosen, chosen_value = best_move, best
            elif i > 0 and best <= low and reached > 0 and root_values[i] > low:
                # That choice loses; the next move does not, by its value at the last depth.
                chosen, chosen_value = np.int64(moves[i]), root_values[i]
            break
        if best <= low and reached > 0:  # lost: keep the move that held out longest
            chosen_value = best
            break
        chosen, chosen_value, reached = best_move, best, depth
        counters[REACHED] = depth
        counters[PROVEN] = draws and counters[GUESSED] == 0
        if best >= high or count == 1 or counters[PROVEN]:
            break
    if players(game) == 2 and (chosen_value >= high or chosen_value <= low):
        counters[PROVEN] = 1
    return chosen, chosen_value, reached


@kernel
def move_values(
    game: Any, position: Words, depth: Int, work: Workspace, moves: Array, values: Array, proven: Array
) -> Int:
    """Write every legal move, its value at a depth, and whether it is proven; returns the number.

    Meaningless once the search has been stopped.
    """
    work.counters[:] = 0
    work.limits[DEADLINE] = work.limits[MOST_NODES] = np.inf
    low, high = value_range(game)
    draws, for_two = _can_be_drawn(game), players(game) == 2
    ply, mover, count = np.int64(1), side(game, position), legal(game, position, moves, 0)
    for i in range(count):
        child = apply(game, position, np.int64(moves[i]))
        ended = ending(game, child)
        if ended != ONGOING:
            values[i], proven[i] = terminal_value(game, child, ended, mover), for_two
            continue
        value = estimate(game, child)
        work.counters[GUESSED] = 0
        if depth > 1:
            value = negamax(game, child, depth - 1, low, high, ply, work)
            if work.counters[STOPPED]:
                break
        values[i] = value if side(game, child) == mover else -value
        certain = draws and depth > 1 and work.counters[GUESSED] == 0
        proven[i] = certain or (for_two and (value >= high or value <= low))
    return count
