"""TC's update by vectors, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tuplet.kernel import kernel
from tuplet.learn.learners import TC, update_weights
from tuplet.learn.tc_simd import update_eight


@kernel
def adjusted(by, weights, memory, found, amount):
    update_weights(by, weights, memory, found, np.uint64(0), np.uint64(len(found)), amount)


@kernel
def at_once(weights, memory, found, amount):
    return update_eight(weights, memory, found, np.uint64(0), amount)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_eight_weights_at_once_learn_what_each_would_alone(kind: type) -> None:
    random = np.random.default_rng(2)
    for count in (8, 40, 400):
        for _ in range(30):
            weights = random.normal(size=count).astype(np.float32)
            sizes = np.abs(random.normal(size=count)) * (random.random(count) < 0.7)
            memory = np.stack([random.normal(size=count), sizes], 1).astype(np.float32).ravel()
            found = random.integers(0, count, 32).astype(kind)
            amount = np.float32(random.normal())
            expected, sums = weights.copy(), memory.copy().reshape(-1, 2)
            for at in found:
                e, a = sums[at]
                rate = min(abs(e) / a, np.float32(1)) if a > 0 else np.float32(1)
                expected[at] += amount * rate
                sums[at] = e + amount, a + abs(amount)
            adjusted(TC.rule, weights, memory, found, amount)
            assert weights.tobytes() == expected.tobytes()
            assert memory.tobytes() == sums.tobytes()


def test_a_weight_that_is_found_twice_is_left_to_be_updated_one_by_one() -> None:
    amount, places = np.float32(1), np.arange(8, dtype=np.uint32)
    for first in range(8):
        for second in range(first):
            weights, memory, found = (np.zeros(8, np.float32), np.zeros(16, np.float32), places.copy())
            found[second] = found[first]
            assert not at_once(weights, memory, found, amount)
            assert not weights.any() and not memory.any()
