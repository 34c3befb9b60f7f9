"""Learners: how the weights of a board take their share of a TD error.

TD moves every weight alike. TC (temporal coherence) gives each weight its own learning rate. A
learner has a rule, an object whose type compiled code dispatches on, and two kernels:

    update(rule, weights, memory, indices, start, m, amount)   add `amount`, as the rule says, to
                                                               weights[indices[start : start + m]]
    prefetch(rule, memory, indices, start, m)                  prefetch their memory (optional)

`memory` has `memory_per_weight` numbers for each weight; they are saved with the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import implementation_of, inlined, load_pair, prefetch, register
from tuplet.learn.tc_simd import update_eight
from tuplet.system.user_code import find, names_code
from tuplet.values.network import COHERENCE
from tuplet.values.tables import add

Array = np.ndarray[Any, Any]


class Learner(NamedTuple):
    """A learning rule, and the settings that suit it."""

    name: str
    rule: Any  # `update_weights` and `prefetch_memory` dispatch on its type
    memory: str = ""  # the name of its memory, in files
    memory_per_weight: int = 0  # numbers
    alpha: float = 0.1  # default learning rate
    lam: float = 0.0  # default lambda, if updates go from the end
    merge_by: int | None = None  # which number of its memory says how much a weight has learned


LEARNERS: dict[str, Learner] = {}


def update_weights(
    rule: Any, weights: Array, memory: Array, indices: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    """Add `amount` to each of the m weights (k times to a weight that is looked up k times)."""
    implementation_of(update_weights, rule)(rule, weights, memory, indices, start, m, amount)


def prefetch_memory(rule: Any, memory: Array, indices: Array, start: np.uint64, m: np.uint64) -> None:
    """Prefetch the memory of those weights."""
    implementation_of(prefetch_memory, rule)(rule, memory, indices, start, m)


def register_learner(
    learner: Learner, update: Callable[..., None], prefetch: Callable[..., None] | None = None
) -> None:
    """Register a learner by its name, with its kernels."""
    LEARNERS[learner.name] = learner
    register(update_weights, type(learner.rule), update)
    register(prefetch_memory, type(learner.rule), prefetch or _prefetch_nothing)


def learner_named(name: str, *, trusted: bool = False) -> Learner:
    """A learner by its name, or by its code, `file.py:LEARNER`, if the text is trusted."""
    if names_code(name):
        learner: Any = find(name, "learner", trusted=trusted)
        if not isinstance(learner, Learner) or LEARNERS.get(learner.name) is not learner:
            raise UserError(f"{name} is not a learner: make a Learner(...) and call register_learner")
        return learner
    if name not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise UserError(f"learner must be {known} or your own, --learner file.py:NAME (got {name!r})")
    return LEARNERS[name]


class TDRule(NamedTuple):
    """TD: every weight moves by the same amount."""


@inlined
def _update_td(
    rule: TDRule, weights: Array, memory: Array, indices: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    add(weights, indices, start, m, amount)


@inlined
def _prefetch_nothing(rule: Any, memory: Array, indices: Array, start: np.uint64, m: np.uint64) -> None:
    pass


class TCRule(NamedTuple):
    """TC: a weight's memory is E, the sum of its updates, and A, the sum of their sizes."""


@inlined
def coherence(e: np.float32, a: np.float32) -> np.float32:
    """TC's learning rate of a weight: |E|/A, and 1 before its first update."""
    one = np.float32(1)
    return min(abs(e) / a, one) if a > np.float32(0) else one


@inlined
def _update_tc(
    rule: TCRule, weights: Array, memory: Array, indices: Array, start: np.uint64, m: np.uint64, amount: np.float32
) -> None:
    """Temporal coherence (Beal & Smith 1999): the learning rate of a weight is |E|/A.

    It is 1 while all updates agree and falls where they cancel out. (It cannot exceed 1, except
    when two threads write at once: A may then have missed an update, and weights would grow without
    bound.)
    """
    size, eight = abs(amount), np.uint64(8)
    for first in range(start, start + m, eight):
        if update_eight(weights, memory, indices, first, amount):
            continue
        for i in range(first, first + eight):
            at = indices[i]
            e, a = memory[at + at], memory[at + at + np.uint64(1)]
            weights[at] += amount * coherence(e, a)
            memory[at + at] = e + amount
            memory[at + at + np.uint64(1)] = a + size


@inlined
def _prefetch_tc(rule: TCRule, memory: Array, indices: Array, start: np.uint64, m: np.uint64) -> None:
    for i in range(start, start + m, np.uint64(2)):
        one, other = load_pair(indices, i)
        prefetch(memory, one + one)
        prefetch(memory, other + other)


TD = Learner("td", TDRule())
TC = Learner("tc", TCRule(), COHERENCE, 2, alpha=1.0, lam=0.5, merge_by=1)
register_learner(TC, _update_tc, _prefetch_tc)
register_learner(TD, _update_td)
