"""Scores, shares and ratings of matches as people read them."""

from __future__ import annotations

import math

from tuplet.system.intervals import Interval


def score_columns(drawn: bool) -> str:
    """What a score is made of."""
    return "wins - draws - losses" if drawn else "wins - losses"


def joined(by: str, wins: int, draws: int, losses: int, drawn: bool) -> str:
    """A score as text; draws are told only where some games are drawn."""
    return by.join(f"{n:,}" for n in ((wins, draws, losses) if drawn else (wins, losses)))


def finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None


def range_of(interval: Interval) -> str:
    """An interval of a share."""
    low, high = interval
    return f"95 %: {100 * low:.1f} to {100 * high:.1f}"


def elo_text(elo: float) -> str:
    """A difference in Elo."""
    if math.isinf(elo):
        return "∞" if elo > 0 else "-∞"
    return f"{round(elo):+d}"
