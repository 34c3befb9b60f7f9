"""`tuplet plot`: learning curves as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.common import Csv, Force, Json, Out, check_writable, show_result


def plot(
    runs: list[Path],
    /,
    *,
    log: bool = False,
    by: Literal["games", "time"] = "games",
    band: bool = False,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
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
    out
        The picture to write: .png, .svg or .pdf. [default: the run's own curve.png, which is drawn
        anew, or curves.png for several]
    csv
        Write a table of all metrics, a line for each block of games.

    Examples
    --------
    tuplet plot runs/first
    tuplet plot runs/td runs/tc --log --out curves.svg
    tuplet plot runs/seed-0 runs/seed-1 runs/seed-2 --band --by time --csv metrics.csv

    """
    import tuplet

    path = out or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    check_writable(csv, None if out is None and len(runs) == 1 else path, force=force)
    result = tuplet.plot(*runs, path=path, log=log, by=by, band=band)
    if csv is not None:
        result.csv(csv)
    if json_:
        show_result(result, True)
    else:
        print(path)
