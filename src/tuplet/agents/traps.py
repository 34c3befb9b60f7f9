"""What to play where everything loses: the move after which the opponent most likely errs.

Opponent-model search (Iida, Uiterwijk, van den Herik & Herschberg 1993; Carmel & Markovitch
1993): a perfect opponent wins whatever is played, so nothing is risked by counting on one that
sees less. The model is four opponents who look 2, 4, 6 and 8 plies ahead at plain distances, as
the course's programs do. Every reply that one of them would give is searched: does it still win?
Where it does, the same question is asked a move later.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.games.ewn.position import apply_move, ended, legal_moves
from tuplet.games.ewn.rules import BLUE, MOST_MOVES, RED_ALL, Ewn
from tuplet.games.game import Words
from tuplet.search import expectimax

MODELS = ((2, 0.1), (4, 0.2), (6, 0.2), (8, 0.5))  # plies seen, and how much that is expected
PATIENCE = 3  # moves of one's own that are looked ahead
LATER = 0.9  # an error a move later is worth less: something may come between
PROMISING = 0.3  # good enough to stop looking further ahead
NODES = 50_000  # spent on whether a reply still wins


def set_trap(
    game: Ewn, position: Words, move: int, desk: expectimax.Desk, until: float | None
) -> int:
    """The most promising move in a lost position, or `move` if none is better.

    Looks until the clock (`time.monotonic`) shows `until`.
    """
    best = 0.0
    for patience in range(1, PATIENCE + 1):
        hope, trap = _best_trap(game, position, desk, until, patience)
        if hope > best:
            best, move = hope, trap
        if best > PROMISING or _late(until):
            break
    return move


def _best_trap(
    game: Ewn, position: Words, desk: expectimax.Desk, until: float | None, patience: int
) -> tuple[float, int]:
    """The largest hope of being spared, and the move that has it."""
    best, best_move = 0.0, -1
    for move in _moves(game, position):
        if _late(until):
            break
        child = _after(game, position, move)
        if ended(game, child):
            continue  # one's own end
        replies: dict[int, float] = {}
        for depth, weight in MODELS:
            reply = int(baseline_move(game, child, depth))
            replies[reply] = replies.get(reply, 0.0) + weight
        hope = sum(
            weight * _hope(game, _after(game, child, reply), desk, until, patience)
            for reply, weight in replies.items()
        )
        if hope > best:
            best, best_move = hope, move
    return best, best_move


def _hope(
    game: Ewn, position: Words, desk: expectimax.Desk, until: float | None, patience: int
) -> float:
    """How good a position is, from 0 to 1, to the side to move, which was lost before."""
    ending = ended(game, position)
    if ending:
        mover = int(position[0]) >> 56 & 1
        return float((ending > RED_ALL) == (mover == BLUE))
    left = np.inf if until is None else max(until - time.monotonic(), 0.0)
    _, value, depth = expectimax.deepen(
        game, position, expectimax.DEEPEST - 1, left, NODES, desk
    )
    if value > -1:
        return 0.5 + 0.5 * float(value) if depth else 0.0
    if patience == 1 or _late(until):
        return 0.0
    return LATER * _best_trap(game, position, desk, until, patience - 1)[0]


def _moves(game: Ewn, position: Words) -> list[int]:
    moves = np.zeros(MOST_MOVES, np.uint8)
    return [int(move) for move in moves[: legal_moves(game, position, moves)]]


def _after(game: Ewn, position: Words, move: int) -> Words:
    red, blue = apply_move(game, position, move)
    return np.uint64(red), np.uint64(blue)


def _late(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until


