"""`tuplet compare`: which of some players of 2048 is better?"""

from __future__ import annotations

from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import Json, report_stopped, show_result, working
from tuplet.cli.options import with_settings


@with_settings(LookaheadOptions)
def compare(
    players: list[str],
    /,
    *,
    games: int = 1000,
    threads: int = 1,
    spawn4: float | None = None,
    seed: int = 0,
    json_: Json = False,
    **looking: Any,
) -> int:
    """Compare players of 2048: which is better, by how much, and how certain is that?

    Parameters
    ----------
    players
        Two or more players: run folders, weight files, or anything else tuplet eval takes.
    games
        Number of games for each player.
    threads
        Number of games played at a time. It does not change the result.
    spawn4
        The probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    seed
        Random seed. The same seed gives the same games as in tuplet eval.

    """
    import tuplet

    with working(quiet=json_) as work:
        result = tuplet.compare(
            *players, games=games, threads=threads, seed=seed, spawn4=spawn4, **looking, **work._asdict()
        )
    show_result(result, json_)
    played = sum(each.summary.games for each in result.evaluations)
    asked = games * len(players)
    return report_stopped(played < asked, played, asked, "games")
