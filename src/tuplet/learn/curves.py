"""Learning curves: mean score against games or time, one point per block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from tuplet.errors import UserError
from tuplet.learn.points import Curve, Learned, alike, curve_of, words_for
from tuplet.system.pictures import escape_label, line_style, new_figure, save_figure, spread_labels, style_axes
from tuplet.system.tables import plural

BESIDE = 8  # more lines than this have their legend beside the picture
DODGE = 4.0  # points between dots of several curves
HEADROOM = 1.3  # a band may be wider than the picture is high above the curves


def draw_curves(
    runs: Sequence[Learned],
    path: str | Path | None = None,
    *,
    log: bool = False,
    by: Literal["games", "time"] = "games",
    band: bool = False,
) -> Any:
    """Draw the runs' curves into one figure; saved to `path` if given. Returns the figure.

    With `band`, runs that differ in their seeds only are one curve, their mean, in a band: its
    95 % interval.
    """
    figure = new_figure(8, 4.5)
    from matplotlib.ticker import FuncFormatter

    empty = [run.name for run in runs if not run.metrics]
    if empty:
        raise UserError(f"{empty[0]} has no finished block of games to draw yet")

    axes = figure.add_subplot()
    groups = alike(runs) if band else [[run] for run in runs]
    curves = [curve_of(group, by) for group in groups]
    shared, labels = _words(curves)
    for number, (curve, label) in enumerate(zip(curves, labels, strict=True)):
        look = line_style(number)
        marker = "o" if len(curve.spent) == 1 else ""
        axes.plot(curve.spent, curve.means, marker=marker, linewidth=1.4, label=escape_label(label), **look)
        if curve.low:
            axes.fill_between(curve.spent, curve.low, curve.high, color=look["color"], alpha=0.18, linewidth=0)
        aside = DODGE * (number - (len(curves) - 1) / 2)
        for run in curve.runs:
            _draw_fresh_games(axes, run, by, look["color"], aside, bool(curve.low))
    if log:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.margins(x=0.06)
    highest = max(max(curve.means) for curve in curves)
    fresh = [e["ci95"][1] for run in runs for e in _fresh_games(run)]
    wanted = max([highest, *fresh, *(high for curve in curves for high in curve.high)])
    axes.set_ylim(0, 1.05 * min(wanted, HEADROOM * highest))
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:,.0f}"))
    axes.set_xlabel("games" if by == "games" else "minutes")
    axes.set_ylabel("mean score")
    style_axes(axes)
    _explain(figure, axes, curves, shared)
    ends = [
        (curve.spent[-1], curve.means[-1], f"{curve.means[-1]:,.0f}", line_style(n)["color"])
        for n, curve in enumerate(curves)
    ]
    spread_labels(figure, axes, ends, 5 + (DODGE * len(curves) / 2 if fresh else 0))
    if path is not None:
        save_figure(figure, path)
    return figure


def _fresh_games(run: Learned) -> list[dict[str, Any]]:
    """What a run's evaluations came to."""
    return [each for m in run.metrics for each in m.get("evaluations", ())]


def _draw_fresh_games(axes: Any, run: Learned, by: str, colour: str, aside: float, bare: bool) -> None:
    """The run's evaluations: a dot each, with its 95 % interval unless `bare`.

    Those of several curves stand `aside`, some points to the left or right, not upon each other.
    """
    from matplotlib.transforms import ScaledTranslation

    told = _fresh_games(run)
    if told:
        spent = [e["learned"] if by == "games" else e["elapsed_s"] / 60 for e in told]
        means = [e["mean_score"] for e in told]
        sides = [
            [max(mean - e["ci95"][0], 0) for mean, e in zip(means, told, strict=True)],
            [max(e["ci95"][1] - mean, 0) for mean, e in zip(means, told, strict=True)],
        ]
        moved = ScaledTranslation(aside / 72, 0, axes.figure.dpi_scale_trans)
        axes.errorbar(
            spent,
            means,
            yerr=None if bare else sides,
            fmt="o",
            color=colour,
            markersize=4,
            markerfacecolor="white",
            elinewidth=1,
            capsize=2.5,
            zorder=3,
            transform=axes.transData + moved,
        )


def _words(curves: list[Curve]) -> tuple[list[str], list[str]]:
    """What all curves share, and a label for each: its name, and what it does not share."""
    words = [words_for(curve.runs[0].method) for curve in curves]
    shared = [word for word in words[0] if all(word in each for each in words)]
    names = [_name(curve.runs) for curve in curves]
    for number, curve in enumerate(curves):
        folder = curve.runs[0].folder
        if names.count(names[number]) > 1 and folder is not None:
            names[number] = "/".join(folder.resolve().parts[-2:])
    labels = []
    for name, each, curve in zip(names, words, curves, strict=True):
        own = [word for word in each if word not in shared]
        seeds = [plural(len(curve.runs), "seed")] if len(curve.runs) > 1 else []
        label = ", ".join([name, *own, *seeds])
        labels.append(label if len(label) <= 60 else ", ".join([name, *seeds]))
    return shared, labels


def _name(runs: list[Learned]) -> str:
    """What runs have in common: that of a-1, a-2 and a-3 is a."""
    if len(runs) == 1:
        return runs[0].name
    letters = zip(*(run.name for run in runs), strict=False)
    common = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, letters))
    return common.rstrip("-_. ") or f"{runs[0].name}, ..."


def _explain(figure: Any, axes: Any, curves: list[Curve], shared: list[str]) -> None:
    """The title says what all share; the legend what each is, and what bands and dots are."""
    axes.set_title(" · ".join(["2048", *shared]), fontsize=10, loc="left", pad=10)
    fresh = any(_fresh_games(run) for curve in curves for run in curve.runs)
    handles, labels = axes.get_legend_handles_labels()
    if len(curves) == 1 and not curves[0].low and not fresh:
        return
    if len(curves) == 1 and not curves[0].low:
        labels = ["training games"]
    if any(curve.low for curve in curves):
        from matplotlib.patches import Patch

        handles.append(Patch(facecolor="grey", alpha=0.25, linewidth=0))
        labels.append("95 % interval of the mean over seeds")
    if fresh:
        from matplotlib.lines import Line2D

        handles.append(Line2D([], [], color="grey", marker="o", markersize=4, markerfacecolor="white", linewidth=1))
        bare = all(curve.low for curve in curves)
        labels.append("fresh games" if bare else "fresh games, 95 %")
    if len(handles) > BESIDE:
        figure.set_size_inches(10, max(4.5, 0.22 * len(handles)))
        figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    else:
        axes.legend(handles, labels, frameon=False, fontsize=9)


def _short(count: float, _: object = None) -> str:
    if count >= 1e6:
        return f"{count / 1e6:g}M"
    return f"{count / 1e3:g}k" if count >= 1e3 else f"{count:g}"
