"""Results as tables: rows of plain values for programs and spreadsheets, tables of text for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.system.files import atomic_write

Row = Sequence[str]


class Table(NamedTuple):
    """Rows of plain values: numbers in full, None for missing values."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


class Tabular:
    """A result with rows."""

    def as_json(self) -> dict[str, Any]:
        """The result as JSON: keys that other tools read."""
        raise TypeError(f"{type(self).__name__} has no as_json")

    def table(self) -> Table:
        """Its rows, as `--csv` writes them; by default the first list of `as_json`."""
        report = self.as_json()
        return table_of(next(filter(_has_rows, report.values()), [report]))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Its rows as dictionaries: `pandas.DataFrame(result.to_dicts())`."""
        columns, rows = self.table()
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def csv(self, path: str | Path) -> Path:
        """Write its rows to a file, with a header."""
        return write_csv(path, *self.table())


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Mappings as a table: missing values are None; nested mappings and intervals become columns.

    >>> table = table_of([{"a": {"b": 1}, "ci95": [0, 2]}, {"c": 3}])
    >>> table.columns, table.rows
    (['a_b', 'ci95_low', 'ci95_high', 'c'], [[1, 0, 2, None], [None, None, None, 3]])
    """
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    return Table(columns, [[row.get(name) for name in columns] for row in flat])


def _has_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(x, dict) for x in value)


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{name}_")
        elif "ci95" in name:
            flat[f"{name}_low"], flat[f"{name}_high"] = value or (None, None)
        else:
            flat[name] = value
    return flat


class TextTable(NamedTuple):
    """A table of texts; numbers are already formatted."""

    title: str = ""
    columns: Sequence[str] = ()  # names; empty: no header
    rows: Sequence[Row] = ()
    notes: Sequence[str] = ()  # lines below it
    marked: int = -1  # the row to highlight
    words: Sequence[int] = (0,)  # columns of words, left-aligned; the others are right-aligned
    strong: Sequence[int] = ()  # columns in bold


class Displayable(Tabular):
    """A result that displays itself: `text_tables` says how."""

    def text_tables(self) -> list[TextTable]:
        """The result as tables."""
        raise TypeError(f"{type(self).__name__} has no tables")

    def __str__(self) -> str:
        """The tables, for `print`."""
        return "\n".join(map(as_text, self.text_tables()))

    def _repr_html_(self) -> str:
        """The tables, for notebooks."""
        return "".join(map(as_html, self.text_tables()))


def as_text(sheet: TextTable) -> str:
    """A table for a terminal.

    >>> print(as_text(TextTable("Scores", ("player", "mean"), [["small", "9"], ["strong", "10"]])))
    Scores
    player  mean
    small      9
    strong    10
    """
    rows = [*([sheet.columns] if sheet.columns and sheet.rows else []), *sheet.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in sheet.words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*([sheet.title] if sheet.title else []), *lines, *sheet.notes])


def as_html(sheet: TextTable) -> str:
    """A table for a notebook or a page."""

    def cells(row: Row, mark: str, bold: bool = False) -> str:
        parts = []
        for i, text in enumerate(row):
            side = "left" if i in sheet.words else "right"
            inner = escape(text)
            inner = f"<b>{inner}</b>" if bold or i in sheet.strong else inner
            parts.append(f'<{mark} style="text-align:{side}">{inner}</{mark}>')
        return f"<tr>{''.join(parts)}</tr>"

    def line(text: str) -> str:
        return escape(text).replace("  ", " &ensp;")  # keep wide spaces

    html = f"<p><b>{line(sheet.title)}</b></p>" if sheet.title else ""
    head = f"<thead>{cells(sheet.columns, 'th')}</thead>" if sheet.columns else ""
    body = "".join(cells(row, "td", i == sheet.marked) for i, row in enumerate(sheet.rows))
    if sheet.rows:
        html += f"<table>{head}<tbody>{body}</tbody></table>"
    return html + "".join(f"<p>{line(note)}</p>" for note in sheet.notes)


def plural(number: int, thing: str) -> str:
    """1 game, 2 games."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """82.1 %."""
    return f"{100 * share:.1f} %"


def format_duration(seconds: float) -> str:
    """1:05 or 2:00:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file atomically: a header, then a line for each row.

    None is an empty cell; numbers are written in full, without separators; a text that a spreadsheet would take for a
    formula gets an apostrophe, because names may come from others.
    """
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_cell, columns))
        writer.writerows(map(_cell, row) for row in rows)
        text.detach()
    return path


def _cell(value: object) -> object:
    formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if formula else value
