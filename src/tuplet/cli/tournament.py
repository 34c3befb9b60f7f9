"""`tuplet tournament`: who of many agents plays a game best?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tuplet.cli.working import Json, play_pairs


def tournament(
    *agents: str,
    game: str = "ewn-6x7",
    games: int = 200,
    seed: int = 0,
    threads: int = 1,
    save: Path | None = None,
    json_: Json = False,
) -> int:
    """Let everybody play against everybody; a cross table, and ratings with intervals.

    Parameters
    ----------
    agents
        Two agents or more: easy, normal, hard, ...
    game
        ewn, ewn-6x7, one of the family, as in ewn:board=4x4,cubes=3, or a game of your own:
        path/to/file.py:GAME.
    games
        How many games each pairing plays; an odd number is rounded up to whole pairs.
    seed
        The same seed gives the same games.
    threads
        How many games are played at a time; the result is the same for any number. (Classes of
        your own play in processes.)
    save
        Write every game to this file; a file with games of the same tournament is continued.

    """
    import tuplet

    play = partial(tuplet.tournament, agents, game, seed=seed, threads=threads)
    return play_pairs(play, games, len(agents) * (len(agents) - 1) // 2, save, json_)
