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

from tuplet.agents import tree_report as seen
from tuplet.agents.bandits import bandit_from, name_of_bandit
from tuplet.errors import UserError
from tuplet.games.agent_hooks import told
from tuplet.games.analysis import Analysis
from tuplet.games.protocol import Words, players, same_rules
from tuplet.games.search_history import SearchHistory
from tuplet.kernel import draw
from tuplet.search import mcts, tree as trees
from tuplet.search.bandits import Softmax
from tuplet.search.transpositions import NO_MOVE
from tuplet.system.progress import Progress
from tuplet.system.settings import setting_fields
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
    growth: SearchHistory | None = field(default=None, init=False, repr=False, compare=False)
    look: Look = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.sims == 0:
            raise UserError("a move takes 1 simulation at least")
        if self.time == 0:
            raise UserError(f"time must be more than 0 seconds (got {self.time:g})")
        if not 1 <= self.batch <= 1_000_000:
            raise UserError("a batch has 1 to 1,000,000 simulations")
        if not 1000 <= self.nodes <= 200_000_000:
            raise UserError("a tree has 1,000 to 200,000,000 nodes")
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
            self.bandit(), self.batch, self.expand, self.results == "rich", self.shortcuts, self.solver
        )
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

    def all_settings(self) -> dict[str, Any]:
        """Every setting, and the bandit's, also those that nobody named."""
        bandit = self.bandit()
        own = name_of_bandit(bandit, self.ucb)
        others = ("ucb", "c", "c1", "c2", "k", "descent_k")
        rest = {n: getattr(self, n) for n, _, _ in setting_fields(type(self)) if n not in others}
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
        obvious = mcts.obvious_move(game, position) if self.shortcuts else NO_MOVE
        if obvious != NO_MOVE:
            most = settings.batch  # enough to have something to say
        limit = np.inf if self.time is None else self.time
        final, looked = ("rate", "visits", "lower").index(self.final), 0.0
        longest = PIECE_S if self.look is None else LOOK_S
        while True:
            used = clock.monotonic() - began
            piece = max(min(limit - used, longest), 0.0)
            due = most if self.growth is None else min(self.growth.due, most)
            self.state = np.uint64(mcts.search(game, tree, settings, due, piece, np.uint64(self.state)))
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
        if obvious != NO_MOVE:
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
            moves,
            line[0],
            line,
            note,
            points=points,
            interrupted=self.interrupted,
            growth=None if self.growth is None else self.growth.named(text_of),
        )


@dataclass
class Mcs(Mcts):
    """Monte-Carlo search: the same bandit over the moves of the position itself, no tree."""

    expand: int = mcts.NEVER
    nodes: int = 1000
