"""Results as tables of text: what the command line prints and notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from tuplet.system.table import Tabular

Row = Sequence[str]


class Sheet(NamedTuple):
    """A table: cells are texts, numbers already written out."""

    title: str = ""
    columns: Sequence[str] = ()  # their names; none: no header
    rows: Sequence[Row] = ()
    notes: Sequence[str] = ()  # lines below it
    marked: int = -1  # the row to look at
    words: Sequence[int] = (0,)  # the columns of words; the others, of numbers, end alike
    strong: Sequence[int] = ()  # the columns that matter most


class Shown(Tabular):
    """A result that shows itself: `sheets` says what there is to see."""

    def sheets(self) -> list[Sheet]:
        """The result as tables."""
        raise TypeError(f"{type(self).__name__} has no tables")

    def __str__(self) -> str:
        """The tables, for `print`."""
        return "\n".join(map(as_text, self.sheets()))

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        return "".join(map(as_html, self.sheets()))


def as_text(sheet: Sheet) -> str:
    """A table for a terminal.

    >>> print(as_text(Sheet("Scores", ("player", "mean"), [["small", "9"], ["strong", "10"]])))
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


def as_html(sheet: Sheet) -> str:
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
        return escape(text).replace("  ", " &ensp;")  # what stands apart stays apart

    html = f"<p><b>{line(sheet.title)}</b></p>" if sheet.title else ""
    head = f"<thead>{cells(sheet.columns, 'th')}</thead>" if sheet.columns else ""
    body = "".join(cells(row, "td", i == sheet.marked) for i, row in enumerate(sheet.rows))
    if sheet.rows:
        html += f"<table>{head}<tbody>{body}</tbody></table>"
    return html + "".join(f"<p>{line(note)}</p>" for note in sheet.notes)


def counted(number: int, thing: str) -> str:
    """1 game, 2 games."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """82.1 %."""
    return f"{100 * share:.1f} %"


def clock(seconds: float) -> str:
    """1:05 or 2:00:09."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
