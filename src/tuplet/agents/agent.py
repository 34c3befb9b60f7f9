"""Agents of every game: from names, classes and objects.

An agent needs one method; nothing need be inherited:

    class Diagonal:
        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith("2")), moves[0])

`games/agent_hooks.py` lists what else it may have. If it has a `time`, `tuplet agent` sets it to the
seconds a move may take; if it has a `name`, that is its name. An agent that cannot continue raises
`Forfeit`; any other exception loses the game as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tuplet.agents.registry import agents_of, unknown_agent
from tuplet.agents.searchers import AlphaBeta, Search, Searcher, check_turn, load_values
from tuplet.agents.specs import Pickled, Spec, as_spec, make_from_class
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.registry import find_game

Settings = dict[str, Any]


class Agent(Protocol):
    """Chooses moves."""

    def choose(self, position: Any) -> str:
        """A legal move, as the position's `legal_moves` writes it."""


# An agent, its name, its class, or a function that makes it.
Named = str | Spec | Pickled | Agent | Callable[..., Agent]


class RandomAgent:
    """Any legal move, all equally likely."""

    def __init__(self, name: str = "random") -> None:
        self.name = name
        self._state = np.uint64(0)

    @classmethod
    def make(cls, spec: Spec, game: Any, **_: Any) -> RandomAgent:  # noqa: ARG003
        """The agent that a text names."""
        return cls(spec.name)

    def open(self, start: Any, side: str, state: np.uint64) -> None:  # noqa: ARG002
        """Draw from the game's random stream."""
        self._state = state

    def choose(self, position: Any) -> str:
        """A random legal move."""
        check_turn(position)
        self._state, move = position.random_move(self._state)
        return str(move)

    def fresh(self) -> RandomAgent:
        """The same agent, for another thread."""
        return RandomAgent(self.name)


def make_agent(
    spec: str | Spec,
    game: str | Game = "ewn-6x7",
    seed: int = 0,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    spawn4: float | None = None,
    load: Callable[[Path], Any] | None = None,
) -> Any:
    """The agent of a game that a text names, with its settings after a colon.

    `mcts:c=0.6,sims=20000`, `alphabeta:depth=8`, `hard`, `mine:Class`, `mine:Class,depth=2`; in 2048
    also `expectimax:depth=2,values=RUN`, or the table of an exact solution. A run folder or a weight file
    plays by its values, one move ahead. `seed` is passed to a class that takes one. `depth`, `time`,
    `downgrade` and `spawn4` are of agents of 2048 with learned values, which `load` reads.
    """
    spec = as_spec(spec)
    game = find_game(game, trusted=spec.trusted)
    agent = _from_text(spec, game, seed, load)
    return configured(agent, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)


def _from_text(spec: Spec, game: Game, seed: int, load: Callable[[Path], Any] | None) -> Any:
    entry = agents_of(game.family).get(spec.name)
    if entry is not None:
        return entry.agent(spec, game, seed=seed, load=load)
    if spec.is_class:
        return spec.make_user_class("choose", "position", seed)
    if spec.is_program:
        from tuplet.agents.protocol.ntu import NtuAgent
        from tuplet.agents.protocol.subprocess_agent import ProgramCommand, SubprocessAgent

        spec.needs_trust("a program")
        command = ProgramCommand.parse(spec.text)
        return (NtuAgent if command.protocol == "ntu" else SubprocessAgent)(command, game.name)
    if game.family == "2048":
        from tuplet.agents.learned import load_agent

        return load_agent(spec, load)
    if spec.trusted or spec.folder is not None:
        from tuplet.exact.endgames import EndgameTable, is_endgame_table

        path = spec.path(spec.text)
        if game.family == "ewn" and is_endgame_table(path):
            return EndgameTable.load(path)
        if spec.text and path.exists():  # a run folder or a weight file: its values, one move ahead
            return Searcher(spec.text, load_values(AlphaBeta(depth=1, values=spec.text), game, spec.path))
    raise unknown_agent(spec, game.family)


def agent_from(named: Any, game: str | Game, seed: int = 0, **options: Any) -> Any:
    """An agent from anything that names or makes one, or itself; `options` are those of `make_agent`."""
    if isinstance(named, Pickled):
        named = named.unpickle()
    if isinstance(named, str | Spec):
        return make_agent(named, game, seed, **options)
    if isinstance(named, Search):
        return Searcher(type(named).__name__.lower(), load_values(named.copy(), find_game(game, trusted=True)))
    network = sys.modules.get("tuplet.values.network")  # where there is a network, it is imported
    if network is not None and isinstance(named, network.Network):
        from tuplet.agents.learned import LearnedAgent

        named = LearnedAgent(named)
    agent = make_from_class(named, getattr(named, "__name__", repr(named)), "choose", "position", seed)
    return configured(agent, **options)


def configured(agent: Any, **options: Any) -> Any:
    """An agent with learned values that looks this far ahead; UserError for other agents."""
    if hasattr(agent, "with_options"):
        return agent.with_options(**options)
    if any(options.get(name) is not None for name in ("depth", "time", "downgrade")):
        name = getattr(agent, "name", type(agent).__name__)
        raise UserError(f"{name} has no --depth, --time or --downgrade: leave them out")
    return agent


def settings_of(agent: Any, position: Any = None) -> Settings:
    """Every setting of an agent by name, including defaults; {} if it has none.

    Some settings depend on the game of `position`. A user's class may have a dictionary `settings`.
    """
    search = getattr(agent, "search", agent)
    if isinstance(search, Search):
        return search.all_settings(position)
    settings = getattr(agent, "settings", None)
    return dict(settings) if isinstance(settings, dict) else {}


def settings_by_name(name: str, game: Game) -> Settings:
    """The settings of an agent that a file names; {} for one that is a user's code."""
    try:
        return settings_of(make_agent(Spec(name), game), game.start())
    except (ValueError, OSError):
        return {}
