"""`population`: several training runs at the same time, the best of them, and the average of all."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuplet.arena.evaluate import Evaluation, evaluate
from tuplet.arena.sweep import EVALUATION_SEED, MOST_SEEDS, Axis, Grid, TrainedRun, label, points_of, train_runs
from tuplet.errors import UserError
from tuplet.system.blocks import cores
from tuplet.system.files import atomic_write
from tuplet.system.intervals import Interval
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.values.average import average
from tuplet.values.network import Network
from tuplet.values.weights import WEIGHTS, save_weights

FOLDER = Path("runs/population")
AVERAGE = "average.safetensors"


@dataclass(frozen=True, repr=False)
class Population(Displayable):
    """Several runs; the best and the average are evaluated by games that did not choose them."""

    members: list[TrainedRun]  # that are done
    axes: tuple[Axis, ...]  # settings in which they differ, besides their seeds
    planned: int  # runs
    games: int  # that evaluate each run
    folder: Path
    best: Evaluation | None = None
    average: Evaluation | None = None

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.average is None

    @property
    def best_run(self) -> TrainedRun:
        """The run with the largest mean score."""
        return max(self.members, key=lambda member: member.mean_score)

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "runs": [
                {
                    "settings": label(self.axes, run.point.values),
                    "seed": run.seed,
                    "folder": str(run.folder),
                    "mean_score": run.mean_score,
                    "ci95": list(run.ci95),
                }
                for run in self.members
            ],
            "games": self.games,
            "folder": str(self.folder),
            "best": self.best and {"run": str(self.best_run.folder), **_score_json(self.best)},
            "average": self.average and _score_json(self.average),
        }

    def text_tables(self) -> list[TextTable]:
        """A row for each run, for the best, and for the average."""
        rows = [
            [str(run.folder), _score_text(run.mean_score, run.ci95), "the best" if run is self.best_run else ""]
            for run in self.members
        ]
        notes = [f"Each was evaluated by {self.games:,} greedy games."]
        for evaluation, what, file in (
            (self.best, "the best, in other games", WEIGHTS),
            (self.average, "the average of all", AVERAGE),
        ):
            if evaluation is not None:
                score = _score_text(evaluation.summary.mean_score, evaluation.ci95)
                rows.append([str(self.folder / file), score, what])
        if self.best is None:
            notes.append(f"{len(self.members)} of {self.planned} are done: the same command resumes it.")
        else:
            notes.append(
                "The best of several was also lucky: its score in other games is the honest one. The average has "
                "the mean of all weights, so that its values are the mean of all values."
            )
        title = f"{plural(len(self.members), 'run')} side by side"
        return [TextTable(title, ("weights", "mean score (95 %)", ""), rows, notes, words=(0, 2))]


def _score_text(mean: float, ci95: Interval) -> str:
    return f"{mean:,.0f} ({ci95[0]:,.0f} to {ci95[1]:,.0f})"


def _score_json(evaluation: Evaluation) -> dict[str, Any]:
    return {"mean_score": evaluation.summary.mean_score, "ci95": list(evaluation.ci95)}


def population(
    *,
    seeds: int = 8,
    seed: int = 0,
    recipe: str | Sequence[str] | None = None,
    evaluate_games: int = 1000,
    threads: int | None = None,
    out: str | Path = FOLDER,
    executor: Any = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    **settings: Any,
) -> Population:
    """Train several runs at the same time; keep the best of them, and the average of all.

    They differ by their seeds, `seed` and those after it, and by settings with several values
    (`recipe="quick,restart"`), as in a sweep: `seeds` runs for each combination. A run takes one core, of this
    machine or of `executor`. The folder gets the weights of the best run, and the average of all, which plays by
    the mean of their values. Both are evaluated by games that did not choose them.
    """
    if not 2 <= seeds <= MOST_SEEDS:
        raise UserError(f"seeds must be 2 to {MOST_SEEDS} in a population (got {seeds})")
    stop, folder = stop or Stop(), Path(out)
    grid = Grid.of({"recipe": recipe, **settings})
    planned = grid.runs(points_of(grid.axes) if grid.axes else [()], range(seed, seed + seeds), folder)
    header = {"kind": "population", "seed": seed, "evaluate_games": evaluate_games, "runs": seeds}
    with watching(progress) as watch:
        trained = train_runs(
            planned, header, evaluate_games, folder, threads=threads, executor=executor, progress=watch, stop=stop
        )
        members = [run for run in trained if run.scores]
        if not members:
            raise Stopped("stopped before the first run was finished")
        result = Population(members, grid.axes, len(planned), evaluate_games, folder)
        if len(members) < len(planned) or stop.is_set():
            return result
        best = result.best_run.folder / WEIGHTS  # the file is copied, so that it keeps its description
        with best.open("rb") as source, atomic_write(folder / WEIGHTS) as file:
            shutil.copyfileobj(source, file)
        networks = []
        for member in members:
            networks.append(Network.load(member.folder))
            networks[-1].memory = None  # the state of its learner: many networks have to fit
        mean = average(networks)
        save_weights(mean, folder / AVERAGE)
        evaluations = []
        for network in (Network.load(result.best_run.folder), mean):
            try:
                evaluation = evaluate(
                    network,
                    games=evaluate_games,
                    seed=seed + seeds + EVALUATION_SEED,
                    threads=threads or cores(),
                    executor=executor,
                    progress=watch,
                    stop=stop,
                )
            except Stopped:
                return result
            if evaluation.interrupted:
                return result
            evaluations.append(evaluation)
    return replace(result, best=evaluations[0], average=evaluations[1])
