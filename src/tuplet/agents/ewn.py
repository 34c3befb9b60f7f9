"""Agents of EWN: the course's baselines, searches, other programs, and anybody's own.

An agent needs one method; nothing need be inherited:

    class Diagonal:
        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith("2")), moves[0])

It may have `open_game(start, side, state)`, called before each game with the first position, the
agent's side and a random stream of the game's own (agents that draw from it alone play the same
game again), `close_game(last)`, called with the last position unless somebody forfeited,
`thoughts()` with what it thought of its last move, `close()`, and a `name`. If it has a `time`,
`tuplet agent` sets that to the seconds a move may take. An agent that cannot go on raises
`Forfeit`; whatever else it raises loses it the game as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.agents.best import Best
from tuplet.agents.protocol.external import External
from tuplet.agents.searches import AlphaBeta, Mcs, Mcts
from tuplet.agents.specs import Spec, as_spec, make_own
from tuplet.games.analysis import Analysis
from tuplet.games.ewn import Position, Side
from tuplet.kernel import draw, stream
from tuplet.system.settings import from_text


class Agent(Protocol):
    """Chooses moves."""

    def choose(self, position: Position) -> str:
        """A legal move, as `Position.legal_moves` writes it."""


class Easy:
    """Any legal move, each as likely as the others."""

    name = "easy"

    def __init__(self) -> None:
        self._state = np.uint64(0)

    def open_game(self, start: Position, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Draw from the game's own stream."""
        self._state = state

    def choose(self, position: Position) -> str:
        """A random legal move."""
        _check(position)
        moves = position.legal_moves()
        self._state, bits = draw(np.uint64(self._state))
        return moves[(int(bits) >> 32) * len(moves) >> 32]


class Baseline:
    """The course's `normal` (depth 2) and `hard` (depth 8).

    They were written for a known die. Where the die is rolled, they average over its faces and
    look 2 and 4 plies ahead.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def choose(self, position: Position) -> str:
        """The first of the best moves."""
        _check(position)
        known = position.variant.die == "cycle"
        depth = 2 if self.name == "normal" else 8 if known else 4
        return position.text_of(int(baseline_move(position.rules, position.words, depth)))


def _check(position: Position) -> None:
    """Whether there is anything to choose from."""
    if position.over:
        raise ValueError("the game is over")
    if position.needs_roll:
        raise ValueError("the die must be rolled first")


class Searcher:
    """An agent that searches; `time`, if it is set, is the most seconds a move may take."""

    def __init__(self, name: str, search: Mcts | AlphaBeta) -> None:
        self.name, self.search = name, search
        self._asked: Position | None = None

    @property
    def time(self) -> float | None:
        """Seconds a move."""
        return self.search.time

    @time.setter
    def time(self, seconds: float | None) -> None:
        self.search.time = seconds

    def open_game(self, start: Position, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Forget the last game; draw from this game's own stream."""
        self.search.open(state)
        self._asked = None

    def choose(self, position: Position) -> str:
        """The best move found."""
        _check(position)
        self._asked = position
        return position.text_of(self.search.think(position.rules, position.words))

    def thoughts(self) -> Analysis:
        """Of the last move."""
        if self._asked is None:
            return Analysis(note="no thoughts yet")
        return replace(self.search.analysis(self._asked.text_of), position=self._asked)

    def warm_up(self, start: Position) -> None:
        """Load or compile what a first move needs."""
        position, limit = start.play(start.legal_moves()[0]), self.time
        self.open_game(position, position.turn, np.uint64(stream(np.uint64(0), np.uint64(0))))
        self.time = 0.01
        self.choose(position)
        self.search.warm_up(position.rules, position.words)
        self.time = limit


SEARCHES: dict[str, type[Mcts | AlphaBeta]] = {
    "alphabeta": AlphaBeta, "best": Best, "mcs": Mcs, "mcts": Mcts,
}  # fmt: skip
NAMES = "easy, normal, hard, best, alphabeta, mcs, mcts, exec:PROGRAM, module:Class"


def make_agent(spec: str | Spec, game: str = "ewn-6x7") -> Agent:
    """The agent a text names, with its settings behind a colon: `mcts:c=0.6,sims=20000`."""
    spec = as_spec(spec)
    name, settings = spec.name, spec.settings
    if spec.text.startswith(("exec:", "exec[")):
        spec.needs_trust("a program")
        return External(spec.text, game)
    if name in ("easy", "random", "normal", "hard"):
        if settings:
            raise ValueError(f"{name} has no settings")
        return Easy() if name in ("easy", "random") else Baseline(name)
    if name in SEARCHES:
        return Searcher(spec.text, from_text(SEARCHES[name], settings, spec.text))
    if spec.is_class:
        return spec.own_class("choose", "position")  # type: ignore[no-any-return]
    raise ValueError(f"{spec.text!r} is not an agent: {NAMES}")


Named = str | Spec | Agent | Callable[[], Agent]  # an agent, its name, its class, or its maker


def agent_from(named: Any, game: str) -> Agent:
    """An agent to play with, from whatever names it."""
    if isinstance(named, str | Spec):
        return make_agent(named, game)
    if isinstance(named, type) or not hasattr(named, "choose"):
        name = getattr(named, "__name__", repr(named))
        return make_own(named, name, "choose", "position")  # type: ignore[no-any-return]
    return named  # type: ignore[no-any-return]
