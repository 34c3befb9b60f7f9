"""What the server has at hand, and how much of it anybody may ask for.

Whoever asks over HTTP is not trusted: an agent of theirs names no program and no class, a run is in
the folder of runs, and a search has a budget.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tuplet.agents.agent import make_agent
from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.g2048 import SearchPlayer, make_player
from tuplet.agents.known import default_of
from tuplet.agents.learned import LearnedPlayer
from tuplet.agents.searches import Mcts
from tuplet.agents.specs import Spec
from tuplet.games.catalogue import game as game_of
from tuplet.games.g2048.position import GameOf2048
from tuplet.games.position import Game
from tuplet.system.stop import Stop

LONGEST = 256  # letters of what names a game or an agent
MOST_SIMS, MOST_SECONDS, MOST_DEPTH, MOST_NODES, MOST_TABLE = 10_000_000, 60.0, 24, 1_000_000, 22
MOST_AHEAD = 6  # moves, over learned values
MOST_GAMES = 100  # of an evaluation
KEPT = 4  # networks in memory


class Busy(Exception):  # noqa: N818  # nothing went wrong
    """There is too much under way."""


class Desk:
    """Players that were read, the folder of runs, and the jobs under way."""

    def __init__(self, runs: str | Path = "runs", most_jobs: int = 64) -> None:
        self.runs, self.most_jobs = Path(runs), most_jobs
        self._players: OrderedDict[tuple[str, float], LearnedPlayer] = OrderedDict()
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._stops: set[Stop] = set()

    def game(self, text: str) -> Game:
        """The game that a text names, which is none of somebody's own unless it was asked for."""
        if len(text) > LONGEST:
            raise ValueError(f"a game is named in {LONGEST} letters at most")
        return game_of(text, trusted=False)

    def position(self, game: Game, text: str) -> Any:
        """A position that a text describes."""
        if isinstance(game, GameOf2048) and "/" not in text:
            return game.standing(text)
        return game.parse(text)

    def agent(self, text: str | None, game: Game) -> Any:
        """An agent within its budget, made for one job."""
        text = default_of(game) if text is None else text
        if len(text) > LONGEST:
            raise ValueError(f"an agent is named in {LONGEST} letters at most")
        spec = Spec(text, trusted=False, folder=self.runs)
        try:
            if isinstance(game, GameOf2048):
                made: Any = self._learned(spec) or make_player(spec, spawn4=game.spawn4)
            else:
                made = make_agent(spec, game)
        except (OSError, ValueError) as error:  # where the folder is, is nobody's business
            raise ValueError(str(error).replace(f"{self.runs.resolve()}/", "")) from None
        check_budget(made)
        return made

    def _learned(self, spec: Spec) -> LearnedPlayer | None:
        """A player with learned values, read once; None of any other."""
        if spec.is_class or spec.name in ("random", "greedy", "mcts", "expectimax"):
            return None
        path = spec.path(spec.text)
        if not path.is_absolute():  # one that comes with tuplet
            when = 0.0
        elif (path / "weights.safetensors").is_file():
            when = (path / "weights.safetensors").stat().st_mtime
        else:
            when = path.stat().st_mtime if path.exists() else 0.0
        key = (spec.text, when)
        with self._reading:  # others wait for it, in place of reading it as well
            if key not in self._players:
                made = make_player(spec)
                if not isinstance(made, LearnedPlayer):
                    return made  # type: ignore[return-value]  # an exact solution
                self._players[key] = made
                while len(self._players) > KEPT:
                    self._players.popitem(last=False)
            self._players.move_to_end(key)
            return self._players[key].fresh()

    @contextmanager
    def job(self, stop: Stop) -> Iterator[None]:
        """Something that takes a while, and ends when it is told to."""
        with self._lock:
            if len(self._stops) >= self.most_jobs:
                raise Busy(f"{self.most_jobs} searches are under way: try again in a moment")
            self._stops.add(stop)
        try:
            yield
        finally:
            with self._lock:
                self._stops.discard(stop)

    @property
    def jobs(self) -> int:
        """How many are under way."""
        return len(self._stops)

    def close(self) -> None:
        """Tell all that is under way to end."""
        with self._lock:
            for stop in self._stops:
                stop.set()


def check_budget(agent: Any) -> None:
    """Raise ValueError where an agent would take more than anybody may ask for."""
    search = getattr(agent, "search", None)
    limits: list[tuple[str, float | None, float]] = []
    if isinstance(agent, LearnedPlayer):
        limits = [("depth", agent.depth if agent.time is None else None, MOST_AHEAD)]
        limits += [("time", agent.time, MOST_SECONDS)]
    elif isinstance(search, Mcts | AlphaBeta):
        names = {"sims": MOST_SIMS, "time": MOST_SECONDS, "table": MOST_TABLE}
        names |= {"depth": MOST_AHEAD if isinstance(agent, SearchPlayer) else MOST_DEPTH}
        if isinstance(search, Mcts):
            names |= {"nodes": MOST_NODES, "batch": 10_000}
        limits = [(name, getattr(search, name, None), most) for name, most in names.items()]
    for name, value, most in limits:
        if value is not None and value > most:
            raise ValueError(f"{name} is {most:,} at most over the network, not {value:,}")
