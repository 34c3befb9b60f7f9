"""`tuplet plot`: learning curves as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tuplet.cli.working import Json, show_result


def plot(
    runs: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    log: Annotated[bool, Parameter(negative="")] = False,
    by: Literal["games", "time"] = "games",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
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
    output
        The picture: its ending, .png, .svg or .pdf, says the kind. [default: curve.png in the
        folder of a single run, curves.png for several]

    """
    import tuplet

    path = output or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    result = tuplet.plot(*runs, path=path, log=log, by=by)
    if json_:
        show_result(result, True)
    else:
        print(path)
