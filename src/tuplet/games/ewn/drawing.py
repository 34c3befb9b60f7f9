"""EWN positions as pictures."""

from __future__ import annotations

from typing import Any

from tuplet.games.drawing import grid_svg

COLOURS = {"red": "#c8402f", "blue": "#2f62b5"}
GOALS = {"red": "#f0c9bf", "blue": "#c6d4ee"}  # the corner that each side must reach


def position_svg(position: Any, marked: tuple[int, int] | None = None) -> str:
    """A position as SVG; one square may be marked."""
    game, cells = position.game, position.cells
    colours = {cell: COLOURS["red" if cell[0] == "r" else "blue"] for row in cells for cell in row if cell}
    goals = {(game.rows - 1, game.columns - 1): GOALS["red"], (0, 0): GOALS["blue"]}
    return grid_svg(
        cells, colours, position.caption(), label=lambda cell: cell[1:], radius=7, fills=goals, marked=marked
    )
