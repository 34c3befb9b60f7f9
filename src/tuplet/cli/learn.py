"""Commands to learn: train, resume, population, plot, convert."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tuplet.cli.common import INTERRUPTED, check_writable, long_call, note, progress_display, show_result
from tuplet.cli.options import LIMITS, METHOD, OUTPUT, Cluster, Csv, Force, Json, Out, Tls, with_settings
from tuplet.errors import UserError
from tuplet.learn.settings import Method, RunOptions

if TYPE_CHECKING:
    from tuplet.games.g2048.statistics import Summary
    from tuplet.learn.game_play import GameSummary
    from tuplet.learn.run import Run


Recipe = Annotated[
    str | None,
    Parameter(
        help="Named settings that work well together: homework, quick, grown, strong, small, states, restart, stages "
        "or optimistic (see docs/learning.md). Other options override the recipe's."
    ),
]
TensorBoard = Annotated[
    bool,
    Parameter(
        name="--tensorboard",
        group=OUTPUT,
        help="Also write TensorBoard logs to the run folder (needs pip install 'tuplet[tensorboard]').",
    ),
]
Metrics = Annotated[bool, Parameter(name="--json", group=OUTPUT, help="Print only the last line of metrics, as JSON.")]


@with_settings(RunOptions, LIMITS)
@with_settings(Method, METHOD)
def train(
    game: str = "2048",
    /,
    *,
    recipe: Recipe = None,
    folder: Annotated[Path | None, Parameter(name="--resume")] = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
    tensorboard: TensorBoard = False,
    json_: Metrics = False,
    **settings: Any,
) -> int:
    """Train a network to play a game, and save it in a run folder.

    Prints statistics after every 1,000 games of 2048, and each evaluation of other games. Ctrl-C saves the run;
    tuplet resume continues it.

    Parameters
    ----------
    game
        2048, ewn, ewn-6x7, ewn:board=4x4,cubes=3, or your own game that has an encoding, file.py:GAME.
    folder
        Continue the run in this folder, as tuplet resume does.
    out
        The run folder to create. A run that exists is not overwritten. [default: a new one in runs/]
    csv
        Write a table of the metrics, a line for each block of games.

    Examples
    --------
    tuplet train --budget 10m --out runs/first
    tuplet train --recipe homework --games 20000 --seed 1
    tuplet train ewn --budget 60s --out runs/ewn

    """
    import tuplet
    from tuplet.learn.run import free_folder

    given = _given(settings)
    if game != "2048":
        given["game"] = game
    if folder is not None:
        more = {"cluster": cluster, "tls": tls, "csv": csv, "force": force, "tensorboard": tensorboard, "json_": json_}
        return resume(folder, **more, **given, **_given({"recipe": recipe, "out": out}))  # type: ignore[arg-type]
    check_writable(csv, force=force)
    with long_call(False, cluster, tls) as call:
        loggers = _loggers(tensorboard, json_)
        run = tuplet.train(recipe=recipe, **given, **call, loggers=loggers, out=out or free_folder)
    return _report(run, csv, json_)


@with_settings(RunOptions, LIMITS)
def resume(
    run: Path,
    /,
    *,
    alpha: float | None = None,
    spawn4: float | None = None,
    net: str | None = None,
    learner: str | None = None,
    game: str | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    csv: Csv = None,
    force: Force = False,
    tensorboard: TensorBoard = False,
    json_: Metrics = False,
    **settings: Any,
) -> int:
    """Continue a training run where it ended.

    --games and --budget are totals: they include what was done before.

    Parameters
    ----------
    run
        The run folder.
    alpha
        Another learning rate from now on.
    spawn4
        Another probability of a 4 from now on.
    net
        Tuples to add: 8g, or "0156ab 012356". Their weights start at 0, so no value changes.
    learner
        Your own learning rule, as the run names it: file.py:LEARNER. (A run folder alone never runs code.)
    game
        Your own game, as the run names it: file.py:GAME.
    csv
        Write a table of the metrics, a line for each block of games.

    Examples
    --------
    tuplet resume runs/first
    tuplet resume runs/first --budget 20m
    tuplet resume runs/first --games 200000 --threads 2 --evaluate 1000@10m
    tuplet resume runs/first --alpha 0.01 --net 8g

    """
    import tuplet

    check_writable(csv, force=force)
    with long_call(False, cluster, tls) as call:
        method = {"alpha": alpha, "spawn4": spawn4, "net": net, "learner": learner, "game": game}
        changes = _given({**method, **settings})
        done = tuplet.resume(run, **changes, **call, loggers=_loggers(tensorboard, json_))
    return _report(done, csv, json_)


@with_settings(RunOptions, LIMITS)
@with_settings(Method, METHOD)
def population(
    *,
    seeds: int = 4,
    evaluate_games: int = 1000,
    recipe: Recipe = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = Path("runs/population"),
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
    **settings: Any,
) -> int:
    """Train runs with different seeds in parallel, each on one core; keep the best and the average.

    Ctrl-C saves the runs; the same command continues them.

    Parameters
    ----------
    seeds
        Number of runs.
    evaluate_games
        Number of games that evaluate each run.
    out
        The folder of the runs.
    csv
        Write a table, a line for each run.

    Examples
    --------
    tuplet population --seeds 4 --games 20000
    tuplet population --seeds 8 --recipe quick --games 20000 --out runs/eight
    tuplet population --seeds 8 --budget 10m --cluster tcp://host:8786

    """
    import tuplet

    assert out is not None
    check_writable(csv, force=force or out.exists())
    with long_call(json_, cluster, tls) as call:
        result = tuplet.population(
            seeds=seeds, evaluate_games=evaluate_games, recipe=recipe, out=out, **_given(settings), **call
        )
    if csv is not None:
        result.csv(csv)
    show_result(result, json_)
    return INTERRUPTED if result.interrupted else 0


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _loggers(tensorboard: bool, as_json: bool) -> list[object]:
    loggers: list[object] = [_Announcer() if as_json else _Printer()]
    if tensorboard:
        from tuplet.adapters.tensorboard import TensorBoard

        loggers.append(TensorBoard())
    return loggers


class _Announcer:
    """Prints what the training will do."""

    def on_begin(self, run: Run) -> None:
        method = run.method
        game = "" if method.game == "2048" else f"{method.game}, "
        note(f"{run.folder}: {game}{method.net}, {method.name}. {run.description}.")


class _Printer(_Announcer):
    """Prints each block of games and each evaluation, too."""

    def on_block(self, games: int, summary: Summary | GameSummary) -> None:
        from tuplet.games.g2048.statistics import Summary, printout

        if isinstance(summary, Summary):
            _print(printout(games, summary))

    def on_evaluation(self, evaluation: dict[str, Any]) -> None:
        mean, (low, high) = evaluation["mean_score"], evaluation["ci95"]
        if "opponent" in evaluation:
            _print(
                f"{evaluation['learned']}\tagainst {evaluation['opponent']}: {100 * mean:.1f} %"
                f"\t({evaluation['games']} games, 95 %: {100 * low:.1f} to {100 * high:.1f})"
            )
            return
        best = evaluation.get("max_score", "-")
        _print(
            f"{evaluation['learned']}\tfresh games: avg = {mean:.1f}\tmax = {best}"
            f"\t({evaluation['games']} games, 95 %: {low:.1f} to {high:.1f})"
        )


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader has left (`| head`): the training goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(run: Run, csv: Path | None, as_json: bool) -> int:
    from tuplet.system.tables import format_duration, plural

    if csv is not None:
        run.csv(csv)
    if run.picture_error:
        print(f"tuplet: no picture of the curve: {run.picture_error}", file=sys.stderr)
    if run.save_error:  # a warning has said it
        return 2
    if run.interrupted:
        note(
            f"Stopped after {plural(run.games, 'game')}. Saved in {run.folder}; resume with  tuplet resume {run.folder}"
        )
    if as_json:
        show_result(run, True)
    elif not run.interrupted:
        assert run.folder is not None
        drawn = run.metrics and not run.picture_error
        picture = f" The curve: {run.folder / 'curve.png'}" if drawn else ""
        note(f"{plural(run.games, 'game')} in {format_duration(run.elapsed_s)}. Saved in {run.folder}.{picture}")
    return INTERRUPTED if run.interrupted else 0


def plot(
    runs: list[Path],
    /,
    *,
    log: bool = False,
    by: Literal["games", "time"] = "games",
    band: bool = False,
    iqm: bool = False,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Draw the learning curves of one or more runs: mean score against games or time.

    Parameters
    ----------
    runs
        Run folders.
    log
        Use a logarithmic axis for games or time.
    by
        Draw against games, or against minutes.
    band
        Draw runs that differ only in their seeds as one curve: their mean, with a band for its 95 %
        interval (Student's t).
    iqm
        As --band, with the interquartile mean and its bootstrap interval, which one outlier does not
        move.
    out
        The picture to write: .png, .svg or .pdf. [default: the run's own curve.png, which is drawn
        anew, or curves.png for several]
    csv
        Write a table of all metrics, a line for each block of games.

    Examples
    --------
    tuplet plot runs/first
    tuplet plot runs/td runs/tc --log --out curves.svg
    tuplet plot runs/seed-0 runs/seed-1 --band --by time --csv metrics.csv

    """
    import tuplet

    path = out or (runs[0] / "curve.png" if len(runs) == 1 else Path("curves.png"))
    check_writable(csv, None if out is None and len(runs) == 1 else path, force=force)
    result = tuplet.plot(*runs, path=path, log=log, by=by, band=band, iqm=iqm)
    if csv is not None:
        result.csv(csv)
    if json_:
        show_result(result, True)
    else:
        print(path)


