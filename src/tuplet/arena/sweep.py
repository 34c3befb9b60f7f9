"""The result of a sweep: a value with its interval for every point of a grid, and comparisons."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from tuplet.arena.differences import (
    Difference,
    GroupComparison,
    compare_runs,
    compare_to_best,
    paired_scores,
    paired_shares,
)
from tuplet.arena.grids import Axis, label
from tuplet.arena.pictures import draw_sweep
from tuplet.system.intervals import Interval, finite_interval
from tuplet.system.pictures import can_draw, inline_svg
from tuplet.system.tables import Displayable, Table, TextTable, percent

BEST, NOISE, WORSE = "best", "not significant", "worse"
_MOST_NAMES = 6  # points that are named in a line


class GridPoint(NamedTuple):
    """A point of the grid: its values on the axes, and what they name in full."""

    values: tuple[str, ...]
    spec: str
    group: str = ""  # points are compared with those of their group


@dataclass(frozen=True)
class PointResult:
    """The measurement of a point."""

    value: float
    ci95: Interval
    games: int
    samples: Sequence[Any]  # that are compared
    facts: dict[str, Any] = field(default_factory=dict)  # further keys for JSON


@dataclass(frozen=True, repr=False)
class Sweep(Displayable):
    """A grid of settings, measured and compared."""

    kind: Literal["match", "eval", "train"]
    title: str
    axes: tuple[Axis, ...]
    points: list[GridPoint]
    results: list[PointResult]  # fewer than points if it was stopped
    settings: dict[str, Any]  # common to all points, for JSON
    basis: str  # of the comparison, in words
    planned: int  # games in all, or runs
    folder: Path | None = None

    @property
    def measure(self) -> str:
        """What is measured: a share of points, or a mean score."""
        return "share" if self.kind == "match" else "score"

    @property
    def unit(self) -> str:
        """What is counted."""
        return "runs" if self.kind == "train" else "games"

    @property
    def done(self) -> int:
        """Number of games, or runs, so far."""
        return sum(len(each.samples) if self.kind == "train" else each.games for each in self.results)

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.done < self.planned

    @cached_property
    def verdict(self) -> GroupComparison:
        """Each point against the best of its group."""
        difference: Any = {"match": paired_shares, "eval": paired_scores, "train": compare_runs}[self.kind]
        return compare_to_best(
            [each.value for each in self.results],
            [point.group for point in self.points[: len(self.results)]],
            lambda i, j: difference(self.results[i].samples, self.results[j].samples),
        )

    @property
    def best(self) -> list[str]:
        """The settings with the largest value; one for each opponent if these vary."""
        return [self.points[i].spec for i in dict.fromkeys(self.verdict.best)]

    def label(self, number: int) -> str:
        """A point by what makes it differ from the others: c=0.6, sims=100."""
        return label(self.axes, self.points[number].values)

    def word(self, number: int) -> str:
        """Best, worse than the best, or not significantly different from it."""
        behind = self.verdict.behind[number]
        return BEST if behind is None else WORSE if behind.significant else NOISE

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        points = []
        for point, result, behind in zip(self.points, self.results, self.verdict.behind, strict=False):
            point_json = {
                "settings": dict(zip([axis.name for axis in self.axes], point.values, strict=True)),
                "spec": point.spec,
                "games": result.games,
                self.measure: result.value,
                "ci95": finite_interval(result.ci95),
                "best": behind is None,
                "behind": behind and _difference_json(behind),
                **result.facts,
            }
            points.append(point_json)
        return {
            "kind": self.kind,
            **self.settings,
            "measure": self.measure,
            "axes": {axis.name: list(axis.values) for axis in self.axes},
            "points": points,
            "comparisons": self.verdict.comparisons,
            "interrupted": self.interrupted,
            "folder": None if self.folder is None else str(self.folder),
        }

    def text_tables(self) -> list[TextTable]:
        """A row for each point, two axes as a matrix, and the comparison in words."""
        rows = []
        for number, (result, behind) in enumerate(zip(self.results, self.verdict.behind, strict=True)):
            row = [*self.points[number].values, self._text(result.value), self._range(result.ci95)]
            row += ["", ""] if behind is None else [self._text(0.0 - behind.value), self._range((-behind).joint_ci95)]
            rows.append([*row, self.word(number)])
        names = [axis.name for axis in self.axes]
        columns = [*names, self.measure, "95 %", "behind", "95 %, corrected", ""]
        count, last = len(names), len(names) + 4
        words = [*(i for i in range(count) if self.axes[i].numbers is None), last]
        table = TextTable(self.title, columns, rows, [] if self._matrix else self.words(), words=words, strong=(count,))
        return [table, *self._matrix]

    @property
    def _matrix(self) -> list[TextTable]:
        """A table of two axes; empty if there are more axes, or points missing."""
        if len(self.axes) != 2 or len(self.results) < len(self.points):
            return []
        down, across = self.axes
        signs = {BEST: " *", NOISE: " ~", WORSE: "  "}
        cells = [self._text(each.value) + signs[self.word(number)] for number, each in enumerate(self.results)]
        width = len(across.values)
        rows = [[value, *cells[i * width : (i + 1) * width]] for i, value in enumerate(down.values)]
        note = "* best; ~ not significantly different from it."
        title = f"{self.measure}, by {down.name} (down) and {across.name} (across)"
        columns = [down.name, *(f"{value}  " for value in across.values)]
        words = (0,) if down.numbers is None else ()
        return [TextTable(title, columns, rows, [note, *self.words()], words=words)]

    def words(self) -> list[str]:
        """The comparison in words."""
        lines: list[str] = []
        share = self.measure == "share"
        for group in dict.fromkeys(point.group for point in self.points[: len(self.results)]):
            inside = [i for i in range(len(self.results)) if self.points[i].group == group]
            best = self.verdict.best[inside[0]]
            value = self._text(self.results[best].value)
            line = f"{f'Against {group}, best' if group else 'Best'}: {self.label(best)} ({value})."
            if noise := [self.label(i) for i in inside if self.word(i) == NOISE]:
                line += f" Not significantly different from it: {_listed(noise)}."
            if worse := [self.label(i) for i in inside if self.word(i) == WORSE]:
                line += f" Worse: {_listed(worse)}."
            lines.append(line)
        gaps = [(each.joint_ci95[1] - each.joint_ci95[0]) / 2 for each in self.verdict.behind if each]
        if self.basis:
            lines.append(self.basis)
        if gaps and all(map(math.isfinite, gaps)):
            least = median(gaps)
            size = f"{100 * least:.1f} percentage points" if share else f"{least:,.0f} points"
            line = f"Differences smaller than about {size} are not significant here."
            if (many := self.verdict.comparisons) > 1:
                line += f" Corrected for {many:,} comparisons (Holm)."
            lines.append(line)
        return lines

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw it with intervals; saved to `path` if given. Returns the figure."""
        return draw_sweep(self, path)

    def save(self) -> None:
        """Write the table and the picture into the folder, if there is one."""
        if self.folder is None:
            return
        try:
            self.csv(self.folder / "sweep.csv")
            for kind in ("svg", "png") if can_draw() else ():
                self.plot(self.folder / f"sweep.{kind}")
        except OSError as error:  # the tables are shown anyway
            warnings.warn(f"the sweep's table or picture was not written: {error}", stacklevel=3)

    def table(self) -> Table:
        """A row for each point.

        A measured column with the name of a setting has "measured" before it.
        """
        names = [axis.name for axis in self.axes]
        facts = [name for name in ("opponent", "elo") if name in self.results[0].facts and name not in names]
        gap = ("difference", "difference_low", "difference_high", "p", "verdict")
        own = ["spec", "games", self.measure, "low", "high", *gap, *facts]
        columns = [*names, *(f"measured {name}" if name in names else name for name in own)]
        rows = []
        for number, (point, result) in enumerate(zip(self.points, self.results, strict=False)):
            behind = self.verdict.behind[number]
            row = [*point.values, point.spec, result.games, result.value, *finite_interval(result.ci95)]
            row += [None] * 4 if behind is None else [behind.value, *finite_interval(behind.joint_ci95), behind.p_holm]
            rows.append([*row, self.word(number), *(result.facts[name] for name in facts)])
        return Table(columns, rows)

    def _repr_html_(self) -> str:
        """The tables and the picture."""
        return super()._repr_html_() + inline_svg(self.plot)

    def __repr__(self) -> str:
        best = ", ".join(
            f"{self.label(i)} {self._text(self.results[i].value)}" for i in dict.fromkeys(self.verdict.best)
        )
        ended = ", interrupted" if self.interrupted else ""
        return f"<Sweep {self.title}: best {best}{ended}>"

    def _text(self, value: float) -> str:
        return percent(value) if self.measure == "share" else f"{value:,.0f}"

    def _range(self, interval: Interval) -> str:
        low, high = interval
        if not math.isfinite(low):
            return ""
        if self.measure == "share":
            return f"{100 * low:.1f} to {100 * high:.1f}"
        return f"{low:,.0f} to {high:,.0f}"


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "difference": difference.value,
        "ci95": finite_interval(difference.joint_ci95),
        "p": difference.p_holm,
        "noise": not difference.significant,
    }


def _listed(names: list[str]) -> str:
    separator = "; " if any(", " in name for name in names) else ", "
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return separator.join(names[:_MOST_NAMES]) + more
