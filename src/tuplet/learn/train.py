"""The training loop: threads over one table, blocks of statistics, checkpoints.

A thread takes a *chunk* of games at a time; chunks end at fixed numbers of games, whatever the
clock says, so that an interrupted run can go on exactly where it was. With one thread the same
seed gives the same bytes; several threads update the tables without locks and do not. (A run that
was finished at a number of games and is given more equals a run of that many in one go if the
first number is a multiple of CHUNK, and if nothing depends on how much of the run is done: a
schedule of alpha, or the delay of TC, is a share of the games or the time that were asked for.)
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.formats.files import sweep
from tuplet.formats.weights import WEIGHTS, read_weights, save_network
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Summary, summarise
from tuplet.learn.recipes import choose
from tuplet.learn.run import CONFIG, LOCK, METRICS, Metrics, Run, read_metrics, write_metrics
from tuplet.learn.settings import Settings, seconds
from tuplet.learn.td import (
    Desk,
    Learner,
    Results,
    make_desk,
    make_results,
    play_afterstates,
    play_states,
)
from tuplet.values.network import Network, as_stages
from tuplet.values.patterns import as_size, parse

CHUNK = 25  # games a thread plays before it looks at the clock
Watcher = Callable[["Training"], None]
BlockWatcher = Callable[[Metrics, Summary], None]


class DivergedError(Exception):
    """The values have become no finite numbers."""


class Training:
    """A run being trained: the part of it that threads share."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.net = run.network
        self.settings = settings = run.settings
        self._coherent_games = 0  # learned by TC
        if settings.learner == "tc":
            self.net.remember_updates()
            assert self.net.coherence is not None
            begun = not settings.delay or self.net.coherence[:, 1].any()
            self._coherent_games = self.run.games if begun else 0
        self.rules = rules_for(*self.net.size, settings.spawn4)
        self.play = play_states if settings.target == "state" else play_afterstates
        self.games = run.games  # finished
        self.moves = 0  # since this process began
        self.block: Results = make_results(settings.block)
        self.block_start = self.games  # the number of the block's first game
        self.stop = threading.Event()
        self.on_block: BlockWatcher | None = None
        self._taken = self.games
        self._finished_early: dict[int, tuple[int, int, Results]] = {}
        self._lock = threading.Lock()
        self._began: float | None = None  # the clock stands until all is compiled
        self._block_began, self._block_moves = time.perf_counter(), 0

    def get_ready(self) -> None:
        """Compile, or load from the cache, what the threads will run; then start the clock."""
        nothing = make_results(0)
        self.play(
            self.rules, self.net.tables, self.settings.learner_at(0.0), make_desk(self.net.m),
            np.uint64(0), 0, 0, nothing, 0,
        )  # fmt: skip
        self._began = time.perf_counter() - self.run.elapsed_s
        self._block_began = time.perf_counter()

    @property
    def elapsed_s(self) -> float:
        """Seconds of training, those before an interruption included."""
        if self._began is None:
            return self.run.elapsed_s
        return time.perf_counter() - self._began

    def _learner(self, games: int | None = None) -> Learner:
        """How to learn now, or from a game on. TC that has begun is not delayed any more."""
        progress = self.progress(self.games if games is None else games)
        if self._coherent_games:
            progress = max(progress, self.settings.delay)
        return self.settings.learner_at(progress)

    def progress(self, games: int) -> float:
        """How much of the run is done when so many games are: from 0 to 1."""
        shares = [0.0]
        if self.settings.games is not None:
            shares.append(games / self.settings.games)
        if self.settings.budget is not None:
            shares.append(self.elapsed_s / self.settings.budget)
        return min(max(shares), 1.0)

    @property
    def done(self) -> bool:
        """Whether the games or the budget are used up."""
        games, budget = self.settings.games, self.settings.budget
        return (games is not None and self.games >= games) or (
            budget is not None and self.elapsed_s >= budget
        )

    def work(self, until: float, number: int = 0) -> None:
        """What each thread does: chunk after chunk, until told to stop or the clock says so.

        Threads that share fresh TC tables can drive each other's weights off to infinity: the
        first thread begins alone.
        """
        desk = make_desk(self.net.m)
        while not self.stop.is_set() and time.perf_counter() < until:
            alone = self._learner().coherent and self._coherent_games < self.settings.serial
            if alone and number > 0 and not self.done:
                time.sleep(0.02)
                continue
            chunk = self._take()
            if chunk is None:
                return
            self._play(desk, *chunk)

    def _take(self) -> tuple[int, int] | None:
        """The next chunk's first game and number of games."""
        with self._lock:
            first = self._taken
            ends = [CHUNK * (first // CHUNK + 1)]
            ends.append(self.settings.block * (first // self.settings.block + 1))
            if self.settings.games is not None:
                ends.append(self.settings.games)
            if min(ends) <= first:
                return None
            self._taken = min(ends)
            return first, self._taken - first

    def _play(self, desk: Desk, first: int, games: int) -> None:
        results = make_results(games)
        seed = np.uint64(self.settings.seed)
        learner = self._learner(first)
        desk.tally[:] = 0
        self.play(self.rules, self.net.tables, learner, desk, seed, first, games, results, 0)
        if desk.tally[1]:
            raise DivergedError
        with self._lock:
            self.moves += int(results.lengths.sum() + desk.tally[0])
            self._coherent_games += games if learner.coherent else 0
            # Another thread may still be at an earlier chunk; blocks are filled in order.
            self._finished_early[first] = (first, games, results)
            while self.games in self._finished_early:
                self._record(*self._finished_early.pop(self.games))

    def _record(self, first: int, games: int, results: Results) -> None:
        at = first - self.block_start
        for whole, part in zip(self.block, results, strict=True):
            whole[at : at + games] = part
        self.games = first + games
        if self.games % self.settings.block == 0:
            self.close_block()

    def close_block(self) -> None:
        """Write the block's line of metrics and begin the next block."""
        count = self.games - self.block_start
        if count == 0:
            return
        scores, tiles, lengths = (part[:count] for part in self.block)
        summary = summarise(scores, tiles)
        now = time.perf_counter()
        moves = self.moves - self._block_moves
        metrics: Metrics = {
            "games": self.games,
            "elapsed_s": round(self.elapsed_s, 3),
            "mean_score": summary.mean_score,
            "max_score": summary.max_score,
            "moves_per_s": round(moves / max(now - self._block_began, 1e-9)),
            "mean_moves": float(lengths.mean()),
            "reached": {str(tile): share for tile, share in summary.reached.items()},
            "ended": {str(tile): share for tile, share in summary.ended.items()},
        }
        self.run.metrics.append(metrics)
        if self.run.folder is not None:
            with (self.run.folder / METRICS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(metrics) + "\n")
        self.block_start = self.games
        self._block_began, self._block_moves = now, self.moves
        if self.on_block is not None:
            self.on_block(metrics, summary)

    def so_far(self) -> tuple[Any, Any]:
        """Scores and largest exponents of the unfinished block's games."""
        count = self.games - self.block_start
        return self.block.scores[:count], self.block.tiles[:count]

    def save(self) -> None:
        """Write a checkpoint: weights, games played, and the unfinished block."""
        self.run.games, self.run.elapsed_s = self.games, self.elapsed_s
        if self.run.folder is None:
            return
        count = self.games - self.block_start
        notes = {
            "games": str(self.games),
            "elapsed_s": repr(self.elapsed_s),
            "block_start": str(self.block_start),
        }
        extra = {}
        if count:
            pending = zip(Results._fields, self.block, strict=True)
            extra = {f"block.{name}": part[:count] for name, part in pending}
        save_network(self.net, self.run.folder / WEIGHTS, notes, extra)


def train(
    net: Network | str | None = None,
    *,
    games: int | None = None,
    budget: float | str | None = None,
    recipe: str | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> Run:
    """Teach a network 2048 by letting it play, and return the run.

    `games` or `budget` (seconds, or "10m") says when to stop; a budget, or a `recipe`, picks the
    network and the learner where they are not given. The other settings are those of
    `Settings`: learner, target, alpha, lam, order, spawn4, threads, seed, ... With `out` the run is
    kept in that folder. Ctrl-C ends the training early (`run.interrupted` tells).
    """
    from tuplet.learn.display import watching

    made = net if isinstance(net, Network) else None
    if made is not None:
        if "initial" in settings:
            raise ValueError("a network has its initial value already: leave out initial")
        settings |= {
            "net": made.name, "board": "x".join(map(str, made.size)), "initial": made.initial,
            "stages": " ".join(map(str, made.stages)),
        }  # fmt: skip
        for name in ("target", "gamma", "spawn4"):
            settings.setdefault(name, getattr(made, name))
    elif net is not None:
        settings["net"] = net
    if isinstance(budget, str):
        budget = seconds(budget)
    chosen = Settings(**choose(recipe, budget, settings), games=games, budget=budget)
    made = made or chosen.network()
    if (made.target, made.gamma, made.spawn4) != (chosen.target, chosen.gamma, chosen.spawn4):
        if made.target != chosen.target and made.trained:
            raise ValueError(
                f"this network holds {made.target} values and cannot go on learning "
                f"{chosen.target} values: start with a new network"
            )
        made.target, made.gamma, made.spawn4 = chosen.target, chosen.gamma, chosen.spawn4
    run = Run(chosen, made, create_folder(Path(out)) if out is not None else None)
    with watching(progress) as watch, locked(run.folder):
        carry_on(Training(run), watch)
    if run.interrupted and progress:
        print(f"Training was interrupted after {run.games:,} games.", file=sys.stderr)
    return run


def carry_on(
    training: Training, watch: Watcher | None = None, on_block: BlockWatcher | None = None
) -> Run:
    """Train until the run is done or interrupted; the last checkpoint is written either way."""
    run, settings = training.run, training.settings
    training.on_block = on_block
    if run.folder is not None:
        # The settings last: a folder that has them can be resumed.
        if not (run.folder / CONFIG).exists():
            training.save()
        write_metrics(run.folder / METRICS, run.metrics)
        settings.save(run.folder / CONFIG)
    with stopping(training.stop):
        training.get_ready()
        while not training.done and not training.stop.is_set():
            until = time.perf_counter() + settings.checkpoint
            if settings.budget is not None:
                left = settings.budget - training.elapsed_s
                until = min(until, time.perf_counter() + left)
            try:
                _stint(training, until, watch)
            except DivergedError:
                raise _diverged(run, training.games) from None
            if not training.done and not training.stop.is_set():
                training.save()
        run.interrupted = not training.done
        if training.done:
            training.close_block()
        training.save()
    return run


def _diverged(run: Run, games: int) -> ValueError:
    """What to say when weights have become no numbers; the last checkpoint stays as it is."""
    kept = f" {run.folder} keeps the checkpoint of game {run.games:,}." if run.folder else ""
    fix = "one thread" if run.settings.threads > 1 else "a smaller alpha"
    return ValueError(
        f"the weights are no longer finite numbers after {games:,} games: learn with {fix}.{kept}"
    )


def _stint(training: Training, until: float, watch: Watcher | None) -> None:
    """Let the threads work until then, showing how it goes."""
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            training.work(until, number)
        except BaseException as error:
            failures.append(error)
            training.stop.set()

    count = training.settings.threads
    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
                if watch is not None:
                    watch(training)
    except BaseException:  # asked a second time to stop, or nowhere to show anything
        training.stop.set()
        raise
    finally:
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


@contextmanager
def stopping(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set `stop` instead of tearing the program down.

    Asked a second time, the program ends as it would have.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kinds = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):  # the terminal was closed
        kinds.append(signal.SIGHUP)
    before = [signal.getsignal(kind) for kind in kinds]

    def handle(*_: Any) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)

    for kind in kinds:
        signal.signal(kind, handle)
    try:
        yield
    finally:
        restore()


@contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Hold a run folder, so that two processes never train into one."""
    if folder is None:
        yield
        return
    with (folder / LOCK).open("a+") as file:
        try:
            import fcntl
        except ImportError:  # Windows: nothing to hold
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"another process is training in {folder}: wait for it, or choose another folder"
            ) from None
        for name in (CONFIG, METRICS, WEIGHTS):
            sweep(folder / name)
        yield


def create_folder(folder: Path) -> Path:
    """Make a run folder; refuses one that already holds a run."""
    if (folder / CONFIG).exists():
        raise ValueError(
            f"{folder} already holds a run: go on with --resume {folder}, or choose another --out"
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write to {folder}: choose another --out")
    return folder


def reopen(folder: Path, **changes: Any) -> Training:
    """A run folder's training, exactly as its last checkpoint left it.

    `changes` replace settings (games, budget, threads); lines of metrics that are younger than
    the checkpoint are dropped, they will come again.
    """
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"{folder} is not the folder of a training run (no {CONFIG})")
    settings = replace(Settings.load(folder / CONFIG), **changes)
    metrics = read_metrics(folder / METRICS)
    net, notes, extra = read_weights(folder)
    run = Run(settings, net, folder)
    size = as_size(settings.board)
    assert settings.net is not None
    meant = (size, parse(settings.net, size), as_stages(settings.stages), settings.target)
    if (net.size, net.tuples, net.stages, net.target) != meant or (
        (net.gamma, net.spawn4) != (settings.gamma, settings.spawn4)
    ):
        raise ValueError(f"{folder}: {WEIGHTS} and {CONFIG} do not belong together")
    try:
        run.games, run.elapsed_s = int(notes["games"]), float(notes["elapsed_s"])
        block_start = int(notes["block_start"])
        sound = 0 <= block_start <= run.games and 0 <= run.elapsed_s < math.inf
    except (KeyError, ValueError):
        sound = False
    if not sound:
        raise ValueError(f"{folder / WEIGHTS} is not a sound checkpoint")
    run.metrics = [m for m in metrics if m["games"] <= block_start]
    training = Training(run)
    training.block_start = block_start
    for name, part in zip(Results._fields, training.block, strict=True):
        pending = extra.get(f"block.{name}", part[:0])
        if len(pending) != run.games - block_start or len(pending) > len(part):
            raise ValueError(f"{folder / WEIGHTS} is not a sound checkpoint")
        part[: len(pending)] = pending
    return training
