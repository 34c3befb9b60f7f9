"""`tuplet tournament`: which of many agents plays a game best?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tuplet.cli.common import (
    Cluster,
    Csv,
    Force,
    Html,
    Json,
    Out,
    Threads,
    Tls,
    check_writable,
    default_threads,
    note,
    run_match,
)
from tuplet.cli.options import Time
from tuplet.system.tables import plural
from tuplet.system.text import sanitize


def tournament(
    *agents: str,
    folder: Path | None = None,
    time: Time = None,
    memory: str | None = None,
    game: str = "ewn-6x7",
    games: int = 200,
    seed: int = 0,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    html: Html = None,
    csv: Csv = None,
    force: Force = False,
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
        Time limit per move for programs of the folder. [default: 2s]
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
    out
        Save every game to this file. If it has games of the same tournament, it continues.
    csv
        Write the table to this file, and the games beside it (table.csv and table-games.csv).

    Examples
    --------
    tuplet tournament easy normal hard
    tuplet tournament --folder submissions --games 10 --html table.html
    tuplet tournament mcts:c=0.2 mcts:c=0.6 mcts:c=1.0 --game ewn --out games.jsonl

    """
    import tuplet

    check_writable(html, csv, force=force or (out is not None and out.exists()))
    play = partial(
        tuplet.tournament,
        agents,
        game,
        folder=folder,
        time=time,
        memory=memory,
        seed=seed,
        threads=default_threads(threads, *agents, timed=folder is not None),
        html=html,
        csv=csv,
    )
    players = len(agents) + (0 if folder is None else _list_programs(folder))
    code = run_match(play, games, players * (players - 1) // 2, out, json_, None, cluster, tls)
    for file in filter(None, (html, csv)):
        if file.is_file():
            note(f"Written: {file}")
    return code


def _list_programs(folder: Path) -> int:
    """Say which programs of a folder play, before hours go by; returns how many."""
    from tuplet.agents.protocol.submissions import submissions

    programs, skipped = submissions(folder)
    if programs:  # else an error says that there are none
        names = ", ".join(each.name for each in programs)
        note(sanitize(f"{plural(len(programs), 'program')} in {folder}: {names}"))
    for name, why in skipped:
        note(sanitize(f"{name} does not play: {why}"))
    return len(programs)
