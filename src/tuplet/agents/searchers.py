"""Searches with their settings and memory, and `Searcher`, the agent that plays by one.

A search thinks about a position (a game's rules and two words) and returns the number of a move;
`analysis` describes its last search. While it thinks, any thread may ask for its `progress`; `stop`
ends it early with the best move so far.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tuplet.agents import tree_report
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games.agent_hooks import is_stopped
from tuplet.games.analysis import Analysis, DepthResult, MoveValue
from tuplet.games.protocol import MOST_MOVES, Words, meets_chance, players, same_rules, side, value_range
from tuplet.games.search_history import SearchHistory
from tuplet.games.tree import MOST_NODES, TreeView
from tuplet.kernel import draw, stream
from tuplet.search import expectimax, mcts, proofs, transpositions, tree as trees
from tuplet.search.bandits import BANDITS, KINDS, Softmax
from tuplet.search.transpositions import NO_MOVE
from tuplet.system.blocks import run_interruptible
from tuplet.system.progress import Progress
from tuplet.system.settings import from_text, setting_fields
from tuplet.system.stop import Stop
from tuplet.system.user_code import find, names_code

SIMS = 20_000  # per move, by default
SLICE_S = 0.1  # seconds after which a tree search notices Ctrl-C
UPDATE_S = 0.03  # seconds between two calls of `on_update`
PROOF_NODES = 1_000_000  # positions, at least, to find out how long wins and losses take

_compiled: set[tuple[type, ...]] = set()  # types of rules and bandits


@dataclass
class Search:
    """What all searches have in common.

    A search has `open(state)`, `think(rules, words)`, `analysis(position)`, `progress()` and
    `load(rules, words)`, which compiles it before the clock runs.
    """

    state: np.uint64 = field(default=np.uint64(0), init=False)  # of the random stream
    stop: Stop | None = field(default=None, init=False, repr=False, compare=False)
    on_update: Callable[[], object] | None = field(default=None, init=False, repr=False, compare=False)
    network: Any = field(default=None, init=False, repr=False, compare=False)  # the learned values, once loaded

    def __post_init__(self) -> None:
        self._seconds = self._began = self._ended = 0.0
        self.interrupted = False
        self._valued: Any = None  # the rules of the last search with learned values

    def copy(self) -> Any:
        """The same search with its own memory; learned values are shared."""
        copied = replace(self)
        copied.network = self.network
        return copied

    def game(self, rules: Any) -> Any:
        """The rules as kernels take them: with learned values as estimates, if there are some."""
        if self.network is None:
            return rules
        if self._valued is None or self._valued.rules is not rules:
            from tuplet.values.game_network import valued_game

            self._valued = valued_game(rules, self.network)
        return self._valued

    def all_settings(self, position: Any = None) -> dict[str, Any]:
        """Every setting, including defaults; some depend on the game of `position`."""
        raise NotImplementedError

    def warm_up(self, rules: Any, position: Words) -> None:
        """Compile what only some moves need."""

    def _progress(self, unit: str, done: int, total: int | None, limit: float | None, **figures: str) -> Progress:
        used = (self._ended or clock.monotonic()) - self._began
        rate = done / used if done and used > 0.5 else None
        if limit is not None:
            return Progress("time", min(used, limit), limit, rate, f"{unit}/s", figures)
        return Progress(unit, done, total, rate, f"{unit}/s", figures)


def search_from(kind: type[Any], spec: Spec, settings: str | None = None) -> Any:
    """A search with the settings of a text, or with others; only a trusted text may name a bandit's code."""
    if ":" in spec.settings:
        spec.needs_trust("a bandit")
    return from_text(kind, spec.settings if settings is None else settings, spec.text)


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that are set, as they are shown."""
    shown = {name: value for name, value in settings.items() if value is not None and value != ""}
    return shown | ({"values": str(shown["values"])} if "values" in shown else {})


def load_values(search: Any, game: Any, path: Callable[[str], Path] = Path) -> Any:
    """The search with the learned values that it names, which must be of this game; `path` finds them."""
    if not search.values:
        return search
    if game.family == "2048":
        raise UserError("searches of 2048 take learned values as expectimax:values=RUN")
    from tuplet.values.game_network import GameNetwork

    known = isinstance(search.values, GameNetwork)
    search.network = search.values if known else GameNetwork.load(path(search.values), game)
    return search


def _kind(game: Any) -> tuple[type, ...]:
    """What decides whether a search is compiled for a game."""
    return type(game), type(getattr(game, "rules", None))


def bandit_from(ucb: Any, settings: dict[str, float]) -> Any:
    """A bandit from its name, its class or itself; UserError says what is wrong with it."""
    kind, name = ucb, ucb if isinstance(ucb, str) else getattr(ucb, "__name__", repr(ucb))
    if isinstance(ucb, str):
        # `search_from` has refused untrusted text: this was typed, here or in Python.
        kind = find(ucb, trusted=True) if names_code(ucb) else BANDITS.get(ucb)
    if (kind if isinstance(kind, type) else type(kind)) not in KINDS:
        known = ", ".join(BANDITS)
        raise UserError(f"ucb must be one of {known}, or a registered bandit (got {name!r})")
    for setting in settings:
        if setting not in kind._fields:
            has = " and ".join(kind._fields) or "no settings"
            raise UserError(f"{name} has no {setting}: it has {has}")
    return kind(**settings) if isinstance(kind, type) else kind._replace(**settings)


@dataclass
class Mcts(Search):
    """Monte-Carlo tree search; a leaf gets children after `expand` simulations.

    `cutoff=N` ends a random game after N moves with the game's estimate; with `cutoff=0` there are no random games:
    a leaf is expanded at once, and is worth the best estimate of its children (then `batch` is 1, `expand` 0 and
    `final` visits, unless set). `mix` is the weight, 0 to 1, of a leaf's own estimate beside its random games.
    `values=RUN` takes learned values as estimates: a run folder, a weight file or a bundled player; then `cutoff` is
    0, unless set.

    `ucb` names the bandit of the descent: a registered one, `module:Class` or `file.py:Class`, or
    the bandit itself; `c`, `c1`, `c2` and `k` are its settings, if it has them. `descent_k=K` is the
    bandit `softmax` with `k=K`; `final_k` is the K of exp(K * win rate) at the final move.
    `results=rich` distinguishes kinds of wins. `nodes` is the size of the tree. Without `sims` and
    `time`, 20,000 simulations per move.
    """

    ucb: str | Any = "tuned"
    c: float | None = None
    c1: float | None = None
    c2: float | None = None
    results: Literal["plain", "rich"] = "plain"
    batch: int | None = None
    expand: int | None = None
    cutoff: int | None = None
    mix: float = 0.0
    shortcuts: bool = True
    solver: bool = True
    reuse: bool = True
    final: Literal["rate", "visits", "lower"] | None = None
    k: float | None = None
    descent_k: float | None = None
    final_k: float | None = None
    nodes: int = 1_000_000
    sims: int | None = None
    time: float | None = None
    values: str | Any = ""
    growth: SearchHistory | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sims == 0:
            raise UserError("sims must be 1 or more (got 0)")
        if self.time == 0:
            raise UserError(f"time must be more than 0 seconds (got {self.time:g})")
        if self.batch is not None and not 1 <= self.batch <= 1_000_000:
            raise UserError(f"batch must be 1 to 1,000,000 simulations (got {self.batch:,})")
        if not 1000 <= self.nodes <= 200_000_000:
            raise UserError(f"nodes must be 1,000 to 200,000,000 (got {self.nodes:,})")
        if not 0 <= self.mix <= 1:
            raise UserError(f"mix must be 0 to 1 (got {self.mix:g})")
        self.bandit()
        self._tree: trees.Tree | None = None
        self._rules: Any = None  # of the tree
        self._chosen = 0

    def bandit(self) -> Any:
        """The bandit of the descent, with its settings."""
        settings = {"c": self.c, "c1": self.c1, "c2": self.c2, "k": self.k}
        bandit = bandit_from(self.ucb, {n: float(x) for n, x in settings.items() if x is not None})
        return bandit if self.descent_k is None else Softmax(self.descent_k)

    @property
    def settings(self) -> mcts.Options:
        """The settings as kernels take them."""
        batch, expand, _ = self.pace
        options = mcts.Options(self.bandit(), batch, expand, self.results == "rich", self.shortcuts, self.solver)
        options = options._replace(cutoff=mcts.NEVER if self.moves_played is None else self.moves_played, mix=self.mix)
        return options if self.stop is None else options._replace(stop=self.stop.flag)

    @property
    def moves_played(self) -> int | None:
        """`cutoff`, including its default."""
        return 0 if self.cutoff is None and self.values else self.cutoff

    @property
    def pace(self) -> tuple[int, int, str]:
        """`batch`, `expand` and `final`, including defaults: those of random games, or of estimates alone."""
        batch, expand, final = (25, 200, "rate") if self.moves_played != 0 else (1, 0, "visits")
        return (
            batch if self.batch is None else self.batch,
            expand if self.expand is None else self.expand,
            self.final or final,
        )

    @property
    def tree(self) -> trees.Tree:
        """The tree of the last search."""
        if self._tree is None:
            self._tree = trees.make_tree(self.nodes)
        return self._tree

    @property
    def most(self) -> int:
        """The simulations of a move."""
        return self.sims or (SIMS if self.time is None else mcts.NEVER)

    def all_settings(self, position: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """Every setting, including defaults and the bandit's."""
        bandit = self.bandit()
        names = (name for name, kind in BANDITS.items() if kind is type(bandit))
        name = next(names, self.ucb if isinstance(self.ucb, str) else type(bandit).__name__)
        others = ("ucb", "c", "c1", "c2", "k", "descent_k")
        rest = {n: getattr(self, n) for n, _, _ in setting_fields(type(self)) if n not in others}
        if self.time is None:
            rest["sims"] = self.most
        rest |= dict(zip(("batch", "expand", "final"), self.pace, strict=True)) | {"cutoff": self.moves_played}
        if self.expand == mcts.NEVER:
            del rest["expand"]
        settings = {"ucb": name, **bandit._asdict(), **rest}
        return _given(settings)

    def open(self, state: np.uint64) -> None:
        """Begin a game: forget the last one, draw from its random stream."""
        self.state, self._rules = np.uint64(state), None

    def think(self, rules: Any, position: Words) -> int:
        """The move to play; with `shortcuts`, at once if it is the only one or wins."""
        self.load(rules, position)
        self._began = began = clock.monotonic()
        self._ended = 0.0
        game, tree, options = self.game(rules), self.tree, self.settings._replace(unit=self._unit(rules, position))
        known = self.reuse and self._rules is not None and same_rules(self._rules, rules)
        if not (known and trees.reroot(tree, position)):
            trees.reset(rules, tree, position)
        self._rules = rules
        most = self.most
        obvious = mcts.obvious_move(rules, position) if self.shortcuts else NO_MOVE
        if obvious != NO_MOVE:
            most = options.batch  # enough for an analysis
        limit = np.inf if self.time is None else self.time
        final, updated = ("rate", "visits", "lower").index(self.pace[2]), 0.0
        longest = SLICE_S if self.on_update is None else UPDATE_S
        while True:
            used = clock.monotonic() - began
            seconds = max(min(limit - used, longest), 0.0)
            due = most if self.growth is None else min(self.growth.due, most)
            self.state = np.uint64(mcts.search(game, tree, options, due, seconds, np.uint64(self.state)))
            count = int(tree.counters[trees.SIMULATIONS])
            done = count >= most or tree.proven[trees.ROOT] != trees.UNPROVEN
            self.interrupted = is_stopped(self.stop) and not done
            done = done or used + seconds >= limit or self.interrupted
            if self.growth is not None and (done or count >= due):
                points = players(rules) == 1
                self.growth.add(count, tree_report.root_moves(tree, trees.ROOT, str, points))
            if done:
                break
            if self.on_update is not None and clock.monotonic() - updated >= UPDATE_S:
                self._chosen = int(mcts.choose(tree, options, final, -1.0, np.uint64(0)))
                before = clock.monotonic()
                self._seconds = before - began
                self.on_update()
                updated = clock.monotonic()
                began += updated - before  # the callback's time does not count
        state, bits = draw(self.state)
        self.state = np.uint64(state)
        k = -1.0 if self.final_k is None else self.final_k
        self._chosen = int(mcts.choose(tree, options, final, k, np.uint64(bits)))
        if obvious != NO_MOVE:
            children = tree_report.children(tree, trees.ROOT)
            self._chosen = next(n for n in children if tree.moves[n] == obvious)
        self._ended = clock.monotonic()
        self._seconds = self._ended - began
        return int(tree.moves[self._chosen])

    def load(self, rules: Any, position: Words) -> None:
        """Compile the search before the clock runs."""
        options, game = self.settings._replace(batch=1), self.game(rules)
        kind = (*_kind(game), type(options.bandit))
        if kind not in _compiled:
            tree = trees.make_tree(1000)
            trees.reset(rules, tree, position)
            mcts.search(game, tree, options, 0, 0.0, np.uint64(0))
            _compiled.add(kind)

    def progress(self) -> Progress:
        """How far the current search is."""
        done = 0 if self._tree is None else int(self._tree.counters[trees.SIMULATIONS])
        limit = self.time if self.sims is None else None
        return self._progress("simulations", min(done, self.most), self.most, limit)

    def _unit(self, rules: Any, position: Words) -> float:
        """The points that count as a result of 1: what random play earns."""
        if players(rules) != 1:
            return 1.0
        return max(float(mcts.mean_result(rules, position, 25, self.state)), 1.0)

    def analysis(self, position: Any) -> Analysis:
        """The result of the last search, which was of `position`."""
        tree, text_of = self._tree, position.move_text
        if tree is None or self._rules is None:
            return Analysis(note="no search yet")
        points = players(self._rules) == 1
        moves = tree_report.root_moves(tree, self._chosen, text_of, points)
        line = tree_report.main_line(tree, self._chosen, text_of)
        sims, used = tree.counters[trees.SIMULATIONS], tree.counters[trees.USED]
        planned = f" of {self.most:,}" if self.interrupted and self.most != mcts.NEVER else ""
        full = ", tree full" if tree.counters[trees.FULL] else ""
        return Analysis(
            position.all_moves(moves),
            line[0],
            line,
            f"{sims:,}{planned} simulations in {self._seconds:.2f} s, {used:,} nodes{full}",
            points=points,
            position=position,
            interrupted=self.interrupted,
            growth=None if self.growth is None else self.growth.named(text_of),
        )


