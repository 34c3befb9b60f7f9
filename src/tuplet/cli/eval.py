"""`tuplet eval`: how well a player plays."""

from __future__ import annotations

from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import (
    LOOKAHEAD,
    Cluster,
    Csv,
    Force,
    Json,
    Out,
    Threads,
    Tls,
    check_writable,
    default_threads,
    long_call,
    report_stopped,
    show_result,
)
from tuplet.cli.options import with_settings


@with_settings(LookaheadOptions, LOOKAHEAD)
def eval_(
    player: str,
    /,
    *,
    games: int = 1000,
    seed: int = 0,
    spawn4: float | None = None,
    environment: str = "random",
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
    **lookahead: Any,
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
    seed
        Random seed. The same seed gives the same games.
    spawn4
        The probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    environment
        What places the tiles: random, or your own class: module:Class, file.py:Class,tile=4.
    out
        Write every game to this file, a line of text each, for tuplet review. The games are the
        same but are played in Python, which is slower.
    csv
        Write a table of the games: score, largest tile and moves of each.

    Examples
    --------
    tuplet eval small
    tuplet eval runs/first --depth 2 --games 200
    tuplet eval mine.py:Corner --games 10 --out games.txt

    """
    import tuplet

    check_writable(out, csv, force=force)
    if out is not None and out.is_file():
        out.unlink()  # games are appended
    threads = default_threads(threads, player, environment, timed=lookahead.get("time") is not None)
    with long_call(json_, cluster, tls) as call:
        result = tuplet.evaluate(
            player, environment, games=games, threads=threads, seed=seed, spawn4=spawn4, out=out, **lookahead, **call
        )
    if csv is not None:
        result.csv(csv)
    show_result(result, json_)
    return report_stopped(result.interrupted, result.summary.games, games, "games")
