"""`reproduce`: run an experiment again."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.kernel import as_seed
from tuplet.studies.context import StudyContext
from tuplet.studies.page import write
from tuplet.studies.report import Report, StudyResult
from tuplet.system.blocks import as_executor, as_threads, cores
from tuplet.system.pictures import new_figure
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop
from tuplet.system.tables import Displayable, Table, TextTable

FOLDER = Path("studies")  # default parent folder of studies


class Study(NamedTuple):
    """An experiment. Its function has its name, and says in its docstring what was published."""

    about: str
    duration: str  # in full, on two cores
    module: str


STUDIES = {
    "td-state": Study("TD(0) on states, 100,000 games", "18 min", "td_reports"),
    "td-afterstate": Study("TD(0) on after-states, and one report's strength table", "10 min", "td_reports"),
    "td-state-80-20": Study("TD(0) on states where one new tile in five is a 4", "2 h", "td_reports"),
    "state-or-afterstate": Study("both of these at equal games, time and look-ups", "20 min", "td_reports"),
    "isomorphism": Study("eight placements of a tuple or one, how many tables", "20 min", "td_reports"),
    "td-targets": Study("what the slips in reports' updates cost", "30 min", "td_reports"),
    "ewn-algorithms": Study("MCS and MCTS, step by step, against three opponents", "2 h", "ewn_report"),
    "ewn-c": Study("how much the exploration constant c matters", "2 h", "ewn_report"),
    "ewn-temperature": Study("moves drawn at random, in the descent and at the end", "35 min", "ewn_report"),
    "ewn-variance": Study("what the variance term of UCB1-Tuned gives", "1 h", "ewn_report"),
    "ewn-shortcuts": Study("what shortcuts, batches and late expansion are worth", "40 min", "ewn_report"),
    "ewn-variants": Study("MCTS against plain Monte-Carlo on three variants of EWN", "10 min", "ewn_variants"),
    "ewn-strength": Study("the agents of EWN at equal time, and what their moves lose", "2 h", "ewn_strength"),
    "leaderboard": Study("which recipe plays best after 1, 3, 10 and 30 minutes", "5 h", "leaderboard"),
    "tuples": Study("which tuples should join a network: by what each takes off its error", "10 min", "tuples"),
    "looking-ahead": Study("score against the time that a move may take, 0.1 to 10 ms", "1 h", "looking_ahead"),
    "rounds": Study("one training by several learners, merged in rounds (simulated)", "1 h", "rounds"),
    "regret": Study("learned values approach perfect play on boards that are solved", "5 min", "regret"),
}


class Listed(Displayable):
    """The studies there are."""

    def table(self) -> Table:
        """A row for each."""
        return Table(("study", "about", "takes"), [(name, *study[:2]) for name, study in STUDIES.items()])

    def text_tables(self) -> list[TextTable]:
        """A line for each."""
        rows = [[name, *study[:2]] for name, study in STUDIES.items()]
        notes = ["tuplet reproduce NAME runs one; --scale 0.1 a tenth of it."]
        return [TextTable("", ("study", "about", "takes, on two cores"), rows, notes, words=(0, 1, 2))]


def study_function(name: str) -> Callable[..., StudyResult]:
    """The function of a study: it takes a `StudyContext` and the study's own options."""
    function: Callable[..., StudyResult] = getattr(
        import_module(f"tuplet.studies.{STUDIES[name].module}"), name.replace("-", "_")
    )
    return function


def folder_of(name: str, out: str | Path | None) -> Path:
    """Where a study is kept."""
    return FOLDER / name if out is None else Path(out)


def reproduce(
    name: str,
    *,
    scale: float = 1.0,
    seed: int = 0,
    out: str | Path | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    **options: Any,
) -> Report:
    """Run a study again, or what is left of it; `STUDIES` lists them.

    `scale` is the share of its games that is played. What is finished is kept in the folder `out`
    (studies/NAME), and at the end the report: a page, JSON, pictures. The work is done by all
    cores, by `threads` threads, or by `executor`. `options` are those of the study: `sims`, the
    simulations a move where it is about search; `minutes` and `recipes` of the leaderboard;
    `learners` of rounds.
    """
    if name not in STUDIES:
        raise UserError(f"there is no study {name!r}; there is {', '.join(STUDIES)}")
    if not 0 < scale <= 1:
        raise UserError(f"--scale must be above 0 and at most 1 (got {scale:g})")
    as_seed(seed)
    run = study_function(name)
    given = {option: value for option, value in options.items() if value is not None}
    known = inspect.signature(run).parameters
    if unknown := set(given) - set(known):
        raise UserError(f"the study {name} has no --{', --'.join(sorted(unknown))}")
    # One that is named with its default is the same study as one that is not.
    given = {option: value for option, value in given.items() if value != known[option].default}
    new_figure(1, 1)  # raises now, not after hours, if matplotlib is missing
    folder = folder_of(name, out)
    threads = cores() if threads is None else as_threads(threads)
    with watching(progress) as watch:
        pool = as_executor(executor)
        context = StudyContext(name, folder, scale, seed, threads, pool, watch, stop or Stop(), given)
        with context.locked():
            result = run(context, **given)
            changed = {"scale": scale, "seed": seed, **given}
            usual = {"scale": 1.0, "seed": 0}
            words = [
                f"--{k}" if v is True else f"--{k} {quote(str(v))}" for k, v in changed.items() if usual.get(k) != v
            ]
            command = " ".join(["tuplet reproduce", name, *words])
            claim = " ".join(str(run.__doc__).split())
            report = Report(name, STUDIES[name].about, claim, command, scale, seed, result)
            try:
                write(report, folder)
            except OSError as error:  # the table is shown all the same
                warnings.warn(f"the report was not written: {error}", stacklevel=2)
    return report
