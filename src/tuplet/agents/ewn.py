"""Agents of EWN: the course's baselines, searches, other programs, and anybody's own.

An agent needs one method; nothing need be inherited:

    class Diagonal:
        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith("2")), moves[0])

It may have `open_game(start, side, state)`, called before each game with the first position, the
agent's side and a random stream of the game's own (agents that draw from it alone play the same
game again), `thoughts()` with what it thought of its last move, `close()`, and a `name`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.games.ewn import Position, Side
from tuplet.kernel import draw


class Forfeit(Exception):
    """An agent loses its game: it was late, crashed, or made an illegal move."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason


class Agent(Protocol):
    """Chooses moves."""

    def choose(self, position: Position) -> str:
        """A legal move, as `Position.legal_moves` writes it."""


@dataclass(frozen=True)
class MoveThought:
    """What an agent thinks of one move."""

    move: str
    value: float  # the chance of winning, from 0 to 1, or as near to it as the agent knows
    visits: int | None = None
    ci95: tuple[float, float] | None = None
    proven: bool = False  # the value is no estimate


@dataclass(frozen=True)
class Thoughts:
    """What an agent thought of a position: moves from best to worst, and what it expects."""

    moves: list[MoveThought] = field(default_factory=list)
    line: list[str] = field(default_factory=list)  # the main line, where chance does not decide
    note: str = ""  # "depth 14, 1,200,000 nodes in 0.2 s"


class Easy:
    """Any legal move, each as likely as the others."""

    name = "easy"

    def __init__(self, state: np.uint64 = np.uint64(0)) -> None:
        self._state = state

    def open_game(self, start: Position, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Draw from the game's own stream."""
        self._state = state

    def choose(self, position: Position) -> str:
        """A random legal move."""
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
        known = position.family.die == "cycle"
        depth = 2 if self.name == "normal" else 8 if known else 4
        return position.text_of(baseline_move(position.rules, position.words, depth))


def make_agent(spec: str, game: str = "ewn-6x7") -> Agent:
    """The agent a text names."""
    if spec.startswith(("exec:", "exec[")):
        from tuplet.agents.external import External

        return External(spec, game)
    if spec in ("easy", "random"):
        return Easy()
    if spec in ("normal", "hard"):
        return Baseline(spec)
    raise ValueError(f"{spec!r} is not an agent: easy, normal, hard")
