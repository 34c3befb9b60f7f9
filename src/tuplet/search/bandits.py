"""Bandits: which child a simulation descends to, picked by type.

A bandit is a NamedTuple of its settings and a kernel `worth(bandit, arm)`: the child of the
largest worth is taken. `register_bandit` enters one by a name, with a second kernel if it looks at
priors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tuplet.kernel import cos, draw, exp, implementation_of, inlined, kernel, log, register

BANDITS: dict[str, type] = {}  # the last that was registered by each name
KINDS: set[type] = set()  # all that were registered


class Arm(NamedTuple):
    """A child, as the player to move sees it.

    Results are from 0, lost, to 1, won; a game for one counts in units, and may exceed 1.
    """

    mean: float
    variance: float
    visits: float  # infinite where the mean is no estimate: a proven draw
    parent_visits: float
    prior: float  # its share among its siblings, where `register_bandit` was given a kernel
    bits: np.uint64  # random, its own each time


def worth(bandit: Any, arm: Arm) -> float:
    """How much it promises to descend to a child."""
    return implementation_of(worth, bandit)(bandit, arm)  # type: ignore[no-any-return]


def preference(bandit: Any, value: float) -> float:
    """The logarithm of a child's prior, up to a constant; its value is guessed, from -1 to 1."""
    return implementation_of(preference, bandit)(bandit, value)  # type: ignore[no-any-return]


def wants_prior(bandit: Any) -> bool:
    """Whether priors have to be made at all."""
    return implementation_of(wants_prior, bandit)(bandit)  # type: ignore[no-any-return]


def register_bandit(
    name: str, kind: type, code: Callable[..., float], prior: Callable[..., float] | None = None
) -> None:
    """Enter a bandit by its name; `prior` is the kernel of `preference`, if it looks at priors."""
    BANDITS[name] = kind
    KINDS.add(kind)
    register(worth, kind, code)
    register(preference, kind, prior or _indifferent)
    register(wants_prior, kind, _yes if prior else _no)


@inlined
def _indifferent(bandit: Any, value: float) -> float:  # noqa: ARG001
    return 0.0


@inlined
def _yes(bandit: Any) -> bool:  # noqa: ARG001
    return True


@inlined
def _no(bandit: Any) -> bool:  # noqa: ARG001
    return False


# Upper confidence bounds


class UCB1(NamedTuple):
    """UCB1; the paper's c is sqrt(2)."""

    c: float = 0.6


@inlined
def _ucb1(bandit: UCB1, arm: Arm) -> float:
    """Mean + c sqrt(ln N / n) (Auer, Cesa-Bianchi & Fischer 2002)."""
    return arm.mean + bandit.c * math.sqrt(log(arm.parent_visits) / arm.visits)


class Tuned(NamedTuple):
    """UCB1-Tuned; the paper has c = 1, c1 = sqrt(2), c2 = 1/4."""

    c: float = 0.6
    c1: float = 1.414
    c2: float = 0.25


@inlined
def spread(bandit: Tuned | Report, variance: float, share: float) -> float:
    """The variance, at most: min(c2, variance + c1 sqrt(ln N / n)); `share` is ln N / n."""
    return min(variance + bandit.c1 * math.sqrt(share), bandit.c2)


@inlined
def _tuned(bandit: Tuned, arm: Arm) -> float:
    """Mean + c sqrt(ln N / n min(c2, variance + c1 sqrt(ln N / n))) (Auer et al. 2002)."""
    share = log(arm.parent_visits) / arm.visits
    return arm.mean + bandit.c * math.sqrt(share * spread(bandit, arm.variance, share))


class Report(NamedTuple):
    """What the course report's program computed."""

    c: float = 0.6
    c1: float = 1.414
    c2: float = 0.25


@inlined
def _report(bandit: Report, arm: Arm) -> float:
    """UCB1-Tuned with the minimum outside the root."""
    share = log(arm.parent_visits) / arm.visits
    return arm.mean + bandit.c * math.sqrt(share) * spread(bandit, arm.variance, share)


class KlUcb(NamedTuple):
    """KL-UCB; the paper's c is 1."""

    c: float = 0.2


