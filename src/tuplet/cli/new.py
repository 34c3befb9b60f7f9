"""`tuplet new`: a file to start from."""

from __future__ import annotations

from typing import Literal

from tuplet.cli.common import Json, Out, show_result


def new(
    kind: Literal["player", "agent", "environment", "game", "program"],
    name: str,
    /,
    *,
    out: Out = None,
    json_: Json = False,
) -> None:
    """Write a commented file to start from, NAME.py, that works at once.

    Parameters
    ----------
    kind
        A player or an environment of 2048, an agent for a two-player game, a game, or a program
        that speaks the ewn-6x7 protocol.
    name
        Its name: my_idea gives the file my_idea.py with the class MyIdea.
    out
        The folder or file to write. A file that exists is never overwritten. [default: this folder]

    Examples
    --------
    tuplet new player corner
    tuplet new agent my_idea --out agents
    tuplet new game hex --out hex.py

    """
    import tuplet

    show_result(tuplet.new(kind, name, out=out), json_)
