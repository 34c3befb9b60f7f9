"""`tuplet bench`: how fast is this machine?"""

from __future__ import annotations

from typing import Literal

from tuplet.cli.working import Json, show_result, working


def bench(
    game: str,
    /,
    *,
    threads: int = 1,
    net: str = "4x6",
    learner: Literal["td", "tc"] = "td",
    target: Literal["afterstate", "state"] = "afterstate",
    seed: int = 0,
    json_: Json = False,
) -> None:
    """Measure how fast this machine learns, plays and searches.

    2048: TD(0) or TC (lambda 0.5) from the end of each game: 10,000 games to warm up, then 3,000
    games of training and 3,000 of greedy play are timed.
    ewn: random games, Monte-Carlo tree search and alpha-beta on ewn-6x7 from the start, and tree
    search on ewn beside OpenSpiel's, where that is installed.
    Another game: random games, tree search and alpha-beta from its start.

    Parameters
    ----------
    game
        2048, ewn, or another game: ewn:board=4x4,cubes=3, path/to/file.py:GAME.
    threads
        Threads that share the table (2048), or search side by side (ewn).
    net
        The network (2048).
    learner
        td or tc (2048).
    target
        Values of after-states or of states (2048).
    seed
        The same seed gives the same games (with one thread).

    """
    import tuplet

    with working(quiet=json_) as work:
        result = tuplet.bench(
            game, threads=threads, net=net, learner=learner, target=target, seed=seed,
            **work._asdict(),
        )  # fmt: skip
    show_result(result, json_)
