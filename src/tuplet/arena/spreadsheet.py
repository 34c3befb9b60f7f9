"""The games of matches and tournaments as a table, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tuplet.arena.results import Match, Tournament
from tuplet.system.csv_file import write_csv

COLUMNS = (
    "game", "pair", "a", "b", "first", "winner", "points_a", "points_b", "ended_by", "plies",
    "reason",
)  # fmt: skip


def write_games_csv(path: str | Path, result: Match | Tournament) -> Path:
    """Write a line for each game, match by match: who met whom, and how it ended."""
    matches = [result] if isinstance(result, Match) else [*result.matches.values()]
    return write_csv(path, COLUMNS, (row for match in matches for row in _rows(match)))


def _rows(match: Match) -> Iterator[tuple[object, ...]]:
    for number, each in enumerate(match.played):
        first = match.b if number % 2 else match.a  # sides are exchanged in a pair
        winner = {1.0: match.a, 0.0: match.b}.get(each.a)
        yield (
            number + 1, number // 2 + 1, match.a, match.b, first, winner, each.a, 1 - each.a,
            each.kind, each.plies, each.reason,
        )  # fmt: skip
