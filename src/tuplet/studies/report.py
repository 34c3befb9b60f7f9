"""What a study found: its settings, a table with verdicts, pictures; as text, JSON and a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tuplet.studies.verdicts import SIZE, Cell, Estimate, Row, Unit, judged
from tuplet.system.intervals import Interval
from tuplet.system.pictures import inline_svg
from tuplet.system.tables import Displayable, TextTable


class StudyResult(NamedTuple):
    """What a study's `run` returns."""

    cells: Sequence[Cell]
    settings: Mapping[str, str]  # all of them, by what they are of
    pictures: Mapping[str, Callable[[], Any]]  # figures, by the name of their file
    notes: Sequence[str] = ()
    extra: Mapping[str, Any] = {}  # numbers behind the pictures, for the JSON file


@dataclass(frozen=True, repr=False)
class Report(Displayable):
    """A study's table and pictures."""

    study: str
    about: str  # what it is of, in a few words
    claim: str  # what was published
    command: str  # that makes it
    scale: float
    seed: int
    found: StudyResult

    @cached_property
    def rows(self) -> list[Row]:
        """The cells, judged."""
        return judged(self.found.cells)

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
            "settings": dict(self.found.settings),
            "notes": list(self.found.notes),
            "seen": self.seen,
            **self.found.extra,
        }

    @property
    def columns(self) -> list[str]:
        """What rows are of."""
        return list(dict.fromkeys(name for row in self.rows for name in row.cell.labels))

    @property
    def published(self) -> bool:
        """Whether there is anything to compare with."""
        return any(row.cell.published is not None for row in self.rows)

    @property
    def counted(self) -> bool:
        """Whether to say how many games ours are of: where there are verdicts, and it is known."""
        return self.published and any(row.cell.ours.games is not None for row in self.rows)

    def text_tables(self) -> list[TextTable]:
        """What it was made with, and the table."""
        names, noted = self.columns, any(row.note.strip() for row in self.rows)
        head = [*names, *(["our games"] if self.counted else []), "ours", "95 %"]
        words = [i for i, name in enumerate(names) if self.of_words(name)]
        if self.published:
            words.append(len(head) + 2)
            head += ["published", "95 %", "verdict"]
        if noted:
            words.append(len(head))
            head.append("note")
        rows = []
        for row in self.rows:
            where, ours, theirs, unit, *_ = row.cell
            line = [word(where.get(name, "")) for name in names]
            line += [games(ours)] if self.counted else []
            line += [written(ours.value, unit), interval(ours.ci95, unit)]
            if self.published:
                line += [*_theirs(theirs, unit), row.verdict]
            rows.append(line + ([row.note] if noted else []))
        settings = [[*each] for each in self.found.settings.items()]
        notes = [*filter(None, [self.seen, *self.found.notes, self.scaled])]
        title = f"{self.study}: {self.about}"
        return [
            TextTable("Settings", (), settings, words=(0, 1)),
            TextTable(title, head, rows, notes, words=words, strong=(head.index("ours"),)),
        ]

    def of_words(self, column: str) -> bool:
        """Whether a column has words in it, or numbers."""
        return any(isinstance(row.cell.labels.get(column), str) for row in self.rows)

    @property
    def seen(self) -> str:
        """What the verdicts mean: how large a difference would have been detected."""
        tested = [row for row in self.rows if row.p is not None]
        share = all(row.cell.unit == "share" for row in tested)
        told = []
        found = [row.detectable for row in tested if row.verdict == "agrees" and row.detectable]
        if found:
            ends = [f"{100 * x:.1f}" if share else f"{x:,.2g}" for x in (min(found), max(found))]
            size = " to ".join(dict.fromkeys(ends)) + (" points of a hundred" if share else "")
            size += " (depending on the row)" if len({*ends}) > 1 else ""
            told.append(f"Agrees: no difference was detected; one of {size} would have been, four times in five.")
        if any(row.verdict == "too few games" for row in tested):
            size = f"{100 * SIZE:g} " + ("points of a hundred" if share else "% of the published")
            told.append(f"Too few games: a difference of {size} would often have gone undetected.")
        return " ".join(told)

    @property
    def scaled(self) -> str:
        """What a scale means, where it is not 1."""
        told = f"Scale {self.scale:g}: that share of the games of the study in full."
        return "" if self.scale == 1 else told

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(map(inline_svg, self.found.pictures.values()))

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


def games(ours: Estimate) -> str:
    """How many games a number is of, where that is known."""
    return "" if ours.games is None else f"{ours.games:,}"


def interval(ci95: Interval | None, unit: Unit) -> str:
    """Both ends of an interval, the unit said once."""
    if ci95 is None:
        return "not known"
    low, high = (written(bound, unit) for bound in ci95)
    return f"{low.removesuffix(' %')} to {high}"


def _theirs(published: Estimate | None, unit: Unit) -> list[str]:
    if published is None:
        return ["", ""]
    return [written(published.value, unit), interval(published.ci95, unit)]


def word(value: str | float) -> str:
    """What a row is of, as people read it."""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
