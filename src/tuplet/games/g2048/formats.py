"""Games of 2048 as text: the lines of the 2048-Framework, and those of 2048verse.com.

A line of the Framework is `SLIDER:PLACER@TIME|MOVES|WINNER@TIME`, times in milliseconds. A placement is the
cell as an upper-case hexadecimal digit and the tile's exponent (lower case is read, too), a slide is `#U`,
`#R`, `#D` or `#L`; behind it the reward in square brackets and the time taken in round ones, if not zero:

    learned:random@1700000000000|0151#L21#U[4](1)E1...|random@1700000000123

Names that we write have none of `|`, `@` and `:`, because the Framework takes the first of them for the end of
the name. Names in other people's files are kept as they are.

A `Record` of 2048 begins with the first two tiles placed. Its `info` has what a format needs besides:

    opening              the first tiles in the order of their placement, as (cell, tile)
    placer               the environment
    header, winner       the names of a line that was read, as it has them
    opened_ms, closed_ms when the game began and ended
    times                milliseconds for each placement and slide

A game of 2048verse.com is a line with three letters for each tile that appears:

    4x4-1_¾ü0¾ûg¾úiÐ01...

In front are rows and columns, and the mode of play. Three letters are a number of 21 bits, seven each by their place
in LETTERS, the highest first. From the lowest bit on it is made of

    bits   0-1  the move before the tile: up, down, left, right
           2-3  the tile: 0 is a 2, 1 a 4
           4-6  its column
           7-9  its row
          10-20 the time that passed, all ones if unknown

and the first two tiles have no move before them. Older games have a letter for each tile, whose place in OLD_LETTERS
has seven bits: from the highest on two of the move (up, right, down, left), one for a 4, two of the column, two of
the row:

    replay_ !@...        replay_3x3...

Both as the site's own tools define them (github.com/2048Verse/2048-replay-utils). A board is a digit for each cell: 0,
or the tile's exponent, letters from 10 on.
"""

from __future__ import annotations

import re
import string
import time
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, as_size
from tuplet.games.record import Record
from tuplet.games.registry import find_game

Placement = tuple[int, int]  # cell and tile
Spawn = tuple[str, int, int, int]  # the move before, the tile, its row and its column

_DIGITS = "0123456789ABCDEFGHI"  # an exponent is at most 17
_MOVE = re.compile(
    r"(?:#(?P<slide>[URDL])|(?P<cell>[0-9A-Fa-f])(?P<tile>[1-9A-Ha-h]))"
    r"(?:\[(?P<reward>[0-9]{1,18})\])?(?:\((?P<time>-?[0-9]{1,18})\))?"
)
_HEADER = re.compile(r"[^|\n]*@\d{1,18}\|")

LETTERS = string.digits + string.ascii_lowercase + string.ascii_uppercase + "".join(map(chr, range(0xC0, 0x100))) + "¤¾"
OLD_LETTERS = "".join(map(chr, range(0x20, 0x7F))) + bytes(range(0x80, 0xA1)).decode("cp850")
NEW = re.compile(r"(\d{1,2}x\d{1,2})-[^_]{0,40}_")
OLD = re.compile(r"replay(?:[:_](\dx\d)?)?")
BOARD = re.compile(r"(?:\S*2048verse\.com/p/)?([0-9a-h]{16})")
_MODE = 1  # that of all games seen
_TURNS = ("up", "down", "left", "right")
_UNTIMED = 0x7FF << 10


class Format(NamedTuple):
    """A text format of games."""

    matches: Callable[[str], bool]  # whether a text looks like this format
    read: Callable[[str, Any], Record]  # a text, of this Game where it leaves that open
    write: Callable[[Record], str]


def new_record(game: Any, name: str, **info: Any) -> Record:
    """The record of a game that begins with an empty board; `place` adds the first tiles."""
    start = game.position(Board(rows=game.rows, columns=game.columns))
    return Record((name,), start, info={"opening": [], "times": [], **info})


def place(record: Record, cell: int, tile: int, time_ms: int = 0) -> None:
    """Record a placement: one of the first two tiles, or the tile after a move."""
    board = record.position.board.place(cell, tile)
    if len(record.info["opening"]) < 2:
        record.start = record.position = record.start.game.position(board)
        record.termination = record.start.termination
        record.info["opening"].append((cell, tile))
    else:
        record.apply_outcome(f"{tile}@{cell}")
    record.info["times"].append(time_ms)


