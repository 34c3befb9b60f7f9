"""`tuplet plot`: learning curves as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def plot(
    runs: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    log: Annotated[bool, Parameter(negative="")] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Draw mean score against games, one point per block, for one or more runs.

    Parameters
    ----------
    runs
        Run folders.
    log
        Count games on a logarithmic axis.
    output
        The picture: its ending, .png, .svg or .pdf, says the kind. [default: curve.png in the
        folder of a single run, curves.png for several]

    """
    from tuplet.learn.curves import draw_curves
    from tuplet.learn.run import Run

    opened = [Run.load(folder) for folder in runs]
    path = output or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    draw_curves(opened, path, log=log)
    print(path)
