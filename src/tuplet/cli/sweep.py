"""`tuplet sweep`: which settings are better, and which differences are noise?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from tuplet.cli.common import Cluster, Json, Tls, report_stopped, sharing, show_result
from tuplet.cli.options import with_settings, with_whole_numbers
from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions

sweep = App(name="sweep", help="Try combinations of settings: which are better, and which differences are noise?")
Picture = Annotated[
    Path | None, Parameter(name=["--output", "-o"], help="Draw the results into this file: .svg, .png or .pdf.")
]
Csv = Annotated[Path | None, Parameter(help="Write a table to this file, a line for each combination.")]


@sweep.command
@with_whole_numbers
def match(
    *agents: str,
    game: str = "ewn-6x7",
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    out: Path | None = None,
    csv: Csv = None,
    output: Picture = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> int:
    """Play an agent with each combination of settings against the same opponent, in the same games.

    tuplet sweep match "mcts:ucb=ucb1,c={0.2,0.6,1.0}" hard --games 400

    Parameters
    ----------
    agents
        The agent and its opponent, in quotes. The values to try stand in braces.
    game
        ewn, ewn-6x7, another variant of EWN such as ewn:board=4x4,cubes=3, or your own game:
        path/to/file.py:GAME.
    games
        Number of games per combination. An odd number is rounded up to whole pairs.
    seed
        Random seed. The same seed gives the same games.
    threads
        Number of games played at a time. It does not change the result. [default: all cores]
    out
        Save the games in this folder. The same command continues there, also with more values.

    """
    import tuplet

    if len(agents) != 2:
        expanded = " (in quotes, or the shell takes the braces)" if len(agents) > 2 else ""
        raise UserError(f"a sweep of matches takes an agent and its opponent{expanded}")
    if games % 2 and games > 0:
        print(f"Games come in pairs: {games + 1:,} are played, not {games:,}.", file=sys.stderr)
    play = partial(tuplet.sweep_match, *agents, game, games=games)
    return _play(play, seed, threads, out, csv, output, cluster, tls, json_)


@sweep.command(name="eval")
@with_whole_numbers
def eval_(
    *player: str,
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    spawn4: float | None = None,
    out: Path | None = None,
    csv: Csv = None,
    output: Picture = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> int:
    """Evaluate a player of 2048 with each combination of settings, with the same seeds.

    tuplet sweep eval "expectimax:depth={1,2},values=small" --games 50

    Parameters
    ----------
    player
        The player, in quotes. The values to try stand in braces.
    games
        Number of games per combination.
    seed
        Random seed. The same seed gives the same games.
    threads
        Number of games played at a time. It does not change the result. [default: all cores]
    spawn4
        The probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    out
        Save the scores in this folder. The same command continues there, also with more values.

    """
    import tuplet

    if len(player) != 1:
        expanded = " (in quotes, or the shell takes the braces)" if player else ""
        raise UserError(f"a sweep of evaluations takes one player{expanded}")
    play = partial(tuplet.sweep_eval, *player, games=games, spawn4=spawn4)
    return _play(play, seed, threads, out, csv, output, cluster, tls, json_)


@sweep.command
@with_whole_numbers
@with_settings(Method, RunOptions, lists=True, without=("threads", "seed"))
def train(
    *,
    seeds: int = 3,
    evaluate_games: int = 1000,
    recipe: str | None = None,
    threads: int | None = None,
    seed: int = 0,
    out: Path = Path("runs/sweep"),
    csv: Csv = None,
    output: Picture = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
    **settings: Any,
) -> int:
    """Train a network with each combination of settings, with several seeds, and evaluate each run.

    tuplet sweep train --alpha 0.025,0.05,0.1 --learner td --games 5000 --seeds 3

    Every option of train takes several values, separated by commas.

    Parameters
    ----------
    seeds
        Number of runs per combination.
    evaluate_games
        Number of games that evaluate each run.
    recipe
        Named settings, as in tuplet train.
    threads
        Number of runs at a time, each on one core. [default: all cores]
    seed
        The first of the random seeds.
    out
        The folder of the sweep, with a run folder for every seed of every combination. The same
        command continues there, also with more values and seeds.

    """
    import tuplet

    given = {name: value for name, value in settings.items() if value is not None}
    play = partial(tuplet.sweep_train, seeds=seeds, evaluate_games=evaluate_games, recipe=recipe, **given)
    return _play(play, seed, threads, out, csv, output, cluster, tls, json_)


def _play(
    play: Callable[..., Any],
    seed: int,
    threads: int | None,
    out: Path | None,
    csv: Path | None,
    output: Path | None,
    cluster: str | None,
    tls: Path | None,
    as_json: bool,
) -> int:
    """Let a sweep be played, and show it; returns the exit code."""
    from tuplet.system.pictures import as_picture
    from tuplet.system.stop import Stopped

    if output is not None:
        as_picture(output)  # refuses it now, not after hours
    if csv is not None and not csv.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {csv.parent} to write {csv.name} in")
    then = "The games are not saved: with --out FOLDER they are kept, and the sweep can be resumed."
    if out is not None:
        then = f"Saved in {out}; the same command resumes it."
    try:
        with sharing(cluster, tls, quiet=as_json) as work:
            result = play(seed=seed, threads=threads, out=out, **work._asdict())
    except Stopped as stopped:
        raise Stopped(f"{stopped}. {then}") from None
    if output is not None:
        result.plot(output)
    if csv is not None:
        result.csv(csv)
    show_result(result, as_json)
    return report_stopped(result.interrupted, result.done, result.planned, result.unit, then)
