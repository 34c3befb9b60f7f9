"""Progress of long calls: one type of event, and how it is displayed.

Long functions take `progress`: a function that is called with events a few times a second; True for tuplet's own
display on standard error or in a notebook; False for nothing. By default the display appears at a terminal and in a
notebook.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from tuplet.system.tables import format_duration
from tuplet.system.text import flow

if TYPE_CHECKING:
    from rich.console import RenderableType

COMPILING = "compiling"  # the `what` of an event before there is anything to count
FIRST_LINE, NEXT_LINES = 2.0, 10.0  # seconds until the first plain line, and between the others
SETTLE = 0.5  # seconds before the time left is estimated, or compiling is mentioned
CELL_UPDATE = 0.25  # seconds between two updates of a notebook's cell
WIDTH = 30  # columns of a bar
MOST_BARS = 7


class Progress(NamedTuple):
    """How far a long call is."""

    what: str  # what is counted, or done: "games", "weights read"
    done: float = 0
    total: float | None = None  # None if unknown
    rate: float | None = None  # None if not known yet
    per: str = "moves/s"  # the unit of the rate
    figures: Mapping[str, str] = {}  # more to display: {"mean": "69,934"}
    shares: Mapping[str, float] = {}  # displayed as bars: {"2048": 0.91}
    before: float = 0  # the part of `done` that an earlier call did; ignored in the estimate of the time left

    def within(self, offset: float, total: float | None, **figures: str) -> Progress:
        """The progress of one part of a job as progress of the whole job.

        `offset` is what was done before this part began, `total` the size of the whole; `figures` come before
        the part's own. An event that counts nothing (`COMPILING`) stays as it is.

        >>> Progress("games", 20, 50).within(100, 150, now="second of two")[:3]
        ('games', 120, 150)
        """
        if self.what == COMPILING:
            return self
        return self._replace(
            done=offset + self.done, total=total, before=offset + self.before, figures={**figures, **self.figures}
        )


Watcher = Callable[[Progress], object]
ProgressOption = Watcher | bool | None  # what functions take as `progress`


@contextmanager
def watching(progress: ProgressOption) -> Iterator[Watcher]:
    """The function to call with events, for any value of `progress`."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and has_screen()):
        with show_progress() as watch:
            yield watch
    else:
        yield lambda _: None


def has_screen() -> bool:
    """True at a terminal and in a notebook."""
    return (sys.stderr is not None and sys.stderr.isatty()) or in_notebook()


def in_notebook() -> bool:
    """True in a Jupyter kernel."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


class RateMeter:
    """Events a second over the last few seconds.

    Events may come in lumps, as the moves of whole games do: the rate is what came between two arrivals, divided by the
    time between them.
    """

    SHORTEST, WINDOW = 0.5, 5.0  # seconds

    def __init__(self) -> None:
        self._arrivals: deque[tuple[float, float]] = deque()  # time and total count

    def rate(self, count: float) -> float | None:
        """The rate, given the total count now; None if it is not known yet.

        The time before the first event does not count: something may have been compiled or read.
        """
        now, arrivals = time.perf_counter(), self._arrivals
        if count > 0 and (not arrivals or count > arrivals[-1][1]):
            arrivals.append((now, count))
        if len(arrivals) < 2:
            return None
        last, total = arrivals[-1]
        while len(arrivals) > 2 and last - arrivals[1][0] >= self.WINDOW:
            arrivals.popleft()
        first, before = arrivals[0]
        if last - first < self.SHORTEST:  # one lump, whose duration is unknown
            return None
        waiting = now - last > last - first  # if nothing has come for longer than that, the wait counts as well
        return (total - before) / ((now if waiting else last) - first)


@contextmanager
def show_progress() -> Iterator[Watcher]:
    """Display events: a bar in a terminal or below a notebook's cell, plain lines elsewhere."""
    if in_notebook():
        with _in_cell() as watch:
            yield watch
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_dumb_terminal:  # which cannot redraw
        yield _plain_lines()
        return
    display = _TerminalDisplay(console.width)
    # Output printed meanwhile scrolls by above the display if it shares the screen.
    with Live(
        get_renderable=display.render,
        console=console,
        refresh_per_second=8,
        redirect_stderr=True,
        redirect_stdout=sys.stdout.isatty(),
        transient=True,
    ) as live:

        def watch(event: Progress) -> None:
            display.update(event, console.width)
            live.transient = not event.shares  # the last shares stay on the screen

        yield watch


def _plain_lines() -> Watcher:
    """Print a line after two seconds, then every ten."""
    summary, due = _Summary(), time.perf_counter() + FIRST_LINE

    def watch(event: Progress) -> None:
        nonlocal due
        facts, now = summary.facts(event), time.perf_counter()
        if now < due or event.what == COMPILING or not (event.done or event.rate):
            return
        due = now + NEXT_LINES
        tiles = [f"{name}: {share:.1%}" for name, share in event.shares.items() if share < 0.995]
        facts += [f"reached {', '.join(tiles[:4])}"] if tiles else []
        print("  ".join(facts), file=sys.stderr, flush=True)

    return watch


