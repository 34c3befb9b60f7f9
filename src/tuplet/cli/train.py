"""`tuplet train`: teach a network by letting it play."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tuplet.cli.options import with_settings
from tuplet.cli.working import INTERRUPTED, show_result, working
from tuplet.learn.settings import Limits, Method

if TYPE_CHECKING:
    from tuplet.games.g2048.statistics import Summary
    from tuplet.learn.run import Run


@with_settings(Method, Limits)
def train(
    *,
    recipe: str | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    **settings: Any,
) -> int:
    """Teach a network 2048 by letting it play, and keep what it learned in a run folder.

    Prints statistics for every thousand games. Ctrl-C saves; --resume goes on from there.

    Parameters
    ----------
    recipe
        Settings that go well together, by name: homework, quick, strong, small, states, restart,
        stages or optimistic (docs/learning.md says when to take which). Others given replace
        its own.
    out
        The run folder to make. [default: a new one in runs/]
    resume
        Go on with the run in this folder; --games and --budget, totals, --threads and
        --checkpoint may change.
    json_
        Print only the last line of metrics, as JSON.

    """
    import tuplet
    from tuplet.learn.recipes import choose
    from tuplet.learn.run import free_folder
    from tuplet.learn.settings import split

    given = {name: value for name, value in settings.items() if value is not None}
    if resume is not None:
        given |= {name: value for name, value in (("recipe", recipe), ("out", out)) if value}
        with working() as work:
            run = tuplet.resume(
                resume, **given, **work._asdict(), on_block=None if json_ else _print_block
            )
    else:
        method, _ = split(choose(recipe, given))
        with working() as work:
            run = tuplet.train(
                recipe=recipe, **given, **work._asdict(), out=out or free_folder(method),
                on_block=None if json_ else _print_block,
            )  # fmt: skip
    return _report(run, json_)


def _print_block(games: int, summary: Summary) -> None:
    from tuplet.games.g2048.statistics import printout

    try:
        print(printout(games, summary), flush=True)
    except BrokenPipeError:  # nobody reads on (`| head`): the training goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(run: Run, as_json: bool) -> int:
    from tuplet.system.sheet import clock, counted

    if run.no_picture:
        print(f"tuplet: no picture of the curve: {run.no_picture}", file=sys.stderr)
    if run.interrupted:
        print(
            f"Stopped after {counted(run.games, 'game')}. Saved in {run.folder}; "
            f"go on with  tuplet train --resume {run.folder}",
            file=sys.stderr,
        )
    if as_json:
        show_result(run, True)
    elif not run.interrupted:
        assert run.folder is not None
        drawn = run.metrics and not run.no_picture
        picture = f" The curve: {run.folder / 'curve.png'}" if drawn else ""
        done = f"{counted(run.games, 'game')} in {clock(run.elapsed_s)}"
        print(f"{done}. Saved in {run.folder}.{picture}", file=sys.stderr)
    return INTERRUPTED if run.interrupted else 0
