"""A game of EWN as it was played: a JSON object of one line, replayed and checked when read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from tuplet.games.ewn.position import SIDES, Position, Side

FORFEITS = ("late", "illegal", "crashed")  # kinds of endings besides corner and elimination


class Forfeit(Exception):  # noqa: N818  # no error of the program: a way to lose
    """Raised by an agent that gives a game up: it was "late", "illegal" or "crashed"."""

    def __init__(self, kind: str, reason: str) -> None:
        if kind not in FORFEITS:
            raise ValueError(f"a forfeit is {', '.join(FORFEITS)}, not {kind!r}")
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


@dataclass
class Record:
    """Who played, from which position, every roll and move, and how it ended.

    >>> record = Record("you", "me", Position.start("ewn"))
    >>> record.roll(1)
    >>> record.play("12")
    >>> Record.parse(record.line).position == record.position
    True
    """

    red: str
    blue: str
    start: Position
    moves: list[str] = field(default_factory=list)
    rolls: list[int] = field(default_factory=list)
    winner: Side | None = None
    kind: str | None = None  # corner, elimination, or one of FORFEITS
    reason: str = ""  # of a forfeit
    position: Position = None  # type: ignore[assignment]  # the last; set at once

    def __post_init__(self) -> None:
        if self.position is None:
            self.position = self.start

    def roll(self, number: int) -> None:
        """Record a roll of the die."""
        self.position = self.position.roll(number)
        self.rolls.append(number)

    def play(self, move: str) -> None:
        """Record a move; ValueError if it is not legal."""
        self.position = self.position.play(move)
        self.moves.append(move)
        self.winner, self.kind = self.position.winner, self.position.kind

    def forfeit(self, side: Side, kind: str, reason: str) -> None:
        """End the game: `side` loses because it was late, illegal, or crashed."""
        self.winner, self.kind, self.reason = SIDES[side == "red"], kind, reason

    @property
    def over(self) -> bool:
        """Whether somebody has won."""
        return self.winner is not None

    def replay(self) -> Iterator[tuple[Position, str]]:
        """Each position, die rolled, and the move made on it."""
        position, rolls = self.start, iter(self.rolls)
        for move in self.moves:
            if position.needs_roll:
                position = position.roll(next(rolls))
            yield position, move
            position = position.play(move)

    @property
    def line(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(self.as_json(), ensure_ascii=False)

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object; what is empty is left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "position"}
        values["start"] = self.start.notation
        return {
            name: value for name, value in values.items()
            if value not in (None, "", []) or name in SIDES
        }  # fmt: skip

    @classmethod
    def parse(cls, line: str) -> Record:
        """Read a line, playing it as it goes: what is not legal raises ValueError."""
        try:
            given = json.loads(line)
            start, moves = given["start"], given.get("moves", [])
            rolls = given.get("rolls", [])
            names = str(given["red"]), str(given["blue"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a game's record: {error}") from None
        if not isinstance(start, str) or not _all(str, moves) or not _all(int, rolls):
            raise ValueError("not a game's record: start and moves are texts, rolls numbers")
        record = cls(*names, Position.parse(start))
        left = iter(rolls)
        for move in moves:
            if record.position.needs_roll:
                number = next(left, None)
                if number is None:
                    raise ValueError("a roll of the die is missing")
                record.roll(number)
            record.play(move)
        for number in left:
            record.roll(number)
        winner, kind = given.get("winner"), given.get("kind")
        if record.winner is None and winner is not None:
            if winner not in SIDES or kind not in FORFEITS:
                raise ValueError(f"the moves do not show that {winner} won")
            record.winner, record.kind, record.reason = winner, kind, str(given.get("reason", ""))
        elif (winner, kind) != (record.winner, record.kind):
            raise ValueError(
                f"the moves show that {record.winner} won ({record.kind}), not {winner} ({kind})"
            )
        return record


def _all(kind: type, values: object) -> bool:
    """Whether it is a list of nothing but that; JSON's true is no number."""
    return isinstance(values, list) and all(type(value) is kind for value in values)
