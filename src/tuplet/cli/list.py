"""`tuplet list`: what there is to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.common import Json, show_result


def list_(
    what: Literal["games", "agents", "runs"], /, *, game: str = "2048", runs: Path = Path("runs"), json_: Json = False
) -> int:
    """List games, the agents of a game, or training runs.

    Parameters
    ----------
    what
        What to list.
    game
        The game whose agents to list: 2048, ewn, ewn-6x7, ...
    runs
        The folder of training runs to list.

    """
    import tuplet

    if what == "games":
        found = tuplet.list_games()
    elif what == "agents":
        found = tuplet.list_agents(game, runs)
    else:
        found = tuplet.list_runs(runs)
    show_result(found, json_)
    return 0
