"""Interquartile means and probabilities of improvement, as RL papers report them."""

from __future__ import annotations

import doctest
from itertools import product

import numpy as np
import pytest

from tuplet.system import bootstrap
from tuplet.system.bootstrap import improvement_interval, improvement_probability, interquartile_mean, iqm_interval

# Three runs of two tasks, and four of the same tasks.
A = [[0.61, 0.72, 0.55], [0.30, 0.42, 0.36]]
B = [[0.50, 0.58, 0.62, 0.70], [0.35, 0.36, 0.20, 0.28]]


def test_examples_in_docstrings_are_true() -> None:
    assert doctest.testmod(bootstrap).failed == 0


def test_a_quarter_of_the_runs_at_each_end_does_not_count() -> None:
    """Counted by hand, and what rliable 1.2.0 gave: `aggregate_iqm`, `probability_of_improvement`."""
    assert interquartile_mean([5, 1]) == 3 and interquartile_mean([9, 1, 2]) == 4  # too few to leave one out
    assert interquartile_mean([1, 2, 4, 1000]) == 3
    # 0.30 0.36 0.42 0.55 0.61 0.72: a quarter of six is one at each end
    assert interquartile_mean(np.ravel(A)) == pytest.approx(0.485)
    # of 12 pairs each, 2 + 4 + 1 are better in the first task, 2 + 4 + 3½ in the second
    assert improvement_probability(A, B) == pytest.approx((7 / 12 + 9.5 / 12) / 2)


def percentiles(values: list[float]) -> list[float]:
    return np.percentile(values, [2.5, 97.5], method="inverted_cdf").tolist()  # type: ignore[no-any-return]


def test_intervals_are_the_percentiles_of_all_resamples() -> None:
    """Of three runs there are 27 resamples, which can be counted instead of drawn."""
    runs = A[0]
    every = [np.mean(each) for each in product(runs, repeat=3)]
    assert iqm_interval([runs]) == pytest.approx(percentiles(every))
    wins = [improvement_probability([a], [b]) for a in product(runs, repeat=3) for b in product([0.58, 0.62], repeat=2)]
    assert improvement_interval([runs], [[0.58, 0.62]]) == pytest.approx(percentiles(wins))


def test_intervals_are_those_of_rliable() -> None:
    """Of rliable 1.2.0, `get_interval_estimates` with 20,000 resamples."""
    assert iqm_interval(A) == pytest.approx((0.44, 0.5425), abs=0.005)
    assert iqm_interval(B) == pytest.approx((0.39, 0.49), abs=0.005)
    assert improvement_interval(A, B) == pytest.approx((0.375, 0.9583), abs=0.03)


def test_runs_are_drawn_within_their_task() -> None:
    """Two tasks whose runs agree have no spread, however far the tasks are apart."""
    assert iqm_interval([[1, 1, 1], [9, 9, 9]]) == (5, 5)
    assert improvement_interval([[1, 1], [9, 9]], [[0, 0], [10, 10]]) == (0.5, 0.5)


def test_the_same_seed_gives_the_same_interval() -> None:
    runs = [[x**1.5 for x in range(20)]]
    assert iqm_interval(runs, seed=1) == iqm_interval(runs, seed=1) != iqm_interval(runs, seed=2)
    assert improvement_interval(A, B, seed=1) == improvement_interval(A, B, seed=1)


def test_an_outlier_does_not_move_the_interquartile_mean() -> None:
    runs = [100.0, 101, 102, 103, 104, 105, 106, 107]
    assert interquartile_mean([*runs[:-1], 10_000]) == interquartile_mean(runs)
