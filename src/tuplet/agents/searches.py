"""Searches with their settings and memory: what stands behind agents of every game.

A search is told of a new game with `open`, thinks about a position (a game's rules and two
words) and returns a move as kernels number it; `analysis` tells of its last one. While it thinks,
`progress` tells any thread how far it is, and `stop`, if it has one, ends it with what it has.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tuplet.agents import trees as seen
from tuplet.agents.bandits import bandit_from, name_of_bandit
from tuplet.games.analysis import Analysis, Deepened, MoveValue
from tuplet.games.game import MOST_MOVES, Words, meets_chance, players, same_rules, value_range
from tuplet.games.growth import Growth
from tuplet.games.life import told
from tuplet.kernel import draw
from tuplet.search import expectimax, mcts, transpositions, tree as trees
from tuplet.search.bandits import Softmax
from tuplet.system.blocks import heard
from tuplet.system.progress import Progress
from tuplet.system.settings import declared
from tuplet.system.stop import Stop

SIMS = 20_000  # a move, where nothing else is said
PIECE_S = 0.1  # seconds after which a tree search hears Ctrl-C
LOOK_S = 0.03  # seconds between two looks of somebody who watches

Look = Callable[[], object] | None  # called now and then while a search thinks, in its thread

_loaded: set[tuple[type, ...]] = set()  # kinds of games and searches that have been compiled


@dataclass
class Mcts:
    """Monte-Carlo tree search; `expand` is the simulations before a leaf gets children.

    `ucb` names the bandit of the descent: a registered one, `module:Class` or `file.py:Class` of
    one's own, or the bandit itself; `c`, `c1`, `c2` and `k` are its settings, where it has such.
    `descent_k=K` is the bandit `softmax` with `k=K`, and `final_k` is the K of exp(K * win rate)
    at the final move. `results=rich` tells kinds of wins apart. `nodes` is the size of the tree.
    Without `sims` and `time`, 20,000 simulations a move.
    """

    ucb: str | Any = "tuned"
    c: float | None = None
    c1: float | None = None
    c2: float | None = None
    results: Literal["plain", "rich"] = "plain"
    batch: int = 25
    expand: int = 200
    shortcuts: bool = True
    solver: bool = True
    reuse: bool = True
    final: Literal["rate", "visits", "lower"] = "rate"
    k: float | None = None
    descent_k: float | None = None
    final_k: float | None = None
    nodes: int = 1_000_000
    sims: int | None = None
    time: float | None = None
    state: np.uint64 = field(default=np.uint64(0), init=False)
    stop: Stop | None = field(default=None, init=False, repr=False, compare=False)
    growth: Growth | None = field(default=None, init=False, repr=False, compare=False)
    look: Look = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.sims == 0:
            raise ValueError("a move takes 1 simulation at least")
        if self.time == 0:
            raise ValueError("the time of a move is more than 0 seconds")
        if not 1 <= self.batch <= 1_000_000:
            raise ValueError("a batch has 1 to 1,000,000 simulations")
        if not 1000 <= self.nodes <= 200_000_000:
            raise ValueError("a tree has 1,000 to 200,000,000 nodes")
        self.bandit()
        self._tree: trees.Tree | None = None
        self._game: Any = None  # whose tree it is
        self._seconds = self._began = self._ended = 0.0
        self._chosen = 0
        self.interrupted = False

    def bandit(self) -> Any:
        """The bandit of the descent, with its settings."""
        given = {"c": self.c, "c1": self.c1, "c2": self.c2, "k": self.k}
        bandit = bandit_from(self.ucb, {n: float(x) for n, x in given.items() if x is not None})
        return bandit if self.descent_k is None else Softmax(self.descent_k)

    @property
    def settings(self) -> mcts.Options:
        """As kernels take them."""
        options = mcts.Options(
            self.bandit(), self.batch, self.expand, self.results == "rich", self.shortcuts,
            self.solver,
        )  # fmt: skip
        return options if self.stop is None else options._replace(stop=self.stop.flag)

    @property
    def tree(self) -> trees.Tree:
        """The tree, as it stands."""
        if self._tree is None:
            self._tree = trees.make_tree(self.nodes)
        return self._tree

    @property
    def most(self) -> int:
        """The simulations of a move."""
        return self.sims or (SIMS if self.time is None else mcts.NEVER)

    def in_full(self) -> dict[str, Any]:
        """Every setting, and the bandit's, also those that nobody named."""
        bandit = self.bandit()
        own = name_of_bandit(bandit, self.ucb)
        others = ("ucb", "c", "c1", "c2", "k", "descent_k")
        rest = {n: getattr(self, n) for n, _, _ in declared(type(self)) if n not in others}
        if self.time is None:
            rest["sims"] = self.most
        if self.expand == mcts.NEVER:
            del rest["expand"]
        told = {"ucb": own, **bandit._asdict(), **rest}
        return {name: value for name, value in told.items() if value is not None}

    def open(self, state: np.uint64) -> None:
        """Begin a game with a random stream of its own."""
        self.state, self._game = np.uint64(state), None

    def think(self, game: Any, position: Words) -> int:
        """The move to play; with `shortcuts`, at once if it is the only one or wins."""
        self.load(game, position)
        self._began = began = clock.monotonic()
        self._ended = 0.0
        tree, settings = self.tree, self.settings._replace(unit=self.unit(game, position))
        known = self.reuse and self._game is not None and same_rules(self._game, game)
        if not (known and trees.reroot(tree, position)):
            trees.reset(game, tree, position)
        self._game = game
        most = self.most
        obvious = mcts.obvious_move(game, position) if self.shortcuts else mcts.NO_MOVE
        if obvious != mcts.NO_MOVE:
            most = settings.batch  # enough to have something to say
        limit = np.inf if self.time is None else self.time
        final, looked = ("rate", "visits", "lower").index(self.final), 0.0
        longest = PIECE_S if self.look is None else LOOK_S
        while True:
            used = clock.monotonic() - began
            piece = max(min(limit - used, longest), 0.0)
            due = most if self.growth is None else min(self.growth.due, most)
            self.state = np.uint64(
                mcts.search(game, tree, settings, due, piece, np.uint64(self.state))
            )
            count = int(tree.counters[trees.SIMULATIONS])
            done = count >= most or tree.proven[trees.ROOT] != trees.UNPROVEN
            self.interrupted = told(self.stop) and not done
            done = done or used + piece >= limit or self.interrupted
            if self.growth is not None and (done or count >= due):
                points = players(game) == 1
                self.growth.add(count, seen.root_moves(tree, trees.ROOT, str, points))
            if done:
                break
            if self.look is not None and clock.monotonic() - looked >= LOOK_S:
                self._chosen = int(mcts.choose(tree, settings, final, -1.0, np.uint64(0)))
                before = clock.monotonic()
                self._seconds = before - began
                self.look()
                looked = clock.monotonic()
                began += looked - before  # to be watched costs no time
        state, bits = draw(self.state)
        self.state = np.uint64(state)
        k = -1.0 if self.final_k is None else self.final_k
        self._chosen = int(mcts.choose(tree, settings, final, k, np.uint64(bits)))
        if obvious != mcts.NO_MOVE:
            own = seen.children(tree, trees.ROOT)
            self._chosen = next(n for n in own if tree.moves[n] == obvious)
        self._ended = clock.monotonic()
        self._seconds = self._ended - began
        return int(tree.moves[self._chosen])

    def load(self, game: Any, position: Words) -> None:
        """Compile, before the clock runs: a speed is that of the search."""
        settings = self.settings._replace(batch=1)
        kind = (type(game), type(settings.bandit))
        if kind not in _loaded:
            tree = trees.make_tree(1000)
            trees.reset(game, tree, position)
            mcts.search(game, tree, settings, 0, 0.0, np.uint64(0))
            _loaded.add(kind)

    def progress(self) -> Progress:
        """How far the move under way is."""
        done = 0 if self._tree is None else int(self._tree.counters[trees.SIMULATIONS])
        used = (self._ended or clock.monotonic()) - self._began
        rate, per = done / used if done and used > 0.5 else None, "simulations/s"
        if self.sims is None and self.time is not None:
            return Progress("time", min(used, self.time), self.time, rate, per)
        return Progress("simulations", min(done, self.most), self.most, rate, per)

    def warm_up(self, game: Any, position: Words) -> None:
        """Load what only some moves need: nothing."""

    def unit(self, game: Any, position: Words) -> float:
        """What a result of 1 is: in a game that counts points, what random play earns."""
        if players(game) != 1:
            return 1.0
        return max(float(mcts.mean_result(game, position, 25, self.state)), 1.0)

    def analysis(self, text_of: Callable[[int], str]) -> Analysis:
        """Of the last move; `text_of` writes a move as text."""
        tree = self._tree
        if tree is None or self._game is None:
            return Analysis(note="no thoughts yet")
        points = players(self._game) == 1
        moves = seen.root_moves(tree, self._chosen, text_of, points)
        line = seen.main_line(tree, self._chosen, text_of)
        sims, used = tree.counters[trees.SIMULATIONS], tree.counters[trees.USED]
        asked = f" of {self.most:,}" if self.interrupted and self.most != mcts.NEVER else ""
        full = ", tree full" if tree.counters[trees.FULL] else ""
        note = f"{sims:,}{asked} simulations in {self._seconds:.2f} s, {used:,} nodes{full}"
        return Analysis(
            moves, line[0], line, note, points=points, interrupted=self.interrupted,
            growth=None if self.growth is None else self.growth.named(text_of),
        )  # fmt: skip


