"""What to play where the outlook is bad: a line that an opponent who sees less would lose.

Opponent-model search (Iida, Uiterwijk, van den Herik & Herschberg 1993; Carmel & Markovitch
1993). The model is the course's `hard`, which looks 8 plies ahead at plain distances. The game is
played on against it, one's own moves being varied, until a line wins; that line is followed for
as long as the opponent plays as expected, and as its moves are not much worse than the best.
Where everything loses nothing is risked: a perfect opponent wins whatever is played.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.games.ewn.rules import EwnRules
from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Int,
    Words,
    apply,
    call_apply,
    call_ending,
    ending,
    legal,
    side,
    winner,
)
from tuplet.kernel import draw, kernel, now
from tuplet.search import expectimax, transpositions

Array = np.ndarray[Any, Any]

SEEN = 8  # plies that the opponent looks ahead
OWN = 4  # plies that one's own side looks ahead in a line
VARIED = np.uint64(round(0.3 * 2**32))  # the share of own moves that are random, of 2^32
LINES = 30  # tried where the time is not limited
RISK = 0.2  # how much worse than the best a move may be
LOOK = 50_000  # positions spent on whether it is
LONGEST = 256  # plies of a game: more than any has


@kernel
def _play_on(
    game: EwnRules, position: Words, state: np.uint64, work: expectimax.Workspace, line: Array, until: float
) -> tuple[np.uint64, Int]:
    """Play a game to its end, the side to move against the model.

    Writes own positions and moves into `line` (uint64[LONGEST, 3]); returns the random stream's
    next state and how many there are; 0 if the line loses, was told to stop, or the clock shows
    `until`.
    """
    own, n = side(game, position), 0
    moves = np.zeros(MOST_MOVES, np.uint8)
    while True:
        result = ending(game, position)
        if result != ONGOING:
            return state, n if winner(game, result) == own else 0
        if work.stop[0] or now() >= until:
            return state, 0
        if side(game, position) != own:
            position = apply(game, position, baseline_move(game, position, SEEN))
            continue
        state, bits = draw(state)
        if (bits & np.uint64(0xFFFFFFFF)) < VARIED:
            count = np.uint64(legal(game, position, moves, 0))
            move: Int = np.int64(moves[((bits >> np.uint64(32)) * count) >> np.uint64(32)])
        else:
            move, _, _ = expectimax.iterative_deepening(game, position, OWN, np.inf, 1 << 62, work)
        line[n, 0], line[n, 1], line[n, 2] = position[0], position[1], np.uint64(move)
        n += 1
        position = apply(game, position, move)


class Traps:
    """The line that is followed at the moment."""

    _plan: dict[Words, int]  # own positions of the line, and the moves there

    def __init__(self) -> None:
        self._work = expectimax.make_workspace(12)
        self._line = np.zeros((LONGEST, 3), np.uint64)
        self.forget()

    def forget(self) -> None:
        """Begin a game."""
        self._plan = {}
        self._state = np.uint64(0)

    def move(
        self, game: EwnRules, position: Words, value: float, work: expectimax.Workspace, until: float | None
    ) -> int | None:
        """The next move of a line that wins against the model; None if none was found.

        `value` is what the position is worth by search, `work` the search's. Looks until the
        clock (`time.monotonic`) shows `until`, or `work` is told to stop.
        """
        for _ in range(LINES if until is None else LONGEST):
            if position in self._plan:
                move = self._plan[position]
                if value == -1 or self._worth(game, position, move, work, until) >= value - RISK:
                    return move
                self._plan = {}
            if work.stop[0] or (until is not None and time.monotonic() >= until):
                return None
            self._work.table[:] = np.zeros(1, transpositions.ENTRY)
            own = self._work._replace(stop=work.stop)
            limit = np.inf if until is None else until
            state, length = _play_on(game, position, self._state, own, self._line, limit)
            self._state = np.uint64(state)
            self._plan = {(red, blue): int(move) for red, blue, move in self._line[:length]}
        return None

    def _worth(
        self, game: EwnRules, position: Words, move: int, work: expectimax.Workspace, until: float | None
    ) -> float:
        """A move's value by search."""
        red, blue = call_apply(game, position, move)
        child = (np.uint64(red), np.uint64(blue))
        if call_ending(game, child):
            return 1.0
        left = np.inf if until is None else until - time.monotonic()
        deepest = expectimax.DEEPEST - 1
        _, value, depth = expectimax.iterative_deepening(game, child, deepest, left, LOOK, work)
        return -float(value) if depth else -1.0
