"""`tuplet bench`: how fast is this machine?"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from cyclopts import Parameter

WARM_UP, MEASURED = 10_000, 3_000  # games


def bench(
    game: Literal["2048", "ewn"],
    /,
    *,
    threads: int = 1,
    net: str = "4x6",
    learner: Literal["td", "tc"] = "td",
    target: Literal["afterstate", "state"] = "afterstate",
    seed: int = 0,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Measure how fast this machine learns, plays and searches.

    2048: TD(0) or TC (lambda 0.5) from the end of each game: 10,000 games to warm up, then 3,000
    games of training and 3,000 of greedy play are timed.
    ewn: random games, Monte-Carlo tree search and alpha-beta on ewn-6x7 from the start, and tree
    search on ewn beside OpenSpiel's, where that is installed.

    Parameters
    ----------
    game
        2048 or ewn.
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
    json_
        Print one JSON object.

    """
    if game == "ewn":
        from tuplet.cli.bench_ewn import bench_ewn

        bench_ewn(threads, seed, json_)
        return
    from tuplet.arena.g2048 import evaluate
    from tuplet.cli.progress import games_progress, tell_if_compiling
    from tuplet.learn.run import Run
    from tuplet.learn.settings import Settings
    from tuplet.learn.train import Training, carry_on
    from tuplet.values.network import Network

    tell_if_compiling()
    network = Network(net, target=target)

    def learn(first: int, last: int, watch: Any) -> float:
        """Train from one number of games to another; returns moves per second."""
        settings = Settings(
            net=net, learner=learner, target=target, games=last, threads=threads, seed=seed,
            checkpoint=1e9,
        )  # fmt: skip
        run = Run(settings, network)
        run.games = first
        training = Training(run)

        def show(training: Training) -> None:
            if watch is not None:
                watch(training.games, training.moves)

        carry_on(training, show)
        if run.interrupted:
            raise KeyboardInterrupt
        return training.moves / run.elapsed_s

    with games_progress(WARM_UP + MEASURED) as watch:
        learn(0, WARM_UP, watch)
        train_speed = learn(WARM_UP, WARM_UP + MEASURED, watch)
    with games_progress(MEASURED) as watch:
        result = evaluate(network, games=MEASURED, threads=threads, seed=seed + 1, watch=watch)
    report = {
        "train_moves_per_s": round(train_speed),
        "eval_moves_per_s": round(result.moves_per_s),
        "net": net,
        "learner": learner,
        "target": target,
        "threads": threads,
        "mean_score": result.summary.mean_score,
    }
    if json_:
        print(json.dumps(report))
        return
    name = {"td": "TD(0)", "tc": "TC(0.5)"}[learner]
    print(f"{net}, {name} on {target} values, {threads} thread{'s' if threads > 1 else ''}")
    print(f"training  {train_speed:>12,.0f} moves/s")
    print(f"play      {result.moves_per_s:>12,.0f} moves/s")
