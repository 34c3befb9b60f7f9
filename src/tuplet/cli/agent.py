"""`tuplet agent`: an agent that speaks the protocol of `ewn-6x7`, for other people's referees."""

from __future__ import annotations

import os
import random
import sys
from contextlib import suppress
from functools import cache
from typing import Annotated, Literal

from tuplet.cli.options import TIME
from tuplet.system.text import in_one_line


def agent(
    agent: str = "best",
    /,
    *,
    game: Literal["ewn-6x7"] = "ewn-6x7",
    time: Annotated[float, TIME] = 1.8,
    seed: int | None = None,
) -> int:
    """Play ewn-6x7 on standard input and output, for a referee.

    Input: Red's cubes (6 digits), Blue's (6), the die (21), f or s; then the opponent's moves;
    after a game, y for another. Output: our moves, two digits each, and nothing else.

    Parameters
    ----------
    agent
        The agent that plays: best, hard, mcts:results=rich, ... (see docs/ewn.md).
    game
        The game: only ewn-6x7 has a protocol.
    time
        Time limit per move.
    seed
        Random seed. [default: different each time]

    Examples
    --------
    tuplet agent
    tuplet agent hard
    tuplet agent mcts:results=rich --time 900ms --seed 1

    """
    from tuplet.agents.protocol.session import GAME, converse, ready
    from tuplet.agents.specs import Spec

    Spec(agent).check_agent(GAME)  # before the input is read

    @cache  # each once
    def complain(text: str) -> None:
        """Print a line on standard error, unless its reader has left or does not read."""
        with suppress(OSError, ValueError):
            if ready([], [sys.stderr.fileno()]):
                print(f"tuplet: {in_one_line(text)}", file=sys.stderr, flush=True)

    def make() -> object:
        from tuplet.agents.agent import make_agent

        return make_agent(agent, GAME)

    if sys.stdin is None:  # closed by the caller: the end of input
        return 0
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    moves = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever an agent prints is no move
    converse(make, agent, time, seed, sys.stdin.fileno(), moves, complain)
    return 0
