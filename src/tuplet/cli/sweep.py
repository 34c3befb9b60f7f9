"""`tuplet sweep`: which settings are better, and which differences are noise?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from tuplet.cli.common import check_writable, in_pairs, run_resumable
from tuplet.cli.options import (
    LIMITS,
    METHOD,
    OUTPUT,
    PARALLEL,
    Cluster,
    Force,
    GameOption,
    Json,
    Out,
    Seed,
    Spawn4,
    Tls,
    add_command,
    examples_text,
    whole_number,
    with_settings,
)
from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions

sweep = App(name="sweep", help="Try combinations of settings: which are better, and which differences are noise?")


@Parameter(name="*")
@dataclass(frozen=True)
class SweepOptions:
    """What all sweeps take."""

    threads: Annotated[
        int | None,
        Parameter(
            group=PARALLEL,
            converter=whole_number,
            help="Number of games or runs at a time. It does not change the result. [default: all cores]",
        ),
    ] = None
    cluster: Cluster = None
    tls: Tls = None
    csv: Annotated[Path | None, Parameter(group=OUTPUT, help="Write a table, a line for each combination.")] = None
    plot: Annotated[Path | None, Parameter(group=OUTPUT, help="Draw the results: .svg, .png or .pdf.")] = None
    force: Force = False
    json_: Json = False

    def run(self, sweep: Callable[..., Any], out: Path | None) -> int:
        """Run a sweep and show it; returns the exit code."""
        from tuplet.system.pictures import as_picture

        if self.plot is not None:
            as_picture(self.plot)  # refuses it now, not after hours
        check_writable(self.plot, self.csv, force=self.force or (out is not None and out.exists()))
        play = partial(sweep, threads=self.threads)
        return run_resumable(play, out, self.json_, self.cluster, self.tls, csv=self.csv, plot=self.plot)


DEFAULTS = SweepOptions()


def match(
    *agents: str,
    game: GameOption = "ewn-6x7",
    games: int = 1000,
    seed: Seed = 0,
    out: Out = None,
    options: SweepOptions = DEFAULTS,
) -> int:
    """Play an agent with each combination of settings against the same opponent, in the same games.

    Parameters
    ----------
    agents
        The agent and its opponent, in quotes. The values to try stand in braces.
    games
        Number of games per combination. An odd number is rounded up to whole pairs.
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
    in_pairs(games)
    play = partial(tuplet.sweep_match, *agents, game, games=games, seed=seed)
    return options.run(play, out)


def eval_(
    *player: str,
    games: int = 1000,
    seed: Seed = 0,
    spawn4: Spawn4 = None,
    out: Out = None,
    options: SweepOptions = DEFAULTS,
) -> int:
    """Evaluate a player of 2048 with each combination of settings, with the same seeds.

    Parameters
    ----------
    player
        The player, in quotes. The values to try stand in braces.
    games
        Number of games per combination.
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
    play = partial(tuplet.sweep_eval, *player, games=games, spawn4=spawn4, seed=seed)
    return options.run(play, out)


@with_settings(RunOptions, LIMITS, lists=True, without=("threads", "seed"))
@with_settings(Method, METHOD, lists=True)
def train(
    *,
    seeds: int = 3,
    evaluate_games: int = 1000,
    recipe: str | None = None,
    seed: int = 0,
    out: Out = Path("runs/sweep"),
    options: SweepOptions = DEFAULTS,
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
    play = partial(tuplet.sweep_train, seeds=seeds, evaluate_games=evaluate_games, recipe=recipe, seed=seed, **given)
    return options.run(play, out)


sweep.help_epilogue = examples_text([add_command(sweep, each)[0] for each in (match, eval_, train)])
