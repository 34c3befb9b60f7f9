"""A game as it was played: a JSON object on one line, replayed and checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from tuplet.errors import UserError
from tuplet.games.registry import RECORD_KEYS, parse_position
from tuplet.system.tables import Table, Tabular

FORFEITS = ("late", "illegal", "crashed", "memory")  # terminations besides the game's own
_FIELDS = {"kind": "termination", "rolls": "outcomes"}  # JSON keys that differ from the names of fields


class Forfeit(Exception):  # noqa: N818  # not an error of the program: a way to lose
    """Raised by an agent that loses at once: it was "late", "illegal", "crashed", or "memory".

    `transcript` has the last lines of a program's communication.
    """

    def __init__(self, kind: str, reason: str, transcript: Sequence[str] = ()) -> None:
        if kind not in FORFEITS:
            raise UserError(f"a forfeit is one of {', '.join(FORFEITS)} (got {kind!r})")
        super().__init__(kind, reason)
        self.kind, self.reason, self.transcript = kind, reason, transcript


@dataclass
class Record(Tabular):
    """The players of a game, its first position, every move and outcome of chance, and its end.

    In JSON the players are named by their sides. A drawn game has a `kind`, but no `winner`. Text formats
    of a game keep what else they need in `info`; see `tuplet.games.g2048.formats`.

    >>> import tuplet
    >>> record = Record(("you", "me"), tuplet.game("ewn").setup())
    >>> record.apply_outcome(1)
    >>> record.play("12")
    >>> Record.parse(record.line).position == record.position
    True
    """

    names: tuple[str, ...]  # of the players, in the order of the sides
    start: Any  # Position
    moves: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)  # of chance
    winner: str | None = None  # a side
    termination: str | None = None  # how it ended: one of the game's `terminations`, or of FORFEITS
    reason: str = ""  # of a forfeit
    position: Any = None  # the last Position
    transcript: list[str] = field(default_factory=list)  # the last lines of a program that forfeited
    info: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.position is None:
            self.position = self.start
            self._check_end()

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides of the game; the first one moves first by the rules."""
        return tuple(self.start.sides)

    def name(self, side: str) -> str:
        """The player of a side."""
        return self.names[self.sides.index(side)]

    def apply_outcome(self, outcome: object) -> None:
        """Record an outcome of chance, such as a roll of the die."""
        self.position = self.position.apply_outcome(outcome)
        self.outcomes.append(str(outcome))
        self._check_end()

    def play(self, move: str) -> None:
        """Record a move; UserError if it is not legal."""
        self.position = self.position.play(move)
        self.moves.append(move)
        self._check_end()

    def _check_end(self) -> None:
        if self.position.over:
            self.winner, self.termination = self.position.winner, self.position.termination

    def forfeit(self, side: str, kind: str, reason: str, transcript: Sequence[str] = ()) -> None:
        """End the game: `side` loses, for one of FORFEITS."""
        self.winner = next((other for other in self.sides if other != side), None)
        self.termination, self.reason, self.transcript = kind, reason, list(transcript)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.termination is not None

    @property
    def score(self) -> int:
        """The points so far, in a game that counts them."""
        return int(getattr(self.position, "score", 0))

    def replay(self) -> Iterator[tuple[Any, str]]:
        """Each position in which a player moved, and the move."""
        position, outcomes = self.start, iter(self.outcomes)
        for move in self.moves:
            while position.is_chance:
                position = position.apply_outcome(next(outcomes))
            yield position, move
            position = position.play(move)

    def table(self) -> Table:
        """A row for each move; `tiles`, `reward` and `score` in a game that has them."""
        has_tiles, has_score = hasattr(self.start, "tiles"), hasattr(self.start, "score")
        rows: list[tuple[object, ...]] = []
        for number, (position, move) in enumerate(self.replay(), 1):
            row: tuple[object, ...] = (number, position.turn, self.name(position.turn), position.notation, move)
            row += (position.tiles,) if has_tiles else ()
            if has_score:
                score = position.play(move).score
                row += (score - position.score, score)
            rows.append(row)
        columns: tuple[str, ...] = ("number", "side", "name", "position", "move")
        columns += (("tiles",) if has_tiles else ()) + (("reward", "score") if has_score else ())
        return Table(columns, rows)

    def _repr_html_(self) -> str:
        """How notebooks show it: the players, the last position, and the moves."""
        players = " - ".join(f"{name} ({side})" for side, name in zip(self.sides, self.names, strict=True))
        ended = _ending(self.winner, self.termination) if self.over else "not over"
        points = f"{self.score:,} points, " if self.start.game.players == 1 else ""
        moves = escape(" ".join(self.moves))
        return f"<p><b>{escape(players)}</b>: {points}{escape(ended)}</p>{self.position._repr_svg_()}<p>{moves}</p>"

    def copy(self) -> Record:
        """A copy, to which moves can be added."""
        return replace(self, moves=list(self.moves), outcomes=list(self.outcomes), info=deepcopy(self.info))

    @property
    def line(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(self.as_json(), ensure_ascii=False)

    def text(self, format: str = "record") -> str:
        """The record as one line: JSON ("record"), or in one of the game's `formats`."""
        if format == "record":
            return self.line
        formats = self.start.game.formats
        if format not in formats:
            known = ", ".join(("record", *formats))
            raise UserError(f"a game of {self.start.game.name} is written as {known} (got {format!r})")
        return str(formats[format].write(self))

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object; empty values are left out."""
        values = {key: getattr(self, _FIELDS.get(key, key)) for key in RECORD_KEYS}
        values["start"] = self.start.notation
        values["rolls"] = [int(outcome) if _is_number(outcome) else outcome for outcome in self.outcomes]
        filled = {key: value for key, value in values.items() if value not in (None, "", [])}
        return dict(zip(self.sides, self.names, strict=True)) | filled

    @classmethod
    def parse(cls, line: str) -> Record:
        """Read a line of JSON, replaying the game; UserError for what is not legal."""
        try:
            values = json.loads(line)
            start, moves, outcomes = values["start"], values.get("moves", []), values.get("rolls", [])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"not a game's record: {error}") from None
        good = isinstance(start, str) and _is_list(moves, str) and _is_list(outcomes, int, str)
        if not good or any(isinstance(each, str) and _is_number(each) for each in outcomes):
            raise UserError("not a game's record: start and moves are texts, rolls numbers")
        position = parse_position(start)
        missing = [side for side in position.sides if side not in values]
        if missing:
            raise UserError(f"not a game's record: it does not say who was {missing[0]}")
        names = tuple(values[side] for side in position.sides)
        if not _is_list([*names, values.get("reason", "")], str):
            raise UserError("not a game's record: names and reasons are texts")
        record = cls(names, position)
        rest = iter(outcomes)
        for move in moves:
            while record.position.is_chance:
                outcome = next(rest, None)
                if outcome is None:
                    raise UserError("a roll of the die is missing")
                record.apply_outcome(outcome)
            record.play(move)
        for outcome in rest:
            record.apply_outcome(outcome)
        record._read_end(values)
        return record

    def _read_end(self, values: dict[str, Any]) -> None:
        """Take over a forfeit; UserError if the moves show another end than the record says."""
        winner, termination = values.get("winner"), values.get("kind")
        alone = winner is None and len(self.sides) == 1  # a game for one has no winner
        if not self.over and termination in FORFEITS and (winner in self.sides or alone):
            self.winner, self.termination, self.reason = winner, termination, str(values.get("reason", ""))
            self.transcript = values.get("transcript", [])
            if not _is_list(self.transcript, str):
                raise UserError("not a game's record: a transcript is a list of texts")
        elif not self.over and (winner, termination) != (None, None):
            raise UserError(f"the moves do not show that {_ending(winner, termination)}")
        elif (winner, termination) != (self.winner, self.termination):
            known = _ending(self.winner, self.termination)
            raise UserError(f"the moves show that {known}, not {_ending(winner, termination)}")


def _ending(winner: object, termination: object) -> str:
    return f"{winner} won ({termination})" if winner else f"it was drawn ({termination})"


def _is_number(text: str) -> bool:
    """Whether a text is written as JSON writes a number."""
    return text.isdecimal() and str(int(text)) == text


def _is_list(values: object, *types: type) -> bool:
    """Whether it is a list of these types alone; True is not an int."""
    return isinstance(values, list) and all(type(value) in types for value in values)
