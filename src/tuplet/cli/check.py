"""`tuplet check`: does a program speak the protocol of `ewn-6x7`, and how fast does it answer?"""

from __future__ import annotations

from tuplet.cli.common import INTERRUPTED, Json, show_result, working


def check(
    program: str,
    /,
    *,
    time: float | None = None,
    memory: str | None = None,
    games: int = 8,
    seed: int = 0,
    json_: Json = False,
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
        Time limit per move, in seconds. [default: 2]
    memory
        Memory limit for all its processes together, such as 1GB. [default: none]
    games
        Number of games played in one process. A few more are played in others.
    seed
        Random seed of setups, dice and the opponents' moves.

    """
    import tuplet

    with working(quiet=json_) as work:
        result = tuplet.check(program, time=time, memory=memory, games=games, seed=seed, **work._asdict())
    show_result(result, json_)
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.ok else 1
