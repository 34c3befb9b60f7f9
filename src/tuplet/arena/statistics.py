"""Statistics of games in pairs: intervals, Elo, ratings of many agents, and the sequential test.

How often each interval contains the truth is measured: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from tuplet.errors import UserError
from tuplet.system.intervals import Interval, Z, share_interval

Array = np.ndarray[Any, Any]

# A sequential test ends a match at a moment when its share is far out: there 1.96 holds the truth
# in 86 to 97 % of matches, and this, which is 99 % elsewhere, in 96 %. docs/statistics.md.
Z_AFTER_TEST = NormalDist().inv_cdf(0.995)

# How many pairs of games gave 0, ½, 1, 1½ and 2 points; a game drawn is half a point.
PairCounts = tuple[int, int, int, int, int]


def as_pairs(*counts: int) -> PairCounts:
    """All five counts of pairs; three are of games without draws: pairs lost, split, and won."""
    if len(counts) == 3:
        lost, split, won = counts
        return lost, 0, split, 0, won
    none, half, one, more, both = counts
    return none, half, one, more, both


def effective_games(*counts: int) -> float:
    """How many independent games without draws tell as much as these pairs of games.

    The two games of a pair share their start and dice, so that pairs are the independent unit:
    the answer is the number of pairs where both games always end alike, twice that where they
    have nothing to do with each other, and more where the start decides and pairs are split, or
    where games are drawn.

    The variance of pairs is taken with Z²/2 more pairs won and as many lost (the counts Agresti
    & Coull 1998 add to a share): a few pairs that happen to agree prove no small variance. Nor do
    a few draws: pairs won and lost may be rare and yet decide, so that they are added there, too.
    """
    lost, half, split, more, won = as_pairs(*counts)
    added = Z * Z / 2
    lost_, won_ = lost + added, won + added
    total = lost_ + half + split + more + won_
    share = (won_ + 0.75 * more + split / 2 + 0.25 * half) / total
    variance = (
        lost_ * share**2
        + half * (0.25 - share) ** 2
        + split * (0.5 - share) ** 2
        + more * (0.75 - share) ** 2
        + won_ * (1 - share) ** 2
    ) / total
    return (lost + half + split + more + won) * share * (1 - share) / variance


def pair_share(*counts: int, z: float = Z) -> tuple[float, Interval]:
    """The share of points in pairs of games, and its interval: that of effective games.

    >>> share, (low, high) = pair_share(10, 20, 20)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.6, 0.491, 0.7)
    """
    lost, half, split, more, won = as_pairs(*counts)
    share = (won + 0.75 * more + split / 2 + 0.25 * half) / (lost + half + split + more + won)
    games = effective_games(*counts)
    return share, share_interval(share * games, games, z)


def elo(share: float) -> float:
    """The difference in Elo at which this is the share of points; infinite at 0 and 1.

    >>> round(elo(0.75), 1)
    190.8
    """
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5)
    return -400 * math.log10(1 / share - 1)


def share_at(elo: float) -> float:
    """The share of points at a difference in Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


PRIOR = 0.5  # games added to every pairing, half of them won, so that ratings stay finite
_ELO = 400 / math.log(10)  # Elo in a unit of log odds
_LEAP = 2.0  # the longest step of Newton's method, in log odds


@dataclass(frozen=True)
class Rating:
    """A strength in Elo (Bradley & Terry 1952); the mean of all agents is 0."""

    elo: float
    ci95: Interval


