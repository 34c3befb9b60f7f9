"""Pictures of matches, tournaments and sweeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tuplet.arena.statistics import PairCounts, pair_share
from tuplet.system.intervals import Interval
from tuplet.system.pictures import escape_label, new_figure, save_figure, style_axes

_MOST_POINTS = 200  # of a curve
_MOST_LINES = 10  # with different colours
_LINE_GAP = 0.06  # between lines, of a category's width


def shorten(name: str, most: int = 40) -> str:
    """A name that leaves room for a picture."""
    return escape_label(name if len(name) <= most else f"{name[: most - 3]}...")


def draw_shares(pair_points: Sequence[float], title: str) -> Any:
    """A's share of the points as pairs are played, and how its interval narrows."""
    figure = new_figure(6, 2.8)
    axes = figure.add_subplot()
    counts, curve = [0, 0, 0, 0, 0], list[PairCounts]()
    for points in pair_points:
        counts[round(2 * points)] += 1
        curve.append((counts[0], counts[1], counts[2], counts[3], counts[4]))
    step = max(1, math.ceil(len(curve) / _MOST_POINTS))
    drawn = [*curve[step - 1 : -1 : step], curve[-1]]
    games = [2 * sum(counts) for counts in drawn]
    shares = [pair_share(*counts) for counts in drawn]
    low, high = ([100 * ends[i] for _, ends in shares] for i in (0, 1))
    axes.axhline(50, color="0.6", linewidth=0.8, linestyle=":")
    axes.fill_between(games, low, high, alpha=0.15, linewidth=0)
    axes.plot(games, [100 * share for share, _ in shares], linewidth=1.3, marker="o" if len(games) == 1 else "")
    axes.set(xlabel="games", ylabel="share of points, %", ylim=(0, 100))
    axes.set_title(title, fontsize=10)
    style_axes(axes)
    return figure


def draw_ratings(rows: Sequence[tuple[str, float, Interval]]) -> Any:
    """Ratings (name, Elo, interval) from best to worst, the best on top."""
    figure = new_figure(6, 0.9 + 0.3 * len(rows))
    axes = figure.add_subplot()
    bars = [(y, *ends) for y, (_, _, ends) in enumerate(rows) if math.isfinite(ends[0])]
    axes.hlines(*([bar[i] for bar in bars] for i in range(3)), linewidth=1.5, alpha=0.7)
    axes.plot([elo for _, elo, _ in rows], range(len(rows)), "o")
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("Elo, relative to the mean of all, with 95 % intervals")
    style_axes(axes)
    return figure


def draw_sweep(sweep: Any, path: str | Path | None = None) -> Any:  # a `Sweep`: it draws itself
    """Draw a sweep into a figure; saved to `path` if given. Returns the figure.

    The first axis of numbers is horizontal; the others make lines. Filled marks are the best point, and those
    that do not differ from it significantly.
    """
    figure = new_figure(7.5, 4.4)
    from matplotlib.ticker import FuncFormatter

    axes = figure.add_subplot()
    across = next((i for i, each in enumerate(sweep.axes) if each.numbers), 0)
    axis = sweep.axes[across]
    lines = _lines(sweep, across)
    percent = 100 if sweep.measure == "share" else 1
    for number, (name, points) in enumerate(lines.items()):
        colour = f"C{number % _MOST_LINES}"
        line = "-" if number < _MOST_LINES else "--"
        _draw_line(sweep, axes, across, points, (colour, line, name), number - (len(lines) - 1) / 2)
    if axis.numbers is None:
        axes.set_xticks(range(len(axis.values)), [shorten(value, 24) for value in axis.values])
        axes.set_xlim(-0.5, len(axis.values) - 0.5)
    elif axis.logarithmic:
        axes.set_xscale("log")
        axes.set_xticks(axis.numbers, axis.values)
        axes.minorticks_off()
    elif len(axis.values) <= 12:
        axes.set_xticks(axis.numbers, axis.values)
    axes.set_xlabel(axis.name)
    if sweep.measure == "share":
        axes.set_ylabel("share of points, %")
        low, high = axes.get_ylim()
        if low < percent / 2 < high:
            axes.axhline(percent / 2, color="0.6", linewidth=0.8, linestyle=":")
    else:
        axes.set_ylabel("mean score")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda score, _: f"{score:,.0f}"))
    style_axes(axes)
    axes.set_title(shorten(sweep.title, 90), fontsize=10)
    if len(lines) > 1:
        others = ", ".join(each.name for i, each in enumerate(sweep.axes) if i != across)
        axes.legend(frameon=False, fontsize=8, title=others, title_fontsize=8)
    figure.supxlabel(
        "Bars are 95 % intervals. Filled marks: the best, and points not significantly different from it.",
        fontsize=8,
        color="0.4",
    )
    if path is not None:
        save_figure(figure, path)
    return figure


def _lines(sweep: Any, across: int) -> dict[str, list[int]]:
    """The points by their values on the other axes."""
    lines: dict[str, list[int]] = {}
    for number in range(len(sweep.results)):
        values = sweep.points[number].values
        name = ", ".join(value for i, value in enumerate(values) if i != across)
        lines.setdefault(name, []).append(number)
    return lines


def _draw_line(sweep: Any, axes: Any, across: int, points: list[int], look: tuple[str, str, str], place: float) -> None:
    """A line of points; on an axis of words it is shifted by `place` gaps."""
    colour, line, name = look
    axis, times = sweep.axes[across], 100 if sweep.measure == "share" else 1
    marks = []
    for number in points:
        at = axis.values.index(sweep.points[number].values[across])
        where = at + _LINE_GAP * place if axis.numbers is None else axis.numbers[at]
        out = sweep.results[number]
        low, high = out.ci95 if math.isfinite(out.ci95[0]) else (out.value, out.value)
        marks.append((where, times * out.value, times * low, times * high, sweep.word(number)))
    marks.sort()
    x, values, lows, highs, words = map(list, zip(*marks, strict=True))
    if axis.numbers is not None:
        axes.plot(x, values, line, color=colour, linewidth=1.3)
        axes.fill_between(x, lows, highs, color=colour, alpha=0.13, linewidth=0)
    axes.vlines(x, lows, highs, color=colour, linewidth=1, alpha=0.8)
    axes.plot(x, values, "o", color=colour, markerfacecolor="white")
    full = [i for i, word in enumerate(words) if word != "worse"]
    axes.plot([x[i] for i in full], [values[i] for i in full], "o", color=colour)
    axes.plot([], [], f"{line}o" if axis.numbers else "o", color=colour, label=shorten(name, 90))
