"""`tuplet sweep`: which settings are better, and which differences are noise?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from tuplet.cli.options import with_settings, with_whole_numbers
from tuplet.cli.working import Cluster, Json, Tls, sharing, show_result, tell_stopped
from tuplet.learn.settings import Limits, Method

sweep = App(
    name="sweep",
    help="A grid over settings of an agent, a player or a learner: which are better?",
    help_format="plaintext",
)
Picture = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], help="Draw the picture: .svg, .png or .pdf."),
]
Csv = Annotated[Path | None, Parameter(help="Write a line for each point to this file.")]


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
    """Let an agent play at every point of a grid, in the same games, against an opponent.

    tuplet sweep match "mcts:ucb=ucb1,c={0.2,0.6,1.0}" hard --games 400

    Parameters
    ----------
    agents
        The agent and its opponent, in quotes; values in braces are the grid.
    game
        ewn, ewn-6x7, one of the family, as in ewn:board=4x4,cubes=3, or a game of your own:
        path/to/file.py:GAME.
    games
        How many games for each point; an odd number is rounded up to whole pairs.
    seed
        The same seed gives the same games.
    threads
        How many games are played at a time; the result is the same for any number. [default: all
        cores]
    out
        Keep the games in this folder; the same command goes on with it, and may add values.

    """
    import tuplet

    if len(agents) != 2:
        expanded = " (in quotes, or the shell takes the braces)" if len(agents) > 2 else ""
        raise ValueError(f"a sweep of matches takes an agent and its opponent{expanded}")
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
    """Let a player of 2048 play at every point of a grid, in games of the same numbers.

    tuplet sweep eval "expectimax:depth={1,2},values=small" --games 50

    Parameters
    ----------
    player
        The player, in quotes; values in braces are the grid.
    games
        How many games for each point.
    seed
        The same seed gives the same games.
    threads
        How many games are played at a time; the result is the same for any number. [default: all
        cores]
    spawn4
        The share of new tiles that are fours. [default: as trained, else 0.1]
    out
        Keep the scores in this folder; the same command goes on with it, and may add values.

    """
    import tuplet

    if len(player) != 1:
        expanded = " (in quotes, or the shell takes the braces)" if player else ""
        raise ValueError(f"a sweep of evaluations takes one player{expanded}")
    play = partial(tuplet.sweep_eval, *player, games=games, spawn4=spawn4)
    return _play(play, seed, threads, out, csv, output, cluster, tls, json_)


@sweep.command
@with_whole_numbers
@with_settings(Method, Limits, lists=True, without=("threads", "seed"))
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
    """Teach a network at every point of a grid, with several seeds, and judge by fresh games.

    tuplet sweep train --alpha 0.025,0.05,0.1 --learner td --games 5000 --seeds 3

    Every option of train may have several values, with commas between them: they are the grid.

    Parameters
    ----------
    seeds
        How many runs for each point.
    evaluate_games
        How many greedy games judge a run.
    recipe
        Settings that go well together, by name, as of train.
    threads
        How many runs at a time, each on one core. [default: all cores]
    seed
        The first of the seeds.
    out
        The folder of the sweep, with a run folder for every seed of every point; the same command
        goes on with it, and may add values and seeds.

    """
    import tuplet

    given = {name: value for name, value in settings.items() if value is not None}
    play = partial(
        tuplet.sweep_train, seeds=seeds, evaluate_games=evaluate_games, recipe=recipe, **given
    )
    return _play(play, seed, threads, out, csv, output, cluster, tls, json_)


def _play(
    play: Callable[..., Any], seed: int, threads: int | None, out: Path | None, csv: Path | None,
    output: Path | None, cluster: str | None, tls: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Let a sweep be played, and show it; returns the exit code."""
    from tuplet.system.pictures import as_picture
    from tuplet.system.stop import Stopped

    if output is not None:
        as_picture(output)  # refuses it now, not after hours
    if csv is not None and not csv.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {csv.parent} to write {csv.name} in")
    then = "The games are not saved: --out FOLDER keeps them, and can go on."
    if out is not None:
        then = f"Saved in {out}; the same command goes on from there."
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
    return tell_stopped(result.interrupted, result.done, result.asked, result.unit, then)
