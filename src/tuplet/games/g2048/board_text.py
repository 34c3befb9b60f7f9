"""Boards as people paste them: rows of numbers in many layouts.

2 . . 4        | 2 |   |   | 4 |      [[2, 0, 0, 4],       2,,,4        {"board": [2, 0, ...]}
. 8 . .        |---|---|---|---|       [0, 8, 0, 0], ...   ,8,,
"""

from __future__ import annotations

import json
import re
from typing import Any

from tuplet.errors import UserError
from tuplet.games.g2048.rules import LARGEST

TILES = frozenset(1 << exponent for exponent in range(1, LARGEST + 1))
MOST_LETTERS = 10_000  # of a text that may be a board
_EMPTY = frozenset(".-_·*•∙□")
_COLOURS = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
_DRESS = re.compile(r"[A-Za-z_][\w.]*(?=\()|,?\s*\bdtype=\w+|[\"'`]")  # Board(...), array(...), ""
_FRAMES = str.maketrans(
    dict.fromkeys("│┃║╎╏┆┇┊┋▏▕", "|")
    | dict.fromkeys("─━═┄┅┈┉╌╍▁▔", "-")
    | dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╭╮╰╯", "+")
    | dict.fromkeys("{}()", " ")
)


def numbers(text: str) -> list[int] | list[list[int]]:
    """The tiles of a text, in rows where the text has rows.

    Dots, dashes and underscores are empty cells, and so is nothing between two bars, tabs or
    commas; frames are no cells. Exponents are read where the text says so (`exponents 1,0,0,2,...`,
    `{"exponents": [...]}`), or where nothing could be a tile and no number is above 17: a single 2
    or 4 among them makes a 3 a typing error.
    """
    if len(text) > MOST_LETTERS:
        raise UserError(f"a text of {len(text):,} letters is not a board")
    shown = text.strip()
    given, asked = _given(shown)
    try:
        # A comma at the end of a line is a habit, or stands before an empty cell.
        ways = [_rows(given, habit) for habit in (True, False)]
    except ValueError:
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        raise UserError(
            f"{shown!r} is not a board: give its tiles row by row, as in 2,0,0,4,... (0 is empty)"
        ) from None
    rows = next((rows for rows in ways if len({len(row) for row in rows}) == 1), ways[0])
    flat = [tile for row in rows for tile in row]
    clear = any(n.bit_count() > 1 for n in flat) and not any(n in TILES for n in flat)
    wrong = [n for n in flat if not 0 <= n <= LARGEST]
    if asked and wrong:
        raise UserError(f"exponents are 0 (empty) to {LARGEST} (got {wrong[0]})")
    if asked or (clear and not wrong):
        rows = [[1 << n if n else 0 for n in row] for row in rows]
        flat = [tile for row in rows for tile in row]
    return rows if len(rows) > 1 and len({len(row) for row in rows}) == 1 else flat


def _given(text: str) -> tuple[str, bool]:
    """The numbers' part of a text, a JSON object's if it is one, and whether they are exponents."""
    if word := re.match(r"exponents\b[\s:=]*", text):
        return text[word.end() :], True
    try:
        values: Any = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        values = {}
    for name in ("board", "tiles", "grid", "cells", "exponents"):
        if isinstance(values.get(name), list | str):
            part = values[name]
            return part if isinstance(part, str) else json.dumps(part), name == "exponents"
    return text, False


def _rows(text: str, habit: bool) -> list[list[int]]:
    text = _DRESS.sub("", _COLOURS.sub("", text)).translate(_FRAMES).replace("\\n", "\n")
    lines = re.split(r"[\n/;]|\][\s,]*\[", text)
    rows = [_cells(line.replace("[", " ").replace("]", " "), habit) for line in lines]
    return [row for row in rows if row]


def _cells(line: str, habit: bool) -> list[int]:
    """The tiles of one line; a comma at its end may be a habit."""
    if re.fullmatch(r"[\s|+\-=:]*", line) and re.search(r"--|==|\+|:-|-:", line):
        return []  # of a frame
    line = line.strip(" ")
    for mark, inner in (
        ("|", line.removeprefix("|").removesuffix("|")),
        ("\t", line),
        (",", line.removesuffix(",") if habit else line),
    ):
        parts = [part.split() for part in inner.split(mark)]
        if len(parts) > 1 and [] in parts and all(len(part) <= 1 for part in parts):
            return [_tile(part[0]) if part else 0 for part in parts]
    words = re.findall(r"[^\s,|+]+", line)
    return [_tile(word) for word in words if not re.fullmatch(r"[-=_]{2,}", word)]


def _tile(word: str) -> int:
    return 0 if word in _EMPTY else int(re.sub(r"(?<=\d)\.0*$", "", word))
