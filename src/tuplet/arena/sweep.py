"""Sweeps: an agent, a player of 2048, or a learner at every point of a grid of settings.

    mcts:ucb=ucb1,c={0.2,0.6,1.0}

has an axis `c` of three values. Several braces are the product of their axes. All points play with the same seed: the
same starts and dice, or the same random tiles, so that they can be compared game by game.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean, median
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.specs import Spec, as_spec, trusted
from tuplet.arena.differences import (
    Difference,
    GroupComparison,
    MeanDifference,
    compare_runs,
    compare_to_best,
    paired_scores,
    paired_shares,
    run_stderr,
)
from tuplet.arena.evaluate import GAMES, evaluate
from tuplet.arena.match import match
from tuplet.arena.pictures import draw_sweep
from tuplet.arena.resumable import JobFolder, LineFile, Settings
from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.games.g2048.statistics import score_interval
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.learn.recipes import choose
from tuplet.learn.settings import Method, RunOptions, split
from tuplet.learn.train import train_or_resume
from tuplet.system.blocks import Worker, as_executor, as_threads, cores, ordered_map
from tuplet.system.intervals import Interval, finite_interval
from tuplet.system.pictures import can_draw, inline_svg
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.settings import setting_fields
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, Table, TextTable, percent, plural
from tuplet.values.patterns import parse

EVALUATION_SEED = 1_000_000  # added to a run's seed for the games that evaluate it
MOST_SEEDS = 1000
FOLDER = Path("runs/sweep")  # of sweep_train, by default
RESULTS = "results.jsonl"
MOST_POINTS = 256
_NAME = re.compile(r"([\w.-]+)=[^,={}]*$")  # of the setting that a brace stands in
BEST, NOISE, WORSE = "best", "not significant", "worse"
_MOST_NAMES = 6  # points that are named in a line


class Axis(NamedTuple):
    """A setting that is varied, and its values as texts."""

    name: str
    values: tuple[str, ...]

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers; None if they are words."""
        try:
            values = [float(value) for value in self.values]
        except ValueError:
            return None
        return values if all(map(math.isfinite, values)) else None

    @property
    def logarithmic(self) -> bool:
        """Whether its numbers are spaced like 1, 2, 4 rather than like 1, 2, 3."""
        values = sorted(self.numbers or [])
        if len(values) < 3 or values[0] <= 0:
            return False
        steps = [b - a for a, b in pairwise(values)]
        ratios = [math.log(b / a) for a, b in pairwise(values)]
        return max(ratios) / min(ratios) < max(steps) / min(steps)


class Template(NamedTuple):
    """A text with gaps, an axis each."""

    parts: tuple[str, ...]  # before, between and behind the gaps
    axes: tuple[Axis, ...]

    def filled(self, values: Sequence[str]) -> str:
        """The text with a value in every gap."""
        return "".join(part + value for part, value in zip(self.parts, (*values, ""), strict=True))


def template(text: str, what: str, prefix: str = "") -> Template:
    """A text whose braces are axes, named after their setting, or `what` where they have none.

    >>> template("mcts:c={0.5,1},sims=10", "agent").axes
    (Axis(name='c', values=('0.5', '1')),)
    """
    pieces = re.split(r"\{([^{}]*)\}", text)
    parts, inside = tuple(pieces[::2]), pieces[1::2]
    if any(brace in part for part in parts for brace in "{}"):
        raise UserError(f"{text}: a brace is not closed, or stands in another")
    axes: list[Axis] = []
    for before, values in zip(parts, inside, strict=False):
        named = _NAME.search(before)
        axes.append(axis(prefix + named[1] if named else what, values.split(",")))
    return Template(parts, tuple(axes))


