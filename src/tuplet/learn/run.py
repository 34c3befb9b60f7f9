"""A training run: what it learned and how, in memory and in its folder.

config.toml           its settings
metrics.jsonl         a line for each block of games
rounds.jsonl          a line for each round, if tasks have learned apart
weights.safetensors   the last checkpoint
state.json            what the last checkpoint took, in seconds
checkpoints/          some before it, where --keep asks for them
curve.svg, curve.png  mean score against games
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from tuplet.errors import UserError
from tuplet.learn.curves import draw_curves
from tuplet.learn.settings import Method, RunOptions, load_settings
from tuplet.learn.spreadsheet import metrics_table
from tuplet.system.file_types import describe_file
from tuplet.system.files import atomic_write, hold, read_lines, sweep
from tuplet.system.pictures import inline_svg
from tuplet.system.tables import Displayable, Table, TextTable, format_duration, percent, plural
from tuplet.values.network import Network
from tuplet.values.weights import WEIGHTS

CONFIG, METRICS, STATE, LOCK = "config.toml", "metrics.jsonl", "state.json", ".lock"
KEPT = "checkpoints"  # the folder of those that --keep keeps
ROUNDS = "rounds.jsonl"
PICTURES = ("curve.svg", "curve.png")

Metrics = dict[str, Any]


class Run(Displayable):
    """A run in progress or finished. `metrics` has a dictionary for each block of games."""

    def __init__(
        self, method: Method, options: RunOptions, network: Network | None = None, folder: Path | None = None
    ) -> None:
        self.method, self.options, self.folder = method, options, folder
        self.metrics: list[Metrics] = []
        self.rounds: list[Metrics] = []  # of tasks that learned apart
        self.games = 0
        self.elapsed_s = 0.0
        self.interrupted = False
        self.description = ""  # what it was going to do when it began, in words
        self.picture_error = ""  # why there is none
        self.save_error = ""  # why it could not be saved where it should
        self._network = network

    @property
    def network(self) -> Network:
        """The network as learned so far (read from the folder when first asked for)."""
        if self._network is None:
            assert self.folder is not None
            self._network = Network.load(self.folder)
        return self._network

    @property
    def name(self) -> str:
        """What to call the run in a legend."""
        if self.folder is not None:
            return self.folder.name
        return f"{self.method.net} {self.method.name} {self.method.target}"

    @staticmethod
    def load(folder: str | Path) -> Run:
        """Open a run folder."""
        folder = as_run_folder(folder)
        run = Run(*load_settings(folder / CONFIG), folder=folder)
        run.metrics = read_metrics(folder / METRICS)
        if run.metrics:
            run.games, run.elapsed_s = run.metrics[-1]["games"], run.metrics[-1]["elapsed_s"]
        return run

    def plot(self, path: str | Path | None = None, *, log: bool = False, by: Literal["games", "time"] = "games") -> Any:
        """Draw mean score against games or time; saves to `path` if given, returns the figure."""
        return draw_curves([self], path, log=log, by=by)

    def draw(self) -> None:
        """Draw the curve into the run's folder; `picture_error` says why if that cannot be."""
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
        last = f", mean score {self.metrics[-1]['mean_score']:,.0f}" if self.metrics else ""
        ended = ", interrupted" if self.interrupted else ""
        return f"<Run {self.name}: {plural(self.games, 'game')}{last}{ended}>"


def read_metrics(path: Path) -> list[Metrics]:
    """The lines of a `metrics.jsonl`; a last line cut off by a crash is left out."""
    return _read(path, _check_block, "a line of metrics")


def read_rounds(path: Path) -> list[Metrics]:
    """The lines of a `rounds.jsonl`; a last line cut off by a crash is left out."""
    return _read(path, _check_round, "a round (without the file the run goes on all the same)")


def _read(path: Path, check: Callable[[Metrics], None], what: str) -> list[Metrics]:
    if not path.is_file():
        return []
    found: list[Metrics] = []
    with path.open("rb") as file:
        for number, line in enumerate(read_lines(file, path), 1):
            try:
                if line.strip():
                    entry = json.loads(line)
                    check(entry)
                    found.append(entry)
            except (ValueError, TypeError, KeyError, RecursionError):
                if line.endswith(b"\n"):
                    raise UserError(f"{path}: line {number} is not {what}") from None
    return found


def _check_round(entry: Metrics) -> None:
    """Raise an error if this is not a line of `rounds.jsonl`."""
    _check_numbers([entry["games"], entry["tasks"]])


def _check_block(entry: Metrics) -> None:
    """Raise an error if this is not a line of `metrics.jsonl`."""
    _check_scores(entry, "games", "elapsed_s", "mean_score", "max_score")
    evaluations = entry.get("evaluations", [])
    if not isinstance(evaluations, list):
        raise TypeError("evaluations are a list")
    for each in evaluations:
        check_evaluation(each)


def check_evaluation(entry: Metrics) -> None:
    """Raise an error if this is not what a line of metrics says of fresh games."""
    _check_scores(entry, "learned", "elapsed_s", "games", "mean_score")
    low, high = entry["ci95"]
    _check_numbers([low, high])


def _check_scores(entry: Metrics, *needed: str) -> None:
    optional = ("max_score", "mean_moves", "moves_per_s")
    _check_numbers([entry[key] for key in (*needed, *(key for key in optional if key in entry))])
    for shares in (entry.get("reached", {}), entry.get("ended", {})):
        if not isinstance(shares, dict):
            raise TypeError("shares of games are told by tiles")
        if not all(tile.isdecimal() and len(tile) < 10 for tile in shares):
            raise UserError("a tile is a number")
        _check_numbers(shares.values())


def _check_numbers(values: Iterable[object]) -> None:
    for value in values:
        if type(value) not in (int, float) or not abs(value) < 1e15:  # type: ignore[arg-type]
            raise UserError(f"{value!r} is not a number")


def write_lines(path: Path, lines: list[Metrics]) -> None:
    """Write all lines anew."""
    with atomic_write(path) as file:
        file.write("".join(json.dumps(each) + "\n" for each in lines).encode())


def as_run_folder(folder: str | Path) -> Path:
    """The folder of a run; FileNotFoundError if it is none."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        what = describe_file(folder)
        what = f"no {CONFIG}" if what in ("a folder", "not there") else f"it is {what}"
        raise FileNotFoundError(f"{folder} is not the folder of a training run ({what})")
    return folder


def create_folder(folder: Path) -> Path:
    """Make a run folder; refuses one that already holds a run."""
    if (folder / CONFIG).exists():
        raise UserError(f"{folder} already holds a run: go on with --resume {folder}, or choose another --out")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write to {folder}: choose another --out")
    return folder


def free_folder(method: Method, parent: Path = Path("runs")) -> Path:
    """runs/4x6-tc, runs/4x6-tc-2, ...: the first that is free."""
    tuples = str(method.net).replace(" ", "-").replace(",", "-")
    parts = [tuples[:40], method.learner] + (["state"] if method.target == "state" else [])
    if method.board != "4x4":
        parts.insert(0, method.board)
    base = parent / "-".join(parts)
    number = 1
    folder = base
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


@contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Hold a run folder, so that two processes never train into one."""
    if folder is None:
        yield
        return
    with (folder / LOCK).open("a+") as file:
        hold(file, f"another process is training in {folder}: wait for it, or choose another folder")
        sweep(folder / "*")
        sweep(folder / KEPT / "*")
        yield
