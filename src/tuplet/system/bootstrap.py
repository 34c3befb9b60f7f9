"""Statistics over training runs that outliers do not decide: interquartile means, and the probability that one method
is better than another, with intervals by stratified bootstrap (Agarwal et al. 2021, who call their library rliable).

Each task (a board, a game) is a stratum: a list with a score for each run. Resampling draws runs with replacement
within their task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tuplet.system.intervals import Interval

Array = np.ndarray[Any, Any]
Strata = Sequence[Sequence[float]]  # for each task, a score for each run

RESAMPLES = 10_000


def interquartile_mean(values: Any) -> Any:
    """The mean without the lowest and the highest quarter, rounded down, along the last axis.

    >>> float(interquartile_mean([1, 2, 3, 4, 5, 6, 7, 800]))
    4.5
    """
    ordered = np.sort(np.asarray(values, float), axis=-1)
    count = ordered.shape[-1]
    return ordered[..., count // 4 : count - count // 4].mean(axis=-1)


def iqm_interval(tasks: Strata, seed: int = 0) -> Interval:
    """The 95 % interval of the interquartile mean of all runs of all tasks."""
    random = np.random.default_rng(seed)
    drawn = [random.choice(np.asarray(runs, float), (RESAMPLES, len(runs))) for runs in tasks]
    return _middle(interquartile_mean(np.concatenate(drawn, axis=1)))


def improvement_probability(a: Strata, b: Strata) -> float:
    """The probability that a run of A scores more than a run of B, a tie counted half; the mean over tasks.

    >>> improvement_probability([[3, 4]], [[1, 3]])
    0.875
    """
    return float(np.mean([_wins(*each).mean() for each in zip(a, b, strict=True)]))


def improvement_interval(a: Strata, b: Strata, seed: int = 0) -> Interval:
    """The 95 % interval of `improvement_probability`."""
    random = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES)
    for own, other in zip(a, b, strict=True):
        # How often each run is drawn, in place of the runs: (resamples, runs).
        times = [random.multinomial(n, np.full(n, 1 / n), RESAMPLES) / n for n in (len(own), len(other))]
        total += (times[0] @ _wins(own, other) * times[1]).sum(axis=1)
    return _middle(total / len(a))


def _wins(own: Sequence[float], other: Sequence[float]) -> Array:
    """1 where a run of ours scores more than one of the others, ½ where they tie: (ours, others)."""
    apart = np.subtract.outer(np.asarray(own, float), np.asarray(other, float))
    return np.asarray((np.sign(apart) + 1) / 2)


def _middle(values: Array) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
