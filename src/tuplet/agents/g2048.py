"""Players and environments of 2048: the built-in ones, and anybody's own.

A player needs one method, an environment another; nothing need be inherited:

    class Corner:                                  class Spiteful:
        def choose(self, board):                       def place(self, board):
            for move in ("left", "down", "right"):         return board.empty[0], 2
                if move in board.legal_moves():
                    return move
            return "up"

`games/agent_hooks.py` says what else they may have. A game begins with an empty board.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.bandits import search_from
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.random_greedy import GreedyAgent, Numbered, RandomAgent
from tuplet.agents.searches import Mcts
from tuplet.agents.searching import Searching
from tuplet.agents.specs import OF_EWN, Pickled, Spec, as_spec, make_from_class
from tuplet.agents.tree_report import tree_of
from tuplet.errors import UserError
from tuplet.exact.solution import Solution, is_solution
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.g2048 import MOVES, Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import words_of
from tuplet.games.g2048.rules import as_share, rules_for
from tuplet.games.protocol import Words
from tuplet.games.tree import MOST_NODES, TreeView
from tuplet.system.settings import from_text, prefix_errors
from tuplet.values.network import Network
from tuplet.values.players import is_bundled

Load = Callable[[Path], Network]  # what reads the weight file, or the run, that a text names


class Player(Protocol):
    """Chooses moves."""

    def choose(self, board: Board) -> object:
        """A legal move: its name ("left"), its first letter, or its number (0 up, 1 right, ...)."""


class Environment(Protocol):
    """Places tiles."""

    def place(self, board: Board) -> tuple[int, int]:
        """An empty cell of the board (numbered row by row from 0) and the tile to put there."""


@dataclass
class Mcts2048(Mcts):
    """Monte-Carlo tree search of 2048; results count in units of a random game's."""

    batch: int = 5
    expand: int = 25
    reuse: bool = False  # points are counted from the root on


@dataclass
class Expectimax2048(AlphaBeta):
    """Expectimax of 2048 that knows no values but points and empty cells."""

    def default_depth(self, game: Any, position: Words) -> int:  # noqa: ARG002
        """The depth where none is given."""
        return 2


@dataclass
class _OverValues:
    """The settings of `expectimax:values=...`: a run folder or a weight file, and how to look."""

    values: str = ""
    depth: int | None = None
    time: float | None = None
    downgrade: int | None = None

    def player(self, spec: Spec, load: Load) -> LearnedAgent:
        depth = 2 if self.depth is None and self.time is None else self.depth
        net = load(spec.path(self.values))
        with prefix_errors(spec.text):
            return LearnedAgent(net, spec.text, depth, self.time, self.downgrade)


class SearchPlayer(Numbered, Searching):
    """Chooses by search without learned values. Game n depends on the seed and n alone.

    `spawn4` is the share of fours that the search expects.
    """

    def __init__(self, name: str, search: Mcts2048 | Expectimax2048, seed: int = 0) -> None:
        super().__init__(seed)
        self.name, self.search = name, search
        self.spawn4 = 0.1
        self._asked: Board | None = None

    def tree(self, depth: int | None = 3, share: float = 0.0, most: int = MOST_NODES) -> TreeView:
        """The tree of the last search: `depth` moves deep, nodes with a `share` of the visits.

        At most so many nodes, those with the most visits; values are points from the root on.
        """
        board = self._asked
        held = None if board is None else Game2048((board.rows, board.columns), self.spawn4)
        asked = None if held is None else held.position(Board(board))
        return tree_of(self.name, self.search, asked, depth, share, most)

    def open(self, *_: object) -> None:
        """Begin the next game's own stream of random numbers."""
        self.search.open(self.stream(~self.seed))

    def choose(self, board: Board) -> str:
        """The best move found."""
        self._asked = board
        rules = rules_for(board.rows, board.columns, self.spawn4)
        return MOVES[self.search.think(rules, words_of(board))]

    def analyze(self, board: object) -> Analysis:
        """The values that the search found, of random or short-sighted play."""
        board = board if isinstance(board, Board) else Board(board)  # type: ignore[arg-type]
        after = board.after_states()
        if not after:
            return Analysis(_illegal(), points=True, position=board)
        self.search.open(self.seed)
        self.watched(lambda: self._told(board, after))
        best = self.choose(board)
        return replace(self._told(board, after), best=best)

    def _told(self, board: Board, after: Any) -> Analysis:
        """What the search has found by now."""
        found = self.search.analysis(lambda code: MOVES[code])
        known = {move.move: move for move in found.moves}
        moves = [
            known[move]._replace(reward=after[move][1]) if move in after else illegal
            for move, illegal in zip(MOVES, _illegal(), strict=True)
        ]
        return replace(found, moves=moves, position=board)

    def load(self) -> None:
        """Compile what it needs, before a clock runs."""
        board = Board([2, 2] + 14 * [0])
        self.search.load(rules_for(4, 4, self.spawn4), words_of(board))

    def fresh(self) -> SearchPlayer:
        """The same one with a memory of its own, for another thread."""
        twin: SearchPlayer = super().fresh()
        twin.search = replace(self.search)
        return twin


