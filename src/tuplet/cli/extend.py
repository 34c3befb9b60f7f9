"""Commands to extend and inspect tuplet: new, list, fetch, doctor, cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from cyclopts import App

from tuplet.cli.common import long_call, show_result
from tuplet.cli.options import Force, Json, Out, Tls, add_command, examples_text


def new(
    kind: Literal["player", "agent", "environment", "game", "program"],
    name: str,
    /,
    *,
    lang: Literal["python", "c", "cpp"] = "python",
    out: Out = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Write a commented file to start from, NAME.py (or .c, .cpp), that works at once.

    Parameters
    ----------
    kind
        A player or an environment of 2048, an agent for a two-player game, a game, or a program
        that speaks the ewn-6x7 protocol.
    name
        Its name: my_idea gives the file my_idea.py with the class MyIdea.
    lang
        The language of a program: its rules and the protocol are there, your idea is missing.
    out
        The folder or file to write. [default: this folder]

    Examples
    --------
    tuplet new player corner
    tuplet new agent my_idea --out agents
    tuplet new program racer --lang cpp

    """
    import tuplet

    show_result(tuplet.new(kind, name, lang=lang, out=out, force=force), json_)


def list_(
    what: Literal["games", "agents", "runs"], /, *, game: str = "2048", runs: Path = Path("runs"), json_: Json = False
) -> None:
    """List games, the agents of a game, or training runs.

    Parameters
    ----------
    what
        What to list.
    game
        The game whose agents to list: 2048, ewn, ewn-6x7, ...
    runs
        The folder of training runs to list.

    Examples
    --------
    tuplet list games
    tuplet list agents --game ewn
    tuplet list runs --runs /shared/runs --json

    """
    import tuplet

    if what == "games":
        result = tuplet.list_games()
    elif what == "agents":
        result = tuplet.list_agents(game, runs)
    else:
        result = tuplet.list_runs(runs)
    show_result(result, json_)


def fetch(
    player: Literal["strong"], /, *, source: str | None = None, force: Force = False, json_: Json = False
) -> None:
    """Download the strong player, which is too large for the package.

    Its SHA-256 is checked: a file that is not the one of this version of tuplet is not kept.

    Parameters
    ----------
    player
        The player to download.
    source
        The address of a folder that has the file strong.xz. [default: the environment variable
        TUPLET_PLAYERS]

    Examples
    --------
    tuplet fetch strong
    tuplet fetch strong --source https://example.org/players

    """
    import tuplet

    with long_call(json_) as call:
        result = tuplet.fetch(player, source, force=force, **call)
    show_result(result, json_)


def doctor(*, json_: Json = False) -> None:
    """Show versions, cores, memory, the compile cache, and which players and extras are installed.

    Examples
    --------
    tuplet doctor
    tuplet doctor --json

    """
    import tuplet

    show_result(tuplet.doctor(), json_)


cluster = App(name="cluster", help="Inspect a Dask cluster.")


def check(address: str, /, *, runs: Path = Path("runs"), tls: Tls = None, json_: Json = False) -> int:
    """Show each worker's versions, threads, memory and speed, and whether it sees the runs.

    The exit code is 1 if no worker can be used.

    Parameters
    ----------
    address
        tcp://host:8786, tls://host:8786, a scheduler file, or local:N.
    runs
        The folder of training runs that the workers should see.

    Examples
    --------
    tuplet cluster check local:2
    tuplet cluster check tcp://host:8786 --runs /shared/runs
    tuplet cluster check tls://host:8786 --tls keys --json

    """
    import tuplet

    with long_call(json_):
        result = tuplet.check_cluster(address, runs, tls=tls)
    show_result(result, json_)
    return 0 if result.fit else 1


cluster.help_epilogue = examples_text(add_command(cluster, check))
