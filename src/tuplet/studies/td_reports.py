"""The experiments of the reports on 2048: TD(0) on states and after-states, as derived and with the reports' errors.

Each study learns with some variants of the learner (`report_learner.py`), a few runs of each, and compares the runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from statistics import fmean, variance
from typing import Any, NamedTuple

from tuplet.arena.differences import MeanDifference, welch
from tuplet.learn.self_play import fresh_games
from tuplet.studies.context import PARTS, SETTINGS, StudyContext, train_part
from tuplet.studies.report import Curve, StudyResult, draw_curves
from tuplet.studies.report_learner import LearnerVariant, block_of, name_of, run_program, settings_of, tuples_of
from tuplet.studies.verdicts import Cell, Estimate, mean_over_runs, share
from tuplet.system.blocks import Worker
from tuplet.system.files import atomic_write
from tuplet.system.intervals import Interval
from tuplet.system.pictures import error_bars, escape_label, line_style, new_figure, style_axes
from tuplet.system.version import __version__
from tuplet.values.patterns import parse

Run = Mapping[str, Any]  # the result of `run_program`

SEEDS = 3
GAMES = 100_000
FRESH = 1000  # games played without learning when a run is finished
SIBLINGS = ("td-state", "td-afterstate", "state-or-afterstate", "isomorphism", "td-targets")
UNITS = {"games": "games", "seconds": "seconds on one core", "look_ups": "weights read"}
BLOCK_SCORE = "mean score of a block of games"
AS_DERIVED = "as derived"

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


def draw_lines(axes: Any, lines: Mapping[str, Sequence[Run]], by: str = "games", **options: Any) -> None:
    """Mean scores against what was spent: a line for each variant, a faint one for each of its runs."""
    for number, runs in enumerate(lines.values()):
        colour = line_style(number)["color"]
        for run in runs if len(runs) > 1 else ():
            axes.plot(run["blocks"][by], run["blocks"]["mean_score"], color=colour, linewidth=0.5, alpha=0.35)
    curves = [Curve(name, *curve_of(runs, by)) for name, runs in lines.items()]
    draw_curves(curves, UNITS[by], BLOCK_SCORE, axes=axes, marker="", **options)


def picture(lines: Mapping[str, Sequence[Run]], marks: Mapping[str, float] | None = None, log: bool = False) -> Any:
    """Mean score of each block against games, with published scores (`marks`) as dotted lines."""
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
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
    draw_lines(axes, lines, log=log, legend="upper left" if log else "lower right")
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


def td_state(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Two reports plot the mean score of 100,000 games of TD(0) on states, a point per 1,000 games. Neither text has
    the numbers of its plot, so there is nothing to compare with. This study shows what the update as derived gives, in
    the form of the course's block of statistics.
    """
    runs = runs_of(context, {"state values": LearnerVariant(states=True)}, net)
    (ours,) = runs.values()
    own = ours[0]["settings"]
    cells = [
        *statistics_cells({"games": f"last {own['block']:,} of learning"}, ours, "last", note=" "),
        *statistics_cells({"games": f"{own['fresh']:,} fresh"}, ours, "fresh", note=" "),
    ]
    notes = [
        f"Each figure is the mean of {len(ours)} runs; its interval includes the deviation between runs.",
        f"The largest score of the last games was {largest(ours, 'last'):,}, of the fresh ones "
        f"{largest(ours, 'fresh'):,}.",
        "The study td-targets measures what the reports' own errors cost.",
    ]
    return learning_result(cells, runs, "plots without numbers", notes, {"curve": lambda: picture(runs)})


METHOD_80_20: dict[str, Any] = {
    "learner": "td",
    "target": "state",
    "alpha": 0.1,
    "lam": 0.0,
    "spawn4": 0.2,
    "order": "backward",
    "schedule": "constant",
    "gamma": 1.0,
    "initial": 0.0,
}


