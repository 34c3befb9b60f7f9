"""95 % intervals for means and shares."""

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


def wilson(count: int, total: int) -> Interval:
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
