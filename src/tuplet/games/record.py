"""A game as it was played: a JSON object of one line, replayed and checked when read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from tuplet.errors import UserError
from tuplet.games.registry import RECORD_KEYS, parse_position
from tuplet.system.tables import Table, Tabular

FORFEITS = ("late", "illegal", "crashed", "memory")  # kinds of endings besides the game's own


class Forfeit(Exception):  # noqa: N818  # no error of the program: a way to lose
    """Raised by an agent that gives a game up: it was "late", "illegal", "crashed", or "memory".

    `transcript` is what was said last, a line each, if it is a program.
    """

    def __init__(self, kind: str, reason: str, transcript: Sequence[str] = ()) -> None:
        if kind not in FORFEITS:
            raise UserError(f"a forfeit is {', '.join(FORFEITS)}, not {kind!r}")
        super().__init__(kind, reason)
        self.kind, self.reason, self.transcript = kind, reason, transcript


@dataclass
class Record(Tabular):
    """Who played, from which position, every move and what chance did, and how it ended.

    In JSON the players stand under the names of their sides. A drawn game has a `kind`, but no
    `winner`.

    >>> import tuplet
    >>> record = Record(("you", "me"), tuplet.game("ewn").setup())
    >>> record.roll(1)
    >>> record.play("12")
    >>> Record.parse(record.line).position == record.position
    True
    """

    names: tuple[str, ...]  # who had which side
    start: Any  # a position of any game
    moves: list[str] = field(default_factory=list)
    rolls: list[str] = field(default_factory=list)  # what chance did
    winner: str | None = None  # a side
    termination: str | None = None  # how it ended, in a word of the game's, or one of FORFEITS
    reason: str = ""  # of a forfeit
    position: Any = None  # the last
    transcript: list[str] = field(default_factory=list)  # of a program that forfeited: the end

    def __post_init__(self) -> None:
        if self.position is None:
            self.position = self.start
            self.winner, self.termination = self.start.winner, self.start.termination

    @property
    def sides(self) -> tuple[str, ...]:
        """Of the game, the one that moves first by the rules first."""
        return tuple(self.start.sides)

    def name(self, side: str) -> str:
        """Who had a side."""
        return self.names[self.sides.index(side)]

    def roll(self, outcome: object) -> None:
        """Record what chance did: a roll of the die, say."""
        self.position = self.position.apply_outcome(outcome)
        self.rolls.append(str(outcome))
        self._look()

    def play(self, move: str) -> None:
        """Record a move; ValueError if it is not legal."""
        self.position = self.position.play(move)
        self.moves.append(move)
        self._look()

    def _look(self) -> None:
        """Note how the game ended, if it did."""
        if self.position.over:
            self.winner, self.termination = self.position.winner, self.position.termination

    def forfeit(self, side: str, kind: str, reason: str, transcript: Sequence[str] = ()) -> None:
        """End the game: `side` loses, in one of the ways of FORFEITS."""
        self.winner = next((other for other in self.sides if other != side), None)
        self.termination, self.reason, self.transcript = kind, reason, list(transcript)

    @property
    def over(self) -> bool:
        """Whether the game has ended, won or drawn."""
        return self.termination is not None

    def replay(self) -> Iterator[tuple[Any, str]]:
        """Each position in which somebody moved, and the move made on it."""
        position, rolls = self.start, iter(self.rolls)
        for move in self.moves:
            while position.is_chance:
                position = position.apply_outcome(next(rolls))
            yield position, move
            position = position.play(move)

    def table(self) -> Table:
        """A row for each move."""
        columns = ("number", "side", "name", "position", "move")
        rows = [
            (number, position.turn, self.name(position.turn), position.notation, move)
            for number, (position, move) in enumerate(self.replay(), 1)
        ]
        return Table(columns, rows)

    def _repr_html_(self) -> str:
        """How notebooks show it: who played, how it stands, and the moves."""
        who = " - ".join(f"{name} ({side})" for side, name in zip(self.sides, self.names, strict=True))
        ended = _ended(self.winner, self.termination) if self.over else "not over"
        drawn = getattr(self.position, "_repr_svg_", str)()
        moves = escape(" ".join(self.moves))
        return f"<p><b>{escape(who)}</b>: {escape(ended)}</p>{drawn}<p>{moves}</p>"

    def copy(self) -> Record:
        """The record as it stands now."""
        return replace(self, moves=list(self.moves), rolls=list(self.rolls))

    @property
    def line(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(self.as_json(), ensure_ascii=False)

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object; what is empty is left out."""
        values = {key: getattr(self, {"kind": "termination"}.get(key, key)) for key in RECORD_KEYS}
        values["start"] = self.start.notation
        values["rolls"] = [int(roll) if _is_number(roll) else roll for roll in self.rolls]
        told = {name: value for name, value in values.items() if value not in (None, "", [])}
        return dict(zip(self.sides, self.names, strict=True)) | told

    @classmethod
    def parse(cls, line: str) -> Record:
        """Read a line, playing it as it goes: what is not legal raises ValueError."""
        try:
            given = json.loads(line)
            start, moves = given["start"], given.get("moves", [])
            rolls = given.get("rolls", [])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"not a game's record: {error}") from None
        good = isinstance(start, str) and _all(str, moves) and _all((int, str), rolls)
        if not good or any(isinstance(roll, str) and _is_number(roll) for roll in rolls):
            raise UserError("not a game's record: start and moves are texts, rolls numbers")
        position = parse_position(start)
        missing = [side for side in position.sides if side not in given]
        if missing:
            raise UserError(f"not a game's record: it does not say who was {missing[0]}")
        names = tuple(given[side] for side in position.sides)
        if not _all(str, [*names, given.get("reason", "")]):
            raise UserError("not a game's record: names and reasons are texts")
        record = cls(names, position)
        left = iter(rolls)
        for move in moves:
            while record.position.is_chance:
                outcome = next(left, None)
                if outcome is None:
                    raise UserError("a roll of the die is missing")
                record.roll(outcome)
            record.play(move)
        for outcome in left:
            record.roll(outcome)
        winner, kind = given.get("winner"), given.get("kind")
        alone = winner is None and len(record.sides) == 1  # whom nobody beats
        if not record.over and kind in FORFEITS and (winner in record.sides or alone):
            record.winner, record.termination, record.reason = winner, kind, str(given.get("reason", ""))
            said = given.get("transcript", [])
            if not _all(str, said):
                raise UserError("not a game's record: a transcript is a list of texts")
            record.transcript = said
        elif not record.over and (winner, kind) != (None, None):
            raise UserError(f"the moves do not show that {_ended(winner, kind)}")
        elif (winner, kind) != (record.winner, record.termination):
            shown = _ended(record.winner, record.termination)
            raise UserError(f"the moves show that {shown}, not {_ended(winner, kind)}")
        return record


def _ended(winner: object, kind: object) -> str:
    return f"{winner} won ({kind})" if winner else f"it was drawn ({kind})"


def _is_number(text: str) -> bool:
    """Whether a text is written as JSON writes a number."""
    return text.isdecimal() and str(int(text)) == text


def _all(kind: type | tuple[type, ...], values: object) -> bool:
    """Whether it is a list of nothing but that; JSON's true is no number."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(values, list) and all(type(value) in kinds for value in values)
