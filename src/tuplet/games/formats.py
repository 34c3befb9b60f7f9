"""Positions and games as people paste them, and as they copy them out.

A position is a notation of any game, or a board of 2048 in many layouts (`g2048/board_text.py`). A game is a
record, as tuplet saves it, a line of the 2048-Framework, or one of 2048verse. A text is data: it cannot load
code, and is at most `MOST` letters long.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.games.g2048 import formats as formats_2048
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game, Position
from tuplet.games.record import Record
from tuplet.games.registry import find_game, parse_position
from tuplet.system.file_types import describe_file
from tuplet.system.files import read_lines
from tuplet.system.tables import plural
from tuplet.system.user_code import names_code

MOST = 1 << 20  # letters of a text
FORMATS = ("record", *formats_2048.FORMATS)

Step = tuple[str | None, str | None, int, str]  # move, outcome of chance, reward, notation after

_NEITHER = (
    "this is neither a position nor a game: paste a board (its tiles row by row, 2,0,0,4,...), a "
    "notation (ewn r1r2.../... red 3), or the line of a recorded game"
)


@dataclass(frozen=True)
class ParsedText:
    """What a text is: a position, or a game and its last position."""

    position: Any
    format: str  # "notation" or "board" of a position, one of FORMATS of a game
    record: Record | None = None

    @property
    def kind(self) -> str:
        """A "position", or a "game"."""
        return "position" if self.record is None else "game"

    def as_json(self) -> dict[str, Any]:
        """As plain values. The steps of a game begin where a player can move first."""
        values = {"kind": self.kind, "game": self.position.game.name, "format": self.format}
        if self.record is not None:
            start, steps = _steps(self.record)
            values |= {
                "players": list(self.record.names),
                "start": start,
                "steps": [list(step) for step in steps],
                "record": self.record.line,
            }
        return values | {"position": self.position.as_json()}


def read(text: str, game: str | Game | None = None) -> ParsedText:
    """Read a position or a game in any format that tuplet knows.

    `game` is used where the text does not name one. UserError says what is wrong.

    >>> read("2 . . 4 / . 8 . . / . . . . / . . . .").position.notation
    '2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 0'
    >>> read("3x3-1_¾ü0¾ûg").position.notation  # 2048verse's
    '2048:board=3x3 0,0,0/0,2,0/2,0,0 0'
    """
    if len(text) > MOST:
        raise UserError(f"the text is too long: {len(text):,} letters, and at most {MOST:,} are read")
    hint = None if game is None else find_game(game)
    text = text.removeprefix("\ufeff").lstrip()
    if not text.strip():
        raise UserError("there is nothing to read: paste a position or a game")
    parsed = _game(text, hint)
    if parsed is not None:
        format, record = parsed
        return ParsedText(record.position, format, record)
    format, position = _position(text.strip(), hint)
    return ParsedText(position, format)


def _game(text: str, hint: Game | None) -> tuple[str, Record] | None:
    """A game and its format; None if the text is not a game."""
    lines = [line for line in text.splitlines() if line.strip()]
    formats = [_format_of(line) or ("record" if line.startswith("{") else "") for line in lines]
    if len(lines) > 1 and all(formats) and "2048verse" not in formats[0]:
        raise UserError(f"these are {len(lines):,} lines, a game each: paste one of them")
    if format := _format_of(text):
        return format, formats_2048.FORMATS[format].read(text, _game_2048(hint))
    values = _json_object(text)
    if values.get("kind") in ("match", "tournament") and "agents" in values:
        raise UserError("this is the first line of a saved match: paste one of its games")
    return ("record", Record.parse(text)) if "start" in values else None


def _format_of(text: str) -> str:
    """The format of a game that is not JSON, or ""."""
    return next((name for name, each in formats_2048.FORMATS.items() if each.matches(text)), "")


def _game_2048(hint: Game | None) -> Game2048:
    """2048 with the hint's share of fours if both tiles can appear, and else the usual one."""
    share = getattr(hint, "spawn4", 0.1)
    return Game2048(spawn4=share if 0 < share < 1 else 0.1)


def _position(text: str, hint: Game | None) -> tuple[str, Any]:
    """A position and its format."""
    values = _json_object(text)
    if isinstance(values.get("notation"), str):
        return "notation", parse_position(values["notation"])
    word, _, rest = text.partition(" ")
    word = word.split(maxsplit=1)[0]
    if (position := formats_2048.read_notation(text, _game_2048(hint))) is not None:
        return "notation", position
    if word.startswith(("ewn", "2048:")) or (rest and names_code(word)):
        return "notation", parse_position(text)
    if hint is not None and hint.family != "2048":
        return "notation", hint.parse(text)
    try:
        return "board", formats_2048.read_board(text, _game_2048(hint), hint)
    except ValueError:
        if sum(letter.isalpha() for letter in text) > len(text) / 2:
            raise UserError(_NEITHER) from None
        raise