def td_state_80_20(context: StudyContext, net: str = "4x6") -> StudyResult:
    """One report plots the mean score of up to 1,000,000 games on a logarithmic axis, with 4-tiles one in five. The
    numbers of its plot are not in its text.
    """
    # One run of `train`, which takes hours. A finished run with these settings can be copied to its folder:
    # tuplet train --net 4x6 --learner td --target state --alpha 0.1 --lambda 0 --spawn4 0.2 --games 1000000 --threads 1
    full = 1_000_000
    games, fresh = context.games(full, least=20), context.games(FRESH, least=20)
    folder = context.shared("run" if games == full else f"run-{games}")
    settings = {
        "net": net,
        **METHOD_80_20,
        "games": games,
        "seed": context.seed,
        "block": block_of(games),
        "threads": 1,
    }
    part = {f"state-80-20-{games}-seed{context.seed}": (folder, settings, fresh)}
    ((name, result),) = context.parts(_train_80_20, part, context.count("games", [games])).items()
    blocks, note = result["blocks"], "of this run's fresh games; another run would differ more"
    cells = []
    for count, mean in zip(blocks["games"], blocks["mean_score"], strict=True):
        if count == games or (count >= 1000 and count == 10 ** (len(str(count)) - 1)):
            figure = f"mean of the last {settings['block']:,}"
            labels: dict[str, str | float] = {"games learned from": count, "figure": figure}
            cells.append(Cell(labels, Estimate(mean), None, "points", "one run: no interval"))
    after: dict[str, str | float] = {"games learned from": games}
    statistics = result["fresh"]
    mean = Estimate(statistics["mean_score"], tuple(statistics["ci95"]))
    cells.append(Cell({**after, "figure": f"mean of {fresh:,} fresh"}, mean, None, "points", note))
    for tile, reached in statistics["reached"].items():
        ours = share(reached * fresh, fresh)
        cells.append(Cell({**after, "figure": f"reached {tile}"}, ours, None, "share", note))
    notes = [
        f"One run: it takes hours. Its largest score was {max(blocks['max_score']):,}.",
        "With more 4-tiles, fewer moves make the same score: mean scores at 90/10 and at 80/20 cannot be compared.",
    ]
    settings_text = {key: str(value) for key, value in settings.items()}
    lines = {"state values, 80/20": [result]}
    return StudyResult(
        cells, settings_text, {"curve": lambda: picture(lines, log=True)}, notes, {"curves": {name: blocks}}
    )


def _train_80_20(folder: str, settings: dict[str, Any], fresh: int, worker: Worker) -> dict[str, Any] | None:
    """Train in a folder, then play; None if it was stopped."""
    run = train_part(folder, worker, **settings)
    if run is None:
        return None
    results = fresh_games(
        run.network,
        fresh,
        seed=settings["seed"],
        learned=settings["games"],
        threads=1,
        stop=worker.stop,
        watch=lambda _: None,
    )
    if results is None:
        return None
    blocks = {key: [line[key] for line in run.metrics] for key in ("games", "mean_score", "max_score")}
    return {"settings": settings, "blocks": blocks, "last": run.metrics[-1], "fresh": results}


REPORT = Published(
    58_973,
    {128: 1.0, 512: 0.999, 1024: 0.995, 2048: 0.921, 4096: 0.582, 8192: 0.071, 16384: 0.001},
    {128: 0.001, 512: 0.004, 1024: 0.074, 2048: 0.339, 4096: 0.511, 8192: 0.070, 16384: 0.001},
)
REPORTS_LARGEST, REPORTS_MOVES = 236_596, 4_647
DEMO = Published(  # its block at 100,000 games
    68_663.7,
    {256: 1.0, 512: 0.998, 1024: 0.989, 2048: 0.912, 4096: 0.687, 8192: 0.148},
    {256: 0.002, 512: 0.009, 1024: 0.077, 2048: 0.225, 4096: 0.539, 8192: 0.148},
)
DEMOS_LARGEST = 177_508
MEANT, SHARED = "a table each", "one table"  # as meant, and as programmed


