"""Seeds as other libraries have them, for our streams of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import mix

_WORD = (1 << 64) - 1


def as_word(seed: int) -> int:
    """A seed of any size as 64 bits; one that fits is itself."""
    if seed < 0:
        raise UserError(f"a seed is 0 or more, not {seed}")
    word, rest = seed & _WORD, seed >> 64
    while rest:
        word = int(mix(np.uint64(word))) ^ (rest & _WORD)
        rest >>= 64
    return word


def seed_of(env: Any) -> int:
    """The seed behind an environment's `np_random`; of a generator from outside, one it draws."""
    seed = env.np_random_seed
    return int(env.np_random.integers(1 << 63)) if seed is None or seed < 0 else int(seed)
