"""`tuplet eval`: how well does a player play?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tuplet.agents.looking import Looking
from tuplet.cli.options import with_settings
from tuplet.cli.working import Cluster, Json, Tls, check_folder, sharing, show_result, tell_stopped


@with_settings(Looking)
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
    """Let a player play many games and report its mean score and tiles, with 95 % intervals.

    Parameters
    ----------
    player
        A run folder, a weight file, small or strong (players that come with tuplet, strong with
        its repository alone), random, greedy, mcts:sims=100, expectimax:depth=2,values=RUN, or a
        player of your own: module:Class, file.py:Class, or with settings file.py:Class,depth=2
        (tuplet new player writes one).
    games
        How many games.
    threads
        How many games are played at a time; the result is the same for any number. (Classes of
        your own play in processes. The same holds for them if they draw from open's state alone.)
    seed
        The same seed gives the same games.
    spawn4
        The share of new tiles that are fours. [default: as trained, else 0.1]
    environment
        random, or an environment of your own: module:Class, file.py:Class,tile=4.
    csv
        Write a table of the games to this file: score, largest tile, and moves of each.
    episodes
        Append every game, as a line of text, to this file (plays in Python: slower; the same
        games).

    """
    import tuplet

    check_folder(csv)
    with sharing(cluster, tls, quiet=json_) as work:
        result = tuplet.evaluate(
            player, environment, games=games, threads=threads, seed=seed, spawn4=spawn4,
            episodes=episodes, **looking, **work._asdict(),
        )  # fmt: skip
    if csv is not None:
        result.csv(csv)
    show_result(result, json_)
    return tell_stopped(result.interrupted, result.summary.games, games, "games")
