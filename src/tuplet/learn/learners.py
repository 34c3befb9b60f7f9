"""Learners: how the weights of a board take their share of an error, and what they remember of it.

TD moves every weight alike. TC (temporal coherence) gives each weight a learning rate of its own.
A learner is a type, told from others by compiled code, and two kernels:

    adjust(by, weights, memory, found, start, m, amount)   add `amount`, in its own way, to each of
                                                           the m weights that `found` lists
    fetch(by, memory, found, start, m)                     prefetch what is remembered of them

`register_learner` enters it by a name. `memory` holds as many numbers for each weight as it wants
to remember; they are saved with the weights under a name of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import implementation_of, inlined, load_pair, prefetch, register
from tuplet.learn.tc_simd import update_eight
from tuplet.system.user_code import find, names_code
from tuplet.values.external_formats import COHERENCE
from tuplet.values.tables import add

Array = np.ndarray[Any, Any]


class Learner(NamedTuple):
    """A way to adjust weights, and what goes well with it."""

    name: str
    by: Any  # of the type that `update_weights` and `prefetch_memory` are picked by; compare its type
    memory: str = ""  # the name of what it remembers, in files
    memory_per_weight: int = 0  # numbers that it remembers of each weight
    alpha: float = 0.1  # where none is given
    lam: float = 0.0  # lambda, where none is given and updates go from the end
    merge_by: int | None = None  # which of its numbers tells how much a weight has learned


LEARNERS: dict[str, Learner] = {}


def update_weights(
    by: Any, weights: Array, memory: Array, found: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    """Add `amount` to each of the m weights (k times to a weight that is looked up k times)."""
    implementation_of(update_weights, by)(by, weights, memory, found, start, m, amount)


def prefetch_memory(by: Any, memory: Array, found: Array, start: np.uint64, m: np.uint64) -> None:
    """Prefetch what is remembered of those weights."""
    implementation_of(prefetch_memory, by)(by, memory, found, start, m)


def register_learner(
    learner: Learner, adjusts: Callable[..., None], fetches: Callable[..., None] | None = None
) -> None:
    """Enter a learner by its name, with its kernels."""
    LEARNERS[learner.name] = learner
    register(update_weights, type(learner.by), adjusts)
    register(prefetch_memory, type(learner.by), fetches or _fetch_nothing)


def learner_named(name: str, *, trusted: bool = False) -> Learner:
    """A learner by its name, or by its code, `file.py:LEARNER`, if the text is trusted."""
    if names_code(name):
        found: Any = find(name, "learner", trusted=trusted)
        if not isinstance(found, Learner) or LEARNERS.get(found.name) is not found:
            raise UserError(f"{name} is no learner: make a Learner(...), and register_learner it")
        return found
    if name not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise UserError(f"learner must be {known} or your own, --learner file.py:NAME (got {name!r})")
    return LEARNERS[name]


class TDRule(NamedTuple):
    """TD: every weight moves by the same amount."""


@inlined
def _add(
    by: TDRule, weights: Array, memory: Array, found: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    add(weights, found, start, m, amount)


@inlined
def _fetch_nothing(by: Any, memory: Array, found: Array, start: np.uint64, m: np.uint64) -> None:
    pass


class TCRule(NamedTuple):
    """TC: a weight remembers E, the sum of its updates, and A, the sum of their sizes."""


@inlined
def _add_coherently(
    by: TCRule, weights: Array, memory: Array, found: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    """Temporal coherence (Beal & Smith 1999): each weight has a learning rate of its own, |E|/A.

    It is 1 while all updates agree and falls where they cancel out. (It cannot exceed 1, except
    where two threads write at once: then A may have missed an update, and weights would grow
    without bound.)
    """
    size, one, eight = abs(amount), np.float32(1), np.uint64(8)
    for first in range(start, start + m, eight):
        if update_eight(weights, memory, found, first, amount):
            continue
        for i in range(first, first + eight):
            at = found[i]
            e, a = memory[at + at], memory[at + at + np.uint64(1)]
            rate = min(abs(e) / a, one) if a > np.float32(0) else one
            weights[at] += amount * rate
            memory[at + at] = e + amount
            memory[at + at + np.uint64(1)] = a + size


@inlined
def _fetch_sums(by: TCRule, memory: Array, found: Array, start: np.uint64, m: np.uint64) -> None:
    for i in range(start, start + m, np.uint64(2)):
        one, other = load_pair(found, i)
        prefetch(memory, one + one)
        prefetch(memory, other + other)


TD = Learner("td", TDRule())
TC = Learner("tc", TCRule(), COHERENCE, 2, alpha=1.0, lam=0.5, merge_by=1)
register_learner(TC, _add_coherently, _fetch_sums)
register_learner(TD, _add)