def _json_object(text: str) -> dict[str, Any]:
    """A JSON object; empty for any other text."""
    try:
        values = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _steps(record: Record) -> tuple[str, list[Step]]:
    """The notation of the first position where a player can move, and every step from there."""
    position, outcomes = record.start, iter(record.outcomes)
    steps: list[Step] = []

    def apply_outcome() -> str | None:
        nonlocal position
        outcome = next(outcomes, None) if position.is_chance else None
        position = position if outcome is None else position.apply_outcome(outcome)
        return outcome

    while apply_outcome() is not None:
        pass
    start = position.notation
    for move in record.moves:
        before = getattr(position, "score", 0)
        position = position.play(move)
        reward = getattr(position, "score", 0) - before
        steps.append((move, apply_outcome(), reward, position.notation))
        while (outcome := apply_outcome()) is not None:  # chance may act again
            steps.append((None, outcome, 0, position.notation))
    return start, steps


def write(
    game: str | Game,
    start: Any,
    steps: Iterable[Sequence[Any]],
    format: str = "record",
    names: Sequence[str] | None = None,
) -> str:
    """A game as text, in one of FORMATS, which `read` reads.

    `start` is a position or its notation. A step is a move and the outcome of chance after it (or None);
    other entries are ignored. `names` are the players, in the order of the sides.

    >>> steps = [("left", "2@1"), ("left", None)]
    >>> write("2048:board=2x2", "2,0/0,2", steps)
    '{"player": "player", "start": "2048:board=2x2 2,0/0,2 0", "moves": ["left", "left"], "rolls": ["2@1"]}'
    """
    if format not in FORMATS:
        raise UserError(f"format must be one of {', '.join(FORMATS)} (got {format!r})")
    position = start if isinstance(start, Position) else find_game(game).parse(str(start))
    names = tuple(position.sides if names is None else names)
    if len(names) != len(position.sides) or not all(isinstance(name, str) for name in names):
        raise UserError(f"names must be {plural(len(position.sides), 'text')}, one for each side")
    record = Record(names, position)
    for number, step in enumerate(steps, 1):
        move, outcome = _step(step)
        try:
            if move is not None:
                record.play(move)
            if outcome is not None:
                record.apply_outcome(outcome)
        except ValueError as error:
            raise UserError(f"step {number:,}: {error}") from None
    return record.text(format)


def _step(step: Sequence[Any]) -> tuple[str | None, str | None]:
    """The first two entries of a step, checked."""
    if not isinstance(step, list | tuple) or len(step) < 2:
        raise UserError(f"a step is a move and an outcome of chance, as in left, 2@5 (got {step!r:.60})")
    move, outcome = step[0], step[1]
    if not isinstance(move, str | None) or type(outcome) not in (str, int, type(None)):
        raise UserError(f"a move is a text, and an outcome a text or a number (got {step!r:.60})")
    return move, None if outcome is None else str(outcome)


def read_game(source: str | Path, number: int = 1, *, any_game: bool = False) -> Record:
    """Game `number` of a file of games of 2048, one per line, or of a text that is a game itself.

    With `any_game` it may be a game of another kind, and the file a saved match.
    """
    text = str(source)
    is_text = isinstance(source, str) and _is_game(text)
    if is_text or not text.strip():
        line, count = _line([line.encode() for line in text.strip("\r\n").split("\n")], number)
        where = "the record"
    else:
        if Path(source).is_dir():
            raise UserError(f"{source} is {describe_file(source)}, and not a file of games")
        with Path(source).open("rb") as file:
            line, count = _line(read_lines(file, source), number)
        where = text
    if count != number:
        raise UserError(f"{where} has {plural(count, 'game')}: there is no game {number}")
    try:
        return _game_of_2048(line, any_game)
    except ValueError as error:
        kind = "" if is_text or _format_of(line) == "2048verse" else describe_file(source)
        if kind and not kind.startswith("games "):
            raise UserError(f"{where} is not a file of games of 2048: it is {kind}") from None
        raise UserError(f"{where}, game {number}: {error}") from None


def _is_game(text: str) -> bool:
    """Whether a text is a game itself, and not the name of a file."""
    if "|" in text or text.lstrip().startswith("{"):
        return True
    is_file = len(text) < 256 and Path(text).is_file()
    return not is_file and _format_of(text.lstrip()) != ""


def _game_of_2048(line: str, any_game: bool = False) -> Record:
    text = line.lstrip()
    if formats_2048.is_verse(text):
        return formats_2048.read_verse(text, Game2048(any_tile=True))
    if not text.startswith("{"):
        return formats_2048.read_episode(line, Game2048(any_tile=True))
    record = Record.parse(line)
    if record.start.game.family != "2048" and not any_game:
        raise UserError(f"a game of {record.start.game.name}, not of 2048: tuplet show replays it")
    return record


def _line(lines: Iterable[bytes], number: int) -> tuple[str, int]:
    """Line `number` of those that are not blank, and its number; the last one if there are fewer."""
    line, count = b"", 0
    for count, line in enumerate(_filled(lines), 1):  # noqa: B007  # used below
        if count == number:
            break
    try:
        return line.decode(), count
    except UnicodeDecodeError:  # files of 2048verse have one byte per letter
        text = line.decode("latin-1")
        return text if _format_of(text) == "2048verse" else line.decode(errors="replace"), count


def _filled(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line in lines if line.strip() and not _is_match_header(line))


def _is_match_header(line: bytes) -> bool:
    """Whether a line is the first one of a saved match or tournament."""
    return line.startswith(b'{"tuplet"') and b'"agents"' in line
