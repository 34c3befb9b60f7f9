"""Expectimax, and alpha-beta where there is no chance: one search for both.

Negamax with iterative deepening, principal variation search (Marsland & Campbell 1982), a
transposition table, and Star1 and Star2 pruning at chance nodes (Ballard 1983). Depth counts the
moves of players; a chance outcome costs none. Values are those of the side to move.

Where a move leads to the same position whatever the outcome before it (`forgets_outcome`), a chance
node lists the moves of all outcomes once. Moves that the same outcomes allow form a *group* (in EWN, the
moves of a cube): a group is worth its best move, an outcome its best group, and the node the mean over outcomes.

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
    forgets_outcome,
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
from tuplet.kernel import inlined, kernel, now
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
LOWER, UPPER = range(2)  # bounds of a group's value
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Workspace(NamedTuple):
    """A search's working memory."""

    table: Array  # ENTRY[2^k]
    words: Array  # uint64[(DEEPEST + 1) * MOST_MOVES * 2]: the positions after each move, by ply
    moves: Array  # uint8[(DEEPEST + 1) * MOST_MOVES]
    order: Array  # int64[(DEEPEST + 1) * MOST_MOVES]: the priority of each move
    allowed: Array  # uint64[256]: by move, the outcomes that allow it; zero between uses
    group_of: Array  # uint8[(DEEPEST + 1) * MOST_MOVES]: the group of each move
    group_outcomes: Array  # uint64[(DEEPEST + 1) * MOST_MOVES]: the outcomes of each group, as bits
    group_shares: Array  # float64[(DEEPEST + 1) * MOST_MOVES]: their probability
    group_ranked: Array  # uint8[(DEEPEST + 1) * MOST_MOVES]: the groups, the most probable first
    group_bounds: Array  # float64[(DEEPEST + 1) * MOST_MOVES * 2]: LOWER and UPPER of each group
    history: Array  # int64[DEEPEST * 256]: history heuristic, by ply and move
    counters: Array  # int64[6]
    limits: Array  # float64[3]
    root_values: Array  # float64[MOST_MOVES]
    stop: Array  # bool[1]: set to end the search (`Stop.flag`)


def make_workspace(bits: int = 20, reduces: bool = False) -> Workspace:
    """Allocate a workspace with a table of 2^bits entries, 16 bytes each."""
    size = (DEEPEST + 1) * MOST_MOVES
    work = Workspace(
        np.zeros(1 << bits, ENTRY),
        np.zeros(size * 2, np.uint64),
        np.zeros(size, np.uint8),
        np.zeros(size, np.int64),
        np.zeros(256, np.uint64),
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint64),
        np.zeros(size),
        np.zeros(size, np.uint8),
        np.zeros(size * 2),
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
def move_to_front(words: Array, moves: Array, order: Array, at: Int, end: Int) -> None:
    """Bring the move of the highest order among `at` to `end` to `at`."""
    for i in range(at + 1, end):
        if order[i] > order[at]:
            order[i], order[at] = order[at], order[i]
            moves[i], moves[at] = moves[at], moves[i]
            words[2 * i], words[2 * at] = words[2 * at], words[2 * i]
            words[2 * i + 1], words[2 * at + 1] = words[2 * at + 1], words[2 * i + 1]


@inlined
def _gather_moves(game: Any, position: Words, start: Int, work: Workspace) -> tuple[Int, Int]:
    """List the moves of all outcomes of a chance node, each once, and their groups.

    Returns the end of the list and the number of groups. The groups' bounds are those of nothing known.
    """
    words, moves, allowed = work.words, work.moves, work.allowed
    end = start
    for outcome in range(count_outcomes(game, position)):
        if probability(game, position, outcome) <= 0.0:
            continue
        rolled = apply_outcome(game, position, outcome)
        first = end
        for i in range(first, first + legal(game, rolled, moves, first)):
            move = np.int64(moves[i])
            if allowed[move] == _ZERO:
                words[2 * end], words[2 * end + 1] = apply(game, rolled, move)
                moves[end] = move
                end += 1
            allowed[move] |= _ONE << np.uint64(outcome)
    low, high = value_range(game)
    groups = 0
    for i in range(start, end):
        outcomes = allowed[moves[i]]
        allowed[moves[i]] = _ZERO
        group = 0
        while group < groups and work.group_outcomes[start + group] != outcomes:
            group += 1
        work.group_of[i] = group
        if group == groups:
            groups += 1
            work.group_outcomes[start + group] = outcomes
            work.group_bounds[2 * (start + group) + LOWER] = low
            work.group_bounds[2 * (start + group) + UPPER] = high
    return end, groups


@inlined
def _outcome_bound(work: Workspace, start: Int, groups: Int, bound: Int, outcome: Int, without: Int) -> float:
    """The bound of an outcome's value by its groups, `without` one of them; -inf if it has no other."""
    best = -np.inf
    for group in range(groups):
        if (work.group_outcomes[start + group] >> np.uint64(outcome)) & _ONE != _ZERO and group != without:
            best = max(best, work.group_bounds[2 * (start + group) + bound])
    return best


