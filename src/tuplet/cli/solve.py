"""`tuplet solve`: the exact solution of 2048 on a small board."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from tuplet.exact import Solution
    from tuplet.exact.solve import Progress


def solve(
    game: Literal["2048"],
    /,
    *,
    board: str = "2x3",
    spawn4: float = 0.1,
    threads: int = 1,
    out: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Solve a small board exactly: the expected score of optimal and of random play.

    3x3 takes a minute or two and 1.4 GB of memory, the others seconds.

    Parameters
    ----------
    game
        2048.
    board
        2x2, 2x3, 3x2, 2x4, 4x2 or 3x3.
    spawn4
        The share of new tiles that are fours.
    threads
        Threads to use; the result is the same for any number.
    out
        Keep the table of all values in this file, for analyze and regret (3x3: 585 MB).
    json_
        Print one JSON object.

    """
    from tuplet.cli.progress import tell_if_compiling
    from tuplet.exact import solve as solve_exactly

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        what = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise ValueError(f"cannot write {out}: {what}; name a file with --out")
    tell_if_compiling()
    with solve_progress() as watch:
        solution = solve_exactly(board, spawn4=spawn4, threads=threads, watch=watch)
    if json_:
        print(json.dumps(solution.as_json()))
    else:
        _table(solution)
    if out is not None:
        solution.save(out)
        print(f"Saved in {out}.", file=sys.stderr)


@contextmanager
def solve_progress() -> Iterator[Callable[[Progress], None]]:
    """What to call with the progress of a solution; shows it on standard error.

    A bar in a terminal, elsewhere a line every ten seconds.
    """
    began: float | None = None  # the first call comes when all is compiled
    turned: float | None = None  # when all states were found
    told = 0.0

    def facts(progress: Progress) -> tuple[float, str]:
        """The share that is done of this half of the work, and what to say of it."""
        nonlocal began, turned
        now = time.perf_counter()
        began = began or now
        if not progress.valued:
            took, done = now - began, progress.found
            share = progress.layers / progress.most_layers
            text = f"layer {progress.layers:,}  {progress.found:,} states found"
            left = took * (1 - share) / share + took  # the way back takes as long
        else:
            turned = turned or now
            took, done = now - turned, progress.valued
            share = progress.valued / progress.found
            text = f"{progress.valued:,} of {progress.found:,} states valued"
            left = took * (1 - share) / share
        if took < 0.5:  # too early to tell
            return share, text
        return share, f"{text}  {done / took / 1e6:.2f} M states/s  {left:.0f} s left"

    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = BarColumn(30), TextColumn("{task.description}", markup=False)
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=1.0)

            def update(progress: Progress) -> None:
                share, text = facts(progress)
                bar.update(task, completed=share, description=text)

            yield update
    else:

        def line(progress: Progress) -> None:
            nonlocal told
            _, text = facts(progress)
            now = time.perf_counter()
            told = told or now - 8  # the first line after two seconds
            if now - told > 10:
                told = now
                print(text, file=sys.stderr, flush=True)

        yield line


def _table(solution: Solution) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(
        f"[bold]{solution.size}[/], fours {100 * solution.spawn4:g} %: {solution.states:,} states, "
        f"{solution.after_states:,} after-states, mirror images counted once"
    )
    console.print(f"optimal play  [bold]{solution.expected_score:,.6f}[/]")
    console.print(f"random play   {solution.random_score:,.6f}")
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("tile", justify="right")
    table.add_column("chance of reaching it, for who wants just that", justify="right")
    for tile, chance in solution.reached.items():
        table.add_row(str(tile), f"{chance:.10f}")
    console.print(table)
