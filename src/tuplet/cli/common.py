"""What commands share: progress, Ctrl-C, results as tables or JSON."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from tuplet.errors import UserError
from tuplet.system.text import sanitize

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tuplet.system.progress import Watcher
    from tuplet.system.stop import Stop
    from tuplet.system.tables import TextTable

Json = Annotated[bool, Parameter(name="--json", help="Print one JSON object.")]
Cluster = Annotated[
    str | None,
    Parameter(
        name="--cluster",
        help="Run on a Dask cluster: local:N starts N workers on this machine; tcp://host:8786, "
        "tls://host:8786 or a scheduler file names a running cluster. [default: threads here]",
    ),
]
Tls = Annotated[
    Path | None, Parameter(name="--tls", help="A folder with ca.pem, cert.pem and key.pem, for a tls:// cluster.")
]
INTERRUPTED = 130  # the exit code
WIDE = 1000  # columns, where there is no terminal


class Work(NamedTuple):
    """What a long function is given."""

    progress: Watcher
    stop: Stop


class Shared(NamedTuple):
    """What a long function is given whose work can leave this process."""

    progress: Watcher
    stop: Stop
    executor: Executor | None


@contextmanager
def working(quiet: bool = False) -> Iterator[Work]:
    """Show how far a long function is, and let Ctrl-C and SIGTERM stop it.

    Where it is `quiet`, whatever is printed meanwhile is no result, and goes to standard error.
    """
    from tuplet.system.progress import show_progress
    from tuplet.system.stop import Stop

    stop = Stop()
    with ExitStack() as stack:
        stack.enter_context(stopping(stop))
        progress = stack.enter_context(show_progress())
        if quiet:
            stack.enter_context(redirect_stdout(sys.stderr))
        yield Work(progress, stop)


@contextmanager
def sharing(cluster: str | None, tls: Path | None, quiet: bool = False) -> Iterator[Shared]:
    """The same, with the workers of a cluster if one is named."""
    if tls is not None and cluster is None:
        raise UserError("--tls is for a cluster: name it with --cluster tls://host:8786")
    with working(quiet) as work, ExitStack() as stack:
        executor = None
        if cluster is not None:
            from tuplet.system.cluster import cluster as joined

            executor = stack.enter_context(joined(cluster, tls))
        yield Shared(*work, executor)


@contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set `stop` instead of tearing the program down.

    Asked a second time, the program ends as it would have.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kinds = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):  # the terminal was closed
        kinds.append(signal.SIGHUP)
    before = [signal.getsignal(kind) for kind in kinds]

    def handle(*_: Any) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)

    for kind in kinds:
        signal.signal(kind, handle)
    try:
        yield
    finally:
        restore()


def check_writable(file: Path | None) -> None:
    """Complain before the work, not after it, that a file cannot be written where it should."""
    if file is not None and not file.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent} to write {file.name} in")


def show_result(result: Any, as_json: bool) -> None:
    """Print a result: its JSON, or its tables."""
    if as_json:
        print(json.dumps(result.as_json()))
    else:
        show_tables(result.text_tables())


def show_tables(text_tables: Sequence[TextTable]) -> None:
    """Tables of a result, for people."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A pipe or a file is as wide as what is written to it.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    for number, sheet in enumerate(text_tables):
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
        for note in sheet.notes:
            console.print(Text(sanitize(note)), soft_wrap=True)


def _width(sheet: TextTable) -> int:
    """Of the table, in columns of the terminal."""
    from rich.cells import cell_len

    rows = [*sheet.rows, sheet.columns] if sheet.columns else sheet.rows
    return sum(max(map(cell_len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _in_lines(sheet: TextTable, width: int) -> Iterator[str]:
    """A table that is wider than the terminal: each row as some lines, cells with their names."""
    for row in sheet.rows:
        line = ""
        for i, cell in enumerate(map(sanitize, row)):
            name = sanitize(sheet.columns[i]).strip() if sheet.columns else ""
            told = f"{name}: {cell.strip()}" if name and i not in sheet.words else cell.strip()
            if cell and line.strip() and len(line) + len(told) + 2 > width:
                yield line
                line = "    " + told
            elif cell:
                line += f"  {told}" if line else told
        yield line


def report_stopped(interrupted: bool, done: int, asked: int, what: str, then: str = "") -> int:
    """Say where a call ended if it ended early; returns the exit code."""
    from tuplet.system.tables import plural

    if interrupted:
        text = f"Stopped after {done:,} of {plural(asked, what.removesuffix('s'))}. {then}"
        print(text.rstrip(), file=sys.stderr)
    return INTERRUPTED if interrupted else 0


def run_match(
    play: Callable[..., Any],
    games: int,
    pairings: int,
    save: Path | None,
    as_json: bool,
    csv: Path | None = None,
    cluster: str | None = None,
    tls: Path | None = None,
) -> int:
    """Let a match or tournament be played, and show it; returns the exit code."""
    from tuplet.system.stop import Stopped

    check_writable(csv)
    asked = (games + games % 2) * pairings
    if games % 2 and games > 0:
        print(f"Games come in pairs: {games + 1:,} are played, not {games:,}.", file=sys.stderr)
    then = "The games are not saved: with --save FILE they are kept and can be resumed."
    if save is not None:
        then = f"Saved in {save}; the same command resumes it."
    try:
        with sharing(cluster, tls, quiet=as_json) as work:
            result = play(games=games, save=save, **work._asdict())
    except Stopped:  # before the first pair was finished
        return report_stopped(True, 0, asked, "games", then)
    if csv is not None:
        result.csv(csv)
    show_result(result, as_json)
    return report_stopped(result.interrupted, result.games, asked, "games", then)
