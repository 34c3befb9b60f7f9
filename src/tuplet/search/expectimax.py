"""Expectimax, and alpha-beta where there is no chance: one search for both.

Iterative deepening, principal variation search (Marsland & Campbell 1982), a transposition
table, and Star1 pruning at chance nodes (Ballard 1983). Depth counts the moves of players; what
nature does costs none. Values are seen from the side that moves next.

A win and a loss are known by their values; a draw's may be a guess. So where a game can be drawn
guesses are counted, and what was found without any is certain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.game import (
    MOST_MOVES,
    NOBODY,
    ONGOING,
    Int,
    Words,
    apply,
    chance,
    ending,
    estimate,
    has_draws,
    is_chance,
    legal,
    likelihood,
    move_priority,
    outcomes,
    payoff,
    players,
    side,
    value_range,
    winner,
)
from tuplet.kernel import inlined, kernel, now
from tuplet.search.transpositions import AT_LEAST, AT_MOST, ENTRY, EXACT, NO_MOVE, key_of, look_up, store

Array = np.ndarray[Any, Any]

DEEPEST = 100
TINY = 1e-9  # the width of a window that only asks: better or not?
CERTAIN = 255  # the depth of what rests on no guess
DONE, FIRST = -(1 << 40), 1 << 40  # in the order of moves
# Moves that are searched less deeply at first, where `reduces`: the third of a position and on,
# and the fifth and on still less; only where that many moves are left to look ahead.
LATE, VERY_LATE, SHALLOW = 2, 4, 4
# Counters; DUE: the node at which limits are looked at; GUESSED: what the search rests on that is
# not certain; PROVEN: whether the last result of `iterative_deepening` is; REACHED: the depth it has finished.
NODES, STOPPED, DUE, GUESSED, PROVEN, REACHED = range(6)
DEADLINE, MOST_NODES, REDUCES = range(3)  # limits


class Workspace(NamedTuple):
    """A search's working memory."""

    table: Array  # ENTRY[2^k]
    words: Array  # uint64[DEEPEST * MOST_MOVES * 2]: the positions after each move, by ply
    moves: Array  # uint8[DEEPEST * MOST_MOVES]
    order: Array  # int64[DEEPEST * MOST_MOVES]: what is searched first
    history: Array  # int64[DEEPEST * 256]: how often a move was the best, by ply
    counters: Array  # int64[6]
    limits: Array  # float64[3]
    root_values: Array  # float64[MOST_MOVES]
    stop: Array  # bool[1]: somebody told the search to end (`Stop.flag`)


def make_workspace(bits: int = 20, reduces: bool = False) -> Workspace:
    """Room for a search, with a table of 2^bits entries, 16 bytes each."""
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
    if won == NOBODY:
        return (low + high) / 2.0
    return high if won == of else low


@inlined
def _can_be_drawn(game: Any) -> bool:
    """A constant to the compiler: other games have no code for proofs of draws."""
    return players(game) == 2 and has_draws(game)


