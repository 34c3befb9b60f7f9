"""What a study found: a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.system.pictures import as_svg, save_figure
from tuplet.system.sheet import Sheet, Shown


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """Rows of numbers and words, and how to draw them."""

    study: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    figure: Callable[[], Any]

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"study": self.study, "rows": rows}

    def sheets(self) -> list[Sheet]:
        """The table."""
        words = [
            i for i in range(len(self.columns)) if any(isinstance(r[i], str) for r in self.rows)
        ]
        rows = [
            [f"{x:,.4f}" if isinstance(x, float) else f"{x:,}" if isinstance(x, int) else str(x)
             for x in row]
            for row in self.rows
        ]  # fmt: skip
        return [Sheet("", self.columns, rows, words=words)]

    def draw(self, path: Path) -> Path:
        """Save the picture."""
        return save_figure(self.figure(), path)

    def _repr_svg_(self) -> str:
        return as_svg(self.figure())

    def __repr__(self) -> str:
        return f"<Report of {self.study}: {len(self.rows)} rows>"
