"""What the diagrams of docs/methods are drawn with: text, arrows, boards, on a white sheet.

Sheets are narrow, so that letters can still be read when a phone shrinks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tuplet.games.g2048.drawing import board_svg

WIDTH = 420.0
INK, PALE, FAINT, PAPER = "#2b2b2b", "#6b6b6b", "#d9d2c7", "#ffffff"
ACCENT, COOL, GOOD = "#a0521a", "#20639b", "#2e7d4f"  # updates, values, what is chosen
FONT = "Helvetica, Arial, sans-serif"
CELL, GAP = 60, 8  # of `board_svg`
SIDE = 4 * (CELL + GAP) + GAP  # pixels of a board before it is scaled

Point = tuple[float, float]


class Drawing:
    """A sheet that things are drawn on, from the back to the front."""

    def __init__(self, height: float, title: str, width: float = WIDTH) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: object,
        size: float = 14,
        colour: str = INK,
        *,
        anchor: str = "start",
        bold: bool = False,
        slanted: bool = False,
        name: str = "",
    ) -> None:
        """Words at a point; `name` is for whoever looks for them in the file."""
        style = ' font-weight="bold"' if bold else ""
        style += ' font-style="italic"' if slanted else ""
        style += f' class="{escape(name)}"' if name else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" '
            f'text-anchor="{anchor}"{style}>{escape(str(words))}</text>'
        )

    def box(
        self,
        x: float,
        y: float,
        wide: float,
        tall: float,
        *,
        fill: str = "none",
        line: str = "none",
        thick: float = 1.5,
        round_: float = 6,
        dashed: bool = False,
    ) -> None:
        """A rectangle with round corners."""
        style = ' stroke-dasharray="4 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}" '
            f'rx="{round_:g}" fill="{fill}" stroke="{line}" stroke-width="{thick:g}"{style}/>'
        )

    def circle(self, x: float, y: float, r: float, fill: str, line: str = INK) -> None:
        """A circle."""
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{fill}" stroke="{line}" stroke-width="1.2"/>'
        )

    def path(
        self, way: str, colour: str = PALE, thick: float = 1.5, *, fill: str = "none", dashed: bool = False
    ) -> None:
        """A line along an SVG path."""
        style = ' stroke-dasharray="4 4"' if dashed else ""
        self.parts.append(
            f'<path d="{way}" fill="{fill}" stroke="{colour}" stroke-width="{thick:g}" stroke-linejoin="round"{style}/>'
        )

    def line(self, points: Iterable[Point], colour: str = PALE, thick: float = 1.5) -> None:
        """A line through points."""
        self.path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), colour, thick)

    def arrow(self, way: str, tip: Point, facing: str, colour: str = PALE, thick: float = 2) -> None:
        """A line with a head at its end, which faces up, down, left or right."""
        self.path(way, colour, thick)
        x, y = tip
        along = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}[facing]
        back = [(x - 8 * along[0] + s * 5 * along[1], y - 8 * along[1] + s * 5 * along[0]) for s in (1, -1)]
        corners = "L".join(f"{a:.1f} {b:.1f}" for a, b in ((x, y), *back))
        self.path(f"M{corners}Z", colour, 1, fill=colour)

    def board(
        self,
        x: float,
        y: float,
        side: float,
        tiles: Sequence[int],
        *,
        only: Iterable[int] | None = None,
        mark: Iterable[int] = (),
        colour: str = ACCENT,
    ) -> None:
        """A board of 2048; cells other than `only` fade, those to `mark` have a frame."""
        scale = side / SIDE
        self.parts.append(f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.4f})">')
        self.parts.append(board_svg(tiles, 4, CELL, GAP))
        step = CELL + GAP
        for cell in set(range(16)) - set(range(16) if only is None else only):
            at = GAP + cell % 4 * step, GAP + cell // 4 * step
            self.parts.append(
                f'<rect x="{at[0]}" y="{at[1]}" width="{CELL}" height="{CELL}" rx="4" fill="#e9e4dd" opacity="0.86"/>'
            )
        for cell in mark:
            at = GAP + cell % 4 * step - 4, GAP + cell // 4 * step - 4
            self.parts.append(
                f'<rect x="{at[0]}" y="{at[1]}" width="{CELL + 8}" height="{CELL + 8}" rx="8" '
                f'fill="none" stroke="{colour}" stroke-width="{3 / scale**0.6:.1f}"/>'
            )
        self.parts.append("</g>")

    def inset(self, x: float, y: float, scale: float, svg: str, size: Point) -> None:
        """The upper left part of another picture, scaled."""
        wide, tall = size
        self.parts.append(
            f'<svg x="{x:.1f}" y="{y:.1f}" width="{scale * wide:.1f}" height="{scale * tall:.1f}" '
            f'viewBox="0 0 {wide:g} {tall:g}">{svg}</svg>'
        )

    def svg(self) -> str:
        """The file."""
        wide, tall = f"{self.width:g}", f"{self.height:g}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" '
                f'viewBox="0 0 {wide} {tall}" font-family="{FONT}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f'<rect width="{wide}" height="{tall}" rx="8" fill="{PAPER}"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def whole(value: float) -> str:
    """A value of points: 44,016, and −12 with a real minus."""
    return f"{value:,.0f}".replace("-", "−")
