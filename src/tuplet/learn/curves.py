"""Learning curves: mean score against games or time, one point per block, as a picture and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions, steps_of
from tuplet.system.intervals import t_quantile
from tuplet.system.pictures import escape_label, line_style, new_figure, save_figure, spread_labels, style_axes
from tuplet.system.tables import Table, plural

Metrics = dict[str, Any]  # a line of metrics.jsonl
Axis = Literal["games", "time"]

LEGEND_INSIDE = 8  # more lines than this have their legend beside the picture
DODGE = 4.0  # points between the evaluation dots of several curves
HEADROOM = 1.3  # a band may reach this far above the highest curve, then it is cut off
COLUMNS = (
    *("run", "seed", "kind", "games", "elapsed_s", "played", "mean_score", "ci95_low", "ci95_high"),
    *("max_score", "mean_moves", "moves_per_s"),
)


@dataclass(repr=False, eq=False)
class History:
    """A run's settings, and a dictionary of metrics for each block of games."""

    method: Method
    options: RunOptions
    folder: Path | None = None
    metrics: list[Metrics] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The run's name in a legend."""
        if self.folder is not None:
            return self.folder.name
        return f"{self.method.net} {self.method.name} {self.method.target}"

    @property
    def evaluations(self) -> list[Metrics]:
        """The evaluations by fresh games, in their order."""
        return [each for block in self.metrics for each in block.get("evaluations", ())]


class Point(NamedTuple):
    """A block of games, or several that are drawn as one."""

    games: int  # of the run, at the end of the block
    elapsed_s: float
    mean: float  # score
    played: int  # games in the block

    def with_next(self, later: Point) -> Point:
        """The block and the next as one."""
        played = self.played + later.played
        mean = (self.mean * self.played + later.mean * later.played) / played
        return Point(later.games, later.elapsed_s, mean, played)


def points_of(run: History) -> list[Point]:
    """A run's blocks as they are drawn: all of about the same size.

    A run that ends leaves a short block; if it is resumed, another short block completes it. The
    two become one point. A short block at the very end joins the one before it. The points of a game other than 2048
    are its evaluations.
    """
    if run.method.game != "2048":
        return [Point(e["learned"], e["elapsed_s"], e["mean_score"], e["games"]) for e in run.evaluations]
    points: list[Point] = []
    before = 0
    for m in run.metrics:
        new = Point(m["games"], m["elapsed_s"], m["mean_score"], max(m["games"] - before, 1))
        before = new.games
        if points and points[-1].games % run.options.block:
            points[-1] = points[-1].with_next(new)
        else:
            points.append(new)
    if len(points) > 1 and points[-1].played < run.options.block:
        last = points.pop()
        points[-1] = points[-1].with_next(last)
    return points


class Curve(NamedTuple):
    """A line to draw, with a band if it is the mean of several runs."""

    runs: list[History]
    x: list[float]  # games or minutes
    means: list[float]
    low: list[float]
    high: list[float]


def curve_of(runs: list[History], by: Axis, iqm: bool = False) -> Curve:
    """The curve of one run, or the mean of several with its 95 % interval (Student's t).

    With `iqm`, the interquartile mean of several, with its interval by bootstrap.
    """
    import numpy as np

    from tuplet.system.bootstrap import interquartile_mean, iqm_interval

    lines = []
    for run in runs:
        points = points_of(run)
        x = [float(p.games) if by == "games" else p.elapsed_s / 60 for p in points]
        lines.append((x, [p.mean for p in points]))
    if len(runs) == 1:
        return Curve(runs, *lines[0], [], [])
    # As far as all of them go, at the points of the run that has fewest.
    end = min(x[-1] for x, _ in lines)
    begin = max(x[0] for x, _ in lines)
    grid = [x for x in min((x for x, _ in lines), key=len) if begin <= x <= end] or [end]
    means = np.array([np.interp(grid, *line) for line in lines])
    if iqm:
        low, high = zip(*(iqm_interval([scores]) for scores in means.T), strict=True)
        return Curve(runs, grid, interquartile_mean(means.T).tolist(), [*low], [*high])
    half = t_quantile(len(runs) - 1) * means.std(axis=0, ddof=1) / len(runs) ** 0.5
    mean = means.mean(axis=0)
    return Curve(runs, grid, mean.tolist(), (mean - half).tolist(), (mean + half).tolist())


def group_by_method(runs: Sequence[History]) -> list[list[History]]:
    """Runs in groups that share the method, and differ in seed or length only."""
    groups: dict[Any, list[History]] = {}
    for run in runs:
        groups.setdefault(tuple(asdict(run.method).items()), []).append(run)
    return list(groups.values())


