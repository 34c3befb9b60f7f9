"""Experiments that can be rerun by name: `tuplet reproduce NAME`.

A study is a module with a function `run` whose keyword arguments are its options, and which
returns a `Report`. Its first docstring line says what it shows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

STUDIES = {
    "regret": "learned values approach perfect play on boards that are solved",
}


class Report(NamedTuple):
    """What a study found: a table, and perhaps a picture."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    draw: Callable[[Path], object] | None = None
