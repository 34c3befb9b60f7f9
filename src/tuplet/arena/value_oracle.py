"""Who judges a game of 2048: what moves are worth, and what the tiles that may appear make of them.

Values are of points still to come, and a board is worth what its best move is. A judge that looks
so many moves ahead values boards after every tile by the same depth, in one compiled call. With a
time for each move depths differ: then luck is judged as deep as that time allows, too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tuplet.agents.learned import LearnedAgent
from tuplet.agents.specs import name_of
from tuplet.arena.episode import ask
from tuplet.errors import UserError
from tuplet.exact.solution import Solution
from tuplet.exact.solve import solve
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import Game2048
from tuplet.system.stop import Stop
from tuplet.values.players import DEFAULT_PLAYER

FOURS = 0.1  # where neither the game nor the judge says how many there are
AT_ONCE = 6  # cells of a board that is solved in a moment


class ValueOracle:
    """A player's values, of moves and of after-states."""

    def __init__(self, player: Any, stop: Stop | None, spawn4: float | None = None) -> None:
        self.player, self.stop = player, stop
        share = getattr(player, "spawn4", spawn4)
        self.spawn4 = FOURS if share is None else float(share)
        self._shallow = player.fresh() if isinstance(player, LearnedAgent) else None

    def moves(self, board: Board) -> dict[str, float]:
        """The value of each legal move, reward and all."""
        if isinstance(self.player, LearnedAgent | Solution):
            known = self.player.moves(board)
        else:
            known = self._analyzed(board)
        return {move.move: move.value for move in known if move.value is not None}

    def value(self, board: Board) -> float:
        """That of the best move, 0 where none is legal."""
        values = self.moves(board)
        if not values and not board.over:
            raise UserError(self.no_values_error)
        return max(values.values(), default=0.0)

    def mean(self, after: Board, came: Board | None, value: float) -> float:
        """The mean of what boards are worth over all tiles that may appear on an after-state.

        `came` is the board that one made of it, and `value` what that was worth when its moves were
        judged, just before this.
        """
        if isinstance(self.player, Solution):
            return self.player.expected(after)
        if not isinstance(self.player, LearnedAgent) or self._shallow is None:
            return self._mean_by_asking(after)
        found, depth = self.player.expected(after)
        if came is None or depth == self.player.reached or agent_hooks.is_stopped(self.stop):
            return found
        self._shallow.depth, self._shallow.time = depth, None
        values = [move.value for move in self._shallow.moves(came) if move.value is not None]
        return value - (max(values, default=0.0) - found)

    def _mean_by_asking(self, after: Board) -> float:
        """Board after board."""
        total = 0.0
        for board, share in after.spawns(self.spawn4):
            if agent_hooks.is_stopped(self.stop):
                break
            total += share * self.value(board)
        return total

    def _analyzed(self, board: Board) -> list[Any]:
        """What a player of anybody's thinks, who need not know that games end."""
        if not agent_hooks.has(self.player, "analyze") or board.over:
            return []
        game = Game2048((board.rows, board.columns), self.spawn4)
        found = ask(self.player, "analyze", self.player.analyze, game.position(board))
        return found.moves if isinstance(found, Analysis) else []

    @property
    def no_values_error(self) -> str:
        """What is wrong with a judge that gives moves no value."""
        return f"{name_of(self.player)} has no values to judge by: name a run or weights"


def default_oracle(size: tuple[int, int], spawn4: float) -> tuple[str, Any]:
    """Who judges where nobody is named: what it is called, and a player or a text."""
    rows, columns = size
    if size == (4, 4):
        return DEFAULT_PLAYER, DEFAULT_PLAYER
    if rows * columns <= AT_ONCE:
        return "the exact solution", _solved(size, spawn4)
    raise UserError(
        f"no player of {rows}x{columns} comes with tuplet: name who judges, a run that has learned "
        f"it, a table of tuplet solve, or mcts:sims=1000"
    )


@lru_cache(maxsize=8)
def _solved(size: tuple[int, int], spawn4: float) -> Solution:
    return solve(size, spawn4=spawn4, progress=False)