def td_afterstate(context: StudyContext, net: str = "4x6") -> StudyResult:
    """The fourth report's program scores 58,973 on average and makes 2048 in 92.1 % of its games. Its four tuples share
    one table, by mistake: its list of tables holds one table four times. It does not say how many games it learned
    from, or how many its shares are of; they have one decimal, as the course's statistics of 1,000 games do, so 1,000
    is assumed. TDL2048-Demo, a program used in courses, prints its statistics after 100,000 games.
    """
    runs = runs_of(context, {MEANT: LearnerVariant(), SHARED: LearnerVariant(shared=True)}, net, seeds=5)
    cells = []
    for name in (SHARED, MEANT):
        labels = {"program": name, "beside": "the report"}
        cells += statistics_cells(labels, runs[name], "fresh", REPORT)
        # A game begins with two placements, and each slide is followed by another.
        moves = mean_at([(2 * run["fresh"]["mean_moves"] + 2, 0.0, 1) for run in runs[name]])
        note = "if the report counts placements as moves, too; slides alone are half as many"
        figure = {**labels, "figure": "slides and placements"}
        cells.append(Cell(figure, moves, Estimate(REPORTS_MOVES), "points", note))
    cells += statistics_cells({"program": MEANT, "beside": "TDL2048-Demo"}, runs[MEANT], "last", DEMO)
    settings = runs[MEANT][0]["settings"]
    notes = [
        f"Beside the report: {settings['fresh']:,} fresh games of each run. Beside TDL2048-Demo: the "
        f"last {settings['block']:,} games that were learned from, as it prints them.",
        f"Each figure is the mean of {len(runs[MEANT])} runs. A published share is of one run: "
        "verdicts allow for another run to differ from ours as ours differ from each other.",
        f"Largest scores: {largest(runs[SHARED], 'fresh'):,} (one table) and "
        f"{largest(runs[MEANT], 'fresh'):,} (a table each) in fresh games, the report's "
        f"{REPORTS_LARGEST:,}; {largest(runs[MEANT], 'last'):,} in the last games of learning, "
        f"TDL2048-Demo's {DEMOS_LARGEST:,}. They are single games and prove nothing.",
        "Published means have no interval and cannot be tested. The second picture shows the largest "
        "tiles, whose shares are differences of two rows.",
        "The report does not update the first two placements of an episode. No move leads to them, "
        "so this changes nothing (td-targets measures the cost of not updating the first two "
        "after-states).",
    ]
    marks = {"the report: 58,973": REPORT.mean, "TDL2048-Demo: 68,664": DEMO.mean}
    pictures = {"curve": lambda: picture(runs, marks), "tiles": lambda: draw_tiles(runs)}
    return learning_result(cells, runs, "the 4th report's strength table; TDL2048-Demo's print-out", notes, pictures)


def draw_tiles(runs: Mapping[str, Sequence[Run]]) -> Any:
    """The largest tiles of games: ours as bars, the published as diamonds."""
    figure, exponents = new_figure(11, 3.6), range(7, 15)
    beside = [
        (SHARED, "fresh", REPORT, "the report"),
        (MEANT, "fresh", REPORT, "the report"),
        (MEANT, "last", DEMO, "TDL2048-Demo"),
    ]
    panels = figure.subplots(1, len(beside), sharey=True)
    for axes, (name, which, published, source) in zip(panels, beside, strict=True):
        tiles = [run[which]["tiles"] for run in runs[name]]
        shares = [share_over_runs([[tile == 1 << e for tile in each] for each in tiles]) for e in exponents]
        values, bars = error_bars([(each.value, each.ci95) for each in shares], 100)
        colour = f"C{[*runs].index(name)}"  # as in the other picture
        axes.bar(exponents, values, yerr=bars, color=colour, alpha=0.75, capsize=2.5, label="ours")
        theirs = [100 * published.ended.get(1 << e, 0.0) for e in exponents]
        axes.plot(exponents, theirs, "kD", markersize=4.5, label=source)
        axes.set_xticks(exponents, [str(1 << e) for e in exponents], fontsize=7.5)
        games = "last games of learning" if which == "last" else "fresh games"
        axes.set_title(f"{name}\n{games}", fontsize=9, loc="left")
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        style_axes(axes)
    panels[0].set_ylabel("% of games with this largest tile")
    return figure


