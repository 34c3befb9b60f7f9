"""What the studies of learning 2048 share: their runs, estimates over them, and their curves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from statistics import fmean, variance
from typing import Any, NamedTuple

import numpy as np

from tuplet.arena.differences import MeanDifference, welch
from tuplet.errors import UserError
from tuplet.learn.run import Run as LearnedRun
from tuplet.learn.train import train_or_resume
from tuplet.studies.context import PARTS, SETTINGS, StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant, name_of, run_program, settings_of, tuples_of
from tuplet.studies.verdicts import Cell, Estimate, mean_over_runs, share
from tuplet.system.blocks import Worker
from tuplet.system.files import atomic_write
from tuplet.system.intervals import Interval
from tuplet.system.pictures import escape_label, line_style, new_figure, style_axes
from tuplet.system.progress import Progress
from tuplet.system.version import __version__

Run = Mapping[str, Any]  # the result of `run_program`

SEEDS = 3
GAMES = 100_000
FRESH = 1000  # games played without learning when a run is finished
SIBLINGS = ("td-state", "td-afterstate", "state-or-afterstate", "isomorphism", "td-targets")
UNITS = {"games": "games", "seconds": "seconds on one core", "look_ups": "weights read"}


FLAGS = {  # of `LearnerVariant`, in words
    "states": "values of states",
    "shared": "one table for all tuples",
    "table_per_placement": "a table for each placement of each tuple",
    "no_symmetry": "each tuple in one placement",
    "undivided_alpha": "α divided by the number of tuples, not of look-ups",
    "swapped_reward": "targets have the reward of the other kind of values",
    "no_terminal_update": "the last board of a game is not updated",
    "skip_first": "the first two boards of a game are not updated",
    "summed_expectation": "expectations are not divided by the number of empty cells",
    "no_terminal_check": "states without moves are looked up",
}


class Published(NamedTuple):
    """Published statistics of one run."""

    mean: float
    reached: Mapping[int, float]
    ended: Mapping[int, float]
    games: int = 1000


def runs_of(
    context: StudyContext,
    variants: Mapping[str, LearnerVariant],
    net: str,
    full: int = GAMES,
    seeds: int = SEEDS,
    *,
    timed: bool = False,
) -> dict[str, list[Run]]:
    """Runs of each variant, one for each seed.

    Finished runs of a study in a neighbouring folder are copied, unless seconds are compared (`timed`), since they
    may come from another machine.
    """
    games, fresh = context.games(full, least=20), context.games(FRESH, least=20)
    for variant in variants.values():
        tuples_of(net, variant)  # raises for a bad network before anything runs
    planned = {
        name: [settings_of(variant, games, context.seed + n, net=net, fresh=fresh) for n in range(seeds)]
        for name, variant in variants.items()
    }
    folder = context.folder / PARTS
    folder.mkdir(exist_ok=True)
    parts = {}
    for n in range(seeds):  # the first seed of all variants first
        for each in planned.values():
            name = name_of(each[n])
            parts[name] = (each[n], str(folder / f"{name}.safetensors"))
            if not timed:
                _copy_finished_run(context, name, each[n])
    results = context.parts(run_program, parts, context.count("games", [games] * len(parts)))
    return {variant: [results[name_of(each)] for each in settings] for variant, settings in planned.items()}


def _copy_finished_run(context: StudyContext, name: str, settings: Mapping[str, Any]) -> None:
    """Copy a finished run of these settings from the folder of a study beside this one's."""
    own = context.folder / PARTS / f"{name}.json"
    for study in () if own.exists() else SIBLINGS:
        folder = context.folder.resolve().parent / study
        with suppress(OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
            beside = json.loads((folder / SETTINGS).read_bytes())
            text = (folder / PARTS / f"{name}.json").read_bytes()
            if beside.get("tuplet") == __version__ and json.loads(text)["settings"] == settings:
                with atomic_write(own) as file:
                    file.write(text)
                return


def train_part(folder: str, worker: Worker, **settings: Any) -> LearnedRun | None:
    """Train in a folder as a part of a study, or continue there; None if it was stopped."""
    unit, done = "time" if settings.get("budget") else "games", np.zeros(1)

    def report(event: Progress) -> None:
        done[0] = event.done if event.what == unit else done[0]

    with worker.showing(done):
        run = train_or_resume(folder, progress=report, stop=worker.stop, **settings)
    return None if run.interrupted else run


def tile_shares(tiles: Sequence[int], limits: Sequence[int]) -> tuple[dict[int, Estimate], str]:
    """The share of games that reached each of some tiles, also in words."""
    reached = {limit: share(sum(tile >= limit for tile in tiles), len(tiles)) for limit in limits}
    return reached, ", ".join(f"{limit} in {100 * each.value:.1f} %" for limit, each in reached.items())


def list_of(text: str, read: Callable[[str], Any], message: str) -> list[Any]:
    """The sorted values of a text such as "1 3 10"; UserError with this message if there is none, or a wrong one."""
    try:
        values = sorted({read(word) for word in text.replace(",", " ").split()})
    except ValueError:
        values = []
    if not values:
        raise UserError(f"{message} (got {text!r})")
    return values


def mean_at(points: Sequence[tuple[float, float, int]]) -> Estimate:
    """The mean of runs' blocks (a mean, its scores' deviation, and how many), as `mean_over_runs`.

    The deviation between runs is at least what follows from the deviation of the scores.
    """
    means = [mean for mean, _, _ in points]
    if len(points) < 2:
        return Estimate(fmean(means), games=points[0][2])
    inside = math.fsum(deviation**2 / games for _, deviation, games in points) / len(points) ** 2
    return _over_runs(means, inside, (0.0, math.inf), sum(games for *_, games in points))


def _over_runs(means: Sequence[float], inside: float, ends: Interval, games: int) -> Estimate:
    """The mean of runs' means, given the squared error that follows from their games alone."""
    value, dof = fmean(means), len(means) - 1
    mean = MeanDifference(value, math.sqrt(max(variance(means) / len(means), inside)), dof)
    low, high = mean.interval()
    return Estimate(value, (max(low, ends[0]), min(high, ends[1])), mean.stderr, dof, games)


def share_over_runs(runs: Sequence[Sequence[bool]]) -> Estimate:
    """The share of runs' games that are true, with the uncertainty of `mean_over_runs`."""
    shares = [sum(each) / len(each) for each in runs]
    games = sum(map(len, runs))
    if len(runs) < 2:
        return Estimate(shares[0], games=games)
    return _over_runs(shares, share(sum(map(sum, runs)), games).stderr ** 2, (0.0, 1.0), games)


def widened_for_another_run(ours: Estimate, runs: Sequence[Sequence[bool]]) -> Estimate:
    """Our estimate, to be tested against the share of one other run, which deviates as ours do."""
    shares = [sum(each) / len(each) for each in runs]
    if len(runs) < 2:
        return ours
    inside = fmean(s * (1 - s) / len(each) for s, each in zip(shares, runs, strict=True))
    between = max(variance(shares) - inside, 0.0)
    return ours._replace(stderr=math.sqrt(ours.stderr**2 + between))


def change(ours: Estimate, reference: Estimate) -> Estimate:
    """The relative difference of ours from `reference`: -0.1 is a tenth less (Welch 1947, on logarithms)."""
    if min(ours.value, reference.value) <= 0:
        return Estimate(math.nan)
    sides = [((each.stderr / each.value) ** 2, each.dof) for each in (ours, reference)]
    apart = welch(math.log(ours.value / reference.value), *sides)
    if not math.isfinite(apart.stderr):
        return Estimate(math.expm1(apart.value))
    low, high = apart.interval()
    return Estimate(math.expm1(apart.value), (math.expm1(low), math.expm1(high)))


def describe_change(change: Estimate, reference: str) -> str:
    """A change in words.

    >>> describe_change(Estimate(-0.123, (-0.2, 0.01)), "as derived")
    '12.3 % less than "as derived" (-20.0 to +1.0 %)'
    """
    words = f'{100 * abs(change.value):.1f} % {"less" if change.value < 0 else "more"} than "{reference}"'
    if change.ci95 is None:
        return f"{words} (one run: no interval)"
    low, high = (100 * end for end in change.ci95)
    return f"{words} ({low:+.1f} to {high:+.1f} %)"


def scores_of(runs: Sequence[Run], which: str) -> Estimate:
    """The mean score of the runs' last or fresh games."""
    return mean_over_runs([run[which]["scores"] for run in runs])


def statistics_cells(
    labels: Mapping[str, str | float],
    runs: Sequence[Run],
    which: str,
    published: Published | None = None,
    note: str = "",
) -> list[Cell]:
    """The statistics that courses print, as cells: mean score, and the share of games that reached each tile."""
    theirs = None if published is None else Estimate(published.mean)
    cells = [Cell({**labels, "figure": "mean score"}, scores_of(runs, which), theirs, "points", note)]
    tiles = [run[which]["tiles"] for run in runs]
    if published is None:
        least = max(min(map(min, tiles)), 2)
        known = [1 << e for e in range(least.bit_length() - 1, max(map(max, tiles)).bit_length())]
    else:
        known = list(published.reached)
    for tile in known:
        flags, theirs = [[t >= tile for t in each] for each in tiles], None
        ours = share_over_runs(flags)
        if published is not None:
            theirs = share(published.reached[tile] * published.games, published.games)
            ours = widened_for_another_run(ours, flags)
        cells.append(Cell({**labels, "figure": f"reached {tile}"}, ours, theirs, "share", note))
    return cells


def largest(runs: Sequence[Run], which: str) -> int:
    """The largest score of the runs' last or fresh games."""
    return max(int(run[which]["max_score"]) for run in runs)


def curve_of(runs: Sequence[Run], by: str) -> tuple[list[float], list[float]]:
    """The mean of the runs' curves: what was spent by the end of each block, and its mean score."""
    spent = zip(*(run["blocks"][by] for run in runs), strict=True)
    means = zip(*(run["blocks"]["mean_score"] for run in runs), strict=True)
    return [fmean(each) for each in spent], [fmean(each) for each in means]


def curves_for(lines: Mapping[str, Sequence[Run]], units: Sequence[str] = ("games", "look_ups")) -> dict[str, Any]:
    """The curves behind a picture, for the JSON file."""
    return {
        name: {
            **{by: curve_of(runs, by)[0] for by in units},
            "mean_score": curve_of(runs, "games")[1],
            "runs": [run["blocks"]["mean_score"] for run in runs],
        }
        for name, runs in lines.items()
    }


def draw_lines(
    axes: Any,
    lines: Mapping[str, Sequence[Run]],
    by: str = "games",
    *,
    log: bool = False,
    marks: Mapping[str, float] | None = None,
) -> None:
    """Mean scores against what was spent: a line for each variant, a faint one for each of its runs."""
    from matplotlib.ticker import FuncFormatter

    for number, (name, runs) in enumerate(lines.items()):
        look = line_style(number)
        for run in runs if len(runs) > 1 else ():
            axes.plot(run["blocks"][by], run["blocks"]["mean_score"], color=look["color"], linewidth=0.5, alpha=0.35)
        axes.plot(*curve_of(runs, by), label=escape_label(name), linewidth=1.6, **look)
    for word, score in (marks or {}).items():
        axes.axhline(score, color="0.45", linewidth=0.9, linestyle=":")
        axes.annotate(
            escape_label(word),
            (0.99, score),
            xycoords=("axes fraction", "data"),
            ha="right",
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=7.5,
            color="0.35",
        )
    if log:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:,.0f}"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(UNITS[by])
    style_axes(axes)


