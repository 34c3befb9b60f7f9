"""A training run: what it learned and how, in memory and in its folder.

config.toml           its settings
metrics.jsonl         a line for each block of games
rounds.jsonl          a line for each round of `--tasks`
weights.safetensors   the last checkpoint
state.json            the training time of the last checkpoint
checkpoints/          earlier checkpoints, with --keep
.lock                 the process that trains it
log.txt               what it printed, if a page started it
curve.svg, curve.png  mean score against games
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.learn.curves import Axis, History, Metrics, draw_curves, metrics_table, points_of
from tuplet.learn.settings import Method, RunOptions, load_settings
from tuplet.system.file_types import describe_file
from tuplet.system.files import atomic_write, read_lines, remove_partial_files
from tuplet.system.pictures import as_svg, inline_svg
from tuplet.system.process_lock import process_lock
from tuplet.system.tables import Displayable, Table, Tabular, TextTable, format_duration, percent, plural
from tuplet.values.packed import AnyNetwork
from tuplet.values.weights import WEIGHTS, read_weights

CONFIG, METRICS, ROUNDS, STATE = "config.toml", "metrics.jsonl", "rounds.jsonl", "state.json"
LOCK, LOG = ".lock", "log.txt"
ASKED_TO_STOP = ".stop-"  # and the number of the process
ASKED_TO_SAVE = ".save"  # a file that asks the process for a checkpoint now
KEPT = "checkpoints"  # the folder of those that --keep keeps
PICTURES = ("curve.svg", "curve.png")


class Run(History, Displayable):
    """A run in progress or finished. `metrics` has a dictionary for each block of games."""

    def __init__(
        self, method: Method, options: RunOptions, network: AnyNetwork | None = None, folder: Path | None = None
    ) -> None:
        super().__init__(method, options, folder)
        self.rounds: list[Metrics] = []  # of `--tasks`
        self.games = 0
        self.elapsed_s = 0.0  # of training
        self.interrupted = False
        self.description = ""  # what the training will do, in words
        self.picture_error = ""  # why there is no picture
        self.save_error = ""  # why it could not be saved in its folder
        self._network = network

    @property
    def network(self) -> Any:  # a Network, or a GameNetwork for other games than 2048
        """The network as learned so far (read from the folder when first used)."""
        if self._network is None:
            assert self.folder is not None
            self._network = read_weights(self.folder).network
        return self._network

    @staticmethod
    def load(folder: str | Path) -> Run:
        """Open a run folder."""
        folder = as_run_folder(folder)
        run = Run(*load_settings(folder / CONFIG), folder=folder)
        run.metrics = read_metrics(folder / METRICS)
        if run.metrics:
            run.games, run.elapsed_s = run.metrics[-1]["games"], run.metrics[-1]["elapsed_s"]
        return run

    def plot(self, path: str | Path | None = None, *, log: bool = False, by: Axis = "games") -> Any:
        """Draw mean score against games or time; saves to `path` if given, returns the figure."""
        return draw_curves([self], path, log=log, by=by)

    def draw(self) -> None:
        """Draw the curve into the run's folder; on failure, `picture_error` says why."""
        if self.folder is not None and self.metrics:
            try:
                for name in PICTURES:
                    self.plot(self.folder / name)
            except (OSError, ValueError) as error:
                self.picture_error = str(error)

    @property
    def drawn(self) -> bool:
        """Whether the curve in the folder is that of the last checkpoint."""
        if self.folder is None or not self.metrics:
            return True
        try:
            saved = (self.folder / WEIGHTS).stat().st_mtime
            return all((self.folder / name).stat().st_mtime >= saved for name in PICTURES)
        except FileNotFoundError:
            return False

    def table(self) -> Table:
        """The metrics, a row for each block (and for each evaluation)."""
        return metrics_table([self])

    def as_json(self) -> Metrics:
        """The last line of metrics."""
        return self.metrics[-1] if self.metrics else {}

    def text_tables(self) -> list[TextTable]:
        """The last block of games."""
        title = f"{self.name}: {plural(self.games, 'game')} in {format_duration(self.elapsed_s)}"
        if not self.metrics:
            return [TextTable(title)]
        last = self.metrics[-1]
        if self.method.game != "2048":
            rows = [[e["learned"], percent(e["mean_score"]), *map(percent, e["ci95"])] for e in self.evaluations[-5:]]
            against = f"evaluations against {self.options.opponent}, 95 %"
            return [TextTable(title, ["games", "score", "from", "to"], rows, [against], words=())]
        rows = [
            [tile, percent(share), percent(last.get("ended", {}).get(tile, 0.0))]
            for tile, share in last.get("reached", {}).items()
        ]
        block = last["games"] - (self.metrics[-2]["games"] if len(self.metrics) > 1 else 0)
        note = f"mean score {last['mean_score']:,.1f}, best {last['max_score']:,} of the last {plural(block, 'game')}"
        return [TextTable(title, ["tile", "reached", "ended with"], rows, [note], words=())]

    def _repr_html_(self) -> str:
        """The last block and the curve, for notebooks."""
        return super()._repr_html_() + inline_svg(self.plot)

    def __repr__(self) -> str:
        last = f", mean score {points_of(self)[-1].mean:,.4g}" if self.metrics and points_of(self) else ""
        ended = ", interrupted" if self.interrupted else ""
        return f"<Run {self.name}: {plural(self.games, 'game')}{last}{ended}>"


