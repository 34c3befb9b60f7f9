"""Expectimax, and alpha-beta where there is no chance: one search for both.

Iterative deepening, principal variation search (Marsland & Campbell 1982), a transposition
table, and Star1 pruning at chance nodes (Ballard 1983). Depth counts the moves of players; what
nature does costs none. Values are seen from the side that moves next.
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
    is_chance,
    legal,
    likelihood,
    move_priority,
    outcomes,
    payoff,
    side,
    value_range,
    winner,
)
from tuplet.kernel import inlined, kernel, now
from tuplet.search.transpositions import (
    AT_LEAST,
    AT_MOST,
    ENTRY,
    EXACT,
    KEY,
    NO_MOVE,
    key_of,
    known_move,
    store,
)

Array = np.ndarray[Any, Any]

DEEPEST = 100
TINY = 1e-9  # the width of a window that only asks: better or not?
CERTAIN = 255  # the depth of a win or a loss
DONE, FIRST = -(1 << 40), 1 << 40  # in the order of moves
# Moves that are searched less deeply at first, where `reduces`: the third of a position and on,
# and the fifth and on still less; only where that many moves are left to look ahead.
LATE, VERY_LATE, SHALLOW = 2, 4, 4

NODES, STOPPED, DUE = range(3)  # counters; DUE: the node at which limits are looked at
DEADLINE, MOST_NODES, REDUCES = range(3)  # limits

_ZERO = np.uint64(0)


class Workspace(NamedTuple):
    """A search's working memory."""

    table: Array  # ENTRY[2^k]
    words: Array  # uint64[DEEPEST * MOST_MOVES * 2]: the positions after each move, by ply
    moves: Array  # uint8[DEEPEST * MOST_MOVES]
    order: Array  # int64[DEEPEST * MOST_MOVES]: what is searched first
    history: Array  # int64[DEEPEST * 256]: how often a move was the best, by ply
    counters: Array  # int64[3]
    limits: Array  # float64[3]
    root_values: Array  # float64[MOST_MOVES]


def make_workspace(bits: int = 20, reduces: bool = False) -> Workspace:
    """Room for a search, with a table of 2^bits entries, 16 bytes each."""
    work = Workspace(
        np.zeros(1 << bits, ENTRY), np.zeros(DEEPEST * MOST_MOVES * 2, np.uint64),
        np.zeros(DEEPEST * MOST_MOVES, np.uint8), np.zeros(DEEPEST * MOST_MOVES, np.int64),
        np.zeros(DEEPEST * 256, np.int64), np.zeros(3, np.int64), np.zeros(3), np.zeros(MOST_MOVES),
    )  # fmt: skip
    work.limits[REDUCES] = reduces
    return work


@inlined
def _final(game: Any, position: Words, ended: Int, of: Int) -> float:
    """The value of a finished game to a side."""
    low, high = value_range(game)
    won = winner(game, ended)
    if won == NOBODY:
        return payoff(game, position, ended, False)
    return high if won == of else low


@kernel
def value(
    game: Any, position: Words, depth: Int, alpha: float, beta: float, ply: Int, work: Workspace
) -> float:
    """The value of a position that is not over, exact if it is between alpha and beta.

    Otherwise a bound (fail-soft). Means nothing once the search has been stopped.
    """
    counters = work.counters
    low, high = value_range(game)
    if is_chance(game, position):
        # The mean over what nature can do; Star1: until no rest could bring it into the window.
        # (Not a function of its own: functions that call each other cannot be cached.)
        total, rest = 0.0, 1.0
        least, most = high, low
        for outcome in range(outcomes(game, position)):
            share = likelihood(game, position, outcome)
            if share <= 0.0:
                continue
            rest = max(rest - share, 0.0)
            floor = max(low, (alpha - total - high * rest) / share)
            top = min(high, (beta - total - low * rest) / share)
            child = chance(game, position, outcome)
            ended = ending(game, child)
            if ended == ONGOING:
                found = value(game, child, depth, floor, top, ply, work)
            else:
                found = _final(game, child, ended, side(game, position))
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
        if left < 0.0 or now() > work.limits[DEADLINE]:
            counters[STOPPED] = 1
        counters[DUE] += np.int64(min(left + 1.0, 1024.0))
    if counters[STOPPED]:
        return 0.0

    table = work.table
    key = key_of(position)
    bucket = key & np.uint64(len(table) - 4)
    best_known: Int = NO_MOVE
    if depth > 1:
        for i in range(4):
            entry = table[bucket + np.uint64(i)]
            tag = entry["tag"]
            if (tag ^ key) & KEY == _ZERO and tag != _ZERO:
                best_known = np.int64(tag & np.uint64(0xFF))
                if np.int64((tag >> np.uint64(8)) & np.uint64(0xFF)) >= depth:
                    found = np.float64(entry["value"])
                    bound = np.int64((tag >> np.uint64(16)) & np.uint64(3))
                    if (
                        bound == EXACT
                        or (bound == AT_LEAST and found >= beta)
                        or (bound == AT_MOST and found <= alpha)
                    ):
                        return found
                break

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
            if _final(game, child, ended, mover) >= high:
                return high

    best, best_move, floor = low, np.int64(moves[start]), alpha
    if depth <= 1:
        for i in range(start, start + count):
            counters[NODES] += 1
            child = (words[2 * i], words[2 * i + 1])
            if order[i] != ONGOING:
                found = _final(game, child, order[i], mover)
            else:
                found = estimate(game, child)
                if side(game, child) != mover:
                    found = -found
            if found > best:
                best = found
                if best >= beta:
                    break
        return best

    for i in range(start, start + count):
        move = np.int64(moves[i])
        if order[i] != ONGOING:
            found = _final(game, (words[2 * i], words[2 * i + 1]), order[i], mover)
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
        if same:
            found = value(game, child, depth - less, floor, top, ply + 1, work)
        else:
            found = -value(game, child, depth - less, -top, -floor, ply + 1, work)
        if found > floor and less > 1:
            if same:
                found = value(game, child, depth - 1, floor, top, ply + 1, work)
            else:
                found = -value(game, child, depth - 1, -top, -floor, ply + 1, work)
        if not first and floor < found < beta:
            if same:
                found = value(game, child, depth - 1, floor, beta, ply + 1, work)
            else:
                found = -value(game, child, depth - 1, -beta, -floor, ply + 1, work)
        if counters[STOPPED]:
            return 0.0
        first = False
        if found > best or n == 0:
            best_move = np.int64(moves[at])
            best = max(best, found)
            floor = max(floor, best)
    if best > alpha:
        history[ply << 8 | best_move] += depth * depth
    kind = AT_LEAST if best >= beta else EXACT if best > alpha else AT_MOST
    if best >= high or best <= low:
        depth, kind = np.int64(CERTAIN), EXACT
    store(table, key, bucket, depth, kind, best_move, best)
    return best