def axis(name: str, values: Sequence[str]) -> Axis:
    """An axis; UserError if a value is empty or is there twice."""
    made = Axis(name, tuple(value.strip() for value in values))
    keys: Sequence[object] = made.numbers or made.values  # 1 and 1.0 are the same value
    twice = [value for value, key in zip(made.values, keys, strict=True) if keys.count(key) > 1]
    if not all(made.values) or twice:
        wrong = f"the value {twice[0]} twice" if all(made.values) else "an empty value"
        raise UserError(f"{name} has {wrong}: leave it out")
    return made


def points_of(axes: Sequence[Axis], example: str = "c={0.5,1.0}") -> list[tuple[str, ...]]:
    """A value of every axis, for all points; the last axis changes first.

    `example` shows in the error message how to give a setting several values.
    """
    names = [each.name for each in axes]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UserError(f"{twice[0]} is varied twice: put all of its values into one brace")
    count = 1
    for each in axes:
        count *= len(each.values)
    if count < 2:
        raise UserError(f"nothing to sweep: give a setting several values, as in {example}")
    if count > MOST_POINTS:
        raise UserError(f"a sweep has up to {MOST_POINTS} points, not {count:,}")
    return [*product(*(each.values for each in axes))]


def label(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """A point by what makes it differ from the others: c=0.6, sims=100."""
    return ", ".join(
        value if axis.name in ("agent", "opponent", "player") else f"{axis.name}={value}"
        for axis, value in zip(axes, values, strict=True)
    )


class GridPoint(NamedTuple):
    """A point of the grid: its values on the axes, and what they name in full."""

    values: tuple[str, ...]
    spec: str
    group: str = ""  # points are compared with those of their group


@dataclass(frozen=True)
class PointResult:
    """The measurement of a point."""

    value: float
    ci95: Interval
    games: int
    samples: Sequence[Any]  # that are compared
    facts: dict[str, Any] = field(default_factory=dict)  # further keys for JSON


@dataclass(frozen=True, repr=False)
class Sweep(Displayable):
    """A grid of settings, measured and compared."""

    kind: Literal["match", "eval", "train"]
    title: str
    axes: tuple[Axis, ...]
    points: list[GridPoint]
    results: list[PointResult]  # fewer than points if it was stopped
    settings: dict[str, Any]  # common to all points, for JSON
    basis: str  # of the comparison, in words
    planned: int  # games in all, or runs
    folder: Path | None = None

    @property
    def measure(self) -> str:
        """What is measured: a share of points, or a mean score."""
        return "share" if self.kind == "match" else "score"

    @property
    def unit(self) -> str:
        """What is counted."""
        return "runs" if self.kind == "train" else "games"

    @property
    def done(self) -> int:
        """Number of games, or runs, so far."""
        return sum(len(each.samples) if self.kind == "train" else each.games for each in self.results)

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.done < self.planned

    @cached_property
    def verdict(self) -> GroupComparison:
        """Each point against the best of its group."""
        difference: Any = {"match": paired_shares, "eval": paired_scores, "train": compare_runs}[self.kind]
        return compare_to_best(
            [each.value for each in self.results],
            [point.group for point in self.points[: len(self.results)]],
            lambda i, j: difference(self.results[i].samples, self.results[j].samples),
        )

    @property
    def best(self) -> list[str]:
        """The settings with the largest value; one for each opponent if these vary."""
        return [self.points[i].spec for i in dict.fromkeys(self.verdict.best)]

    def label(self, number: int) -> str:
        """A point by what makes it differ from the others: c=0.6, sims=100."""
        return label(self.axes, self.points[number].values)

    def word(self, number: int) -> str:
        """Best, worse than the best, or not significantly different from it."""
        behind = self.verdict.behind[number]
        return BEST if behind is None else WORSE if behind.significant else NOISE

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        points = []
        for point, result, behind in zip(self.points, self.results, self.verdict.behind, strict=False):
            point_json = {
                "settings": dict(zip([axis.name for axis in self.axes], point.values, strict=True)),
                "spec": point.spec,
                "games": result.games,
                self.measure: result.value,
                "ci95": finite_interval(result.ci95),
                "best": behind is None,
                "behind": behind and _difference_json(behind),
                **result.facts,
            }
            points.append(point_json)
        return {
            "kind": self.kind,
            **self.settings,
            "measure": self.measure,
            "axes": {axis.name: list(axis.values) for axis in self.axes},
            "points": points,
            "comparisons": self.verdict.comparisons,
            "interrupted": self.interrupted,
            "folder": None if self.folder is None else str(self.folder),
        }

    def text_tables(self) -> list[TextTable]:
        """A row for each point, two axes as a matrix, and the comparison in words."""
        rows = []
        for number, (result, behind) in enumerate(zip(self.results, self.verdict.behind, strict=True)):
            row = [*self.points[number].values, self._text(result.value), self._range(result.ci95)]
            row += ["", ""] if behind is None else [self._text(0.0 - behind.value), self._range((-behind).joint_ci95)]
            rows.append([*row, self.word(number)])
        names = [axis.name for axis in self.axes]
        columns = [*names, self.measure, "95 %", "behind", "95 %, corrected", ""]
        count, last = len(names), len(names) + 4
        words = [*(i for i in range(count) if self.axes[i].numbers is None), last]
        table = TextTable(self.title, columns, rows, [] if self._matrix else self.words(), words=words, strong=(count,))
        return [table, *self._matrix]

    @property
    def _matrix(self) -> list[TextTable]:
        """A table of two axes; empty if there are more axes, or points missing."""
        if len(self.axes) != 2 or len(self.results) < len(self.points):
            return []
        down, across = self.axes
        signs = {BEST: " *", NOISE: " ~", WORSE: "  "}
        cells = [self._text(each.value) + signs[self.word(number)] for number, each in enumerate(self.results)]
        width = len(across.values)
        rows = [[value, *cells[i * width : (i + 1) * width]] for i, value in enumerate(down.values)]
        note = "* best; ~ not significantly different from it."
        title = f"{self.measure}, by {down.name} (down) and {across.name} (across)"
        columns = [down.name, *(f"{value}  " for value in across.values)]
        words = (0,) if down.numbers is None else ()
        return [TextTable(title, columns, rows, [note, *self.words()], words=words)]

    def words(self) -> list[str]:
        """The comparison in words."""
        lines: list[str] = []
        share = self.measure == "share"
        for group in dict.fromkeys(point.group for point in self.points[: len(self.results)]):
            inside = [i for i in range(len(self.results)) if self.points[i].group == group]
            best = self.verdict.best[inside[0]]
            value = self._text(self.results[best].value)
            line = f"{f'Against {group}, best' if group else 'Best'}: {self.label(best)} ({value})."
            if noise := [self.label(i) for i in inside if self.word(i) == NOISE]:
                line += f" Not significantly different from it: {_listed(noise)}."
            if worse := [self.label(i) for i in inside if self.word(i) == WORSE]:
                line += f" Worse: {_listed(worse)}."
            lines.append(line)
        gaps = [(each.joint_ci95[1] - each.joint_ci95[0]) / 2 for each in self.verdict.behind if each]
        if self.basis:
            lines.append(self.basis)
        if gaps and all(map(math.isfinite, gaps)):
            least = median(gaps)
            size = f"{100 * least:.1f} percentage points" if share else f"{least:,.0f} points"
            line = f"Differences smaller than about {size} are not significant here."
            if (many := self.verdict.comparisons) > 1:
                line += f" Corrected for {many:,} comparisons (Holm)."
            lines.append(line)
        return lines

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw it with intervals; saved to `path` if given. Returns the figure."""
        return draw_sweep(self, path)

    def save(self) -> Sweep:
        """Write the table and the picture into the folder, if there is one; returns the sweep."""
        if self.folder is None:
            return self
        try:
            self.csv(self.folder / "sweep.csv")
            for kind in ("svg", "png") if can_draw() else ():
                self.plot(self.folder / f"sweep.{kind}")
        except OSError as error:  # the tables are shown anyway
            warnings.warn(f"the sweep's table or picture was not written: {error}", stacklevel=3)
        return self

    def table(self) -> Table:
        """A row for each point.

        A measured column with the name of a setting has "measured" before it.
        """
        names = [axis.name for axis in self.axes]
        facts = [name for name in ("opponent", "elo") if name in self.results[0].facts and name not in names]
        gap = ("difference", "difference_low", "difference_high", "p", "verdict")
        own = ["spec", "games", self.measure, "low", "high", *gap, *facts]
        columns = [*names, *(f"measured {name}" if name in names else name for name in own)]
        rows = []
        for number, (point, result) in enumerate(zip(self.points, self.results, strict=False)):
            behind = self.verdict.behind[number]
            row = [*point.values, point.spec, result.games, result.value, *finite_interval(result.ci95)]
            row += [None] * 4 if behind is None else [behind.value, *finite_interval(behind.joint_ci95), behind.p_holm]
            rows.append([*row, self.word(number), *(result.facts[name] for name in facts)])
        return Table(columns, rows)

    def _repr_html_(self) -> str:
        """The tables and the picture."""
        return super()._repr_html_() + inline_svg(self.plot)

    def __repr__(self) -> str:
        best = ", ".join(
            f"{self.label(i)} {self._text(self.results[i].value)}" for i in dict.fromkeys(self.verdict.best)
        )
        ended = ", interrupted" if self.interrupted else ""
        return f"<Sweep {self.title}: best {best}{ended}>"

    def _text(self, value: float) -> str:
        return percent(value) if self.measure == "share" else f"{value:,.0f}"

    def _range(self, interval: Interval) -> str:
        low, high = interval
        if not math.isfinite(low):
            return ""
        if self.measure == "share":
            return f"{100 * low:.1f} to {100 * high:.1f}"
        return f"{low:,.0f} to {high:,.0f}"


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "difference": difference.value,
        "ci95": finite_interval(difference.joint_ci95),
        "p": difference.p_holm,
        "noise": not difference.significant,
    }


def _listed(names: list[str]) -> str:
    separator = "; " if any(", " in name for name in names) else ", "
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return separator.join(names[:_MOST_NAMES]) + more


class SweepFolder(JobFolder):
    """The folder of a sweep: its settings, and `results`, a line for each in a file."""

    def __init__(self, path: Path, settings: Settings, points: Sequence[str]) -> None:
        super().__init__(path, "sweep", "sweep.json", {**settings, "points": list(points)})
        self.results: list[dict[str, Any]] = []
        self._file: LineFile | None = None

    @contextmanager
    def open(self) -> Iterator[SweepFolder]:
        """Hold the folder, and read the results of earlier calls."""
        with self.locked(("points", "games", "seeds"), self._check_points):
            self.results = []
            try:
                if (self.path / RESULTS).exists():
                    self._file = LineFile(self.path / RESULTS, "result")
                    for number, line in enumerate(self._file.read(), 1):
                        self.results.append(_parse_result(self.path / RESULTS, number, line))
                yield self
            finally:
                if self._file is not None:
                    self._file.close()
                    self._file = None

    def _check_points(self, old: Settings) -> None:
        for point in old.get("points", ()):
            if point not in self.settings["points"]:
                raise UserError(
                    f"{self.path} holds another sweep: its grid has {point}; add to that grid, or choose another --out"
                )

    def add(self, result: dict[str, Any]) -> None:
        """Append a result."""
        self.results.append(result)
        if self._file is None:
            self._file = LineFile(self.path / RESULTS, "result")
        self._file.add(result)


def _parse_result(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(line)
        good = isinstance(result["point"], str) and all(isinstance(score, int) for score in result["scores"])
    except (ValueError, TypeError, KeyError, RecursionError):
        good = False
    if not good:
        raise UserError(f"{path}: line {number} is not a result of a sweep")
    return result


def file_name(text: str) -> str:
    """A file name for a text, different from that of any other text."""
    name = re.sub(r"[^\w.=,+-]+", "_", text).strip("_.")[:100]
    return name if name == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def sweep_match(
    agent: str | Spec,
    opponent: str | Spec,
    game: str | Game = "ewn-6x7",
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Sweep:
    """Let an agent play a match at every point of a grid of settings, and say which settings are better.

    The values stand in braces in the text of the agent, or of its opponent: `mcts:c={0.2,0.6}`. All matches have
    the same starts and dice. With `out` the games are saved in that folder, a match file for each point. The
    same call continues there, also with more values. Games are played on all cores (`threads`), or by
    `executor`; everything else is as in `match`.
    """
    own, other = as_spec(agent), as_spec(opponent)
    ours, theirs = template(own.text, "agent"), template(other.text, "opponent", "opponent ")
    axes = (*ours.axes, *theirs.axes)
    chosen = find_game(game, trusted=trusted(own, other))
    if chosen.players != 2:
        raise UserError(f"{chosen.name} is for one player: use tuplet sweep eval")
    count = len(ours.axes)
    grid = points_of(axes)
    specs = [
        (own._replace(text=ours.filled(values[:count])), other._replace(text=theirs.filled(values[count:])))
        for values in grid
    ]
    for spec in {spec for both in specs for spec in both}:
        made = agent_from(spec, chosen)  # refuses it now, not after hours
        getattr(made, "close", lambda: None)()
    points = [
        GridPoint(values, a.text, b.text if theirs.axes else "") for values, (a, b) in zip(grid, specs, strict=True)
    ]
    games += games % 2
    threads = cores() if threads is None else as_threads(threads)

    def play(number: int, folder: SweepFolder | None, report: Report) -> PointResult | None:
        name = file_name(label(axes, points[number].values).replace(", ", ","))
        save = None if folder is None else folder.path / f"{name}.jsonl"
        options: dict[str, Any] = {"games": games, "seed": seed, "threads": threads, "out": save}
        try:
            result = match(*specs[number], chosen, **options, executor=executor, progress=report, stop=stop)
        except Stopped:
            return None
        keys, report_json = ("wins", "draws", "losses", "elo", "elo_ci95", "pairs", "forfeits"), result.as_json()
        facts = {"opponent": result.b, **{key: report_json[key] for key in keys}}
        shares = [points / 2 for points in result.pair_points]
        return PointResult(result.score, result.ci95, result.games, shares, facts)

    settings: dict[str, Any] = {"game": chosen.name, "opponent": other.text, "seed": seed, "games": games}
    keys = [f"{a.text} - {b.text}" for a, b in specs]
    results = _play_points(play, axes, points, games, out, {"kind": "match", **settings}, keys, progress)
    pairs = plural(min(each.games for each in results) // 2, "pair")
    title = f"{own.text} - {other.text}  {chosen.name}  {games:,} games each"
    basis = f"All points played the same {pairs} of games, and are compared pair by pair."
    settings["agent"] = own.text
    return Sweep("match", title, axes, points, results, settings, basis, games * len(points), folder_of(out)).save()


def sweep_eval(
    player: str | Spec,
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    spawn4: float | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Sweep:
    """Evaluate a player of 2048 at every point of a grid of settings, and say which settings are better.

    The values stand in braces in its text: `expectimax:depth={1,2},values=small`. With `out` the scores are saved
    in that folder. The same call continues there, also with more values. Everything else is as in `evaluate`.
    """
    own = as_spec(player)
    form = template(own.text, "player")
    grid = points_of(form.axes)
    specs = [own._replace(text=form.filled(values)) for values in grid]
    for each in specs:
        agent_from(each, "2048", spawn4=spawn4)  # refuses it now, not after hours
    points = [GridPoint(values, spec.text) for values, spec in zip(grid, specs, strict=True)]
    threads = cores() if threads is None else as_threads(threads)

    def play(number: int, folder: SweepFolder | None, report: Report) -> PointResult | None:
        spec = specs[number]
        lines = [] if folder is None else folder.results
        scores = [score for line in lines if line["point"] == spec.text for score in line["scores"]]
        if len(scores) < games:
            with suppress(Stopped):
                evaluation = evaluate(
                    spec,
                    games=games - len(scores),
                    first=len(scores),
                    seed=seed,
                    threads=threads,
                    spawn4=spawn4,
                    executor=executor,
                    progress=partial(report, loaded=len(scores)),
                    stop=stop,
                )
                new = evaluation.results.scores.tolist()
                if evaluation.interrupted and spec.is_class:  # it is made anew for every block of games
                    new = new[: len(new) // GAMES * GAMES]
                scores += new
                if folder is not None and new:
                    folder.add({"point": spec.text, "scores": new})
        if not scores:
            return None
        values = [float(score) for score in scores[:games]]
        facts = {"max_score": max(scores[:games])}
        return PointResult(sum(values) / len(values), score_interval(values), len(values), values, facts)

    settings: dict[str, Any] = {"seed": seed, "games": games, "spawn4": spawn4}
    keys = [spec.text for spec in specs]
    results = _play_points(play, form.axes, points, games, out, {"kind": "eval", **settings}, keys, progress)
    count = plural(min(each.games for each in results), "game")
    title = f"{own.text}  2048  {plural(games, 'game')} each"
    basis = f"All points played {count} with the same seeds, and are compared game by game."
    settings["player"] = own.text
    planned = games * len(points)
    return Sweep("eval", title, form.axes, points, results, settings, basis, planned, folder_of(out)).save()


def folder_of(out: str | Path | None) -> Path | None:
    """The folder of a sweep, if it has one."""
    return None if out is None else Path(out)


Report = Callable[..., None]  # of an event, and how many games of the point were loaded from its folder


def _play_points(
    play: Callable[[int, SweepFolder | None, Report], PointResult | None],
    axes: tuple[Axis, ...],
    points: Sequence[GridPoint],
    games: int,
    out: str | Path | None,
    settings: Settings,
    keys: Sequence[str],
    progress: ProgressOption,
) -> list[PointResult]:
    """Play the points one after the other, each on all cores; only the first ones if it is stopped."""
    results: list[PointResult] = []
    with ExitStack() as stack:
        watch = stack.enter_context(watching(progress))
        folder = None if out is None else stack.enter_context(SweepFolder(Path(out), settings, keys).open())
        for number, point in enumerate(points):

            def report(
                event: Progress, loaded: int = 0, before: int = games * number, now: str = label(axes, point.values)
            ) -> None:
                watch(event.within(before + loaded, games * len(points), now=now))

            result = play(number, folder, report)
            if result is not None:
                results.append(result)
            if result is None or result.games < games:
                break
    if not results:
        raise Stopped("stopped before the first result")
    return results


class TrainedRun(NamedTuple):
    """A run of a sweep: its settings, its folder, and the scores of the games that evaluated it."""

    point: GridPoint
    seed: int
    folder: Path
    settings: dict[str, Any]
    options: RunOptions
    scores: Sequence[int] = ()  # empty until it is done

    @property
    def mean_score(self) -> float:
        """Of the games that evaluated it."""
        return fmean(self.scores)

    @property
    def ci95(self) -> Interval:
        """Of the mean score."""
        return score_interval([*map(float, self.scores)])


class Grid(NamedTuple):
    """Settings of `train`: those that vary, and those that do not."""

    axes: tuple[Axis, ...]
    fixed: dict[str, Any]

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Grid:
        """A text with commas or braces, or a list, is an axis."""
        axes, fixed = [], {}
        for name, value in settings.items():
            if isinstance(value, str):
                form = template(value, name)
                if len(form.axes) > 1:
                    raise UserError(f"{name} has two braces: write all of its values in one")
                values = [form.filled([part]) for each in form.axes for part in each.values] or value.split(",")
            else:
                values = [str(each) for each in value] if isinstance(value, list | tuple) else [value]
            if len(values) > 1:
                axes.append(axis(name, values))
            elif value is not None:
                fixed[name] = _typed(name, values[0]) if isinstance(values[0], str) else values[0]
        return cls(tuple(axes), fixed)

    def runs(self, values: Sequence[tuple[str, ...]], seeds: Sequence[int], out: Path) -> list[TrainedRun]:
        """The runs to do, one for each seed at each point."""
        runs = []
        for point in values:
            chosen = self.fixed | {a.name: _typed(a.name, v) for a, v in zip(self.axes, point, strict=True)}
            spec = " ".join(f"{name}={value}" for name, value in chosen.items())
            folder = out / file_name(label(self.axes, point).replace(", ", ","))
            for seed in seeds:
                own = {"threads": 1, "seed": seed, **chosen}
                rest = {name: value for name, value in own.items() if name != "recipe"}
                method, options = split(choose(own.get("recipe"), rest), trusted=True)
                parse(str(method.net), as_size(method.board))  # refuses it now, not after hours
                runs.append(TrainedRun(GridPoint(point, spec), seed, folder / f"seed-{seed}", own, options))
        return runs


def sweep_train(
    *,
    seeds: int = 3,
    seed: int = 0,
    evaluate_games: int = 1000,
    recipe: str | Sequence[str] | None = None,
    threads: int | None = None,
    out: str | Path = FOLDER,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    **settings: Any,
) -> Sweep:
    """Train a network for 2048 at every point of a grid of settings, and say which settings are better.

    The settings are those of `train`; a text with commas or braces, or a list, is an axis of the grid:
    `alpha="0.025,0.05,0.1"`, `net=["4x6", "8x6"]`. Each point is trained with several `seeds`: `seed` and those
    after it. A run takes one core; `threads` runs (all cores) are done at a time, or those of `executor`. Each
    run is evaluated by `evaluate_games` greedy games that it has not learned from. Runs are ordinary run folders
    in `out`. The same call continues there, also with more values and seeds.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise UserError(f"seeds must be 1 to {MOST_SEEDS} (got {seeds})")
    if not 2 <= evaluate_games <= 10_000_000:
        raise UserError(f"evaluate_games must be 2 to 10,000,000 (got {evaluate_games})")
    grid = Grid.of({"recipe": recipe, **settings})
    runs = grid.runs(points_of(grid.axes, "--alpha 0.05,0.1"), range(seed, seed + seeds), Path(out))
    header = {"kind": "train", "seed": seed, "evaluate_games": evaluate_games, "seeds": seeds}
    runs = train_runs(
        runs, header, evaluate_games, Path(out), threads=threads, executor=executor, progress=progress, stop=stop
    )
    points = list(dict.fromkeys(run.point for run in runs))
    results = []
    for point in points:
        done = [run for run in runs if run.point == point and run.scores]
        if not done:
            break
        results.append(_train_result(done))
    if not results:
        raise Stopped("stopped before the first run was finished")
    if seeds == 1:
        basis = (
            f"One run per point: {evaluate_games:,} games each show which run plays better, not whether its settings "
            "are better. More --seeds show that."
        )
    else:
        basis = (
            f"Each point is {seeds} runs, evaluated by {evaluate_games:,} greedy games each; the variance between runs "
            "of the same settings counts (Welch)."
        )
    varied = [f"{each.name}={{{','.join(each.values)}}}" for each in grid.axes]
    title = " ".join([*varied, *(f"{name}={value}" for name, value in grid.fixed.items())])
    title += f"  {plural(seeds, 'seed')}"
    shared = {"seed": seed, "seeds": seeds, "evaluate_games": evaluate_games, "fixed": grid.fixed}
    return Sweep("train", title, grid.axes, points, results, shared, basis, len(runs), Path(out)).save()


def _train_result(runs: list[TrainedRun]) -> PointResult:
    """The runs of a point; a single run has the interval of its games."""
    scores, mean = [run.scores for run in runs], fmean(run.mean_score for run in runs)
    ci95 = runs[0].ci95 if len(runs) == 1 else MeanDifference(mean, *run_stderr(scores)).interval()
    facts = [
        {
            "seed": run.seed,
            "folder": str(run.folder),
            "evaluation_seed": run.seed + EVALUATION_SEED,
            "mean_score": run.mean_score,
            "ci95": list(run.ci95),
        }
        for run in runs
    ]
    return PointResult(mean, ci95, sum(map(len, scores)), scores, {"runs": facts})


def train_runs(
    runs: list[TrainedRun],
    header: dict[str, Any],
    games: int,
    out: Path,
    *,
    threads: int | None,
    executor: Any,
    progress: ProgressOption,
    stop: Stop | None,
) -> list[TrainedRun]:
    """Train and evaluate runs, as far as their folder has not done them; returns them with their scores.

    A block of work is a run on one core, which gives the same bytes for the same seed.
    """
    threads = cores() if threads is None else as_threads(threads)
    pool = as_executor(executor)
    specs = list(dict.fromkeys(run.point.spec for run in runs))
    with (
        watching(progress) as watch,
        SweepFolder(out, header, specs).open() as folder,
        nullcontext() if pool is None else pool.share(out.resolve()),  # workers write the runs
    ):
        known = {(line["point"], line.get("seed")) for line in folder.results}
        left = [run for run in runs if (run.point.spec, run.seed) not in known]
        done = [run for run in runs if run not in left]
        by_time = any(run.options.games is None for run in runs)

        def cost(some: Sequence[TrainedRun]) -> float:
            return math.fsum((run.options.budget if by_time else run.options.games) or 0 for run in some)

        def report(worker: Worker) -> None:
            """Games, or seconds, of all runs together."""
            spent = cost(done) + math.fsum(float(seen[int(by_time)]) for seen in worker.under_way)
            figures = {"runs": f"{len(done)} of {len(runs)}"}
            watch(Progress("time" if by_time else "games", spent, cost(runs), figures=figures, before=before))

        before = cost(done)
        blocks = (({**run.settings}, str(run.folder.resolve()), games) for run in left)
        all_scores = ordered_map(_train_block, blocks, threads=threads, executor=pool, stop=stop, on_tick=report)
        for run, scores in zip(left, all_scores, strict=False):
            if scores is None:
                break
            folder.add({"point": run.point.spec, "seed": run.seed, "scores": scores})
            done.append(run)
    scores_of = {(line["point"], line["seed"]): line["scores"] for line in folder.results}
    return [run._replace(scores=scores_of.get((run.point.spec, run.seed), ())) for run in runs]


def _train_block(settings: dict[str, Any], folder: str, games: int, worker: Worker) -> list[int] | None:
    """Train a run, or continue it, and play games; None if it was stopped."""
    if worker.stop.is_set():
        return None
    seen = np.zeros(2)  # games, seconds

    def watch(event: Progress) -> None:
        if event.what in ("games", "time"):
            seen[int(event.what == "time")] = event.done

    with worker.showing(seen), suppress(Stopped):
        run = train_or_resume(folder, progress=watch, stop=worker.stop, **settings)
        if run.interrupted:
            return None
        seed = settings["seed"] + EVALUATION_SEED
        result = evaluate(run.network, games=games, seed=seed, progress=False, stop=worker.stop)
        return None if result.interrupted else result.results.scores.tolist()
    return None


_TYPES = {
    name: (hint, each.metadata["seconds"]) for kind in (Method, RunOptions) for name, hint, each in setting_fields(kind)
}


def _typed(name: str, text: str) -> Any:
    """A text as a value of its setting; a wrong text is refused by the setting itself."""
    hint, seconds = _TYPES.get(name, (str, False))
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    if seconds:
        return text.strip()
    if bool in kinds:
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.strip(), text)
    with suppress(ValueError):
        if float in kinds:
            return float(text)
        if int in kinds:
            return int(text)
    return text.strip()
