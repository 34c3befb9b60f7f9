"""The report of a study: settings, a table with verdicts, and pictures, as text and JSON (`page.py`: as a page)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tuplet.studies.verdicts import SIZE, Cell, Row, Unit, judge
from tuplet.system.intervals import Interval
from tuplet.system.pictures import escape_label, inline_svg, line_style, new_figure, style_axes
from tuplet.system.tables import Displayable, TextTable


class StudyResult(NamedTuple):
    """What a study's `run` returns."""

    cells: Sequence[Cell]
    settings: Mapping[str, str]
    pictures: Mapping[str, Callable[[], Any]]  # figures, by the name of their file
    notes: Sequence[str] = ()
    extra: Mapping[str, Any] = {}  # numbers behind the pictures, for the JSON file


@dataclass(frozen=True, repr=False)
class Report(Displayable):
    """A study's table and pictures."""

    study: str
    about: str  # in a few words
    claim: str  # what was published
    command: str  # that runs it
    scale: float
    seed: int
    result: StudyResult

    @cached_property
    def rows(self) -> list[Row]:
        """The cells with their verdicts."""
        return judge(self.result.cells)

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "study": self.study,
            "scale": self.scale,
            "seed": self.seed,
            "about": self.about,
            "claim": self.claim,
            "command": self.command,
            "columns": self.columns,
            "rows": [row.as_json() for row in self.rows],
            "settings": dict(self.result.settings),
            "notes": list(self.result.notes),
            "seen": self.seen,
            **self.result.extra,
        }

    @property
    def columns(self) -> list[str]:
        """The names of the labels."""
        return list(dict.fromkeys(name for row in self.rows for name in row.cell.labels))

    @property
    def published(self) -> bool:
        """Whether there is anything to compare with."""
        return any(row.cell.published is not None for row in self.rows)

    @property
    def counted(self) -> bool:
        """Whether the table has a column for our number of games."""
        return self.published and any(row.cell.ours.games is not None for row in self.rows)

    def lines(self) -> tuple[list[str], list[list[str]]]:
        """The table as text: the names of its columns, and its rows."""
        names, noted = self.columns, any(row.note.strip() for row in self.rows)
        head = [*names, *["our games"] * self.counted, "ours", "95 %"]
        head += [*["published", "95 %", "verdict"] * self.published, *["note"] * noted]
        lines = []
        for row in self.rows:
            labels, ours, published, unit, *_ = row.cell
            line = [label_text(labels.get(name, "")) for name in names]
            line += ["" if ours.games is None else f"{ours.games:,}"] * self.counted
            line += [written(ours.value, unit), interval(ours.ci95, unit)]
            if self.published:
                theirs = ("", "")
                if published is not None:
                    theirs = written(published.value, unit), interval(published.ci95, unit)
                line += [*theirs, row.verdict]
            lines.append(line + [row.note] * noted)
        return head, lines

    def text_tables(self) -> list[TextTable]:
        """The settings, and the table."""
        head, lines = self.lines()
        words = [n for n, name in enumerate(head) if name in ("verdict", "note") or self.of_words(name)]
        settings = [[*each] for each in self.result.settings.items()]
        notes = [*filter(None, [self.seen, *self.result.notes, self.scaled])]
        return [
            TextTable("Settings", (), settings, words=(0, 1)),
            TextTable(f"{self.study}: {self.about}", head, lines, notes, words=words, strong=(head.index("ours"),)),
        ]

    def of_words(self, column: str) -> bool:
        """Whether a column holds words, not numbers."""
        return any(isinstance(row.cell.labels.get(column), str) for row in self.rows)

    @property
    def seen(self) -> str:
        """What the verdicts mean: how large a difference would have been detected."""
        tested = [row for row in self.rows if row.p is not None]
        share, sentences = all(row.cell.unit == "share" for row in tested), []
        sizes = [row.detectable for row in tested if row.verdict == "agrees" and row.detectable]
        if sizes:
            ends = [f"{100 * x:.1f}" if share else f"{x:,.2g}" for x in (min(sizes), max(sizes))]
            size = " to ".join(dict.fromkeys(ends)) + (" percentage points" if share else "")
            size += " (depending on the row)" if len({*ends}) > 1 else ""
            sentences.append(
                f"Agrees: no difference was detected; a difference of {size} would have been, four times in five."
            )
        if any(row.verdict == "too few games" for row in tested):
            size = f"{100 * SIZE:g} " + ("percentage points" if share else "% of the published value")
            sentences.append(f"Too few games: a difference of {size} would often have gone undetected.")
        return " ".join(sentences)

    @property
    def scaled(self) -> str:
        """What a scale below 1 means."""
        return "" if self.scale == 1 else f"Scale {self.scale:g}: that share of the games of the full study."

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(map(inline_svg, self.result.pictures.values()))

    def __repr__(self) -> str:
        return f"<Report of {self.study}: {len(self.rows)} rows>"


def written(value: float, unit: Unit) -> str:
    """A number as people read it.

    >>> written(0.793, "share"), written(58973.2, "points"), written(-3.21, "Elo")
    ('79.3 %', '58,973', '-3.2')
    """
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "points":
        return f"{value:,.0f}"
    return f"{value:+,.1f}" if unit == "Elo" else f"{value:,.4f}"


def interval(ci95: Interval | None, unit: Unit) -> str:
    """Both ends of an interval, with the unit once."""
    if ci95 is None:
        return "not known"
    low, high = (written(bound, unit) for bound in ci95)
    return f"{low.removesuffix(' %')} to {high}"


def label_text(value: str | float) -> str:
    """A label of a row as people read it."""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


class Curve(NamedTuple):
    """A line of a picture."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    bars: Any = None  # as `Axes.errorbar` takes them


def draw_curves(
    curves: Sequence[Curve],
    xlabel: str,
    ylabel: str,
    *,
    axes: Any = None,
    log: bool = False,
    marker: str = "o",
    legend: str | None = "lower right",
) -> Any:
    """Draw curves into `axes`, or into those of a new figure; returns the axes."""
    axes = new_figure(7, 4).subplots() if axes is None else axes
    for number, (name, x, y, bars) in enumerate(curves):
        look = {"marker": marker, "markersize": 3.5, "capsize": 2, "linewidth": 1.4, **line_style(number)}
        axes.errorbar(x, y, bars, label=escape_label(name), **look)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        axes.set_xlim(left=0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    if all(y >= 0 for curve in curves for y in curve.y):
        axes.set_ylim(bottom=0)
    if legend is not None:
        axes.legend(frameon=False, fontsize=8.5, loc=legend)
    style_axes(axes)
    return axes
