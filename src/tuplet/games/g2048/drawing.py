"""What boards look like: the tile colours, and a board as SVG."""

from __future__ import annotations

from collections.abc import Sequence

GRID = "#bbada0"
EMPTY = "#cdc1b4"
DARK, LIGHT = "#776e65", "#f9f6f2"
BEYOND = "#3c3a32"
TILES = {
    2: "#eee4da",
    4: "#ede0c8",
    8: "#f2b179",
    16: "#f59563",
    32: "#f67c5f",
    64: "#f65e3b",
    128: "#edcf72",
    256: "#edcc61",
    512: "#edc850",
    1024: "#edc53f",
    2048: "#edc22e",
    4096: "#b784ab",
    8192: "#aa60a6",
    16384: "#7a4fa3",
    32768: "#4b5fb5",
}


def colours(tile: int) -> tuple[str, str]:
    """Background and text colour of a tile (0 for an empty cell)."""
    background = EMPTY if tile == 0 else TILES.get(tile, BEYOND)
    return background, DARK if tile <= 4 else LIGHT


def board_svg(tiles: Sequence[int], columns: int, cell: int = 60, gap: int = 8) -> str:
    """A board's tiles, row by row, as an SVG picture."""
    step = cell + gap
    width, height = columns * step + gap, len(tiles) // columns * step + gap
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
        'font-weight="bold" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" rx="8" fill="{GRID}"/>',
    ]
    for i, tile in enumerate(tiles):
        row, column = divmod(i, columns)
        x, y = gap + column * step, gap + row * step
        background, text = colours(tile)
        parts.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" rx="4" fill="{background}"/>')
        if tile:
            size = cell * (0.5, 0.5, 0.42, 0.34, 0.28, 0.24)[len(str(tile)) - 1]
            parts.append(
                f'<text x="{x + cell / 2}" y="{y + cell / 2 + size * 0.35:.1f}" '
                f'font-size="{size:.0f}" fill="{text}">{tile}</text>'
            )
    return "".join(parts) + "</svg>"
