"""Which of many settings are better, and which differences are noise?

Whatever is measured of a point of a grid comes as samples: scores, or shares of points. Points are
compared with the best of their group. Which one that is, is seen only afterwards, so that all
pairs of a group count as compared. Verdicts are corrected for so many by Holm (1979): in nineteen
sweeps of twenty no two points that are equally good are told apart. Intervals are corrected by
Bonferroni: in nineteen of twenty all of them together hold the truth. Holm's steps are a little
sharper, so that a point may be told apart although its interval still holds 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean, variance
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.statistics import score_variance
from tuplet.system.intervals import Interval, t_central_mass, t_quantile

Array = np.ndarray[Any, Any]
ERROR = 0.05  # of all verdicts together
POWER = 0.8  # with which a difference is to be found


class MeanDifference(NamedTuple):
    """How far two points are apart: an estimate, its standard error, and Student's freedom."""

    value: float
    error: float
    dof: int


class Difference(NamedTuple):
    """A point minus the best of its group."""

    value: float
    ci95: Interval  # one of all pairs that are compared (Bonferroni)
    p: float  # after Holm

    @property
    def noise(self) -> bool:
        """Whether it cannot be told from nothing."""
        return self.p >= ERROR


class GroupComparison(NamedTuple):
    """What became of the points."""

    best: list[int]  # for each point, the best of its group
    behind: list[Difference | None]  # None for the best
    comparisons: int

    def noise(self, point: int) -> bool:
        """Whether a point cannot be told from the best, which it is not."""
        found = self.behind[point]
        return found is not None and found.noise


def paired_scores(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of scores in the same games (the same seed): Student's t of their differences."""
    away = _away(a, b)
    count = len(away)
    if count < 2:
        return MeanDifference(float(away.mean()), math.inf, 1)
    return MeanDifference(float(away.mean()), float(away.std(ddof=1)) / math.sqrt(count), count - 1)


def paired_shares(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of shares of points in the same pairs of games, from 0 to 1.

    Their variance is taken with two pairs more, as Agresti & Min (2005) do: half a pair won by the
    one alone, half a pair by the other, and one alike. A few pairs that agree prove little.
    """
    away = _away(a, b)
    count = len(away)
    spread = (float(away @ away) + 1) / (count + 2) - (float(away.sum()) / (count + 2)) ** 2
    return MeanDifference(float(away.mean()), math.sqrt(spread / count), max(count - 1, 1))


def independent_scores(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of scores of 2048 in games that have nothing in common, two or more of each: Welch (1947)."""
    sides = ((score_variance([*each]) / len(each), len(each) - 1) for each in (a, b))
    return welch(fmean(a) - fmean(b), *sides)


def welch(value: float, *sides: tuple[float, int]) -> MeanDifference:
    """What two sides, each a squared error and its freedom, say of their difference (1947)."""
    squares = math.fsum(square for square, _ in sides)
    if not math.isfinite(squares):
        return MeanDifference(value, math.inf, 1)
    parts = math.fsum(square**2 / dof for square, dof in sides)
    # Rounded down: an interval is wider for it, not narrower.
    return MeanDifference(value, math.sqrt(squares), max(int(squares**2 / parts), 1) if parts else 1)


def independent_runs(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> MeanDifference:
    """Of the mean scores of runs, each with scores of its own: Welch (1947).

    What runs of the same settings deviate is estimated from their means, and is not less than
    what follows from the scores that these are means of.
    """
    value = fmean(map(fmean, a)) - fmean(map(fmean, b))
    sides = ((error**2, dof) for error, dof in (run_error(a), run_error(b)))
    return welch(value, *sides)


def run_error(runs: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The standard error of the mean of runs, and its freedom; infinite if it is not known."""
    if len(runs) < 2 or any(len(scores) < 2 for scores in runs):
        return math.inf, 1
    between = variance([fmean(scores) for scores in runs]) / len(runs)
    inside = math.fsum(variance(scores) / len(scores) for scores in runs) / len(runs) ** 2
    return math.sqrt(max(between, inside)), len(runs) - 1


def _away(a: Sequence[float], b: Sequence[float]) -> Array:
    """Differences of what both have."""
    both = min(len(a), len(b))
    return np.subtract(a[:both], b[:both], dtype=float)


def compare_to_best(
    values: Sequence[float], groups: Sequence[str], apart: Callable[[int, int], MeanDifference]
) -> GroupComparison:
    """Compare each point with the best (largest value) of its group."""
    pairs = [(i, j) for i, j in combinations(range(len(values)), 2) if groups[i] == groups[j]]
    found = {(i, j): apart(i, j) for i, j in pairs}
    judged = dict(zip(pairs, holm([p_value(each) for each in found.values()]), strict=True))
    best = [
        max((j for j in range(len(values)) if groups[j] == groups[i]), key=lambda j: values[j])
        for i in range(len(values))
    ]
    behind: list[Difference | None] = []
    for i, top in enumerate(best):
        if i == top:
            behind.append(None)
            continue
        pair, sign = ((i, top), 1) if i < top else ((top, i), -1)
        value, error, dof = found[pair]
        half = t_quantile(dof, 1 - ERROR / len(pairs)) * error
        ends = (sign * value - half, sign * value + half)
        behind.append(Difference(sign * value, ends, judged[pair]))
    return GroupComparison(best, behind, len(pairs))


def p_value(apart: MeanDifference) -> float:
    """How likely so large a difference is where there is none."""
    if not math.isfinite(apart.error):
        return 1.0
    if apart.error == 0:
        return float(apart.value == 0)
    return max(1 - t_central_mass(abs(apart.value) / apart.error, apart.dof), 0.0)


def holm(chances: Sequence[float]) -> list[float]:
    """P-values, each as large as the number of comparisons asks for (Holm 1979).

    The smallest has all of them against it, the next one less; none is below one before it.

    >>> holm([0.001, 0.04, 0.03])
    [0.003, 0.06, 0.06]
    """
    corrected, least = [0.0] * len(chances), 0.0
    for rank, i in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        least = max(least, min(1.0, (len(chances) - rank) * chances[i]))
        corrected[i] = least
    return corrected
