"""Optional integrations: Gymnasium, PettingZoo, OpenSpiel, TensorBoard.

Each library is an extra. tuplet imports an adapter only when it is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import mix

_WORD = (1 << 64) - 1


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """A checked choice."""
    if value not in (known := tuple(known)):
        raise UserError(f"{name} must be one of {', '.join(known)} (got {value!r})")
    return value


def missing(error: ModuleNotFoundError, library: str, extra: str) -> ModuleNotFoundError:
    """The error for a library that is not installed: one line, with what to do."""
    if (error.name or "").partition(".")[0] != library:
        return error  # the library is installed, and lacks something itself
    return ModuleNotFoundError(f"this needs {library}: install it with  pip install 'tuplet[{extra}]'", name=error.name)


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
