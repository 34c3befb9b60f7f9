"""`tuplet compare`: which of some players of 2048 is better?"""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from tuplet.agents.looking import Looking
from tuplet.cli.options import with_settings
from tuplet.cli.working import Json, show_result, tell_stopped, working


@with_settings(Looking)
def compare(
    players: Annotated[list[str], Parameter(negative="")],
    /,
    *,
    games: int = 1000,
    threads: int = 1,
    spawn4: float | None = None,
    seed: int = 0,
    json_: Json = False,
    **looking: Any,
) -> int:
    """Let players play fresh games, and say who is better, by how much, and how sure that is.

    Parameters
    ----------
    players
        Two or more: run folders, weight files, or whatever tuplet eval takes.
    games
        How many games of each.
    threads
        How many games are played at a time; the result is the same for any number.
    spawn4
        The share of new tiles that are fours. [default: as trained, else 0.1]
    seed
        The same seed gives the same games, those of tuplet eval.

    """
    import tuplet

    with working(quiet=json_) as work:
        result = tuplet.compare(
            *players, games=games, threads=threads, seed=seed, spawn4=spawn4, **looking,
            **work._asdict(),
        )  # fmt: skip
    show_result(result, json_)
    played = sum(each.summary.games for each in result.evaluations)
    asked = games * len(players)
    return tell_stopped(played < asked, played, asked, "games")
