"""What a tournament leaves for others to read: a page, and tables as CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tuplet.arena.match_file import Saved
from tuplet.arena.page import write_page
from tuplet.arena.results import Match, Tournament
from tuplet.errors import UserError
from tuplet.system.tables import write_csv


class Reports:
    """The files that were asked for; they are made from a file of games.

    Refuses at once what could not be written at the end.
    """

    def __init__(self, page: str | Path | None, csv: str | Path | None) -> None:
        self.page = _as_file(page, ".html", "a page")
        self.csv = _as_file(csv, ".csv", "a table")

    @contextmanager
    def games(self, save: str | Path | None) -> Iterator[Path | None]:
        """Where games are saved meanwhile: where it was asked for, or aside, or nowhere."""
        if save is not None or (self.page is None and self.csv is None):
            yield None if save is None else Path(save)
            return
        with tempfile.TemporaryDirectory(prefix="tuplet-") as folder:
            yield Path(folder) / "games.jsonl"

    def write(self, result: Match | Tournament, file: Path | None) -> None:
        """Write what was asked for."""
        if file is None or (self.page is None and self.csv is None):
            return
        if self.csv is not None:
            result.csv(self.csv)
            if isinstance(result, Tournament):
                write_csv(games_beside(self.csv), *result.games_table())
        if self.page is not None:
            if isinstance(result, Match):
                result = Tournament(
                    [result.a, result.b], result.game, result.seed, result.planned, {(0, 1): result}, result.interrupted
                )
            write_page(self.page, result, Saved.open(file))


def games_beside(table: Path) -> Path:
    """Where the games are that belong to a table: table.csv has table-games.csv."""
    return table.with_name(f"{table.stem}-games{table.suffix}")


def _as_file(path: str | Path | None, suffix: str, what: str) -> Path | None:
    if path is None:
        return None
    path = Path(path)
    if path.suffix.lower() != suffix:
        raise UserError(f"{path}: the name of {what} ends in {suffix}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    return path
