"""Agents of 2048 with learned values: a network, and how far it looks ahead."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.registry import unknown_agent
from tuplet.agents.searchers import make_searcher
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.exact.solution import Solution, is_solution
from tuplet.games.agent_hooks import is_stopped
from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.g2048 import Board
from tuplet.games.g2048.board import slide_values
from tuplet.games.g2048.rules import as_share, rules_for
from tuplet.kernel import now
from tuplet.search.g2048 import (
    DEADLINE,
    DEEPEST,
    LOOKED,
    MARGIN,
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
from tuplet.system.settings import from_text, prefix_errors
from tuplet.system.stop import Stop
from tuplet.values.downgrade import downgrade_board, downgrade_limit
from tuplet.values.network import Network
from tuplet.values.players import is_bundled
from tuplet.values.tables import index_type

LONG = 4  # the depth from which on a search may take so long that Ctrl-C must be run_interruptible
FOREVER = 1e9  # seconds
AHEAD = "looking ahead"  # beside the tuples, in an analysis


Load = Callable[[Path], Network]  # reads the weight file or run folder that a text names


@dataclass(eq=False)
class LearnedAgent:
    """The best move by a network's values, `depth` moves ahead.

    With `time`, as many moves ahead as this many seconds per move allow, up to `depth`. Boards with
    a tile of `downgrade` or more are seen lowered (see `values.downgrade`). `spawn4` is the share of
    fours that the agent expects. [default: the network's]
    """

    network: Network
    name: str = "learned"
    depth: int | None = None
    time: float | None = None
    downgrade: int | None = None
    spawn4: float | None = None
    reached: int = field(default=0, init=False, repr=False)  # the depth of the last search
    stop: Stop | None = field(default=None, init=False, repr=False)  # ends the search when set
    on_update: Callable[[Analysis], object] | None = field(default=None, init=False, repr=False)
    _work: Workspace | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network):
            raise UserError(f"{self.name} holds values of {self.network.game.name}, not of 2048")
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
        """Whether it takes the network's best move without search."""
        return self.depth == 1 and self.downgrade is None

    @property
    def search(self) -> tuple[LeafValues, np.int64, float]:
        """Leaf values, depth and seconds per move, as kernels take them."""
        seconds, timed = np.inf if self.time is None else float(self.time), self.time is not None
        values = leaf_values(self.network, self.downgrade, MARGIN if timed else np.inf)
        return values, np.int64(self.depth or 1), seconds

    @property
    def workspace(self) -> Workspace:
        """The search's working memory."""
        if self._work is None:
            index = index_type(self.network.weights)
            self._work = make_workspace(self.network.m, index=index)
        return self._work if self.stop is None else self._work._replace(stop=self.stop.flag)

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings by name."""
        values = {name: getattr(self, name) for name in ("depth", "time", "downgrade", "spawn4")}
        return {name: value for name, value in values.items() if value is not None}

    def with_options(
        self,
        depth: int | None = None,
        time: float | None = None,
        downgrade: int | None = None,
        spawn4: float | None = None,
    ) -> LearnedAgent:
        """The same network with other settings, where they are given; its own memory."""
        if depth is None and time is None:
            depth, time = self.depth, self.time
        downgrade = self.downgrade if downgrade is None else downgrade
        return replace(
            self, depth=depth, time=time, downgrade=downgrade, spawn4=self.spawn4 if spawn4 is None else spawn4
        )

    def as_board(self, position: Any) -> Board:
        """A board of the network's size, from a position or anything `Board` takes."""
        return self.network.as_board(getattr(position, "board", position))

    def moves(self, board: object, *, deepening: bool = False) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left.

        A search that is stopped returns the values of depth 1; with `deepening`, which takes a
        little longer, those of the last completed depth (`reached`).
        """
        board, work = self.as_board(board), self.workspace
        values, depth, seconds = self.search
        if depth > 1:
            forget(work)  # the network may have learned since
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        self._began = clock.monotonic()
        seconds = min(seconds, FOREVER) if deepening else seconds
        arguments = (rules, values, *board.packed, depth, seconds, work)
        self.reached = int(
            search_root(*arguments) if depth < LONG else run_interruptible(work.stop, search_root, *arguments)
        )
        return slide_values(work.root_rewards, work.root_values)

    def expected(self, after: Board) -> tuple[float, int]:
        """The expected value of an after-state over all tiles, and the depth it was searched to.

        The depth is this agent's, or with `time` as deep as that allows.
        """
        board, work = self.as_board(after), self.workspace
        values, deepest, seconds = self.search
        forget(work)
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        work.clock[DEADLINE], work.clock[STOPPED] = now() + seconds, 0.0
        expected, reached = 0.0, 0
        for depth in range(1 if seconds < np.inf else int(deepest), int(deepest) + 1):
            arguments = (rules, values, *board.packed, np.int64(depth), work)
            value = (
                chance_value(*arguments) if deepest < LONG else run_interruptible(work.stop, chance_value, *arguments)
            )
            if work.clock[STOPPED] > 0.0:
                break
            expected, reached = float(value), depth
        return expected, reached

    def progress(self) -> Progress:
        """How far the search under way is."""
        clocks = np.zeros(4) if self._work is None else self._work.clock
        searched, reached = int(clocks[LOOKED]), int(clocks[REACHED])
        used = clock.monotonic() - self._began
        rate, per = searched / used if searched and used > 0.5 else None, "boards looked ahead from/s"
        if self.time is not None:
            return Progress("time", min(used, self.time), self.time, rate, per, {"depth": str(reached)})
        return Progress("boards", searched, None, rate, per, {"depth": f"{reached} of {self.depth}"})

    def choose(self, position: object) -> str | None:
        """The move of the highest value, None if the game is over."""
        return best_of(self.moves(position))

    def fresh(self) -> LearnedAgent:
        """The same agent with its own working memory."""
        return replace(self)

    def analyze(self, position: object) -> Analysis:
        """All four moves, and each tuple's contribution to their values.

        Contributions are of the board after the move. The change by looking further ahead has a
        line of its own, so that a move's figures always add up to its value.
        """
        board, net = self.as_board(position), self.network
        for depth in range(1, self.depth or 1) if self.on_update is not None and not self.time else ():
            if self.on_update is not None and not is_stopped(self.stop):
                self.on_update(replace(self, depth=depth).analyze(position))
        moves = self.moves(board, deepening=True)
        kind = "after-state" if net.target == "afterstate" else "states the spawn can make"
        note, why = f"Why: value = reward + what each tuple says of the {kind}", self._why(board)
        if self.reached > 1:
            less = "" if self.time is None or self.reached < 3 else " (one less behind a 4, and not after bad moves)"
            note = (
                f"{self.reached} moves ahead{less}, over every tile that may appear.\n{note} + "
                "what looking further ahead changes"
            )
            why[AHEAD] = {
                m.move: m.value - m.reward - sum(part[m.move] for part in why.values())
                for m in moves
                if m.value is not None
            }
        return Analysis(
            moves,
            best_of(moves),
            note=note,
            depth=self.reached,
            points=True,
            why=why,
            position=position if hasattr(position, "board") else board,
            interrupted=is_stopped(self.stop) and self.reached < (self.depth or 1),
        )

    def _why(self, board: Board) -> dict[str, dict[str, float]]:
        """The contribution of each tuple to the value of each legal move."""
        why: dict[str, dict[str, float]] = {}
        for move, (slid, _) in board.after_states().items():
            shares = _contributions(self.network, downgrade_board(slid, self.downgrade))
            for part, value in shares.items():
                why.setdefault(part, {})[move] = self.network.gamma * value
        return why


def _contributions(net: Network, after: Board) -> dict[str, float]:
    """The contribution of each tuple to the value of an after-state."""
    if net.target == "afterstate":
        return {part.cells: part.value for part in net.explain(after)}
    expected: dict[str, float] = {}
    for state, probability in after.spawns(net.spawn4):
        for part in net.explain(state):
            value = 0.0 if state.over else probability * part.value
            expected[part.cells] = expected.get(part.cells, 0.0) + value
    return expected


@dataclass
class _Lookahead:
    """The settings of `expectimax:values=...`."""

    values: str = ""
    depth: int | None = None
    time: float | None = None
    downgrade: int | None = None


def make_expectimax(spec: Spec, game: Any, *, entry: Any, load: Load | None = None, **_: Any) -> Any:
    """The agent of `expectimax:depth=3`, or of `expectimax:values=RUN,depth=3` with learned values."""
    if "values" not in spec.settings:
        return make_searcher(spec, game, entry=entry)
    options = from_text(_Lookahead, spec.settings, spec.text)
    depth = 2 if options.depth is None and options.time is None else options.depth
    network = (load or Network.load)(spec.path(options.values))
    with prefix_errors(spec.text):
        return LearnedAgent(network, spec.text, depth, options.time, options.downgrade)


def load_agent(spec: Spec, load: Load | None = None) -> LearnedAgent | Solution:
    """The agent of a shipped player, a run folder, a weight file, or the table of an exact solution."""
    path = spec.path(spec.text)
    try:
        if path.is_file() and is_solution(path):
            return Solution.load(path)
        return LearnedAgent((load or Network.load)(path), Path(spec.text).name)
    except FileNotFoundError as error:
        if is_bundled(path):  # its message says how to download it
            raise
        raise unknown_agent(spec, "2048", str(error)) from None
