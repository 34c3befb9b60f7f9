"""Checkpoints: what a run needs to go on exactly where it was.

`weights.safetensors` holds what follows from the settings and the seed alone: weights, games, and
the unfinished block. Two equal runs write equal files. What depends on the clock stands in
`state.json`: the time taken, and fresh games that no line of metrics tells of yet. It is written
before the weights and keeps an entry for those it finds, too, so that whichever of the two are
there after a crash find theirs.
"""

from __future__ import annotations

import json
import math
import shutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.games.g2048.statistics import Results, make_results
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
from tuplet.learn.settings import Method, RunOptions
from tuplet.system.files import atomic_write
from tuplet.values.patterns import parse_stages
from tuplet.values.weights import WEIGHTS, read_weights, save_weights

RETRY = 30.0  # seconds until a checkpoint that failed is tried again, at most


class Checkpoint(NamedTuple):
    """Where a run is."""

    games: int
    block_start: int  # the number of the unfinished block's first game
    elapsed_s: float
    pending: Results  # the unfinished block's games
    evaluations: list[Metrics]  # that no line of metrics tells of yet

    @property
    def state(self) -> dict[str, Any]:
        """What `state.json` says of it."""
        return {
            "games": self.games,
            "block_start": self.block_start,
            "elapsed_s": self.elapsed_s,
            "evaluations": self.evaluations,
        }


class CheckpointWriter:
    """Writes lines of metrics and of rounds, and checkpoints, into a run's folder, if it has one.

    What cannot be written does not end the training: it is said, once, and tried again.
    """

    def __init__(self, run: Run, found: Checkpoint | None = None) -> None:
        self.run = run
        self._found = [] if found is None else [found.state]  # the state of the weights there
        self._failing: set[str] = set()  # what could not be written the last time

    def write_line(self, name: str = METRICS, anew: bool = False) -> None:
        """Write the last line of a file; if that failed before, or it is not new, all of them."""
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

    def write_lines(self) -> None:
        """Write all lines of metrics anew, and those of rounds, if there are any."""
        assert self.run.folder is not None
        self._write(METRICS)
        if self.run.rounds or (self.run.folder / ROUNDS).exists():
            self._write(ROUNDS)

    def _lines(self, name: str) -> list[Metrics]:
        return self.run.metrics if name == METRICS else self.run.rounds

    def _write(self, name: str) -> None:
        assert self.run.folder is not None
        write_lines(self.run.folder / name, self._lines(name))
        self._failing.discard(name)

    def save(self, now: Checkpoint) -> None:
        """Write a checkpoint; if that fails, the one before is still whole."""
        folder = self.run.folder
        if folder is not None:
            for name in self._failing & {METRICS, ROUNDS}:  # a checkpoint must not be ahead of them
                self._write(name)
            with atomic_write(folder / STATE) as file:
                file.write(json.dumps({"checkpoints": [*self._found, now.state]}).encode())
            notes = {"games": str(now.games), "block_start": str(now.block_start)}
            extra = {}
            if len(now.pending.scores):
                pending = zip(Results._fields, now.pending, strict=True)
                extra = {f"block.{name}": part for name, part in pending}
            save_weights(self.run.network, folder / WEIGHTS, notes, extra)
            self._found = [now.state]
            self.keep_some(now.games)
        self.run.games, self.run.elapsed_s = now.games, now.elapsed_s

    def try_to_save(self, now: Checkpoint) -> float:
        """Write a checkpoint, if it can be; returns the seconds until the next."""
        wait, what = self.run.options.checkpoint, "the checkpoint"
        try:
            self.save(now)
        except OSError as error:
            wait = min(wait, RETRY)
            self._failed(what, now.games, error, f"every {wait:g} s")
        else:
            if what in self._failing:
                self._failing.discard(what)
                text = f"{what} of {self.run.name} could be written again, at game {now.games:,}"
                warnings.warn(text, stacklevel=2)
        return wait

    def _failed(self, what: str, games: int, error: OSError, again: str) -> None:
        if what not in self._failing:
            warnings.warn(
                f"{what} of {self.run.name} cannot be written at game {games:,} "
                f"({error.strerror or error}): training goes on, and tries again {again}",
                stacklevel=3,
            )
        self._failing.add(what)

    def keep_some(self, games: int) -> None:
        """Keep the checkpoint of now by its number of games, and only the last few of these."""
        keep, run = self.run.options.keep, self.run.folder
        if not keep or not games or run is None:
            return
        folder = run / KEPT
        folder.mkdir(exist_ok=True)
        # A copy, not a link: somebody may copy one over the other.
        with (run / WEIGHTS).open("rb") as now, atomic_write(folder / f"{games}.safetensors") as file:
            shutil.copyfileobj(now, file, 1 << 20)
        kept = [int(path.stem) for path in folder.glob("*.safetensors") if path.stem.isdecimal()]
        for old in sorted(kept)[:-keep]:
            (folder / f"{old}.safetensors").unlink(missing_ok=True)


def load_checkpoint(folder: Path, method: Method, options: RunOptions) -> tuple[Run, Checkpoint]:
    """The run of a folder, exactly as its last checkpoint left it.

    Lines of metrics and rounds that are younger than the checkpoint are dropped, they will come
    again.
    """
    metrics, rounds = read_metrics(folder / METRICS), read_rounds(folder / ROUNDS)
    network, notes, extra = read_weights(folder)
    run = Run(method, options, network, folder)
    size, net = as_size(method.board), run.network
    meant = (size, parse_stages(method.stages), method.target, method.gamma, method.spawn4)
    has = (net.size, net.stages, net.target, net.gamma, net.spawn4)
    if has != meant or net.tuples not in [tuples for _, tuples in method.growth()]:
        raise UserError(f"{folder}: {WEIGHTS} and {CONFIG} do not belong together")
    try:
        games, start = int(notes["games"]), int(notes["block_start"])
        state = _state(folder, games, start)
        if not state:  # of an older tuplet, or somebody has put another checkpoint here
            before = [m["elapsed_s"] for m in metrics if m["games"] <= games]
            state = {"elapsed_s": notes.get("elapsed_s", before[-1] if before else 0.0)}
        elapsed_s = float(state["elapsed_s"])
        pending = Results(
            *(
                extra.get(f"block.{name}", nothing)
                for name, nothing in zip(Results._fields, make_results(0), strict=True)
            )
        )
        sound = 0 <= start <= games and 0 <= elapsed_s < math.inf
        sound = sound and {len(part) for part in pending} == {games - start}
    except (KeyError, ValueError):
        sound = False
    if not sound or games - start > options.block:
        raise UserError(f"{folder / WEIGHTS} is not a sound checkpoint")
    run.games, run.elapsed_s = games, elapsed_s
    run.metrics = [m for m in metrics if m["games"] <= start]
    run.rounds = [each for each in rounds if each["games"] <= games]
    return run, Checkpoint(games, start, elapsed_s, pending, state.get("evaluations", []))


def _state(folder: Path, games: int, block_start: int) -> dict[str, Any]:
    """What `state.json` says of a checkpoint; empty if it knows nothing of it."""
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
