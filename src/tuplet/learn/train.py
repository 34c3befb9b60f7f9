"""`train` and `resume`: the one trainer, for Python and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Unpack

from tuplet.errors import UserError
from tuplet.learn.learners import learner_named
from tuplet.learn.loggers import check_loggers, logged
from tuplet.learn.recipes import choose
from tuplet.learn.run import CONFIG, Run, as_run_folder, create_folder, locked
from tuplet.learn.settings import Method, ResumeSettings, TrainSettings, check_names, load_settings, split
from tuplet.learn.training import BlockWatcher, EvaluationWatcher, Training
from tuplet.system.blocks import as_executor
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop
from tuplet.system.tables import plural
from tuplet.values.network import Network


def train(
    net: Network | str | None = None,
    *,
    recipe: str | None = None,
    out: str | Path | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    loggers: Sequence[object] = (),
    on_block: BlockWatcher | None = None,
    on_begin: Callable[[Run], object] | None = None,
    on_evaluation: EvaluationWatcher | None = None,
    executor: Any = None,
    **settings: Unpack[TrainSettings],
) -> Run:
    """Teach a network 2048 by letting it play, and return the run.

    `games` or `budget` (seconds, or "10m") says when to stop; a budget, or a `recipe`, picks the
    network and the learner where they are not given. The settings are those of `Method` and
    `RunOptions`: learner, target, alpha, lam, order, spawn4, threads, seed, ... With `out` the run is
    kept in that folder. `stop`, or Ctrl-C, ends the training early (`run.interrupted` tells).
    Each of `loggers` is told by the methods it has: on_begin, on_block, on_evaluation, on_end.
    `on_block` is called for every block of games, with the games so far and their summary;
    `on_evaluation` when fresh games (`evaluate`) were played, with what they came to; `on_begin`
    first of all, with the run, whose `description` says in words what will be done. With an `executor`
    (of concurrent.futures, a cluster, or a Dask client) `tasks` learn apart there, and are merged.
    """
    check_loggers(loggers)
    made = net if isinstance(net, Network) else None
    given: dict[str, Any] = {**settings}
    if made is not None:
        if "initial" in given:
            raise UserError("a network has its initial value already: leave out initial")
        given |= {
            "net": made.name,
            "board": "x".join(map(str, made.size)),
            "initial": made.initial,
            "stages": " ".join(map(str, made.stages)),
        }
        if made.trained:
            given["given"] = True
        for name in ("target", "gamma", "spawn4"):
            given.setdefault(name, getattr(made, name))
    elif net is not None:
        given["net"] = net
    executor = as_executor(executor)
    if executor is not None:
        given.setdefault("tasks", executor.workers)
    method, options = split(choose(recipe, given), trusted=True)
    made = _with_meaning(made, method) if made is not None else method.network()
    run = Run(method, options, made, create_folder(Path(out)) if out is not None else None)
    with watching(progress) as watch, locked(run.folder):
        training = Training(run, stop, watch, on_block, on_evaluation, executor=executor)
        return _begin(training, on_begin, loggers)


def _begin(training: Training, on_begin: Callable[[Run], object] | None, loggers: Sequence[object]) -> Run:
    training.run.description = training.description()
    if on_begin is not None:
        on_begin(training.run)
    with logged(training, loggers):
        return training.go()


def _with_meaning(net: Network, method: Method) -> Network:
    """A network whose values will mean what the method learns."""
    if net.target != method.target and net.trained:
        raise UserError(
            f"this network holds {net.target} values and cannot go on learning "
            f"{method.target} values: start with a new network"
        )
    net.target, net.gamma, net.spawn4 = method.target, method.gamma, method.spawn4
    return net


def resume(
    folder: str | Path,
    *,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    loggers: Sequence[object] = (),
    on_block: BlockWatcher | None = None,
    on_begin: Callable[[Run], object] | None = None,
    on_evaluation: EvaluationWatcher | None = None,
    executor: Any = None,
    **changes: Unpack[ResumeSettings],
) -> Run:
    """Go on with the run in a folder, exactly where its last checkpoint left it.

    `games` or `budget` are totals, what is done already included; `threads`, `tasks`, `checkpoint`,
    `keep` and `evaluate` may change, too. A learner of one's own is found where
    `learner="file.py:NAME"` says. A run whose alpha had fallen and that is given more goes on as a
    run of the new length would: at the full rate again, until it settles once more (`run.description`
    says so).
    """
    check_loggers(loggers)
    options: dict[str, Any] = {**changes}
    check_names(set(options) - {"recipe", "out"})
    own = str(options.get("learner", ""))
    if ":" in own:
        learner_named(options.pop("learner"), trusted=True)
    free = {"games", "budget", "threads", "tasks", "checkpoint", "keep", "evaluate"}
    fixed = set(options) - free
    if fixed:
        names = ", ".join(f"--{name}" for name in sorted(fixed)).replace("_", "-")
        raise UserError(f"a resumed run keeps its settings: leave out {names}")
    folder = as_run_folder(folder)
    if ("games" in options) != ("budget" in options):  # the one given takes over
        options = {"games": None, "budget": None, **options}
    with locked(folder), watching(progress) as watch:
        executor = as_executor(executor)
        if executor is not None and not load_settings(folder / CONFIG)[1].tasks:
            options.setdefault("tasks", executor.workers)  # it goes on there
        training = Training.load(folder, executor, **options)
        if training.finished:
            if not training.run.drawn:  # it was ended in the middle of that
                training.run.draw()
                if not training.run.picture_error:
                    return training.run
            raise UserError(
                f"the run in {folder} is finished ({plural(training.games, 'game')}): "
                "give it more with --games or --budget, which are totals"
            )
        if stop is not None:
            training.stop = stop
        training.watch, training.on_block = watch, on_block
        training.on_evaluation = on_evaluation
        return _begin(training, on_begin, loggers)


def train_or_resume(
    folder: str | Path,
    *,
    recipe: str | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    loggers: Sequence[object] = (),
    **settings: Any,
) -> Run:
    """Bring the run in a folder to its end: start it, continue it, or open it if it is finished.

    The settings are those of `train`. UserError if the folder holds a run with other settings
    (threads, checkpoint and keep may differ).
    """
    folder = Path(folder)
    if not (folder / CONFIG).exists():
        return train(out=folder, recipe=recipe, progress=progress, stop=stop, loggers=loggers, **settings)
    method, options = split(choose(recipe, settings), trusted=True)
    wanted = {**asdict(method), **asdict(options)}
    saved_method, saved_options = load_settings(folder / CONFIG)
    saved = {**asdict(saved_method), **asdict(saved_options)}
    for name in saved.keys() - {"threads", "checkpoint", "keep"}:
        if saved[name] != wanted[name]:
            raise UserError(
                f"{folder} holds a run with {name} {saved[name]} (wanted {wanted[name]}): move it or choose another folder"
            )
    training = Training.load(folder)
    return training.run if training.finished else resume(folder, progress=progress, stop=stop, loggers=loggers)
