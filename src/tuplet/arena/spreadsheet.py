"""The games of matches as a table, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tuplet.arena.played import GameResult
from tuplet.system.tables import Table

COLUMNS = ("game", "pair", "a", "b", "first", "winner", "points_a", "points_b", "ended_by", "plies", "reason")


def games_table(matches: Iterable[tuple[str, str, Sequence[GameResult]]]) -> Table:
    """A row for each game, match by match: who met whom, and how it ended."""
    return Table(COLUMNS, [row for match in matches for row in _rows(*match)])


def _rows(a: str, b: str, played: Sequence[GameResult]) -> Iterator[tuple[object, ...]]:
    for number, each in enumerate(played):
        first = b if number % 2 else a  # sides are exchanged in a pair
        winner = {1.0: a, 0.0: b}.get(each.a)
        yield (number + 1, number // 2 + 1, a, b, first, winner, each.a, 1 - each.a, each.kind, each.plies, each.reason)
