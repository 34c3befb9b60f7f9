"""Perft: the number of paths of a given length, to check the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Words,
    apply,
    apply_outcome,
    count_outcomes,
    ending,
    is_chance,
    legal,
)
from tuplet.kernel import allocating


@allocating("a list of moves for each ply")
def perft(game: Any, position: Words, depth: int) -> int:
    """The number of paths of `depth` steps; an outcome of chance is a step.

    Games that end earlier are not counted.
    """
    if depth == 0:
        return 1
    if ending(game, position) != ONGOING:
        return 0
    count = 0
    if is_chance(game, position):
        for outcome in range(count_outcomes(game, position)):
            count += perft(game, apply_outcome(game, position, outcome), depth - 1)
        return count
    moves = np.zeros(MOST_MOVES, np.uint8)
    for i in range(legal(game, position, moves, 0)):
        count += perft(game, apply(game, position, np.int64(moves[i])), depth - 1)
    return count
