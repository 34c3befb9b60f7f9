"""What a learning curve is drawn through: blocks of like size, and means over runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tuplet.learn.settings import Method, RunOptions, steps_of
from tuplet.system.intervals import t_quantile


class Learned(Protocol):
    """What a `Run` has, which draws itself, and so cannot be known here."""

    method: Method
    options: RunOptions
    folder: Path | None
    metrics: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """What to call it."""


class Point(NamedTuple):
    """The games of a block, or of some that belong together."""

    games: int  # of the run, by then
    elapsed_s: float
    mean: float  # score
    played: int  # games of the block

    def with_next(self, later: Point) -> Point:
        """The block and the next as one."""
        played = self.played + later.played
        mean = (self.mean * self.played + later.mean * later.played) / played
        return Point(later.games, later.elapsed_s, mean, played)


def points_of(run: Learned) -> list[Point]:
    """A run's blocks as they are to be drawn: none has fewer games than the others.

    A run that ends leaves a short block behind; if it is resumed, another short block follows that
    completes it. The two are one point. A short block at the very end is one with that before it.
    """
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
    """A line to draw, and a band around it where it is the mean of several runs."""

    runs: list[Learned]
    spent: list[float]  # games, or minutes
    means: list[float]
    low: list[float]
    high: list[float]


def curve_of(runs: list[Learned], by: str) -> Curve:
    """The curve of a run, or the mean of several with its 95 % interval (Student's t)."""
    import numpy as np

    lines = []
    for run in runs:
        points = points_of(run)
        spent = [float(p.games) if by == "games" else p.elapsed_s / 60 for p in points]
        lines.append((spent, [p.mean for p in points]))
    if len(runs) == 1:
        return Curve(runs, *lines[0], [], [])
    # As far as all of them go, at the points of the one that has fewest.
    end = min(spent[-1] for spent, _ in lines)
    begin = max(spent[0] for spent, _ in lines)
    grid = [x for x in min((spent for spent, _ in lines), key=len) if begin <= x <= end] or [end]
    means = np.array([np.interp(grid, *line) for line in lines])
    half = t_quantile(len(runs) - 1) * means.std(axis=0, ddof=1) / len(runs) ** 0.5
    mean = means.mean(axis=0)
    return Curve(runs, grid, mean.tolist(), (mean - half).tolist(), (mean + half).tolist())


def alike(runs: Sequence[Learned]) -> list[list[Learned]]:
    """Runs in groups that differ in nothing but the seed (and how long they were, or by what)."""
    groups: dict[Any, list[Learned]] = {}
    for run in runs:
        groups.setdefault(tuple(asdict(run.method).items()), []).append(run)
    return list(groups.values())


def words_for(method: Method) -> list[str]:
    """A method in a few words: always the usual five, and others where they are not usual."""
    target = method.target.replace("after", "after-")
    usual = Method(net=method.net, learner=method.learner)
    rate = f"α = {method.alpha:g}"
    if method.schedule in ("linear", "cosine"):
        rate += f" falling to 0 ({method.schedule})"
    for after, by in steps_of(method.schedule):
        rate += f", {method.alpha * by:.3g} from {100 * after:g} % on"  # type: ignore[operator]
    words = [str(method.net), method.name, f"{target} values", rate, f"{100 * method.spawn4:g} % fours"]
    more = {
        "board": method.board,
        "stages": f"stages {method.stages}",
        "gamma": f"γ = {method.gamma:g}",
        "initial": f"initial {method.initial:,.0f}",
        "order": method.order,
        "restart": "restart",
        "delay": f"TC after {100 * method.delay:g} %",
    }
    return words + [w for name, w in more.items() if getattr(method, name) != getattr(usual, name)]
