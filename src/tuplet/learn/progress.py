"""What a run is going to do, and how far it is, in words.

A schedule of alpha is a share of the run that was asked for. A run that had settled already and is
given more goes on as a run of the new length would: at the full rate again, until it settles once
more. That costs at first what settling gave, and pays later (docs/learning.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuplet.games.g2048.statistics import Results, summarise
from tuplet.learn.settings import Method, RunOptions, schedule_of, steps_of
from tuplet.system.progress import Progress
from tuplet.system.tables import format_duration, plural

ENOUGH = 50  # games of which a mean says something


def share_done(options: RunOptions, games: int, elapsed_s: float) -> float:
    """How much of a run is done: from 0 to 1."""
    shares = [0.0]
    if options.games is not None:
        shares.append(games / options.games)
    if options.budget is not None:
        shares.append(elapsed_s / options.budget)
    return min(max(shares), 1.0)


def description(
    method: Method, options: RunOptions, games: int, elapsed_s: float, before: RunOptions | None = None
) -> str:
    """How much is done of how much, and what alpha will be; `before` had other limits."""
    assert method.alpha is not None
    total, done = _in_words(options, 1.0), share_done(options, games, elapsed_s)
    if games and options.games is None:
        total = f"{format_duration(elapsed_s)} of {total} done ({plural(games, 'game')})"
    elif games:
        total = f"{games:,} of {total} done"
    rate = schedule_of(method.schedule)
    rises = before is not None and rate(done) > rate(share_done(before, games, elapsed_s))
    alpha = f"{'back to ' if rises else ''}{method.alpha * rate(done):.3g}"
    if method.schedule in ("linear", "cosine"):
        words = [f"α {alpha}, falling to 0 ({method.schedule})"]
    else:
        later = [
            f"until {_in_words(options, after, at=True)}, then {method.alpha * by:.3g}"
            for after, by in steps_of(method.schedule)
            if after > done
        ]
        words = [f"α {alpha} {', '.join(later)}".rstrip()]
    words += [
        f"{plural(len(tuples), 'tuple')} from {_in_words(options, after, at=True)} on"
        for after, tuples in method.growth()
        if after > done
    ]
    words += ["means may dip until it settles again"] if rises else []
    return "; ".join([total, *words])


def _in_words(options: RunOptions, share: float, at: bool = False) -> str:
    """A share of a run: 18,000 games, or 9:00; at that share: game 18,000."""
    words = []
    if options.games is not None:
        number = round(share * options.games)
        words.append(f"game {number:,}" if at else plural(number, "game"))
    if options.budget is not None:
        words.append(format_duration(share * options.budget))
    return " or ".join(words)


def how_far(
    options: RunOptions,
    games: int,
    elapsed_s: float,
    rate: float | None,
    metrics: Sequence[Mapping[str, Any]],
    block: Results,
    fresh: Mapping[str, Any] | None,
) -> Progress:
    """How far a run is, at so many moves a second: what the last block came to, and fresh games."""
    figures: dict[str, str] = {}
    shares: dict[str, float] = {}
    summary = summarise(block) if len(block.scores) >= ENOUGH else None
    if metrics:
        mean, shares = metrics[-1]["mean_score"], metrics[-1]["reached"]
    elif summary is not None:
        mean, shares = summary.mean_score, {str(t): s for t, s in summary.reached.items()}
    if metrics or summary:
        best = max([m["max_score"] for m in metrics] + [summary.max_score if summary else 0])
        figures = {"mean": f"{mean:,.0f}", "best": f"{best:,}"}
    if fresh is not None:
        half = (fresh["ci95"][1] - fresh["ci95"][0]) / 2
        figures["fresh"] = f"{fresh['mean_score']:,.0f} ± {half:,.0f}"
    most, budget = options.games, options.budget
    if budget is not None and (most is None or elapsed_s / budget > games / most):
        figures = {"games": f"{games:,}", **figures}
        return Progress("time", elapsed_s, budget, rate, "moves/s", figures, shares)
    return Progress("games", games, most, rate, "moves/s", figures, shares)
