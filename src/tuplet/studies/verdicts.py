"""What a study found, beside what was published: estimates, and whether they agree.

A cell differs where its difference is more than chance does: in nineteen studies of twenty no cell
does so by chance alone (Holm 1979). It agrees where no difference was detected, but one of `SIZE`
would have been, four times in five (`POWER`). Where it would not, there were too few games to tell.
A number that was published without the counts behind it has no interval: there is nothing to test,
and the verdict says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

from tuplet.arena.differences import ERROR, POWER, MeanDifference, holm, run_stderr, welch
from tuplet.arena.intervals import effective_games
from tuplet.arena.results import Match
from tuplet.system.intervals import Interval, share_interval, t_quantile

Verdict = Literal["agrees", "differs", "too few games", "not comparable"]
Unit = Literal["share", "points", "Elo", "number"]
SIZE = 0.2  # of a difference that "agrees" rules out: in a share, else as a part of the published


class Estimate(NamedTuple):
    """A number, and how sure it is."""

    value: float
    ci95: Interval | None = None  # None: nobody knows
    stderr: float = math.inf  # as a test takes it
    dof: int = 1  # Student's
    games: int | None = None  # that it is of


def share(count: float, total: float, ci95: Interval | None = None) -> Estimate:
    """A share of independent games; its error is that of Agresti & Caffo (2000).

    They add a success and a failure, so that a share of 0 or 1 is not taken for certain.

    >>> found = share(90, 100)
    >>> [round(x, 4) for x in (found.value, *found.ci95, found.stderr)]
    [0.9, 0.8239, 0.9465, 0.0307]
    """
    middle = (count + 1) / (total + 2)
    error = math.sqrt(middle * (1 - middle) / (total + 2))
    return Estimate(count / total, ci95 or share_interval(count, total), error, max(int(total) - 1, 1), round(total))


def share_of_match(match: Match) -> Estimate:
    """A's share of a match in pairs, as sure as so many independent games would make it."""
    games = effective_games(*match.pairs)
    return share(match.score * games, games, match.ci95)._replace(games=match.games)


def mean_of_runs(runs: Sequence[Sequence[float]]) -> Estimate:
    """The mean score of runs, each with scores of its own: what runs deviate is part of it.

    With one run nobody knows how far the next would be from it: there is no interval.
    """
    value = math.fsum(math.fsum(scores) / len(scores) for scores in runs) / len(runs)
    mean = MeanDifference(value, *run_stderr(runs))
    games = sum(map(len, runs))
    if not math.isfinite(mean.stderr):
        return Estimate(value, games=games)
    return Estimate(value, mean.interval(), mean.stderr, mean.dof, games)


class Cell(NamedTuple):
    """A place in a study's table: ours, and what was published, if anything."""

    labels: Mapping[str, str | float]  # what it is of: {"agent": "MCS", "opponent": "hard"}
    ours: Estimate
    published: Estimate | None = None
    unit: Unit = "share"
    note: str = ""
    extra: Mapping[str, Any] = {}  # for the JSON file alone


class Row(NamedTuple):
    """A cell with its verdict."""

    cell: Cell
    verdict: Verdict
    p: float | None  # after Holm: how likely so large a difference is where there is none
    note: str
    detectable: float | None = None  # the difference that would be found with `POWER`

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        labels, ours, published, unit, _, extra = self.cell
        return {
            **labels,
            "unit": unit,
            "ours": _finite(ours.value),
            "ours_ci95": _bounds(ours.ci95),
            "ours_games": ours.games,
            "published": None if published is None else published.value,
            "published_ci95": None if published is None else _bounds(published.ci95),
            "verdict": self.verdict,
            "p": self.p,
            "detectable": self.detectable,
            "note": self.note,
            **extra,
        }


def judged(cells: Sequence[Cell]) -> list[Row]:
    """A verdict for each cell."""
    tested: dict[int, MeanDifference] = {}
    for number, (_, ours, published, *_) in enumerate(cells):
        if published is not None and math.isfinite(ours.stderr + published.stderr):
            tested[number] = _apart(ours, published)
    chances = [difference.p_value for difference in tested.values()]
    corrected = dict(zip(tested, holm(chances), strict=True))
    rows = []
    for number, cell in enumerate(cells):
        p = corrected.get(number)
        if p is None or cell.published is None:
            rows.append(Row(cell, "not comparable", None, "; ".join(filter(None, _untested(cell)))))
            continue
        seen, most = _detectable(tested[number], len(tested)), 1.0
        if cell.unit != "share":
            most = abs(cell.published.value)
        unseen: Verdict = "agrees" if seen <= SIZE * most else "too few games"
        verdict: Verdict = "differs" if p < ERROR else unseen
        known = None if cell.unit == "share" and seen > most else seen  # shares differ by 1 at most
        rows.append(Row(cell, verdict, p, cell.note, known))
    return rows


def _detectable(apart: MeanDifference, cells: int) -> float:
    """The difference that would be found with `POWER`.

    As strict as for the first of so many cells after Holm, which has all others against it.
    """
    called = t_quantile(apart.dof, 1 - ERROR / cells)
    return (called + NormalDist().inv_cdf(POWER)) * apart.stderr


def _apart(ours: Estimate, published: Estimate) -> MeanDifference:
    """How far ours is from the published."""
    sides = ((each.stderr**2, each.dof) for each in (ours, published))
    return welch(ours.value - published.value, *sides)


def _untested(cell: Cell) -> tuple[str, str]:
    """What can be said where nothing can be tested."""
    _, ours, published, _, note, _ = cell
    if published is None:
        return note, "" if note else "not published"
    if ours.ci95 is None:
        return note, "one run of ours has no interval"
    low, high = ours.ci95
    place = "below" if published.value < low else "above" if published.value > high else "within"
    return note, f"published without an interval; it lies {place} ours"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _bounds(ci95: Interval | None) -> list[float | None] | None:
    return None if ci95 is None else [_finite(bound) for bound in ci95]
