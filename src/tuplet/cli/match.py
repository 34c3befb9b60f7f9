"""`tuplet match`: who of two agents plays EWN better?"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def match(
    a: str,
    b: str,
    /,
    *,
    game: str = "ewn-6x7",
    games: int = 1000,
    seed: int = 0,
    threads: int = 1,
    sprt: str | None = None,
    save: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let two agents play EWN against each other, and report A's share and Elo, with intervals.

    Games come in pairs from the same start with the same dice, colours exchanged.

    Parameters
    ----------
    a
        An agent: easy, normal, hard, best, alphabeta:depth=10, mcts:sims=20000, mcs:sims=20000,
        exec:./program, module:Class. docs/ewn.md lists their settings.
    b
        Its opponent.
    game
        ewn, ewn-6x7, or one of the family, as in ewn:board=4x4,cubes=3.
    games
        How many games; an odd number is rounded up to whole pairs.
    seed
        The same seed gives the same games.
    threads
        Threads to use; the result is the same for any number.
    sprt
        Stop as soon as a sequential test tells elo0 from elo1: 0,20 asks "no better, or 20 Elo?"
    save
        Write every game to this file; a file with games of the same match is continued.
    json_
        Print one JSON object.

    """
    from tuplet.arena import ewn
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.cli.results import match_table, tell_end, tell_rounding

    tell_if_compiling()
    tell_rounding(games)
    try:
        with ExitStack() as stack:
            watch = stack.enter_context(games_progress(games + games % 2))
            if json_:  # what an agent prints is not the result
                stack.enter_context(redirect_stdout(sys.stderr))
            result = ewn.match(
                a, b, game, games=games, seed=seed, threads=threads, sprt=sprt, save=save,
                watch=watch,
            )  # fmt: skip
    except KeyboardInterrupt:  # before the first pair was finished
        return tell_end(True, 0, games + games % 2, save)
    if json_:
        print(json.dumps(result.as_json()))
    else:
        match_table(result)
    return tell_end(result.interrupted, result.games, result.asked, save)
