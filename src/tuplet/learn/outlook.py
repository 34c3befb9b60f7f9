"""What a run is going to do, in words; and how one that is given more goes on.

A schedule of alpha is a share of the run that was asked for. A run that had settled already and is
given more could go on at the rate it has, or learn at the full one again and settle once more: the
latter costs at first what settling gave, and pays later. Measured (docs/learning.md), it pays from
as much again on.
"""

from __future__ import annotations

from tuplet.learn.settings import Limits, Method, schedule_of, steps_of
from tuplet.system.sheet import clock, counted

PAYS = 2.0  # how many times as long the whole must be for it to pay to learn at full rate again


def share_done(limits: Limits, games: int, elapsed_s: float) -> float:
    """How much of a run is done: from 0 to 1."""
    shares = [0.0]
    if limits.games is not None:
        shares.append(games / limits.games)
    if limits.budget is not None:
        shares.append(elapsed_s / limits.budget)
    return min(max(shares), 1.0)


def held(method: Method, before: Limits, now: Limits, games: int, elapsed_s: float) -> float:
    """What to hold of the schedule in a run that goes on with other limits: see `Limits.held`."""
    done = max(share_done(before, games, elapsed_s), before.held)
    left = share_done(now, games, elapsed_s)
    if (before.games, before.budget) == (now.games, now.budget):
        return before.held
    rate = schedule_of(method.schedule)
    rises = rate(left) > rate(done)
    return done if steps_of(method.schedule) and rises and left * PAYS > 1 else 0.0


def outlook(
    method: Method, limits: Limits, games: int, elapsed_s: float, before: Limits | None = None
) -> str:
    """How much is done of how much, and what alpha will be; `before` had other limits."""
    assert method.alpha is not None
    total, done = _in_words(limits, 1.0), share_done(limits, games, elapsed_s)
    if games and limits.games is None:
        total = f"{clock(elapsed_s)} of {total} done ({counted(games, 'game')})"
    elif games:
        total = f"{games:,} of {total} done"
    rate, now = schedule_of(method.schedule), max(done, limits.held)
    was = 0.0 if before is None else max(share_done(before, games, elapsed_s), before.held)
    alpha = f"{method.alpha * rate(now):.3g}"
    steps = [(after, by) for after, by in steps_of(method.schedule) if after > now]
    if limits.held > done:
        again = _in_words(limits, done * PAYS)
        rates = f"stays at {alpha} (given {again} or more in all, it would go up again)"
    elif method.schedule in ("linear", "cosine"):
        rates = f"falls from {alpha} to 0 ({method.schedule})"
    else:
        rates = f"{'back to' if rate(was) < rate(now) else '='} {alpha}"
    later = [f"until {_in_words(limits, after, at=True)}, then {method.alpha * by:.3g}"
             for after, by in steps]  # fmt: skip
    return f"{total}; α {' '.join([rates, ', '.join(later)])}".rstrip()


def _in_words(limits: Limits, share: float, at: bool = False) -> str:
    """A share of a run: 18,000 games, or 9:00; at that share: game 18,000."""
    words = []
    if limits.games is not None:
        number = round(share * limits.games)
        words.append(f"game {number:,}" if at else counted(number, "game"))
    if limits.budget is not None:
        words.append(clock(share * limits.budget))
    return " or ".join(words)
