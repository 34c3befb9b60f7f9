"""Metrics of runs as one table, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tuplet.learn.points import Learned
from tuplet.system.tables import Table

Metrics = dict[str, Any]
COLUMNS = (
    "run",
    "seed",
    "kind",
    "games",
    "elapsed_s",
    "played",
    "mean_score",
    "ci95_low",
    "ci95_high",
    "max_score",
    "mean_moves",
    "moves_per_s",
)


def metrics_table(runs: Sequence[Learned]) -> Table:
    """A row for each block of training games, and for each evaluation by fresh games."""
    lines = [line for run in runs for line in _lines(run)]
    shares = [(key, tile) for key in ("reached", "ended") for tile in _tiles(lines, key)]
    columns = [*COLUMNS, *(f"{key}_{tile}" for key, tile in shares)]
    rows = ([line.get(name) for name in COLUMNS] + [_share(line, key, tile) for key, tile in shares] for line in lines)
    return Table(columns, rows)


def _lines(run: Learned) -> list[Metrics]:
    lines, before = [], 0
    for m in run.metrics:
        own = {"run": run.name, "seed": run.options.seed}
        for each in m.get("evaluations", ()):
            low, high = each["ci95"]
            place = {"games": each["learned"], "played": each["games"]}
            fresh = {"kind": "fresh", "ci95_low": low, "ci95_high": high}
            lines.append({**each, **own, **place, **fresh})
        lines.append({**m, **own, "kind": "training", "played": m["games"] - before})
        before = m["games"]
    return lines


def _tiles(lines: list[Metrics], key: str) -> list[Any]:
    """The tiles that some line tells of, small ones first."""
    tiles = {tile for line in lines for tile in line.get(key, {}) if str(tile).isdecimal()}
    return sorted(tiles, key=int)


def _share(line: Metrics, key: str, tile: Any) -> Any:
    """A share of games; a line tells of tiles from the smallest that a game ended with on."""
    shares = line.get(key, {})
    smaller = key == "reached" and shares and int(tile) < min(int(each) for each in shares)
    return 1.0 if smaller else shares.get(tile, 0.0)
