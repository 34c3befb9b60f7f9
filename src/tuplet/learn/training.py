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
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.board import as_size
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Results, Summary, make_results, summarise
from tuplet.learn.learners import TD
from tuplet.learn.run import (
    CONFIG,
    METRICS,
    Metrics,
    Run,
    as_run_folder,
    read_metrics,
    write_metrics,
)
from tuplet.learn.settings import load_settings, save_settings
from tuplet.learn.td import UpdateRule, make_workspace, play_afterstates, play_states
from tuplet.system.blocks import Worker, in_order
from tuplet.system.progress import COMPILING, Pace, Progress, Watcher
from tuplet.system.stop import Stop
from tuplet.values.network import Network
from tuplet.values.parameters import as_stages
from tuplet.values.patterns import parse
from tuplet.values.weights import WEIGHTS, read_weights, save_weights

CHUNK = 25  # games a thread plays before it looks at the clock
ENOUGH = 50  # games of which a mean says something
BlockWatcher = Callable[[int, Summary], None]  # told of games so far, and of the last block


class DivergedError(Exception):
    """The values have become no finite numbers."""


class Chunk(NamedTuple):
    """Games that were played and learned from."""

    first: int
    results: Results
    moves: int  # with those of games begun in the middle
    by: Any  # what adjusted the weights