def describe_method(method: Method) -> list[str]:
    """A method in a few phrases: five that are always there, and others where they are not the default."""
    default = Method(net=method.net, learner=method.learner, game=method.game)
    rate = f"α = {method.alpha:g}"
    if method.schedule in ("linear", "cosine"):
        rate += f" falling to 0 ({method.schedule})"
    for after, by in steps_of(method.schedule):
        rate += f", {method.alpha * by:.3g} from {100 * after:g} % on"  # type: ignore[operator]
    changes = [f"{each.describe()} from game {each.games:,} on" for each in method.changes()]
    if method.game != "2048":
        explored = [f"{method.ahead} ahead", f"ε = {method.explore:g}", f"up to {method.opening} random moves"]
        net = str(method.net)
        return [method.game, net if len(net) <= 40 else f"{net[:37]}...", method.name, rate, *explored, *changes]
    target = method.target.replace("after", "after-")
    more = {
        "board": method.board,
        "stages": f"stages {method.stages}",
        "gamma": f"γ = {method.gamma:g}",
        "initial": f"initial {method.initial:,.0f}",
        "order": method.order,
        "restart": "restart",
        "delay": f"TC after {100 * method.delay:g} %",
    }
    return [
        *(str(method.net), method.name, f"{target} values", rate, f"{100 * method.spawn4:g} % fours"),
        *(text for name, text in more.items() if getattr(method, name) != getattr(default, name)),
        *changes,
    ]


def _score_text(score: float, share: bool) -> str:
    return f"{100 * score:.1f} %" if share else f"{score:,.0f}"


def draw_curves(
    runs: Sequence[History],
    path: str | Path | None = None,
    *,
    log: bool = False,
    by: Axis = "games",
    band: bool = False,
    iqm: bool = False,
) -> Any:
    """Draw the runs' curves into one figure; saved to `path` if given. Returns the figure.

    With `band`, runs that differ only in their seeds become one curve, their mean, with a band for
    its 95 % interval; with `iqm`, their interquartile mean. Evaluations are dots.
    """
    figure = new_figure(8, 4.5)
    from matplotlib.ticker import FuncFormatter

    empty = [run.name for run in runs if not points_of(run)]
    if empty:
        raise UserError(f"{empty[0]} has no finished block of games or evaluation to draw yet")
    games = {run.method.game for run in runs}
    if len(games) > 1:
        raise UserError(f"one picture shows runs of one game (got {', '.join(sorted(games))})")
    shares = runs[0].options.opponent is not None

    axes = figure.add_subplot()
    groups = group_by_method(runs) if band or iqm else [[run] for run in runs]
    curves = [curve_of(group, by, iqm) for group in groups]
    shared, labels = _labels(curves)
    for number, (curve, label) in enumerate(zip(curves, labels, strict=True)):
        style = line_style(number)
        marker = "o" if len(curve.x) == 1 else ""
        axes.plot(curve.x, curve.means, marker=marker, linewidth=1.4, label=escape_label(label), **style)
        if curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=0.18, linewidth=0)
        shift = DODGE * (number - (len(curves) - 1) / 2)
        for run in curve.runs:
            _draw_evaluations(axes, run.evaluations, by, style["color"], shift, bool(curve.low))
    if log:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.margins(x=0.06)
    highest = max(max(curve.means) for curve in curves)
    evaluated = [e["ci95"][1] for run in runs for e in run.evaluations]
    top = max([highest, *evaluated, *(high for curve in curves for high in curve.high)])
    axes.set_ylim(0, 1.05 * min(top, HEADROOM * highest))
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: _score_text(score, shares)))
    axes.set_xlabel("games" if by == "games" else "minutes")
    axes.set_ylabel(f"score against {runs[0].options.opponent}" if shares else "mean score")
    style_axes(axes)
    _draw_legend(figure, axes, curves, shared, "interquartile mean" if iqm else "mean")
    ends = [
        (curve.x[-1], curve.means[-1], _score_text(curve.means[-1], shares), line_style(n)["color"])
        for n, curve in enumerate(curves)
    ]
    spread_labels(figure, axes, ends, 5 + (DODGE * len(curves) / 2 if evaluated else 0))
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw_evaluations(
    axes: Any, evaluations: list[Metrics], by: Axis, colour: str, shift: float, without_intervals: bool
) -> None:
    """A dot for each evaluation, `shift` points to the right, so that several curves' dots do not overlap."""
    from matplotlib.transforms import ScaledTranslation

    if not evaluations:
        return
    means = [e["mean_score"] for e in evaluations]
    below = [max(e["mean_score"] - e["ci95"][0], 0) for e in evaluations]
    above = [max(e["ci95"][1] - e["mean_score"], 0) for e in evaluations]
    axes.errorbar(
        [e["learned"] if by == "games" else e["elapsed_s"] / 60 for e in evaluations],
        means,
        yerr=None if without_intervals else [below, above],
        fmt="o",
        color=colour,
        markersize=4,
        markerfacecolor="white",
        elinewidth=1,
        capsize=2.5,
        zorder=3,
        transform=axes.transData + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans),
    )


