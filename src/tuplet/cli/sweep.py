"""`tuplet sweep`: which settings are better, and which differences are noise?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from tuplet.cli.common import check_writable, long_call, note, report_stopped, show_result
from tuplet.cli.options import (
    LIMITS,
    METHOD,
    OUTPUT,
    Cluster,
    Force,
    GameOption,
    Json,
    Out,
    Seed,
    Spawn4,
    Tls,
    Workers,
    add_command,
    examples_text,
    with_settings,
)
from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions

sweep = App(name="sweep", help="Try combinations of settings: which are better, and which differences are noise?")
Csv = Annotated[Path | None, Parameter(group=OUTPUT, help="Write a table, a line for each combination.")]
Plot = Annotated[Path | None, Parameter(group=OUTPUT, help="Draw the results: .svg, .png or .pdf.")]


def match(
    *agents: str,
    game: GameOption = "ewn-6x7",
    games: int = 1000,
    seed: Seed = 0,
    threads: Workers = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    plot: Plot = None,
    force: Force = False,
    json_: Json = False,
) -> int:
    """Play an agent with each combination of settings against the same opponent, in the same games.

    Parameters
    ----------
    agents
        The agent and its opponent, in quotes. The values to try stand in braces.
    games
        Number of games per combination. An odd number is rounded up to whole pairs.
    threads
        Number of games played at a time. It does not change the result. [default: all cores]
    out
        Save the games in this folder. The same command continues there, also with more values.

    Examples
    --------
    tuplet sweep match "mcts:ucb=ucb1,c={0.2,0.6,1.0}" hard --games 400
    tuplet sweep match "{easy,normal}" easy --game ewn --csv table.csv
    tuplet sweep match "mcts:sims={100,1000}" normal --plot sims.png

    """
    import tuplet

    if len(agents) != 2:
        expanded = " (in quotes, or the shell takes the braces)" if len(agents) > 2 else ""
        raise UserError(f"a sweep of matches takes an agent and its opponent{expanded}")
    if games % 2 and games > 0:
        note(f"Games come in pairs: {games + 1:,} are played, not {games:,}.")
    play = partial(tuplet.sweep_match, *agents, game, games=games, seed=seed, threads=threads)
    return _run(play, out, csv, plot, force, cluster, tls, json_)


def eval_(
    *player: str,
    games: int = 1000,
    seed: Seed = 0,
    spawn4: Spawn4 = None,
    threads: Workers = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    plot: Plot = None,
    force: Force = False,
    json_: Json = False,
) -> int:
    """Evaluate a player of 2048 with each combination of settings, with the same seeds.

    Parameters
    ----------
    player
        The player, in quotes. The values to try stand in braces.
    games
        Number of games per combination.
    threads
        Number of games played at a time. It does not change the result. [default: all cores]
    out
        Save the scores in this folder. The same command continues there, also with more values.

    Examples
    --------
    tuplet sweep eval "expectimax:depth={1,2},values=small" --games 50
    tuplet sweep eval "mcts:sims={50,100,200}" --games 20 --out runs/sims
    tuplet sweep eval "{small,greedy,random}" --plot players.png

    """
    import tuplet

    if len(player) != 1:
        expanded = " (in quotes, or the shell takes the braces)" if player else ""
        raise UserError(f"a sweep of evaluations takes one player{expanded}")
    play = partial(tuplet.sweep_eval, *player, games=games, spawn4=spawn4, seed=seed, threads=threads)
    return _run(play, out, csv, plot, force, cluster, tls, json_)


@with_settings(RunOptions, LIMITS, lists=True, without=("threads", "seed"))
@with_settings(Method, METHOD, lists=True)
def train(
    *,
    seeds: int = 3,
    evaluate_games: int = 1000,
    recipe: str | None = None,
    seed: int = 0,
    threads: Workers = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = Path("runs/sweep"),
    csv: Csv = None,
    plot: Plot = None,
    force: Force = False,
    json_: Json = False,
    **settings: Any,
) -> int:
    """Train a network with each combination of settings, with several seeds, and evaluate each run.

    Every option of train takes several values, separated by commas.

    Parameters
    ----------
    seeds
        Number of runs per combination, with different seeds.
    evaluate_games
        Number of games that evaluate each run.
    recipe
        Named settings, as in tuplet train.
    seed
        The first of the random seeds.
    threads
        Number of runs at a time, each on one core. [default: all cores]
    out
        The folder of the sweep, with a run folder for every seed of every combination. The same
        command continues there, also with more values and seeds.

    Examples
    --------
    tuplet sweep train --alpha 0.025,0.05,0.1 --learner td --games 5000
    tuplet sweep train --net 4x6,5x6 --budget 10m --out runs/nets
    tuplet sweep train --learner td,tc --games 20000 --plot learners.svg

    """
    import tuplet

    given = {name: value for name, value in settings.items() if value is not None}
    play = partial(
        tuplet.sweep_train,
        seeds=seeds,
        evaluate_games=evaluate_games,
        recipe=recipe,
        seed=seed,
        threads=threads,
        **given,
    )
    return _run(play, out, csv, plot, force, cluster, tls, json_)


def _run(
    play: Callable[..., Any],
    out: Path | None,
    csv: Path | None,
    plot: Path | None,
    force: bool,
    cluster: str | None,
    tls: Path | None,
    as_json: bool,
) -> int:
    """Run a sweep and show it; returns the exit code."""
    from tuplet.system.pictures import as_picture
    from tuplet.system.stop import Stopped

    if plot is not None:
        as_picture(plot)  # refuses it now, not after hours
    check_writable(plot, csv, force=force or (out is not None and out.exists()))
    then = "The games are not saved: with --out FOLDER they are kept, and the sweep can be resumed."
    if out is not None:
        then = f"Saved in {out}; the same command resumes it."
    try:
        with long_call(as_json, cluster, tls) as call:
            result = play(out=out, **call)
    except Stopped as stopped:
        raise Stopped(f"{stopped}. {then}") from None
    if plot is not None:
        result.plot(plot)
    if csv is not None:
        result.csv(csv)
    show_result(result, as_json)
    return report_stopped(result.interrupted, result.done, result.planned, result.unit, then)


sweep.help_epilogue = examples_text([add_command(sweep, each)[0] for each in (match, eval_, train)])
