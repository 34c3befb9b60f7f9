"""`tuplet bench`: the speed of this machine."""

from __future__ import annotations

from typing import Literal

from tuplet.cli.common import Json, long_call, show_result


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

    - 2048: trains for 10,000 games to warm up, then times 3,000 games of training and 3,000 of
      greedy play.
    - ewn: times random games, tree search and alpha-beta on ewn-6x7, and tree search on ewn beside
      that of OpenSpiel, if it is installed.
    - Other games: times random games, tree search and alpha-beta.

    Parameters
    ----------
    game
        2048, ewn, or another game: ewn:board=4x4,cubes=3, path/to/file.py:GAME.
    threads
        Number of threads. They train one network (2048) or search separately (other games).
    net
        2048: the network.
    learner
        2048: the learning rule, td (lambda 0) or tc (lambda 0.5).
    target
        2048: learn the values of after-states or of states.
    seed
        Random seed. With one thread, the same seed gives the same games.

    Examples
    --------
    tuplet bench 2048
    tuplet bench 2048 --learner tc --threads 2
    tuplet bench ewn --json

    """
    import tuplet

    with long_call(json_) as call:
        result = tuplet.bench(game, threads=threads, net=net, learner=learner, target=target, seed=seed, **call)
    show_result(result, json_)
