"""Boards of any game, given as rows of short texts, as text and as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

Cells = Sequence[Sequence[str]]  # "" is empty

PALETTE = ("#c8402f", "#2f62b5", "#3f8f4f", "#c8912f", "#7a4fa3", "#4d4d4d")
SQUARE, LINE = "#f3ead9", "#cbb994"
CELL = 56  # pixels


def colours_of(cells: Cells, colours: Mapping[str, str]) -> dict[str, str]:
    """A colour for each text on a board: those in `colours`, and others in the order of the texts."""
    texts = sorted({cell for row in cells for cell in row if cell} - colours.keys())
    return {**colours, **{text: PALETTE[i % len(PALETTE)] for i, text in enumerate(texts)}}


def grid_text(cells: Cells) -> str:
    """A line for each row."""
    width = max((len(cell) for row in cells for cell in row), default=1)
    return "\n".join(" " + " ".join(f"{cell or '.':>{width}}" for cell in row) for row in cells)


def grid_svg(
    cells: Cells,
    colours: Mapping[str, str],
    caption: str,
    *,
    label: Callable[[str], str] = str,
    radius: float = CELL / 2 - 6,
    fills: Mapping[tuple[int, int], str] | None = None,
    marked: tuple[int, int] | None = None,
) -> str:
    """Pieces on squares, a caption below.

    `radius` rounds the corners of pieces, `fills` colours squares, `marked` frames one.
    """
    columns, colours = max(map(len, cells), default=0), colours_of(cells, colours)
    width, height = max(columns * CELL + 16, 9 * len(caption)), len(cells) * CELL + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            x, y, fill = 8 + c * CELL, 8 + r * CELL, (fills or {}).get((r, c), SQUARE)
            mark = ' stroke-width="3"' if (r, c) == marked else ""
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LINE}"{mark}/>')
            if cell:
                parts.append(
                    f'<rect x="{x + 6}" y="{y + 6}" width="{CELL - 12}" height="{CELL - 12}" rx="{radius:g}" '
                    f'fill="{colours[cell]}"/>'
                    f'<text x="{x + CELL / 2:g}" y="{y + CELL / 2 + 8:g}" text-anchor="middle" font-size="24" '
                    f'font-weight="bold" fill="#ffffff">{escape(label(cell))}</text>'
                )
    parts.append(f'<text x="8" y="{height - 12}" font-size="15" fill="#333333">{escape(caption)}</text>')
    return "\n".join([*parts, "</svg>"])
