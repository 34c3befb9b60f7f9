"""One training by several learners, merged in rounds: what does it gain?

The learners are simulated: their tasks run one after another, with the same arithmetic as on a cluster, so the
weights are those that a cluster would have. The time it would have taken is added up: the processor time of each
round's slowest task, of merging, and of sending all changes through one cable.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.learn.parallel import rounds as learning
from tuplet.learn.run import ROUNDS, Run, read_rounds
from tuplet.studies.context import StudyContext, list_of, train_part
from tuplet.studies.report import Curve, StudyResult, draw_curves
from tuplet.studies.verdicts import Cell, Estimate
from tuplet.system.blocks import Worker

GAMES, FRESH, LOOKS = 120_000, 1000, 6
CABLES = {"seconds": 125e6, "fast_s": 1250e6}  # bytes a second of the merging machine's link: 1, 10 Gbit/s


def rounds(context: StudyContext, learners: str = "1 2 4 8 16", net: str = "4x6") -> StudyResult:
    """No report has this: one network taught by 2, 4, 8 and 16 learners at once, whose changes are merged in rounds,
    against the same number of games learned by one.
    """
    counts = list_of(learners, _count, "--learners must be numbers of 1 to 4096, such as 1 2 4")
    games, fresh = context.games(GAMES, least=100), context.games(FRESH, least=20)
    parts = {}
    for count in counts:
        name = f"{net.replace(' ', '-')}-{count}-{games}-seed{context.seed}"
        settings: dict[str, Any] = {
            "net": net,
            "learner": "tc",
            "schedule": "0.9:0.1",
            "games": games,
            "seed": context.seed,
            "tasks": count,
            "threads": 1,
            "evaluate": f"{fresh}@{max(games // LOOKS, 1)}",
        }
        parts[name] = (context.shared(name), settings)
    results = list(context.parts(trained, parts, context.count("games", [games] * len(parts))).values())
    first = min(  # the same games for all but one learner, whose rounds begin earlier
        (each["before_s"] for count, each in zip(counts, results, strict=True) if count > 1), default=0.0
    )
    curves = {
        str(count): timed(each, first if count > 1 else each["before_s"])
        for count, each in zip(counts, results, strict=True)
    }
    cells = [_cell(count, curves, each) for count, each in zip(counts, results, strict=True)]
    settings = {
        "learning": f"TC(0.5) on {net}, a tenth of alpha in the last tenth of {games:,} games",
        "time": "processor seconds of the slowest task of each round, of merging, and of sending "
        "changes through one cable of 1 Gbit/s; one learner has none of the last two",
    }
    notes = [f"{fresh:,} fresh games a row; the intervals are of these games, another run would differ by more."]
    pictures = {"games": lambda: draw(curves, "learned"), "time": lambda: draw(curves, "seconds")}
    return StudyResult(cells, settings, pictures, notes, {"curves": curves})


def _count(word: str) -> int:
    if not 1 <= (count := int(word)) <= 4096:
        raise UserError(word)
    return count


def trained(folder: str, settings: dict[str, Any], worker: Worker) -> dict[str, Any] | None:
    """Train in a folder; None if it was stopped."""
    run = train_part(folder, worker, **settings)
    if run is None:
        return None
    lines = read_rounds(Path(folder) / ROUNDS)
    evaluations = [each for line in run.metrics for each in line.get("evaluations", ())]
    return {
        "before_s": _before(run, lines) if lines else run.elapsed_s,
        "rounds": lines,
        "looks": [{key: each[key] for key in ("learned", "mean_score", "ci95")} for each in evaluations],
    }


def _before(run: Run, lines: list[dict[str, Any]]) -> float:
    """The processor time of the games before the first round, at the speed of that round."""
    first = learning.ALONE * min(2, run.options.tasks)
    moves = [0.0, 0.0]  # before it, and in it
    before = 0
    for block in run.metrics:
        if block["games"] <= lines[0]["games"]:
            moves[block["games"] > first] += block["mean_moves"] * (block["games"] - before)
        before = block["games"]
    return moves[0] * float(sum(lines[0]["cpu_s"])) / max(moves[1], 1.0)


def timed(result: dict[str, Any], before_s: float) -> list[dict[str, Any]]:
    """The evaluations, with the time that each would have taken."""
    points = []
    for look in result["looks"]:
        rounds = [each for each in result["rounds"] if each["games"] <= look["learned"]]
        times = {
            name: round(before_s + sum(_took(each, cable) for each in rounds), 1) for name, cable in CABLES.items()
        }
        points.append({**look, **times})
    return points


def _took(line: dict[str, Any], cable: float) -> float:
    if line["tasks"] == 1:
        return float(line["cpu_s"][0])
    slowest = max(map(sum, zip(line["cpu_s"], line["around_s"], strict=True)))
    traffic = sum(line["changed"]) + line["tasks"] * line["merged"]
    return float(slowest + line["merge_cpu_s"] + traffic / cable)


def _cell(count: int, curves: dict[str, Any], result: dict[str, Any]) -> Cell:
    last, rounds = curves[str(count)][-1], result["rounds"]
    alone = curves.get("1")
    facts = {"seconds": last["seconds"], "fast_s": last["fast_s"], "rounds": len(rounds)}
    note = f"in {last['seconds']:,.0f} s"
    if count > 1 and rounds:
        sent = [sum(each["changed"]) + each["tasks"] * each["merged"] for each in rounds]
        merging = sum(each["merge_cpu_s"] for each in rounds)
        facts |= {
            "merge_s": round(merging / len(rounds), 2),
            "round_MB": round(sent[-1] / 1e6),
            "all_MB": round(sum(sent) / 1e6),
        }
        if alone:
            at = worth_at(alone, last["seconds"])
            facts["one_by_then"] = round(at)
            note += f", when one learner has {at:,.0f} ({last['fast_s']:,.0f} s at 10 Gbit/s)"
        note += (
            f"; {len(rounds)} rounds, {merging / len(rounds):.1f} s to merge one, "
            f"{sent[-1] / 1e6:,.0f} MB sent in the last"
        )
    mean = Estimate(last["mean_score"], tuple(last["ci95"]))
    return Cell({"learners": count, "games": last["learned"]}, mean, None, "points", note, facts)


def worth_at(curve: list[dict[str, Any]], seconds: float) -> float:
    """The mean score of a curve at a time, interpolated between evaluations.

    >>> worth_at([{"seconds": 10, "mean_score": 100}, {"seconds": 20, "mean_score": 140}], 15)
    120.0
    """
    x, y = ([point[key] for point in curve] for key in ("seconds", "mean_score"))
    return float(np.interp(seconds, x, y))


def draw(curves: dict[str, list[dict[str, Any]]], against: str) -> Any:
    """Mean score against games or against time, a line for each number of learners."""
    words = {"learned": "games learned from", "seconds": "seconds that it would have taken"}
    lines = [
        Curve(
            "one learner" if count == "1" else f"{count} learners",
            [point[against] for point in points],
            [point["mean_score"] for point in points],
        )
        for count, points in curves.items()
    ]
    return draw_curves(lines, words[against], "mean score of fresh games").figure