def ratings(agents: int, pairings: Mapping[tuple[int, int], tuple[int, ...]]) -> list[Rating]:
    """The most likely strengths, given the pairs of games of each pairing (i, j) seen from i.

    Counts of pairs are five, or three (lost, split, won) of games without draws. A game drawn is
    half a game won and half a game lost; a pairing counts as many games as its pairs are worth
    (`effective_games`).

    Each pairing that was played counts PRIOR games more, half won and half lost, so that an
    agent that won or lost all of its games has a rating, too. Intervals hold the strengths that
    the likelihood does not speak against: profile likelihood with that prior (Heinze & Schemper
    2002). They reach further towards where games tell little, above an agent that won nearly all.
    They are infinite as long as some agents cannot be compared with others through the games
    played.
    """
    wins = np.zeros((agents, agents))
    for (i, j), counts in pairings.items():
        if any(counts):
            share, games = pair_share(*counts)[0], effective_games(*counts)
            wins[i, j] += share * games + PRIOR / 2
            wins[j, i] += (1 - share) * games + PRIOR / 2
    strength = _most_likely(wins)
    if not _connected(wins > 0):
        return [Rating(float(_ELO * each), (-math.inf, math.inf)) for each in strength]
    return [
        Rating(float(_ELO * each), (_ELO * _bound(wins, strength, i, -1), _ELO * _bound(wins, strength, i, 1)))
        for i, each in enumerate(strength)
    ]


def _connected(played: Array) -> bool:
    """Whether all agents can be compared through the games played."""
    reached = np.arange(len(played)) == 0
    for _ in played:
        reached = reached | played[reached].any(0)
    return bool(reached.all())


def _look(strength: Array, wins: Array) -> tuple[float, Array, Array]:
    """The log likelihood of strengths in log odds, its gradient, and Fisher's information."""
    apart = strength[:, None] - strength[None, :]
    expected = 1 / (1 + np.exp(-apart))
    games = wins + wins.T
    likely = -float((wins * np.logaddexp(0, -apart)).sum())
    each = games * expected * (1 - expected)
    return likely, (wins - games * expected).sum(1), np.diag(each.sum(1)) - each


def _most_likely(wins: Array) -> Array:
    """Newton's method; the likelihood has one maximum, and the prior keeps it finite."""
    strength = np.zeros(len(wins))
    for _ in range(100):
        _, gain, information = _look(strength, wins)
        step = np.linalg.pinv(information) @ gain
        strength += step / max(1.0, float(np.abs(step).max()))  # far away, no leaps
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(strength - strength.mean())


def _bound(wins: Array, best: Array, agent: int, side: int) -> float:
    """How far an agent's strength can be moved before all strengths become unlikely.

    However the others are moved to make up for it. Newton's method after Venzon & Moolgavkar
    (1988): on the way the gradient is in the agent's own direction, and each step goes to where
    a parabola has fallen far enough.
    """
    least = _look(best, wins)[0] - Z * Z / 2
    direction = -np.full(len(best), 1 / len(best))  # of its strength, relative to the mean
    direction[agent] += 1
    strength = best.copy()
    for _ in range(100):
        likely, gain, information = _look(strength, wins)
        inverse = np.linalg.inv(information + 1 / len(best))  # the mean stays what it is
        over = float(gain @ inverse @ gain) + 2 * (likely - least)
        pull = side * math.sqrt(max(over, 0.0) / float(direction @ inverse @ direction))
        step = inverse @ (gain + pull * direction)
        strength = strength + step / max(1.0, float(np.abs(step).max()) / _LEAP)
        if np.abs(step).max() < 1e-9:
            break
    return float(strength[agent] - strength.mean())


Decision = Literal["H0", "H1"]

_POINTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # shares of a pair's points
# Wald's bounds are for hypotheses that are known in full. Here the distribution of pair results
# is estimated: with his bounds, up to 5.7 % of 10,000 simulated matches were decided wrongly
# (at 200 against 300 Elo); with this margin, up to 4.5 %, for some 8 % more games.
_MARGIN = 0.25
ERROR = 0.05  # how often the test may accept the wrong hypothesis, whichever is true
# Instead of a count of 0 of pairs lost, split, or won: what was not seen yet is not impossible.
# Between them, 0 stays 0: a game may have no draws, and any mean can be had without.
_RARELY = np.array([1e-3, 0, 1e-3, 0, 1e-3])


