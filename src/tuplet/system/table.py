"""Results as rows of plain values: for data frames, spreadsheets and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.system.csv_file import write_csv


class Table(NamedTuple):
    """Rows of plain values: numbers in full, None where there is nothing to say."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


class Tabular:
    """A result that has rows."""

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        raise TypeError(f"{type(self).__name__} has no keys")

    def table(self) -> Table:
        """Its rows: what `--csv` writes, or else the first list that `--json` has."""
        report = self.as_json()
        return table_of(next(filter(_has_rows, report.values()), [report]))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Its rows, a dictionary each: `pandas.DataFrame(result.to_dicts())`."""
        columns, rows = self.table()
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def csv(self, path: str | Path) -> Path:
        """Write its rows to a file, with their names in the first line."""
        return write_csv(path, *self.table())


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Mappings as a table: what one of them lacks is None; mappings and intervals within are
    columns of their own.

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
