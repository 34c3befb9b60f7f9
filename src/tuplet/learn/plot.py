"""`plot`: the learning curves of runs, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tuplet.errors import UserError
from tuplet.learn.curves import draw_curves
from tuplet.learn.run import Run
from tuplet.learn.spreadsheet import metrics_table
from tuplet.system.pictures import as_svg
from tuplet.system.tables import Table, Tabular


@dataclass(frozen=True)
class Plot(Tabular):
    """The curves of some runs, drawn."""

    runs: Sequence[Run]
    figure: Any
    path: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """The blocks of each run (the picture joins short ones), and fresh games."""
        points = ("games", "elapsed_s", "mean_score")
        return {
            "picture": None if self.path is None else str(self.path),
            "curves": {run.name: [{key: m[key] for key in points} for m in run.metrics] for run in self.runs},
            "evaluations": {
                run.name: [each for m in run.metrics for each in m.get("evaluations", ())] for run in self.runs
            },
        }

    def table(self) -> Table:
        """The metrics of all runs: a row for each block, and evaluation."""
        return metrics_table(self.runs)

    def _repr_svg_(self) -> str:
        return as_svg(self.figure)


def plot(
    *runs: Run | str | Path,
    path: str | Path | None = None,
    log: bool = False,
    by: Literal["games", "time"] = "games",
    band: bool = False,
) -> Plot:
    """Draw mean score against games or minutes, one point per block, for one or more runs.

    Runs are run folders, or what `train` returned; `log` counts on a logarithmic axis. With `band`,
    runs that differ in their seeds only become one curve, their mean, in a band that is its 95 %
    interval (Student's t). With `path` the picture is saved: its ending, .png, .svg or .pdf, says
    the kind. Fresh games (`evaluate` of `train`) are dots with 95 % intervals.
    """
    opened = [run if isinstance(run, Run) else Run.load(run) for run in runs]
    if not opened:
        raise UserError("which runs? name at least one run folder")
    figure = draw_curves(opened, path, log=log, by=by, band=band)
    return Plot(opened, figure, None if path is None else Path(path))