@dataclass(frozen=True)
class Sprt:
    """The sequential probability ratio test: is A's true difference in Elo `elo0` (H0) or `elo1` (H1)?

    After each pair the generalised likelihood ratio compares the most likely distribution of pair results (0, ½, 1,
    1½ or 2 points) whose mean is the share at elo1 with the one whose mean is the share at elo0, as Stockfish's
    fishtest does. Pairs are the unit: their two games are not independent. With either hypothesis true, the test
    errs at most once in twenty.
    """

    elo0: float
    elo1: float

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise UserError(
                f"sprt must be elo0,elo1 with elo0 < elo1, both within 1000 Elo (got {self.elo0:g},{self.elo1:g})"
            )

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """Read `0,20`."""
        try:
            elo0, elo1 = (float(word) for word in text.split(","))
        except ValueError:
            raise UserError(f"sprt must be elo0,elo1 such as 0,20 (got {text!r})") from None
        return cls(elo0, elo1)

    @property
    def bounds(self) -> tuple[float, float]:
        """The test ends when the log likelihood ratio is outside of these."""
        bound = math.log((1 - ERROR) / ERROR) + _MARGIN
        return -bound, bound

    def llr(self, *counts: int) -> float:
        """The log likelihood ratio after these counts of pairs: lost, split, won, or all five."""
        return float(self.llrs(np.array(as_pairs(*counts))))

    def llrs(self, counts: Array) -> Array:
        """The same of many matches at once: counts are (..., 3) or (..., 5)."""
        if counts.shape[-1] == 3:
            counts = np.insert(counts, [1, 2], 0, axis=-1)
        counts = np.maximum(counts, _RARELY)
        shares = counts / counts.sum(-1, keepdims=True)
        return np.asarray((counts * (_tilt(shares, share_at(self.elo0)) - _tilt(shares, share_at(self.elo1)))).sum(-1))

    def decide(self, llr: float) -> Decision | None:
        """Which hypothesis is accepted; None while it is open."""
        low, high = self.bounds
        return "H0" if llr <= low else "H1" if llr >= high else None


def _tilt(shares: Array, mean: float) -> Array:
    """log(p / q) of the observed shares p and the most likely shares q with a given mean.

    q = p / (1 + t d) with d = points - mean, where t makes the mean right, and leaves all of q
    positive. Without draws it has a closed form.
    """
    away = _POINTS - mean
    # A pair between two of lost, split, won is half of each here: that leaves the mean.
    three = shares[..., ::2].copy()
    three[..., :2] += shares[..., 1:2] / 2
    three[..., 1:] += shares[..., 3:4] / 2
    t = _of_three(three, away[::2].copy())
    drawn = (shares[..., 1] > 0) | (shares[..., 3] > 0)
    if drawn.any():
        t[drawn] = _of_five(shares[drawn], away, t[drawn])
    return np.asarray(np.log1p(t[..., None] * away))


def _of_three(shares: Array, away: Array) -> Array:
    """The t of pairs lost, split, won: a root of a quadratic equation."""
    cubic, middle = away.prod(), away.sum()
    offset = shares @ away
    linear = middle * offset - shares @ away**2
    root = np.sqrt(np.maximum(linear**2 - 4 * cubic * offset, 0))
    both = -(linear + np.where(linear < 0, -root, root)) / 2
    near = offset / both
    with np.errstate(divide="ignore"):
        far = both / cubic
    inside = (near > -1 / away[-1]) & (near < -1 / away[0])
    return np.asarray(np.where(inside, near, far))


def _of_five(shares: Array, away: Array, t: Array) -> Array:
    """The t of all five, from a guess: the root of sum(p d / (1 + t d)), which falls with t.

    Newton's method, on that sum times its poles, (1 + t d) of the first and the last, between
    bounds that close in; a step that would leave them goes to their middle.
    """
    low, high = np.full_like(t, -1 / away[-1]), np.full_like(t, -1 / away[0])
    for _ in range(100):
        t = np.where((t > low) & (t < high), t, (low + high) / 2)
        parts = away / (1 + t[:, None] * away)
        excess = (shares * parts).sum(-1)
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        slope = (shares * parts**2).sum(-1) - excess * (parts[:, 0] + parts[:, -1])
        with np.errstate(divide="ignore"):
            step = excess / slope
        t = t + step
        if (np.abs(step) < 1e-13 * (1 + np.abs(t))).all():
            break
    return t
