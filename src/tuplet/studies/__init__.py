"""Experiments that can be rerun by name: `tuplet reproduce NAME`.

A study is a module with a function `run` whose arguments are its options, and `watch`, to be told
how far it is, and which returns a `Report`. Its first docstring line says what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

STUDIES = {
    "regret": "learned values approach perfect play on boards that are solved",
}


Watcher = Callable[[int, int, str], object]  # runs done, of how many, and which comes now


class Report(NamedTuple):
    """What a study found: a table and a picture."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    draw: Callable[[Path], object]

    @property
    def words(self) -> set[str]:
        """The columns that hold text."""
        return {
            c for i, c in enumerate(self.columns) if any(isinstance(r[i], str) for r in self.rows)
        }
