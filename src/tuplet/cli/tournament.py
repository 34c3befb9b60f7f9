"""`tuplet tournament`: who of many agents plays a game best?"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from tuplet.cli.working import Cluster, Json, Tls, play_pairs
from tuplet.system.harmless import harmless
from tuplet.system.sheet import counted


def tournament(
    *agents: str,
    folder: Path | None = None,
    time: float | None = None,
    memory: str | None = None,
    game: str = "ewn-6x7",
    games: int = 200,
    seed: int = 0,
    threads: int = 1,
    save: Path | None = None,
    page: Path | None = None,
    csv: Path | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> int:
    """Let everybody play against everybody; a cross table, and ratings with intervals.

    With --folder every program in it plays, within limits. That is no sandbox: programs can read,
    write and send whatever you can. Run those of people you trust, or as a user of their own.

    Parameters
    ----------
    agents
        Agents: easy, normal, hard, ...; two or more, without a folder.
    folder
        A folder of programs that speak the protocol of ewn-6x7: files that can be executed,
        scripts of Python, and folders with a file "run" (docs/class.md). Each is named after its
        file or folder, and forfeits what it spoils: the tournament goes on whatever it does.
    time
        Seconds that a program of the folder has for a move. [default: 2]
    memory
        Resident memory that all processes of such a program may have together, such as 1GB; it is
        watched ten times a second. [default: any]
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
    page
        Write an HTML page: tables, forfeits with what was said, games to replay. It needs nothing
        but a browser.
    csv
        Write the table to this file, and the games beside it: table.csv, table-games.csv.

    """
    import tuplet

    play = partial(
        tuplet.tournament, agents, game, folder=folder, time=time, memory=memory, seed=seed,
        threads=threads, page=page, csv=csv,
    )  # fmt: skip
    players = len(agents) + (0 if folder is None else _tell_who_plays(folder))
    code = play_pairs(play, games, players * (players - 1) // 2, save, json_, None, cluster, tls)
    for file in filter(None, (page, csv)):
        if file.is_file():
            print(f"Written: {file}", file=sys.stderr)
    return code


def _tell_who_plays(folder: Path) -> int:
    """Say what a folder has, before hours go by; returns how many programs."""
    from tuplet.agents.protocol.submissions import submissions

    programs, skipped = submissions(folder)
    names = ", ".join(each.name for each in programs)
    print(harmless(f"{counted(len(programs), 'program')} in {folder}: {names}"), file=sys.stderr)
    for name, why in skipped:
        print(harmless(f"{name} does not play: {why}"), file=sys.stderr)
    return len(programs)
