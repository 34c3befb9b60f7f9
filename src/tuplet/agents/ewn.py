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

from typing import Protocol

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.agents.best import Best
from tuplet.agents.searches import AlphaBeta, Mcs, Mcts, Thoughts
from tuplet.agents.specs import from_settings, is_class, own_class, split_spec
from tuplet.games.ewn import FORFEITS, Position, Side
from tuplet.kernel import draw


class Agent(Protocol):
    """Chooses moves."""

    def choose(self, position: Position) -> str:
        """A legal move, as `Position.legal_moves` writes it."""


class Forfeit(Exception):  # noqa: N818  # no error of the program: a way to lose
    """Raised by an agent that gives a game up: it was "late", "illegal" or "crashed"."""

    def __init__(self, kind: str, reason: str) -> None:
        if kind not in FORFEITS:
            raise ValueError(f"a forfeit is {', '.join(FORFEITS)}, not {kind!r}")
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


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
        known = position.family.die == "cycle"
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
        if self._asked is not None and self._asked.rules is not position.rules:
            self.search.open(self.search.state)  # another known die: nothing remembered holds
        self._asked = position
        return position.text_of(self.search.think(position.rules, position.words))

    def thoughts(self) -> Thoughts:
        """Of the last move."""
        if self._asked is None:
            return Thoughts(note="no thoughts yet")
        return self.search.thoughts(self._asked.text_of)


SEARCHES: dict[str, type[Mcts | AlphaBeta]] = {"alphabeta": AlphaBeta, "mcs": Mcs, "mcts": Mcts}
NAMES = "easy, normal, hard, best, alphabeta, mcs, mcts, exec:PROGRAM, module:Class"


def make_agent(spec: str, game: str = "ewn-6x7") -> Agent:
    """The agent a text names, with its settings behind a colon: `mcts:c=0.6,sims=20000`."""
    name, settings = split_spec(spec)
    if spec.startswith(("exec:", "exec[")):
        from tuplet.agents.external import External

        return External(spec, game)
    if name in ("easy", "random", "normal", "hard") and settings:
        raise ValueError(f"{name} has no settings")
    if name in ("easy", "random"):
        return Easy()
    if name in ("normal", "hard"):
        return Baseline(name)
    if name == "best":
        return Searcher(spec, from_settings(Best, settings, spec))
    if name in SEARCHES:
        return Searcher(spec, from_settings(SEARCHES[name], settings, spec))
    if is_class(spec):
        return own_class(spec, "choose", "position")  # type: ignore[no-any-return]
    raise ValueError(f"{spec!r} is not an agent: {NAMES}")