@dataclass(frozen=True)
class Plot(Tabular):
    """The learning curves of some runs, drawn."""

    runs: Sequence[Run]
    figure: Any
    path: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """The blocks of each run (the picture joins short ones), and its evaluations."""
        keys = ("games", "elapsed_s", "mean_score")
        return {
            "picture": None if self.path is None else str(self.path),
            "curves": {run.name: [{key: m[key] for key in keys if key in m} for m in run.metrics] for run in self.runs},
            "evaluations": {run.name: run.evaluations for run in self.runs},
        }

    def table(self) -> Table:
        """The metrics of all runs: a row for each block, and for each evaluation."""
        return metrics_table(self.runs)

    def _repr_svg_(self) -> str:
        return as_svg(self.figure)


def plot(
    *runs: Run | str | Path,
    path: str | Path | None = None,
    log: bool = False,
    by: Axis = "games",
    band: bool = False,
    iqm: bool = False,
) -> Plot:
    """Draw mean score against games or minutes, one point per block, for one or more runs.

    Runs are run folders, or what `train` returned; `log` makes the horizontal axis logarithmic.
    With `band`, runs that differ only in their seeds become one curve, their mean, with a band for
    its 95 % interval (Student's t); with `iqm`, their interquartile mean, with its interval by
    bootstrap. With `path` the picture is saved as .png, .svg or .pdf.
    Evaluations (`evaluate` of `train`) are dots with 95 % intervals.
    """
    opened = [run if isinstance(run, Run) else Run.load(run) for run in runs]
    if not opened:
        raise UserError("no runs to plot: name at least one run folder")
    figure = draw_curves(opened, path, log=log, by=by, band=band, iqm=iqm)
    return Plot(opened, figure, None if path is None else Path(path))


def read_metrics(path: Path) -> list[Metrics]:
    """The lines of a `metrics.jsonl`; a last line cut off by a crash is left out."""
    return [*_read(path, check_block, "a line of metrics")]


def read_rounds(path: Path) -> list[Metrics]:
    """The lines of a `rounds.jsonl`; a last line cut off by a crash is left out."""
    return [*_read(path, _check_round, "a round (you may delete the file: the run does not need it)")]


def _read(path: Path, check: Any, what: str) -> Iterator[Metrics]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(read_lines(file, path), 1):
            try:
                if line.strip():
                    entry = json.loads(line)
                    check(entry)
                    yield entry
            except (ValueError, TypeError, KeyError, RecursionError):
                if line.endswith(b"\n"):
                    raise UserError(f"{path}: line {number} is not {what}") from None


