"""Alpha-beta with its settings and memory; a search as `searches.py` describes them."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tuplet.agents.searches import LOOK_S, Look
from tuplet.errors import UserError
from tuplet.games.agent_hooks import told
from tuplet.games.analysis import Analysis, DepthResult, MoveValue
from tuplet.games.protocol import MOST_MOVES, Words, meets_chance, players, same_rules, value_range
from tuplet.search import expectimax, transpositions
from tuplet.system.blocks import run_interruptible
from tuplet.system.progress import Progress
from tuplet.system.settings import setting_fields
from tuplet.system.stop import Stop

_loaded: set[type] = set()  # kinds of games that have been compiled


@dataclass
class AlphaBeta:
    """Alpha-beta with iterative deepening; expectimax with Star1 pruning where there is chance.

    Stops at `depth` moves, after `time` seconds or after `nodes` positions, whichever comes
    first; without any of them at depth 10 (4 where there is chance). The table has 2^`table`
    entries of 16 bytes. `reduce` searches late moves less deeply: further, but not everything.
    """

    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    table: int = 20
    reduce: bool = False
    state: np.uint64 = field(default=np.uint64(0), init=False)  # nothing here is random
    stop: Stop | None = field(default=None, init=False, repr=False, compare=False)
    look: Look = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth < expectimax.DEEPEST:
            raise UserError(f"depth must be 1 to {expectimax.DEEPEST - 1} (got {self.depth})")
        if self.time == 0:
            raise UserError(f"time must be more than 0 seconds (got {self.time:g})")
        if self.nodes is not None and self.nodes < 1:
            raise UserError("a search looks at 1 node at least")
        if not 2 <= self.table <= 28:
            raise UserError("table=N has 2^N entries, N from 2 to 28")
        self._work: expectimax.Workspace | None = None
        self._asked: tuple[Any, Words] | None = None
        self._move, self.value, self.proven, self._depth = 0, 0.0, False, 0
        self._nodes, self._deepest, self.interrupted = 0, 0, False
        self._spent = 0  # of the nodes that the move under way may take
        self._depths: list[tuple[int, float, bool, list[int]]] = []  # if somebody watches
        self._seconds = self._began = self._ended = 0.0

    @property
    def work(self) -> expectimax.Workspace:
        """The search's memory."""
        if self._work is None:
            self._work = expectimax.make_workspace(self.table, self.reduce)
        return self._work if self.stop is None else self._work._replace(stop=self.stop.flag)

    @property
    def unlimited(self) -> bool:
        """Whether no limit is set."""
        return self.depth is None and self.time is None and self.nodes is None

    def all_settings(self, position: Any = None) -> dict[str, Any]:
        """Every setting, also those that nobody named; the depth may depend on the game."""
        told = {name: getattr(self, name) for name, _, _ in setting_fields(type(self))}
        if self.unlimited and position is not None:  # where nature acts now it does later, too
            rules, words = position.rules, position.words
            told["depth"] = 4 if position.is_chance else self.default_depth(rules, words)
        return {name: value for name, value in told.items() if value is not None}

    @property
    def stopped_by_time(self) -> bool:
        """Whether the last search might have gone on but for the time."""
        return (
            bool(self.work.counters[expectimax.STOPPED])
            and (self.nodes is None or self._spent < self.nodes)
            and not told(self.stop)
        )

    def open(self, state: np.uint64) -> None:  # noqa: ARG002  # nothing here is random
        """Begin a game: forget the last one."""
        self.work.table[:] = np.zeros(1, transpositions.ENTRY)
        self.work.history[:] = 0
        self._asked = None

    def think(self, game: Any, position: Words) -> int:
        """The move to play."""
        self._spent = 0
        return self.search(game, position, self.time)

    def search(self, game: Any, position: Words, seconds: float | None) -> int:
        """The move to play, found in so many seconds; adds to an earlier search of it."""
        self.load(game, position)
        self._began, self._ended = clock.monotonic(), 0.0
        if self._asked is not None and not same_rules(self._asked[0], game):
            self.open(self.state)  # another known die, say: nothing remembered holds
        deepest = self.depth or expectimax.DEEPEST - 1
        if self.unlimited and seconds is None:
            deepest = self.default_depth(game, position)
        self._deepest = deepest
        if self._asked is None or self._asked[1] != position:
            self._nodes, self._seconds = 0, 0.0
            self._depth, self._depths = 0, []
        self._asked, looked = (game, position), 0.0
        seconds = np.inf if seconds is None else seconds
        for limit in range(1, deepest) if self.look is not None else ():
            left = seconds - (clock.monotonic() - self._began)
            if not self._deepen(game, position, limit, left):
                return self._move
            self._depths.append((limit, self.value, self.proven, self._line()))
            before = clock.monotonic()
            if self.look is not None and before - looked >= LOOK_S:
                self.look()
                looked = clock.monotonic()
                self._began += looked - before  # to be watched costs no time
        self._deepen(game, position, deepest, seconds - (clock.monotonic() - self._began))
        return self._move

    def _deepen(self, game: Any, position: Words, deepest: int, seconds: float) -> bool:
        """Search so deep, in so many seconds; whether there is any sense in going on."""
        work, began = self.work, clock.monotonic()
        move, value, depth = run_interruptible(
            work.stop,
            expectimax.iterative_deepening,
            game,
            position,
            deepest,
            max(seconds, 0.0),
            max((self.nodes or 1 << 62) - self._spent, 0),
            work,
        )
        self._nodes += int(work.counters[expectimax.NODES])
        self._spent += int(work.counters[expectimax.NODES])
        self._ended = clock.monotonic()
        self._seconds += self._ended - began
        stopped = bool(work.counters[expectimax.STOPPED])
        self.interrupted = told(self.stop) and stopped
        if stopped and self.look is not None and deepest > 1 and depth < self._depth:
            return False  # it began anew, and did not come as far as the search before
        self.value, self._depth = float(value), int(depth)
        self.proven = bool(work.counters[expectimax.PROVEN])
        self.take(int(move))
        return not (stopped or self.proven)

    def load(self, game: Any, position: Words) -> None:
        """Compile, before the clock runs: a speed is that of the search."""
        if type(game) not in _loaded:
            work, values = expectimax.make_workspace(2), np.zeros(MOST_MOVES)
            expectimax.iterative_deepening(game, position, 0, 0.0, 1 << 62, work)
            codes, proven = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES, np.bool_)
            expectimax.move_values(game, position, 1, work, codes, values, proven)
            _loaded.add(type(game))

    def progress(self) -> Progress:
        """How far the move under way is."""
        counters = np.zeros(6, np.int64) if self._work is None else self._work.counters
        nodes, reached = int(counters[expectimax.NODES]), int(counters[expectimax.REACHED])
        used = (self._ended or clock.monotonic()) - self._began
        rate, per = nodes / used if nodes and used > 0.5 else None, "positions/s"
        limited = f" of {self._deepest}" if self.depth or self.unlimited else ""
        told = {"depth": f"{reached}{limited}"}
        if self.time is not None:
            return Progress("time", min(used, self.time), self.time, rate, per, told)
        return Progress("positions", nodes, self.nodes, rate, per, told)

    def warm_up(self, game: Any, position: Words) -> None:
        """Load what only some moves need: nothing."""

    def take(self, move: int) -> int:
        """Note the move that is played."""
        self._move = move
        return move

    def default_depth(self, game: Any, position: Words) -> int:
        """The depth where none is given."""
        return 4 if meets_chance(game, position) else 10

    def analysis(self, text_of: Callable[[int], str]) -> Analysis:
        """Of the last move: its value, those of the others by a glance, and the main line."""
        if self._asked is None:
            return Analysis(note="no thoughts yet")
        game, position = self._asked
        shallow, worth = self._glance(game, position)
        points, (low, high) = players(game) == 1, value_range(game)
        if self.best_is_taken:
            worth[self._move] = top, sure = self.value, self.proven
            if sure:  # no other move is better, however promising at less depth
                worth = {m: (min(v, top), s or top == low) for m, (v, s) in worth.items()}

        def scaled(value: float) -> float:
            return value if points else (value - low) / (high - low)

        moves = [
            MoveValue(text_of(code), scaled(value), proven=sure)
            for code, (value, sure) in sorted(worth.items(), key=lambda w: (w[0] != self._move, -w[1][0]))
        ]
        depths = [
            DepthResult(depth, scaled(value), sure, [text_of(code) for code in line])
            for depth, value, sure, line in self._depths
        ]
        asked = f" of {self._deepest}" if self.interrupted and self.time is None else ""
        note = f"depth {self._depth}{asked}, {self._nodes:,} nodes in {self._seconds:.2f} s"
        note += f"; other moves at depth {shallow}" if len(worth) > 1 else ""
        told = [text_of(code) for code in self._line()]
        return Analysis(
            moves,
            told[0],
            told,
            note,
            depth=self._depth,
            other_depth=shallow if len(worth) > 1 and shallow < self._depth else None,
            points=points,
            interrupted=self.interrupted,
            depths=depths,
        )

    def _line(self) -> list[int]:
        """The main line of the last search, the move that is played first."""
        assert self._asked is not None
        line = np.zeros(max(self._depth, 1), np.uint8)
        length = transpositions.main_line(*self._asked, self._move, self.work.table, line)
        return [int(code) for code in line[:length]]

    def _glance(self, game: Any, position: Words) -> tuple[int, dict[int, tuple[float, bool]]]:
        """A depth, and what each move is worth there, and whether that is proven."""
        codes, values = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES)
        proven = np.zeros(MOST_MOVES, np.bool_)
        # What has been searched so far must not change.
        work = expectimax.make_workspace(12)._replace(stop=self.work.stop)
        for depth in (max(min(self._depth, self.default_depth(game, position)), 1), 1):
            count = run_interruptible(
                work.stop, expectimax.move_values, game, position, depth, work, codes, values, proven
            )
            if not work.counters[expectimax.STOPPED]:  # depth 1 takes no time
                break
        found = zip(codes[:count], values, proven, strict=False)
        return depth, {int(code): (float(value), bool(sure)) for code, value, sure in found}

    @property
    def best_is_taken(self) -> bool:
        """Whether the last move is the one that was valued."""
        return True
