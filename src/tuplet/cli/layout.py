"""Words that fit a window: keys in as many lines as they need, messages in those that are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap

from rich.console import Group, RenderableType
from rich.text import Text

from tuplet.system.text import flow

MOVES_KEYS = "1-9 or arrows, Enter: move"
_BRIEF = {MOVES_KEYS: "1-9 move", "u takes back": "u back", "n new game": "n new"}


def abbreviate(keys: Sequence[str], columns: int, lines: int) -> list[str]:
    """What keys do, in fewer words where there is hardly room."""
    return [_BRIEF.get(key, key) if columns < 40 or lines < 12 else key for key in keys]


def footer(message: str, keys: Sequence[str], columns: int, lines: int) -> list[RenderableType]:
    """What happens, and what keys do, for the last lines of a window."""
    told = flow(keys, columns)
    room = max(1, lines - len(told))
    said = wrap(message, columns)[:room] or [""]
    return [*(_line(text, "bold") for text in said), *(_line(text, "dim") for text in told)]


def footer_lines(keys: Sequence[str], columns: int) -> int:
    """How many lines a foot needs."""
    return 1 + len(flow(keys, columns))


def scrolled(lines: list[Text], at: int, room: int) -> list[Text]:
    """As many of the lines as there is room for, with the one at `at`, and how many others."""
    if len(lines) <= room:
        return lines
    if room <= 2:
        return lines[at : at + room] if at + room <= len(lines) else lines[-room:][:room]
    first = min(max(0, at - room // 2), len(lines) - room)
    shown = lines[first : first + room]
    if first:
        shown[0] = Text(f"  ↑ {first + 1} more", style="dim")
    if first + room < len(lines):
        shown[-1] = Text(f"  ↓ {len(lines) - first - room + 1} more", style="dim")
    return shown


def too_small(what: str, fits: Callable[[int, int], bool], columns: int, lines: int) -> Group:
    """Instead of a picture that does not fit: how large the window must at least be.

    What fits in some lines fits in more of them, and in more columns. So the fewest lines are
    looked for one column after another, from where the last one had them.
    """
    fitting, more = [], 49
    for wider in range(120):
        while more >= 0 and fits(columns + wider, lines + more):
            fitting.append((columns + wider, lines + more))
            more -= 1
    needed = min(fitting, key=lambda size: size[0] + 2 * size[1], default=None)
    size = f"{needed[0]}x{needed[1]}" if needed else "another shape"
    text = f"{what} needs a window of {size} or more; this one is {columns}x{lines}. Make it larger, or press q to end."
    return Group(*(_line(line, "") for line in wrap(text, max(columns, 1))[:lines]))


def _line(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
