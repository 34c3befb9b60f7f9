"""Progress bars for work that counts games, moves or weights."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Watcher(Protocol):
    """What is told how far the games are."""

    def __call__(self, games: int, moves: int, note: str = "", /) -> None:
        """Games finished, moves made so far, and perhaps the score in words."""


def tell_if_compiling() -> None:
    """At a terminal, say why the first start takes its time."""
    from tuplet.kernel import cache_folder

    folder = cache_folder()
    if sys.stderr.isatty() and (folder is None or not any(folder.iterdir())):
        often = "each time: no cache folder can be written" if folder is None else "the first time"
        print(f"Compiling, some ten seconds ({often}) ...", file=sys.stderr)


@contextmanager
def games_progress(total: int, things: str = "games") -> Iterator[Watcher]:
    """What to call with games finished and moves made; shows both on standard error.

    A bar in a terminal, from the first moment; elsewhere a line every ten seconds. Games that
    the first call tells of were played before, and say nothing of the time that is left.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(30),
            TextColumn(f"{{task.completed:,}} of {{task.total:,}} {things}"),
            TextColumn("{task.fields[note]}", markup=False),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=Console(stderr=True), transient=True,
            speed_estimate_period=600,  # a game may take minutes
        ) as bar:  # fmt: skip
            task = bar.add_task("games", total=total, speed="", note="")
            began = 0.0  # the first call comes when all is compiled

            def update(games: int, moves: int, note: str = "", /) -> None:
                nonlocal began
                began = began or time.perf_counter()
                speed = _speed(moves, time.perf_counter() - began)
                bar.update(task, completed=games, speed=speed, note=note)

            yield update
    else:
        began = 0.0
        due = time.perf_counter() + 2.0
        before: int | None = None

        def line(games: int, moves: int, note: str = "", /) -> None:
            nonlocal began, due, before
            now = time.perf_counter()
            began = began or now
            before = games if before is None else before
            if now >= due and (games > before or moves):
                due = now + 10.0
                facts = [f"{games:,} of {total:,} {things}", note, _speed(moves, now - began)]
                if games > before:
                    left = (now - began) * (total - games) / (games - before)
                    facts.append(f"{left:.0f} s left")
                print("  ".join(filter(None, facts)), file=sys.stderr, flush=True)

        yield line


def _speed(moves: int, seconds: float) -> str:
    if not moves:
        return ""
    speed = moves / max(seconds, 1e-9)
    return f"{speed:,.0f} moves/s" if speed >= 10 else f"{speed:.1f} moves/s"


@contextmanager
def weights_progress() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    """What to call with what is being done; it returns what to call with weights done, and all.

    A bar in a terminal; elsewhere a line every ten seconds, the first after two.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(30),
            TextColumn("{task.fields[far]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

            def begin(what: str) -> Callable[[int, int], None]:
                task = bar.add_task(what, total=None, far="")

                def update(done: int, total: int) -> None:
                    bar.update(task, completed=done, total=total, far=_far(done, total))

                return update

            yield begin
    else:
        due = time.perf_counter() + 2.0

        def line(what: str, far: str = "") -> None:
            nonlocal due
            if time.perf_counter() >= due:
                due = time.perf_counter() + 10.0
                print(what, far, file=sys.stderr, flush=True)

        def begin(what: str) -> Callable[[int, int], None]:
            line(what)
            return lambda done, total: line(what, _far(done, total))

        yield begin


def _far(done: int, total: int) -> str:
    return f"{done:,} of {total:,} weights"
