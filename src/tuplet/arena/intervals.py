"""95 % intervals for shares of pairs of games, and shares as Elo differences.

How often each of them holds the truth is measured: docs/statistics.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from tuplet.system.intervals import Interval, Z, share_interval

# A sequential test ends a match at a moment when its share is far out: there 1.96 holds the truth
# in 86 to 97 % of matches, and this, which is 99 % elsewhere, in 96 %. docs/statistics.md.
Z_AFTER_TEST = NormalDist().inv_cdf(0.995)

# How many pairs of games gave 0, ½, 1, 1½ and 2 points; a game drawn is half a point.
PairCounts = tuple[int, int, int, int, int]


def as_pairs(*counts: int) -> PairCounts:
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
        lost_ * share**2
        + half * (0.25 - share) ** 2
        + split * (0.5 - share) ** 2
        + more * (0.75 - share) ** 2
        + won_ * (1 - share) ** 2
    ) / total
    return (lost + half + split + more + won) * share * (1 - share) / variance


def pair_share(*counts: int, z: float = Z) -> tuple[float, Interval]:
    """The share of points in pairs of games, and its interval: that of effective games.

    >>> share, (low, high) = pair_share(10, 20, 20)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.6, 0.491, 0.7)
    """
    lost, half, split, more, won = as_pairs(*counts)
    share = (won + 0.75 * more + split / 2 + 0.25 * half) / (lost + half + split + more + won)
    games = effective_games(*counts)
    return share, share_interval(share * games, games, z)


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
