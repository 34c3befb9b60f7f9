"""log, exp and cos of kernels: as exact as the C library's, and the same bits in every way of running them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from both_ways import in_both_ways
from tuplet.kernel import cos, exp, log

RANDOM = np.random.default_rng(1)
NUMBERS = {
    "log": [*RANDOM.random(300), *10.0 ** RANDOM.uniform(-320, 300, 300), 1.0, 2.0, 0.5, 5e-324],
    "exp": [*RANDOM.uniform(-745, 709, 300), *RANDOM.uniform(-1, 1, 300), 0.0, -0.0],
    "cos": [*RANDOM.uniform(-10, 10, 600), 0.0, math.pi, math.pi / 2],
}
SCRIPT = """
import sys
from tuplet.kernel import cos, exp, log
for line in sys.stdin:
    name, number = line.split()
    print(float({"cos": cos, "exp": exp, "log": log}[name](float.fromhex(number))).hex())
"""


@pytest.mark.parametrize("kernel", [log, exp, cos])
def test_they_differ_from_the_c_library_by_one_unit_in_the_last_place_at_most(kernel: object) -> None:
    name = kernel.__name__  # type: ignore[attr-defined]
    for number in NUMBERS[name]:
        known = getattr(math, name)(number)
        unit = np.spacing(1.0) if name == "cos" else np.spacing(abs(known))  # near its zeros cos is less exact
        assert abs(float(kernel(float(number))) - known) <= unit, number  # type: ignore[operator]


def test_compiled_and_interpreted_they_return_the_same_bits() -> None:
    lines = [f"{name} {float(number).hex()}" for name, numbers in NUMBERS.items() for number in numbers[::3]]
    compiled, interpreted = in_both_ways(SCRIPT, lines)
    assert compiled == interpreted and len(compiled.split()) == len(lines)


def test_at_the_ends_of_their_ranges_they_return_what_the_c_library_does() -> None:
    assert log(0.0) == -np.inf and log(np.inf) == np.inf and np.isnan(log(-1.0)) and np.isnan(log(np.nan))
    assert exp(-1e9) == exp(-np.inf) == 0.0 and exp(1e9) == exp(np.inf) == np.inf and np.isnan(exp(np.nan))
