"""`tuplet list`: games, agents and runs to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.common import Json, show_result


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
