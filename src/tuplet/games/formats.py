"""Positions and games as people paste them, and as they copy them out.

A position is a notation of any game, or a board of 2048 in whatever dress (`g2048/pasted.py`). A
game is a record, as tuplet saves it, a line of the 2048-Framework, or one of 2048verse. Whatever a
text says is data: it cannot name code, and is no longer than `MOST`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.games.g2048 import Board, Episode, format_2048verse
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.games.game import Game
from tuplet.games.position import Position
from tuplet.games.record import Record
from tuplet.games.record_2048 import episode_of, is_first, record_of
from tuplet.games.registry import find_game, parse_position
from tuplet.system.file_types import describe_file
from tuplet.system.files import read_lines
from tuplet.system.tables import plural
from tuplet.system.user_code import names_code

MOST = 1 << 20  # letters of a text that somebody pasted
FORMATS = ("record", "episode", "2048verse")

Step = tuple[str | None, str | None, int, str]  # move, what chance did, reward, notation after

_STAMPED = re.compile(r"[^|\n]*@\d{1,18}\|")  # an episode begins so
_NOTATION = re.compile(r"(?:(2048(?::\S+)?)\s+)?(\d+(?:,\d+)+(?:/\d+(?:,\d+)+)+)((?:\s+\d+)?(?:\s+\?)?)")
_NEITHER = (
    "this is neither a position nor a game: paste a board (its tiles row by row, 2,0,0,4,...), a "
    "notation (ewn r1r2.../... red 3), or the line of a recorded game"
)


@dataclass(frozen=True)
class ParsedText:
    """What a text was: a position, or a game and its last position."""

    position: Any
    format: str  # "notation" or "board" of a position, one of FORMATS of a game
    record: Record | None = None

    @property
    def kind(self) -> str:
        """A "position", or a "game"."""
        return "position" if self.record is None else "game"

    def as_json(self) -> dict[str, Any]:
        """As plain values; of a game every step: move, what chance did, reward, notation after.

        A game starts where somebody can move.
        """
        told = {"kind": self.kind, "game": self.position.game.name, "format": self.format}
        if self.record is not None:
            start, steps = _steps(self.record)
            told |= {
                "players": list(self.record.names),
                "start": start,
                "steps": [list(step) for step in steps],
                "record": self.record.line,
            }
        return told | {"position": self.position.as_json()}


def read(text: str, game: str | Game | None = None) -> ParsedText:
    """What somebody pasted: a position or a game, in any of the forms that tuplet knows.

    `game` says which game is meant where the text does not. ValueError says what is wrong.

    >>> read("2 . . 4 / . 8 . . / . . . . / . . . .").position.notation
    '2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 0'
    >>> read("3x3-1_¾ü0¾ûg").position.notation  # 2048verse's
    '2048:board=3x3 0,0,0/0,2,0/2,0,0 0'
    """
    if len(text) > MOST:
        raise UserError(f"a text of {len(text):,} letters is too long: {MOST:,} are read")
    held = None if game is None else find_game(game)
    text = text.removeprefix("\ufeff").lstrip()
    if not text.strip():
        raise UserError("there is nothing to read: paste a position or a game")
    played = _game(text, held)
    if played is not None:
        form, record = played
        return ParsedText(record.position, form, record)
    form, position = _position(text.strip(), held)
    return ParsedText(position, form)


def _game(text: str, held: Game | None) -> tuple[str, Record] | None:
    """A game and the form it was in; None of what is none."""
    if format_2048verse.is_verse(text):
        return "2048verse", _recorded(format_2048verse.parse(text), held)
    lines = [line for line in text.splitlines() if line.strip()]
    games = [line for line in lines if _STAMPED.match(line) or line.startswith("{")]
    if len(lines) > 1 and len(games) == len(lines):
        raise UserError(f"these are {len(lines):,} lines, a game each: paste one of them")
    if _STAMPED.match(text):
        return "episode", _recorded(Episode.parse(text.strip()), held)
    given = _object(text)
    if given.get("kind") in ("match", "tournament") and "agents" in given:
        raise UserError("this is the first line of a saved match: paste one of its games")
    return ("record", Record.parse(text)) if "start" in given else None


def _recorded(episode: Episode, held: Game | None) -> Record:
    size = episode.start.rows, episode.start.columns
    return record_of(episode, Game2048(size, _share(held)))


def _position(text: str, held: Game | None) -> tuple[str, Any]:
    """A position and the form it was in."""
    given = _object(text)
    if isinstance(given.get("notation"), str):
        return "notation", parse_position(given["notation"])
    word, _, rest = text.partition(" ")
    word = word.split(maxsplit=1)[0]
    if found := _NOTATION.fullmatch(text):
        rows = found[2].split("/")
        size = f"{len(rows)}x{rows[0].count(',') + 1}"
        of = find_game(found[1]) if found[1] else Game2048(size, _share(held))
        return "notation", of.parse(f"{found[2]}{found[3]}")
    if word.startswith(("ewn", "2048:")) or (rest and names_code(word)):
        return "notation", parse_position(text)
    if held is not None and not isinstance(held, Game2048):
        return "notation", held.parse(text)
    board = format_2048verse.board_of(text)
    return "board", _standing(board if board is not None else _board(text, held), held)


def _board(text: str, held: Game | None) -> Board:
    """A board of 2048 in whatever dress; that of `held` if the text leaves its size open."""
    try:
        return Board(text)
    except ValueError:
        if sum(letter.isalpha() for letter in text) > len(text) / 2:
            raise UserError(_NEITHER) from None
        if isinstance(held, Game2048) and (held.rows, held.columns) != (4, 4):
            return Board(text, rows=held.rows, columns=held.columns)
        raise


def _standing(board: Board, held: Game | None) -> Any:
    return Game2048((board.rows, board.columns), _share(held)).position(board)


def _share(held: Game | None) -> float:
    """How many tiles are fours, where a text does not tell; all may appear."""
    return held.spawn4 if isinstance(held, Game2048) and 0 < held.spawn4 < 1 else 0.1


def _object(text: str) -> dict[str, Any]:
    """A JSON object, an empty one of any other text."""
    try:
        given = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _steps(record: Record) -> tuple[str, list[Step]]:
    """Where somebody first can move, and every step from there."""
    position, rolls = record.start, iter(record.rolls)
    steps: list[Step] = []

    def happen() -> str | None:
        nonlocal position
        outcome = next(rolls, None) if position.is_chance else None
        position = position if outcome is None else position.apply_outcome(outcome)
        return outcome

    while happen() is not None:
        pass
    start = position.notation
    for move in record.moves:
        before = getattr(position, "score", 0)
        position = position.play(move)
        reward = getattr(position, "score", 0) - before
        steps.append((move, happen(), reward, position.notation))
        while (outcome := happen()) is not None:  # chance may act again
            steps.append((None, outcome, 0, position.notation))
    return start, steps


def written(
    game: str | Game,
    start: Any,
    steps: Iterable[Sequence[Any]],
    format: str = "record",
    names: Sequence[str] | None = None,
) -> str:
    """A game as text, in one of FORMATS, which `read` undoes.

    `start` is a position or its notation, a step a move and what chance did after it (or None);
    whatever else it has is left out. `names` are the players', in the order of the sides.

    >>> steps = [("left", "2@1"), ("left", None)]
    >>> written("2048:board=2x2", "2,0/0,2", steps)
    '{"player": "player", "start": "2048:board=2x2 2,0/0,2 0", "moves": ["left", "left"], "rolls": ["2@1"]}'
    """
    if format not in FORMATS:
        raise UserError(f"{format!r} is not a form of games: {', '.join(FORMATS)}")
    held = find_game(game)
    position = start if isinstance(start, Position) else held.parse(str(start))
    names = tuple(position.sides if names is None else names)
    if len(names) != len(position.sides) or not all(isinstance(name, str) for name in names):
        raise UserError(f"names are {plural(len(position.sides), 'text')}, one for each side")
    record = Record(names, position)
    for number, step in enumerate(steps, 1):
        move, outcome = _step(step)
        try:
            if move is not None:
                record.play(move)
            if outcome is not None:
                record.roll(outcome)
        except ValueError as error:
            raise UserError(f"step {number:,}: {error}") from None
    if format == "record":
        return record.line
    episode = episode_of(record)
    if format == "2048verse":
        return format_2048verse.text_of(episode)
    if (episode.start.rows, episode.start.columns) != (4, 4):
        raise UserError("the Framework's line is of boards of 4x4: take the form record")
    if not is_first(record.start):
        raise UserError("the Framework has whole games: this one does not begin with two tiles")
    return str(episode)


def _step(step: Sequence[Any]) -> tuple[str | None, str | None]:
    """The first two entries of a step, checked."""
    if not isinstance(step, list | tuple) or len(step) < 2:
        raise UserError(f"a step is a move and what chance did, as in left, 2@5, not {step!r:.60}")
    move, outcome = step[0], step[1]
    if not isinstance(move, str | None) or type(outcome) not in (str, int, type(None)):
        raise UserError(f"a move is a text, and what chance did a text or a number: {step!r:.60}")
    return move, None if outcome is None else str(outcome)


def read_game(source: str | Path, number: int = 1) -> Episode | Record:
    """Game `number` of a file of games of 2048, a line each, or of a text that is one itself."""
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
        return _of_2048(line)
    except ValueError as error:
        kind = "" if is_text or format_2048verse.is_verse(line) else describe_file(source)
        if kind and not kind.startswith("games "):
            raise UserError(f"{where} is not a file of games of 2048: it is {kind}") from None
        raise UserError(f"{where}, game {number}: {error}") from None


def _is_game(text: str) -> bool:
    """Whether a text is a game itself, and not a file's name."""
    if "|" in text or text.lstrip().startswith("{"):
        return True
    named = len(text) < 256 and Path(text).is_file()
    return not named and format_2048verse.is_verse(text.lstrip())


def _of_2048(line: str) -> Episode | Record:
    if format_2048verse.is_verse(line.lstrip()):
        return format_2048verse.parse(line.lstrip())
    if not line.lstrip().startswith("{"):
        return Episode.parse(line)
    record: Record = Record.parse(line)
    if not isinstance(record.start, Position2048):
        raise UserError(f"a game of {record.start.game.name}, not of 2048: tuplet show replays it")
    return record


def _line(lines: Iterable[bytes], number: int) -> tuple[str, int]:
    """The line of a game that is not blank, and its number; the last one's if there are fewer."""
    found, count = b"", 0
    for count, found in enumerate(_filled(lines), 1):  # noqa: B007  # used below
        if count == number:
            break
    try:
        return found.decode(), count
    except UnicodeDecodeError:  # 2048verse's files have a byte for each letter
        text = found.decode("latin-1")
        return text if format_2048verse.is_verse(text) else found.decode(errors="replace"), count


def _filled(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line in lines if line.strip())