@dataclass
class Mcs(Mcts):
    """Monte-Carlo search: the same bandit over the moves of the position itself, no tree."""

    expand: int = mcts.NEVER
    nodes: int = 1000


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
            raise ValueError(f"the depth is 1 to {expectimax.DEEPEST - 1}, not {self.depth}")
        if self.time == 0:
            raise ValueError("the time of a move is more than 0 seconds")
        if self.nodes is not None and self.nodes < 1:
            raise ValueError("a search looks at 1 node at least")
        if not 2 <= self.table <= 28:
            raise ValueError("table=N has 2^N entries, N from 2 to 28")
        self._work: expectimax.Workspace | None = None
        self._asked: tuple[Any, Words] | None = None
        self._move, self.value, self.proven, self._depth = 0, 0.0, False, 0
        self._nodes, self._deepest, self.interrupted = 0, 0, False
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

    def in_full(self, position: Any = None) -> dict[str, Any]:
        """Every setting, also those that nobody named; the depth may depend on the game."""
        told = {name: getattr(self, name) for name, _, _ in declared(type(self))}
        if self.unlimited and position is not None:  # where nature acts now it does later, too
            rules, words = position.rules, position.as_words()
            told["depth"] = 4 if position.is_chance else self.usual_depth(rules, words)
        return {name: value for name, value in told.items() if value is not None}

    @property
    def stopped_by_time(self) -> bool:
        """Whether the last search might have gone on but for the time."""
        return (
            bool(self.work.counters[expectimax.STOPPED])
            and (self.nodes is None or self.work.counters[expectimax.NODES] < self.nodes)
            and not told(self.stop)
        )

    def open(self, state: np.uint64) -> None:  # noqa: ARG002  # nothing here is random
        """Begin a game: forget the last one."""
        self.work.table[:] = np.zeros(1, transpositions.ENTRY)
        self.work.history[:] = 0
        self._asked = None

    def think(self, game: Any, position: Words) -> int:
        """The move to play."""
        return self.search(game, position, self.time)

    def search(self, game: Any, position: Words, seconds: float | None) -> int:
        """The move to play, found in so many seconds; adds to an earlier search of it."""
        self.load(game, position)
        self._began, self._ended = clock.monotonic(), 0.0
        if self._asked is not None and not same_rules(self._asked[0], game):
            self.open(self.state)  # another known die, say: nothing remembered holds
        deepest = self.depth or expectimax.DEEPEST - 1
        if self.unlimited and seconds is None:
            deepest = self.usual_depth(game, position)
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
        move, value, depth = heard(
            work.stop, expectimax.deepen, game, position, deepest, max(seconds, 0.0),
            self.nodes or 1 << 62, work,
        )  # fmt: skip
        self._nodes += int(work.counters[expectimax.NODES])
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
        kind = (type(game), AlphaBeta)
        if kind not in _loaded:
            work, values = expectimax.make_workspace(2), np.zeros(MOST_MOVES)
            expectimax.deepen(game, position, 0, 0.0, 1 << 62, work)
            codes, proven = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES, np.bool_)
            expectimax.move_values(game, position, 1, work, codes, values, proven)
            _loaded.add(kind)

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

    def usual_depth(self, game: Any, position: Words) -> int:
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
            for code, (value, sure) in sorted(
                worth.items(), key=lambda w: (w[0] != self._move, -w[1][0])
            )
        ]
        depths = [
            Deepened(depth, scaled(value), sure, [text_of(code) for code in line])
            for depth, value, sure, line in self._depths
        ]
        asked = f" of {self._deepest}" if self.interrupted and self.time is None else ""
        note = f"depth {self._depth}{asked}, {self._nodes:,} nodes in {self._seconds:.2f} s"
        note += f"; other moves at depth {shallow}" if len(worth) > 1 else ""
        told = [text_of(code) for code in self._line()]
        return Analysis(
            moves, told[0], told, note, points=points, interrupted=self.interrupted, depths=depths
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
        for depth in (max(min(self._depth, self.usual_depth(game, position)), 1), 1):
            count = heard(
                work.stop, expectimax.move_values, game, position, depth, work, codes, values,
                proven,
            )  # fmt: skip
            if not work.counters[expectimax.STOPPED]:  # depth 1 takes no time
                break
        found = zip(codes[:count], values, proven, strict=False)
        return depth, {int(code): (float(value), bool(sure)) for code, value, sure in found}

    @property
    def best_is_taken(self) -> bool:
        """Whether the last move is the one that was valued."""
        return True