@dataclass
class Mcs(Mcts):
    """Monte-Carlo search: the same bandit over the moves of the position itself, without a tree."""

    expand: int | None = mcts.NEVER
    nodes: int = 1000


@dataclass
class Mcts2048(Mcts):
    """Monte-Carlo tree search of 2048; results count in units of a random game's score."""

    batch: int | None = 5
    expand: int | None = 25
    reuse: bool = False  # points are counted from the root on


@dataclass
class AlphaBeta(Search):
    """Alpha-beta with iterative deepening; expectimax with Star1 pruning where there is chance.

    Stops at `depth` moves, after `time` seconds or after `nodes` positions, whichever comes first;
    by default at depth 10 (4 where there is chance). The table has 2^`table` entries of 16 bytes.
    `reduce` searches late moves less deeply. `values=RUN` takes learned values in place of the game's estimate: a run
    folder, a weight file or a bundled player.
    """

    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    table: int = 20
    reduce: bool = False
    values: str | Any = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth is not None and not 1 <= self.depth < expectimax.DEEPEST:
            raise UserError(f"depth must be 1 to {expectimax.DEEPEST - 1} (got {self.depth})")
        if self.time == 0:
            raise UserError(f"time must be more than 0 seconds (got {self.time:g})")
        if self.nodes is not None and self.nodes < 1:
            raise UserError(f"nodes must be 1 or more (got {self.nodes})")
        if not 2 <= self.table <= 28:
            raise UserError(f"table must be 2 to 28, for 2^table entries (got {self.table})")
        self._work: expectimax.Workspace | None = None
        self._root: tuple[Any, Words] | None = None  # rules, with learned values, and position of the last search
        self._rules: Any = None  # of the table
        self._move, self.value, self.proven, self._depth = 0, 0.0, False, 0
        self._nodes, self._deepest = 0, 0
        self._spent = 0  # nodes of the current move
        self._depths: list[tuple[int, float, bool, list[int]]] = []  # with `on_update`

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
        """Every setting, including defaults; the depth depends on the game of `position`."""
        settings = {name: getattr(self, name) for name, _, _ in setting_fields(type(self))}
        if self.unlimited and position is not None:  # a chance node now means chance later
            settings["depth"] = 4 if position.is_chance else self.default_depth(position.rules, position.words)
        return _given(settings)

    @property
    def stopped_by_time(self) -> bool:
        """Whether time alone ended the last search."""
        return (
            bool(self.work.counters[expectimax.STOPPED])
            and (self.nodes is None or self._spent < self.nodes)
            and not is_stopped(self.stop)
        )

    def open(self, state: np.uint64) -> None:  # noqa: ARG002  # nothing here is random
        """Begin a game: forget the last one."""
        self.work.table[:] = np.zeros(1, transpositions.ENTRY)
        self.work.history[:] = 0
        self._root = None

    def think(self, rules: Any, position: Words) -> int:
        """The move to play."""
        self._spent = 0
        return self.search(rules, position, self.time)

    def search(self, rules: Any, position: Words, seconds: float | None) -> int:
        """The move to play within `seconds`; continues an earlier search of the same position."""
        self.load(rules, position)
        self._began, self._ended = clock.monotonic(), 0.0
        if self._root is not None and not same_rules(self._rules, rules):
            self.open(self.state)  # the table holds values of other rules, say of another known die
        self._rules, game = rules, self.game(rules)
        deepest = self.depth or expectimax.DEEPEST - 1
        if self.unlimited and seconds is None:
            deepest = self.default_depth(rules, position)
        self._deepest = deepest
        if self._root is None or self._root[1] != position:
            self._nodes, self._seconds = 0, 0.0
            self._depth, self._depths = 0, []
        self._root, updated = (game, position), 0.0
        seconds = np.inf if seconds is None else seconds
        for limit in range(1, deepest) if self.on_update is not None else ():
            left = seconds - (clock.monotonic() - self._began)
            if not self._deepen(game, position, limit, left):
                return self._move
            self._depths.append((limit, self.value, self.proven, self._line()))
            before = clock.monotonic()
            if self.on_update is not None and before - updated >= UPDATE_S:
                self.on_update()
                updated = clock.monotonic()
                self._began += updated - before  # the callback's time does not count
        self._deepen(game, position, deepest, seconds - (clock.monotonic() - self._began))
        return self._move

    def _deepen(self, game: Any, position: Words, deepest: int, seconds: float) -> bool:
        """Search up to a depth within `seconds`; False if a deeper search makes no sense."""
        work, began = self.work, clock.monotonic()
        nodes = max((self.nodes or 1 << 62) - self._spent, 0)
        move, value, depth = run_interruptible(
            work.stop, expectimax.iterative_deepening, game, position, deepest, max(seconds, 0.0), nodes, work
        )
        self._nodes += int(work.counters[expectimax.NODES])
        self._spent += int(work.counters[expectimax.NODES])
        self._ended = clock.monotonic()
        self._seconds += self._ended - began
        stopped = bool(work.counters[expectimax.STOPPED])
        self.interrupted = is_stopped(self.stop) and stopped
        if stopped and self.on_update is not None and deepest > 1 and depth < self._depth:
            return False  # it was stopped before it reached the depth of the search before
        self.value, self._depth = float(value), int(depth)
        self.proven = bool(work.counters[expectimax.PROVEN])
        self._move = int(move)
        return not (stopped or self.proven)

    def load(self, rules: Any, position: Words) -> None:
        """Compile the search before the clock runs."""
        game = self.game(rules)
        if _kind(game) not in _compiled:
            work, values = expectimax.make_workspace(2), np.zeros(MOST_MOVES)
            expectimax.iterative_deepening(game, position, 0, 0.0, 1 << 62, work)
            codes, proven = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES, np.bool_)
            expectimax.move_values(game, position, 1, work, codes, values, proven)
            _compiled.add(_kind(game))

    def progress(self) -> Progress:
        """How far the current search is."""
        counters = np.zeros(6, np.int64) if self._work is None else self._work.counters
        nodes, reached = int(counters[expectimax.NODES]), int(counters[expectimax.REACHED])
        limited = f" of {self._deepest}" if self.depth or self.unlimited else ""
        return self._progress("positions", nodes, self.nodes, self.time, depth=f"{reached}{limited}")

    def default_depth(self, rules: Any, position: Words) -> int:
        """The depth where no limit is set."""
        return 4 if meets_chance(rules, position) else 10

    def analysis(self, position: Any) -> Analysis:
        """The result of the last search, which was of `position`; other moves at less depth."""
        if self._root is None:
            return Analysis(note="no search yet")
        rules, words = self._root
        text_of = position.move_text
        shallow, values = self._move_values(rules, words)
        points, (low, high) = players(rules) == 1, value_range(rules)
        if self.best_is_played:
            values[self._move] = top, proven = self.value, self.proven
            if proven:  # no other move is better, whatever its value at less depth
                values = {m: (min(v, top), p or top == low) for m, (v, p) in values.items()}

        def scaled(value: float) -> float:
            return value if points else (value - low) / (high - low)

        ordered = sorted(values.items(), key=lambda v: (v[0] != self._move, -v[1][0]))
        decided = {code: value == high for code, (value, proven) in ordered if proven and value in (low, high)}
        lengths = self._moves_left(words, decided) if decided and not points else {}
        moves = [
            MoveValue(text_of(code), scaled(value), proven=proven, ends_in=lengths.get(code))
            for code, (value, proven) in ordered
        ]
        depths = [
            DepthResult(depth, scaled(value), proven, [text_of(code) for code in line])
            for depth, value, proven, line in self._depths
        ]
        planned = f" of {self._deepest}" if self.interrupted and self.time is None else ""
        note = f"depth {self._depth}{planned}, {self._nodes:,} nodes in {self._seconds:.2f} s"
        note += f"; other moves at depth {shallow}" if len(values) > 1 else ""
        line = [text_of(code) for code in self._line()]
        return Analysis(
            position.all_moves(moves),
            line[0],
            line,
            note,
            points=points,
            why={} if self.network is None else self.network.explain_moves(position),
            position=position,
            interrupted=self.interrupted,
            depth=self._depth,
            other_depth=shallow if len(values) > 1 and shallow < self._depth else None,
            depths=depths,
        )

    def _line(self) -> list[int]:
        """The principal variation of the last search, from the move that is played."""
        assert self._root is not None
        line = np.zeros(max(self._depth, 1), np.uint8)
        length = transpositions.main_line(*self._root, self._move, self.work.table, line)
        return [int(code) for code in line[:length]]

    def _move_values(self, rules: Any, position: Words) -> tuple[int, dict[int, tuple[float, bool]]]:
        """A depth, and the value of each move at that depth and whether it is proven."""
        codes, values = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES)
        proven = np.zeros(MOST_MOVES, np.bool_)
        # A workspace of its own: the table of the search must not change.
        work = expectimax.make_workspace(12)._replace(stop=self.work.stop)
        for depth in (max(min(self._depth, self.default_depth(rules, position)), 1), 1):
            count = run_interruptible(
                work.stop, expectimax.move_values, rules, position, depth, work, codes, values, proven
            )
            if not work.counters[expectimax.STOPPED]:  # depth 1 takes no time
                break
        valued = zip(codes[:count], values, proven, strict=False)
        return depth, {int(code): (float(value), bool(sure)) for code, value, sure in valued}

    def _moves_left(self, position: Words, won: dict[int, bool]) -> dict[int, int]:
        """How many moves a game lasts after moves that win or lose, these included, where that is found quickly."""
        rules, lengths = self._rules, {}
        work = expectimax.make_workspace(18)._replace(stop=self.work.stop)
        work.limits[expectimax.MOST_NODES] = max(self._nodes, PROOF_NODES)
        mover = int(side(rules, position))
        for move, wins in won.items():
            of = np.int64(mover if wins else 1 - mover)
            length = run_interruptible(work.stop, proofs.moves_to_win, rules, position, np.int64(move), of, work)
            if not length:
                break
            lengths[move] = int(length)
        return lengths

    @property
    def best_is_played(self) -> bool:
        """Whether the last move is the one that was valued."""
        return True


