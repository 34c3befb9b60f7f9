"""`tuplet tournament`: who of many agents plays a game best?"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from tuplet.cli.common import Cluster, Json, Tls, run_match
from tuplet.system.tables import plural
from tuplet.system.text import sanitize


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
    """Play a round-robin tournament; report a cross table and ratings with intervals.

    With --folder, every program in it plays, within limits of time and memory. This is no sandbox:
    the programs can read, write and send anything you can. Run only programs of people you trust,
    or run them as a separate user.

    Parameters
    ----------
    agents
        Agents: easy, normal, hard, ... At least two, or fewer with --folder.
    folder
        A folder of programs that speak the ewn-6x7 protocol: executable files, Python scripts, and
        folders with a file "run" (see docs/class.md). Each is named after its file or folder. A
        program that fails forfeits its game, and the tournament goes on.
    time
        Time limit per move for programs of the folder, in seconds. [default: 2]
    memory
        Memory limit for all processes of such a program together, such as 1GB (resident memory,
        checked ten times a second). [default: none]
    game
        ewn, ewn-6x7, another variant of EWN such as ewn:board=4x4,cubes=3, or your own game:
        path/to/file.py:GAME.
    games
        Number of games per pairing. An odd number is rounded up to whole pairs.
    seed
        Random seed. The same seed gives the same games.
    threads
        Number of games played at a time. It does not change the result. (Your own classes are
        played in processes.)
    save
        Save every game to this file. If it already has games of this tournament, it continues.
    page
        Write an HTML page with tables, forfeits and their causes, and games to replay. It needs
        only a browser.
    csv
        Write the table to this file, and the games beside it (table.csv and table-games.csv).

    """
    import tuplet

    play = partial(
        tuplet.tournament,
        agents,
        game,
        folder=folder,
        time=time,
        memory=memory,
        seed=seed,
        threads=threads,
        page=page,
        csv=csv,
    )
    players = len(agents) + (0 if folder is None else _tell_who_plays(folder))
    code = run_match(play, games, players * (players - 1) // 2, save, json_, None, cluster, tls)
    for file in filter(None, (page, csv)):
        if file.is_file():
            print(f"Written: {file}", file=sys.stderr)
    return code


def _tell_who_plays(folder: Path) -> int:
    """Say what a folder has, before hours go by; returns how many programs."""
    from tuplet.agents.protocol.submissions import submissions

    programs, skipped = submissions(folder)
    if programs:  # else it is told at once that there are none
        names = ", ".join(each.name for each in programs)
        print(sanitize(f"{plural(len(programs), 'program')} in {folder}: {names}"), file=sys.stderr)
    for name, why in skipped:
        print(sanitize(f"{name} does not play: {why}"), file=sys.stderr)
    return len(programs)
