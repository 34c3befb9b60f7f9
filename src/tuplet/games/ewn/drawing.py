"""EWN positions as text and as pictures."""

from __future__ import annotations

from typing import Any

from tuplet.games.drawing import CELL, LINE, SQUARE, grid_text
from tuplet.games.ewn.variant import Square

Drawn = Any  # a `Position`, which draws itself with these

COLOURS = {"red": "#c8402f", "blue": "#2f62b5"}
GOALS = {"red": "#f0c9bf", "blue": "#c6d4ee"}  # the corner that each side wants to reach


def caption(position: Drawn) -> str:
    """Who has won, or who is to move, and the die."""
    if position.winner is not None:
        return f"{position.winner} has won ({position.kind})"
    if position.chooses_die:
        return f"{position.turn} to choose the die"
    if position.needs_roll:
        return f"{position.turn} to roll"
    die = "any cube" if position.die is None else f"die {position.die}"
    coming = "".join(map(str, position.coming_die(8)[1:]))
    return f"{position.turn} to move, {die}" + (f", then {coming}..." if coming else "")


def position_text(position: Drawn) -> str:
    """The board, a line for each row, and the caption."""
    return f"{grid_text(position.cells)}\n{caption(position)}"


def position_svg(position: Drawn, moved: Square | None = None) -> str:
    """The board as SVG; the square a cube moved from may be marked."""
    rows, columns = position.variant.rows, position.variant.columns
    width, height = columns * CELL + 16, rows * CELL + 44
    goal = {(rows - 1, columns - 1): GOALS["red"], (0, 0): GOALS["blue"]}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    for row in range(rows):
        for column in range(columns):
            x, y = 8 + column * CELL, 8 + row * CELL
            fill = goal.get((row, column), SQUARE)
            mark = ' stroke-width="3"' if (row, column) == moved else ""
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LINE}"{mark}/>')
    for (side, number), (row, column) in position.cubes.items():
        x, y = 8 + column * CELL, 8 + row * CELL
        parts.append(
            f'<rect x="{x + 7}" y="{y + 7}" width="{CELL - 14}" height="{CELL - 14}" rx="7" '
            f'fill="{COLOURS[side]}"/>'
            f'<text x="{x + CELL / 2}" y="{y + CELL / 2 + 8}" text-anchor="middle" '
            f'font-size="24" font-weight="bold" fill="#ffffff">{number}</text>'
        )
    parts.append(f'<text x="8" y="{height - 12}" font-size="15" fill="#333333">{caption(position)}</text>')
    return "\n".join([*parts, "</svg>"])
