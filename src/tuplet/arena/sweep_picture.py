"""A sweep as a picture: values against a setting, with their intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tuplet.system.pictures import escape_label, new_figure, save_figure, style_axes

_MOST_LINES = 10  # colours that can be told apart
_SIDE = 0.06  # of a category's width, between lines


def draw_sweep(sweep: Any, path: str | Path | None = None) -> Any:  # a `Sweep`: it draws itself
    """Draw a sweep into a figure; saved to `path` if given. Returns the figure.

    The first axis of numbers lies across; the others make lines. Full marks are the best, and what
    cannot be told from it.
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
        axes.set_xticks(range(len(axis.values)), [_cut(value, 24) for value in axis.values])
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
    axes.set_title(_cut(sweep.title), fontsize=10)
    if len(lines) > 1:
        others = ", ".join(each.name for i, each in enumerate(sweep.axes) if i != across)
        axes.legend(frameon=False, fontsize=8, title=others, title_fontsize=8)
    figure.supxlabel(
        "Bars are 95 % intervals. Full marks: the best, and what cannot be told from it.", fontsize=8, color="0.4"
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
    """A line of points, `place` beside the middle where the axis is of words."""
    colour, line, name = look
    axis, times = sweep.axes[across], 100 if sweep.measure == "share" else 1
    marks = []
    for number in points:
        at = axis.values.index(sweep.points[number].values[across])
        where = at + _SIDE * place if axis.numbers is None else axis.numbers[at]
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
    axes.plot([], [], f"{line}o" if axis.numbers else "o", color=colour, label=_cut(name))


def _cut(title: str, most: int = 90) -> str:
    return escape_label(title if len(title) <= most else f"{title[: most - 3]}...")
