"""The result of a sweep: a value with its interval for every point of a grid, and comparisons."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from tuplet.arena.differences import GroupComparison, MeanDifference, compare_to_best
from tuplet.arena.grids import Axis, label
from tuplet.arena.pictures import draw_sweep
from tuplet.system.intervals import Interval, finite_interval
from tuplet.system.pictures import can_draw, inline_svg
from tuplet.system.tables import Displayable, Table, TextTable, percent

Measure = Literal["share", "score"]
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

    kind: str  # "match", "eval" or "train"
    title: str
    axes: tuple[Axis, ...]
    points: list[GridPoint]
    results: list[PointResult]  # fewer than points if it was stopped
    measure: Measure
    difference: Callable[[Sequence[Any], Sequence[Any]], MeanDifference]  # of the samples of two points
    settings: dict[str, Any]  # common to all points, for JSON
    basis: str = ""  # of the comparison, in words
    done: int = 0
    planned: int = 0
    unit: str = "games"
    folder: Path | None = None

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.done < self.planned

    @cached_property
    def verdict(self) -> GroupComparison:
        """Each point against the best of its group."""
        return compare_to_best(
            [each.value for each in self.results],
            [point.group for point in self.points[: len(self.results)]],
            lambda i, j: self.difference(self.results[i].samples, self.results[j].samples),
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
        for number, (point, out) in enumerate(zip(self.points, self.results, strict=False)):
            found = self.verdict.behind[number]
            behind = None
            if found is not None:
                behind = {
                    "difference": found.value,
                    "ci95": finite_interval(found.joint_ci95),
                    "p": found.p_holm,
                    "noise": not found.significant,
                }
            points.append(
                {
                    "settings": dict(zip([axis.name for axis in self.axes], point.values, strict=True)),
                    "spec": point.spec,
                    "games": out.games,
                    self.measure: out.value,
                    "ci95": finite_interval(out.ci95),
                    "best": found is None,
                    "behind": behind,
                    **out.facts,
                }
            )
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
        for number, out in enumerate(self.results):
            found = self.verdict.behind[number]
            behind = ["", ""]
            if found is not None:
                low, high = found.joint_ci95
                behind = [self._shown(0.0 - found.value), self._range((-high, -low))]
            rows.append(
                [*self.points[number].values, self._shown(out.value), self._range(out.ci95), *behind, self.word(number)]
            )
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
        rows = []
        for i, value in enumerate(down.values):
            cells = []
            for j in range(len(across.values)):
                number = i * len(across.values) + j
                sign = {BEST: " *", NOISE: " ~", WORSE: "  "}[self.word(number)]
                cells.append(self._shown(self.results[number].value) + sign)
            rows.append([value, *cells])
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
            value = self._shown(self.results[best].value)
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
        behind = ["difference", "difference_low", "difference_high", "p", "verdict"]
        facts = [name for name in ("opponent", "elo") if name in self.results[0].facts and name not in names]
        own = ["spec", "games", self.measure, "low", "high", *behind, *facts]
        columns = [*names, *(f"measured {name}" if name in names else name for name in own)]
        rows = []
        for number, (point, out) in enumerate(zip(self.points, self.results, strict=False)):
            found = self.verdict.behind[number]
            gaps = [None] * 4 if found is None else [found.value, *finite_interval(found.joint_ci95), found.p_holm]
            rows.append(
                [
                    *point.values,
                    point.spec,
                    out.games,
                    out.value,
                    *finite_interval(out.ci95),
                    *gaps,
                    self.word(number),
                    *(out.facts[name] for name in facts),
                ]
            )
        return Table(columns, rows)

    def _repr_html_(self) -> str:
        """The tables and the picture."""
        return super()._repr_html_() + inline_svg(self.plot)

    def __repr__(self) -> str:
        best = ", ".join(
            f"{self.label(i)} {self._shown(self.results[i].value)}" for i in dict.fromkeys(self.verdict.best)
        )
        ended = ", interrupted" if self.interrupted else ""
        return f"<Sweep {self.title}: best {best}{ended}>"

    def _shown(self, value: float) -> str:
        return percent(value) if self.measure == "share" else f"{value:,.0f}"

    def _range(self, interval: Interval) -> str:
        low, high = interval
        if not math.isfinite(low):
            return ""
        if self.measure == "share":
            return f"{100 * low:.1f} to {100 * high:.1f}"
        return f"{low:,.0f} to {high:,.0f}"


def _listed(names: list[str]) -> str:
    text = "; ".join(names) if any(", " in name for name in names) else ", ".join(names)
    if len(names) <= _MOST_NAMES:
        return text
    sign = "; " if any(", " in name for name in names) else ", "
    return f"{sign.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
