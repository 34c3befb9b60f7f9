"""`tuplet analyze`: what is each move worth in my position, and why?"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from tuplet.agents.looking import Looking
from tuplet.cli.display import showing
from tuplet.cli.options import with_settings
from tuplet.cli.working import Json, show_result


@with_settings(Looking)
def analyze(
    game: str,
    position: str | None = None,
    /,
    *,
    agent: str | None = None,
    seed: int = 0,
    json_: Json = False,
    **looking: Any,
) -> None:
    """Show the value of every move in a position, the best, and where the values come from.

    Parameters
    ----------
    game
        2048, 2048:board=3x3, ewn, ewn-6x7, another of EWN's family, or a game of your own:
        path/to/file.py:GAME.
    position
        2048: sixteen tiles row by row, 0 for empty: "2,0,0,4, 0,0,8,2, ..." (fewer on the smaller
        board of the agent). Others: a notation, as in
        "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2".
        [default: the first position]
    agent
        2048: a run folder, a weight file, the table of an exact solution, mcts:sims=1000, ...
        Others: mcts:sims=20000, alphabeta:depth=10, hard, ... [default: small, the player that
        comes with tuplet; EWN best, else mcts]
    seed
        Of an agent's random choices.

    """
    import tuplet

    # What an agent prints is no result.
    with showing(), redirect_stdout(sys.stderr if json_ else sys.stdout):
        result = tuplet.analyze(game, position, agent, seed=seed, **looking)
    if not json_:
        print(result.position)
        print()
    show_result(result, json_)