def plain_name(name: str) -> str:
    """A name that can be part of a line, and that a terminal and any encoding can show."""
    words = re.sub(r"[|@:\s]+", " ", name).strip()
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def now_ms() -> int:
    """The time of day in milliseconds."""
    return time.time_ns() // 1_000_000


def opening_of(record: Record) -> list[Placement]:
    """The first tiles of a game in their order; UserError if it does not begin with the first tiles."""
    start = record.start
    if "opening" in record.info:
        return list(record.info["opening"])
    placed = [(cell, tile) for cell, tile in enumerate(start.board) if tile]
    if len(placed) != 2 or start.score or start.tile_due or max(start.board) > 4:
        raise UserError("this game does not begin with two tiles: write it as a record")
    return placed


def outcome_of(record: Record, number: int) -> Placement:
    """The tile that appeared after move `number`, from 0."""
    tile, _, cell = record.outcomes[number].partition("@")
    return int(cell), int(tile)


def write_episode(record: Record) -> str:
    """A game as a line of the Framework; UserError if it cannot be written so."""
    info, start = record.info, record.start
    if (start.rows, start.columns) != (4, 4):
        raise UserError("the Framework's line is for boards of 4x4: write it as a record")
    placer = plain_name(info.get("placer", "random"))
    steps = [_placement(*each) for each in opening_of(record)]
    for number, (position, move) in enumerate(record.replay()):
        reward = position.board.move(move)[1]
        steps.append(f"#{move[0].upper()}" + (f"[{reward}]" if reward else ""))
        steps += [_placement(*outcome_of(record, number))] if number < len(record.outcomes) else []
    times = zip_longest(steps, info.get("times", [])[: len(steps)], fillvalue=0)
    moves = "".join(f"{step}({ms})" if ms else str(step) for step, ms in times)
    name = plain_name(record.names[0])
    last = name if len(record.moves) > len(record.outcomes) else placer
    header, winner = info.get("header", f"{name}:{placer}"), info.get("winner", last)
    return f"{header}@{info.get('opened_ms', 0)}|{moves}|{winner}@{info.get('closed_ms', 0)}"


def _placement(cell: int, tile: int) -> str:
    return f"{cell:X}{_DIGITS[tile.bit_length() - 1]}"


def read_episode(line: str, game: Any) -> Record:
    """Read a line of the Framework, replaying the game; UserError for what is not legal."""
    parts = line.rstrip().removeprefix("\ufeff").split("|")
    opened, closed = _stamp(parts[0]), _stamp(parts[-1])
    if len(parts) != 3 or opened is None or closed is None:
        raise UserError("a game's record looks like SLIDER:PLACER@TIME|MOVES|WINNER@TIME")
    slider, _, placer = opened[0].partition(":")
    names = {"placer": placer or "environment", "header": opened[0], "winner": closed[0]}
    record = new_record(game, slider, **names, opened_ms=opened[1], closed_ms=closed[1])
    times, at, count = record.info["times"], 0, 0
    while at < len(parts[1]):
        step = _MOVE.match(parts[1], at)
        if step is None:
            raise UserError(f"no move can be read at ...{parts[1][at : at + 8]!r}")
        if bool(step["slide"]) != (count >= 2 and count % 2 == 0):
            raise UserError("a game is two placements, then a slide and a placement in turns")
        if step["slide"]:
            move = next(m for m in MOVES if m[0].upper() == step["slide"])
            before = record.score
            record.play(move)
            if (reward := record.score - before) != int(step["reward"] or 0):
                raise UserError(f"move {count + 1} ({move}) earns {reward}, not {step['reward'] or 0}")
            times.append(0)
        else:
            place(record, int(step["cell"], 16), 1 << _DIGITS.index(step["tile"].upper()))
        times[-1] = int(step["time"] or 0)
        at, count = step.end(), count + 1
    return record


def _stamp(text: str) -> tuple[str, int] | None:
    """A name and the time behind it."""
    name, at, when = text.rpartition("@")
    sound = at and "\n" not in text and when.isascii() and when.isdecimal() and len(when) <= 18
    return (name, int(when)) if sound else None


def is_verse(text: str) -> bool:
    """Whether a text begins as games of 2048verse do."""
    return bool(NEW.match(text) or OLD.match(text))