@inlined
def _expectation(game: Any, position: Words, work: Workspace, start: Int, groups: Int, bound: Int) -> float:
    """The bound of a chance node's value by those of its groups."""
    total, least, most = 0.0, np.inf, -np.inf
    for outcome in range(count_outcomes(game, position)):
        share = probability(game, position, outcome)
        if share > 0.0:
            value = _outcome_bound(work, start, groups, bound, outcome, -1)
            total += share * value
            least, most = min(least, value), max(most, value)
    return min(max(total, least), most)  # rounding must not turn six sixths of a win into less


@inlined
def _decisive_value(
    game: Any, position: Words, work: Workspace, start: Int, groups: Int, group: Int, bound: Int, target: float
) -> float:
    """The value of a group that brings the node's bound to `target`, while the other groups have theirs.

    An outcome that another group decides does not depend on the value; taking out such outcomes lowers it.
    """
    value = np.inf
    while True:
        total = share = 0.0
        for outcome in range(count_outcomes(game, position)):
            part = probability(game, position, outcome)
            if part <= 0.0:
                continue
            other = _outcome_bound(work, start, groups, bound, outcome, group)
            if (work.group_outcomes[start + group] >> np.uint64(outcome)) & _ONE != _ZERO and other < value:
                share += part
            else:
                total += part * other
        if share <= 0.0:  # the group decides nothing
            return np.inf if bound == LOWER else -np.inf
        before, value = value, (target - total) / share
        if value >= before:
            return value


@inlined
def _rank_groups(game: Any, position: Words, work: Workspace, start: Int, groups: Int) -> None:
    """Sort the groups, the most probable first."""
    shares, ranked = work.group_shares, work.group_ranked
    for group in range(groups):
        shares[start + group] = 0.0
        for outcome in range(count_outcomes(game, position)):
            if (work.group_outcomes[start + group] >> np.uint64(outcome)) & _ONE != _ZERO:
                shares[start + group] += probability(game, position, outcome)
        at = start + group
        while at > start and shares[start + ranked[at - 1]] < shares[start + group]:
            ranked[at] = ranked[at - 1]
            at -= 1
        ranked[at] = group


@inlined
def _next_of_group(work: Workspace, start: Int, end: Int, group: Int) -> Int:
    """The most promising move of a group that is not DONE; -1 if there is none."""
    best: Int = -1
    for i in range(start, end):
        if work.group_of[i] == group and work.order[i] != DONE and (best < 0 or work.order[i] > work.order[best]):
            best = i
    return best


