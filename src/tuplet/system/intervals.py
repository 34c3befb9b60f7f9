"""95 % intervals for means and shares."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist, stdev

Z = NormalDist().inv_cdf(0.975)

Interval = tuple[float, float]
MANY = 200  # degrees of freedom that are nearly a normal distribution


@cache
def student(freedom: int) -> float:
    """What 1.96 is for a deviation that was estimated itself (Student 1908).

    >>> [round(student(n), 3) for n in (1, 2, 9, 30, 1000)]
    [12.706, 4.303, 2.262, 2.042, 1.962]
    """
    if freedom > MANY:
        return Z + (Z**3 + Z) / (4 * freedom)
    low, high = 0.0, 20.0
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if within(t, freedom) < 0.95 else (low, t)
    return low


def within(t: float, freedom: int) -> float:
    """The share of Student's distribution between -t and t, a finite sum.

    >>> round(within(2.262, 9), 3), round(within(1.96, 100_000), 3)
    (0.95, 0.95)
    """
    if freedom > MANY:  # Abramowitz & Stegun 26.7.8: right to five digits
        near = t * (1 - 1 / (4 * freedom)) / math.sqrt(1 + t * t / (2 * freedom))
        return 2 * NormalDist().cdf(near) - 1
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
