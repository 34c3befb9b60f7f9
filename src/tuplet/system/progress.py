"""How far a long call is: one kind of event for all of them, and whoever wants to see it.

Long functions take `progress`: a function that is called with events a few times a second; True
for tuplet's own display on standard error; False for nothing. Without it the display appears
where somebody looks: at a terminal, or in a notebook.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

COMPILING = "compiling"  # what is done before there is anything to count


class Progress(NamedTuple):
    """One look at a long call."""

    what: str  # "games", "reading": what is counted, or done
    done: float = 0
    total: float | None = None  # None where nobody knows
    rate: float | None = None  # None as long as it cannot be told
    per: str = "moves/s"  # the unit of the rate
    figures: Mapping[str, str] = {}  # a few more: {"mean": "69,934"}
    shares: Mapping[str, float] = {}  # of a whole, to be drawn as bars: {"2048": 0.91}
    before: float = 0  # of `done`, what an earlier call did: it says nothing of the time left

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

_display: Callable[[], AbstractContextManager[Watcher]] | None = None


def set_display(display: Callable[[], AbstractContextManager[Watcher]]) -> None:
    """Name the display that `progress=True` opens; the front door does."""
    global _display  # there is one screen
    _display = display


@contextmanager
def watching(progress: ProgressOption) -> Iterator[Watcher]:
    """What to call with events; does nothing where nobody wants to see them."""
    if callable(progress):
        yield progress
    elif _display is not None and (progress or (progress is None and _somebody_looks())):
        with _display() as watcher:
            yield watcher
    else:
        yield lambda _: None


def _somebody_looks() -> bool:
    return (sys.stderr is not None and sys.stderr.isatty()) or in_notebook()


def in_notebook() -> bool:
    """Whether cells are what somebody looks at."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


class RateMeter:
    """Things a second, of the last few seconds; None before it can be told.

    Things may come in lumps, as the moves of whole games do. Unless most looks find something new,
    a rate is what came between two arrivals, divided by all of the time between them.
    """

    SHORTEST, WINDOW = 0.5, 5.0  # seconds

    def __init__(self) -> None:
        self._looks: deque[tuple[float, float, bool]] = deque()  # when, how many, any new ones
        self._came: deque[tuple[float, float]] = deque()  # when there were how many, at arrivals
        self._fruitful = 0  # looks that found new ones

    def rate(self, count: float) -> float | None:
        """The rate, given how many there are now.

        Before the first of them something may have been compiled or read: it says nothing.
        """
        if count <= 0:
            return None
        now, new = time.perf_counter(), not self._came or count > self._came[-1][1]
        if new:
            self._came.append((now, count))
        self._looks.append((now, count, new))
        self._fruitful += new
        while len(self._looks) > 2 and now - self._looks[1][0] > self.WINDOW:
            self._fruitful -= self._looks.popleft()[2]
        last, most = self._came[-1]
        while len(self._came) > 2 and last - self._came[1][0] >= self.WINDOW:
            self._came.popleft()
        if 2 * self._fruitful > len(self._looks):
            then, before, _ = self._looks[0]
            took = now - then
        else:
            then, before = self._came[0]
            if last - then < self.SHORTEST:  # one lump, whose time is not known
                return None
            # Where nothing has come for longer than that, the wait counts as well.
            took = last - then if now - last <= last - then else now - then
        return None if took < self.SHORTEST or most <= before else (most - before) / took