@inlined
def _kl_ucb(bandit: KlUcb, arm: Arm) -> float:
    """The largest q with n kl(mean, q) <= c ln N, for Bernoulli's kl (Garivier & Cappé 2011)."""
    p = min(max(arm.mean, 0.0), 1.0)
    return arm.mean - p + _kl_bound(p, bandit.c * log(arm.parent_visits) / arm.visits)


@kernel
def _kl_bound(p: float, far: float) -> float:
    """The q >= p with kl(p, q) = far, by Newton's method.

    kl is convex in q, so that from the right every step stays there. Two bounds are: Pinsker's,
    and what is left of kl without its part -p ln q.
    """
    if far <= 0.0 or p == 1.0:
        return p
    if p == 0.0:
        return 1.0 - exp(-far)
    r = 1.0 - p
    q = min(p + math.sqrt(far / 2.0), 1.0 - r * exp((p * log(p) - far) / r))
    for _ in range(50):
        if not p < q < 1.0:  # by less than the last digit
            break
        step = p * log(p / q) + r * log(r / (1.0 - q)) - far
        step *= q * (1.0 - q) / (q - p)
        if step <= 0.0:  # rounding: it is there
            break
        q -= step
        if step < 1e-12:
            break
    return min(max(q, p), 1.0)


class Puct(NamedTuple):
    """PUCT; priors are in proportion to exp(k * the game's own estimate, from -1 to 1)."""

    c: float = 1.0
    k: float = 2.0


@inlined
def _puct(bandit: Puct, arm: Arm) -> float:
    """Mean + c P sqrt(N) / (1 + n) (Silver et al. 2017)."""
    return arm.mean + bandit.c * arm.prior * math.sqrt(arm.parent_visits) / (1.0 + arm.visits)


@inlined
def _puct_preference(bandit: Puct, value: float) -> float:
    return bandit.k * value


# At random


class Thompson(NamedTuple):
    """Thompson sampling, from a Beta distribution that was flat at first."""


@inlined
def _thompson(bandit: Thompson, arm: Arm) -> float:  # noqa: ARG001
    """A draw from Beta(1 + n mean, 1 + n (1 - mean)) (Chapelle & Li 2011)."""
    if arm.visits == np.inf:
        return arm.mean
    p = min(max(arm.mean, 0.0), 1.0)
    state, wins = gamma(1.0 + arm.visits * p, arm.bits)
    state, losses = gamma(1.0 + arm.visits * (1.0 - p), state)
    return arm.mean - p + wins / (wins + losses)


@kernel
def gamma(shape: float, state: np.uint64) -> tuple[np.uint64, float]:
    """The stream's next state, and a draw from Gamma(shape), 1 or more (Marsaglia & Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        state, one = draw(state)
        state, other = draw(state)
        x = math.sqrt(-2.0 * log(_share(one))) * cos(2.0 * math.pi * _share(other))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        state, bits = draw(state)
        if log(_share(bits)) < 0.5 * x * x + d * (1.0 - v + log(v)):
            return state, d * v


class Softmax(NamedTuple):
    """Each child with a share in proportion to exp(k * mean)."""

    k: float = 20.0


@inlined
def _softmax(bandit: Softmax, arm: Arm) -> float:
    """The largest of k mean + Gumbel's noise, so that no exponential can overflow."""
    return bandit.k * arm.mean + gumbel(arm.bits)


@inlined
def gumbel(bits: np.uint64) -> float:
    """Noise: the largest of a + noise, b + noise, ... is a with a share of exp(a)."""
    return -log(-log(_share(bits)))


@inlined
def _share(bits: np.uint64) -> float:
    """A number between 0 and 1, neither of them."""
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52


register_bandit("ucb1", UCB1, _ucb1)
register_bandit("tuned", Tuned, _tuned)
register_bandit("report", Report, _report)
register_bandit("thompson", Thompson, _thompson)
register_bandit("kl", KlUcb, _kl_ucb)
register_bandit("puct", Puct, _puct, _puct_preference)
register_bandit("softmax", Softmax, _softmax)
