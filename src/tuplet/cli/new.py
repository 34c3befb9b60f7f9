"""`tuplet new`: a file of one's own to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.common import Json, show_result


def new(
    kind: Literal["player", "agent", "environment", "game", "program"],
    name: str,
    /,
    *,
    out: Path | None = None,
    json_: Json = False,
) -> int:
    """Write a commented file to start from, NAME.py, that works at once.

    Parameters
    ----------
    kind
        A player or an environment of 2048, an agent for a two-player game, a game, or a program
        that speaks the ewn-6x7 protocol.
    name
        Its name: my_idea gives the file my_idea.py with the class MyIdea.
    out
        The folder or file to write. Existing files are not overwritten. [default: this folder]

    """
    import tuplet

    show_result(tuplet.new(kind, name, out=out), json_)
    return 0
