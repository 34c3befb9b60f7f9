"""What to play where everything loses: the move after which the opponent most likely errs.

Opponent-model search (Iida, Uiterwijk, van den Herik & Herschberg 1993; Carmel & Markovitch
1993): a perfect opponent wins whatever is played, so nothing is risked by counting on one that
sees less. The model is two opponents who look 4 and 8 plies ahead at plain distances, the second
being the course's `hard`. Every reply that one of them would give is searched: does it still
win? Where it does, the same question is asked a move later.
"""

from __future__ import annotations

import time

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.games.ewn.position import apply_move, ended, legal_moves
from tuplet.games.ewn.rules import MOST_MOVES, RED, RED_ALL, Ewn
from tuplet.games.game import Words
from tuplet.search import expectimax

MODELS = ((4, 0.3), (8, 0.7))  # plies seen, and how much that is expected
PATIENCE = 5  # moves of one's own that are looked ahead
LATER = 0.9  # an error a move later is worth less: something may come between
GLANCE, LOOK = 10_000, 150_000  # positions spent on whether a reply still wins


def set_trap(
    game: Ewn, position: Words, move: int, desk: expectimax.Desk, until: float | None
) -> int:
    """The most promising move in a lost position, or `move` if there is no hope.

    Looks until the clock (`time.monotonic`) shows `until`.
    """
    trapper = _Trapper(game, desk, until)
    for patience in range(1, PATIENCE + 1):
        hope, trap = trapper.best(position, patience)
        while hope > 0.0 and not trapper.holds(position, trap):
            hope, trap = trapper.best(position, patience)
        if hope > 0.0:
            return trap
    return move


class _Trapper:
    """The positions of one search for a trap, and what is known of them."""

    def __init__(self, game: Ewn, desk: expectimax.Desk, until: float | None) -> None:
        self.game, self.desk, self.until = game, desk, until
        self._replies: dict[Words, list[tuple[Words, float]]] = {}
        self._hopes: dict[Words, float] = {}
        self._looked: set[Words] = set()

    @property
    def late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def best(self, position: Words, patience: int) -> tuple[float, int]:
        """The largest hope of being spared, and the move that has it."""
        best, best_move = 0.0, -1
        for move in self.moves(position):
            if self.late:
                break
            hope = sum(
                weight * self.hope(after, patience)
                for after, weight in self.replies(position, move)
            )
            if hope > best:
                best, best_move = hope, move
        return best, best_move

    def holds(self, position: Words, move: int) -> bool:
        """Look again, and longer, at what a trap promises; whether nothing was learned."""
        unseen = [after for after, _ in self.replies(position, move) if after not in self._looked]
        before = [self._hopes.get(after) for after in unseen]
        for after in unseen:
            self._looked.add(after)
            if self._hopes.get(after, 0.0) > 0.0 and not self.late:
                self._hopes[after] = self.look(after, LOOK)
        return before == [self._hopes.get(after) for after in unseen]

    def replies(self, position: Words, move: int) -> list[tuple[Words, float]]:
        """The positions after a move and each expected reply, with how much it is expected."""
        child = self.after(position, move)
        if child not in self._replies:
            expected: dict[int, float] = {}
            if not ended(self.game, child):
                for depth, weight in MODELS:
                    reply = int(baseline_move(self.game, child, depth))
                    expected[reply] = expected.get(reply, 0.0) + weight
            self._replies[child] = [(self.after(child, r), w) for r, w in expected.items()]
        return self._replies[child]

    def hope(self, position: Words, patience: int) -> float:
        """How good a position is, from 0 to 1, to the side to move, which was lost before."""
        if position not in self._hopes:
            self._hopes[position] = self.look(position, GLANCE)
        known = self._hopes[position]
        if known > 0.0 or patience == 1 or self.late or ended(self.game, position):
            return known
        return LATER * self.best(position, patience - 1)[0]

    def look(self, position: Words, nodes: int) -> float:
        """The same, by alpha-beta; 0 if it is lost."""
        ending = ended(self.game, position)
        if ending:
            mover = int(position[0]) >> 56 & 1
            return float((ending <= RED_ALL) == (mover == RED))
        left = np.inf if self.until is None else max(self.until - time.monotonic(), 0.0)
        _, value, depth = expectimax.deepen(
            self.game, position, expectimax.DEEPEST - 1, left, nodes, self.desk
        )
        return 0.5 + 0.5 * float(value) if value > -1 and depth else 0.0

    def moves(self, position: Words) -> list[int]:
        moves = np.zeros(MOST_MOVES, np.uint8)
        return [int(move) for move in moves[: legal_moves(self.game, position, moves)]]

    def after(self, position: Words, move: int) -> Words:
        red, blue = apply_move(self.game, position, move)
        return np.uint64(red), np.uint64(blue)
