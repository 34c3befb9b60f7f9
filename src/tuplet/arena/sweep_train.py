"""`sweep_train`: learn 2048 at every point of a grid, with several seeds, and judge by fresh games.

A block is a run: a point and a seed. It learns on one core, which gives the same bytes for the
same seed, and is judged there by greedy games of a seed of their own, the same for all points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from pathlib import Path
from statistics import fmean
from types import NoneType
from typing import Any, NamedTuple, get_args

import numpy as np

from tuplet.arena.differences import MeanDifference, independent_runs, paired_scores, run_stderr
from tuplet.arena.evaluate import evaluate
from tuplet.arena.grids import Axis, axis, label, points_of, template
from tuplet.arena.sweep import GridPoint, PointResult, Sweep, kept_in_folder
from tuplet.arena.sweep_folder import SweepFolder, file_name
from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.games.g2048.statistics import score_interval
from tuplet.learn.learners import learner_named
from tuplet.learn.recipes import choose
from tuplet.learn.run import CONFIG, Run
from tuplet.learn.settings import Method, RunOptions, split
from tuplet.learn.train import resume, train
from tuplet.learn.training import Training
from tuplet.system.blocks import Worker, as_executor, as_threads, cores, ordered_map
from tuplet.system.intervals import Interval
from tuplet.system.progress import Progress, ProgressOption, Watcher, watching
from tuplet.system.settings import setting_fields
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import plural
from tuplet.values.patterns import parse

FRESH = 1_000_000  # what an evaluation's seed is more than its run's
MOST_SEEDS = 1000
FOLDER = Path("runs/sweep")  # where none is named


class PlannedRun(NamedTuple):
    """A run of the sweep: what it learns by, and where."""

    spec: str
    seed: int
    folder: Path
    settings: dict[str, Any]
    options: RunOptions


def sweep_train(
    *,
    seeds: int = 3,
    seed: int = 0,
    evaluate_games: int = 1000,
    recipe: str | Sequence[str] | None = None,
    threads: int | None = None,
    out: str | Path = FOLDER,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    **settings: Any,
) -> Sweep:
    """Learn 2048 at every point of a grid, and tell which settings are better.

    The settings are those of `train`; a text with commas or braces, or a list, is an axis of the
    grid: `alpha="0.025,0.05,0.1"`, `net=["4x6", "8x6"]`. Each point is learned by so many `seeds`,
    `seed` and those after it, a run on one core each, as many at a time as `threads` says (all
    cores), or by `executor`. A run is judged by `evaluate_games` fresh greedy games. Runs are
    ordinary ones, in `out`; the same call goes on where it ended, and values and seeds may be
    added.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise UserError(f"seeds must be 1 to {MOST_SEEDS} (got {seeds})")
    if not 2 <= evaluate_games <= 10_000_000:
        raise UserError(f"evaluate_games must be 2 to 10,000,000 (got {evaluate_games})")
    axes, fixed = grid_of({"recipe": recipe, **settings})
    grid = points_of(axes, "--alpha 0.05,0.1")
    points, runs = runs_of(axes, fixed, grid, range(seed, seed + seeds), Path(out))
    kept = {"kind": "train", "seed": seed, "evaluate_games": evaluate_games, "seeds": seeds}
    done = learn_runs(
        runs,
        kept,
        [point.spec for point in points],
        evaluate_games,
        Path(out),
        threads=threads,
        executor=executor,
        progress=progress,
        stop=stop,
    )
    results = []
    for point in points:
        its = [run for run in runs if run.spec == point.spec and (run.spec, run.seed) in done]
        if not its:
            break
        results.append(_outcome(its, [done[run.spec, run.seed] for run in its]))
    if not results:
        raise Stopped("stopped before the first run was finished")
    return kept_in_folder(
        Sweep(
            "train",
            _title(axes, fixed, seeds),
            tuple(axes),
            points,
            results,
            "score",
            _apart,
            {"seed": seed, "seeds": seeds, "evaluate_games": evaluate_games, "fixed": fixed},
            _basis(seeds, evaluate_games),
            len([run for run in runs if (run.spec, run.seed) in done]),
            len(runs),
            "runs",
            Path(out),
        )
    )


