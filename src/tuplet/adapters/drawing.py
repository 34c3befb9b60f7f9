"""Boards as arrays of pixels, or drawn in the terminal."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tuplet.games.drawing import LINE, SQUARE, Cells, colours_of
from tuplet.games.ewn.game import COLOURS as CUBES, GOALS
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.drawing import GRID, colours

Array = np.ndarray[Any, Any]

CELL, GAP = 48, 4  # pixels
FPS = 4  # frames a second
_INSET = 5  # pixels between a piece and the edge of its square
_WIDE = 6  # characters of a cell in the terminal

# A letter and its five rows of three dots, an octal digit each.
_GLYPHS = (
    "075557 126227 271747 371717 455711 574717 674757 771111 875757 975717 A25755 B65656 "
    "C34443 D65556 E74647 F74644 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 "
    "O25552 P65644 Q25563 R65655 S34216 T72222 U55557 V55552 W55775 X55255 Y55222 Z71247 "
)
_FONT = {glyph[0]: glyph[1:] for glyph in _GLYPHS.split()}


class Cell(NamedTuple):
    """A cell of a board: its text and colours."""

    text: str
    ground: str
    ink: str
    piece: str = ""  # the colour of the piece, if any


def tiles_of(board: Board) -> list[list[Cell]]:
    """The cells of a board of 2048."""
    painted = [Cell(str(tile or ""), *colours(tile)) for tile in board.tiles]
    return [painted[at : at + board.columns] for at in range(0, len(painted), board.columns)]


def squares_of(cells: Cells, colours: dict[str, str]) -> list[list[Cell]]:
    """The cells of any game's board; a cell with text has a piece."""
    colour = colours_of(cells, colours)
    return [[Cell(text, SQUARE, "#ffffff", colour.get(text, "")) for text in row] for row in cells]


def cubes_of(cells: Cells) -> list[list[Cell]]:
    """The cells of an EWN board; each goal corner has the colour of the side that wants to reach it."""
    side = {"r": CUBES["red"], "b": CUBES["blue"]}
    board = [[Cell(text[1:], SQUARE, "#ffffff", side.get(text[:1], "")) for text in row] for row in cells]
    board[0][0] = board[0][0]._replace(ground=GOALS["blue"])
    board[-1][-1] = board[-1][-1]._replace(ground=GOALS["red"])
    return board


def pixels(cells: Sequence[Sequence[Cell]], frame: str = GRID) -> Array:
    """A board as an array of uint8, height by width by red, green and blue."""
    step, rows, columns = CELL + GAP, max(len(cells), 1), max(map(len, cells), default=1)
    image = np.empty((rows * step + GAP, columns * step + GAP, 3), np.uint8)
    image[:] = _rgb(frame if cells else SQUARE)
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            y, x = GAP + r * step, GAP + c * step
            own = image[y : y + CELL, x : x + CELL]
            own[:] = _rgb(cell.ground)
            if cell.piece:
                own[_INSET:-_INSET, _INSET:-_INSET] = _rgb(cell.piece)
            _stamp(own, cell.text, cell.ink)
    return image


def _rgb(colour: str) -> tuple[int, ...]:
    """The numbers behind `#rrggbb`."""
    return tuple(bytes.fromhex(colour[1:]))


def _stamp(own: Array, text: str, ink: str) -> None:
    """Write a text into the middle of a cell, as large as fits; unknown letters stay blank."""
    glyphs = [_FONT.get(letter, "00000") for letter in text.upper()]
    if not glyphs:
        return
    dots = np.zeros((5, 4 * len(glyphs) - 1), bool)
    for n, glyph in enumerate(glyphs):
        for r, digit in enumerate(glyph):
            dots[r, 4 * n : 4 * n + 3] = [int(digit, 8) >> bit & 1 for bit in (2, 1, 0)]
    size = max(1, min((CELL - 2 * _INSET - 4) // dots.shape[1], 5))
    dots = dots.repeat(size, 0).repeat(size, 1)[:CELL, :CELL]
    top, left = (CELL - dots.shape[0]) // 2, (CELL - dots.shape[1]) // 2
    own[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = _rgb(ink)


class Screen:
    """Draws frames over each other in a terminal, and one after the other into a file."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._shown = 0.0

    def __reduce__(self) -> tuple[type[Screen], tuple[()]]:
        return Screen, ()  # a copy draws for itself

    def show(self, cells: Sequence[Sequence[Cell]], caption: str) -> None:
        """Draw a frame, at most `FPS` a second."""
        console = Console()
        frame = Group(_grid(cells), Text(caption))
        if not console.is_terminal:
            console.print(frame)
            return
        if self._live is None:
            self._live = Live(console=console, auto_refresh=False)
            self._live.start()
            weakref.finalize(self, self._live.stop)  # restores the cursor even without close()
        time.sleep(max(0.0, self._shown + 1 / FPS - time.monotonic()))
        self._live.update(frame, refresh=True)
        self._shown = time.monotonic()

    def close(self) -> None:
        """Stop drawing; the last frame stays."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _grid(cells: Sequence[Sequence[Cell]]) -> Table:
    table = Table.grid(padding=0)
    for row in cells:
        table.add_row(*map(_painted, row))
    return table


def _painted(cell: Cell) -> Text:
    ink = cell.ink if cell.text else LINE
    return Text(f"{cell.text or '.':^{_WIDE}}", f"bold {ink} on {cell.piece or cell.ground}")
