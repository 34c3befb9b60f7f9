"""`tuplet match`: which of two agents plays a game better?"""

from __future__ import annotations

from functools import partial

from tuplet.cli.common import Cluster, Csv, Force, Json, Out, Threads, Tls, check_writable, default_threads, run_match


def match(
    a: str,
    b: str,
    /,
    *,
    game: str = "ewn-6x7",
    games: int = 1000,
    seed: int = 0,
    sprt: str | None = None,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
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
    sprt
        Stop as soon as a sequential test can decide between two differences in Elo: 0,20 asks
        whether A is no better or 20 Elo better.
    out
        Save every game to this file. If it has games of the same match, the match continues.
    csv
        Write a table of the games: who moved first, who won, and how.

    Examples
    --------
    tuplet match hard normal --games 200
    tuplet match mcts:results=rich,sims=20000 hard --out games.jsonl
    tuplet match exec:./agent easy --game ewn-6x7 --games 20 --sprt 0,20

    """
    import tuplet

    check_writable(csv, force=force or (out is not None and out.exists()))
    play = partial(tuplet.match, a, b, game, seed=seed, threads=default_threads(threads, a, b), sprt=sprt)
    return run_match(play, games, 1, out, json_, csv, cluster, tls)
