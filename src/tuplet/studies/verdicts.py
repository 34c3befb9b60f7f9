"""A study's estimates beside the published ones, and whether they agree.

"Differs": the difference is significant after Holm's correction (1979), so that in 19 of 20 studies no cell differs
by chance alone. "Agrees": no difference was detected, and a difference of `SIZE` would have been with probability
`POWER`. "Too few games": it would not have been. A number published without counts has no interval, so it is
"not comparable".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

from tuplet.arena.differences import ERROR, POWER, MeanDifference, holm, run_stderr, welch
from tuplet.arena.results import Match
from tuplet.arena.statistics import effective_games
from tuplet.system.intervals import Interval, finite, finite_interval, share_interval, t_quantile

Verdict = Literal["agrees", "differs", "too few games", "not comparable"]
Unit = Literal["share", "points", "Elo", "number"]
SIZE = 0.2  # the difference that "agrees" rules out: absolute for shares, else relative to the published value


class Estimate(NamedTuple):
    """A number with its uncertainty."""

    value: float
    ci95: Interval | None = None  # None: not known
    stderr: float = math.inf  # for tests
    dof: int = 1  # degrees of freedom of Student's t
    games: int | None = None  # number of games


def share(count: float, total: float, ci95: Interval | None = None) -> Estimate:
    """A share of independent games; its error is that of Agresti & Caffo (2000).

    They add a success and a failure, so that a share of 0 or 1 is not certain.

    >>> estimate = share(90, 100)
    >>> [round(x, 4) for x in (estimate.value, *estimate.ci95, estimate.stderr)]
    [0.9, 0.8239, 0.9465, 0.0307]
    """
    middle = (count + 1) / (total + 2)
    error = math.sqrt(middle * (1 - middle) / (total + 2))
    return Estimate(count / total, ci95 or share_interval(count, total), error, max(int(total) - 1, 1), round(total))


def tile_shares(tiles: Sequence[int], limits: Sequence[int]) -> tuple[dict[int, Estimate], str]:
    """The share of games that reached each of some tiles, also in words."""
    reached = {limit: share(sum(tile >= limit for tile in tiles), len(tiles)) for limit in limits}
    return reached, ", ".join(f"{limit} in {100 * each.value:.1f} %" for limit, each in reached.items())


def match_share(match: Match) -> Estimate:
    """A's share of a match in pairs, with the uncertainty of the effective number of games."""
    games = effective_games(*match.pairs)
    return share(match.score * games, games, match.ci95)._replace(games=match.games)


def mean_over_runs(runs: Sequence[Sequence[float]]) -> Estimate:
    """The mean score over runs; the interval includes the deviation between runs, so one run has none."""
    value = math.fsum(math.fsum(scores) / len(scores) for scores in runs) / len(runs)
    mean = MeanDifference(value, *run_stderr(runs))
    games = sum(map(len, runs))
    if not math.isfinite(mean.stderr):
        return Estimate(value, games=games)
    return Estimate(value, mean.interval(), mean.stderr, mean.dof, games)


class Cell(NamedTuple):
    """A row of a study's table: our estimate, and the published one if there is one."""

    labels: Mapping[str, str | float]  # such as {"agent": "MCS", "opponent": "hard"}
    ours: Estimate
    published: Estimate | None = None
    unit: Unit = "share"
    note: str = ""
    extra: Mapping[str, Any] = {}  # only in the JSON file


class Row(NamedTuple):
    """A cell with its verdict."""

    cell: Cell
    verdict: Verdict
    p: float | None  # p-value after Holm's correction
    note: str
    detectable: float | None = None  # the difference that would be detected with `POWER`

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        labels, ours, published, unit, _, extra = self.cell
        return {
            **labels,
            "unit": unit,
            "ours": finite(ours.value),
            "ours_ci95": ours.ci95 and finite_interval(ours.ci95),
            "ours_games": ours.games,
            "published": published and published.value,
            "published_ci95": published and published.ci95 and finite_interval(published.ci95),
            "verdict": self.verdict,
            "p": self.p,
            "detectable": self.detectable,
            "note": self.note,
            **extra,
        }


def judge(cells: Sequence[Cell]) -> list[Row]:
    """A verdict for each cell."""
    tested: dict[int, MeanDifference] = {}
    for number, (_, ours, published, *_) in enumerate(cells):
        if published is not None and math.isfinite(ours.stderr + published.stderr):
            sides = ((each.stderr**2, each.dof) for each in (ours, published))
            tested[number] = welch(ours.value - published.value, *sides)
    p_values = [difference.p_value for difference in tested.values()]
    corrected = dict(zip(tested, holm(p_values), strict=True))
    rows = []
    for number, cell in enumerate(cells):
        p = corrected.get(number)
        if p is None or cell.published is None:
            rows.append(Row(cell, "not comparable", None, "; ".join(filter(None, _untested_note(cell)))))
            continue
        # The difference that would be detected with `POWER`, at the strictest level of Holm's correction.
        critical = t_quantile(tested[number].dof, 1 - ERROR / len(tested))
        detectable = (critical + NormalDist().inv_cdf(POWER)) * tested[number].stderr
        largest = 1.0 if cell.unit == "share" else abs(cell.published.value)
        undetected: Verdict = "agrees" if detectable <= SIZE * largest else "too few games"
        verdict: Verdict = "differs" if p < ERROR else undetected
        known = None if cell.unit == "share" and detectable > largest else detectable  # shares differ by 1 at most
        rows.append(Row(cell, verdict, p, cell.note, known))
    return rows


def _untested_note(cell: Cell) -> tuple[str, str]:
    """The note of a cell that cannot be tested."""
    _, ours, published, _, note, _ = cell
    if published is None:
        return note, "" if note else "not published"
    if ours.ci95 is None:
        return note, "one run of ours has no interval"
    low, high = ours.ci95
    place = "below" if published.value < low else "above" if published.value > high else "within"
    return note, f"published without an interval; it lies {place} ours"
