"""`tuplet match`: who of two agents plays a game better?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tuplet.cli.common import Cluster, Json, Tls, run_match


def match(
    a: str,
    b: str,
    /,
    *,
    game: str = "ewn-6x7",
    games: int = 1000,
    seed: int = 0,
    threads: int = 1,
    sprt: str | None = None,
    save: Path | None = None,
    csv: Path | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> int:
    """Play a match between two agents, and report A's share of the points and Elo, with intervals.

    Games come in pairs: the same start and the same dice, with sides exchanged.

    Parameters
    ----------
    a
        An agent: easy, normal, hard, best, alphabeta:depth=10, mcts:sims=20000, mcs:sims=20000,
        exec:./program, module:Class, file.py:Class,depth=2. docs/ewn.md lists their settings.
    b
        Its opponent.
    game
        ewn, ewn-6x7, another variant of EWN such as ewn:board=4x4,cubes=3, or your own game:
        path/to/file.py:GAME.
    games
        Number of games. An odd number is rounded up to whole pairs.
    seed
        Random seed. The same seed gives the same games.
    threads
        Number of games played at a time. It does not change the result. (Your own classes are
        played in processes.)
    sprt
        Stop as soon as a sequential test can decide between two differences in Elo: 0,20 asks
        whether A is no better or 20 Elo better.
    save
        Save every game to this file. If it already has games of this match, the match continues.
    csv
        Write a table of the games to this file: who moved first, who won, and how.

    """
    import tuplet

    play = partial(tuplet.match, a, b, game, seed=seed, threads=threads, sprt=sprt)
    return run_match(play, games, 1, save, json_, csv, cluster, tls)