class Training:
    """A run being trained: the part of it that threads share."""

    def __init__(
        self, run: Run, stop: Stop | None = None, watch: Watcher | None = None,
        on_block: BlockWatcher | None = None,
    ) -> None:  # fmt: skip
        self.run, self.method, self.limits = run, run.method, run.limits
        self.stop, self.on_block = stop or Stop(), on_block
        self.watch: Watcher = watch or (lambda _: None)
        self.net, learner = run.network, run.method.registered
        self.tables = self.net.tables_with(learner.memory, learner.floats)
        begun = not self.method.delay or (learner.floats and self.tables.memory.any())
        self._own_games = run.games if begun else 0  # learned by the learner, not by TD before it
        self.rules = rules_for(*self.net.size, self.method.spawn4)
        self.play = play_states if self.method.target == "state" else play_afterstates
        self.games = run.games  # finished
        self.moves = 0  # since this process began
        self.block: Results = make_results(self.limits.block)
        self.block_start = self.games  # the number of the block's first game
        self._began: float | None = None  # the clock stands until all is compiled
        self._block_began, self._block_moves = time.perf_counter(), 0
        self._pace = Pace()

    @classmethod
    def load(cls, folder: str | Path, **changes: Any) -> Training:
        """A run folder's training, exactly as its last checkpoint left it.

        `changes` replace limits (games, budget, threads); lines of metrics that are younger than
        the checkpoint are dropped, they will come again.
        """
        folder = as_run_folder(folder)
        method, limits = load_settings(folder / CONFIG)
        limits = replace(limits, **changes)
        metrics = read_metrics(folder / METRICS)
        parameters, notes, extra = read_weights(folder)
        run = Run(method, limits, Network.of(parameters), folder)
        size, net = as_size(method.board), run.network
        assert method.net is not None
        meant = (size, parse(method.net, size), as_stages(method.stages), method.target)
        if (net.size, net.tuples, net.stages, net.target) != meant or (
            (net.gamma, net.spawn4) != (method.gamma, method.spawn4)
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
        training = cls(run)
        training.block_start = block_start
        for name, part in zip(Results._fields, training.block, strict=True):
            pending = extra.get(f"block.{name}", part[:0])
            if len(pending) != run.games - block_start or len(pending) > len(part):
                raise ValueError(f"{folder / WEIGHTS} is not a sound checkpoint")
            part[: len(pending)] = pending
        return training

    def go(self) -> Run:
        """Train until the run is done or told to stop; the last checkpoint is written either way.

        The curve is drawn, too.
        """
        run, stop = self.run, self.stop
        if run.folder is not None:
            # The settings last: a folder that has them can be resumed.
            if not (run.folder / CONFIG).exists():
                self.save()
            write_metrics(run.folder / METRICS, run.metrics)
            save_settings(run.folder / CONFIG, self.method, self.limits)
        self._get_ready()
        until = self._next_checkpoint()
        while not self.done and not stop.is_set():
            try:
                self._stint(until)
                if time.perf_counter() >= until and not self.done and not stop.is_set():
                    self.save()
                    until = self._next_checkpoint()
            except DivergedError:
                raise self._diverged() from None
            except KeyboardInterrupt:  # between two chunks
                if stop.is_set():
                    raise
                stop.set()
        run.interrupted = not self.done
        if self.done:
            self.close_block()
        self.save()
        run.draw()
        return run

    def _get_ready(self) -> None:
        """Compile, or load from the cache, what the threads will run; then start the clock."""
        self.watch(Progress(COMPILING))
        work, nothing = make_workspace(self.net.m), make_results(0)
        for progress in {0.0, self.method.delay}:
            rule = self.method.rule_at(progress)
            self.play(self.rules, self.tables, rule, work, np.uint64(0), 0, 0, nothing, 0)
        self._began = time.perf_counter() - self.run.elapsed_s
        self._block_began = time.perf_counter()

    def _next_checkpoint(self) -> float:
        """On the clock of `time.perf_counter`: when to save, or the time is over."""
        now = time.perf_counter()
        until = now + self.limits.checkpoint if self.run.folder is not None else math.inf
        if self.limits.budget is not None:
            until = min(until, now + self.limits.budget - self.elapsed_s)
        return until

    @property
    def elapsed_s(self) -> float:
        """Seconds of training, those before an interruption included."""
        if self._began is None:
            return self.run.elapsed_s
        return time.perf_counter() - self._began

    def progress(self, games: int) -> float:
        """How much of the run is done when so many games are: from 0 to 1."""
        shares = [0.0]
        if self.limits.games is not None:
            shares.append(games / self.limits.games)
        if self.limits.budget is not None:
            shares.append(self.elapsed_s / self.limits.budget)
        return min(max(shares), 1.0)

    @property
    def done(self) -> bool:
        """Whether the games or the budget are used up."""
        games, budget = self.limits.games, self.limits.budget
        return (games is not None and self.games >= games) or (
            budget is not None and self.elapsed_s >= budget
        )

    def _rule(self, games: int) -> UpdateRule:
        """How to learn from a game on. A learner that has begun is not delayed any more."""
        progress = self.progress(games)
        if self._own_games:
            progress = max(progress, self.method.delay)
        return self.method.rule_at(progress)

    def _alone(self, games: int) -> bool:
        """Whether one thread has to go first.

        Threads that share a fresh memory of TC can drive each other's weights off to infinity.
        """
        fresh = self._own_games < self.limits.serial
        return fresh and not isinstance(self._rule(games).by, type(TD.by))

    def _stint(self, until: float) -> None:
        """Let the threads work until then, or until more or fewer of them may."""
        alone = self._alone(self.games)
        played = in_order(
            self._play, self._chunks(until, alone), threads=1 if alone else self.limits.threads,
            stop=self.stop, look=lambda _: self.watch(self._event()),
        )  # fmt: skip
        for chunk in played:
            if chunk is None:  # too late, and so are those behind it
                break
            self._record(chunk)

    def _chunks(self, until: float, alone: bool) -> Iterator[tuple[int, int, float]]:
        """The first game and the number of games of each chunk, and when not to begin any more."""
        first = self.games
        while time.perf_counter() < until and self._alone(first) == alone:
            block = self.limits.block
            ends = [CHUNK * (first // CHUNK + 1), block * (first // block + 1)]
            if self.limits.games is not None:
                ends.append(self.limits.games)
            if min(ends) <= first:
                return
            yield first, min(ends) - first, until
            first = min(ends)

    def _play(self, first: int, games: int, until: float, worker: Worker) -> Chunk | None:
        """Play a chunk and learn from it, in a thread; None if it is too late."""
        if worker.stop.is_set() or time.perf_counter() >= until:
            return None
        work = worker.keep("workspace", lambda: make_workspace(self.net.m))
        results, rule = make_results(games), self._rule(first)
        work.tally[:] = 0
        seed = np.uint64(self.limits.seed)
        self.play(self.rules, self.tables, rule, work, seed, first, games, results, 0)
        if work.tally[1]:
            raise DivergedError
        return Chunk(first, results, int(results.lengths.sum() + work.tally[0]), rule.by)

    def _record(self, chunk: Chunk) -> None:
        at, games = chunk.first - self.block_start, len(chunk.results.scores)
        for whole, part in zip(self.block, chunk.results, strict=True):
            whole[at : at + games] = part
        self.games = chunk.first + games
        self.moves += chunk.moves
        self._own_games += games if isinstance(chunk.by, type(self.method.registered.by)) else 0
        if self.games % self.limits.block == 0:
            self.close_block()

    def so_far(self) -> Results:
        """The unfinished block's games."""
        count = self.games - self.block_start
        return Results(*(part[:count] for part in self.block))

    def close_block(self) -> None:
        """Write the block's line of metrics and begin the next block."""
        if self.games == self.block_start:
            return
        results = self.so_far()
        summary, now = summarise(results), time.perf_counter()
        rate = (self.moves - self._block_moves) / max(now - self._block_began, 1e-9)
        metrics: Metrics = {
            "games": self.games,
            "elapsed_s": round(self.elapsed_s, 3),
            "mean_score": summary.mean_score,
            "max_score": summary.max_score,
            "moves_per_s": round(rate),
            "mean_moves": float(results.lengths.mean()),
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
            self.on_block(self.games, summary)

    def _event(self) -> Progress:
        """How far it is, and what the last block came to."""
        figures: dict[str, str] = {}
        shares: dict[str, float] = {}
        results, metrics = self.so_far(), self.run.metrics
        summary = summarise(results) if len(results.scores) >= ENOUGH else None
        if metrics:
            mean, shares = metrics[-1]["mean_score"], metrics[-1]["reached"]
        elif summary is not None:
            mean, shares = summary.mean_score, {str(t): s for t, s in summary.reached.items()}
        if metrics or summary:
            best = max([m["max_score"] for m in metrics] + [summary.max_score if summary else 0])
            figures = {"mean": f"{mean:,.0f}", "best": f"{best:,}"}
        rate = self._pace.rate(self.moves)
        games, budget = self.limits.games, self.limits.budget
        if budget is not None and (games is None or self.elapsed_s / budget > self.games / games):
            figures = {"games": f"{self.games:,}", **figures}
            return Progress("time", self.elapsed_s, budget, rate, "moves/s", figures, shares)
        return Progress("games", self.games, games, rate, "moves/s", figures, shares)

    def save(self) -> None:
        """Write a checkpoint: weights, games played, and the unfinished block."""
        self.run.games, self.run.elapsed_s = self.games, self.elapsed_s
        if self.run.folder is None:
            return
        notes = {
            "games": str(self.games),
            "elapsed_s": repr(self.elapsed_s),
            "block_start": str(self.block_start),
        }
        extra = {}
        if self.games > self.block_start:
            pending = zip(Results._fields, self.so_far(), strict=True)
            extra = {f"block.{name}": part for name, part in pending}
        save_weights(self.net, self.run.folder / WEIGHTS, notes, extra)

    def _diverged(self) -> ValueError:
        """What to say when weights have become no numbers; the last checkpoint stays as it is."""
        run = self.run
        kept = f" {run.folder} keeps the checkpoint of game {run.games:,}." if run.folder else ""
        fix = "one thread" if self.limits.threads > 1 else "a smaller alpha"
        return ValueError(
            f"the weights are no longer finite numbers after {self.games:,} games: learn with "
            f"{fix}.{kept}"
        )