@kernel
def value(game: Any, position: Words, depth: Int, alpha: float, beta: float, ply: Int, work: Workspace) -> float:
    """The value of a position that is not over, exact if it is between alpha and beta.

    Otherwise a bound (fail-soft). Means nothing once the search has been stopped. Where draws are
    possible, GUESSED is left as it was if what is returned is certain, and else raised.
    """
    counters = work.counters
    low, high = value_range(game)
    draws = _can_be_drawn(game)
    guesses = counters[GUESSED] if draws else 0
    if is_chance(game, position):
        # The mean over what nature can do; Star1: until no rest could bring it into the window.
        # (No function of its own: two that call each other cannot be cached.)
        total, rest = 0.0, 1.0
        least, most = high, low
        for outcome in range(outcomes(game, position)):
            share = likelihood(game, position, outcome)
            if share <= 0.0:
                continue
            rest = max(rest - share, 0.0)
            floor = max(low, (alpha - total - high * rest) / share)
            top = min(high, (beta - total - low * rest) / share)
            if floor >= high or top <= low:  # the outcomes so far have just decided
                return alpha if floor >= high else beta
            child = chance(game, position, outcome)
            ended = ending(game, child)
            if ended != ONGOING:
                found = terminal_value(game, child, ended, side(game, position))
            elif side(game, child) == side(game, position):
                found = value(game, child, depth, floor, top, ply, work)
            else:  # nature has passed the turn on
                found = -value(game, child, depth, -top, -floor, ply, work)
            total += share * found
            if counters[STOPPED]:
                return 0.0
            if found <= floor and floor > low:
                return min(total + high * rest, alpha)
            if found >= top and top < high:
                return max(total + low * rest, beta)
            least, most = min(least, found), max(most, found)
        return min(max(total, least), most)  # six sixths of a win are one, however rounded

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
    best_known: Int = NO_MOVE
    if depth > 1:
        best_known, deep, found = look_up(table, key, bucket, depth, alpha, beta)
        if deep > 0:
            if draws and deep != CERTAIN:
                counters[GUESSED] += 1
            return found

    mover = side(game, position)
    words, moves, order, history = work.words, work.moves, work.order, work.history
    start = ply * MOST_MOVES
    count = legal(game, position, moves, start)
    for i in range(start, start + count):
        child = apply(game, position, np.int64(moves[i]))
        words[2 * i], words[2 * i + 1] = child
        ended = ending(game, child)
        order[i] = ended
        if ended != ONGOING:
            counters[NODES] += 1
            if terminal_value(game, child, ended, mover) >= high:
                return high

    best, best_move, floor = low, np.int64(moves[start]), alpha
    sure = True  # of the best move: it is worth that much at least
    if depth <= 1:
        for i in range(start, start + count):
            counters[NODES] += 1
            child = (words[2 * i], words[2 * i + 1])
            if order[i] != ONGOING:
                found = terminal_value(game, child, order[i], mover)
            else:
                found = estimate(game, child)
                if side(game, child) != mover:
                    found = -found
                if draws:
                    counters[GUESSED] += 1
            if found > best:
                best, sure = found, order[i] != ONGOING
                if best >= beta:
                    break
        if draws and best >= beta and sure:
            counters[GUESSED] = guesses
        return best

    for i in range(start, start + count):
        move = np.int64(moves[i])
        if order[i] != ONGOING:
            found = terminal_value(game, (words[2 * i], words[2 * i + 1]), order[i], mover)
            if found > best:
                best, best_move = found, move
                floor = max(floor, best)
            order[i] = DONE
        elif move == best_known:
            order[i] = FIRST
        else:
            child = (words[2 * i], words[2 * i + 1])
            order[i] = move_priority(game, position, move, child) + history[ply << 8 | move]
    first, reduces = True, work.limits[REDUCES] > 0.0
    for n in range(count):
        if best >= beta:
            break
        at = start + n
        for i in range(at + 1, start + count):
            if order[i] > order[at]:
                order[i], order[at] = order[at], order[i]
                moves[i], moves[at] = moves[at], moves[i]
                words[2 * i], words[2 * at] = words[2 * at], words[2 * i]
                words[2 * i + 1], words[2 * at + 1] = words[2 * at + 1], words[2 * i + 1]
        if order[at] == DONE:
            break
        child = (words[2 * at], words[2 * at + 1])
        same = side(game, child) == mover
        top = beta if first else floor + TINY
        less = 1
        if reduces and n >= LATE and depth >= SHALLOW:
            less = 3 if n >= VERY_LATE and depth >= SHALLOW + 2 else 2
        before = counters[GUESSED] if draws else 0
        if same:
            found = value(game, child, depth - less, floor, top, ply + 1, work)
        else:
            found = -value(game, child, depth - less, -top, -floor, ply + 1, work)
        if found > floor and less > 1:
            if draws:
                counters[GUESSED] = before
            if same:
                found = value(game, child, depth - 1, floor, top, ply + 1, work)
            else:
                found = -value(game, child, depth - 1, -top, -floor, ply + 1, work)
        if not first and floor < found < beta:
            if draws:
                counters[GUESSED] = before
            if same:
                found = value(game, child, depth - 1, floor, beta, ply + 1, work)
            else:
                found = -value(game, child, depth - 1, -beta, -floor, ply + 1, work)
        if counters[STOPPED]:
            return 0.0
        first = False
        if found > best or n == 0:
            best_move = np.int64(moves[at])
            if draws and found > best:
                sure = counters[GUESSED] == before
            best = max(best, found)
            floor = max(floor, best)
    if best > alpha:
        history[ply << 8 | best_move] += depth * depth
    kind = AT_LEAST if best >= beta else EXACT if best > alpha else AT_MOST
    if best >= high or best <= low:
        depth, kind = np.int64(CERTAIN), EXACT
    elif draws and (sure if best >= beta else counters[GUESSED] == guesses):
        depth = np.int64(CERTAIN)
    if draws and depth == CERTAIN:
        counters[GUESSED] = guesses
    store(table, key, bucket, depth, kind, best_move, best)
    return best


