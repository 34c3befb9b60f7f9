"""`tuplet check`: a program's test against the protocol of `ewn-6x7`."""

from __future__ import annotations

from tuplet.cli.common import INTERRUPTED, Json, long_call, show_result
from tuplet.cli.options import Time


def check(
    program: str, /, *, time: Time = None, memory: str | None = None, games: int = 8, seed: int = 0, json_: Json = False
) -> int:
    """Test a program against the ewn-6x7 protocol.

    It plays first and second, many games in one process, forced moves, unusual dice, long games,
    input in pieces and input that ends. For each problem you see what both sides wrote, the likely
    cause and what to do.

    The exit code is 0 if all is well (there may be warnings), 1 if the program has a problem, 2 if
    there is no such program, 130 if you stopped it.

    Parameters
    ----------
    program
        A program: ./agent, agent.py, "python3 agent.py --level 3", exec[time=1]:./agent.
    time
        Time limit per move. [default: 2s]
    memory
        Memory limit for all its processes together, such as 1GB. [default: none]
    games
        Number of games played in one process. A few more are played in others.
    seed
        Random seed of setups, dice and the opponents' moves.

    Examples
    --------
    tuplet check ./agent
    tuplet check "python3 agent.py --level 3" --time 500ms
    tuplet check agent.py --games 20 --memory 1GB --json

    """
    import tuplet

    with long_call(json_) as call:
        result = tuplet.check(program, time=time, memory=memory, games=games, seed=seed, **call)
    show_result(result, json_)
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.ok else 1
