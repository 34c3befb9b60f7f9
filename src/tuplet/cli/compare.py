"""`tuplet compare`: which of some players of 2048 is better?"""

from __future__ import annotations

from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import LOOKAHEAD, Json, Threads, default_threads, long_call, report_stopped, show_result
from tuplet.cli.options import with_settings


@with_settings(LookaheadOptions, LOOKAHEAD)
def compare(
    players: list[str],
    /,
    *,
    games: int = 1000,
    threads: Threads = None,
    spawn4: float | None = None,
    seed: int = 0,
    json_: Json = False,
    **lookahead: Any,
) -> int:
    """Compare players of 2048: which is better, by how much, and how certain is that?

    Parameters
    ----------
    players
        Two or more players: run folders, weight files, or anything else tuplet eval takes.
    games
        Number of games for each player.
    spawn4
        The probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    seed
        Random seed. The same seed gives the same games as in tuplet eval.

    Examples
    --------
    tuplet compare small greedy
    tuplet compare runs/td runs/tc --games 5000
    tuplet compare small expectimax:depth=2,values=small --games 100 --json

    """
    import tuplet

    threads = default_threads(threads, *players, timed=lookahead.get("time") is not None)
    with long_call(json_) as call:
        result = tuplet.compare(*players, games=games, threads=threads, seed=seed, spawn4=spawn4, **lookahead, **call)
    show_result(result, json_)
    played, planned = sum(each.summary.games for each in result.evaluations), games * len(players)
    return report_stopped(played < planned, played, planned, "games")
