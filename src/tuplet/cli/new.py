"""`tuplet new`: a file of one's own to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.working import Json, show_result


def new(
    kind: Literal["player", "agent", "environment", "game", "program"],
    name: str,
    /,
    *,
    out: Path | None = None,
    json_: Json = False,
) -> int:
    """Write a commented file of your own to begin with, NAME.py, that works at once.

    Parameters
    ----------
    kind
        A player or an environment of 2048, an agent for a game of two, a game, or a program that
        speaks the protocol of ewn-6x7.
    name
        What it is called: my_idea makes my_idea.py, with the class MyIdea.
    out
        The folder, or the file, to write. What exists is not overwritten.

    """
    import tuplet

    show_result(tuplet.new(kind, name, out=out), json_)
    return 0
