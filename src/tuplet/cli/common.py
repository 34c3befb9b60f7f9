"""What commands share: long calls, files to write, results as tables or JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuplet.errors import UserError
from tuplet.system.text import sanitize

if TYPE_CHECKING:
    from tuplet.system.stop import Stop
    from tuplet.system.tables import TextTable

INTERRUPTED = 130  # the exit code
WIDE = 1000  # columns, where there is no terminal
quiet = ContextVar("quiet", default=False)  # --quiet


def note(text: str) -> None:
    """Print a line about the work, which is not its result, on standard error."""
    if not quiet.get():
        print(text, file=sys.stderr)


@contextmanager
def long_call(as_json: bool = False, cluster: str | None = None, tls: Path | None = None) -> Iterator[dict[str, Any]]:
    """Arguments for a long function: `progress`, `stop` and, on a cluster, its `executor`.

    Progress is shown on standard error; Ctrl-C and SIGTERM set `stop`. With `as_json`, whatever is
    printed meanwhile goes to standard error, too: the result alone is printed to standard output.
    """
    from tuplet.system.stop import Stop

    if tls is not None and cluster is None:
        raise UserError("--tls is for a cluster: name it with --cluster tls://host:8786")
    with ExitStack() as stack:
        stop = Stop()
        stack.enter_context(stop_on_signals(stop))
        call: dict[str, Any] = {"progress": stack.enter_context(progress_display()), "stop": stop}
        if as_json:
            stack.enter_context(redirect_stdout(sys.stderr))
        if cluster is not None:
            from tuplet.system.cluster import cluster as connect

            call["executor"] = stack.enter_context(connect(cluster, tls))
        yield call


@contextmanager
def progress_display() -> Iterator[Any]:
    """What to call with events of progress to show them; nothing is shown with --quiet."""
    if quiet.get():
        yield lambda _: None
        return
    from tuplet.system.progress import show_progress

    with show_progress() as show:
        yield show


@contextmanager
def handling_signals(handler: Any, *names: str) -> Iterator[None]:
    """Handle these signals, those that the system has, in a `with` block; other threads have none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal set `stop`; the second time they end the program as usual."""
    with ExitStack() as stack:

        def handle(*_: object) -> None:
            stop.set()
            stack.close()

        stack.enter_context(handling_signals(handle, "SIGINT", "SIGTERM", "SIGHUP"))
        yield


def check_writable(*files: Path | None, force: bool = False) -> None:
    """Refuse, before the work, a file that could not be written after it, or that exists.

    Files are never overwritten unless `force` is set.
    """
    for file in filter(None, files):
        folder = file.absolute().parent
        if not folder.is_dir():
            raise UserError(f"there is no folder {file.parent} to write {file.name} in")
        if file.is_dir():
            raise UserError(f"{file} is a folder: name a file")
        if file.is_file() and not force:
            raise UserError(f"{file} exists: add --force to replace it, or name another file")
        if not os.access(file if file.exists() else folder, os.W_OK):
            raise UserError(f"{file} cannot be written: name another file")


def default_threads(threads: int | None, *agents: str, timed: bool = False) -> int:
    """The number of threads: all cores unless it could change the result."""
    from tuplet.agents.specs import Spec
    from tuplet.system.worker import cores

    if threads is not None:
        return threads
    specs = [Spec(agent) for agent in agents]
    timed = timed or any("time=" in spec.settings or spec.is_program or spec.is_class for spec in specs)
    return 1 if timed else cores()


def show_result(result: Any, as_json: bool) -> None:
    """Print a result: its JSON, or its tables."""
    if as_json:
        print(json.dumps(result.as_json()))
    else:
        show_tables(result.text_tables())


def show_tables(sheets: Sequence[TextTable]) -> None:
    """Print the tables of a result."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A pipe or a file is as wide as what is written to it.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    for number, sheet in enumerate(sheets):
        if number and sheet.rows and not sheet.title:
            console.print()
        if sheet.title:
            console.print(Text(sanitize(sheet.title), style="bold"), soft_wrap=True)
        if sheet.rows and _width(sheet) > console.width:
            for line in _in_lines(sheet, console.width):
                console.print(Text(line), soft_wrap=True)
        elif sheet.rows:
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(sheet.columns))
            for i, cell in enumerate(sheet.columns or sheet.rows[0]):
                name = Text(sanitize(cell)) if sheet.columns else ""
                justify = "left" if i in sheet.words else "right"
                style = "bold" if i in sheet.strong else ""
                table.add_column(name, justify=justify, style=style)  # type: ignore[arg-type]
            for i, row in enumerate(sheet.rows):
                cells = [Text(sanitize(cell)) for cell in row]
                table.add_row(*cells, style="bold green" if i == sheet.marked else "")
            console.print(table)
        for line in sheet.notes:
            console.print(Text(sanitize(line)), soft_wrap=True)


def _width(sheet: TextTable) -> int:
    """The width of a table, in columns of the terminal."""
    from rich.cells import cell_len

    rows = [*sheet.rows, sheet.columns] if sheet.columns else sheet.rows
    return sum(max(map(cell_len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _in_lines(sheet: TextTable, width: int) -> Iterator[str]:
    """The rows of a table that is wider than the terminal, each as some lines of named cells."""
    for row in sheet.rows:
        line = ""
        for i, cell in enumerate(map(sanitize, row)):
            name = sanitize(sheet.columns[i]).strip() if sheet.columns else ""
            text = f"{name}: {cell.strip()}" if name and i not in sheet.words else cell.strip()
            if cell and line.strip() and len(line) + len(text) + 2 > width:
                yield line
                line = "    " + text
            elif cell:
                line += f"  {text}" if line else text
        yield line


def report_stopped(interrupted: bool, done: int, planned: int, unit: str, then: str = "") -> int:
    """Say where a call ended if it ended early; returns the exit code."""
    from tuplet.system.tables import plural

    if interrupted:
        note(f"Stopped after {done:,} of {plural(planned, unit.removesuffix('s'))}. {then}".rstrip())
    return INTERRUPTED if interrupted else 0


def run_resumable(
    play: Callable[..., Any],
    out: Path | None,
    as_json: bool,
    cluster: str | None,
    tls: Path | None,
    *,
    games: int | None = None,
    csv: Path | None = None,
    plot: Path | None = None,
) -> int:
    """Play a match, a tournament or a sweep, which `out` keeps, and show it; returns the exit code.

    `games` is how many a match or a tournament has in all; a sweep knows that itself.
    """
    from tuplet.system.stop import Stopped

    then = f"Saved in {out}; the same command resumes it."
    if out is None:
        then = "The games are not saved: with --out they are kept, and the same command resumes it."
    try:
        with long_call(as_json, cluster, tls) as call:
            result = play(out=out, **call)
    except Stopped as stopped:  # before there was a result
        raise Stopped(f"{str(stopped).rstrip('.')}. {then}") from None
    if plot is not None:
        result.plot(plot)
    if csv is not None:
        result.csv(csv)
    show_result(result, as_json)
    if games is None:
        return report_stopped(result.interrupted, result.done, result.planned, result.unit, then)
    return report_stopped(result.interrupted, result.games, games, "games", then)


def in_pairs(games: int) -> int:
    """The number of games in whole pairs; says so if it was odd."""
    if games % 2 and games > 0:
        note(f"Games come in pairs: {games + 1:,} are played, not {games:,}.")
    return games + games % 2
