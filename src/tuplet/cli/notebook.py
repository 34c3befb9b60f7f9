"""How a long call looks in a notebook: a bar that grows in the cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

from tuplet.system.progress import COMPILING, Progress, Watcher

OFTEN = 0.25  # seconds between two pictures
MOST_BARS = 7
Told = Callable[[Progress], list[str]]  # what can be said of an event


@contextmanager
def in_cell(told: Told) -> Iterator[Watcher]:
    """What to call with events, to show them below the cell.

    What was learned stays to be seen; other bars leave when they are done.
    """
    from IPython.display import HTML, display

    shown = display(HTML("<i>getting ready ...</i>"), display_id=True)
    last, due = "", 0.0
    stays = False

    def tell(event: Progress) -> None:
        nonlocal last, due, stays
        facts = told(event)
        if event.what == COMPILING:
            return
        last, stays = as_cell(event, facts), bool(event.shares)
        if time.perf_counter() >= due:
            due = time.perf_counter() + OFTEN
            shown.update(HTML(last))

    try:
        yield tell
    finally:
        shown.update(HTML(last if stays else ""))


def as_cell(event: Progress, facts: list[str]) -> str:
    """An event as HTML: a bar, what can be said of it, and a bar for each share."""
    bar = ""
    if event.total:
        bar = f'<progress value="{event.done:g}" max="{event.total:g}"></progress> '
    rows = "".join(
        f'<tr><td style="text-align:right"><b>{escape(name)}</b></td>'
        f'<td><progress value="{share:.4f}" max="1"></progress></td>'
        f'<td style="text-align:right">{100 * share:.1f} %</td></tr>'
        for name, share in list(event.shares.items())[-MOST_BARS:]
    )
    table = f"<table>{rows}</table>" if rows else ""
    return f"<div>{bar}{escape('  '.join(facts))}</div>{table}"
