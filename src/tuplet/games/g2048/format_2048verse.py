"""Games as 2048verse.com copies them: a line of text, three letters for each tile that appears.

    4x4-1_¾ü0¾ûg¾úiÐ01...

In front stand rows and columns, and the mode of play. Three letters are a number of 21 bits, seven
each by their place in LETTERS, the highest first. From the lowest bit on it is made of

    bits   0-1  the move before the tile: up, down, left, right
           2-3  the tile: 0 is a 2, 1 a 4
           4-6  its column
           7-9  its row
          10-20 the time that passed, all ones if unknown

and the first two tiles have no move before them. Older games have a letter for each tile, whose
place in OLD_LETTERS has seven bits: from the highest on two of the move (up, right, down, left),
one for a 4, two of the column, two of the row:

    replay_ !@...        replay_3x3...

Both as the site's own tools define them (github.com/2048Verse/2048-replay-utils). A board is a
digit for each cell: 0, or the tile's exponent, letters from 10 on.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence

from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, as_size

LETTERS = string.digits + string.ascii_lowercase + string.ascii_uppercase + "".join(map(chr, range(0xC0, 0x100))) + "¤¾"
OLD_LETTERS = "".join(map(chr, range(0x20, 0x7F))) + bytes(range(0x80, 0xA1)).decode("cp850")
NEW = re.compile(r"(\d{1,2}x\d{1,2})-[^_]{0,40}_")
OLD = re.compile(r"replay(?:[:_](\dx\d)?)?")
BOARD = re.compile(r"(?:\S*2048verse\.com/p/)?([0-9a-h]{16})")
_MODE = 1  # that of all games seen
_TURNS = ("up", "down", "left", "right")
_UNTIMED = 0x7FF << 10

Spawn = tuple[str, int, int, int]  # the move before, the tile, its row and its column


def is_verse(text: str) -> bool:
    """Whether a text begins as games of 2048verse do."""
    return bool(NEW.match(text) or OLD.match(text))


def parse(text: str) -> tuple[tuple[int, int], Iterator[Spawn]]:
    """The size of a game's board, and every tile that appears."""
    text = text.removeprefix("\ufeff").rstrip("\r\n")  # a blank at the end is a letter of the older format
    if head := NEW.match(text):
        return as_size(head[1]), _spawns(text[head.end() :].rstrip())
    if head := OLD.match(text):
        return as_size(head[1] or "4x4"), _old_spawns(text[head.end() :])
    raise UserError("a game of 2048verse begins with 4x4-1_ or replay_")


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


def text_of(size: tuple[int, int], moves: Sequence[str], placements: Iterable[tuple[int, int]]) -> str:
    """A game as the site writes it: the move before each tile, and the tile's cell and value."""
    text = f"{size[0]}x{size[1]}-{_MODE}_"
    for move, (cell, tile) in zip(moves, placements, strict=True):
        if tile not in (2, 4):
            raise UserError(f"2048verse has tiles of 2 and 4 (got {tile})")
        row, column = divmod(cell, size[1])
        bits = _UNTIMED | row << 7 | column << 4 | (tile == 4) << 2 | _TURNS.index(move)
        text += "".join(LETTERS[bits >> shift & 0x7F] for shift in (14, 7, 0))
    return text


def board_of(text: str) -> Board | None:
    """A board of 4x4 as the site's addresses have it; None of any other text."""
    found = BOARD.fullmatch(text)
    exponents = [] if found is None else [int(digit, 18) for digit in found[1]]
    return Board([1 << e if e else 0 for e in exponents]) if exponents else None