def picture(lines: Mapping[str, Sequence[Run]], marks: Mapping[str, float] | None = None, log: bool = False) -> Any:
    """Mean score of each block against games."""
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    draw_lines(axes, lines, marks=marks, log=log)
    axes.set_ylabel("mean score of a block of games")
    axes.legend(frameon=False, fontsize=8.5, loc="upper left" if log else "lower right")
    return figure


def describe_settings(runs: Mapping[str, Sequence[Run]], reports: str) -> dict[str, str]:
    """All settings of the runs, in words."""
    variants = {}
    for name, each in runs.items():
        own = each[0]["settings"]
        flags = [words for flag, words in FLAGS.items() if own[flag]]
        variants[name] = "; ".join([*flags, *([] if own["states"] else ["values of after-states"])])
    one = next(iter(runs.values()))
    own, seeds = one[0]["settings"], [str(run["settings"]["seed"]) for run in one]
    return {
        "network": f"{own['net']}, all weights 0 at first",
        "learning": f"TD(0) from the end of each game, α = {own['alpha']:g} in all, γ = 1, no exploration",
        "spawns": f"a 4 with {own['spawn4']:g}, else a 2",
        "games": f"{own['games']:,} learned from, a point of a curve per {own['block']:,}; then "
        f"{own['fresh']:,} fresh ones, not learned from",
        "seeds": ", ".join(seeds),
        **variants,
        "published": reports,
    }


def learning_result(
    cells: Sequence[Cell],
    runs: Mapping[str, Sequence[Run]],
    published: str,
    notes: Sequence[str],
    pictures: Mapping[str, Callable[[], Any]],
    changes: Mapping[str, Estimate] | None = None,
    units: Sequence[str] = ("games", "look_ups"),
) -> StudyResult:
    """The result of a study of learning: its cells, all settings, and the curves behind the pictures."""
    extra = {"curves": curves_for(runs, units)}
    if changes is not None:
        extra["changes"] = {name: {"change": each.value, "ci95": each.ci95} for name, each in changes.items()}
    return StudyResult(cells, describe_settings(runs, published), pictures, notes, extra)
