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

_OF_256 = {
    ODD: 255,
    EVEN: 252,
    LAST: 222,
    TARGET: 151,
    CHOSEN: 71,
    RED: 203,
    BLUE: 33,
    "#c8402f": 124,
    "#2f62b5": 25,
    "#f0c9bf": 217,
    "#c6d4ee": 189,
    "#1d3b0a": 22,
    "#ffffff": 231,
    "#3f8f4f": 29,
    "#c8912f": 136,
    "#7a4fa3": 97,
    "#4d4d4d": 239,
}
_OF_16 = {
    ODD: 15,
    EVEN: 7,
    LAST: 11,
    TARGET: 10,
    CHOSEN: 2,
    RED: 9,
    BLUE: 12,
    "#c8402f": 1,
    "#2f62b5": 4,
    "#f0c9bf": 7,
    "#c6d4ee": 7,
    "#1d3b0a": 0,
    "#ffffff": 15,
    "#3f8f4f": 2,
    "#c8912f": 3,
    "#7a4fa3": 5,
    "#4d4d4d": 8,
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
    own = {"256": _OF_256, "standard": _OF_16}.get(colour_system() or "", {})
    return Color.from_ansi(own[colour]) if colour in own else Color.parse(colour)
