"""`tuplet tournament`: who of many agents plays EWN best?"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def tournament(
    *agents: str,
    game: str = "ewn-6x7",
    games: int = 200,
    seed: int = 0,
    threads: int = 1,
    save: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Let everybody play EWN against everybody; a cross table, and ratings with intervals.

    Parameters
    ----------
    agents
        Two agents or more: easy, normal, hard, ...
    game
        ewn, ewn-6x7, or one of the family, as in ewn:board=4x4,cubes=3.
    games
        How many games each pairing plays; an odd number is rounded up to whole pairs.
    seed
        The same seed gives the same games.
    threads
        Threads to use; the result is the same for any number.
    save
        Write every game to this file; a file with games of the same tournament is continued.
    json_
        Print one JSON object.

    """
    from tuplet.arena import ewn
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.cli.results import tell_end, tell_rounding, tournament_table

    tell_if_compiling()
    tell_rounding(games)
    total = (games + games % 2) * len(agents) * (len(agents) - 1) // 2
    try:
        with ExitStack() as stack:
            watch = stack.enter_context(games_progress(total))
            if json_:  # what an agent prints is not the result
                stack.enter_context(redirect_stdout(sys.stderr))
            result = ewn.tournament(
                agents, game, games=games, seed=seed, threads=threads, save=save, watch=watch
            )
    except KeyboardInterrupt:  # before the first pair was finished
        return tell_end(True, 0, total, save)
    if json_:
        print(json.dumps(result.as_json()))
    else:
        tournament_table(result)
    return tell_end(result.interrupted, result.games, total, save)
