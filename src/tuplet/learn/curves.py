"""Learning curves: mean score against games or time, one point per block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tuplet.system.pictures import new_figure, save_figure, tidy


def draw_curves(
    runs: Sequence[Any],  # each a `Run`: it draws itself with this
    path: str | Path | None = None,
    *,
    log: bool = False,
    by: Literal["games", "time"] = "games",
) -> Any:
    """Draw the runs' curves into one figure; saved to `path` if given. Returns the figure."""
    figure = new_figure(8, 4.5)
    from matplotlib.ticker import FuncFormatter

    empty = [run.name for run in runs if not run.metrics]
    if empty:
        raise ValueError(f"{empty[0]} has no finished block of games to draw yet")

    axes = figure.add_subplot()
    for run in runs:
        spent = [m["games"] if by == "games" else m["elapsed_s"] / 60 for m in run.metrics]
        means = [m["mean_score"] for m in run.metrics]
        marker = "o" if len(spent) == 1 else ""
        axes.plot(spent, means, marker=marker, linewidth=1.3, label=run.name)
        axes.annotate(
            f"{means[-1]:,.0f}", (spent[-1], means[-1]), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=9,
        )  # fmt: skip
    if log:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:,.0f}"))
    axes.margins(x=0.06)
    axes.set_xlabel("games" if by == "games" else "minutes")
    axes.set_ylabel("mean score")
    tidy(axes)
    if len(runs) > 1:
        axes.legend(frameon=False)
    else:
        method = runs[0].method
        axes.set_title(
            f"2048, {method.net}, {method.name} on {method.target} values, α = {method.alpha:g}",
            fontsize=11,
        )
    if path is not None:
        save_figure(figure, path)
    return figure


def _short(count: float, _: object = None) -> str:
    if count >= 1e6:
        return f"{count / 1e6:g}M"
    return f"{count / 1e3:g}k" if count >= 1e3 else f"{count:g}"