def state_or_afterstate(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Reports compare the two in words: a choice by states looks at up to 28 boards for each move, by after-states at
    one. None has a picture, or a number, of what that is worth.
    """
    state, afterstate = "state values", "after-state values"
    runs = runs_of(context, {state: LearnerVariant(states=True), afterstate: LearnerVariant()}, net, timed=True)
    cells, changes = [], {}
    for by, unit in UNITS.items():
        # All that the cheaper of the two spent: both have a curve up to there.
        spent = min(min(run["blocks"][by][-1] for run in some) for some in runs.values())
        points = {name: [_point(run, by, spent) for run in some] for name, some in runs.items()}
        means = {name: mean_at([point[:3] for point in each]) for name, each in points.items()}
        changes[by] = change(means[afterstate], means[state])
        for name, ours in means.items():
            labels: dict[str, str | float] = {
                "equal": by.replace("_", "-"),
                "spent": f"{_short(spent)} {unit}",
                "values": name,
                "games by then": round(sum(games for *_, games in points[name]) / len(points[name])),
            }
            note = describe_change(changes[by], state) if name == afterstate else " "
            cells.append(Cell(labels, ours, None, "points", note))
    settings = runs[state][0]["settings"]
    notes = [
        f"Ours is the mean score of the block of {settings['block']:,} games under way at "
        f"that point, the mean of {len(runs[state])} runs.",
        "A look-up is a weight that a plain program reads: m for each move to choose by "
        "after-states, m for each board that a spawn can make of each move to choose by states, and "
        "twice m for an update. Seconds are those of our kernels, which read fewer weights for states "
        "by adding differences.",
    ]
    for name, some in runs.items():
        games, seconds, look_ups = (
            sum(run["blocks"][unit][-1] for run in some) for unit in ("games", "seconds", "look_ups")
        )
        notes.append(
            f"{name}: {seconds / games * 1e3:,.1f} ms and {look_ups / games / 1e6:,.2f} million look-ups a game."
        )
    notes.append("Seconds depend on the machine and on its other load.")

    def draw() -> Any:
        """A panel for each unit of cost."""
        figure = new_figure(11, 4)
        panels = figure.subplots(1, len(UNITS), sharey=True)
        for axes, by in zip(panels, UNITS, strict=True):
            draw_lines(axes, runs, by, log=by != "games", legend="lower right" if axes is panels[0] else None)
            axes.set_title(f"equal {by.replace('_', '-')}", fontsize=10, loc="left")
            axes.label_outer()
        return figure

    return learning_result(cells, runs, "in words only", notes, {"curves": draw}, changes, [*UNITS])


def _point(run: Run, by: str, spent: float) -> tuple[float, float, int, float]:
    """The block under way when `spent` was reached (its mean, deviation and games), and the games by then."""
    blocks = run["blocks"]
    number = next(n for n, so_far in enumerate(blocks[by]) if so_far >= spent)
    before, games_before = (blocks[by][number - 1], blocks["games"][number - 1]) if number else (0.0, 0)
    games = blocks["games"][number] - games_before
    by_then = games_before + games * (spent - before) / max(blocks[by][number] - before, 1e-9)
    return blocks["mean_score"][number], blocks["deviation"][number], games, by_then


def _short(number: float) -> str:
    """A number with three significant digits.

    >>> _short(100_000), _short(123.456), _short(10_512_345), _short(2.5e9)
    ('100,000', '123', '10.5 million', '2.5 billion')
    """
    for unit, word in ((1e9, " billion"), (1e6, " million")):
        if number >= unit:
            return f"{number / unit:.3g}{word}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def isomorphism(context: StudyContext, net: str = "4x6") -> StudyResult:
    """One report's author first had no isomorphisms (scores rose but stayed low), then considered whether 4 tables or
    32 are right, and says 4; its program had a single one. It gives no numbers.
    """
    usual = "8 placements, a table for each tuple"
    variants = {
        usual: LearnerVariant(),
        "8 placements, one table": LearnerVariant(shared=True),
        "8 placements, a table for each": LearnerVariant(table_per_placement=True),
        "1 placement, a table for each tuple": LearnerVariant(no_symmetry=True),
        "1 placement, one table": LearnerVariant(no_symmetry=True, shared=True),
    }
    runs, sizes = runs_of(context, variants, net), [16 ** len(cells) for cells in parse(net)]
    cells: list[Cell] = []
    changes: dict[str, Estimate] = {}
    for name, variant in variants.items():
        tables = sizes[:1] if variant.shared else sizes * 8 if variant.table_per_placement else sizes
        labels = {"placements": 1 if variant.no_symmetry else 8, "tables": len(tables), "weights": sum(tables)}
        cells.append(_change_cell(labels, runs, name, usual, usual, changes))
    notes = [
        _ours(runs, usual),
        f"α is divided among all look-ups of a board: {8 * len(sizes)} with eight placements, {len(sizes)} with one.",
    ]
    return learning_result(cells, runs, "no numbers", notes, {"curve": lambda: picture(runs)}, changes)


def _change_cell(
    labels: Mapping[str, str | float],
    runs: Mapping[str, Sequence[Run]],
    name: str,
    reference: str,
    reference_text: str,
    changes: dict[str, Estimate],
) -> Cell:
    """The mean score of a variant's fresh games, and its change from `reference`, which is added to `changes`."""
    ours, note = scores_of(runs[name], "fresh"), " "
    if name != reference:
        changes[name] = change(ours, scores_of(runs[reference], "fresh"))
        note = describe_change(changes[name], reference_text)
    if not all(run["finite"] for run in runs[name]):
        note += "; its weights are no longer finite numbers"
    return Cell(labels, ours, None, "points", note)


def _ours(runs: Mapping[str, Sequence[Run]], name: str) -> str:
    settings = runs[name][0]["settings"]
    return (
        f"Ours is the mean score of {settings['fresh']:,} fresh games after {settings['games']:,} games of "
        f"learning, the mean of {len(runs[name])} runs."
    )


SLIPS: dict[str, dict[str, tuple[LearnerVariant, str]]] = {  # in the update, and the reports that have them
    "states": {
        AS_DERIVED: (LearnerVariant(states=True), ""),
        "the next move's reward in the target, not its own": (
            LearnerVariant(states=True, swapped_reward=True),
            "1st report",
        ),
        "α not divided over isomorphs: V moves 8 times as far": (
            LearnerVariant(states=True, undivided_alpha=True),
            "1st report",
        ),
        "both of these": (LearnerVariant(states=True, swapped_reward=True, undivided_alpha=True), "1st report, both"),
        "the last state is not updated": (LearnerVariant(states=True, no_terminal_update=True), "2nd report"),
        "expectation not divided by the number of empty cells": (
            LearnerVariant(states=True, summed_expectation=True),
            "5th report does not show whether it divides",
        ),
        "states without moves looked up, not worth 0": (
            LearnerVariant(states=True, no_terminal_check=True),
            "no listing checks for them",
        ),
    },
    "after-states": {
        AS_DERIVED: (LearnerVariant(), ""),
        "its own move's reward in the target, not the next one's": (
            LearnerVariant(swapped_reward=True),
            "no report: the 1st report's, reversed",
        ),
        "α not divided over isomorphs: V moves 8 times as far": (
            LearnerVariant(undivided_alpha=True),
            "1st report's, for after-states",
        ),
        "the last after-state is not updated": (
            LearnerVariant(no_terminal_update=True),
            "2nd report's, for after-states",
        ),
        "the first two after-states are not updated": (
            LearnerVariant(skip_first=2),
            'a reading of the 4th report\'s "first two placements left out"',
        ),
    },
}


def td_targets(context: StudyContext, net: str = "4x6") -> StudyResult:
    """The listings of some reports do not compute what their formulas say. No report gives the cost: the authors did
    not notice.
    """
    variants = {f"{kind}; {slip}": variant for kind, slips in SLIPS.items() for slip, (variant, _) in slips.items()}
    runs = runs_of(context, variants, net, 30_000)
    cells: list[Cell] = []
    changes: dict[str, Estimate] = {}
    for kind, slips in SLIPS.items():
        right = f"{kind}; {AS_DERIVED}"
        for slip, (_, source) in slips.items():
            labels = {"values of": kind, "update": slip, "found in": source}
            cells.append(_change_cell(labels, runs, f"{kind}; {slip}", right, AS_DERIVED, changes))
    notes = [
        _ours(runs, right),
        "The cost of an error is in % of the mean without it. Each interval has 95 % confidence by itself.",
    ]

    def draw() -> Any:
        """A panel for state values and one for after-state values."""
        figure = new_figure(11, 7.5)
        for axes, (kind, slips) in zip(figure.subplots(2, 1), SLIPS.items(), strict=True):
            draw_lines(axes, {slip: runs[f"{kind}; {slip}"] for slip in slips}, legend=None)
            axes.set_title(f"values of {kind}", fontsize=10, loc="left")
            axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        return figure

    return learning_result(cells, runs, "no numbers", notes, {"curves": draw}, changes)
