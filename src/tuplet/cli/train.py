"""`tuplet train`: teach a network by letting it play."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from tuplet.games.g2048.statistics import Summary
    from tuplet.learn.run import Run


def train(
    *,
    recipe: str | None = None,
    net: str | None = None,
    board: str | None = None,
    stages: str | None = None,
    learner: Literal["tc", "td"] | None = None,
    target: Literal["afterstate", "state"] | None = None,
    alpha: float | None = None,
    schedule: str | None = None,
    gamma: float | None = None,
    lam: Annotated[float | None, Parameter(name="--lambda")] = None,
    steps: int | None = None,
    initial: float | None = None,
    delay: float | None = None,
    delay_alpha: float | None = None,
    order: Literal["backward", "forward"] | None = None,
    restart: Annotated[bool | None, Parameter(negative="")] = None,
    spawn4: float | None = None,
    games: int | None = None,
    budget: str | None = None,
    threads: int | None = None,
    seed: int | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    checkpoint: str | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Teach a network 2048 by letting it play, and keep what it learned in a run folder.

    Prints statistics for every thousand games. Ctrl-C saves; --resume goes on from there.

    Parameters
    ----------
    recipe
        Settings that go well together, by name: homework, quick, strong, small, states, restart,
        stages or optimistic (docs/learning.md says when to take which). Others given replace
        its own.
    net
        A network (4x6, 5x6, 8x6, 5x4, 4x5, 2x7, 2x8) or its tuples ("0123 4567"). [default:
        4x6, on smaller boards one of all or most cells]
    board
        The board's rows and columns, 2x2 to 4x4. [default: 4x4]
    stages
        Tables of their own for the stages of a game, told by large tiles: "16384 8192".
    learner
        How values are learned: by temporal coherence (tc), where each weight has a rate of its
        own, or by plain temporal differences (td). [default: tc]
    target
        Learn the values of after-states, or of states (slower, to compare).
        [default: afterstate]
    alpha
        The learning rate, shared by a board's weights. [default: 1.0 for tc, 0.1 for td]
    schedule
        How alpha changes in a run: constant, linear, cosine, or steps "0.5:0.1 0.9:0.01" (after
        half of the run a tenth, after nine tenths a hundredth). [default: constant]
    gamma
        The discount of later rewards. [default: 1]
    lam
        TD(lambda): 0 looks one move ahead, 1 at a game's end. [default: 0.5 for tc, 0 for td]
    steps
        n-step TD: the rewards counted before values take over. [default: 1]
    initial
        What every board is worth before learning (an optimistic start: 320000). [default: 0]
    delay
        The share of the run that is learned by TD before TC begins. [default: 0]
    delay_alpha
        The learning rate until then. [default: 0.1]
    order
        Update from the end of a game (backward) or as it goes (forward). [default: backward]
    restart
        Play on from the middle of each game, and learn from that, again until it is short.
    spawn4
        The share of new tiles that are fours. [default: 0.1]
    games
        Stop after so many games. [default: 100000 unless there is a budget]
    budget
        Stop after so much time: 60s, 10m, 2h. Picks the recipe that learns most in that time,
        unless a recipe is named, or any of net, board, stages, learner, target, initial, delay,
        order or steps is given.
    threads
        Threads that share the tables (more than one: not repeatable). [default: 1, or all cores
        with a budget]
    seed
        With one thread, the same seed gives the same bytes. [default: 0]
    out
        The run folder to make. [default: a new one in runs/]
    resume
        Go on with the run in this folder; --games, --budget and --threads may change.
    checkpoint
        Save so often. [default: 5m]
    json_
        Print only the last line of metrics, as JSON.

    """
    from tuplet.cli.progress import tell_if_compiling
    from tuplet.learn.display import watching
    from tuplet.learn.recipes import choose
    from tuplet.learn.run import CONFIG, Run
    from tuplet.learn.settings import Settings, seconds
    from tuplet.learn.train import Training, carry_on, create_folder, locked, reopen

    def block(_: Any, summary: Summary) -> None:
        from tuplet.games.g2048.statistics import printout

        if not json_:
            try:
                print(printout(training.games, summary), flush=True)
            except BrokenPipeError:  # nobody reads on (`| head`): the training goes on
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    settings: dict[str, Any] = {
        "net": net, "board": board, "stages": stages, "learner": learner, "target": target,
        "alpha": alpha, "schedule": schedule, "gamma": gamma, "lam": lam, "steps": steps,
        "initial": initial, "delay": delay, "delay_alpha": delay_alpha, "order": order,
        "restart": restart, "spawn4": spawn4, "seed": seed,
    }  # fmt: skip
    settings = {name: value for name, value in settings.items() if value is not None}
    limits: dict[str, Any] = {}
    if games is not None:
        limits["games"] = games
    if budget is not None:
        limits["budget"] = seconds(budget)
    if threads is not None:
        limits["threads"] = threads
    if checkpoint is not None:
        limits["checkpoint"] = seconds(checkpoint)

    tell_if_compiling()
    if resume is not None:
        given = [*settings, *(["recipe"] if recipe else []), *(["out"] if out else [])]
        if given:
            names = {"lam": "lambda", "delay_alpha": "delay-alpha"}
            fixed = ", ".join(f"--{names.get(name, name)}" for name in given)
            raise ValueError(f"a resumed run keeps its settings: leave out {fixed}")
        if not (resume / CONFIG).is_file():
            raise FileNotFoundError(f"{resume} is not the folder of a training run (no {CONFIG})")
        folder = resume
        if ("games" in limits) != ("budget" in limits):  # the one given takes over
            limits = {"games": None, "budget": None, **limits}
        with locked(folder), watching() as watch:
            training = reopen(folder, **limits)
            if training.done:
                raise ValueError(
                    f"the run in {folder} is finished ({training.games:,} games): "
                    "give it more with --games or --budget"
                )
            run = carry_on(training, watch, block)
    else:
        if games is None and budget is None:
            limits["games"] = 100_000
        chosen = Settings(**choose(recipe, limits.get("budget"), settings | limits))
        network = chosen.network()
        folder = create_folder(out if out is not None else _new_folder(chosen))
        with locked(folder), watching() as watch:
            training = Training(Run(chosen, network, folder))
            run = carry_on(training, watch, block)
    return _report(run, folder, json_)


def _new_folder(settings: Any) -> Path:
    """runs/4x6-tc, runs/4x6-tc-2, ...: the first that is free."""
    tuples = settings.net.replace(" ", "-").replace(",", "-")
    parts = [tuples[:40], settings.learner] + (["state"] if settings.target == "state" else [])
    if settings.board != "4x4":
        parts.insert(0, settings.board)
    base = Path("runs") / "-".join(parts)
    number = 1
    folder = base
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _report(run: Run, folder: Path, as_json: bool) -> int:
    from tuplet.learn.display import clock

    if run.interrupted:
        print(
            f"Stopped after {run.games:,} games. Saved in {folder}; "
            f"go on with  tuplet train --resume {folder}",
            file=sys.stderr,
        )
    pictures = ""
    if run.metrics:
        try:
            run.plot(folder / "curve.svg")
            run.plot(folder / "curve.png")
            pictures = f" The curve: {folder / 'curve.png'}"
        except ValueError as error:
            print(f"tuplet: no picture of the curve: {error}", file=sys.stderr)
    if as_json:
        print(json.dumps(run.metrics[-1] if run.metrics else {}))
    elif not run.interrupted:
        print(
            f"{run.games:,} games in {clock(run.elapsed_s)}. Saved in {folder}.{pictures}",
            file=sys.stderr,
        )
    return 130 if run.interrupted else 0
