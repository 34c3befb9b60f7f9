"""Random streams, one per game, so that results do not depend on the number of threads.

SplitMix64 (Steele, Lea & Flood 2014). A stream is a 64-bit counter; `draw` scrambles it.
Draw n of a stream is `draw(start + n * STEP)`, so a stream needs no object and no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from tuplet.errors import UserError
from tuplet.kernel.compile import UNCOUNTED, kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_WORD = (1 << 64) - 1


def as_seed(seed: int) -> np.uint64:
    """A seed as kernels take it."""
    if not 0 <= seed < 1 << 63:
        raise UserError(f"seed must be 0 to 2^63 - 1 (got {seed})")
    return np.uint64(seed)


def mix(bits: np.uint64) -> np.uint64:
    """A scrambled `bits`: every input bit changes about half of the output's."""
    x = int(bits)
    x = (x ^ x >> 30) * int(_FIRST) & _WORD
    x = (x ^ x >> 27) * int(_SECOND) & _WORD
    return np.uint64(x ^ x >> 31)


def step(state: np.uint64) -> np.uint64:
    """The next state of a stream."""
    return np.uint64((int(state) + int(STEP)) & _WORD)


@overload(mix, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]  # Numba has no types
def _compile_mix(bits: Any) -> Callable[..., Any]:  # noqa: ARG001
    def scramble(bits: Any) -> Any:
        bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
        bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
        return bits ^ (bits >> np.uint64(31))

    return scramble


@overload(step, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_step(state: Any) -> Callable[..., Any]:  # noqa: ARG001
    return lambda state: state + STEP


@kernel
def stream(seed: np.uint64, number: np.uint64) -> np.uint64:
    """The start of stream `number` of a seed."""
    return mix(mix(seed) ^ mix(step(number)))


@kernel
def draw(state: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The stream's next state, and 64 random bits."""
    state = step(state)
    return state, mix(state)
