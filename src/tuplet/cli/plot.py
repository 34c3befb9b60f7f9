"""`tuplet plot`: learning curves as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tuplet.cli.common import Json, check_writable, show_result


def plot(
    runs: list[Path],
    /,
    *,
    log: bool = False,
    by: Literal["games", "time"] = "games",
    band: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    csv: Path | None = None,
    json_: Json = False,
) -> None:
    """Draw the learning curves of one or more runs: mean score against games or time.

    Parameters
    ----------
    runs
        Run folders.
    log
        Use a logarithmic axis for games or time.
    by
        Draw against games, or against minutes.
    band
        Draw runs that differ only in their seeds as one curve: their mean, with a band for its 95 %
        interval (Student's t).
    output
        The picture to write: .png, .svg or .pdf. [default: curve.png in the folder of a single run,
        curves.png for several]
    csv
        Also write a table of all metrics to this file, a line for each block of games.

    """
    import tuplet

    check_writable(csv)
    path = output or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    result = tuplet.plot(*runs, path=path, log=log, by=by, band=band)
    if csv is not None:
        result.csv(csv)
    if json_:
        show_result(result, True)
    else:
        print(path)
