"""Tables as CSV files, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from tuplet.system.files import replacing


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table beside `path` and rename it into place: a header, then a line for each row.

    Nothing (None) is an empty cell; numbers are written in full, without separators; a text that a
    spreadsheet would take for a formula gets an apostrophe, because names are anybody's.
    """
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_cell, columns))
        writer.writerows(map(_cell, row) for row in rows)
        text.detach()
    return path


def _cell(value: object) -> object:
    formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if formula else value