@kernel
def deepen(
    game: Any, position: Words, deepest: Int, seconds: float, most_nodes: Int, work: Workspace
) -> tuple[Int, float, Int]:
    """The best move found, its value, and the depth that was searched to the end.

    Searches depth 1, 2, ... until one of the limits is reached or the result is certain.
    """
    counters, moves, words = work.counters, work.moves, work.words
    root_values, order = work.root_values, work.order
    counters[NODES] = counters[STOPPED] = 0
    counters[DUE] = min(most_nodes, 1024)
    work.limits[DEADLINE] = now() + seconds
    work.limits[MOST_NODES] = most_nodes
    work.history[:] = work.history // 8
    mover = side(game, position)
    next_ply = np.int64(1)  # a literal would compile `value` twice, and not be cached
    count = legal(game, position, moves, 0)
    low, high = value_range(game)
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
        for i in range(count):
            child = (words[2 * i], words[2 * i + 1])
            same = side(game, child) == mover
            if order[i] != ONGOING:
                found = _final(game, child, order[i], mover)
            elif depth == 1:
                found = estimate(game, child) if same else -estimate(game, child)
            else:
                top = high if i == 0 else best + TINY
                if same:
                    found = value(game, child, depth - 1, best, top, next_ply, work)
                else:
                    found = -value(game, child, depth - 1, -top, -best, next_ply, work)
                if i > 0 and found > best and top < high:
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
            break
        if best <= low and reached > 0:  # lost: the move that held out longest stays
            worth = best
            break
        chosen, worth, reached = best_move, best, depth
        if best >= high or count == 1:
            break
    return chosen, worth, reached


@kernel
def main_line(game: Any, position: Words, move: Int, work: Workspace, line: Array) -> Int:
    """Write the moves that both sides are expected to make, as far as the table knows them.

    Returns how many there are; stops where nature acts.
    """
    n = 0
    while n < len(line):
        line[n] = move
        n += 1
        position = apply(game, position, move)
        if ending(game, position) != ONGOING or is_chance(game, position):
            break
        move = known_move(work.table, position)
        if move == NO_MOVE:
            break
    return n


@kernel
def move_values(
    game: Any, position: Words, depth: Int, work: Workspace, moves: Array, values: Array
) -> Int:
    """Write every legal move and its value at a depth; returns how many there are."""
    work.counters[:] = 0
    work.limits[DEADLINE] = work.limits[MOST_NODES] = np.inf
    low, high = value_range(game)
    ply, mover, count = np.int64(1), side(game, position), legal(game, position, moves, 0)
    for i in range(count):
        child = apply(game, position, np.int64(moves[i]))
        ended = ending(game, child)
        if ended != ONGOING:
            values[i] = _final(game, child, ended, mover)
            continue
        found = estimate(game, child)
        if depth > 1:
            found = value(game, child, depth - 1, low, high, ply, work)
        values[i] = found if side(game, child) == mover else -found
    return count


@kernel
def meets_chance(game: Any, position: Words) -> bool:
    """Whether nature acts after a move."""
    moves = np.zeros(MOST_MOVES, np.uint8)
    legal(game, position, moves, 0)
    return is_chance(game, apply(game, position, np.int64(moves[0])))
