"""`tuplet plot`: learning curves as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tuplet.cli.working import Json, check_folder, show_result


def plot(
    runs: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    log: Annotated[bool, Parameter(negative="")] = False,
    by: Literal["games", "time"] = "games",
    band: Annotated[bool, Parameter(negative="")] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    csv: Path | None = None,
    json_: Json = False,
) -> None:
    """Draw mean score against games or time, one point per block, for one or more runs.

    Parameters
    ----------
    runs
        Run folders.
    log
        Count on a logarithmic axis.
    by
        Count games, or minutes.
    band
        Draw runs that differ in their seeds only as one curve, their mean, in a band: its 95 %
        interval by Student's t.
    output
        The picture: its ending, .png, .svg or .pdf, says the kind. [default: curve.png in the
        folder of a single run, curves.png for several]
    csv
        Write a table of all metrics to this file, too, a line for each block of games.

    """
    import tuplet

    check_folder(csv)
    path = output or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    result = tuplet.plot(*runs, path=path, log=log, by=by, band=band)
    if csv is not None:
        result.csv(csv)
    if json_:
        show_result(result, True)
    else:
        print(path)
