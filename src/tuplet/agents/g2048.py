"""Players and environments of 2048: the built-in ones, and anybody's own.

A player needs one method, an environment another; nothing need be inherited:

    class Corner:                                  class Spiteful:
        def choose(self, board):                       def place(self, board):
            for move in ("left", "down", "right"):         return board.empty[0], 2
                if move in board.legal_moves():
                    return move
            return "up"

Both may have `open_episode()` and `close_episode(episode)`, called before and after each game,
and a `name`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tuplet.agents.searches import AlphaBeta, Mcts
from tuplet.agents.specs import from_settings, is_class, own_class, split_spec
from tuplet.games.g2048 import MOVES, Board, Move
from tuplet.games.g2048.rules import Rules, as_share, rules_for
from tuplet.games.game import Words
from tuplet.kernel import as_seed, draw, stream
from tuplet.search.expectimax2048 import DEEPEST, Desk, Outlook, forget, look, make_desk, outlook
from tuplet.search.g2048 import Game2048, position_of
from tuplet.search.mcts import mean_result
from tuplet.values.downgrade import as_limit
from tuplet.values.network import MoveValue, Network, best_of


class Player(Protocol):
    """Chooses moves."""

    def choose(self, board: Board) -> object:
        """A legal move: its name ("left"), its first letter, or its number (0 up, 1 right, ...)."""


class Environment(Protocol):
    """Places tiles."""

    def place(self, board: Board) -> tuple[int, int]:
        """An empty cell of the board (numbered row by row from 0) and the tile to put there."""


class RandomPlayer:
    """Any legal move, each as likely as the others. Game n depends on the seed and n alone."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed, self._game = as_seed(seed), 0
        self._state = np.uint64(0)

    def open_episode(self) -> None:
        """Begin the next game's own stream of random numbers."""
        self._state = stream(~self._seed, np.uint64(self._game))
        self._game += 1

    def choose(self, board: Board) -> object:
        """A random legal move."""
        legal = board.legal_moves()
        self._state, bits = draw(np.uint64(self._state))
        return legal[(int(bits) >> 32) * len(legal) >> 32]


class GreedyPlayer:
    """The move of the largest reward, the first of equals (up, right, down, left)."""

    name = "greedy"

    def choose(self, board: Board) -> object:
        """The legal move that earns most now."""
        after = board.after_states()
        return max(after, key=lambda move: after[move][1])


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
    _desk: Desk | None = field(default=None, init=False, repr=False)

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
    def search(self) -> tuple[Outlook, np.int64, float]:
        """What leaves are worth, the depth and the seconds of a move, as kernels take them."""
        seconds = np.inf if self.time is None else float(self.time)
        return outlook(self.network, self.downgrade), np.int64(self.depth or 1), seconds

    def moves(self, board: object) -> list[MoveValue]:
        """All four moves with reward and value, in the order up, right, down, left."""
        board = self.network.as_board(board)
        if self._desk is None:
            self._desk = make_desk(self.network.m)
        values, depth, seconds = self.search
        if depth > 1:
            forget(self._desk)  # the network may have learned since
        rules = rules_for(board.rows, board.columns, self.spawn4 or 0.0)
        self.reached = int(look(rules, values, *board.words, depth, seconds, self._desk))
        return [
            MoveValue(move, not np.isnan(v), int(r), None if np.isnan(v) else float(v))
            for move, r, v in zip(
                MOVES, self._desk.root_rewards, self._desk.root_values, strict=True
            )
        ]

    def choose(self, board: object) -> Move | None:
        """The move of the highest value, None if the game is over."""
        return best_of(self.moves(board))


@dataclass
class Mcts2048(Mcts):
    """Monte-Carlo tree search of 2048; results count in units of a random game's."""

    batch: int = 5
    expand: int = 25
    reuse: bool = False  # points are counted from the root on

    def unit(self, game: Any, position: Words) -> float:
        """What random play earns from here."""
        return max(float(mean_result(game, position, 25, self.state)), 1.0)


@dataclass
class Expectimax2048(AlphaBeta):
    """Expectimax of 2048 that knows no values but points and empty cells."""

    def usual_depth(self, game: Any, position: Words) -> int:  # noqa: ARG002
        """The depth where none is given."""
        return 2


