"""`population`: many runs side by side, the best of them, and the average of them all."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from tuplet.arena.evaluate import Evaluation, evaluate
from tuplet.arena.grids import label, points_of
from tuplet.arena.sweep_train import FRESH, MOST_SEEDS, grid_of, learn_runs, runs_of
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_interval
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


class Member(NamedTuple):
    """A run of a population."""

    settings: str  # that it does not share with all others
    seed: int
    folder: Path
    mean_score: float
    ci95: Interval


@dataclass(frozen=True, repr=False)
class Population(Displayable):
    """What became of several runs; the best and the average are judged by games of their own."""

    members: list[Member]
    planned: int
    games: int  # that each was judged by
    folder: Path
    best: Evaluation | None = None
    average: Evaluation | None = None

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.average is None

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "runs": [
                {
                    "settings": m.settings,
                    "seed": m.seed,
                    "folder": str(m.folder),
                    "mean_score": m.mean_score,
                    "ci95": list(m.ci95),
                }
                for m in self.members
            ],
            "games": self.games,
            "folder": str(self.folder),
            "best": self.best and {"run": str(self._first().folder), **_judged(self.best)},
            "average": self.average and _judged(self.average),
        }

    def text_tables(self) -> list[TextTable]:
        """A line for each, and for the average."""
        rows = [
            [str(m.folder), _score(m.mean_score, m.ci95), "the best" if m is self._first() else ""]
            for m in self.members
        ]
        notes = [f"Each was judged by {self.games:,} greedy games."]
        for found, what, file in (
            (self.best, "the best, by other games", WEIGHTS),
            (self.average, "the average of all", AVERAGE),
        ):
            if found is not None:
                score = _score(found.summary.mean_score, found.ci95)
                rows.append([str(self.folder / file), score, what])
        if self.best is not None:
            notes.append(
                "The best of many was lucky, too: games that did not choose it are the honest "
                "ones. A mean of values is a value by mean weights: the average is their ensemble."
            )
        else:
            notes.append(f"{len(self.members)} of {self.planned} are done: the same command resumes it.")
        title = f"{plural(len(self.members), 'run')} side by side"
        return [TextTable(title, ("weights", "mean score (95 %)", ""), rows, notes, words=(0, 2))]

    def _first(self) -> Member:
        return max(self.members, key=lambda member: member.mean_score)


def _played(folder: Path) -> Network:
    """A run's network without what its learner remembers: many of them have to fit."""
    net = Network.load(folder)
    net.memory = None
    return net


def _score(mean: float, ci95: Interval) -> str:
    return f"{mean:,.0f} ({ci95[0]:,.0f} to {ci95[1]:,.0f})"


def _judged(found: Evaluation) -> dict[str, Any]:
    return {"mean_score": found.summary.mean_score, "ci95": list(found.ci95)}


def population(
    *,
    runs: int = 8,
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
    """Train several runs side by side; keep the best of them, and the average of all.

    They differ by their seeds, `seed` and those after it, and by any setting that has several
    values (`recipe="quick,restart"`), as in a sweep: so many `runs` for each. A run takes one core,
    of this machine or of `executor`'s. The folder's weights are those of the best; it and the
    average of all (which plays by the mean of their values) are judged by games of their own.
    """
    if not 2 <= runs <= MOST_SEEDS:
        raise UserError(f"a population has 2 to {MOST_SEEDS} runs, not {runs}")
    stop = stop or Stop()
    axes, fixed = grid_of({"recipe": recipe, **settings})
    grid = points_of(axes) if axes else [()]
    points, planned = runs_of(axes, fixed, grid, range(seed, seed + runs), Path(out))
    kept = {"kind": "population", "seed": seed, "evaluate_games": evaluate_games, "runs": runs}
    with watching(progress) as watch:
        done = learn_runs(
            planned,
            kept,
            [point.spec for point in points],
            evaluate_games,
            Path(out),
            threads=threads,
            executor=executor,
            progress=watch,
            stop=stop,
        )
        names = {point.spec: label(axes, point.values) for point in points}
        members = [
            Member(names[run.spec], run.seed, run.folder, fmean(scores), score_interval([*map(float, scores)]))
            for run in planned
            if (scores := done.get((run.spec, run.seed))) is not None
        ]
        if not members:
            raise Stopped("stopped before the first run was finished")
        found = Population(members, len(planned), evaluate_games, Path(out))
        if len(members) < len(planned) or stop.is_set():
            return found
        best = Network.load(found._first().folder)
        mean = average([_played(member.folder) for member in members])
        source = found._first().folder / WEIGHTS  # copied as it is, so that it is told whose it is
        with source.open("rb") as own, atomic_write(found.folder / WEIGHTS) as file:
            shutil.copyfileobj(own, file)
        save_weights(mean, found.folder / AVERAGE)
        try:
            judged = [
                evaluate(
                    net,
                    games=evaluate_games,
                    seed=seed + runs + FRESH,
                    threads=threads or cores(),
                    executor=executor,
                    progress=watch,
                    stop=stop,
                )
                for net in (best, mean)
            ]
        except Stopped:
            return found
    if any(each.interrupted for each in judged):
        return found
    return Population(members, len(planned), evaluate_games, Path(out), *judged)
