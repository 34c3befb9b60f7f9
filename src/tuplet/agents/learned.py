"""The player of 2048 that has learned: a network's values, and how far it looks ahead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.g2048 import Board
from tuplet.games.g2048.board import slide_values
from tuplet.games.g2048.rules import as_share, rules_for
from tuplet.search.g2048 import (
    DEEPEST,
    LeafValues,
    Workspace,
    forget,
    leaf_values,
    look,
    make_workspace,
)
from tuplet.values.downgrade import as_limit, downgraded
from tuplet.values.network import Network


@dataclass(eq=False)
class LearnedPlayer:
    """The best move by a network's values, `depth` moves ahead.

    With `time`, as many moves ahead as so many seconds a move allow (and the depth, if there is
    one). Boards with a tile of `downgrade` or more are seen lowered (see `values.downgrade`).
    `spawn4` is the share of fours that the player expects. [default: the network's]
    """

    network: Network
    name: str = "learned"
    depth: int | None = None
    time: float | None = None
    downgrade: int | None = None
    spawn4: float | None = None
    reached: int = field(default=0, init=False, repr=False)  # the depth of the last search
    _work: Workspace | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.depth is None:
            self.depth = 1 if self.time is None else DEEPEST
        if not 1 <= self.depth <= DEEPEST:
            raise ValueError(f"the depth is 1 to {DEEPEST}, not {self.depth}")
        if self.time is not None and not 0 < self.time < np.inf:
            raise ValueError(f"the time of a move is more than 0 seconds, not {self.time:g}")
        self.spawn4 = as_share(self.network.spawn4 if self.spawn4 is None else self.spawn4)
        as_limit(self.downgrade)

    @property
    def greedy(self) -> bool:
        """Whether it takes the network's best move without any search."""
        return self.depth == 1 and self.downgrade is None

    @property
    def search(self) -> tuple[LeafValues, np.int64, float]:
        """What leaves are worth, the depth and the seconds of a move, as kernels take them."""
        seconds = np.inf if self.time is None else float(self.time)
        return leaf_values(self.network, self.downgrade), np.int64(self.depth or 1), seconds

    @property
    def workspace(self) -> Workspace:
        """The search's working memory."""
        if self._work is None:
            self._work = make_workspace(self.network.m)
        return self._work

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left."""
        board, work = self.network.as_board(board), self.workspace
        values, depth, seconds = self.search
        if depth > 1:
            forget(work)  # the network may have learned since
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        self.reached = int(look(rules, values, *board.words, depth, seconds, work))
        return slide_values(work.root_rewards, work.root_values)

    def choose(self, board: object) -> str | None:
        """The move of the highest value, None if the game is over."""
        return best_of(self.moves(board))

    def fresh(self) -> LearnedPlayer:
        """The same player with working memory of its own."""
        return replace(self)

    def analyze(self, board: object) -> Analysis:
        """All four moves; one move ahead, also what each tuple says of them."""
        position, why, net = self.network.as_board(board), {}, self.network
        moves = self.moves(position)
        kind = "after-state" if net.target == "afterstate" else "states the spawn can make"
        note = f"Why: value = reward + what each tuple says of the {kind}"
        if self.depth != 1:
            ahead = "1 move" if self.reached == 1 else f"{self.reached} moves"
            note = f"{ahead} ahead, over every tile that may appear."
        else:
            why = self._why(position)
        return Analysis(
            moves, best_of(moves), note=note, depth=self.reached, points=True, why=why,
            position=position,
        )  # fmt: skip

    def _why(self, board: Board) -> dict[str, dict[str, float]]:
        """What each tuple adds to the value of each legal move."""
        why: dict[str, dict[str, float]] = {}
        for move, (slid, _) in board.after_states().items():
            shares = _contributions(self.network, downgraded(slid, self.downgrade))
            for part, worth in shares.items():
                why.setdefault(part, {})[move] = self.network.gamma * worth
        return why


def _contributions(net: Network, after: Board) -> dict[str, float]:
    """What each tuple adds to the value of an after-state."""
    if net.target == "afterstate":
        return {part.cells: part.value for part in net.explain(after)}
    expected: dict[str, float] = {}
    for state, chance in after.spawns(net.spawn4):
        for part in net.explain(state):
            worth = 0.0 if state.over else chance * part.value
            expected[part.cells] = expected.get(part.cells, 0.0) + worth
    return expected
