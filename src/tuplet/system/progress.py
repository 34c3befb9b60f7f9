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


Watcher = Callable[[Progress], object]
Show = Watcher | bool | None  # what functions take as `progress`

_display: Callable[[], AbstractContextManager[Watcher]] | None = None


def set_display(display: Callable[[], AbstractContextManager[Watcher]]) -> None:
    """Name the display that `progress=True` opens; the front door does."""
    global _display  # there is one screen
    _display = display


@contextmanager
def watching(progress: Show) -> Iterator[Watcher]:
    """What to call with events; does nothing where nobody wants to see them."""
    if callable(progress):
        yield progress
    elif _display is not None and (progress or (progress is None and _somebody_looks())):
        with _display() as watcher:
            yield watcher
    else:
        yield lambda _: None


def _somebody_looks() -> bool:
    return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules


class Pace:
    """Things a second, of the last few seconds; None before it can be told."""

    SHORTEST, WINDOW = 0.5, 5.0  # seconds

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def rate(self, count: float) -> float | None:
        """The rate, given how many there are now.

        Before the first of them something may have been compiled or read: it says nothing.
        """
        if count <= 0:
            return None
        now = time.perf_counter()
        self._seen.append((now, count))
        while len(self._seen) > 2 and now - self._seen[1][0] > self.WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        if now - then < self.SHORTEST or count <= before:
            return None
        return (count - before) / (now - then)
