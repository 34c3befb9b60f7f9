"""Checkpoints: what a run needs to continue exactly where it was.

`weights.safetensors` holds what follows from the settings and the seed alone: weights, games, and
the unfinished block. Two equal runs write equal files. What depends on the clock is in `state.json`:
the training time, and evaluations that no line of metrics has yet. It is written before the weights
and also keeps the entry of the previous checkpoint, so that after a crash the weights find theirs.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.learn.curves import Metrics
from tuplet.learn.run import (
    CONFIG,
    KEPT,
    METRICS,
    ROUNDS,
    STATE,
    Run,
    check_evaluation,
    read_metrics,
    read_rounds,
    write_lines,
)
from tuplet.learn.self_play import statistics_of
from tuplet.learn.settings import Method, RunOptions, save_settings
from tuplet.system.files import atomic_write
from tuplet.values.network import Network
from tuplet.values.packed import AnyNetwork
from tuplet.values.patterns import parse_stages
from tuplet.values.weights import WEIGHTS, read_weights, save_weights

RETRY = 30.0  # seconds until a checkpoint that failed is tried again, at most


class Checkpoint(NamedTuple):
    """Where a run is."""

    games: int
    block_start: int  # the number of the unfinished block's first game
    elapsed_s: float
    pending: Any  # results of the network's kind: the unfinished block's games
    evaluations: list[Metrics]  # not yet in a line of metrics

    @property
    def state(self) -> dict[str, Any]:
        """Its entry in `state.json`."""
        return {
            "games": self.games,
            "block_start": self.block_start,
            "elapsed_s": self.elapsed_s,
            "evaluations": self.evaluations,
        }


class CheckpointWriter:
    """Writes metrics, rounds and checkpoints into a run's folder, if it has one.

    A file that cannot be written does not end the training: there is one warning, and a retry later.
    """

    def __init__(self, run: Run, checkpoint: Checkpoint | None = None) -> None:
        self.run = run
        self.saved_games = run.games  # of the last checkpoint
        self._saved_states = [] if checkpoint is None else [checkpoint.state]
        self._failing: set[str] = set()  # what could not be written the last time

    def begin(self, now: Checkpoint) -> None:
        """Prepare the folder. The settings come last: a folder that has them can be resumed."""
        if self.run.folder is not None:
            if not (self.run.folder / CONFIG).exists():
                self.save(now)
            self._write_all(self.run.folder)
            self._keep_copy(now.games)

    def _write_all(self, folder: Path) -> None:
        self._write(METRICS)
        if self.run.rounds or (folder / ROUNDS).exists():
            self._write(ROUNDS)
        save_settings(folder / CONFIG, self.run.method, self.run.options)

    def write_line(self, name: str = METRICS, anew: bool = False) -> None:
        """Write the last line of a file; all of them if it is not new, or if writing failed before."""
        if self.run.folder is None:
            return
        last = self._lines(name)[-1]
        try:
            if anew or name in self._failing:
                self._write(name)
            else:
                with (self.run.folder / name).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(last) + "\n")
        except OSError as error:
            self._failed(name, last["games"], error, "with the next line")

    def _lines(self, name: str) -> list[Metrics]:
        return self.run.metrics if name == METRICS else self.run.rounds

    def _write(self, name: str) -> None:
        assert self.run.folder is not None
        write_lines(self.run.folder / name, self._lines(name))
        self._failing.discard(name)

    def save(self, now: Checkpoint) -> None:
        """Write a checkpoint; if that fails, the previous one is intact."""
        folder = self.run.folder
        if folder is not None:
            for name in self._failing & {METRICS, ROUNDS}:  # a checkpoint must not be ahead of them
                self._write(name)
            with atomic_write(folder / STATE) as file:
                file.write(json.dumps({"checkpoints": [*self._saved_states, now.state]}).encode())
            notes = {"games": str(now.games), "block_start": str(now.block_start)}
            extra = {}
            if len(now.pending[0]):
                extra = {f"block.{name}": part for name, part in now.pending._asdict().items()}
            save_weights(self.run.network, folder / WEIGHTS, notes, extra)
            self._saved_states = [now.state]
            self._keep_copy(now.games)
        self.saved_games = now.games

    def try_to_save(self, now: Checkpoint) -> float:
        """Write a checkpoint, if possible; returns the seconds until the next."""
        wait, what = self.run.options.checkpoint, "the checkpoint"
        try:
            self.save(now)
        except OSError as error:
            wait = min(wait, RETRY)
            self._failed(what, now.games, error, f"every {wait:g} s")
        else:
            if what in self._failing:
                self._failing.discard(what)
                warnings.warn(f"{what} of {self.run.name} was written again, at game {now.games:,}", stacklevel=2)
        return wait

    def _failed(self, what: str, games: int, error: OSError, retry: str) -> None:
        if what not in self._failing:
            warnings.warn(
                f"{what} of {self.run.name} cannot be written at game {games:,} "
                f"({error.strerror or error}): training continues, and tries again {retry}",
                stacklevel=3,
            )
        self._failing.add(what)

    def _keep_copy(self, games: int) -> None:
        """With --keep: copy the checkpoint to checkpoints/GAMES.safetensors, and delete old copies."""
        keep, run = self.run.options.keep, self.run.folder
        if not keep or not games or run is None:
            return
        folder = run / KEPT
        folder.mkdir(exist_ok=True)
        # A copy, not a link: users may copy one over the other.
        with (run / WEIGHTS).open("rb") as now, atomic_write(folder / f"{games}.safetensors") as file:
            shutil.copyfileobj(now, file, 1 << 20)
        kept = [int(path.stem) for path in folder.glob("*.safetensors") if path.stem.isdecimal()]
        for old in sorted(kept)[:-keep]:
            (folder / f"{old}.safetensors").unlink(missing_ok=True)

    def save_or_rescue(self, now: Checkpoint) -> None:
        """Write a checkpoint; if the folder cannot be written, save the run whole in another, with a warning.

        `run.folder` is then that folder, and `run.save_error` the reason.
        """
        try:
            self.save(now)
            return
        except OSError as error:
            why = error.strerror or str(error)
        run, failed = self.run, self.run.folder
        for parent in (Path.cwd, lambda: Path(tempfile.gettempdir()), Path.home):
            folder = None
            try:
                folder = Path(tempfile.mkdtemp(prefix=f"{run.name}-", dir=parent()))
                run.folder = folder
                writer = CheckpointWriter(run)
                writer.save(now)
                writer._write_all(folder)
            except (OSError, RuntimeError):  # this one is full, too, or there is no home
                if folder is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            run.save_error = (
                f"{failed} could not be written ({why}): the run, {now.games:,} games, is saved in "
                f"{folder} instead, and can be resumed from there"
            )
            break
        else:
            run.folder, run.games = failed, self.saved_games
            run.save_error = (
                f"{failed} could not be written ({why}), nor the current folder, nor that of temporary "
                f"files: it keeps the checkpoint of game {run.games:,}, and what was learned in the "
                f"{now.games - run.games:,} games since is in memory only"
            )
        warnings.warn(run.save_error, stacklevel=3)


def load_checkpoint(folder: Path, method: Method, options: RunOptions) -> tuple[Run, Checkpoint]:
    """The run of a folder, exactly as its last checkpoint left it.

    Lines of metrics and rounds that are younger than the checkpoint are dropped: they will come
    again.
    """
    metrics, rounds = read_metrics(folder / METRICS), read_rounds(folder / ROUNDS)
    net, notes, extra = read_weights(folder)
    run = Run(method, options, net, folder)
    if not _belongs(net, method):
        raise UserError(f"{folder}: {WEIGHTS} and {CONFIG} do not belong together")
    try:
        games, start = int(notes["games"]), int(notes["block_start"])
        state = _read_state(folder, games, start)
        if not state:  # from an older tuplet, or another checkpoint was copied here
            before = [m["elapsed_s"] for m in metrics if m["games"] <= games]
            state = {"elapsed_s": notes.get("elapsed_s", before[-1] if before else 0.0)}
        elapsed_s = float(state["elapsed_s"])
        none = statistics_of(net).make_results(0)
        fields = zip(none._fields, none, strict=True)
        pending = type(none)(*(extra.get(f"block.{name}", empty) for name, empty in fields))
        valid = 0 <= start <= games <= start + options.block and 0 <= elapsed_s < math.inf
        valid = valid and {len(part) for part in pending} == {games - start}
    except (KeyError, ValueError):
        valid = False
    if not valid:
        raise UserError(f"{folder / WEIGHTS} is not a valid checkpoint")
    run.games, run.elapsed_s = games, elapsed_s
    run.metrics = [m for m in metrics if m["games"] <= start]
    run.rounds = [each for each in rounds if each["games"] <= games]
    return run, Checkpoint(games, start, elapsed_s, pending, state.get("evaluations", []))


def _belongs(net: AnyNetwork, method: Method) -> bool:
    """Whether a network is one that a method trains."""
    if not isinstance(net, Network):
        return (net.game.name, net.name, net.gamma) == (method.game, method.net, method.gamma)
    expected = (as_size(method.board), parse_stages(method.stages), method.target, method.gamma)
    actual = (net.size, net.stages, net.target, net.gamma)
    shares = [method.spawn4, *(each.settings.get("spawn4") for each in method.changes())]
    tuples = [*(tuples for _, tuples in method.growth()), *method.added_tuples()]
    return method.game == "2048" and actual == expected and net.spawn4 in shares and net.tuples in tuples


def _read_state(folder: Path, games: int, block_start: int) -> dict[str, Any]:
    """The entry of a checkpoint in `state.json`; empty if there is none."""
    try:
        text = (folder / STATE).read_text(encoding="utf-8")
        for each in json.loads(text)["checkpoints"]:
            if (each["games"], each["block_start"]) == (games, block_start):
                for evaluation in each["evaluations"]:
                    check_evaluation(evaluation)
                return dict(each, elapsed_s=float(each["elapsed_s"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass
    return {}
