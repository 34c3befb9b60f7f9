"""Searches with their settings and memory: what stands behind agents of every game.

A search is told of a new game with `open`, thinks about a position (a game's rules and two
words) and returns a move as kernels number it; `analysis` tells of its last one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tuplet.agents.specs import Spec
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.game import MOST_MOVES, Words, players, same_rules, value_range
from tuplet.kernel import draw
from tuplet.search import expectimax, mcts, transpositions, tree as trees
from tuplet.search.bandits import BANDITS, KINDS, Softmax
from tuplet.system.own import find, names_code

SIMS = 20_000  # a move, where nothing else is said
PIECE_S = 0.25  # seconds after which a tree search can be interrupted


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
        self._seconds = 0.0
        self._chosen = 0

    def bandit(self) -> Any:
        """The bandit of the descent, with its settings."""
        given = {"c": self.c, "c1": self.c1, "c2": self.c2, "k": self.k}
        bandit = _bandit(self.ucb, {n: float(x) for n, x in given.items() if x is not None})
        return bandit if self.descent_k is None else Softmax(self.descent_k)

    @property
    def settings(self) -> mcts.Options:
        """As kernels take them."""
        return mcts.Options(
            self.bandit(), self.batch, self.expand, self.results == "rich", self.shortcuts,
            self.solver,
        )  # fmt: skip

    @property
    def tree(self) -> trees.Tree:
        """The tree, as it stands."""
        if self._tree is None:
            self._tree = trees.make_tree(self.nodes)
        return self._tree

    def open(self, state: np.uint64) -> None:
        """Begin a game with a random stream of its own."""
        self.state, self._game = np.uint64(state), None

    def think(self, game: Any, position: Words) -> int:
        """The move to play; with `shortcuts`, at once if it is the only one or wins."""
        began = clock.monotonic()
        tree, settings = self.tree, self.settings._replace(unit=self.unit(game, position))
        known = self.reuse and self._game is not None and same_rules(self._game, game)
        if not (known and trees.reroot(tree, position)):
            trees.reset(game, tree, position)
        self._game = game
        most = self.sims
        if most is None:
            most = SIMS if self.time is None else mcts.NEVER
        obvious = mcts.obvious_move(game, position) if self.shortcuts else mcts.NO_MOVE
        if obvious != mcts.NO_MOVE:
            most = settings.batch  # enough to have something to say
        limit = np.inf if self.time is None else self.time
        while True:
            used = clock.monotonic() - began
            piece = max(min(limit - used, PIECE_S), 0.0)
            self.state = np.uint64(
                mcts.search(game, tree, settings, most, piece, np.uint64(self.state))
            )
            done = tree.counters[trees.SIMULATIONS] >= most or used + piece >= limit
            if done or tree.proven[trees.ROOT] != trees.UNPROVEN:
                break
        state, bits = draw(self.state)
        self.state = np.uint64(state)
        k = -1.0 if self.final_k is None else self.final_k
        final = ("rate", "visits", "lower").index(self.final)
        self._chosen = int(mcts.choose(tree, settings, final, k, np.uint64(bits)))
        if obvious != mcts.NO_MOVE:
            self._chosen = next(n for n in _children(tree, trees.ROOT) if tree.moves[n] == obvious)
        self._seconds = clock.monotonic() - began
        return int(tree.moves[self._chosen])

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
        nodes = sorted(
            _children(tree, trees.ROOT), key=lambda n: (n != self._chosen, -tree.visits[n])
        )
        line, node = [], self._chosen
        while True:
            line.append(text_of(int(tree.moves[node])))
            if tree.first[node] == trees.NO_NODE or tree.sides[node] == trees.CHANCE:
                break
            node = max(_children(tree, node), key=lambda n: int(tree.visits[n]))
        sims, used = tree.counters[trees.SIMULATIONS], tree.counters[trees.USED]
        full = ", tree full" if tree.counters[trees.FULL] else ""
        points = players(self._game) == 1
        moves = [_move_value(tree, n, text_of, points) for n in nodes]
        note = f"{sims:,} simulations in {self._seconds:.2f} s, {used:,} nodes{full}"
        return Analysis(moves, line[0], line, note, points=points)


def check_trust(spec: Spec) -> None:
    """Whoever is not trusted cannot name a bandit of somebody's own: code that is run."""
    if ":" in spec.settings:
        spec.needs_trust("a bandit")


def _bandit(ucb: Any, given: dict[str, float]) -> Any:
    """A bandit from its name, its class or itself; ValueError says what is wrong with it."""
    kind, name = ucb, ucb if isinstance(ucb, str) else getattr(ucb, "__name__", repr(ucb))
    if isinstance(ucb, str):
        kind = find(ucb) if names_code(ucb) else BANDITS.get(ucb)
    if (kind if isinstance(kind, type) else type(kind)) not in KINDS:
        known = ", ".join(BANDITS)
        raise ValueError(f"ucb is one of {known}, or a bandit that is registered, not {name!r}")
    for setting in given:
        if setting not in kind._fields:
            has = " and ".join(kind._fields) or "no settings"
            raise ValueError(f"{name} has no {setting}: it has {has}")
    return kind(**given) if isinstance(kind, type) else kind._replace(**given)


