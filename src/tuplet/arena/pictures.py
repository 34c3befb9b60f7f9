"""Matches and tournaments as pictures, for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tuplet.arena.intervals import as_pairs, pair_share
from tuplet.system.intervals import Interval
from tuplet.system.pictures import escape_label, new_figure, style_axes

_POINTS = 200  # of a curve, at most
_BRIEF = 40  # characters of a name


def brief(name: str) -> str:
    """A name that leaves room for a picture."""
    return escape_label(name if len(name) <= _BRIEF else f"{name[: _BRIEF - 3]}...")


def draw_shares(scores: Sequence[float], title: str) -> Any:
    """A's share of the points as games, in pairs, are played, and how its interval narrows."""
    figure = new_figure(6, 2.8)
    axes = figure.add_subplot()
    counts, pairs = [0, 0, 0, 0, 0], []
    for first, second in zip(scores[::2], scores[1::2], strict=True):
        counts[round(2 * (first + second))] += 1
        pairs.append(as_pairs(*counts))
    step = max(1, math.ceil(len(pairs) / _POINTS))
    seen = [*pairs[step - 1 : -1 : step], pairs[-1]]
    games = [2 * sum(counts) for counts in seen]
    shares = [pair_share(*counts) for counts in seen]
    middle = [100 * share for share, _ in shares]
    low, high = ([100 * ends[i] for _, ends in shares] for i in (0, 1))
    axes.axhline(50, color="0.6", linewidth=0.8, linestyle=":")
    axes.fill_between(games, low, high, alpha=0.15, linewidth=0)
    axes.plot(games, middle, linewidth=1.3, marker="o" if len(games) == 1 else "")
    axes.set(xlabel="games", ylabel="share of points, %", ylim=(0, 100))
    axes.set_title(title, fontsize=10)
    style_axes(axes)
    return figure


def draw_ratings(names: Sequence[str], elos: Sequence[float], ends: Sequence[Interval]) -> Any:
    """Ratings from best to worst, the best on top, with their intervals."""
    figure = new_figure(6, 0.9 + 0.3 * len(names))
    axes = figure.add_subplot()
    at = range(len(names))
    told = [each for each in zip(at, ends, strict=True) if math.isfinite(each[1][0])]
    axes.hlines(
        [i for i, _ in told], [low for _, (low, _) in told], [high for _, (_, high) in told], linewidth=1.5, alpha=0.7
    )
    axes.plot(elos, at, "o")
    axes.set_yticks(at, names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("Elo, relative to the mean of all, with 95 % intervals")
    style_axes(axes)
    return figure
