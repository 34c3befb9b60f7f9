"""How training looks while it runs: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tuplet.games.g2048.statistics import percent, summarise

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tuplet.learn.train import Training, Watcher

FIRST_LINE, NEXT_LINES = 2.0, 10.0  # seconds: when plain lines appear


@contextmanager
def watching(show: bool = True) -> Iterator[Watcher | None]:
    """What to call a few times a second with a training to show it on standard error."""
    if not show:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        state = _State()
        # What is printed meanwhile must scroll by above the display if it shares its screen.
        with Live(
            console=Console(stderr=True), refresh_per_second=5, redirect_stderr=False,
            redirect_stdout=sys.stdout.isatty(),
        ) as live:  # fmt: skip
            yield lambda training: live.update(_panel(state.look(training)))
    else:
        state = _State()

        def line(training: Training) -> None:
            look = state.look(training)
            if state.due():
                print(_line(look), file=sys.stderr, flush=True)

        yield line


class _State:
    """What the display knows of the last few seconds."""

    def __init__(self) -> None:
        self.next_line = time.perf_counter() + FIRST_LINE
        self.recent: deque[tuple[float, int]] = deque(maxlen=25)

    def due(self) -> bool:
        now = time.perf_counter()
        if now < self.next_line:
            return False
        self.next_line = now + NEXT_LINES
        return True

    def look(self, training: Training) -> _Look:
        self.recent.append((time.perf_counter(), training.moves))
        return _Look(training, self.recent)


class _Look:
    """One look at a training."""

    def __init__(self, training: Training, recent: deque[tuple[float, int]]) -> None:
        self.games = training.games
        (then, before), (now, moves) = recent[0], recent[-1]
        self.moves_per_s = (moves - before) / (now - then) if now > then else 0.0
        self.fraction = training.progress(training.games)
        self.elapsed = training.elapsed_s
        self.left = self.elapsed / self.fraction - self.elapsed if self.fraction > 0 else None
        scores, tiles = training.so_far()
        summary = summarise(scores, tiles) if len(scores) >= 50 else None
        last = training.run.metrics[-1] if training.run.metrics else None
        best = max((m["max_score"] for m in training.run.metrics), default=0)
        self.best = max(best, summary.max_score if summary else 0)
        self.mean: float | None = None
        self.reached: dict[int, float] = {}
        if last is not None:
            self.mean = last["mean_score"]
            self.reached = {int(tile): share for tile, share in last["reached"].items()}
        elif summary is not None:
            self.mean, self.reached = summary.mean_score, summary.reached


def clock(seconds: float) -> str:
    """1:05 or 2:00:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _facts(look: _Look) -> list[str]:
    facts = [f"{look.games:,} games"]
    if look.mean is not None:
        facts += [f"mean {look.mean:,.0f}", f"best {look.best:,}"]
    facts.append(f"{look.moves_per_s / 1e6:.2f} M moves/s")
    if look.left is not None:
        facts.append(f"{clock(look.left)} left")
    return facts


def _line(look: _Look) -> str:
    tiles = [f"{t}: {percent(s)}" for t, s in look.reached.items() if s < 0.995][:4]
    return "  ".join(_facts(look) + (["reached " + ", ".join(tiles)] if tiles else []))


def _panel(look: _Look) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    top = Table.grid(padding=(0, 2))
    top.add_row(ProgressBar(total=1.0, completed=look.fraction, width=30), "  ".join(_facts(look)))
    tiles = Table.grid(padding=(0, 1))
    for tile, share in list(look.reached.items())[-7:]:
        bar = ProgressBar(total=1.0, completed=share, width=30, complete_style="yellow",
                          finished_style="yellow")  # fmt: skip
        tiles.add_row(Text(f"{tile:>6}", style="bold"), bar, f"{percent(share):>6}")
    return Group(top, tiles)