@dataclass
class Expectimax2048(AlphaBeta):
    """Expectimax of 2048 by points and empty cells, without learned values."""

    def default_depth(self, rules: Any, position: Words) -> int:  # noqa: ARG002
        """The depth where no limit is set."""
        return 2


def check_turn(position: Any) -> None:
    """Raise UserError where there is no move to choose."""
    if position.over:
        raise UserError("the game is over")
    if position.is_chance:
        raise UserError(f"{position.chance_prompt()} first")


class Searcher:
    """An agent that plays by search, in any game."""

    on_update: Callable[[Analysis], object] | None = None  # called during a search, in its thread

    def __init__(self, name: str, search: Any) -> None:
        self.name, self.search = name, search
        self._position: Any = None  # of the last search
        self._state = np.uint64(0)  # of the game's random stream, at its beginning

    @property
    def time(self) -> float | None:
        """The most seconds a move may take."""
        return self.search.time  # type: ignore[no-any-return]

    @time.setter
    def time(self, seconds: float | None) -> None:
        self.search.time = seconds

    @property
    def stop(self) -> Stop | None:
        """Once set, it ends the current search; the move is the best so far."""
        return self.search.stop  # type: ignore[no-any-return]

    @stop.setter
    def stop(self, stop: Stop | None) -> None:
        self.search.stop = stop

    def fresh(self) -> Searcher:
        """The same agent with its own memory, for another thread."""
        return Searcher(self.name, self.search.copy())

    def progress(self) -> Progress:
        """How far the current search is."""
        return self.search.progress()  # type: ignore[no-any-return]

    def tree(self, depth: int | None = 3, share: float = 0.0, most: int = MOST_NODES) -> TreeView:
        """The tree of the last search: `depth` moves deep (None: all), nodes with a `share` of the visits.

        At most `most` nodes, those with the most visits. Values are those of the side to move at
        the root, or points from the root on.
        """
        if not hasattr(self.search, "tree"):
            raise UserError(f"{self.name} grows no tree: mcts and mcs do")
        if self._position is None:
            raise UserError(f"{self.name} has no tree yet: let it choose a move first")
        return tree_report.view(self.search.tree, self._position, depth, share, most)

    def open(self, start: Any, side: str, state: np.uint64) -> None:  # noqa: ARG002
        """Forget the last game; draw from this game's random stream."""
        self._state, self._position = state, None
        self.search.open(state)

    def choose(self, position: Any) -> str:
        """The best move of a search."""
        check_turn(position)
        self._position, on_update = position, self.on_update
        self.search.on_update = None if on_update is None else lambda: on_update(self.search.analysis(position))
        return str(position.move_text(self.search.think(position.rules, position.words)))

    def analyze(self, position: Any) -> Analysis:
        """The result of the last search; another position is searched first, without what came before."""
        if position.over:
            return Analysis(position.all_moves([]), points=len(position.sides) == 1, position=position)
        if position != self._position:
            self.search.open(self._state)
            self.choose(position)
        return self.search.analysis(position)  # type: ignore[no-any-return]

    def warm_up(self, start: Any) -> None:
        """Load or compile what a first move needs."""
        position, limit = start.play(start.legal_moves()[0]), self.time
        if position.is_chance:
            _, position = position.random_step(np.uint64(1))
        self.open(position, position.turn, np.uint64(stream(np.uint64(0), np.uint64(0))))
        self.time = 0.01
        try:
            self.choose(position)
            self.search.warm_up(position.rules, position.words)
        finally:
            self.time = limit


def make_searcher(spec: Spec, game: Any, *, entry: Any, **_: Any) -> Searcher:
    """The searcher that a text names; `entry` is that of the registry."""
    search = search_from(entry.settings_class(), spec)
    return Searcher(spec.text, load_values(search, game, spec.path))
