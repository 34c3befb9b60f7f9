"""The training loop: threads over one table, blocks of statistics, checkpoints.

A thread takes a *chunk* of games at a time; chunks end at fixed numbers of games, whatever the
clock says, so that an interrupted run can go on exactly where it was. With one thread the same
seed gives the same bytes; several threads update the tables without locks and do not. (A run that
was finished at a number of games and is given more equals a run of that many in one go if the
first number is a multiple of CHUNK, and if nothing depends on how much of the run is done: a
schedule of alpha, or the delay of TC, is a share of the games or the time that were asked for.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Results, Summary, account, make_results, summarise
from tuplet.learn.checkpoints import Checkpoint, CheckpointWriter, load_checkpoint
from tuplet.learn.curves import Metrics
from tuplet.learn.evaluation import fresh_games, latest, parse_evaluate
from tuplet.learn.growth import ask_for_room, due
from tuplet.learn.learners import TD
from tuplet.learn.parallel.rounds import LostError, Rounds
from tuplet.learn.parallel.thread_tuning import APART, Hands
from tuplet.learn.parallel.worker import CHUNK, Chunk, DivergedError
from tuplet.learn.progress import description, how_far, share_done
from tuplet.learn.rescue import diverged, lost, rescue
from tuplet.learn.run import CONFIG, Run, as_run_folder
from tuplet.learn.self_play import workspace_of
from tuplet.learn.settings import RunOptions, load_settings, save_settings
from tuplet.learn.td import Hyperparameters, play_afterstates, play_states
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.progress import COMPILING, Progress, RateMeter, Watcher
from tuplet.system.stop import Stop
from tuplet.values.patterns import Tuple, format_tuple

ENOUGH = 0.5  # seconds of which a speed says something
SHORTEST = 0.01  # seconds between checkpoints: something must be learned meanwhile
BlockWatcher = Callable[[int, Summary], None]  # told of games so far, and of the last block
EvaluationWatcher = Callable[[Metrics], None]  # told what fresh games came to


class Training:
    """A run being trained: the part of it that threads share."""

    def __init__(
        self,
        run: Run,
        stop: Stop | None = None,
        watch: Watcher | None = None,
        on_block: BlockWatcher | None = None,
        on_evaluation: EvaluationWatcher | None = None,
        found: Checkpoint | None = None,
        executor: Any = None,
    ) -> None:
        self.run, self.method, self.options = run, run.method, run.options
        self.stop, self.on_block, self.on_evaluation = stop or Stop(), on_block, on_evaluation
        self.watch: Watcher = watch or (lambda _: None)
        self.before: RunOptions | None = None  # what it had before it was resumed with others
        self.net, learner = run.network, run.method.registered
        self.tables = self.net.tables_with_memory(learner.memory, learner.memory_per_weight)
        begun = not self.method.delay or (learner.memory_per_weight and self.tables.memory.any())
        self._own_games = run.games if begun else 0  # learned by the learner, not by TD before it
        self._growth = self.method.growth()
        ask_for_room(self._growth, 1 << len(self.net.stages), learner.memory_per_weight)
        self.rules = rules_for(*self.net.size, self.method.spawn4)
        self.play = play_states if self.method.target == "state" else play_afterstates
        self.games = run.games  # finished
        self.moves = 0  # since this process began
        self.block: Results = make_results(self.options.block)
        self.block_start = self.games  # the number of the block's first game
        self.evaluations: list[Metrics] = []  # that no line of metrics tells of yet
        self._began: float | None = None  # the clock stands until all is compiled
        self._block_began, self._block_moves = time.perf_counter(), 0
        self._pace = RateMeter()
        self._save_at = math.inf  # on the clock of `time.perf_counter`
        self._last = math.inf  # the game before which no chunk begins any more
        if found is not None:
            self.block_start, self.evaluations = found.block_start, [*found.evaluations]
            for whole, part in zip(self.block, found.pending, strict=True):
                whole[: len(part)] = part
        self._fresh_games = parse_evaluate(self.options.evaluate)
        self.saver = CheckpointWriter(run, found)
        self.rounds = Rounds(self, executor)
        self.hands: Hands | None = None  # where there are threads to choose from
        self._way = self.options.threads  # how many of them share the tables now

    @classmethod
    def load(cls, folder: str | Path, executor: Any = None, **changes: Any) -> Training:
        """A run folder's training, exactly as its last checkpoint left it.

        `changes` replace limits (games, budget, threads, checkpoint, keep, evaluate).
        """
        folder = as_run_folder(folder)
        method, before = load_settings(folder / CONFIG)
        run, found = load_checkpoint(folder, method, replace(before, **changes))
        training = cls(run, found=found, executor=executor)
        training.before = before
        return training

    def description(self) -> str:
        """What it is going to do, in words."""
        return description(self.method, self.options, self.games, self.elapsed_s, self.before)

    def go(self) -> Run:
        """Train until the run is done or told to stop; the last checkpoint is written either way.

        The curve is drawn, too. If it cannot be saved in its folder, it is saved elsewhere.
        """
        run = self.run
        if run.folder is not None:
            # The settings last: a folder that has them can be resumed.
            if not (run.folder / CONFIG).exists():
                self.save()
            self.saver.write_lines()
            save_settings(run.folder / CONFIG, self.method, self.options)
            self.saver.keep_some(self.games)
        self._get_ready()
        self._save_at = time.perf_counter() + self.options.checkpoint
        try:
            self._go_on()
        finally:
            self.rounds.close()
        run.interrupted = not self.finished
        if self.finished:
            self.close_block()
        try:
            self.save()
        except OSError as error:
            rescue(run, error, self._checkpoint())
        run.draw()
        return run

    def _go_on(self) -> None:
        """Learn, evaluate and save, until it is done or told to stop."""
        stop = self.stop
        while True:
            try:
                self._evaluate_if_due()
                if self.done or stop.is_set():
                    return
                self._grow_if_due()
                self._stint(self._next_look())
                if time.perf_counter() >= self._save_at and not self.done and not stop.is_set():
                    wait = self.saver.try_to_save(self._checkpoint())
                    self._save_at = time.perf_counter() + max(wait, SHORTEST)
            except DivergedError:
                raise diverged(self.run, self.games) from None
            except LostError as error:
                lost(self.run, error)
                stop.set()
            except KeyboardInterrupt:  # between two chunks
                if stop.is_set():
                    raise
                stop.set()

    def _get_ready(self) -> None:
        """Compile, or load from the cache, what the threads will run; then start the clock."""
        self.watch(Progress(COMPILING))
        work, nothing = workspace_of(self.net, Worker()), make_results(0)
        for progress in {0.0, self.method.delay}:
            rule = self.method.hyperparameters_at(progress)
            self.play(self.rules, self.tables, rule, work, np.uint64(0), 0, 0, nothing, 0)
        self._began = time.perf_counter() - self.run.elapsed_s
        self._block_began = time.perf_counter()
        if self.options.threads > 1 and not self.options.tasks:
            self.hands = Hands(self.options.threads, self._block_began)

    def _next_look(self) -> float:
        """On the clock of `time.perf_counter`: when to save or evaluate, or the time is over."""
        now, elapsed_s, plan = time.perf_counter(), self.elapsed_s, self._fresh_games
        until = self._save_at if self.run.folder is not None else math.inf
        if self.options.budget is not None:
            until = min(until, now + self.options.budget - elapsed_s)
        if plan is not None and plan.timed:
            until = min(until, now + plan.every * (self._evaluated() + 1) - elapsed_s)
        return until

    @property
    def elapsed_s(self) -> float:
        """Seconds of training, those before an interruption included."""
        if self._began is None:
            return self.run.elapsed_s
        return time.perf_counter() - self._began

    def progress(self, games: int) -> float:
        """How much of the run is done when so many games are: from 0 to 1."""
        return share_done(self.options, games, self.elapsed_s)

    @property
    def done(self) -> bool:
        """Whether the games or the budget are used up."""
        games, budget = self.options.games, self.options.budget
        return (games is not None and self.games >= games) or (budget is not None and self.elapsed_s >= budget)

    @property
    def finished(self) -> bool:
        """Whether it is done, and the last fresh games are played."""
        return self.done and not self._evaluation_due()

    def _rule(self, games: int) -> Hyperparameters:
        """How to learn from a game on. A learner that has begun is not delayed any more."""
        progress = self.progress(games)
        if self._own_games:
            progress = max(progress, self.method.delay)
        return self.method.hyperparameters_at(progress)

    @property
    def begun(self) -> bool:
        """Whether its learner has learned, not only TD before it."""
        return self._own_games > 0

    def _together(self, games: int) -> int:
        """How many threads share the tables from a game on; 0 where tasks learn apart.

        Threads that share a fresh memory of TC can drive each other's weights off to infinity: one
        goes first.
        """
        if self.options.tasks:
            return APART if self.rounds.plan(games) else 1
        fresh = self._own_games < self.options.serial
        alone = fresh and not isinstance(self._rule(games).rule, type(TD.rule))
        return 1 if alone else self._way

    def _choose(self) -> float:
        """Find the best use of the threads; returns how long to keep to it."""
        if self.hands is None:
            return math.inf
        self._way, seconds = self.hands.next(time.perf_counter(), self.rounds.fits)
        return seconds

    def tuples_due(self, games: int) -> list[Tuple]:
        """The tuples that the network should have by then; it has them, and may have more."""
        return max(due(self._growth, self.progress(games)), self.net.tuples, key=len)

    def _grow_if_due(self) -> None:
        """Let tuples join whose time has come."""
        tuples = self.tuples_due(self.games)
        if len(tuples) > len(self.net.tuples):
            learner = self.method.registered
            self.net.grow(" ".join(format_tuple(cells, self.net.size) for cells in tuples))
            self.tables = self.net.tables_with_memory(learner.memory, learner.memory_per_weight)

    def _stint(self, until: float) -> None:
        """Let the threads work until then, until more or fewer of them may, or tuples join."""
        now, moves = time.perf_counter(), self.moves
        until = min(until, now + self._choose())
        threads, plan = self._together(self.games), self._fresh_games
        self._last = self.options.games or math.inf
        if plan is not None and not plan.timed:  # fresh games wait for the end of a chunk
            self._last = min(self._last, plan.every * (self._evaluated() + 1))
        if threads == APART:
            self.rounds.go(self._last)
        else:
            self._share(until, threads)
        took = time.perf_counter() - now
        if self.hands is not None and took > ENOUGH and not self.stop.is_set():
            self.hands.heard(threads, (self.moves - moves) / took, now + took)

    def _share(self, until: float, threads: int) -> None:
        """Let so many threads learn in the same tables."""
        self.rounds.leave()
        played = ordered_map(
            self._play, self._chunks(until, threads), threads=threads, stop=self.stop, on_tick=lambda _: self.tell()
        )
        for chunk in played:
            if chunk is None:  # too late, and so are those behind it
                break
            self.record(chunk, time.perf_counter())

    def _chunks(self, until: float, threads: int) -> Iterator[tuple[int, int, float]]:
        """The first game and the number of games of each chunk, and when not to begin any more."""
        first, tuples = self.games, len(self.net.tuples)
        while time.perf_counter() < until and first < self._last:
            if self._together(first) != threads or len(self.tuples_due(first)) > tuples:
                return
            block = self.options.block
            ends = [CHUNK * (first // CHUNK + 1), block * (first // block + 1)]
            if self.options.games is not None:
                ends.append(self.options.games)
            if min(ends) <= first:
                return
            yield first, min(ends) - first, until
            first = min(ends)

    def _play(self, first: int, games: int, until: float, worker: Worker) -> Chunk | None:
        """Play a chunk and learn from it, in a thread; None if it is too late."""
        if worker.stop.is_set() or time.perf_counter() >= until:
            return None
        work = workspace_of(self.net, worker)
        results, rule = make_results(games), self._rule(first)
        work.tally[:] = 0
        seed = np.uint64(self.options.seed)
        self.play(self.rules, self.tables, rule, work, seed, first, games, results, 0)
        if work.tally[1]:
            raise DivergedError
        return Chunk(first, results, int(results.lengths.sum() + work.tally[0]), rule.rule)

    def record(self, chunk: Chunk, when: float) -> None:
        """Count games that were learned from by then, on the clock of `time.perf_counter`."""
        at, games = chunk.first - self.block_start, len(chunk.results.scores)
        for whole, part in zip(self.block, chunk.results, strict=True):
            whole[at : at + games] = part
        self.games = chunk.first + games
        self.moves += chunk.moves
        self._own_games += games if isinstance(chunk.rule, type(self.method.registered.rule)) else 0
        # The last block before fresh games tells of them.
        waits = self._fresh_games is not None and self.games >= self._last
        if self.games % self.options.block == 0 and not waits:
            self.close_block(when)

    def _last_evaluation(self) -> Metrics | None:
        """What fresh games came to the last time."""
        return latest(self.evaluations, self.run.metrics)

    def _evaluated(self) -> int:
        """The last turn at which fresh games were played."""
        last = self._last_evaluation()
        if last is None or self._fresh_games is None:
            return 0
        return self._fresh_games.turn(last["learned"], last["elapsed_s"])

    def _evaluation_due(self) -> bool:
        """Whether fresh games are to be played now: every so often, and at the end."""
        if self._fresh_games is None or not self.games:
            return False
        if self.done:
            last = self._last_evaluation()
            return last is None or last["learned"] < self.games
        return self._fresh_games.turn(self.games, self.elapsed_s) > self._evaluated()

    def _evaluate_if_due(self) -> None:
        """Play fresh games if it is time; the clock stands meanwhile. Then close a full block."""
        due = self._evaluation_due()
        if due and not self.stop.is_set():
            assert self._fresh_games is not None
            began, elapsed_s, options = time.perf_counter(), self.elapsed_s, self.options
            found = fresh_games(
                self.net,
                self._fresh_games.games,
                seed=options.seed,
                learned=self.games,
                threads=options.threads,
                stop=self.stop,
                watch=self.watch,
            )
            took = time.perf_counter() - began
            assert self._began is not None
            self._began, self._block_began = self._began + took, self._block_began + took
            self._pace = RateMeter()
            due = found is None
            if found is not None:
                told = {"learned": self.games, "elapsed_s": round(elapsed_s, 3), **found}
                self.evaluations.append(told)
                if self.on_evaluation is not None:
                    self.on_evaluation(told)
            self.tell()
        if not due and self.games - self.block_start == self.options.block:
            self.close_block()

    def so_far(self) -> Results:
        """The unfinished block's games."""
        count = self.games - self.block_start
        return Results(*(part[:count] for part in self.block))

    def close_block(self, when: float | None = None) -> None:
        """Write the block's line of metrics and begin the next block."""
        if self.games == self.block_start:
            if self.evaluations and self.run.metrics:  # a budget's, that ended with a block
                self.run.metrics[-1].setdefault("evaluations", []).extend(self.evaluations)
                self.evaluations = []
                self.saver.write_line(anew=True)
            return
        results = self.so_far()
        summary, now = summarise(results), when or time.perf_counter()
        rate = (self.moves - self._block_moves) / max(now - self._block_began, 1e-9)
        metrics: Metrics = {
            "games": self.games,
            "elapsed_s": round(now - (self._began or now), 3),
            **account(results),
            "moves_per_s": round(rate),
        }
        if self.hands is not None:
            metrics["sharing"] = self._way  # threads in one table; 0: they learn apart
        if self.evaluations:
            metrics["evaluations"], self.evaluations = self.evaluations, []
        self.run.metrics.append(metrics)
        self.saver.write_line()
        self.block_start = self.games
        self._block_began, self._block_moves = now, self.moves
        if self.on_block is not None:
            self.on_block(self.games, summary)

    def tell(self) -> None:
        """Let watchers know how far it is, and what the last block came to."""
        last = self._last_evaluation() if self._fresh_games is not None else None
        rate, metrics = self._pace.rate(self.moves), self.run.metrics
        done = (self.games, self.elapsed_s)
        self.watch(how_far(self.options, *done, rate, metrics, self.so_far(), last))

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(self.games, self.block_start, self.elapsed_s, self.so_far(), [*self.evaluations])

    def save(self) -> None:
        """Write a checkpoint: weights, games played, and the unfinished block."""
        self.saver.save(self._checkpoint())
