"""How a long call looks while it runs: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tuplet.system.progress import COMPILING, Progress, Watcher
from tuplet.system.sheet import clock

if TYPE_CHECKING:
    from rich.console import RenderableType

FIRST_LINE, NEXT_LINES = 2.0, 10.0  # seconds: when plain lines appear
TELLING = 0.5  # seconds before the time left can be told
WIDTH, MOST_BARS = 30, 7


@contextmanager
def showing() -> Iterator[Watcher]:
    """What to call with events, to show them on standard error."""
    if sys.stderr is None or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield _Lines().tell
        return
    from rich.console import Console
    from rich.live import Live

    facts = _Facts()
    # What is printed meanwhile must scroll by above the display if it shares its screen.
    with Live(
        console=Console(stderr=True), refresh_per_second=8, redirect_stderr=True,
        redirect_stdout=sys.stdout.isatty(), transient=True,
    ) as live:  # fmt: skip

        def tell(event: Progress) -> None:
            live.update(_picture(event, facts.of(event)))
            live.transient = not event.shares  # what was learned stays to be seen

        yield tell


class _Facts:
    """What can be said of an event, given those before it."""

    def __init__(self) -> None:
        self._what, self._began, self._start = "", 0.0, 0.0

    def of(self, event: Progress) -> list[str]:
        """In words: how far, figures, speed, and the time left."""
        now = time.perf_counter()
        if event.what != self._what or event.done < self._start:  # something else begins
            self._what, self._began = event.what, now
            self._start = max(event.done, event.before)
        if event.what == COMPILING:
            return ["compiling ..."]
        facts = [_how_far(event)]
        facts += [value if name == "now" else f"{name} {value}" for name, value in
                  event.figures.items()]  # fmt: skip
        if event.rate is not None:
            facts.append(_speed(event.rate, event.per))
        done, took = event.done - self._start, now - self._began
        if event.total is not None and done > 0 and took >= TELLING:
            facts.append(f"{clock(took * (event.total - event.done) / done)} left")
        return facts


class _Lines:
    """Plain lines, the first after two seconds, then every ten."""

    def __init__(self) -> None:
        self._facts = _Facts()
        self._due = time.perf_counter() + FIRST_LINE

    def tell(self, event: Progress) -> None:
        """Print a line if it is time."""
        facts, now = self._facts.of(event), time.perf_counter()
        if now < self._due or event.what == COMPILING or not (event.done or event.rate):
            return
        self._due = now + NEXT_LINES
        tiles = [f"{name}: {share:.1%}" for name, share in event.shares.items() if share < 0.995]
        facts += [f"reached {', '.join(tiles[:4])}"] if tiles else []
        print("  ".join(facts), file=sys.stderr, flush=True)


def _how_far(event: Progress) -> str:
    if event.what == "time":
        return f"{clock(event.done)} of {clock(event.total or 0)}"
    total = "" if event.total is None else f" of {event.total:,.0f}"
    return f"{event.done:,.0f}{total} {event.what}"


def _speed(rate: float, per: str) -> str:
    if rate >= 1e5:
        return f"{rate / 1e6:.2f} M {per}"
    return f"{rate:,.0f} {per}" if rate >= 10 else f"{rate:.1f} {per}"


def _picture(event: Progress, facts: list[str]) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    top = Table.grid(padding=(0, 2))
    text = Text("  ".join(facts))
    if event.total:
        top.add_row(ProgressBar(total=event.total, completed=event.done, width=WIDTH), text)
    else:
        top.add_row(text)
    bars = Table.grid(padding=(0, 1))
    for name, share in list(event.shares.items())[-MOST_BARS:]:
        bar = ProgressBar(total=1.0, completed=share, width=WIDTH, complete_style="yellow",
                          finished_style="yellow")  # fmt: skip
        bars.add_row(Text(f"{name:>6}", style="bold"), bar, f"{100 * share:>5.1f} %")
    return Group(top, bars)
