"""Figures by matplotlib, an optional dependency. The same figure is saved as the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.system.files import atomic_write

FORMATS = (".svg", ".png", ".pdf")


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches; UserError if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("pictures need matplotlib: install it with  pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")


def can_draw() -> bool:
    """True if matplotlib is installed."""
    try:
        new_figure(1, 1)
    except ValueError:
        return False
    return True


def as_picture(path: str | Path) -> Path:
    """A checked path for a picture."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"{path}: the name of a picture must end in {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to draw {path.name} in")
    return path


def save_figure(figure: Any, path: str | Path) -> Path:
    """Write a figure atomically."""
    path = as_picture(path)
    with atomic_write(path) as file:
        _write(figure, file, path.suffix[1:].lower())
    return path


def as_svg(figure: Any) -> str:
    """A figure as SVG, for notebooks and pages."""
    from io import BytesIO

    file = BytesIO()
    _write(figure, file, "svg")
    return file.getvalue().decode()


def inline_svg(draw: Callable[[], Any]) -> str:
    """A figure as inline SVG for HTML; empty if it cannot be drawn.

    The ids inside an SVG are hashes of its content, so that two on a page do not clash.
    """
    try:
        svg = as_svg(draw())
    except ValueError:  # no matplotlib, or nothing to draw yet
        return ""
    return f"<div>{svg[svg.index('<svg') :]}</div>"


def escape_label(text: str) -> str:
    """A label that matplotlib shows as it is: `$` starts no formula, `_` hides no legend entry."""
    return ("" if text[:1] != "_" else " ") + text.replace("$", r"\$")


def _write(figure: Any, file: Any, kind: str) -> None:
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "tuplet", "svg.fonttype": "none"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(file, format=kind, dpi=144, metadata=metadata)


def error_bars(
    estimates: Sequence[tuple[float, tuple[float, float] | None]], factor: float = 1.0
) -> tuple[list[float], list[list[float]]]:
    """Values with their intervals (None: no interval) as `Axes.errorbar` takes them, multiplied by `factor`."""
    ends = [interval or (value, value) for value, interval in estimates]
    bars = [
        [max(factor * (value - low), 0.0), max(factor * (high - value), 0.0)]
        for (value, _), (low, high) in zip(estimates, ends, strict=True)
    ]
    return [factor * value for value, _ in estimates], [list(side) for side in zip(*bars, strict=True)]


def style_axes(axes: Any) -> None:
    """Draw a light grid, and no frame."""
    axes.grid(True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


STYLES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))  # of lines beyond the tenth


def line_style(number: int) -> dict[str, Any]:
    """Colour and style of a line; forty are distinct."""
    return {"color": f"C{number % 10}", "linestyle": STYLES[number // 10 % len(STYLES)]}


def spread_labels(figure: Any, axes: Any, ends: list[tuple[float, float, str, str]], aside: float = 5.0) -> None:
    """Label the ends of lines (x, y, text, colour), `aside` points to the right; overlapping labels move apart
    vertically.
    """
    size = 9.0
    figure.draw_without_rendering()  # computes the layout
    points = 72 / figure.dpi
    places = [axes.transData.transform((x, y)) * points for x, y, _, _ in ends]
    order = sorted(range(len(ends)), key=lambda i: places[i][1])
    heights: dict[int, float] = {i: places[i][1] for i in order}
    gap, width = 1.15 * size, [0.62 * size * len(text) for *_, text, _ in ends]
    for _ in range(200):
        moved = False
        for n, low in enumerate(order):
            for high in order[n + 1 :]:
                beside = places[low][0] + width[low] < places[high][0] or places[high][0] + width[high] < places[low][0]
                missing = gap - (heights[high] - heights[low])
                if not beside and missing > 0.01:
                    heights[low] -= missing / 2
                    heights[high] += missing / 2
                    moved = True
        if not moved:
            break
    for i, (x, y, text, colour) in enumerate(ends):
        axes.annotate(
            text,
            (x, y),
            xytext=(aside, heights[i] - places[i][1]),
            textcoords="offset points",
            va="center_baseline",
            fontsize=size,
            color=colour,
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
        )