def runs_of(
    axes: Sequence[Axis], fixed: dict[str, Any], grid: Sequence[tuple[str, ...]], seeds: Sequence[int], out: Path
) -> tuple[list[GridPoint], list[PlannedRun]]:
    """The points of a grid, and the runs that learn at each of them, one for each seed."""
    points, runs = [], []
    for values in grid:
        given = fixed | {a.name: _typed(a.name, v) for a, v in zip(axes, values, strict=True)}
        spec = " ".join(f"{name}={value}" for name, value in given.items())
        points.append(GridPoint(values, spec))
        name = file_name(label(axes, values).replace(", ", ","))
        for number in seeds:
            own = {"threads": 1, "seed": number, **given}
            chosen = choose(given.get("recipe"), {k: v for k, v in own.items() if k != "recipe"})
            method, options = split(chosen, trusted=True)
            parse(str(method.net), as_size(method.board))  # refuses it now
            runs.append(PlannedRun(spec, number, out / name / f"seed-{number}", own, options))
    return points, runs


def learn_runs(
    runs: list[PlannedRun],
    kept: dict[str, Any],
    specs: list[str],
    games: int,
    out: Path,
    *,
    threads: int | None,
    executor: Any,
    progress: ProgressOption,
    stop: Stop | None,
) -> dict[tuple[str, int], list[int]]:
    """The scores of fresh games by each run that is done, by what it learns at, and its seed.

    Runs that are finished in the folder are not done again.
    """
    threads = cores() if threads is None else as_threads(threads)
    pool = as_executor(executor)
    with (
        watching(progress) as watch,
        SweepFolder(out, kept, specs).held() as folder,
        # Runs are written by whoever learns them.
        nullcontext() if pool is None else pool.share(out.resolve()),
    ):
        known = {(line["point"], line.get("seed")): line for line in folder.results}
        left = [run for run in runs if (run.spec, run.seed) not in known]
        under_way = _UnderWay(runs, [run for run in runs if run not in left])
        blocks = (({**run.settings}, str(run.folder.resolve()), games) for run in left)
        results = ordered_map(
            _learned,
            blocks,
            threads=threads,
            executor=pool,
            stop=stop,
            on_tick=lambda worker: watch(under_way.event(worker)),
        )
        for run, scores in zip(left, results, strict=False):
            if scores is None:
                break
            folder.add({"point": run.spec, "seed": run.seed, "scores": scores})
            under_way.done.append(run)
    return {(line["point"], line["seed"]): line["scores"] for line in folder.results}


def _title(axes: Sequence[Axis], fixed: dict[str, Any], seeds: int) -> str:
    varied = [f"{each.name}={{{','.join(each.values)}}}" for each in axes]
    return " ".join([*varied, *(f"{name}={value}" for name, value in fixed.items())]) + (f"  {plural(seeds, 'seed')}")


def _basis(seeds: int, games: int) -> str:
    if seeds == 1:
        return (
            f"One run a point: by {games:,} games each it is told which run plays better, not "
            "whether its settings are better. More --seeds tell that."
        )
    return (
        f"Each point is {seeds} runs, judged by {games:,} greedy games each; what runs of the same "
        "settings deviate counts (Welch)."
    )


def grid_of(settings: dict[str, Any]) -> tuple[list[Axis], dict[str, Any]]:
    """The settings that are varied, and those that are not."""
    axes, fixed = [], {}
    for name, value in settings.items():
        if value is None:
            continue
        if isinstance(value, str):
            found = template(value, name)
            if len(found.axes) > 1:
                raise UserError(f"{name} has two braces: write all of its values in one")
            whole = [found.filled([part]) for each in found.axes for part in each.values]
            values = whole or value.split(",")
        else:
            values = [str(each) for each in value] if isinstance(value, list | tuple) else [value]
        if len(values) > 1:
            axes.append(axis(name, values))
        else:
            fixed[name] = _typed(name, values[0]) if isinstance(values[0], str) else values[0]
    return axes, fixed


