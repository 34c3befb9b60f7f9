"""The course's baselines of EWN, `normal` and `hard`, move for move.

Fail-soft alpha-beta to a fixed depth, in the order in which moves are generated, with the
difference of the smallest distances to the corners at the leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.ewn.game import EwnPosition
from tuplet.games.ewn.rules import BLUE, GONE, MOST_CUBES, RED, EwnRules
from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Array,
    Int,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    legal,
    side,
    winner,
)
from tuplet.kernel import inlined, kernel, local_array

WON = 10_000.0
NO_CUBES = 999
DEEPEST = 8  # plies
_MOVES = (DEEPEST + 1) * MOST_MOVES
_DIAGONAL = 2
_BYTE = np.uint64(0xFF)


@inlined
def nearest(game: EwnRules, cubes: np.uint64, of: Int) -> Int:
    """The smallest distance of a side's cubes to its corner."""
    best: Int = NO_CUBES
    for cube in range(MOST_CUBES):
        square = (cubes >> np.uint64(8 * cube)) & _BYTE
        if square != GONE:
            distance = np.int64(game.distance[np.uint64(128 * of) | square])
            best = min(distance, np.int64(best))
    return best


@kernel
def _value(game: EwnRules, position: Words, depth: Int, alpha: float, beta: float, moves: Array) -> float:
    """The value to the side to move; a rolled die is averaged over, without a window."""
    ended = ending(game, position)
    mover = side(game, position)
    if ended != ONGOING:
        return WON if winner(game, ended) == mover else -WON
    if is_chance(game, position):
        total, faces = 0.0, count_outcomes(game, position)
        for face in range(faces):
            total += _value(game, apply_outcome(game, position, face), depth, -WON, WON, moves)
        return total / faces
    if depth == 0:
        red, blue = nearest(game, position[0], RED), nearest(game, position[1], BLUE)
        return np.float64(blue - red if mover == RED else red - blue)
    best, start = -WON, depth * MOST_MOVES
    for i in range(legal(game, position, moves, start)):
        child = apply(game, position, np.int64(moves[start + i]))
        if side(game, child) == mover:
            value = _value(game, child, depth - 1, max(alpha, best), beta, moves)
        else:
            value = -_value(game, child, depth - 1, -beta, -max(alpha, best), moves)
        best = max(best, value)
        if best >= beta:
            break
    return best


@kernel
def baseline_move(game: EwnRules, position: Words, depth: Int) -> Int:
    """The move of a baseline, at most DEEPEST plies ahead: the first that is strictly better than all before it."""
    moves = local_array(_MOVES, np.uint8)
    start, mover = depth * MOST_MOVES, side(game, position)
    count = legal(game, position, moves, start)
    best, chosen = -WON, start
    for i in range(start, start + count):
        child = apply(game, position, np.int64(moves[i]))
        if side(game, child) == mover:
            value = _value(game, child, depth - 1, best, WON, moves)
        else:
            value = -_value(game, child, depth - 1, -WON, -best, moves)
        if value > best:
            best, chosen = value, i
            if best >= WON:
                break
    if best == -WON:
        for i in range(start, start + count):
            if moves[i] & 7 == _DIAGONAL:
                return np.int64(moves[i])
    return np.int64(moves[chosen])


class Baseline:
    """The course's `normal` (depth 2) and `hard` (depth 8).

    They were written for a known die. Where the die is rolled, they average over its faces and
    look 2 and 4 plies ahead.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def make(cls, spec: Any, game: Any, **_: Any) -> Baseline:  # noqa: ARG003
        """The agent that a text names."""
        return cls(spec.name)

    def choose(self, position: EwnPosition) -> str:
        """The first of the best moves."""
        if not position.legal_actions():
            position.action_of("")  # raises the reason
        return position.move_text(int(baseline_move(position.rules, position.words, self.depth(position.game))))

    def depth(self, game: Any) -> int:
        """How many plies it looks ahead in a game of EWN."""
        return 2 if self.name == "normal" else 8 if game.die == "cycle" else 4
