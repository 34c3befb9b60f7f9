"""Who plays whom in a match or tournament, in which order, and which programs are dropped on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.agents.agent import Named, agent_from
from tuplet.agents.protocol.subprocess_agent import LIMIT, ProgramCommand, Skipped, parse_memory, submissions
from tuplet.agents.specs import Pickled, Spec, label_of
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.record import Record

TIMEOUTS_TO_DROP = 4  # a program with this many timeouts, and no move, is dropped
DISQUALIFIED = "timed out in its first four games and was disqualified"


class ScheduleSlot(NamedTuple):
    """A game of the schedule: a pair of every pairing is played, then the next pair of every pairing."""

    pairing: int  # its index
    pair: int  # of this pairing
    game: int  # of the pair: in game 0 A moves first, in game 1 B
    first: int  # participant who moves first
    second: int


@cache
def pairings(agents: int) -> list[tuple[int, int]]:
    """All pairs of participants, in the order in which they meet."""
    return list(combinations(range(agents), 2))


def slot_of(number: int, agents: int = 2) -> ScheduleSlot:
    """The slot of game `number` (from 0) in a round-robin schedule."""
    all_pairings = pairings(agents)
    pair, rest = divmod(number, 2 * len(all_pairings))
    pairing, game = divmod(rest, 2)
    return ScheduleSlot(pairing, pair, game, *all_pairings[pairing][:: -1 if game else 1])


class GameResult(NamedTuple):
    """What is plural of a finished game; scores are 0 (lost), ½ (drawn) or 1 (won)."""

    a: float  # A's score
    first: float  # the score of the side that moved first
    kind: str  # how the game ended
    plies: int
    reason: str  # of a forfeit

    @classmethod
    def of(
        cls, winner: str | None, sides: Sequence[str], game: int, kind: str, plies: int, reason: str = ""
    ) -> GameResult:
        """The result of the first (0: A moved first) or second (1) game of a pair; a draw has no winner."""
        first = 0.5 if winner is None else float(winner == sides[0])
        return cls(1 - first if game else first, first, kind, plies, reason)


class Participants:
    """The agents of a match or tournament, in the order in which they were named."""

    def __init__(self, named: Sequence[Named], game: str | Game) -> None:
        self.named, self.game = [_unpickled_program(each) for each in named], game
        self.agents: list[Any] = []
        try:
            for each in self.named:
                if isinstance(each, ProgramCommand):
                    each.check()
                self.agents.append(agent_from(each, game))
        except BaseException:  # close those that were made
            self.close()
            raise

    def labels(self) -> list[str]:
        """Their names: the text that named each, or its own. Objects of the same name are numbered."""
        names: list[str] = []
        for named, agent in zip(self.named, self.agents, strict=True):
            name = label = label_of(named, agent)
            while not isinstance(named, str | Spec) and label in names:
                label = f"{name}-{int(label[len(name) + 1 :] or 1) + 1}"
            names.append(label)
        return names

    def replace(self, index: int) -> None:
        """Make an agent anew: after a forfeit its state is unknown."""
        self._close(index)
        self.agents[index] = agent_from(self.named[index], self.game)

    def pause_programs(self, *playing: int) -> None:
        """End the programs that do not play now: all of them share memory and cores."""
        for index, named in enumerate(self.named):
            if isinstance(named, ProgramCommand) and index not in playing:
                self._close(index)

    def close(self) -> None:
        """Close the agents that were made here."""
        for index in range(len(self.agents)):
            self._close(index)

    def _close(self, index: int) -> None:
        if self.agents[index] is not self.named[index]:
            with suppress(Exception):  # an error while closing changes no result
                self.agents[index].close()


def _unpickled_program(named: Named) -> Named:
    thing = named.unpickle() if isinstance(named, Pickled) else named
    return thing if isinstance(thing, ProgramCommand) else named


@dataclass(frozen=True)
class ProgramFolder:
    """The programs in a folder, and their limits."""

    programs: list[ProgramCommand]
    skipped: list[Skipped]
    time: float  # seconds per move
    memory: int | None  # bytes of a process group

    @classmethod
    def open(cls, folder: str | Path, time: float | None, memory: str | int | None) -> ProgramFolder:
        """Find the programs of a folder; UserError if there are none."""
        allowed = parse_memory(memory) if isinstance(memory, str) else memory
        limit = LIMIT if time is None else float(time)
        programs, skipped = submissions(folder, limit, allowed)
        if not programs:
            why = f": {skipped[0].name}: {skipped[0].why}" if skipped else ""
            raise UserError(f"there is no program in {folder}{why}")
        return cls(programs, skipped, limit, allowed)

    @property
    def settings(self) -> dict[str, Any]:
        """The limits, and a digest of each program, for the file of games."""
        return {
            "limits": {"time": self.time, "memory": self.memory},
            "programs": {
                each.name: hashlib.sha256(Path(each.command[-1]).read_bytes()).hexdigest()[:16]
                for each in self.programs
            },
        }


class TimeoutDropout:
    """Drops a program that has timed out in each of its first games and never made a move.

    It sees games in schedule order, so that the decision does not depend on which game finished first.
    """

    def __init__(self, programs: Sequence[int]) -> None:
        self._timeouts = dict.fromkeys(programs, 0)  # of programs that have not moved yet

    @property
    def dropped(self) -> frozenset[int]:
        """The participants that do not play any more."""
        return frozenset(index for index, count in self._timeouts.items() if count >= TIMEOUTS_TO_DROP)

    def add(self, slot: ScheduleSlot, result: GameResult) -> None:
        """Take note of a game."""
        for order, index in enumerate((slot.first, slot.second)):
            if result.plies > order:
                self._timeouts.pop(index, None)
            elif index in self._timeouts and result.first == order and result.kind == "late":
                self._timeouts[index] += 1

    def forfeit(self, slot: ScheduleSlot, names: Sequence[str], start: Any) -> Record | None:
        """The lost game of a program that was dropped; None if both play."""
        for side, index in zip(start.sides, (slot.first, slot.second), strict=True):
            if index in self.dropped:
                record = Record((names[slot.first], names[slot.second]), start)
                record.forfeit(side, "late", f"{names[index]}: it {DISQUALIFIED}")
                return record
        return None
