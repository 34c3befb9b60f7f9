"""`tuplet train`: teach a network by letting it play."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tuplet.cli.common import INTERRUPTED, Cluster, Tls, check_writable, sharing, show_result
from tuplet.cli.options import with_settings
from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions

if TYPE_CHECKING:
    from tuplet.games.g2048.statistics import Summary
    from tuplet.learn.run import Run


@with_settings(Method, RunOptions)
def train(
    *,
    recipe: str | None = None,
    out: Path | None = None,
    tensorboard: bool = False,
    resume: Path | None = None,
    runs: int = 1,
    evaluate_games: int = 1000,
    csv: Path | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
    **settings: Any,
) -> int:
    """Train a network to play 2048, and save it in a run folder.

    Prints statistics after every 1,000 games. Ctrl-C saves the run; --resume continues it.

    Parameters
    ----------
    recipe
        Named settings that work well together: homework, quick, grown, strong, small, states,
        restart, stages or optimistic (see docs/learning.md). Other options override the recipe's.
    out
        The run folder to create. [default: a new one in runs/]
    tensorboard
        Also write TensorBoard logs to the run folder (needs pip install 'tuplet[tensorboard]').
    resume
        Continue the run in this folder. You may change --games and --budget (they are totals),
        --threads, --tasks, --checkpoint, --keep and --evaluate.
    runs
        Train this many runs with different seeds in parallel, each on one core; keep the best and
        the average.
    evaluate_games
        With --runs: number of games that evaluate each run.
    csv
        Also write a table of the metrics to this file, a line for each block of games (with --runs,
        for each run).
    json_
        Print only the last line of metrics, as JSON.

    """
    import tuplet
    from tuplet.learn.recipes import choose
    from tuplet.learn.run import free_folder
    from tuplet.learn.settings import split

    check_writable(csv)
    given = {name: value for name, value in settings.items() if value is not None}
    told: dict[str, Any] = {"on_begin": _say, "loggers": _loggers(tensorboard)}
    if not json_:
        told |= {"on_block": _print_block, "on_evaluation": _print_evaluation}
    if runs != 1:
        if resume is not None or tensorboard:
            raise UserError("--runs has no --resume (the same command resumes it) and no --tensorboard")
        with sharing(cluster, tls, quiet=json_) as work:
            found = tuplet.population(
                runs=runs,
                evaluate_games=evaluate_games,
                recipe=recipe,
                out=out or Path("runs/population"),
                **given,
                **work._asdict(),
            )
        if csv is not None:
            found.csv(csv)
        show_result(found, json_)
        return INTERRUPTED if found.interrupted else 0
    if resume is not None:
        given |= {name: value for name, value in (("recipe", recipe), ("out", out)) if value}
        with sharing(cluster, tls) as work:
            run = tuplet.resume(resume, **given, **work._asdict(), **told)
    else:
        method, _ = split(choose(recipe, given), trusted=True)
        with sharing(cluster, tls) as work:
            run = tuplet.train(recipe=recipe, **given, **work._asdict(), **told, out=out or free_folder(method))
    if csv is not None:
        run.csv(csv)
    return _report(run, json_)


def _loggers(tensorboard: bool) -> list[object]:
    if not tensorboard:
        return []
    from tuplet.adapters.tensorboard import TensorBoard

    return [TensorBoard()]


def _say(run: Run) -> None:
    """Say first what will be done."""
    method = run.method
    print(f"{run.folder}: {method.net}, {method.name}. {run.description}.", file=sys.stderr)


def _print_block(games: int, summary: Summary) -> None:
    from tuplet.games.g2048.statistics import printout

    _print(printout(games, summary))


def _print_evaluation(told: dict[str, Any]) -> None:
    low, high = told["ci95"]
    _print(
        f"{told['learned']}\tfresh games: avg = {told['mean_score']:.1f}\tmax = {told['max_score']}"
        f"\t({told['games']} games, 95 %: {low:.1f} to {high:.1f})"
    )


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # nobody reads on (`| head`): the training goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(run: Run, as_json: bool) -> int:
    from tuplet.system.tables import format_duration, plural

    if run.picture_error:
        print(f"tuplet: no picture of the curve: {run.picture_error}", file=sys.stderr)
    if run.save_error:  # a warning has told it
        return 2
    if run.interrupted:
        print(
            f"Stopped after {plural(run.games, 'game')}. Saved in {run.folder}; "
            f"resume with  tuplet train --resume {run.folder}",
            file=sys.stderr,
        )
    if as_json:
        show_result(run, True)
    elif not run.interrupted:
        assert run.folder is not None
        drawn = run.metrics and not run.picture_error
        picture = f" The curve: {run.folder / 'curve.png'}" if drawn else ""
        done = f"{plural(run.games, 'game')} in {format_duration(run.elapsed_s)}"
        print(f"{done}. Saved in {run.folder}.{picture}", file=sys.stderr)
    return INTERRUPTED if run.interrupted else 0