def _children(tree: trees.Tree, node: int) -> range:
    first = int(tree.first[node])
    return range(first, first + int(tree.children[node]))


def _move_value(
    tree: trees.Tree, node: int, text_of: Callable[[int], str], points: bool
) -> MoveValue:
    mover = int(tree.sides[trees.ROOT])
    visits, proven = int(tree.visits[node]), int(tree.proven[node])
    move = text_of(int(tree.moves[node]))
    if proven != trees.UNPROVEN:
        value = 0.5 if proven == trees.DRAWN else float(proven == mover)
        return MoveValue(move, value, visits=visits, proven=True)
    if not visits:
        return MoveValue(move, 0.0 if points else 0.5, visits=0)
    mean = float(tree.totals[node] / visits)
    half = 1.96 * max(float(tree.squares[node] / visits) - mean * mean, 0.0) ** 0.5 / visits**0.5
    value = mean if mover == 0 else 1 - mean
    most = np.inf if points else 1.0
    return MoveValue(
        move, value, visits=visits, ci95=(max(value - half, 0.0), min(value + half, most))
    )


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
    entries of 16 bytes. `reduce` searches late moves less deeply, which sees further, but not
    everything.
    """

    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    table: int = 20
    reduce: bool = False
    state: np.uint64 = field(default=np.uint64(0), init=False)  # nothing here is random

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
        self._nodes, self._seconds = 0, 0.0

    @property
    def work(self) -> expectimax.Workspace:
        """The search's memory."""
        if self._work is None:
            self._work = expectimax.make_workspace(self.table, self.reduce)
        return self._work

    @property
    def unlimited(self) -> bool:
        """Whether no limit is set."""
        return self.depth is None and self.time is None and self.nodes is None

    @property
    def stopped_by_time(self) -> bool:
        """Whether the last search might have gone on but for the time."""
        return bool(self.work.counters[expectimax.STOPPED]) and (
            self.nodes is None or self.work.counters[expectimax.NODES] < self.nodes
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
        began = clock.monotonic()
        if self._asked is not None and not same_rules(self._asked[0], game):
            self.open(self.state)  # another known die, say: nothing remembered holds
        deepest = self.depth or expectimax.DEEPEST - 1
        if self.unlimited and seconds is None:
            deepest = self.usual_depth(game, position)
        move, value, depth = expectimax.deepen(
            game, position, deepest, np.inf if seconds is None else seconds,
            self.nodes or 1 << 62, self.work,
        )  # fmt: skip
        if self._asked is None or self._asked[1] != position:
            self._nodes, self._seconds = 0, 0.0
        self._asked = (game, position)
        self._nodes += int(self.work.counters[expectimax.NODES])
        self._seconds += clock.monotonic() - began
        self.value, self._depth = float(value), int(depth)
        self.proven = bool(self.work.counters[expectimax.PROVEN])
        return self.take(int(move))

    def warm_up(self, game: Any, position: Words) -> None:
        """Load what only some moves need: nothing."""

    def take(self, move: int) -> int:
        """Note the move that is played."""
        self._move = move
        return move

    def usual_depth(self, game: Any, position: Words) -> int:
        """The depth where none is given."""
        return 4 if expectimax.meets_chance(game, position) else 10

    def analysis(self, text_of: Callable[[int], str]) -> Analysis:
        """Of the last move: its value, those of the others by a glance, and the main line."""
        if self._asked is None:
            return Analysis(note="no thoughts yet")
        game, position = self._asked
        codes, values = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES)
        proven = np.zeros(MOST_MOVES, np.bool_)
        glance = expectimax.make_workspace(12)  # what has been searched so far must not change
        shallow = max(min(self._depth, self.usual_depth(game, position)), 1)
        count = int(expectimax.move_values(game, position, shallow, glance, codes, values, proven))
        worth = {int(c): (float(values[i]), bool(proven[i])) for i, c in enumerate(codes[:count])}
        if self.best_is_taken:
            worth[self._move] = self.value, self.proven
        points, (low, high) = players(game) == 1, value_range(game)
        moves = [
            MoveValue(text_of(code), value if points else (value - low) / (high - low), proven=sure)
            for code, (value, sure) in sorted(
                worth.items(), key=lambda w: (w[0] != self._move, -w[1][0])
            )
        ]
        line = np.zeros(max(self._depth, 1), np.uint8)
        length = transpositions.main_line(game, position, self._move, self.work.table, line)
        note = f"depth {self._depth}, {self._nodes:,} nodes in {self._seconds:.2f} s"
        if count > 1:
            note += f"; other moves at depth {shallow}"
        texts = [text_of(int(code)) for code in line[:length]]
        return Analysis(moves, texts[0], texts, note, points=points)

    @property
    def best_is_taken(self) -> bool:
        """Whether the last move is the one that was valued."""
        return True
