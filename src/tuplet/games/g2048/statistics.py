"""Statistics of a block of games, and the print-out of the 2048-Framework."""

from __future__ import annotations

import math
from statistics import variance
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.protocol import Array
from tuplet.system.intervals import Interval, mean_interval, t_quantile

USUAL_DEVIATION = 0.35  # of the mean, of scores: 0.38 for `small`, 0.43 after 5,000 games of TD


class Results(NamedTuple):
    """Score, largest tile and length of each game."""

    scores: Array  # int64[games]
    tiles: Array  # uint8[games]: the exponent of the largest tile
    lengths: Array  # int64[games]: moves


def make_results(games: int) -> Results:
    """Empty results of `games` games."""
    return Results(np.zeros(games, np.int64), np.zeros(games, np.uint8), np.zeros(games, np.int64))


class Summary(NamedTuple):
    """The results of some games. Shares are between 0 and 1, by tile."""

    games: int
    mean_score: float
    max_score: int
    reached: dict[int, float]  # of games that had this tile or a larger one
    ended: dict[int, float]  # of games whose largest tile was this


def summarise(results: Results) -> Summary:
    """Summarise some games."""
    scores, games = results.scores, len(results.scores)
    counts = np.bincount(results.tiles, minlength=1)
    ended = {1 << e: int(n) / games for e, n in enumerate(counts) if n}
    reached = {1 << e: int(counts[e:].sum()) / games for e in range(1, len(counts)) if counts[: e + 1].sum() > 0}
    return Summary(games, float(scores.mean()), int(scores.max()), reached, ended)


def account(results: Results) -> dict[str, Any]:
    """The figures that files keep of some games."""
    summary = summarise(results)
    return {
        "mean_score": summary.mean_score,
        "max_score": summary.max_score,
        "sd_score": float(results.scores.std()),
        "mean_moves": float(results.lengths.mean()),
        "reached": {str(tile): share for tile, share in summary.reached.items()},
        "ended": {str(tile): share for tile, share in summary.ended.items()},
    }


def percent(share: float) -> str:
    """98.9%, 100%: one digit behind the point where it says something."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def printout(games: int, summary: Summary) -> str:
    """The block: games so far, mean and largest score; share that reached (ended with) a tile.

    >>> s = Summary(1000, 2500.25, 7000, {128: 1.0, 256: 0.75}, {128: 0.25, 256: 0.75})
    >>> print(printout(3000, s).expandtabs(8))
    3000    avg = 2500.2    max = 7000
            128     100%    (25%)
            256     75%     (75%)
    """
    lines = [f"{games}\tavg = {summary.mean_score:.1f}\tmax = {summary.max_score}"]
    for tile, share in summary.reached.items():
        ended = summary.ended.get(tile, 0.0)
        if ended:
            lines.append(f"\t{tile}\t{percent(share)}\t({percent(ended)})")
    return "\n".join(lines)


def score_variance(scores: list[float], deviation: float = USUAL_DEVIATION) -> float:
    """The variance of two scores of 2048 or more, as an interval of their mean takes it.

    Scores cluster around tiles, so a few games with equal ends do not prove a small deviation. One more game is
    counted, with the usual deviation of scores (as a share of the mean).
    """
    games, mean = len(scores), math.fsum(scores) / len(scores)
    seen = variance(scores, mean)
    return max(seen, ((games - 1) * seen + (deviation * mean) ** 2) / games)


def score_interval(scores: list[float], deviation: float = USUAL_DEVIATION) -> Interval:
    """The 95 % interval of a mean score of 2048; that of a single game is infinite."""
    if len(scores) < 2:
        return mean_interval(scores)
    games, mean = len(scores), math.fsum(scores) / len(scores)
    half = t_quantile(games - 1) * math.sqrt(score_variance(scores, deviation) / games)
    return (mean - half, mean + half)
