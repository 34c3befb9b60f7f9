"""95 % intervals for means and shares, and shares as Elo differences.

How often each of them holds the truth is measured: docs/statistics.md.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist, stdev, variance

Z = NormalDist().inv_cdf(0.975)
# A sequential test ends a match at a moment when its share is far out: there 1.96 holds the truth
# in 86 to 97 % of matches, and this, which is 99 % elsewhere, in 95 %. docs/statistics.md.
Z_AFTER_TEST = NormalDist().inv_cdf(0.995)
_MUCH_FREEDOM = 200  # from there on Wallace's formula is right to six digits
_USUAL_DEVIATION = 0.35  # of the mean, of scores: 0.38 for `small`, 0.43 after 5,000 games of TD

Interval = tuple[float, float]
# How many pairs of games gave 0, ½, 1, 1½ and 2 points; a game drawn is half a point.
Pairs = tuple[int, int, int, int, int]


@cache
def student(freedom: int, level: float = 0.95) -> float:
    """What 1.96 is for a deviation that was estimated itself (Student 1908).

    >>> [round(student(n), 3) for n in (1, 2, 9, 30, 1000)]
    [12.706, 4.303, 2.262, 2.042, 1.962]
    """
    low, high = 0.0, 2.0
    while within(high, freedom) < level:
        low, high = high, 2 * high
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if within(t, freedom) < level else (low, t)
    return low


def within(t: float, freedom: int) -> float:
    """The share of Student's distribution between -t and t: a finite sum.

    With much freedom, that of a normal distribution, after Wallace (1959).
    """
    if freedom > _MUCH_FREEDOM:
        z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (1 - 1 / (4 * freedom))
        return math.erf(z / math.sqrt(2))
    angle = math.atan(t / math.sqrt(freedom))
    square, odd = math.cos(angle) ** 2, freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= square * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * total)


def mean_interval(values: list[float]) -> Interval:
    """Of a mean of independent values; one value alone tells nothing, and its interval is all."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return (-math.inf, math.inf)
    half = student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return (mean - half, mean + half)


def score_interval(scores: list[float]) -> Interval:
    """Of a mean score of 2048.

    Scores gather around tiles: a few games that happen to end alike prove no small deviation, so
    that one more is counted, of what players' scores usually deviate.
    """
    if len(scores) < 2:
        return mean_interval(scores)
    games, mean = len(scores), math.fsum(scores) / len(scores)
    seen = variance(scores, mean)
    counted = ((games - 1) * seen + (_USUAL_DEVIATION * mean) ** 2) / games
    half = student(games - 1) * math.sqrt(max(seen, counted) / games)
    return (mean - half, mean + half)


def wilson(count: float, total: float, z: float = Z) -> Interval:
    """Of a share, after Wilson (1927): sound near 0 and 1, too.

    >>> low, high = wilson(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    share, weight = count / total, z * z / total
    middle = share + weight / 2
    half = z * math.sqrt(share * (1 - share) / total + weight / (4 * total))
    # At the ends the formula gives 0 and 1, but for rounding.
    low = (middle - half) / (1 + weight) if count > 0 else 0.0
    high = (middle + half) / (1 + weight) if count < total else 1.0
    return (low, high)


def as_pairs(*counts: int) -> Pairs:
    """All five counts of pairs; three are of games without draws: pairs lost, split, and won."""
    if len(counts) == 3:
        lost, split, won = counts
        return lost, 0, split, 0, won
    none, half, one, more, both = counts
    return none, half, one, more, both


def effective_games(*counts: int) -> float:
    """How many independent games without draws tell as much as these pairs of games.

    The two games of a pair share their start and dice, so that pairs are the independent unit:
    the answer is the number of pairs where both games always end alike, twice that where they
    have nothing to do with each other, and more where the start decides and pairs are split, or
    where games are drawn.

    The variance of pairs is taken with Z²/2 more pairs won and as many lost (the counts Agresti
    & Coull 1998 add to a share): a few pairs that happen to agree prove no small variance. Nor do
    a few draws: pairs won and lost may be rare and yet decide, so that they are added there, too.
    """
    lost, half, split, more, won = as_pairs(*counts)
    added = Z * Z / 2
    lost_, won_ = lost + added, won + added
    total = lost_ + half + split + more + won_
    share = (won_ + 0.75 * more + split / 2 + 0.25 * half) / total
    variance = (
        lost_ * share**2 + half * (0.25 - share) ** 2 + split * (0.5 - share) ** 2
        + more * (0.75 - share) ** 2 + won_ * (1 - share) ** 2
    ) / total  # fmt: skip
    return (lost + half + split + more + won) * share * (1 - share) / variance


def pair_share(*counts: int, z: float = Z) -> tuple[float, Interval]:
    """The share of points in pairs of games, and its interval: Wilson's, of effective games.

    >>> share, (low, high) = pair_share(10, 20, 20)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.6, 0.491, 0.7)
    """
    lost, half, split, more, won = as_pairs(*counts)
    share = (won + 0.75 * more + split / 2 + 0.25 * half) / (lost + half + split + more + won)
    games = effective_games(*counts)
    return share, wilson(share * games, games, z)


def elo(share: float) -> float:
    """The difference in Elo at which this is the share of points; infinite at 0 and 1.

    >>> round(elo(0.75), 1)
    190.8
    """
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5)
    return -400 * math.log10(1 / share - 1)


def share_at(elo: float) -> float:
    """The share of points at a difference in Elo."""
    return 1 / (1 + 10 ** (-elo / 400))
