"""Seeds of other libraries, for tuplet's random streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import mix

_WORD = (1 << 64) - 1


def as_word(seed: int) -> int:
    """A seed of any size as 64 bits; one that fits stays as it is."""
    if seed < 0:
        raise UserError(f"seed must be 0 or more (got {seed})")
    word, rest = seed & _WORD, seed >> 64
    while rest:
        word = int(mix(np.uint64(word))) ^ (rest & _WORD)
        rest >>= 64
    return word


def seed_of(env: Any) -> int:
    """The seed of an environment's `np_random`; drawn from it if the generator was set from outside."""
    seed = env.np_random_seed
    return int(env.np_random.integers(1 << 63)) if seed is None or seed < 0 else int(seed)