def _check_round(entry: Metrics) -> None:
    _check_numbers([entry["games"], entry["tasks"]])


def check_block(entry: Metrics) -> None:
    """Raise an error if this is not a line of metrics."""
    kind = ("mean_moves", "td_error") if "td_error" in entry else ("mean_score", "max_score")
    _check_scores(entry, "games", "elapsed_s", *kind)
    evaluations = entry.get("evaluations", [])
    if not isinstance(evaluations, list):
        raise TypeError("evaluations must be a list")
    for each in evaluations:
        check_evaluation(each)


def check_evaluation(entry: Metrics) -> None:
    """Raise an error if this is not an evaluation of a line of metrics."""
    _check_scores(entry, "learned", "elapsed_s", "games", "mean_score")
    low, high = entry["ci95"]
    _check_numbers([low, high])


def _check_scores(entry: Metrics, *required: str) -> None:
    optional = ("max_score", "mean_moves", "moves_per_s")
    _check_numbers([entry[key] for key in (*required, *(key for key in optional if key in entry))])
    for shares in (entry.get("reached", {}), entry.get("ended", {})):
        if not isinstance(shares, dict) or not all(tile.isdecimal() and len(tile) < 10 for tile in shares):
            raise TypeError("reached and ended must have tiles as keys")
        _check_numbers(shares.values())


def _check_numbers(values: Iterable[object]) -> None:
    for value in values:
        if type(value) not in (int, float) or not abs(value) < 1e15:  # type: ignore[arg-type]
            raise TypeError(f"{value!r} is not a number")


def write_lines(path: Path, lines: list[Metrics]) -> None:
    """Write all lines anew."""
    with atomic_write(path) as file:
        file.write("".join(json.dumps(each) + "\n" for each in lines).encode())


def as_run_folder(folder: str | Path) -> Path:
    """The folder of a run; FileNotFoundError if it is not one."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        what = describe_file(folder)
        what = f"no {CONFIG}" if what in ("a folder", "not there") else f"it is {what}"
        raise FileNotFoundError(f"{folder} is not the folder of a training run ({what})")
    return folder


def create_folder(folder: Path) -> Path:
    """Make a run folder; refuses one that already holds a run."""
    if (folder / CONFIG).exists():
        raise UserError(
            f"{folder} already holds a run: continue it with  tuplet resume {folder}, or choose another --out"
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write to {folder}: choose another --out")
    return folder


def free_folder(method: Method, parent: Path = Path("runs")) -> Path:
    """runs/4x6-tc, runs/4x6-tc-2, ...: the first that does not exist."""
    tuples = str(method.net).replace(" ", "-").replace(",", "-")
    parts = [tuples[:40], method.learner] + (["state"] if method.target == "state" else [])
    if method.board != "4x4":
        parts.insert(0, method.board)
    if method.game != "2048":
        parts = [re.sub(r"[^\w-]+", "-", method.game.rpartition("/")[2])[:40], *parts]
    base = parent / "-".join(parts)
    folders = chain([base], (base.with_name(f"{base.name}-{number}") for number in count(2)))
    return next(folder for folder in folders if not folder.exists())


@contextmanager
def locked(folder: Path | None) -> Iterator[Callable[[], None]]:
    """Hold a run folder, so that two processes never train into one; yields what to call when training begins."""
    if folder is None:
        yield lambda: None
        return
    busy = f"another process is training in {folder}: wait until it ends, or choose another folder"
    with process_lock(folder / LOCK, busy) as begin:
        remove_partial_files(folder / "*")
        remove_partial_files(folder / KEPT / "*")
        for old in (*folder.glob(f"{ASKED_TO_STOP}*"), folder / ASKED_TO_SAVE):
            old.unlink(missing_ok=True)
        yield begin
