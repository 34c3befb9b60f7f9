"""The registry of agents: their names, which games they play, how they are made, their settings.

    register_agent("corner", lambda spec, game, **_: Corner(), games=("2048",), about="Keeps to a corner.")

`make_agent`, `tuplet list` and the page read it. This module imports nothing that takes time: an
agent's own module is imported when the agent is made.
"""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NamedTuple

from tuplet.agents.specs import Spec
from tuplet.errors import UserError


class AgentType(NamedTuple):
    """An entry of the registry. `make` and `settings` may be "module:name", imported when needed."""

    name: str
    make: str | Callable[..., Any]  # make(spec, game, entry=, seed=, load=) returns the agent
    games: tuple[str, ...] = ()  # families of games that it plays; empty for every game
    but: tuple[str, ...] = ()  # families that it does not play
    settings: str | type | None = None  # the dataclass of its settings
    about: str = ""  # one sentence; without one, `tuplet list` leaves the agent out
    trust: str = ""  # what it is, if text from outside may not name it

    def plays(self, family: str) -> bool:
        """Whether it plays a family of games."""
        return family not in self.but and (not self.games or family in self.games)

    def settings_class(self) -> Any:
        """The dataclass of its settings; None if it has none."""
        return resolve_name(self.settings) if isinstance(self.settings, str) else self.settings

    def agent(self, spec: Spec, game: Any, **options: Any) -> Any:
        """The agent that a text names."""
        if self.trust:
            spec.needs_trust(self.trust)  # before anything is imported
        if spec.settings and self.settings is None:
            raise UserError(f"{spec.name} has no settings")
        make: Any = resolve_name(self.make) if isinstance(self.make, str) else self.make
        return make(spec, game, entry=self, **options)


AGENTS: list[AgentType] = []


def register_agent(name: str, make: str | Callable[..., Any], **fields: Any) -> None:
    """Enter an agent by a name; `fields` are the other fields of `AgentType`. The last of a name counts."""
    AGENTS.append(AgentType(name, make, **fields))


def agents_of(family: str) -> dict[str, AgentType]:
    """The agents of a family of games, by name."""
    return {entry.name: entry for entry in AGENTS if entry.plays(family)}


def default_agent(game: Any) -> str:
    """The agent where none is named."""
    if game.family == "2048":
        return "small" if (game.rows, game.columns) == (4, 4) else "expectimax:depth=3"
    return "best" if game.family == "ewn" else "mcts"


def check_name(spec: Spec, family: str) -> None:
    """Raise UserError if no agent of a family of games has this name; imports no agent."""
    if not (spec.name in agents_of(family) or spec.is_class or spec.is_program):
        raise unknown_agent(spec, family)


def unknown_agent(spec: Spec, family: str, problem: str = "") -> UserError:
    """The error for a text that names no agent of a family of games; `problem` says why, if known."""
    names = [name for name, entry in agents_of(family).items() if entry.about]
    names += ["small", "strong", "a run folder", "a weight file"] if family == "2048" else []
    names += ["module:Class", "file.py:Class", *(["exec:PROGRAM"] if family == "ewn" else [])]
    others = [entry.games for entry in AGENTS if entry.name == spec.name]
    others += [("2048",)] if spec.name in ("small", "strong") and family != "2048" else []
    problem = problem or f"{spec.text!r} is not an agent"
    if others:
        plays = " and ".join(others[0]).replace("ewn", "EWN")
        problem = f"{spec.name} plays {plays}, not {family}" if plays else f"{spec.name} does not play {family}"
    return UserError(f"{problem}; agents are {', '.join(names)}")


_NOT_2048: dict[str, Any] = {"but": ("2048",)}
_SEARCHERS = "tuplet.agents.searchers"
register_agent(
    "expectimax",
    "tuplet.agents.learned:make_expectimax",
    games=("2048",),
    settings=f"{_SEARCHERS}:Expectimax2048",
    about="Looks ahead, and knows points and empty cells.",
)
register_agent(
    "mcts",
    f"{_SEARCHERS}:make_searcher",
    games=("2048",),
    settings=f"{_SEARCHERS}:Mcts2048",
    about="Monte-Carlo tree search: values by random games.",
)
register_agent(
    "greedy", "tuplet.agents.random_greedy:GreedyAgent.make", games=("2048",), about="Takes the largest reward."
)
register_agent("random", "tuplet.agents.agent:RandomAgent.make", games=("2048",), about="Any legal move.")
register_agent(
    "best",
    "tuplet.agents.best:make_best",
    games=("ewn",),
    settings="tuplet.agents.best:Best",
    about="The strongest: alpha-beta or expectimax over learned values.",
)
register_agent(
    "hard",
    "tuplet.agents.baselines:Baseline.make",
    games=("ewn",),
    about="The course's strong opponent: alpha-beta, eight moves deep.",
)
register_agent(
    "normal",
    "tuplet.agents.baselines:Baseline.make",
    games=("ewn",),
    about="The course's middle opponent: two moves deep.",
)
register_agent(
    "exploit",
    "tuplet.agents.best:make_best",
    games=("ewn",),
    settings="tuplet.agents.best:Exploit",
    about="Plays against a model of hard (exploit:hard) or normal, where the die is known.",
)
register_agent(
    "alphabeta",
    f"{_SEARCHERS}:make_searcher",
    **_NOT_2048,
    settings=f"{_SEARCHERS}:AlphaBeta",
    about="Alpha-beta, expectimax where there is chance; deeper and deeper.",
)
register_agent(
    "mcs",
    f"{_SEARCHERS}:make_searcher",
    **_NOT_2048,
    settings=f"{_SEARCHERS}:Mcs",
    about="Monte-Carlo search: a bandit over the moves, no tree.",
)
register_agent(
    "mcts",
    f"{_SEARCHERS}:make_searcher",
    **_NOT_2048,
    settings=f"{_SEARCHERS}:Mcts",
    about="Monte-Carlo tree search with a bandit of your choice.",
)
register_agent("easy", "tuplet.agents.agent:RandomAgent.make", **_NOT_2048, about="Any legal move.")
register_agent("random", "tuplet.agents.agent:RandomAgent.make", **_NOT_2048)
register_agent(
    "openspiel",
    "tuplet.adapters.openspiel_bots:make",
    settings="tuplet.adapters.openspiel_bots:Bot",
    trust="another library's bot",
)
