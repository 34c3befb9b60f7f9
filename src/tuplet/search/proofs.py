"""In how many moves a win can be forced: a search for wins alone.

A win within n moves is one whatever the opponent and chance do; all players' moves count. The table of the workspace
holds for each position the fewest moves known to suffice and the most known not to. (The table of `expectimax` has
proven values without their lengths, which may come from another branch or an earlier move.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    legal,
    move_priority,
    probability,
    side,
    winner,
)
from tuplet.kernel import kernel
from tuplet.search.expectimax import DEEPEST, MOST_NODES, NODES, STOPPED, Workspace, move_to_front
from tuplet.search.transpositions import key_of

_UNKNOWN = 255  # moves that suffice, where none are known to
_NODES_A_LOOK = 1024  # nodes between two looks at `stop`


@kernel
def wins_within(game: Any, position: Words, of: Int, n: Int, ply: Int, work: Workspace) -> bool:
    """Whether a side can force a win within n moves from an unfinished position.

    Meaningless once the search has been stopped.
    """
    counters = work.counters
    counters[NODES] += 1
    if counters[NODES] % _NODES_A_LOOK == 0 and work.stop[0]:
        counters[STOPPED] = 1
    if counters[NODES] > work.limits[MOST_NODES]:
        counters[STOPPED] = 1
    if counters[STOPPED]:
        return False
    if is_chance(game, position):
        for outcome in range(count_outcomes(game, position)):
            if probability(game, position, outcome) <= 0.0:
                continue
            child = apply_outcome(game, position, outcome)
            ended = ending(game, child)
            if ended != ONGOING:
                if winner(game, ended) != of:
                    return False
            elif not wins_within(game, child, of, n, ply, work):
                return False
        return True

    key = key_of(position) ^ np.uint64(of)
    slot = key & np.uint64(len(work.table) - 1)
    enough: Int = _UNKNOWN
    too_few: Int = 0
    if work.table[slot]["tag"] == key:
        known = np.int64(work.table[slot]["value"])
        enough, too_few = known >> 8, known & 255
        if n >= enough:
            return True
        if n <= too_few:
            return False

    words, moves, order, history = work.words, work.moves, work.order, work.history
    own = side(game, position) == of
    start = ply * MOST_MOVES
    end = start + legal(game, position, moves, start)
    last = start  # after the moves that do not end the game
    for i in range(start, end):
        move = np.int64(moves[i])
        child = apply(game, position, move)
        ended = ending(game, child)
        if ended != ONGOING:
            won = winner(game, ended) == of
            if won == own:  # a win of ours, or an escape of the opponent
                return won
        else:
            words[2 * last], words[2 * last + 1] = child
            moves[last] = move
            order[last] = move_priority(game, position, move, child) + history[ply << 8 | move]
            last += 1
    won = not own
    if n > 1:
        for at in range(start, last):
            move_to_front(words, moves, order, at, last)
            child = (words[2 * at], words[2 * at + 1])
            if wins_within(game, child, of, n - 1, ply + 1, work) == own:
                history[ply << 8 | np.int64(moves[at])] += n * n
                won = own
                break
    elif last > start:
        won = False
    if counters[STOPPED]:
        return False
    work.table[slot]["tag"] = key
    work.table[slot]["value"] = n << 8 | too_few if won else enough << 8 | n
    return won


@kernel
def moves_to_win(game: Any, position: Words, move: Int, of: Int, work: Workspace) -> Int:
    """The fewest moves, `move` included, in which a side can force a win after a move; 0 if that is not found.

    Looks at as many nodes as the workspace allows, those of earlier calls included.
    """
    child = apply(game, position, move)
    if ending(game, child) != ONGOING:
        return 1
    ply = np.int64(1)  # a literal would compile `wins_within` twice, and not be cached
    for n in range(1, DEEPEST):
        if wins_within(game, child, of, n, ply, work):
            return n + 1
        if work.counters[STOPPED]:
            break
    return 0
