"""Boards of any game, given as rows of short texts, as text and as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Cells = Sequence[Sequence[str]]  # "" is empty

PALETTE = ("#c8402f", "#2f62b5", "#3f8f4f", "#c8912f", "#7a4fa3", "#4d4d4d")
SQUARE, LINE = "#f3ead9", "#cbb994"
CELL = 56  # pixels


def colours_of(cells: Cells, given: Mapping[str, str]) -> dict[str, str]:
    """A colour for each text on a board: the given ones, and others in the order of the texts."""
    texts = sorted({cell for row in cells for cell in row if cell} - given.keys())
    return {**given, **{text: PALETTE[i % len(PALETTE)] for i, text in enumerate(texts)}}


def grid_text(cells: Cells) -> str:
    """A line for each row."""
    width = max((len(cell) for row in cells for cell in row), default=1)
    return "\n".join(" " + " ".join(f"{cell or '.':>{width}}" for cell in row) for row in cells)


def grid_svg(cells: Cells, colours: Mapping[str, str], caption: str) -> str:
    """Round pieces on squares, a caption below."""
    columns, colours = max(map(len, cells), default=0), colours_of(cells, colours)
    width, height = max(columns * CELL + 16, 9 * len(caption)), len(cells) * CELL + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            x, y = 8 + c * CELL, 8 + r * CELL
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{SQUARE}" stroke="{LINE}"/>')
            if cell:
                mx, my = x + CELL / 2, y + CELL / 2
                parts.append(
                    f'<circle cx="{mx}" cy="{my}" r="{CELL / 2 - 6}" fill="{colours[cell]}"/>'
                    f'<text x="{mx}" y="{my + 8}" text-anchor="middle" font-size="24" '
                    f'font-weight="bold" fill="#ffffff">{escape(cell)}</text>'
                )
    parts.append(f'<text x="8" y="{height - 12}" font-size="15" fill="#333333">{escape(caption)}</text>')
    return "\n".join([*parts, "</svg>"])