@kernel
def iterative_deepening(
    game: Any, position: Words, deepest: Int, seconds: float, most_nodes: Int, work: Workspace
) -> tuple[Int, float, Int]:
    """The best move found, its value, and the depth that was searched to the end.

    Searches depth 1, 2, ... until one of the limits is reached or the result is certain, which
    PROVEN then says.
    """
    counters, moves, words = work.counters, work.moves, work.words
    root_values, order = work.root_values, work.order
    counters[NODES] = counters[STOPPED] = counters[PROVEN] = counters[REACHED] = 0
    counters[DUE] = min(most_nodes, 1024)
    work.limits[DEADLINE] = now() + seconds
    work.limits[MOST_NODES] = most_nodes
    work.history[:] = work.history // 8
    mover = side(game, position)
    next_ply = np.int64(1)  # a literal would compile `value` twice, and not be cached
    count = legal(game, position, moves, 0)
    low, high = value_range(game)
    draws = _can_be_drawn(game)
    chosen, worth, reached = np.int64(moves[0]), low, 0
    for i in range(count):
        words[2 * i], words[2 * i + 1] = apply(game, position, np.int64(moves[i]))
        order[i] = ending(game, (words[2 * i], words[2 * i + 1]))
        root_values[i] = 0.0
        if order[i] == ONGOING:
            child = (words[2 * i], words[2 * i + 1])
            root_values[i] = np.float64(move_priority(game, position, np.int64(moves[i]), child))
    for depth in range(1, deepest + 1):
        # The best of the last depth first; the others keep the order of their values.
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
            same = side(game, child) == mover
            if order[i] != ONGOING:
                found = terminal_value(game, child, order[i], mover)
            elif depth == 1:
                found = estimate(game, child) if same else -estimate(game, child)
                counters[GUESSED] += 1
            else:
                top = high if i == 0 else best + TINY
                if same:
                    found = value(game, child, depth - 1, best, top, next_ply, work)
                else:
                    found = -value(game, child, depth - 1, -top, -best, next_ply, work)
                if i > 0 and found > best and top < high:
                    counters[GUESSED] = before
                    if same:
                        found = value(game, child, depth - 1, best, high, next_ply, work)
                    else:
                        found = -value(game, child, depth - 1, -high, -best, next_ply, work)
            if counters[STOPPED]:
                break
            root_values[i] = found
            if found > best or i == 0:
                best, best_move = found, np.int64(moves[i])
            if best >= high:
                break
        if counters[STOPPED]:
            # What was better than the last depth's choice counts, though not all were looked at.
            if best > low and best_move != chosen and reached > 0:
                chosen, worth = best_move, best
            elif i > 0 and best <= low and reached > 0 and root_values[i] > low:
                # That choice is lost: the next move is not, as far as the last depth saw.
                chosen, worth = np.int64(moves[i]), root_values[i]
            break
        if best <= low and reached > 0:  # lost: the move that held out longest stays
            worth = best
            break
        chosen, worth, reached = best_move, best, depth
        counters[REACHED] = depth
        counters[PROVEN] = draws and counters[GUESSED] == 0
        if best >= high or count == 1 or counters[PROVEN]:
            break
    if players(game) == 2 and (worth >= high or worth <= low):
        counters[PROVEN] = 1
    return chosen, worth, reached


@kernel
def move_values(
    game: Any, position: Words, depth: Int, work: Workspace, moves: Array, values: Array, proven: Array
) -> Int:
    """Write every legal move, its value at a depth, and whether it is proven; returns how many.

    Means nothing once the search has been stopped.
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
        found = estimate(game, child)
        work.counters[GUESSED] = 0
        if depth > 1:
            found = value(game, child, depth - 1, low, high, ply, work)
            if work.counters[STOPPED]:
                break
        values[i] = found if side(game, child) == mover else -found
        certain = draws and depth > 1 and work.counters[GUESSED] == 0
        proven[i] = certain or (for_two and (found >= high or found <= low))
    return count
