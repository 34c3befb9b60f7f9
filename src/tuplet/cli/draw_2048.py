"""Boards of 2048 in the terminal, in as many colours as it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from rich.color import Color
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tuplet.cli.draw_board import BoardRenderer, View, abbreviate, colour_system, footer, footer_lines, too_small
from tuplet.games.analysis import Analysis
from tuplet.games.g2048 import MOVES, Board
from tuplet.games.g2048.drawing import DARK, EMPTY, GRID, LIGHT
from tuplet.games.record import Record
from tuplet.system.tables import plural
from tuplet.system.text import flow

SIZES = ((12, 5), (8, 3), (8, 2), (8, 1), (7, 2), (7, 1), (6, 1))  # of a cell: width and height

# Background and text of an empty cell, 2, 4, 8, ... The known colours of the game are too much
# alike for a small terminal: neighbours must be told apart at a glance.
_COLOURS = """\
#f4ede4 #ecd8b0 #f2b179 #f08a4b #ee6a4d #d93a1e #f2df8c #ecd05a #e5bb2b
#cf9d12 #a97a00 #b784ab #9c4f98 #6f3f9b #3f55b5 #2b2a26 #000000"""
_MANY = (EMPTY, *_COLOURS.split())
_256 = (250, 255, 223, 215, 208, 203, 160, 229, 227, 220, 178, 136, 139, 133, 97, 62, 237, 16)
_16 = (0, 7, 15, 11, 3, 9, 1, 10, 2, 14, 6, 12, 4, 13, 5, 8, 0, 0)
_DARK_TEXT = {1, 2, 3, 7, 8, 9}  # exponents whose tile is light
_DARK_TEXT_16 = {1, 2, 3, 4, 7, 8, 9, 10, 13}


@cache
def _style(exponent: int) -> Style:
    """How a tile is painted."""
    system, at = colour_system(), min(exponent, len(_MANY) - 1)
    if system is None:
        return Style(bold=True)
    if system == "truecolor":
        back, front = Color.parse(_MANY[at]), Color.parse(DARK if at in _DARK_TEXT else LIGHT)
    elif system == "256":
        back, front = Color.from_ansi(_256[at]), Color.from_ansi(238 if at in _DARK_TEXT else 231)
    else:
        back, front = Color.from_ansi(_16[at]), Color.from_ansi(0 if at in _DARK_TEXT_16 else 15)
    return Style.from_color(front, back) + Style(bold=True)


def grid(board: Board, width: int = 8, height: int = 1, edges: bool = True) -> RenderableType:
    """A board in colours; cells of `width` by `height` characters."""
    if colour_system() is None:
        return _framed(board, width, height)
    table = Table.grid(padding=0)
    ground = Style(bgcolor=GRID) if colour_system() != "standard" else Style(bgcolor="black")
    edge = Text("\n".join([" "] * height), style=ground)
    floor = Style(color=GRID) if colour_system() != "standard" else Style(color="black")
    for row in range(board.rows):
        cells = [edge] if edges else []
        for exponent in board.exponents[row * board.columns : (row + 1) * board.columns]:
            style = _style(exponent)
            lines = _cell(exponent, width, max(1, height - 1) if height > 1 else 1)
            text = Text("\n".join(lines), style)
            if height > 1:
                text.append("\n" + "▁" * width, style + floor)
            cells += [text, edge] if edges else [text]
        table.add_row(*cells)
    return table


def _cell(exponent: int, width: int, height: int) -> list[str]:
    """The lines of a cell, its number in the middle."""
    lines = [" " * width] * height
    lines[height // 2] = f"{1 << exponent if exponent else '':^{width}}"
    return lines


def _framed(board: Board, width: int, height: int) -> Text:
    """A board in lines, for terminals without colours; as large as one with them."""
    wall, high = "+" + ("-" * width + "+") * board.columns, max(1, height - 1)
    lines = [wall] if height > 1 else []
    for row in range(board.rows):
        own = board.exponents[row * board.columns : (row + 1) * board.columns]
        cells = [_cell(exponent, width, high) for exponent in own]
        lines += ["|" + "|".join(cell[line] for cell in cells) + "|" for line in range(high)]
        lines += [wall] if height > 1 else []
    return Text("\n".join(lines), no_wrap=True)


class Renderer2048(BoardRenderer):
    """Draws 2048: tiles in their colours; arrow keys are moves."""

    pauses = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.005, 0.0)
    speed = 5
    shows_analysis = False
    keys = "arrows move"
    moves_by_key = frozenset(MOVES)

    def picture(self, view: View, columns: int, lines: int) -> RenderableType:
        """The game's facts, the board as large as fits, the message, and what keys do."""
        position = view.position
        ended = ["game over"] if position.over else []
        head = [*view.names.values(), f"score {position.score:,}", plural(view.moves, "move")]
        head += [f"largest tile {position.largest}", *ended]
        return picture(position.board, head, view.message, view.keys, columns, lines)

    def result(self, record: Record) -> str:
        """The score and the largest tile."""
        return f"{record.position.score:,} points, largest tile {record.position.largest}"

    def hint(self, position: Any, chosen: str, analysis: Analysis | None) -> str:  # noqa: ARG002
        """The values of all moves, if they are known, the best first."""
        moves = [(each.value, each.move) for each in analysis.moves if each.value is not None] if analysis else []
        if not moves:
            return f"hint:  {chosen}"
        return "hint:  " + "   ".join(f"{move} {value:,.0f}" for value, move in sorted(moves, reverse=True))

    def line(self, record: Record) -> str:
        """A game on 4x4 as the 2048-Framework writes it; other boards as of other games."""
        position = record.position
        return record.text("episode" if (position.rows, position.columns) == (4, 4) else "record")


def picture(
    board: Board, head: Sequence[str], message: str, keys: Sequence[str], columns: int, lines: int
) -> RenderableType:
    """The facts of a game, the board as large as fits, the message, and what keys do."""
    keys = abbreviate(keys, columns, lines)
    size = next(_fitting(board, head, keys, columns, lines), None)
    if size is None:

        def fits(columns: int, lines: int) -> bool:
            return any(_fitting(board, head, keys, columns, lines))

        return too_small("2048", fits, columns, lines)
    width, height = size
    top = [Text(line, style="bold", no_wrap=True) for line in flow(head, columns)]
    left = lines - len(top) - _height(board, height)
    below = footer(message, keys, columns, left) if message or keys else []
    return Group(*top, grid(board, width, height), *below)


def _height(board: Board, height: int) -> int:
    """The lines of a board whose cells have `height` lines."""
    frame = 1 if height > 1 and colour_system() is None else 0
    return board.rows * height + frame


def _fitting(
    board: Board, head: Sequence[str], keys: Sequence[str], columns: int, lines: int
) -> Iterator[tuple[int, int]]:
    """Sizes of cells that fit, the largest first."""
    room = lines - len(flow(head, columns)) - footer_lines(keys, columns)
    for width, height in SIZES:
        if (width + 1) * board.columns + 1 <= columns and _height(board, height) <= room:
            yield width, height
