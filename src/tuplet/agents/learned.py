"""The player of 2048 that has learned: a network's values, and how far it looks ahead."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tuplet.errors import UserError
from tuplet.games.agent_hooks import told
from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.g2048 import Board
from tuplet.games.g2048.board import slide_values
from tuplet.games.g2048.rules import as_share, rules_for
from tuplet.kernel import now
from tuplet.search.g2048 import (
    DEADLINE,
    DEEPEST,
    LOOKED,
    REACHED,
    STOPPED,
    LeafValues,
    Workspace,
    chance_value,
    forget,
    leaf_values,
    make_workspace,
    search_root,
)
from tuplet.system.blocks import run_interruptible
from tuplet.system.progress import Progress
from tuplet.system.stop import Stop
from tuplet.values.downgrade import downgrade_board, downgrade_limit
from tuplet.values.network import Network
from tuplet.values.tables import index_type

LONG = 4  # the depth from which on a search may take so long that Ctrl-C must be run_interruptible
FOREVER = 1e9  # seconds
AHEAD = "looking ahead"  # beside the tuples, in an analysis


@dataclass(eq=False)
class LearnedAgent:
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
    stop: Stop | None = field(default=None, init=False, repr=False)  # ends a search, if it is set
    look: Callable[[Analysis], object] | None = field(default=None, init=False, repr=False)
    _work: Workspace | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.depth is None:
            self.depth = 1 if self.time is None else DEEPEST
        if not 1 <= self.depth <= DEEPEST:
            raise UserError(f"depth must be 1 to {DEEPEST} (got {self.depth})")
        if self.time is not None and not 0 < self.time < np.inf:
            raise UserError(f"time must be more than 0 seconds (got {self.time:g})")
        self._began = 0.0
        self.spawn4 = as_share(self.network.spawn4 if self.spawn4 is None else self.spawn4)
        downgrade_limit(self.downgrade)

    @property
    def greedy(self) -> bool:
        """Whether it takes the network's best move without any search."""
        return self.depth == 1 and self.downgrade is None

    @property
    def search(self) -> tuple[LeafValues, np.int64, float]:
        """What leaves are worth, the depth and the seconds of a move, as kernels take them."""
        seconds, timed = np.inf if self.time is None else float(self.time), self.time is not None
        values = leaf_values(self.network, self.downgrade, reduce_after_four=timed)
        return values, np.int64(self.depth or 1), seconds

    @property
    def workspace(self) -> Workspace:
        """The search's working memory."""
        if self._work is None:
            index = index_type(self.network.weights)
            self._work = make_workspace(self.network.m, index=index)
        return self._work if self.stop is None else self._work._replace(stop=self.stop.flag)

    def moves(self, board: object, *, deepening: bool = False) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left.

        By depth, a search that is stopped has the values of depth 1; `deepening`, which takes a
        little longer, those of the last depth that it finished. `reached` tells.
        """
        board, work = self.network.as_board(board), self.workspace
        values, depth, seconds = self.search
        if depth > 1:
            forget(work)  # the network may have learned since
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        self._began = clock.monotonic()
        seconds = min(seconds, FOREVER) if deepening else seconds
        asked = (rules, values, *board.packed, depth, seconds, work)
        self.reached = int(search_root(*asked) if depth < LONG else run_interruptible(work.stop, search_root, *asked))
        return slide_values(work.root_rewards, work.root_values)

    def expected(self, after: Board) -> tuple[float, int]:
        """What a board that a tile makes of an after-state is worth: the mean over all tiles.

        Each is worth the value of its best move, by the depth that is returned as well: this
        player's, or with `time` as deep as so many seconds allow.
        """
        board, work = self.network.as_board(after), self.workspace
        values, deepest, seconds = self.search
        forget(work)
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        work.clock[DEADLINE], work.clock[STOPPED] = now() + seconds, 0.0
        found, reached = 0.0, 0
        for depth in range(1 if seconds < np.inf else int(deepest), int(deepest) + 1):
            asked = (rules, values, *board.packed, np.int64(depth), work)
            value = chance_value(*asked) if deepest < LONG else run_interruptible(work.stop, chance_value, *asked)
            if work.clock[STOPPED] > 0.0:
                break
            found, reached = float(value), depth
        return found, reached

    def progress(self) -> Progress:
        """How far the search under way is."""
        clocks = np.zeros(4) if self._work is None else self._work.clock
        looked, reached = int(clocks[LOOKED]), int(clocks[REACHED])
        used = clock.monotonic() - self._began
        rate, per = looked / used if looked and used > 0.5 else None, "boards looked ahead from/s"
        if self.time is not None:
            told = {"depth": str(reached)}
            return Progress("time", min(used, self.time), self.time, rate, per, told)
        return Progress("boards", looked, None, rate, per, {"depth": f"{reached} of {self.depth}"})

    def choose(self, board: object) -> str | None:
        """The move of the highest value, None if the game is over."""
        return best_of(self.moves(board))

    def fresh(self) -> LearnedAgent:
        """The same player with working memory of its own."""
        return replace(self)

    def analyze(self, board: object) -> Analysis:
        """All four moves, and what each tuple says of them.

        Tuples speak of the board after the move. What looking further ahead makes of it has a
        line of its own, so that a move's figures always add up to its value.
        """
        position, net = self.network.as_board(board), self.network
        for depth in range(1, self.depth or 1) if self.look is not None and not self.time else ():
            if self.look is not None and not told(self.stop):
                self.look(replace(self, depth=depth).analyze(position))
        moves = self.moves(position, deepening=True)
        kind = "after-state" if net.target == "afterstate" else "states the spawn can make"
        note, why = f"Why: value = reward + what each tuple says of the {kind}", self._why(position)
        if self.reached > 1:
            less = "" if self.time is None or self.reached < 3 else " (one less behind a 4)"
            note = (
                f"{self.reached} moves ahead{less}, over every tile that may appear.\n{note} + "
                "what looking further ahead changes"
            )
            why[AHEAD] = {
                m.move: m.value - m.reward - sum(part[m.move] for part in why.values())
                for m in moves
                if m.value is not None
            }
        cut = told(self.stop) and self.reached < (self.depth or 1)
        return Analysis(
            moves,
            best_of(moves),
            note=note,
            depth=self.reached,
            points=True,
            why=why,
            position=position,
            interrupted=cut,
        )

    def _why(self, board: Board) -> dict[str, dict[str, float]]:
        """What each tuple adds to the value of each legal move."""
        why: dict[str, dict[str, float]] = {}
        for move, (slid, _) in board.after_states().items():
            shares = _contributions(self.network, downgrade_board(slid, self.downgrade))
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
