"""The settings of an agent in full: also those that nobody named."""

from __future__ import annotations

from typing import Any

from tuplet.agents.agent import make_agent
from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.searches import Mcts
from tuplet.agents.specs import Spec
from tuplet.games.game import Game

Settings = dict[str, Any]


def settings_of(agent: Any, position: Any = None) -> Settings:
    """Every setting of an agent, by its name; nothing of those that have none.

    `position` is one of the game, where a setting depends on it. A class of one's own is asked
    for a dictionary `settings`.
    """
    search = getattr(agent, "search", agent)
    if isinstance(search, Mcts):
        return search.all_settings()
    if isinstance(search, AlphaBeta):
        return search.all_settings(position)
    if isinstance(agent, LearnedAgent):
        own = {n: getattr(agent, n) for n in ("depth", "time", "downgrade", "spawn4")}
        return {name: value for name, value in own.items() if value is not None}
    given = getattr(agent, "settings", None)
    return dict(given) if isinstance(given, dict) else {}


def settings_by_name(name: str, game: Game) -> Settings:
    """The settings of an agent that a file names: nothing of one that is code of somebody's own."""
    try:
        return settings_of(make_agent(Spec(name), game), game.start())
    except (ValueError, OSError):
        return {}
