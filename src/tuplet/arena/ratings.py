"""Ratings of many agents at once, from the games between them (Bradley & Terry 1952)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuplet.arena.intervals import Interval, Z, as_pairs, effective_games

Array = np.ndarray[Any, Any]

PRIOR = 1.0  # games added to every pairing, half of them won: nobody is infinitely strong
_ELO = 400 / math.log(10)  # Elo in a unit of log odds


@dataclass(frozen=True)
class Rating:
    """In Elo; the mean of all agents is 0."""

    elo: float
    ci95: Interval


def ratings(agents: int, pairings: Mapping[tuple[int, int], tuple[int, ...]]) -> list[Rating]:
    """The most likely strengths, given the pairs of games of each pairing (i, j) seen from i.

    Counts of pairs are five, or three (lost, split, won) of games without draws. A game drawn is
    half a game won and half a game lost.

    Each pairing that was played counts PRIOR games more, half won and half lost, so that an
    agent that won or lost all of its games has a rating, too. Intervals are those of the
    maximum's curvature, with effective games in place of games; they are infinite as long as
    some agents cannot be compared with others through the games played.
    """
    wins = np.zeros((agents, agents))
    weight = np.zeros((agents, agents))  # effective games
    for (i, j), counts in pairings.items():
        lost, half, split, more, won = as_pairs(*counts)
        if any(counts):
            wins[i, j] += 2 * won + 1.5 * more + split + 0.5 * half + PRIOR / 2
            wins[j, i] += 2 * lost + 1.5 * half + split + 0.5 * more + PRIOR / 2
            weight[i, j] += effective_games(*counts)
    weight += weight.T
    strength = _most_likely(wins)
    covariance = np.linalg.pinv(_information(strength, weight))
    deviation = Z * _ELO * np.sqrt(np.maximum(np.diag(covariance), 0))
    deviation[~_connected(weight > 0)] = math.inf
    return [
        Rating(float(e), (float(e - d), float(e + d)))
        for e, d in zip(_ELO * strength, deviation, strict=True)
    ]


def _connected(played: Array) -> Array:
    """Which agents can be compared with everybody: all, or none while some have not met."""
    reached = np.arange(len(played)) == 0
    for _ in played:
        reached = reached | played[reached].any(0)
    return np.full(len(played), reached.all())


def _information(strength: Array, games: Array) -> Array:
    """Fisher's information of the strengths, in log odds."""
    expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    each = games * expected * (1 - expected)
    return np.asarray(np.diag(each.sum(1)) - each)


def _most_likely(wins: Array) -> Array:
    """Newton's method; the likelihood has one maximum, and the prior keeps it finite."""
    games = wins + wins.T
    strength = np.zeros(len(wins))
    for _ in range(100):
        expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        gain = (wins - games * expected).sum(1)
        step = np.linalg.pinv(_information(strength, games)) @ gain
        strength += step / max(1.0, float(np.abs(step).max()))  # far away, no leaps
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(strength - strength.mean())