def _labels(curves: list[Curve]) -> tuple[list[str], list[str]]:
    """The phrases that all curves share, and a label for each curve: its name, and what it does not share."""
    phrases = [describe_method(curve.runs[0].method) for curve in curves]
    shared = [phrase for phrase in phrases[0] if all(phrase in each for each in phrases)]
    names = [common_name(curve.runs) for curve in curves]
    for number, curve in enumerate(curves):
        folder = curve.runs[0].folder
        if names.count(names[number]) > 1 and folder is not None:
            names[number] = "/".join(folder.resolve().parts[-2:])
    labels = []
    for name, each, curve in zip(names, phrases, curves, strict=True):
        own = [phrase for phrase in each if phrase not in shared]
        seeds = [plural(len(curve.runs), "seed")] if len(curve.runs) > 1 else []
        label = ", ".join([name, *own, *seeds])
        labels.append(label if len(label) <= 60 else ", ".join([name, *seeds]))
    return shared, labels


def common_name(runs: list[History]) -> str:
    """The common beginning of the runs' names: that of a-1, a-2 and a-3 is a."""
    if len(runs) == 1:
        return runs[0].name
    letters = zip(*(run.name for run in runs), strict=False)
    common = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, letters))
    return common.rstrip("-_. ") or f"{runs[0].name}, ..."


def _draw_legend(figure: Any, axes: Any, curves: list[Curve], shared: list[str], middle: str) -> None:
    """The title says what all share; the legend what each is, and what bands and dots are."""
    axes.set_title(" · ".join(["2048", *shared]), fontsize=10, loc="left", pad=10)
    evaluated = any(run.evaluations for curve in curves for run in curve.runs)
    handles, labels = axes.get_legend_handles_labels()
    if len(curves) == 1 and not curves[0].low:
        if not evaluated:
            return
        labels = ["training games"]
    if any(curve.low for curve in curves):
        from matplotlib.patches import Patch

        handles.append(Patch(facecolor="grey", alpha=0.25, linewidth=0))
        labels.append(f"95 % interval of the {middle} over seeds")
    if evaluated:
        from matplotlib.lines import Line2D

        handles.append(Line2D([], [], color="grey", marker="o", markersize=4, markerfacecolor="white", linewidth=1))
        labels.append("fresh games" if all(curve.low for curve in curves) else "fresh games, 95 %")
    if len(handles) > LEGEND_INSIDE:
        figure.set_size_inches(10, max(4.5, 0.22 * len(handles)))
        figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    else:
        axes.legend(handles, labels, frameon=False, fontsize=9)


def _short(count: float, _: object = None) -> str:
    if count >= 1e6:
        return f"{count / 1e6:g}M"
    return f"{count / 1e3:g}k" if count >= 1e3 else f"{count:g}"


def metrics_table(runs: Sequence[History]) -> Table:
    """A row for each block of training games, and for each evaluation by fresh games."""
    lines = []
    for run in runs:
        before, common = 0, {"run": run.name, "seed": run.options.seed}
        for block in run.metrics:
            for each in block.get("evaluations", ()):
                low, high = each["ci95"]
                counts = {"games": each["learned"], "played": each["games"]}
                lines.append({**each, **common, **counts, "kind": "fresh", "ci95_low": low, "ci95_high": high})
            lines.append({**block, **common, "kind": "training", "played": block["games"] - before})
            before = block["games"]
    tiles = {
        key: sorted({tile for line in lines for tile in line.get(key, {})}, key=int) for key in ("reached", "ended")
    }
    columns = [*COLUMNS, *(f"{key}_{tile}" for key in tiles for tile in tiles[key])]
    return Table(
        columns,
        (
            [line.get(name) for name in COLUMNS] + [_share(line, key, tile) for key in tiles for tile in tiles[key]]
            for line in lines
        ),
    )


def _share(line: Metrics, key: str, tile: str) -> float:
    """A tile's share of games; metrics begin with the smallest tile that a game ended with."""
    shares: dict[str, float] = line.get(key, {})
    smaller = key == "reached" and shares and int(tile) < min(map(int, shares))
    return 1.0 if smaller else shares.get(tile, 0.0)
