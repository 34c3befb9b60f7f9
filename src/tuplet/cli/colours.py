"""Colours that look as meant, in as many as a terminal has.

Rich takes the nearest that there is, and squares that mean different things become alike: ours
are chosen for 256 and for 16 colours.
"""

from __future__ import annotations

from functools import cache

from rich.color import Color
from rich.console import Console

ODD, EVEN = "#f3ead9", "#e7dac1"  # squares, as on a chequered board
LAST, TARGET, CHOSEN = "#ead889", "#c9e0ad", "#86c05a"  # squares with a meaning
RED, BLUE = "#f0523d", "#3f80ea"  # pieces that may move

_NEAREST = {  # of 256 colours, and of 16
    ODD: (255, 15),
    EVEN: (252, 7),
    LAST: (222, 11),
    TARGET: (151, 10),
    CHOSEN: (71, 2),
    RED: (203, 9),
    BLUE: (33, 12),
    "#c8402f": (124, 1),
    "#2f62b5": (25, 4),
    "#f0c9bf": (217, 7),
    "#c6d4ee": (189, 7),
    "#1d3b0a": (22, 0),
    "#ffffff": (231, 15),
    "#3f8f4f": (29, 2),
    "#c8912f": (136, 3),
    "#7a4fa3": (97, 5),
    "#4d4d4d": (239, 8),
}


@cache
def colour_system() -> str | None:
    """How many colours there are: "truecolor", "256", "standard" (16), or None."""
    console = Console()
    return None if console.no_color else console.color_system


def coloured() -> bool:
    """Whether the terminal has colours, and they are wanted."""
    return colour_system() is not None


@cache
def shade(colour: str) -> Color:
    """A colour as this terminal shows it best."""
    column = {"256": 0, "standard": 1}.get(colour_system() or "")
    if column is None or colour not in _NEAREST:
        return Color.parse(colour)
    return Color.from_ansi(_NEAREST[colour][column])
