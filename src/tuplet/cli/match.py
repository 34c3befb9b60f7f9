"""`tuplet match`: who of two agents plays a game better?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tuplet.cli.working import Cluster, Json, Tls, play_pairs


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
    """Let two agents play against each other, and report A's share and Elo, with intervals.

    Games come in pairs from the same start with the same dice, sides exchanged.

    Parameters
    ----------
    a
        An agent: easy, normal, hard, best, alphabeta:depth=10, mcts:sims=20000, mcs:sims=20000,
        exec:./program, module:Class, file.py:Class,depth=2. docs/ewn.md lists their settings.
    b
        Its opponent.
    game
        ewn, ewn-6x7, one of the family, as in ewn:board=4x4,cubes=3, or a game of your own:
        path/to/file.py:GAME.
    games
        How many games; an odd number is rounded up to whole pairs.
    seed
        The same seed gives the same games.
    threads
        How many games are played at a time; the result is the same for any number. (Classes of
        your own play in processes.)
    sprt
        Stop as soon as a sequential test tells elo0 from elo1: 0,20 asks "no better, or 20 Elo?"
    save
        Write every game to this file; a file with games of the same match is continued.
    csv
        Write a table of the games to this file: who moved first, who won, and how.

    """
    import tuplet

    play = partial(tuplet.match, a, b, game, seed=seed, threads=threads, sprt=sprt)
    return play_pairs(play, games, 1, save, json_, csv, cluster, tls)
