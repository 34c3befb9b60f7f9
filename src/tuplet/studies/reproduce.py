"""`reproduce`: run an experiment again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from importlib import import_module
from pathlib import Path
from typing import Any

from tuplet.studies.report import Report
from tuplet.system.blocks import as_threads
from tuplet.system.pictures import as_picture
from tuplet.system.progress import Show, watching
from tuplet.system.stop import Stop

STUDIES = {
    "regret": "learned values approach perfect play on boards that are solved",
}


def reproduce(
    name: str,
    *,
    threads: int = 1,
    output: str | Path | None = None,
    executor: Executor | None = None,
    progress: Show = None,
    stop: Stop | None = None,
    **options: Any,
) -> Report:
    """Run a study again; `STUDIES` lists them, and `options` (board, games, seed) are its own.

    Its runs are shared out among threads, or done by `executor`. With `output` its picture is
    drawn: .svg, .png or .pdf.
    """
    if name not in STUDIES:
        raise ValueError(f"there is no study {name!r}; there is {' or '.join(STUDIES)}")
    study: Callable[..., Report] = import_module(f"tuplet.studies.{name}").run
    given = {option: value for option, value in options.items() if value is not None}
    unknown = set(given) - set(inspect.signature(study).parameters)
    if unknown:
        raise ValueError(f"the study {name} has no --{', --'.join(sorted(unknown))}")
    if output is not None:
        as_picture(output)  # refuses it now, not after hours
    as_threads(threads)
    with watching(progress) as watch:
        report = study(**given, threads=threads, executor=executor, watch=watch, stop=stop)
    if output is not None:
        report.draw(Path(output))
    return report