@contextmanager
def _in_cell() -> Iterator[Watcher]:
    """Draw a bar below a notebook's cell; what has shares stays when the call ends."""
    from IPython.display import HTML, display

    summary, last, due, stays = _Summary(), "", 0.0, False
    output = display(HTML("<i>getting ready ...</i>"), display_id=True)

    def watch(event: Progress) -> None:
        nonlocal last, due, stays
        facts = summary.facts(event)
        if event.what == COMPILING:
            return
        last, stays = cell_html(event, facts), bool(event.shares)
        if time.perf_counter() >= due:
            due = time.perf_counter() + CELL_UPDATE
            output.update(HTML(last))

    try:
        yield watch
    finally:
        output.update(HTML(last if stays else ""))


def cell_html(event: Progress, facts: list[str]) -> str:
    """An event as HTML: a bar, the facts beside it, and a bar for each share."""
    bar = f'<progress value="{event.done:g}" max="{event.total:g}"></progress> ' if event.total else ""
    rows = "".join(
        f'<tr><td style="text-align:right"><b>{escape(name)}</b></td>'
        f'<td><progress value="{share:.4f}" max="1"></progress></td>'
        f'<td style="text-align:right">{100 * share:.1f} %</td></tr>'
        for name, share in list(event.shares.items())[-MOST_BARS:]
    )
    table = f"<table>{rows}</table>" if rows else ""
    return f"<div>{bar}{escape('  '.join(facts))}</div>{table}"


class _TerminalDisplay:
    """The last event as a terminal shows it; before the first, that kernels are being compiled."""

    def __init__(self, columns: int) -> None:
        self._columns, self._summary = columns, _Summary()
        self._last: tuple[Progress, list[str]] | None = None
        self._counting = False  # True once something has been done
        self._began = time.perf_counter()

    def update(self, event: Progress, columns: int) -> None:
        """Take the next event."""
        self._columns = columns
        self._counting = self._counting or bool(event.done > event.before or event.rate)
        self._last = event, self._summary.facts(event)

    def render(self) -> RenderableType:
        """What to show now; called several times a second."""
        from rich.text import Text

        from tuplet.kernel import cache_folder, compiling

        seconds = time.perf_counter() - self._began
        if not self._counting and seconds >= SETTLE and compiling():
            when = "the first time" if cache_folder() else "every time: no cache folder is writable"
            return Text(f"Compiling, about ten seconds ({when}) ...  {format_duration(seconds)}")
        if self._last is not None and self._last[0].what != COMPILING:
            return _bars(*self._last, self._columns)
        return Text("getting ready ..." if seconds >= SETTLE else "")


class _Summary:
    """An event in words; the time left is estimated from the events before it."""

    def __init__(self) -> None:
        self._what, self._began, self._start = "", 0.0, 0.0

    def facts(self, event: Progress) -> list[str]:
        """How far it is, figures, speed, and the time left."""
        now = time.perf_counter()
        if event.what != self._what or event.done < self._start:  # another part begins
            self._what, self._began = event.what, now
            self._start = max(event.done, event.before)
        if event.what == COMPILING:
            return []
        facts = [_how_far(event)]
        facts += [value if name == "now" else f"{name} {value}" for name, value in event.figures.items()]
        if event.rate is not None:
            facts.append(_speed(event.rate, event.per))
        done, took = event.done - self._start, now - self._began
        if event.total is not None and event.done < event.total and done > 0 and took >= SETTLE:
            facts.append(f"{format_duration(took * (event.total - event.done) / done)} left")
        return facts


def _how_far(event: Progress) -> str:
    if event.what == "time":
        return f"{format_duration(event.done)} of {format_duration(event.total or 0)}"
    total = "" if event.total is None else f" of {event.total:,.0f}"
    one = (event.done if event.total is None else event.total) == 1
    return f"{event.done:,.0f}{total} {event.what.removesuffix('s') if one else event.what}"


def _speed(rate: float, per: str) -> str:
    if rate >= 1e5:
        return f"{rate / 1e6:.2f} M {per}"
    return f"{rate:,.0f} {per}" if rate >= 10 else f"{rate:.1f} {per}"


def _bars(event: Progress, facts: list[str], columns: int) -> RenderableType:
    """A bar with the facts beside it, or below it in a narrow window; then a bar for each share."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    text = "  ".join(facts)
    beside = bool(event.total) and len(text) <= columns - WIDTH - 2
    if event.total:
        top = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=event.total, completed=event.done, width=min(WIDTH, columns))
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