_HINTS = {
    name: (hint, each.metadata["seconds"]) for kind in (Method, RunOptions) for name, hint, each in setting_fields(kind)
}


def _typed(name: str, text: str) -> Any:
    """A text as what its setting takes; what it cannot be is refused by the setting itself."""
    hint, seconds = _HINTS.get(name, (str, False))
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    if seconds:
        return text.strip()
    if bool in kinds:
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.strip(), text)
    with suppress(ValueError):
        if float in kinds:
            return float(text)
        if int in kinds:
            return int(text)
    return text.strip()


def _learned(settings: dict[str, Any], folder: str, games: int, worker: Worker) -> list[int] | None:
    """Learn a run, or go on with it, and play fresh games; None if it was told to stop."""
    if worker.stop.is_set():
        return None
    seen = np.zeros(2)  # games, seconds

    def tell(event: Progress) -> None:
        if event.what == "time":
            seen[1] = event.done
        elif event.what == "games":
            seen[0] = event.done

    with worker.showing(seen), suppress(Stopped):
        run = _resumed(folder, settings, tell, worker.stop)
        if run is None:
            run = train(out=folder, progress=tell, stop=worker.stop, **settings)
        if run.interrupted:
            return None
        found = evaluate(run.network, games=games, seed=settings["seed"] + FRESH, progress=False, stop=worker.stop)
        return None if found.interrupted else found.results.scores.tolist()
    return None


def _resumed(folder: str, settings: dict[str, Any], tell: Watcher, stop: Stop) -> Run | None:
    """The run in a folder, brought to its end; None where there is none."""
    if not (Path(folder) / CONFIG).is_file():
        return None
    own = {name: settings[name] for name in ("learner",) if ":" in str(settings.get(name))}
    if own:
        learner_named(own["learner"], trusted=True)
    begun = Training.load(folder)
    return begun.run if begun.done else resume(folder, progress=tell, stop=stop, **own)


class _UnderWay:
    """How far the runs are."""

    def __init__(self, runs: list[PlannedRun], done: list[PlannedRun]) -> None:
        self.runs, self.done = runs, done
        self.by_time = any(run.options.games is None for run in runs)
        self._before = math.fsum(self._cost(run) for run in done)

    def _cost(self, run: PlannedRun) -> float:
        return float((run.options.budget if self.by_time else run.options.games) or 0)

    def event(self, worker: Worker) -> Progress:
        """Games, or seconds, of all runs together."""
        begun = [float(seen[int(self.by_time)]) for seen in worker.under_way]
        done = math.fsum([*map(self._cost, self.done), *begun])
        total = math.fsum(map(self._cost, self.runs))
        figures = {"runs": f"{len(self.done)} of {len(self.runs)}"}
        what = "time" if self.by_time else "games"
        return Progress(what, done, total, figures=figures, before=self._before)


def _outcome(runs: list[PlannedRun], scores: list[list[int]]) -> PointResult:
    means = [fmean(each) for each in scores]
    facts = {
        "runs": [
            {
                "seed": run.seed,
                "folder": str(run.folder),
                "evaluation_seed": run.seed + FRESH,
                "mean_score": mean,
                "ci95": list(score_interval([*map(float, each)])),
            }
            for run, mean, each in zip(runs, means, scores, strict=True)
        ]
    }
    return PointResult(fmean(means), _interval(scores), sum(map(len, scores)), scores, facts)


def _interval(scores: list[list[int]]) -> Interval:
    """Of the mean of runs; of a single run, that of its games."""
    if len(scores) == 1:
        return score_interval([*map(float, scores[0])])
    mean = fmean(map(fmean, scores))
    return MeanDifference(mean, *run_stderr(scores)).interval()


def _apart(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> MeanDifference:
    if len(a) == len(b) == 1:
        return paired_scores(a[0], b[0])
    return independent_runs(a, b)
