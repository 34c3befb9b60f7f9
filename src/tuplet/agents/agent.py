"""Agents of every game: names to agents, and those that play whatever the game.

An agent needs one method; nothing need be inherited:

    class Diagonal:
        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith("2")), moves[0])

`games/agent_hooks.py` says what else it may have. If it has a `time`, `tuplet agent` sets that to the
seconds a move may take; if it has a `name`, it is called so. An agent that cannot go on raises
`Forfeit`; whatever else it raises loses it the game as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.bandits import search_from
from tuplet.agents.protocol.subprocess_agent import SubprocessAgent
from tuplet.agents.searches import Mcs, Mcts
from tuplet.agents.searching import Searching
from tuplet.agents.specs import ADAPTERS, OF_EWN, Pickled, Spec, as_spec, make_from_class
from tuplet.agents.tree_report import tree_of
from tuplet.errors import UserError
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.game import EwnGame
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.games.tree import MOST_NODES, TreeView
from tuplet.kernel import stream


class Agent(Protocol):
    """Chooses moves."""

    def choose(self, position: Any) -> str:
        """A legal move, as the position's `legal_moves` writes it."""


class Easy:
    """Any legal move, each as likely as the others."""

    def __init__(self, name: str = "easy") -> None:
        self.name = name
        self._state = np.uint64(0)

    def open(self, start: Any, side: str, state: np.uint64) -> None:  # noqa: ARG002
        """Draw from the game's own stream."""
        self._state = state

    def choose(self, position: Any) -> str:
        """A random legal move."""
        check_turn(position)
        self._state, move = position.random_move(self._state)
        return str(move)


def check_turn(position: Any) -> None:
    """Raise ValueError where there is nothing to choose from."""
    if position.over:
        raise UserError("the game is over")
    if position.is_chance:
        raise UserError(f"{position.chance_prompt()} first")


class Searcher(Searching):
    """An agent that searches; `time`, if it is set, is the most seconds a move may take."""

    def __init__(self, name: str, search: Mcts | AlphaBeta) -> None:
        self.name, self.search = name, search
        self._asked: Any = None  # the position

    @property
    def time(self) -> float | None:
        """Seconds a move."""
        return self.search.time

    @time.setter
    def time(self, seconds: float | None) -> None:
        self.search.time = seconds

    def tree(self, depth: int | None = 3, share: float = 0.0, most: int = MOST_NODES) -> TreeView:
        """The tree of the last search: `depth` moves deep, nodes with a `share` of the visits.

        At most so many nodes, those with the most visits; with `depth=None` however deep. Values
        are what the side to move at the root may expect.
        """
        return tree_of(self.name, self.search, self._asked, depth, share, most)

    def open(self, start: Any, side: str, state: np.uint64) -> None:  # noqa: ARG002
        """Forget the last game; draw from this game's own stream."""
        self.search.open(state)
        self._asked = None

    def choose(self, position: Any) -> str:
        """The best move found."""
        check_turn(position)
        self._asked = position
        self.watched(lambda: self._told(position))
        return str(position.move_text(self.search.think(position.rules, position.words)))

    def analyze(self, position: Any) -> Analysis:
        """What it found; it looks if this is not the position it was asked about last."""
        if position != self._asked:
            self.choose(position)
        return self._told(position)

    def _told(self, position: Any) -> Analysis:
        return replace(self.search.analysis(position.move_text), position=position)

    def warm_up(self, start: Any) -> None:
        """Load or compile what a first move needs."""
        position, limit = start.play(start.legal_moves()[0]), self.time
        self.open(position, position.turn, np.uint64(stream(np.uint64(0), np.uint64(0))))
        self.time = 0.01
        try:
            self.choose(position)
            self.search.warm_up(position.rules, position.words)
        finally:
            self.time = limit


SEARCHES: dict[str, type[Mcts | AlphaBeta]] = {"alphabeta": AlphaBeta, "mcs": Mcs, "mcts": Mcts}


def make_agent(spec: str | Spec, game: str | Game = "ewn-6x7") -> Any:
    """The agent of a game that a text names, with its settings behind a colon.

    `mcts:c=0.6,sims=20000`, `alphabeta:depth=8`, `hard`, `mine:Class`, `mine:Class,depth=2`; of
    2048 also a run folder or a weight file (see `make_player`).
    """
    spec = as_spec(spec)
    held = find_game(game, trusted=spec.trusted)
    name, settings = spec.name, spec.settings
    if isinstance(held, Game2048):
        from tuplet.agents.g2048 import make_player

        return make_player(spec, spawn4=held.spawn4)
    spec.check_agent(held.name)
    if spec.is_program:
        spec.needs_trust("a program")
        return SubprocessAgent(spec.text, held.name)
    if name in ADAPTERS:  # found by its name, as anybody's class is: its library is an extra
        spec.needs_trust("another library's bot")
        return import_module(ADAPTERS[name]).make(spec, held)
    if name in ("easy", "random") and not settings:
        return Easy(name)
    if name in SEARCHES:
        return Searcher(spec.text, search_from(SEARCHES[name], spec))
    if name in OF_EWN and not isinstance(held, EwnGame):
        raise UserError(f"{name} plays EWN, not {held.name}")
    if name in ("easy", "random", "normal", "hard") and settings:
        raise UserError(f"{name} has no settings")
    if name in ("normal", "hard"):
        from tuplet.agents.baselines import Baseline

        return Baseline(name)
    if name == "best":
        from tuplet.agents.best import Best

        return Searcher(spec.text, search_from(Best, spec))
    return spec.make_user_class("choose", "position")


# An agent, its name, its class, or what makes it.
Named = str | Spec | Pickled | Agent | Callable[..., Agent]


def agent_from(named: Any, game: str | Game) -> Any:
    """An agent to play with, from whatever names it."""
    if isinstance(named, Pickled):
        named = named.unpickle()
    if isinstance(named, str | Spec):
        return make_agent(named, game)
    if isinstance(named, Mcts | AlphaBeta):
        return Searcher(type(named).__name__.lower(), replace(named))
    name = getattr(named, "__name__", repr(named))
    return make_from_class(named, name, "choose", "position")