@dataclass
class _OverValues:
    """The settings of `expectimax:values=...`: a run folder or a weight file, and how to look."""

    values: str = ""
    depth: int | None = None
    time: float | None = None
    downgrade: int | None = None

    def player(self, name: str) -> LearnedPlayer:
        depth = 2 if self.depth is None and self.time is None else self.depth
        return LearnedPlayer(Network.load(self.values), name, depth, self.time, self.downgrade)


class SearchPlayer:
    """Chooses by search without learned values. Game n depends on the seed and n alone.

    `spawn4` is the share of fours that the search expects.
    """

    def __init__(self, name: str, search: Mcts2048 | Expectimax2048, seed: int = 0) -> None:
        self.name, self.search = name, search
        self.spawn4 = 0.1
        self._seed, self._game = as_seed(seed), 0
        self._rules: Rules | None = None

    def open_episode(self) -> None:
        """Begin the next game's own stream of random numbers."""
        self.search.open(stream(~self._seed, np.uint64(self._game)))
        self._game += 1

    def choose(self, board: Board) -> object:
        """The best move found."""
        rules = rules_for(board.rows, board.columns, self.spawn4)
        if self._rules is not None and self._rules is not rules:
            self.search.open(self.search.state)  # another size: nothing remembered holds
        self._rules = rules
        return self.search.think(Game2048(rules), position_of(board))


class RandomEnvironment:
    """The rules' environment: a 2 or a 4 on a random empty cell.

    Game n depends on the seed and n alone, and is the same as in compiled games.
    """

    name = "random"

    def __init__(self, seed: int = 0, spawn4: float = 0.1) -> None:
        self.spawn4 = as_share(spawn4)
        self._seed, self._game = as_seed(seed), 0
        self._state = np.uint64(0)

    def open_episode(self) -> None:
        """Begin the next game's own stream of random numbers."""
        self._state = stream(self._seed, np.uint64(self._game))
        self._game += 1

    def place(self, board: Board) -> tuple[int, int]:
        """A random spawn."""
        cell, tile, self._state = board.random_spawn(self._state, self.spawn4)
        return cell, tile


def make_player(
    spec: str,
    seed: int = 0,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    spawn4: float | None = None,
) -> Player:
    """The player a text names: random, greedy, mcts:sims=1000, expectimax:depth=2,values=RUN,
    module:Class, a run folder or a weight file.

    `depth`, `time` and `downgrade` are a `LearnedPlayer`'s; `spawn4` is what searches expect.
    """
    player = _named(spec, seed)
    if isinstance(player, SearchPlayer) and spawn4 is not None:
        player.spawn4 = as_share(spawn4)
    if isinstance(player, LearnedPlayer):
        if depth is None and time is None:
            depth, time = player.depth, player.time
        downgrade = player.downgrade if downgrade is None else downgrade
        return replace(player, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
    if not depth is time is downgrade is None:
        raise ValueError(f"depth, time and downgrade are of players with values, not of {spec}")
    return player


def _named(spec: str, seed: int) -> Player:
    if spec == "random":
        return RandomPlayer(seed)
    if spec == "greedy":
        return GreedyPlayer()
    name, settings = split_spec(spec)
    if name == "mcts":
        return SearchPlayer(spec, from_settings(Mcts2048, settings, spec), seed)
    if name == "expectimax" and "values" in settings:
        return from_settings(_OverValues, settings, spec).player(spec)
    if name == "expectimax":
        return SearchPlayer(spec, from_settings(Expectimax2048, settings, spec), seed)
    if is_class(spec):
        return own_class(spec, "choose", "board", seed)  # type: ignore[no-any-return]
    try:
        return LearnedPlayer(Network.load(spec), Path(spec).name)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error} (players are small, random, greedy, mcts, expectimax, module:Class, a run "
            "folder or a weight file)"
        ) from None


def make_environment(spec: str, seed: int = 0, spawn4: float = 0.1) -> Environment:
    """The environment a text names: random, or module:Class."""
    if spec == "random":
        return RandomEnvironment(seed, spawn4)
    if is_class(spec):
        return own_class(spec, "place", "board", seed)  # type: ignore[no-any-return]
    raise ValueError(f"{spec!r} is not an environment: random, or module:Class for one's own")
