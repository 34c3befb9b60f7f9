"""How a long call looks while it runs: a bar in a terminal or below a notebook's cell, a line now
and then elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tuplet.cli.notebook import MOST_BARS, in_cell
from tuplet.system.progress import COMPILING, Progress, Watcher, in_notebook
from tuplet.system.tables import format_duration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

FIRST_LINE, NEXT_LINES = 2.0, 10.0  # seconds: when plain lines appear
TELLING = 0.5  # seconds before the time left can be told, or that something is compiled
WIDTH = 30


@contextmanager
def showing() -> Iterator[Watcher]:
    """What to call with events, to show them on standard error, or in a notebook."""
    if in_notebook():
        with in_cell(_Facts().of) as tell_cell:
            yield tell_cell
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield _Lines().tell
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_dumb_terminal:  # nothing can be drawn over
        _tell_if_compiling()
        yield _Lines().tell
        return
    shown = _Shown(console)
    # What is printed meanwhile must scroll by above the display if it shares its screen.
    with Live(
        get_renderable=shown.picture,
        console=console,
        refresh_per_second=8,
        redirect_stderr=True,
        redirect_stdout=sys.stdout.isatty(),
        transient=True,
    ) as live:

        def tell(event: Progress) -> None:
            shown.tell(event)
            live.transient = not event.shares  # what was learned stays to be seen

        yield tell


def _tell_if_compiling() -> None:
    """Say in a line why the first start takes its time."""
    from tuplet.kernel import cache_folder

    folder = cache_folder()
    if folder is None or not any(folder.iterdir()):
        print(f"{_compiling(folder is None)} ...", file=sys.stderr)


def _compiling(always: bool) -> str:
    often = "each time: no cache folder can be written" if always else "the first time"
    return f"Compiling, some ten seconds ({often})"


class _Shown:
    """What a terminal shows: the last event, or that there is none yet, and why."""

    def __init__(self, console: Console) -> None:
        self._console, self._facts = console, _Facts()
        self._last: tuple[Progress, list[str]] | None = None
        self._moves = False  # whether anything has been done
        self._began = time.perf_counter()

    def tell(self, event: Progress) -> None:
        """Take the next event."""
        self._moves = self._moves or bool(event.done > event.before or event.rate)
        self._last = event, self._facts.of(event)

    def picture(self) -> RenderableType:
        """As of now; it is asked for several times a second."""
        from rich.text import Text

        from tuplet.kernel import cache_folder, compiling

        seconds = time.perf_counter() - self._began
        if not self._moves and seconds >= TELLING and compiling():
            return Text(f"{_compiling(cache_folder() is None)} ...  {format_duration(seconds)}")
        if self._last is not None and self._last[0].what != COMPILING:
            return _picture(*self._last, self._console.width)
        return Text("getting ready ..." if seconds >= TELLING else "")


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
            return []
        facts = [_how_far(event)]
        facts += [value if name == "now" else f"{name} {value}" for name, value in event.figures.items()]
        if event.rate is not None:
            facts.append(_speed(event.rate, event.per))
        done, took = event.done - self._start, now - self._began
        left = event.total is not None and event.done < event.total
        if event.total is not None and left and done > 0 and took >= TELLING:
            facts.append(f"{format_duration(took * (event.total - event.done) / done)} left")
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
        return f"{format_duration(event.done)} of {format_duration(event.total or 0)}"
    total = "" if event.total is None else f" of {event.total:,.0f}"
    one = (event.done if event.total is None else event.total) == 1
    what = event.what.removesuffix("s") if one else event.what
    return f"{event.done:,.0f}{total} {what}"


def _speed(rate: float, per: str) -> str:
    if rate >= 1e5:
        return f"{rate / 1e6:.2f} M {per}"
    return f"{rate:,.0f} {per}" if rate >= 10 else f"{rate:.1f} {per}"


def _picture(event: Progress, facts: list[str], columns: int) -> RenderableType:
    """A bar and facts, side by side or, where it is narrow, one below the other; more bars."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from tuplet.cli.layout import flow

    parts: list[RenderableType] = []
    text = "  ".join(facts)
    beside = bool(event.total) and len(text) <= columns - WIDTH - 2
    if event.total:
        top = Table.grid(padding=(0, 2))
        width = min(WIDTH, columns)
        bar = ProgressBar(total=event.total, completed=event.done, width=width)
        top.add_row(bar, *([Text(text)] if beside else []))
        parts.append(top)
    if not beside:
        parts += map(Text, flow(facts, columns))
    bars = Table.grid(padding=(0, 1))
    width = max(1, min(WIDTH, columns - 16))
    for name, share in list(event.shares.items())[-MOST_BARS:]:
        bar = ProgressBar(total=1.0, completed=share, width=width, complete_style="yellow", finished_style="yellow")
        bars.add_row(Text(f"{name:>6}", style="bold"), bar, f"{100 * share:>5.1f} %")
    return Group(*parts, bars)
