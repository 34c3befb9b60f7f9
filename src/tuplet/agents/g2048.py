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

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tuplet.agents.searches import AlphaBeta, Mcts
from tuplet.agents.specs import from_settings, is_class, own_class, split_spec
from tuplet.games.g2048 import Board
from tuplet.games.g2048.rules import Rules, as_share, rules_for
from tuplet.games.game import Words
from tuplet.kernel import as_seed, draw, stream
from tuplet.search.g2048 import game_2048, position_of
from tuplet.search.mcts import mean_result
from tuplet.values.network import Network


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


class LearnedPlayer:
    """The best move by a network's values."""

    def __init__(self, network: Network, name: str = "learned") -> None:
        self.network, self.name = network, name

    def choose(self, board: Board) -> object:
        """The move of the highest value."""
        return self.network.best_move(board)


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
    """Expectimax of 2048, over the values of a network: a run folder or a weight file."""

    values: str = ""

    def usual_depth(self, game: Any, position: Words) -> int:  # noqa: ARG002
        """The depth where none is given."""
        return 2


class SearchPlayer:
    """Chooses by search. Game n depends on the seed and n alone.

    `spawn4` is the share of fours that the search expects.
    """

    def __init__(self, name: str, search: Mcts2048 | Expectimax2048, seed: int = 0) -> None:
        self.name, self.search = name, search
        values = search.values if isinstance(search, Expectimax2048) else ""
        self.network = Network.load(values) if values else None
        self.spawn4 = self.network.spawn4 if self.network else 0.1
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
        game = game_2048(rules, self.network)
        return self.search.think(game, position_of(board))


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


def make_player(spec: str, seed: int = 0) -> Player:
    """The player a text names: random, greedy, mcts:sims=1000, expectimax:depth=2,values=RUN,
    module:Class, a run folder or a weight file.
    """
    if spec == "random":
        return RandomPlayer(seed)
    if spec == "greedy":
        return GreedyPlayer()
    name, settings = split_spec(spec)
    if name == "mcts":
        return SearchPlayer(spec, from_settings(Mcts2048, settings, spec), seed)
    if name == "expectimax":
        return SearchPlayer(spec, from_settings(Expectimax2048, settings, spec), seed)
    if is_class(spec):
        return own_class(spec, "choose", "board", seed)  # type: ignore[no-any-return]
    try:
        return LearnedPlayer(Network.load(spec), Path(spec).name)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error} (players are random, greedy, mcts, expectimax, module:Class, a run folder "
            "or a weight file)"
        ) from None


def make_environment(spec: str, seed: int = 0, spawn4: float = 0.1) -> Environment:
    """The environment a text names: random, or module:Class."""
    if spec == "random":
        return RandomEnvironment(seed, spawn4)
    if is_class(spec):
        return own_class(spec, "place", "board", seed)  # type: ignore[no-any-return]
    raise ValueError(f"{spec!r} is not an environment: random, or module:Class for one's own")
