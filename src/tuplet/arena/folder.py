"""A class's programs in a tournament: who plays, within which limits, who is not asked again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.agents.protocol.submissions import Skipped, submissions
from tuplet.agents.protocol.subprocess_agent import LIMIT, ProgramCommand, as_bytes
from tuplet.arena.forfeits import DISQUALIFIED
from tuplet.arena.played import GameResult, ScheduleSlot
from tuplet.errors import UserError
from tuplet.games.record import Record

TIMEOUTS_TO_DROP = 4  # games: who has not moved in time in any of so many is not asked again


@dataclass(frozen=True)
class ProgramFolder:
    """The programs of a folder, and their limits."""

    programs: list[ProgramCommand]
    skipped: list[Skipped]
    time: float  # seconds a move
    memory: int | None  # bytes of a process group

    @classmethod
    def of(cls, folder: str | Path, time: float | None, memory: str | int | None) -> ProgramFolder:
        """Look through a folder; ValueError if there is no program in it."""
        allowed = as_bytes(memory) if isinstance(memory, str) else memory
        limit = LIMIT if time is None else float(time)
        programs, skipped = submissions(folder, limit, allowed)
        if not programs:
            why = f": {skipped[0].name}: {skipped[0].why}" if skipped else ""
            raise UserError(f"there is no program in {folder}{why}")
        return cls(programs, skipped, limit, allowed)

    @property
    def settings(self) -> dict[str, Any]:
        """What a file of their games must agree with."""
        return {
            "limits": {"time": self.time, "memory": self.memory},
            "programs": {each.name: _digest(Path(each.command[-1])) for each in self.programs},
        }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class TimeoutDropout:
    """Who is late in each of its first games, and has never moved, is not asked again.

    It looks at games in their order, so that nothing depends on who was faster.
    """

    def __init__(self, pairings: Sequence[tuple[int, int]], seats: Sequence[int]) -> None:
        self.pairings = pairings
        self._late = dict.fromkeys(seats, 0)  # programs that have not moved yet, and how often

    @property
    def dropped(self) -> frozenset[int]:
        """The seats that are not asked any more."""
        return frozenset(seat for seat, late in self._late.items() if late >= TIMEOUTS_TO_DROP)

    def see(self, at: ScheduleSlot, played: GameResult) -> None:
        """Take note of a game."""
        movers = self.pairings[at.pairing][:: -1 if at.game else 1]  # who moves first, second
        for place, seat in enumerate(movers):
            lost = played.first == place
            if played.plies > place:
                self._late.pop(seat, None)
            elif seat in self._late and lost and played.kind == "late":
                self._late[seat] += 1


def unplayed(names: tuple[str, ...], start: Any, out: int) -> Record:
    """A game of somebody who is not asked: the first or second (0, 1) to move loses it."""
    record = Record(names, start)
    record.forfeit(record.sides[out], "late", f"{names[out]}: it {DISQUALIFIED}")
    return record
