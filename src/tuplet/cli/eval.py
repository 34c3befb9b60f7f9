"""`tuplet eval`: how well does a player play?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import Cluster, Json, Tls, check_writable, report_stopped, sharing, show_result
from tuplet.cli.options import with_settings


@with_settings(LookaheadOptions)
def eval_(
    player: str,
    /,
    *,
    games: int = 1000,
    threads: int = 1,
    seed: int = 0,
    spawn4: float | None = None,
    environment: str = "random",
    csv: Path | None = None,
    episodes: Path | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
    **looking: Any,
) -> int:
    """Evaluate a player of 2048: mean score and tiles, with 95 % intervals.

    Parameters
    ----------
    player
        A run folder, a weight file, small or strong (the players that come with tuplet; strong only
        with the repository), random, greedy, mcts:sims=100, expectimax:depth=2,values=RUN, or your
        own player: module:Class, file.py:Class, or with settings file.py:Class,depth=2 (tuplet new
        player writes one).
    games
        Number of games.
    threads
        Number of games played at a time. It does not change the result. (Your own classes are
        played in processes; for them this holds if all their randomness comes from open's state.)
    seed
        Random seed. The same seed gives the same games.
    spawn4
        The probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    environment
        What places the tiles: random, or your own class: module:Class, file.py:Class,tile=4.
    csv
        Write a table of the games to this file: score, largest tile and moves of each.
    episodes
        Append every game to this file, a line of text each. The games are the same but are played
        in Python, which is slower.

    """
    import tuplet

    check_writable(csv)
    with sharing(cluster, tls, quiet=json_) as work:
        result = tuplet.evaluate(
            player,
            environment,
            games=games,
            threads=threads,
            seed=seed,
            spawn4=spawn4,
            episodes=episodes,
            **looking,
            **work._asdict(),
        )
    if csv is not None:
        result.csv(csv)
    show_result(result, json_)
    return report_stopped(result.interrupted, result.summary.games, games, "games")
