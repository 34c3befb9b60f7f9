"""Which recipe plays best after so much time? Trained on this machine, all cores at one table.

Runs are timed, so they are done one after another, and what comes out depends on the machine. A run
that was interrupted goes on; of a finished one the curve stays, and the weights do not (`--keep`).
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.arena.evaluate import evaluate
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_interval
from tuplet.learn.recipes import choose
from tuplet.learn.run import CONFIG, Run
from tuplet.learn.settings import Method, RunOptions, split
from tuplet.learn.train import resume, train
from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell, Estimate, share
from tuplet.system.blocks import Worker
from tuplet.system.pictures import line_style, new_figure, style_axes
from tuplet.system.progress import Progress
from tuplet.system.stop import Stopped
from tuplet.values.weights import WEIGHTS

CLAIM = (
    "No report has this: how far each recipe comes in a minute, in three, ten and thirty, on the "
    "machine at hand. `tuplet train --budget` takes the one that is ahead."
)
FRESH = 1000  # games played without learning when the time is over
LONG = 30  # minutes from which on one run has to do, below there are two
TILES = (8192, 16384, 32768)
ENTRANTS = ("homework", "quick", "grown", "strong")
RUNS = "runs"


def run(context: StudyContext, minutes: str = "1 3 10 30", recipes: str = "", keep: bool = False) -> StudyResult:
    """Train by each recipe for so many minutes, and play."""
    entries = _entries(recipes.replace(",", " ").split() or [*ENTRANTS], _times(minutes))
    times = sorted({time for _, time in entries})
    entrants = list(dict.fromkeys(each for each, _ in entries))
    planned = {
        (each, time): [context.seed + n for n in range(1 if time >= LONG else 2)]
        for each, time in sorted(entries, key=lambda entry: entry[1])
    }
    fresh, seconds = context.games(FRESH, least=20), 60 * context.scale
    (context.folder / RUNS).mkdir(exist_ok=True)
    parts = {}
    for (each, time), seeds in planned.items():
        for seed in seeds:
            name = f"{each}-{time:g}m-seed{seed}"
            folder = str(context.folder / RUNS / name)
            parts[name] = (each, seconds * time, seed, folder, context.threads, fresh, keep)
    alone = replace(context, threads=1, executor=None)  # all cores are busy with one run
    found = alone.parts(trained, parts, _watched(context, [part[1] for part in parts.values()]))
    cells, curves = [], {}
    for (each, time), seeds in planned.items():
        runs = [found[f"{each}-{time:g}m-seed{seed}"] for seed in seeds]
        cells.append(_cell(each, time, runs))
        curves[f"{each}-{time:g}m"] = [one["curve"] for one in runs]
    settings = {each: _told(_settings(each, 1.0, 0)[0]) for each in entrants}
    settings["threads"] = str(context.threads)
    best = {}
    for time in times:
        own = [cell for cell in cells if cell.where["minutes"] == time]
        best[f"{time:g}"] = str(max(own, key=lambda cell: cell.ours.value).where["recipe"])
    notes = [
        f"{fresh:,} fresh games a run, not learned from. Intervals are of these runs' games; "
        "another run would differ by more, as the means of the seeds tell.",
        "Ahead: " + "; ".join(f"after {time} min {name}" for time, name in best.items()) + ".",
    ]
    more = {"best": best, "curves": curves}
    return StudyResult(cells, settings, {"curves": lambda: draw(cells, entrants)}, notes, more)


def _times(minutes: str) -> list[float]:
    """Minutes, from text; ValueError for what are none."""
    try:
        times = sorted({float(word) for word in minutes.replace(",", " ").split()})
    except ValueError:
        times = []
    if not times or not all(0 < time <= 100_000 for time in times):
        raise UserError(f"minutes are numbers such as 1 3 10, not {minutes!r}")
    return times


def _entries(entrants: list[str], times: list[float]) -> list[tuple[str, float]]:
    """Each recipe with each of the times, or with its own: `quick@1`."""
    entries = []
    for entrant in entrants:
        name, at, own = entrant.partition("@")
        _settings(name, 1.0, 0)  # refuses it now
        entries += [(name, time) for time in (_times(own) if at else times)]
    return list(dict.fromkeys(entries))


def _settings(recipe: str, budget: float, seed: int) -> tuple[Method, RunOptions]:
    """What `tuplet train --recipe NAME --budget TIME --seed SEED` does."""
    return split(choose(recipe, {"budget": budget, "seed": seed}))


def _told(method: Method) -> str:
    usual, named = vars(Method()), ("net", "learner", "alpha", "lam")
    own = vars(method).items()
    return ", ".join(f"{key}={value}" for key, value in own if value != usual[key] or key in named)


def trained(
    recipe: str, budget: float, seed: int, folder: str, threads: int, fresh: int, keep: bool, worker: Worker
) -> dict[str, Any] | None:
    """Train in this folder, or go on there, and play; None if told to stop."""
    path, spent = Path(folder), np.zeros(1)

    def look(seen: Progress) -> None:
        spent[0] = seen.done if seen.what == "time" else spent[0]

    tell: dict[str, Any] = {"progress": look, "stop": worker.stop}
    if path.exists() and not (path / WEIGHTS).exists():  # it was finished, and its result is gone
        shutil.rmtree(path)
    with worker.showing(spent):
        if not (path / CONFIG).exists():
            run = train(recipe=recipe, budget=budget, seed=seed, threads=threads, out=path, **tell)
        else:
            run = Run.load(path)
            if run.elapsed_s < budget:
                run = resume(path, **tell)
        if run.interrupted:
            return None
        try:
            played = evaluate(run.network, games=fresh, threads=threads, seed=1, progress=False, stop=worker.stop)
        except Stopped:
            return None
    if played.interrupted:
        return None
    if not keep:
        (path / WEIGHTS).unlink()
    keys = ("games", "elapsed_s", "mean_score")
    return {
        "recipe": recipe,
        "budget": budget,
        "seed": seed,
        "threads": threads,
        "games": run.games,
        "elapsed_s": run.elapsed_s,
        "net": run.network.name,
        "scores": played.results.scores.tolist(),
        "tiles": [1 << int(tile) for tile in played.results.tiles],
        "curve": {key: [line[key] for line in run.metrics] for key in keys},
    }


def _watched(context: StudyContext, budgets: list[float]) -> Any:
    """Tells of the time that runs have taken."""
    before = -1.0

    def look(done: int, worker: Worker) -> None:
        nonlocal before
        spent = sum(budgets[:done]) + sum(float(each[0]) for each in worker.under_way)
        before = spent if before < 0 else before
        figures = {"runs": f"{done} of {len(budgets)}"}
        context.watch(Progress("time", spent, sum(budgets), figures=figures, before=before))

    return look


def _cell(recipe: str, minutes: float, runs: list[dict[str, Any]]) -> Cell:
    scores = [one["scores"] for one in runs]
    pooled = [score for each in scores for score in each]
    mean = Estimate(float(np.mean(pooled)), score_interval(pooled))
    tiles = [tile for one in runs for tile in one["tiles"]]
    reached = {t: share(sum(tile >= t for tile in tiles), len(tiles)) for t in TILES}
    means = [float(np.mean(each)) for each in scores]
    told_runs = " and ".join(f"{mean:,.0f} after {one['games']:,} games" for mean, one in zip(means, runs, strict=True))
    told = ", ".join(f"{tile} in {100 * each.value:.1f} %" for tile, each in reached.items())
    return Cell(
        {"recipe": recipe, "minutes": minutes, "seeds": len(runs)},
        mean,
        None,
        "points",
        f"{told}; {told_runs}",
        {"means": means},
    )


def draw(cells: list[Cell], entrants: list[str]) -> Any:
    """Mean score against minutes, a line for each recipe."""
    figure = new_figure(7, 4)
    axes = figure.subplots()
    for number, each in enumerate(entrants):
        own = [cell for cell in cells if cell.where["recipe"] == each]
        x = [float(cell.where["minutes"]) for cell in own]
        y = [cell.ours.value for cell in own]
        ends = [cell.ours.ci95 or (v, v) for cell, v in zip(own, y, strict=True)]
        bars = [
            [v - low for v, (low, _) in zip(y, ends, strict=True)],
            [high - v for v, (_, high) in zip(y, ends, strict=True)],
        ]
        axes.errorbar(
            x, y, yerr=bars, marker="o", markersize=4, capsize=2, label=each, linewidth=1.4, **line_style(number)
        )
    axes.set(xscale="log", xlabel="minutes of training", ylabel="mean score")
    ticks = sorted({float(cell.where["minutes"]) for cell in cells})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda score, _: f"{score:,.0f}")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    style_axes(axes)
    return figure