@kernel
def negamax(game: Any, position: Words, depth: Int, alpha: float, beta: float, ply: Int, work: Workspace) -> float:
    """The value of an unfinished position to the side to move, exact if within (alpha, beta).

    Otherwise a bound (fail-soft). Meaningless once the search has been stopped. Where draws are
    possible, GUESSED is raised unless the value is proven.
    """
    counters = work.counters
    counters[NODES] += 1
    if counters[NODES] >= counters[DUE]:
        left = work.limits[MOST_NODES] - counters[NODES]
        if left < 0.0 or work.stop[0] or now() > work.limits[DEADLINE]:
            counters[STOPPED] = 1
        counters[DUE] += np.int64(min(left + 1.0, 1024.0))
    if counters[STOPPED]:
        return 0.0

    low, high = value_range(game)
    draws = _can_be_drawn(game)
    guesses = counters[GUESSED] if draws else 0
    mover = side(game, position)
    table, key = work.table, key_of(position)
    bucket = key & np.uint64(len(table) - 4)
    table_move: Int = NO_MOVE
    merges = is_chance(game, position) and forgets_outcome(game)
    if depth > 1 or merges:
        table_move, deep, value = look_up(table, key, bucket, depth, alpha, beta)
        if deep > 0:
            if draws and deep != PROVEN_DEPTH:
                counters[GUESSED] += 1
            return value

    words, moves, order, history = work.words, work.moves, work.order, work.history
    reduces = work.limits[REDUCES] > 0.0
    start = ply * MOST_MOVES
    # Chance nodes are no function of their own: Numba cannot cache two kernels that call each other.
    if merges:
        bounds = work.group_bounds
        last, groups = _gather_moves(game, position, start, work)
        for i in range(start, last):
            child = (words[2 * i], words[2 * i + 1])
            ended, code = ending(game, child), np.int64(moves[i])
            if ended == ONGOING and depth > 1:
                order[i] = move_priority(game, position, code, child) + history[ply << 8 | code]
                continue
            order[i] = DONE
            counters[NODES] += 1
            if ended != ONGOING:
                value = terminal_value(game, child, ended, mover)
            else:
                value = estimate(game, child) if side(game, child) == mover else -estimate(game, child)
                if draws:
                    counters[GUESSED] += 1
            own = 2 * (start + np.int64(work.group_of[i]))
            bounds[own + LOWER] = max(bounds[own + LOWER], value)
        if depth > 1:
            _rank_groups(game, position, work, start, groups)
        # Star2: the best move of each group first, for lower bounds; then, as in Star1, the others. The window of
        # a group is what can bring the node's value into its own window, by the bounds of the other groups.
        for turn in range(2 if depth > 1 else 0):
            for rank in range(groups):
                group = np.int64(work.group_ranked[start + rank])
                own = 2 * (start + group)
                pick = _next_of_group(work, start, last, group)
                if pick < 0:
                    bounds[own + UPPER] = bounds[own + LOWER]
                if bounds[own + LOWER] >= bounds[own + UPPER]:
                    continue
                floor = max(low, _decisive_value(game, position, work, start, groups, group, UPPER, alpha))
                top = min(high, _decisive_value(game, position, work, start, groups, group, LOWER, beta))
                if floor >= high or top <= low:  # the other groups decide
                    value = alpha if floor >= high else beta
                    store(table, key, bucket, depth, AT_MOST if floor >= high else AT_LEAST, NO_MOVE, value)
                    return value
                best, late = bounds[own + LOWER], turn
                while pick >= 0:
                    child, code = (words[2 * pick], words[2 * pick + 1]), np.int64(moves[pick])
                    order[pick] = DONE
                    least = max(floor, best)
                    less = 1
                    if reduces and late >= LATE and depth >= SHALLOW:
                        less = 3 if late >= VERY_LATE and depth >= SHALLOW + 2 else 2
                    sign, lo, hi = _child_window(game, child, mover, least, top if late == 0 else least + TINY)
                    value = sign * negamax(game, child, depth - less, lo, hi, ply + 1, work)
                    if value > least and less > 1:
                        value = sign * negamax(game, child, depth - 1, lo, hi, ply + 1, work)
                    if late > 0 and least < value < top:
                        sign, lo, hi = _child_window(game, child, mover, least, top)
                        value = sign * negamax(game, child, depth - 1, lo, hi, ply + 1, work)
                    if counters[STOPPED]:
                        return 0.0
                    if value > least:
                        best = value
                        history[ply << 8 | code] += depth * depth
                    if best >= top:
                        break
                    late += 1
                    pick = _next_of_group(work, start, last, group)
                    if turn == 0:
                        break
                bounds[own + LOWER] = best
                if best >= top:
                    if top < high:
                        value = max(_expectation(game, position, work, start, groups, LOWER), beta)
                        store(table, key, bucket, depth, AT_LEAST, NO_MOVE, value)
                        return value
                    bounds[own + UPPER] = best
                elif pick < 0:
                    bounds[own + UPPER] = max(best, floor)
                    if best <= floor and floor > low:
                        value = min(_expectation(game, position, work, start, groups, UPPER), alpha)
                        store(table, key, bucket, depth, AT_MOST, NO_MOVE, value)
                        return value
        value = _expectation(game, position, work, start, groups, LOWER)
        if value >= high or value <= low or (draws and counters[GUESSED] == guesses):
            depth = np.int64(PROVEN_DEPTH)
        store(table, key, bucket, depth, EXACT, NO_MOVE, value)
        return value
    if is_chance(game, position):
        # The expectation, by Star1: stops once the other outcomes cannot bring it into the window.
        total, rest = 0.0, 1.0
        least, most = high, low
        kind: Int = EXACT
        for outcome in range(count_outcomes(game, position)):
            share = probability(game, position, outcome)
            if share <= 0.0:
                continue
            rest = max(rest - share, 0.0)
            floor = max(low, (alpha - total - high * rest) / share)
            top = min(high, (beta - total - low * rest) / share)
            if floor >= high or top <= low:  # the outcomes so far decide
                total, kind = (alpha, AT_MOST) if floor >= high else (beta, AT_LEAST)
                break
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
                total, kind = min(total + high * rest, alpha), AT_MOST
                break
            if value >= top and top < high:
                total, kind = max(total + low * rest, beta), AT_LEAST
                break
            least, most = min(least, value), max(most, value)
        if kind == EXACT:
            total = min(max(total, least), most)  # rounding must not turn six sixths of a win into less
        if depth > 1:
            deep = depth
            if (kind == EXACT and (total >= high or total <= low)) or (draws and counters[GUESSED] == guesses):
                deep = np.int64(PROVEN_DEPTH)
            store(table, key, bucket, deep, kind, NO_MOVE, total)
        return total

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
    for at in range(start, end):
        if best >= beta:
            break
        move_to_front(words, moves, order, at, end)
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


@kernel
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
    for i in range(len(work.history)):
        work.history[i] //= 8
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
