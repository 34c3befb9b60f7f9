"""`train`, `resume` and `learn_from`: how a network learns, from Python and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from tuplet.errors import UserError
from tuplet.games.formats import read_game
from tuplet.games.g2048.rules import view
from tuplet.games.record import Record
from tuplet.games.registry import find_game
from tuplet.learn.learners import learner_named
from tuplet.learn.recipes import choose
from tuplet.learn.recorder import Loggers
from tuplet.learn.run import CONFIG, Run, as_run_folder, create_folder, locked
from tuplet.learn.run_command import option_name
from tuplet.learn.settings import CHANGES, Method, ResumeSettings, TrainSettings, check_names, load_settings, split
from tuplet.learn.td import AHEAD, learn_backward, learn_forward
from tuplet.learn.training import Training
from tuplet.system.blocks import as_executor
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop
from tuplet.system.tables import plural
from tuplet.values.game_network import GameNetwork
from tuplet.values.network import Network

CHANGEABLE = {"games", "budget", "threads", "tasks", "checkpoint", "keep", "evaluate"}  # by `resume`


def train(
    net: Network | GameNetwork | str | None = None,
    *,
    recipe: str | None = None,
    out: str | Path | Callable[[Method], Path] | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    loggers: Sequence[object] = (),
    executor: Any = None,
    **settings: Unpack[TrainSettings],
) -> Run:
    """Train a network to play 2048, or the `game` given, by self-play, and return the run.

    `games` or `budget` (seconds, or "10m") says when to stop. A budget, or a `recipe`, picks the
    network and the learner unless they are given. The settings are those of `Method` and `RunOptions`:
    learner, target, alpha, lam, order, spawn4, threads, seed, ... With `out` the run is saved in that
    folder (or in the one that a function of the method returns). `stop`, or Ctrl-C, ends the training
    early (then `run.interrupted` is true). `loggers` are objects with any of the methods on_begin(run),
    on_block(games, summary), on_evaluation(evaluation) and on_end(run). With an `executor` (of
    concurrent.futures, a cluster, or a Dask client), `tasks` learn separately there and are merged in
    rounds.
    """
    stop = stop or Stop()
    checked_loggers = Loggers(loggers, stop)
    network = net if isinstance(net, Network | GameNetwork) else None
    chosen: dict[str, Any] = {**settings}
    if isinstance(network, GameNetwork):
        find_game(network.game)  # so that the settings can name it
        chosen |= {"net": network.name, "game": network.game.name, "gamma": network.gamma}
        if network.trained:
            chosen["given"] = True
    elif network is not None:
        if "initial" in chosen:
            raise UserError("a network has its initial value already: leave out initial")
        chosen |= {
            "net": network.name,
            "board": "x".join(map(str, network.size)),
            "initial": network.initial,
            "stages": " ".join(map(str, network.stages)),
        }
        if network.trained:
            chosen["given"] = True
        for name in ("target", "gamma", "spawn4"):
            chosen.setdefault(name, getattr(network, name))
    elif net is not None:
        chosen["net"] = net
    pool = as_executor(executor)
    if pool is not None:
        chosen.setdefault("tasks", pool.workers)
    method, options = split(choose(recipe, chosen), trusted=True)
    network = method.network() if network is None else _prepared(network, method)
    folder = out(method) if callable(out) else out
    run = Run(method, options, network, None if folder is None else create_folder(Path(folder)))
    with watching(progress) as watch, locked(run.folder) as begin:
        training = Training(run, stop=stop, watch=watch, loggers=checked_loggers, executor=pool)
        with checked_loggers.open(run):
            begin()
            return training.train()


def _prepared(net: Network | GameNetwork, method: Method) -> Network | GameNetwork:
    """A network whose values will mean what the method learns."""
    if isinstance(net, GameNetwork):
        return net
    if net.target != method.target and net.trained:
        raise UserError(
            f"this network has {net.target} values and cannot learn {method.target} values: start with a new network"
        )
    net.target, net.gamma, net.spawn4 = method.target, method.gamma, method.spawn4
    return net


def resume(
    folder: str | Path,
    *,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    loggers: Sequence[object] = (),
    executor: Any = None,
    **changes: Unpack[ResumeSettings],
) -> Run:
    """Continue the run in a folder, exactly where its last checkpoint left it.

    `games` and `budget` are totals, including what is done already; `threads`, `tasks`, `checkpoint`,
    `keep` and `evaluate` may change, too. `alpha`, for 2048 also `spawn4` and `net` (tuples to add), change
    from this game on, and the run's `change` records it. `learner="file.py:NAME"` says where the code of
    your own learner is, and `game="file.py:GAME"` that of your own game. A run whose alpha had fallen and
    that is continued beyond its length goes on as a run of the new length would: at the full rate again,
    until it settles once more (`run.description` says so).
    """
    stop = stop or Stop()
    checked_loggers = Loggers(loggers, stop)
    options: dict[str, Any] = {**changes}
    check_names(set(options) - {"recipe", "out"})
    if "game" in options:
        find_game(options.pop("game"), trusted=True)  # the code of the user's own game; the folder names it
    if ":" in str(options.get("learner", "")):
        learner_named(options.pop("learner"), trusted=True)
    method = {name: options.pop(name) for name in CHANGES if name in options}
    fixed = set(options) - CHANGEABLE
    if fixed:
        names = ", ".join(f"--{option_name(name)}" for name in sorted(fixed)).replace("_", "-")
        raise UserError(f"a resumed run keeps its settings: leave out {names}")
    folder = as_run_folder(folder)
    if ("games" in options) != ("budget" in options):  # the one given replaces both
        options = {"games": None, "budget": None, **options}
    with locked(folder) as begin, watching(progress) as watch:
        pool = as_executor(executor)
        if pool is not None and not load_settings(folder / CONFIG)[1].tasks:
            options.setdefault("tasks", pool.workers)
        training = Training.load(
            folder, options=options, changes=method, stop=stop, watch=watch, loggers=checked_loggers, executor=pool
        )
        run = training.run
        if training.finished:
            if not run.drawn:  # it was killed while the curve was drawn
                run.draw()
                if not run.picture_error:
                    return run
            raise UserError(
                f"the run in {folder} is finished ({plural(run.games, 'game')}): "
                "extend it with --games or --budget, which are totals"
            )
        with checked_loggers.open(run):
            begin()
            return training.train()


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
    wanted, saved = (
        {name: value for part in parts for name, value in asdict(part).items()}
        for parts in (split(choose(recipe, settings), trusted=True), load_settings(folder / CONFIG))
    )
    for name in saved.keys() - {"threads", "checkpoint", "keep"}:
        if saved[name] != wanted[name]:
            raise UserError(
                f"{folder} holds a run with {name} {saved[name]}, not {wanted[name]}: move it or choose another folder"
            )
    training = Training.load(folder)
    return training.run if training.finished else resume(folder, progress=progress, stop=stop, loggers=loggers)


def learn_from(net: Network, record: Record | str, **settings: Any) -> None:
    """Update a network by one finished episode (or its text), as training does after a game.

    By TD(0) with alpha 0.1, from the end, unless settings of `Method` say otherwise: learner, alpha,
    lam, steps, order.
    """
    if isinstance(record, str):
        record = read_game(record)
    learner = learner_named(str(settings.pop("learner", "td")), trusted=True)
    method = Method(**{"learner": learner.name, "gamma": net.gamma, **settings})
    hyper = method.hyperparameters_at(0.0)
    tables = net.tables_with_memory(learner.memory, learner.memory_per_weight)
    states = net.target == "state"
    boards, rewards = [], []
    for position, move in record.replay():
        after, reward = position.board.move(move)
        boards.append(view(*(position.board if states else after).packed))
        rewards.append(reward)
    path, gains = np.array(boards, np.uint64), np.array(rewards, np.uint32)
    if hyper.forward:
        learn_forward(tables, hyper, states, path, gains, len(path))
    else:
        ring = np.zeros(AHEAD * net.m, np.uint64)
        learn_backward(tables, hyper, states, path, gains, len(path), ring)
