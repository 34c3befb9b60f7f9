"""Ratings of many agents at once, from the games between them (Bradley & Terry 1952)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuplet.arena.intervals import effective_games, pair_share
from tuplet.system.intervals import Interval, Z

Array = np.ndarray[Any, Any]

PRIOR = 0.5  # games added to every pairing, half of them won, so that ratings stay finite
_ELO = 400 / math.log(10)  # Elo in a unit of log odds
_LEAP = 2.0  # the longest step of Newton's method, in log odds


@dataclass(frozen=True)
class Rating:
    """In Elo; the mean of all agents is 0."""

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
