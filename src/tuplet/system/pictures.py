"""Figures by matplotlib, which is an extra: the same figure is saved as the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tuplet.system.files import replacing

FORMATS = (".svg", ".png", ".pdf")


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches. Raises ValueError where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError(
            "pictures need matplotlib: install it with  pip install matplotlib"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def as_picture(path: str | Path) -> Path:
    """A picture's path; raises ValueError where it could not be written."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture's name ends in {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to draw {path.name} in")
    return path


def save_figure(figure: Any, path: str | Path) -> Path:
    """Write a figure beside `path` and rename it into place."""
    path = as_picture(path)
    with replacing(path) as file:
        _write(figure, file, path.suffix[1:].lower())
    return path


def as_svg(figure: Any) -> str:
    """A figure as SVG, for notebooks and pages."""
    from io import BytesIO

    file = BytesIO()
    _write(figure, file, "svg")
    return file.getvalue().decode()


def inline(draw: Callable[[], Any]) -> str:
    """A figure as a part of HTML; nothing where it cannot be drawn, as without matplotlib."""
    try:
        svg = as_svg(draw())
    except ValueError:
        return ""
    return f"<div>{svg[svg.index('<svg') :]}</div>"


def _write(figure: Any, file: Any, kind: str) -> None:
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "tuplet", "svg.fonttype": "none"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(file, format=kind, dpi=144, metadata=metadata)


def tidy(axes: Any) -> None:
    """A light grid, and no frame."""
    axes.grid(True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
