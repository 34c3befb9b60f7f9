"""`tuplet check`: does a program speak the protocol of `ewn-6x7`, and how fast does it answer?"""

from __future__ import annotations

from tuplet.cli.working import INTERRUPTED, Json, show_result, working


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
    """Let a program meet all that a referee of ewn-6x7 may do, and say what it does wrong.

    First and second, many games in one process, forced moves, odd dice, long games, input in
    pieces, input that ends. What is wrong comes with what both sides said, the likely cause, and
    what to do.

    The exit code is 0 if all is well (warnings aside), 1 if something is wrong with the program, 2
    if there is no such program, 130 if you stopped it.

    Parameters
    ----------
    program
        A program: ./agent, agent.py, "python3 agent.py --level 3", exec[time=1]:./agent.
    time
        Seconds a move may take. [default: 2]
    memory
        What all its processes may have of memory, such as 1GB. [default: any]
    games
        How many games are played in one process; some more are played in others.
    seed
        Of setups, dice, and the opponents' moves.

    """
    import tuplet

    with working(quiet=json_) as work:
        result = tuplet.check(
            program, time=time, memory=memory, games=games, seed=seed, **work._asdict()
        )
    show_result(result, json_)
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.ok else 1
