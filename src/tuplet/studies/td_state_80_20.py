"""TD(0) on state values where one new tile in five is a 4: a million games, logarithmic axis.

One run of `train`, kept in the folder `run` with its checkpoints. It takes hours; a finished run with these settings
can be copied there. (`tuplet train --net 4x6 --learner td --target state --alpha 0.1
--lambda 0 --spawn4 0.2 --games 1000000 --seed 0 --threads 1 --out run`)
"""

from __future__ import annotations

from typing import Any

from tuplet.learn.self_play import fresh_games
from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import block_of
from tuplet.studies.run_tables import FRESH, picture, train_part
from tuplet.studies.verdicts import Cell, Estimate, share
from tuplet.system.blocks import Worker

CLAIM = (
    "One report plots the mean score of up to 1,000,000 games on a logarithmic axis, with 4-tiles "
    "one in five. The numbers of its plot are not in its text."
)
GAMES = 1_000_000
METHOD: dict[str, Any] = {
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


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn, or continue, and read the curve after each power of ten."""
    games, fresh = context.games(GAMES, least=20), context.games(FRESH, least=20)
    folder = context.shared("run" if games == GAMES else f"run-{games}")
    settings = {"net": net, **METHOD, "games": games, "seed": context.seed, "block": block_of(games), "threads": 1}
    part = {f"state-80-20-{games}-seed{context.seed}": (folder, settings, fresh)}
    ((name, result),) = context.parts(trained, part, context.count("games", [games])).items()
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


def trained(folder: str, settings: dict[str, Any], fresh: int, worker: Worker) -> dict[str, Any] | None:
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