Format = Literal["tuplet", "packed", "demo", "tdl2048", "framework", "framework-2017", "hub"]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    to: Format | None = None,
    net: str | None = None,
    first: Literal["low", "high"] = "low",
    size: str | None = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Convert a network's weights to another program's format, or to tuplet's.

    Parameters
    ----------
    source
        A run folder, a model folder, or a weight file of tuplet (packed or not), TDL2048-Demo,
        TDL2048+ or the 2048-Framework.
    target
        The file or model folder to write.
    to
        The format to write. packed is small, with rounded weights, and is for playing only. hub is
        a model folder; 1,000 games are played for its model card. [default: by the file's ending:
        .safetensors tuplet, .xz packed, .bin demo, .w tdl2048]
    net
        The tuples of a 2048-Framework file, which does not name them: "0123 4567 ...". [default:
        the named network with tables of the same sizes]
    first
        2048-Framework files: whether a tuple's first cell is the lowest or the highest digit of the
        index. If both files are of this kind, it describes the source.
    size
        packed: the largest size of the file, such as 32M. Weights are rounded until it fits.
        [default: rounded so little that play is not affected]

    Examples
    --------
    tuplet convert runs/first weights.bin
    tuplet convert runs/first small.xz --size 32M
    tuplet convert runs/first model --to hub

    """
    import tuplet
    from tuplet.learn.hub import CARD, check_model_folder

    if to != "hub":
        check_writable(target, force=force)
    else:
        check_model_folder(target)
        if (target / CARD).exists() and not force:
            raise UserError(f"{target} exists: add --force to replace the model, or name another folder")
    with progress_display() as progress:  # Ctrl-C: the file is written whole, or not at all
        result = tuplet.convert(source, target, to=to, net=net, first=first, size=size, progress=progress)
    show_result(result, json_)
