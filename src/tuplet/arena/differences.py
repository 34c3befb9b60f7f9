"""Which of several players or settings are better, and which differences are noise?

Each is measured by samples: scores, or shares of points. Samples of the same games are compared in pairs, others
as independent (Welch 1947). Verdicts over several pairs are corrected by Holm (1979): with probability 95 % no
two that are equally good are called different. Joint intervals are corrected by Bonferroni: with probability
95 % all of them contain the truth. Holm is a little sharper, so that a significant difference may have a joint
interval that contains 0.
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
ERROR = 0.05  # probability that any of the verdicts is a false difference
POWER = 0.8  # with which a difference is to be detected


class MeanDifference(NamedTuple):
    """A difference of two means, its standard error, and the degrees of freedom of that."""

    value: float
    stderr: float  # infinite if it is not known
    dof: int

    @property
    def p_value(self) -> float:
        """The probability of a difference as large if there were none."""
        if not math.isfinite(self.stderr):
            return 1.0
        if self.stderr == 0:
            return float(self.value == 0)
        return max(1 - t_central_mass(abs(self.value) / self.stderr, self.dof), 0.0)

    def interval(self, level: float = 0.95) -> Interval:
        """Student's interval."""
        half = t_quantile(self.dof, level) * self.stderr
        return self.value - half, self.value + half


class Difference(NamedTuple):
    """A difference that is one of several."""

    value: float
    ci95: Interval  # of this difference alone
    joint_ci95: Interval  # of all of them together (Bonferroni)
    p: float  # of this difference alone
    p_holm: float  # corrected for the number of comparisons

    @property
    def significant(self) -> bool:
        """Whether it is more than noise."""
        return self.p_holm < ERROR

    def __neg__(self) -> Difference:
        (low, high), (joint_low, joint_high) = self.ci95, self.joint_ci95
        return Difference(-self.value, (-high, -low), (-joint_high, -joint_low), self.p, self.p_holm)


def paired_scores(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of scores in the same games (the same seed): Student's t of their differences."""
    gaps = _gaps(a, b)
    count = len(gaps)
    if count < 2:
        return MeanDifference(float(gaps.mean()), math.inf, 1)
    return MeanDifference(float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(count), count - 1)


def paired_shares(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of shares of points in the same pairs of games, from 0 to 1.

    The variance is taken with two more pairs, as Agresti & Min (2005) do: half a pair won by one alone, half a
    pair by the other, and one equal. A few pairs that agree prove little.
    """
    gaps = _gaps(a, b)
    count = len(gaps)
    spread = (float(gaps @ gaps) + 1) / (count + 2) - (float(gaps.sum()) / (count + 2)) ** 2
    return MeanDifference(float(gaps.mean()), math.sqrt(spread / count), max(count - 1, 1))


def _gaps(a: Sequence[float], b: Sequence[float]) -> Array:
    """Differences of the games that both have."""
    both = min(len(a), len(b))
    return np.subtract(a[:both], b[:both], dtype=float)


def independent_scores(a: Sequence[float], b: Sequence[float]) -> MeanDifference:
    """Of scores of 2048 in different games, two or more of each (Welch)."""
    sides = ((score_variance([*each]) / len(each), len(each) - 1) for each in (a, b))
    return welch(fmean(a) - fmean(b), *sides)


def independent_runs(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> MeanDifference:
    """Of the mean scores of training runs, each with its own scores (Welch).

    The variance between runs of the same settings is estimated from their means, and is at least what follows
    from the scores that these are means of.
    """
    value = fmean(map(fmean, a)) - fmean(map(fmean, b))
    sides = ((stderr**2, dof) for stderr, dof in (run_stderr(a), run_stderr(b)))
    return welch(value, *sides)


def compare_runs(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> MeanDifference:
    """Of training runs; two single runs, which played the same games, are compared game by game."""
    return paired_scores(a[0], b[0]) if len(a) == len(b) == 1 else independent_runs(a, b)


def welch(value: float, *sides: tuple[float, int]) -> MeanDifference:
    """The difference of two sides, each given by a squared standard error and its degrees of freedom."""
    squares = math.fsum(square for square, _ in sides)
    if not math.isfinite(squares):
        return MeanDifference(value, math.inf, 1)
    parts = math.fsum(square**2 / dof for square, dof in sides)
    # Rounded down: the interval becomes wider, not narrower.
    return MeanDifference(value, math.sqrt(squares), max(int(squares**2 / parts), 1) if parts else 1)


def run_stderr(runs: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The standard error of the mean of runs, and its degrees of freedom; infinite if it is not known."""
    if len(runs) < 2 or any(len(scores) < 2 for scores in runs):
        return math.inf, 1
    between = variance([fmean(scores) for scores in runs]) / len(runs)
    inside = math.fsum(variance(scores) / len(scores) for scores in runs) / len(runs) ** 2
    return math.sqrt(max(between, inside)), len(runs) - 1


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979).

    The smallest is multiplied by their number, the next by one less; none is below one before it.

    >>> holm([0.001, 0.04, 0.03])
    [0.003, 0.06, 0.06]
    """
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = least
    return corrected


def corrected(differences: Sequence[MeanDifference]) -> list[Difference]:
    """Differences with intervals and p-values that take their number into account."""
    p_values = [each.p_value for each in differences]
    level = 1 - ERROR / max(len(differences), 1)
    return [
        Difference(each.value, each.interval(), each.interval(level), p, p_holm)
        for each, p, p_holm in zip(differences, p_values, holm(p_values), strict=True)
    ]


class GroupComparison(NamedTuple):
    """Points of a grid compared with the best of their group."""

    best: list[int]  # for each point, the best of its group
    behind: list[Difference | None]  # each point minus that; None for the best
    comparisons: int


def compare_to_best(
    values: Sequence[float], groups: Sequence[str], difference: Callable[[int, int], MeanDifference]
) -> GroupComparison:
    """Compare each point with the one of the largest value in its group.

    Which one that is, is known only afterwards: all pairs of a group count as compared.
    """
    pairs = [(i, j) for i, j in combinations(range(len(values)), 2) if groups[i] == groups[j]]
    known = dict(zip(pairs, corrected([difference(i, j) for i, j in pairs]), strict=True))
    best = [
        max((j for j in range(len(values)) if groups[j] == groups[i]), key=lambda j: values[j])
        for i in range(len(values))
    ]
    behind = [None if i == top else known[i, top] if i < top else -known[top, i] for i, top in enumerate(best)]
    return GroupComparison(best, behind, len(pairs))
