"""95 % intervals for means and shares, and shares as Elo differences."""

from __future__ import annotations

import math
from statistics import NormalDist, stdev

Z = NormalDist().inv_cdf(0.975)

Interval = tuple[float, float]


def mean_interval(values: list[float]) -> Interval:
    """Of a mean of independent values; one value alone tells nothing, and its interval is all."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return (-math.inf, math.inf)
    half = Z * stdev(values) / math.sqrt(len(values))
    return (mean - half, mean + half)


def wilson(count: float, total: float) -> Interval:
    """Of a share, after Wilson (1927): sound near 0 and 1, too.

    >>> low, high = wilson(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    share, weight = count / total, Z * Z / total
    middle = share + weight / 2
    half = Z * math.sqrt(share * (1 - share) / total + weight / (4 * total))
    # At the ends the formula gives 0 and 1, but for rounding.
    low = (middle - half) / (1 + weight) if count > 0 else 0.0
    high = (middle + half) / (1 + weight) if count < total else 1.0
    return (low, high)


def effective_games(lost: int, split: int, won: int) -> float:
    """How many independent games tell as much as these pairs of games.

    The two games of a pair share their start and dice, so that pairs are the independent unit:
    the answer is the number of pairs where both games always end alike, twice that where they
    have nothing to do with each other, and more where the start decides and pairs are split.

    The variance of pairs is taken with Z²/2 more pairs won and as many lost (the counts Agresti
    & Coull 1998 add to a share): a few pairs that happen to agree prove no small variance.
    """
    more = Z * Z / 2
    lost_, won_ = lost + more, won + more
    total = lost_ + split + won_
    share = (won_ + split / 2) / total
    variance = (
        lost_ * share**2 + split * (0.5 - share) ** 2 + won_ * (1 - share) ** 2
    ) / total  # fmt: skip
    return (lost + split + won) * share * (1 - share) / variance


def pair_share(lost: int, split: int, won: int) -> tuple[float, Interval]:
    """The share of games won in pairs of games, and its interval: Wilson's, of effective games.

    >>> share, (low, high) = pair_share(10, 20, 20)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.6, 0.491, 0.7)
    """
    share = (won + split / 2) / (lost + split + won)
    games = effective_games(lost, split, won)
    return share, wilson(share * games, games)


def elo(share: float) -> float:
    """The difference in Elo at which this share of games is won; infinite at 0 and 1.

    >>> round(elo(0.75), 1)
    190.8
    """
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5)
    return -400 * math.log10(1 / share - 1)


def share_at(elo: float) -> float:
    """The share of games won at a difference in Elo."""
    return 1 / (1 + 10 ** (-elo / 400))