def _illegal() -> list[MoveValue]:
    return [MoveValue(move, None, legal=False) for move in MOVES]


class RandomEnvironment(Numbered):
    """The rules' environment: a 2 or a 4 on a random empty cell.

    Game n depends on the seed and n alone, and is the same as in compiled games.
    """

    name = "random"

    def __init__(self, seed: int = 0, spawn4: float = 0.1) -> None:
        super().__init__(seed)
        self.spawn4 = as_share(spawn4)

    def open(self, *_: object) -> None:
        """Begin the next game's own stream of random numbers."""
        self._state = self.stream(self.seed)

    def place(self, board: Board) -> tuple[int, int]:
        """A random spawn."""
        cell, tile, self._state = board.random_spawn(self._state, self.spawn4)
        return cell, tile


def make_player(
    spec: str | Spec,
    seed: int = 0,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    spawn4: float | None = None,
    load: Load = Network.load,
) -> Player:
    """The player a text names: random, greedy, mcts:sims=1000, expectimax:depth=2,values=RUN,
    module:Class, a run folder, a weight file, or the table of an exact solution.

    `depth`, `time` and `downgrade` are a `LearnedAgent`'s; `spawn4` is what searches expect.
    `load` reads learned values.
    """
    player = _named(as_spec(spec), seed, load)
    return adapted(player, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)


def adapted(
    player: Player,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    spawn4: float | None = None,
) -> Player:
    """A player that looks so far ahead, and expects so many fours, where that is possible."""
    if isinstance(player, SearchPlayer) and spawn4 is not None:
        player = player.fresh()
        player.spawn4 = as_share(spawn4)
    if isinstance(player, LearnedAgent):
        if depth is None and time is None:
            depth, time = player.depth, player.time
        downgrade = player.downgrade if downgrade is None else downgrade
        spawn4 = player.spawn4 if spawn4 is None else spawn4
        return replace(player, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
    if not depth is time is downgrade is None:
        what = "an exact value needs no" if isinstance(player, Solution) else "this player has no"
        name = getattr(player, "name", type(player).__name__)
        raise UserError(f"{name}: {what} --depth, --time or --downgrade: leave it out")
    return player


def _named(spec: Spec, seed: int, load: Load) -> Player:
    name, settings = spec.name, spec.settings
    if spec.text == "random":
        return RandomAgent(seed)
    if spec.text == "greedy":
        return GreedyAgent()
    if name == "mcts":
        return SearchPlayer(spec.text, search_from(Mcts2048, spec), seed)
    if name == "expectimax" and "values" in settings:
        return from_text(_OverValues, settings, spec.text).player(spec, load)
    if name == "expectimax":
        return SearchPlayer(spec.text, search_from(Expectimax2048, spec), seed)
    if spec.is_class:
        return spec.make_user_class("choose", "board", seed)  # type: ignore[no-any-return]
    path = spec.path(spec.text)
    try:
        if Path(path).is_file() and is_solution(path):
            return Solution.load(path)
        return LearnedAgent(load(path), Path(spec.text).name)
    except FileNotFoundError as error:
        if is_bundled(path):  # it says itself what to do
            raise
        why = f"{name} plays EWN, not 2048" if name in OF_EWN else str(error)
        raise FileNotFoundError(
            f"{why} (players are small, strong, random, greedy, mcts, expectimax, module:Class, "
            "a run folder or a weight file)"
        ) from None


def player_from(named: Any, seed: int = 0) -> Player:
    """A player, from whatever names it: a text, a network, a class, what makes one, or itself."""
    if isinstance(named, Pickled):
        named = named.unpickle()
    if isinstance(named, str | Spec):
        return make_player(named, seed)
    if isinstance(named, Network):
        return LearnedAgent(named)
    name = getattr(named, "__name__", repr(named))
    return make_from_class(named, name, "choose", "board", seed)  # type: ignore[no-any-return]


def make_environment(spec: str | Spec, seed: int = 0, spawn4: float = 0.1) -> Environment:
    """The environment a text names: random, or module:Class."""
    spec = as_spec(spec)
    if spec.text == "random":
        return RandomEnvironment(seed, spawn4)
    if spec.is_class:
        return spec.make_user_class("place", "board", seed)  # type: ignore[no-any-return]
    raise UserError(f"{spec.text!r} is not an environment: random, or module:Class for one's own")


def environment_from(named: Any, seed: int = 0) -> Environment:
    """An environment, from whatever names it: a text, a class, what makes one, or itself."""
    if isinstance(named, Pickled):
        named = named.unpickle()
    if isinstance(named, str | Spec):
        return make_environment(named, seed)
    name = getattr(named, "__name__", repr(named))
    return make_from_class(named, name, "place", "board", seed)  # type: ignore[no-any-return]
