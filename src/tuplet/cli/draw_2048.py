"""Boards of 2048 in the terminal."""

from __future__ import annotations

from rich.style import Style
from rich.table import Table
from rich.text import Text

from tuplet.games.g2048 import Board
from tuplet.games.g2048.drawing import GRID, colours


def grid(board: Board, width: int = 8, tall: bool = False, edges: bool = True) -> Table:
    """A board in colours; cells of `width` characters and, if `tall`, of three lines."""
    table = Table.grid(padding=0)
    edge = Text(" \n \n " if tall else " ", style=Style(bgcolor=GRID))
    for row in range(board.rows):
        cells = [edge] if edges else []
        for tile in board.tiles[row * board.columns : (row + 1) * board.columns]:
            background, front = colours(tile)
            style = Style(color=front, bgcolor=background, bold=True)
            text = Text(f"{tile or '':^{width}}", style)
            if tall:
                text = Text(f"{'':{width}}\n{tile or '':^{width}}\n", style)
                text.append("▁" * width, Style(color=GRID, bgcolor=background))
            cells += [text, edge] if edges else [text]
        table.add_row(*cells)
    return table
