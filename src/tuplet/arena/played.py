"""A game of a match: its place in the schedule, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

from tuplet.games.record import Record


class ScheduleSlot(NamedTuple):
    """Where a game stands in the schedule."""

    pairing: int
    pair: int
    game: int  # of the pair: 0, A is Red; 1, A is Blue


def slot_of(number: int, pairings: int = 1) -> ScheduleSlot:
    """The place of game `number`: a pair of every pairing, then the next pair of every one."""
    pair, rest = divmod(number, 2 * pairings)
    return ScheduleSlot(rest // 2, pair, rest % 2)


class GameResult(NamedTuple):
    """What is counted of a game; scores are 0 (lost), ½ (drawn) or 1 (won)."""

    a: float
    first: float  # of the side that moves first
    kind: str  # how it ended
    plies: int
    reason: str  # of a forfeit

    @classmethod
    def of(cls, record: Record, game: int) -> GameResult:
        """A finished game, the first (0: A moves first) or second of its pair."""
        assert record.kind is not None
        sides = record.sides[0], record.sides[1]
        plies = len(record.moves)
        return cls.won_by(record.winner, sides, game, record.kind, plies, record.reason)

    @classmethod
    def won_by(
        cls, winner: str | None, sides: tuple[str, str], game: int, kind: str, plies: int, reason: str
    ) -> GameResult:
        """The same of a game of which only that is known; nobody wins a draw."""
        first = 0.5 if winner is None else float(winner == sides[0])
        return cls(1 - first if game else first, first, kind, plies, reason)
