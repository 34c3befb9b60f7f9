"""Which recipe plays best after a given time? Trained on this machine, with all cores on one table.

Runs are timed, so they run one after another, and the results depend on the machine. An interrupted run continues;
a finished one keeps its curve, but not its weights (unless `--keep`).
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.arena.evaluate import evaluate
from tuplet.games.g2048.statistics import score_interval
from tuplet.learn.recipes import choose
from tuplet.learn.settings import Method, RunOptions, split
from tuplet.studies.context import StudyContext, list_of, train_part
from tuplet.studies.report import Curve, StudyResult, draw_curves
from tuplet.studies.verdicts import Cell, Estimate, tile_shares
from tuplet.system.blocks import Worker
from tuplet.system.pictures import error_bars
from tuplet.system.settings import parse_duration
from tuplet.system.stop import Stopped
from tuplet.values.weights import WEIGHTS

FRESH = 1000  # games played without learning when the time is over
LONG = 30  # minutes: from here on there is one run, below there are two
TILES = (8192, 16384, 32768)
ENTRANTS = ("homework", "quick", "grown", "strong")
RUNS = "runs"


def leaderboard(
    context: StudyContext, times: str = "1m 3m 10m 30m", recipes: str = "", keep: bool = False
) -> StudyResult:
    """No report has this: how far each recipe comes in a minute, in three, ten and thirty, on the machine at hand.
    `tuplet train --budget` takes the one that is ahead.
    """
    entries = _entries(recipes.replace(",", " ").split() or [*ENTRANTS], _minutes(times))
    entrants = list(dict.fromkeys(recipe for recipe, _ in entries))
    planned = {
        (recipe, minutes): [context.seed + n for n in range(1 if minutes >= LONG else 2)]
        for recipe, minutes in sorted(entries, key=lambda entry: entry[1])
    }
    fresh = context.games(FRESH, least=20)
    (context.folder / RUNS).mkdir(exist_ok=True)
    parts = {}
    for (recipe, minutes), seeds in planned.items():
        for seed in seeds:
            name = f"{recipe}-{minutes:g}m-seed{seed}"
            folder = str(context.folder / RUNS / name)
            parts[name] = (recipe, 60 * context.scale * minutes, seed, folder, context.threads, fresh, keep)
    alone = replace(context, threads=1, executor=None)  # one run uses all cores
    results = alone.parts(trained, parts, context.count("time", [part[1] for part in parts.values()]))
    cells, curves = [], {}
    for (recipe, minutes), seeds in planned.items():
        runs = [results[f"{recipe}-{minutes:g}m-seed{seed}"] for seed in seeds]
        cells.append(_cell(recipe, minutes, runs))
        curves[f"{recipe}-{minutes:g}m"] = [run["curve"] for run in runs]
    settings = {recipe: _describe(_settings(recipe, 1.0, 0)[0]) for recipe in entrants}
    settings["threads"] = str(context.threads)
    best = {}
    for minutes in sorted({minutes for _, minutes in entries}):
        own = [cell for cell in cells if cell.labels["minutes"] == minutes]
        best[f"{minutes:g}"] = str(max(own, key=lambda cell: cell.ours.value).labels["recipe"])
    notes = [
        f"{fresh:,} fresh games a run, not learned from. Intervals cover these runs' games; another run would differ "
        "by more, as the means of the seeds show.",
        "Ahead: " + "; ".join(f"after {minutes} min {recipe}" for minutes, recipe in best.items()) + ".",
    ]
    more = {"best": best, "curves": curves}
    return StudyResult(cells, settings, {"curves": lambda: draw(cells, entrants)}, notes, more)


def _minutes(times: str) -> list[float]:
    return list_of(times, lambda word: parse_duration(word) / 60, "--times must be times such as 1m 3m 10m")


def _entries(entrants: list[str], times: list[float]) -> list[tuple[str, float]]:
    """Each recipe with each of the times, or with its own: `quick@1m`."""
    entries = []
    for entrant in entrants:
        name, at, own = entrant.partition("@")
        _settings(name, 1.0, 0)  # raises for an unknown recipe before anything runs
        entries += [(name, time) for time in (_minutes(own) if at else times)]
    return list(dict.fromkeys(entries))


def _settings(recipe: str, budget: float, seed: int) -> tuple[Method, RunOptions]:
    """What `tuplet train --recipe NAME --budget TIME --seed SEED` does."""
    return split(choose(recipe, {"budget": budget, "seed": seed}))


def _describe(method: Method) -> str:
    defaults, always = vars(Method()), ("net", "learner", "alpha", "lam")
    own = vars(method).items()
    return ", ".join(f"{key}={value}" for key, value in own if value != defaults[key] or key in always)


def trained(
    recipe: str, budget: float, seed: int, folder: str, threads: int, fresh: int, keep: bool, worker: Worker
) -> dict[str, Any] | None:
    """Train in a folder, then play; None if it was stopped."""
    path = Path(folder)
    if path.exists() and not (path / WEIGHTS).exists():  # it was finished, but its result is gone
        shutil.rmtree(path)
    run = train_part(folder, worker, recipe=recipe, budget=budget, seed=seed, threads=threads)
    if run is None:
        return None
    try:
        played = evaluate(run.network, games=fresh, threads=threads, seed=1, progress=False, stop=worker.stop)
    except Stopped:
        return None
    if played.interrupted:
        return None
    if not keep:
        (path / WEIGHTS).unlink()
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
        "curve": {key: [line[key] for line in run.metrics] for key in ("games", "elapsed_s", "mean_score")},
    }


def _cell(recipe: str, minutes: float, runs: list[dict[str, Any]]) -> Cell:
    scores = [score for run in runs for score in run["scores"]]
    means = [float(np.mean(run["scores"])) for run in runs]
    _, tiles = tile_shares([tile for run in runs for tile in run["tiles"]], TILES)
    each = " and ".join(f"{mean:,.0f} after {run['games']:,} games" for mean, run in zip(means, runs, strict=True))
    labels: dict[str, str | float] = {"recipe": recipe, "minutes": minutes, "seeds": len(runs)}
    estimate = Estimate(float(np.mean(scores)), score_interval(scores))
    return Cell(labels, estimate, None, "points", f"{tiles}; {each}", {"means": means})


def draw(cells: list[Cell], entrants: list[str]) -> Any:
    """Mean score against minutes, a line for each recipe."""
    curves = []
    for recipe in entrants:
        own = [cell for cell in cells if cell.labels["recipe"] == recipe]
        minutes = [float(cell.labels["minutes"]) for cell in own]
        curves.append(Curve(recipe, minutes, *error_bars([(cell.ours.value, cell.ours.ci95) for cell in own])))
    axes = draw_curves(curves, "minutes of training", "mean score", log=True, legend="best")
    ticks = sorted({float(cell.labels["minutes"]) for cell in cells})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    return axes.figure
