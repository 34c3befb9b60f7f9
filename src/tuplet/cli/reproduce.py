"""`tuplet reproduce`: run an experiment again."""

from __future__ import annotations

import inspect
import json
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from tuplet.studies import Report


def reproduce(
    name: str | None = None,
    /,
    *,
    board: str | None = None,
    games: int | None = None,
    seed: int | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Run a study again and print its table. Without a name: list the studies.

    Parameters
    ----------
    name
        The study.
    board
        A board's size, where the study is about small boards. [default: the study's]
    games
        Games to learn from. [default: the study's]
    seed
        The same seed gives the same result. [default: 0]
    output
        Draw the study's picture: .svg, .png or .pdf.
    json_
        Print one JSON object.

    """
    from rich.console import Console

    from tuplet.studies import STUDIES

    console = Console(highlight=False)
    if name is None:
        if json_:
            print(json.dumps(STUDIES))
        else:
            for study, about in STUDIES.items():
                console.print(f"[bold]{study}[/]  {about}")
        return
    if name not in STUDIES:
        raise ValueError(f"there is no study {name!r}: {', '.join(STUDIES)}")
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.learn.curves import as_picture

    tell_if_compiling()
    module = import_module(f"tuplet.studies.{name}")
    given = {"board": board, "games": games, "seed": seed}
    options = {key: value for key, value in given.items() if value is not None}
    unknown = set(options) - set(inspect.signature(module.run).parameters)
    if unknown:
        raise ValueError(f"the study {name} has no --{', --'.join(sorted(unknown))}")
    if output is not None and not as_picture(output).parent.is_dir():
        raise FileNotFoundError(f"there is no folder {output.parent} to draw {output.name} in")
    with ExitStack() as stack:
        bar: Any = None

        def watch(done: int, total: int, note: str) -> None:
            nonlocal bar
            bar = bar or stack.enter_context(games_progress(total, "runs"))
            bar(done, 0, note)

        report = module.run(**options, watch=watch)
    if json_:
        rows = [dict(zip(report.columns, row, strict=True)) for row in report.rows]
        print(json.dumps({"study": name, "rows": rows}))
    else:
        _table(console, report)
    if output is not None:
        report.draw(output)


def _table(console: Console, report: Report) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in report.columns:
        table.add_column(
            column, justify="left" if column in report.words else "right", no_wrap=True
        )
    for row in report.rows:
        table.add_row(*(f"{x:,.4f}" if isinstance(x, float) else f"{x:,}" if isinstance(x, int)
                        else str(x) for x in row))  # fmt: skip
    console.print(table)
