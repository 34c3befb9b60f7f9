"""A progress bar for work that counts games."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watcher = Callable[[int, int], None]


def tell_if_compiling() -> None:
    """At a terminal, say why the first start takes its time."""
    from tuplet.kernel import cache_folder

    folder = cache_folder()
    if sys.stderr.isatty() and (folder is None or not any(folder.iterdir())):
        often = "each time: no cache folder can be written" if folder is None else "the first time"
        print(f"Compiling, some ten seconds ({often}) ...", file=sys.stderr)


@contextmanager
def games_progress(total: int) -> Iterator[Watcher]:
    """What to call with games finished and moves made; shows both on standard error.

    A bar in a terminal, from the first moment; elsewhere a line every ten seconds.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(30),
            TextColumn("{task.completed:,} of {task.total:,} games"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("games", total=total, speed="")
            began = time.perf_counter()

            def update(games: int, moves: int) -> None:
                speed = moves / max(time.perf_counter() - began, 1e-9)
                bar.update(task, completed=games, speed=f"{speed:,.0f} moves/s")

            yield update
    else:
        began = time.perf_counter()
        due = began + 2.0

        def line(games: int, moves: int) -> None:
            nonlocal due
            now = time.perf_counter()
            if now >= due and games:
                due = now + 10.0
                left = (now - began) * (total - games) / games
                print(
                    f"{games:,} of {total:,} games  {moves / (now - began):,.0f} moves/s  "
                    f"{left:.0f} s left",
                    file=sys.stderr, flush=True,
                )  # fmt: skip

        yield line
