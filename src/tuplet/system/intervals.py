"""95 % intervals for means and shares.

Their coverage is measured in docs/statistics.md.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist, stdev

Z = NormalDist().inv_cdf(0.975)
_MUCH_FREEDOM = 200  # from there on Wallace's formula is right to six digits

Interval = tuple[float, float]


@cache
def t_quantile(dof: int, level: float = 0.95) -> float:
    """The t quantile: 1.96 for a known deviation, more for an estimated one (Student 1908).

    >>> [round(t_quantile(n), 3) for n in (1, 2, 9, 30, 1000)]
    [12.706, 4.303, 2.262, 2.042, 1.962]
    """
    low, high = 0.0, 2.0
    while t_central_mass(high, dof) < level:
        low, high = high, 2 * high
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if t_central_mass(t, dof) < level else (low, t)
    return low


def t_central_mass(t: float, dof: int) -> float:
    """The probability of Student's t between -t and t: a finite sum.

    With many degrees of freedom, of a normal distribution, after Wallace (1959).
    """
    if dof > _MUCH_FREEDOM:
        z = math.sqrt(dof * math.log1p(t * t / dof)) * (1 - 1 / (4 * dof))
        return math.erf(z / math.sqrt(2))
    angle = math.atan(t / math.sqrt(dof))
    square, odd = math.cos(angle) ** 2, dof % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(dof // 2):
        total += term
        term *= square * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * total)


def mean_interval(values: list[float]) -> Interval:
    """The interval of a mean of independent values; of a single value it is unbounded."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return (-math.inf, math.inf)
    half = t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return (mean - half, mean + half)


def share_interval(count: float, total: float, z: float = Z) -> Interval:
    """The interval of a share, after Agresti & Coull (1998).

    Wilson's (1927) has the same middle and is narrower near 0 and 1, where it covers the truth in as few as 84 % of
    samples. A share is not 0 if it was seen once, nor 1 if it was missed once: there the bound is the share that
    would be seen, or missed, with a probability of 5 %.

    >>> [(round(low, 4), round(high, 4)) for low, high in map(share_interval, (0, 99), (100, 100))]
    [(0.0, 0.0444), (0.9401, 0.9995)]
    """
    share, counted = count / total, total + z * z
    middle = (count + z * z / 2) / counted
    half = z * math.sqrt(middle * (1 - middle) / counted)
    error = math.erfc(z / math.sqrt(2))
    return (max(middle - half, share * error), min(middle + half, 1 - (1 - share) * error))


def finite(value: float) -> float | None:
    """A number for JSON, which has no infinity: None in its place."""
    return value if math.isfinite(value) else None


def finite_interval(interval: Interval) -> list[float | None]:
    """Both ends of an interval, for JSON."""
    return [finite(bound) for bound in interval]