def read_verse(text: str, game: Any) -> Record:
    """Read a game of 2048verse, replaying it; UserError for what is not legal."""
    text = text.removeprefix("\ufeff").rstrip("\r\n")  # a blank at the end is a letter of the older format
    if head := NEW.match(text):
        spawns = _spawns(text[head.end() :].rstrip())
    elif head := OLD.match(text):
        spawns = _old_spawns(text[head.end() :])
    else:
        raise UserError("a game of 2048verse begins with 4x4-1_ or replay_")
    rows, columns = as_size(head[1] or "4x4")
    record, count = new_record(game.with_board(rows, columns), "player"), 0
    for count, (move, tile, row, column) in enumerate(spawns, 1):
        try:
            if row >= rows or column >= columns:
                raise UserError(f"row {row + 1}, column {column + 1} is not on a board of {rows}x{columns}")
            if count > 2:
                record.play(move)
            place(record, row * columns + column, tile)
        except ValueError as error:
            raise UserError(f"2048verse, tile {count:,}: {error}") from None
    if count < 2:
        raise UserError("2048verse: a game begins with two tiles, and this text has fewer")
    return record


def _spawns(text: str) -> Iterator[Spawn]:
    if len(text) % 3:
        raise UserError(
            f"2048verse: a tile is three letters, and {len(text):,} are no whole number of them: something is missing"
        )
    for at in range(0, len(text), 3):
        digits = [LETTERS.find(letter) for letter in text[at : at + 3]]
        if min(digits) < 0:
            raise UserError(f"2048verse: {text[at : at + 3]!r} is not a tile")
        bits = digits[0] << 14 | digits[1] << 7 | digits[2]
        if bits >> 2 & 3 > 1:
            raise UserError(f"2048verse: {text[at : at + 3]!r} is neither a 2 nor a 4")
        yield _TURNS[bits & 3], 2 << (bits >> 2 & 3), bits >> 7 & 7, bits >> 4 & 7


def _old_spawns(text: str) -> Iterator[Spawn]:
    for number, letter in enumerate(text):
        bits = OLD_LETTERS.find(letter)
        if bits < 0 or (number < 2 and bits >= 32):
            raise UserError(f"2048verse: {letter!r} is not a tile, number {number + 1:,}")
        yield MOVES[bits >> 5], 2 << (bits >> 4 & 1), bits & 3, bits >> 2 & 3


def write_verse(record: Record) -> str:
    """A game as 2048verse writes it; UserError if it cannot be written so."""
    if len(record.moves) > len(record.outcomes):
        raise UserError("2048verse has a tile after each move: after the last none has appeared")
    placed = [*opening_of(record), *(outcome_of(record, number) for number in range(len(record.outcomes)))]
    rows, columns = record.start.rows, record.start.columns
    text = f"{rows}x{columns}-{_MODE}_"
    for move, (cell, tile) in zip(["up", "up", *record.moves], placed, strict=True):
        if tile not in (2, 4):
            raise UserError(f"2048verse has tiles of 2 and 4 (got {tile})")
        row, column = divmod(cell, columns)
        bits = _UNTIMED | row << 7 | column << 4 | (tile == 4) << 2 | _TURNS.index(move)
        text += "".join(LETTERS[bits >> shift & 0x7F] for shift in (14, 7, 0))
    return text


FORMATS = {
    "episode": Format(lambda text: bool(_HEADER.match(text)), read_episode, write_episode),
    "2048verse": Format(is_verse, read_verse, write_verse),
}

_NOTATION = re.compile(r"(?:(2048(?::\S+)?)\s+)?(\d+(?:,\d+)+(?:/\d+(?:,\d+)+)+)((?:\s+\d+)?(?:\s+\?)?)")


def read_notation(text: str, game: Any) -> Any:
    """A position from its notation, the game's name and the points optional; None for any other text."""
    parts = _NOTATION.fullmatch(text)
    if parts is None:
        return None
    rows = parts[2].split("/")
    named = find_game(parts[1]) if parts[1] else game.with_board(len(rows), rows[0].count(",") + 1)
    return named.parse(f"{parts[2]}{parts[3]}")


def read_board(text: str, game: Any, hint: Any = None) -> Any:
    """A board in any layout as a position; a board of the hint's size if the text leaves it open."""
    digits = BOARD.fullmatch(text)
    if digits is not None:  # of 2048verse's addresses
        board = Board([1 << exponent if (exponent := int(digit, 18)) else 0 for digit in digits[1]])
    else:
        try:
            board = Board(text)
        except ValueError:
            if hint is None or (hint.rows, hint.columns) == (4, 4):
                raise
            board = Board(text, rows=hint.rows, columns=hint.columns)
    return game.with_board(board.rows, board.columns).position(board)
