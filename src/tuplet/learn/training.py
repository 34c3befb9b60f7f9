"""The training loop: threads over one table, or rounds of tasks, with evaluations and checkpoints.

A thread takes a *chunk* of games at a time. Chunks end at fixed numbers of games, whatever the clock
says, so that an interrupted run can continue exactly where it was. With one thread the same seed gives
the same bytes; several threads update the tables without locks and do not. (A run that was finished
and is continued equals a run of the whole length if its first length is a multiple of CHUNK, and if
nothing depends on how much of the run is done, as a schedule of alpha or the delay of TC does.)
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.learn.checkpoints import Checkpoint, CheckpointWriter, load_checkpoint
from tuplet.learn.learners import TD
from tuplet.learn.parallel.rounds import BUDGET, ClusterLostError, RoundPlan, Rounds, plan_round
from tuplet.learn.parallel.thread_tuning import ThreadTuner
from tuplet.learn.parallel.worker import Task, join_chunks
from tuplet.learn.recorder import Loggers, Recorder, describe_plan
from tuplet.learn.run import ASKED_TO_SAVE, ASKED_TO_STOP, CONFIG, ROUNDS, Run, as_run_folder
from tuplet.learn.self_play import Chunk, DivergedError, chunk_of, fresh_games, learn_chunk, parse_evaluate
from tuplet.learn.settings import RunOptions, load_settings
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.progress import COMPILING, Progress, Watcher
from tuplet.system.stop import Stop
from tuplet.values.network import Network, check_memory
from tuplet.values.patterns import add_tuples, format_tuple

ENOUGH = 0.5  # seconds for a speed worth comparing
SHORTEST = 0.01  # seconds between checkpoints: something must be learned meanwhile


class Clock:
    """Seconds of training: it stops during compilation and evaluation."""

    def __init__(self, elapsed_s: float) -> None:
        self._before, self._began = elapsed_s, math.inf

    @property
    def elapsed_s(self) -> float:
        """Seconds so far, including those before an interruption."""
        return self._before + max(time.perf_counter() - self._began, 0.0)

    def start(self) -> None:
        """Let it run."""
        self._began = time.perf_counter()

    def stop(self) -> None:
        """Let it stand."""
        self._before, self._began = self.elapsed_s, math.inf


class Training:
    """A run being trained."""

    def __init__(
        self,
        run: Run,
        *,
        stop: Stop | None = None,
        watch: Watcher = lambda _: None,
        loggers: Loggers | None = None,
        checkpoint: Checkpoint | None = None,
        previous: RunOptions | None = None,
        executor: Any = None,
    ) -> None:
        """`checkpoint` is where the run continues, `previous` its options before it was resumed with others."""
        self.run, self.method, self.options = run, run.method, run.options
        self.stop, self.watch = stop or Stop(), watch
        self.net, self.learner = run.network, run.method.registered
        self.tables = self.net.tables_with_memory(self.learner.memory, self.learner.memory_per_weight)
        begun = not self.method.delay or (self.learner.memory_per_weight and self.tables.memory.any())
        self._learner_games = run.games if begun else 0  # not those of TD before it
        if self.method.change and self.options.tasks:
            raise UserError("--change and --tasks cannot be combined: leave out one of them")
        self._changes, self._method_now = self.method.changes(), self.method
        self._growth = [step for step in self.method.growth() if len(step[1]) > len(self.net.tuples)]  # still to come
        largest = " ".join(map(format_tuple, [self.method.growth()[-1][1], *self.method.added_tuples()][-1]))
        check_memory(largest, self.method.count_numbers())  # now, not when the network has grown
        self.clock = Clock(run.elapsed_s)
        self.saver = CheckpointWriter(run, checkpoint)
        self.recorder = Recorder(run, self.saver, loggers or Loggers((), self.stop), checkpoint)
        self._evaluation = parse_evaluate(self.options.evaluate)
        self._save_at = math.inf  # seconds of training
        self._look_at = 0.0  # when to look whether a checkpoint is asked for
        self._tuner: ThreadTuner | None = None
        self._rounds = Rounds(self.net, run.folder, executor) if self.options.tasks else None
        run.description = describe_plan(self.method, self.options, run.games, run.elapsed_s, previous)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        options: dict[str, Any] | None = None,
        changes: dict[str, Any] | None = None,
        **arguments: Any,
    ) -> Training:
        """A run folder's training, exactly as its last checkpoint left it, with some options changed.

        `changes` are settings of the method that change from now on.
        """
        folder = as_run_folder(folder)
        method, previous = load_settings(folder / CONFIG)
        run, checkpoint = load_checkpoint(folder, method, replace(previous, **(options or {})))
        if changes:
            run.method = method.with_change(run.games, changes)
        return cls(run, checkpoint=checkpoint, previous=previous, **arguments)

    @property
    def done(self) -> bool:
        """Whether the games or the budget are used up."""
        games, budget = self.options.games, self.options.budget
        return (games is not None and self.run.games >= games) or (
            budget is not None and self.clock.elapsed_s >= budget
        )

    @property
    def finished(self) -> bool:
        """Whether it is done, and the last evaluation, too."""
        return self.done and not self._evaluation_due()

    def train(self) -> Run:
        """Train until the run is done or stopped; the last checkpoint is written either way.

        The curve is drawn, too, unless a page stopped the run, which may continue it at once. If it cannot be saved
        in its folder, it is saved elsewhere.
        """
        run = self.run
        self.saver.begin(self.recorder.checkpoint(run.elapsed_s))
        self.watch(Progress(COMPILING))
        for progress in {0.0, self.method.delay}:  # compile the kernels by learning from no games
            learn_chunk(self.net, self.tables, self.method.hyperparameters_at(progress), 0, 0, 0, Worker())
        self.clock.start()
        self._save_at = self.clock.elapsed_s + self.options.checkpoint
        if self.options.threads > 1 and self._rounds is None:
            self._tuner = ThreadTuner(self.options.threads, self.clock.elapsed_s)
        try:
            self._loop()
        finally:
            if self._rounds is not None:
                self._rounds.close()
        run.interrupted = not self.finished
        run.elapsed_s = self.clock.elapsed_s
        if not run.interrupted:
            self.recorder.close_block(run.elapsed_s)
        self.saver.save_or_rescue(self.recorder.checkpoint(run.elapsed_s))
        if not (run.interrupted and run.folder and [*run.folder.glob(f"{ASKED_TO_STOP}*")]):  # a page draws it itself
            run.draw()
        return run

    def _loop(self) -> None:
        """Learn, evaluate and save, until the run is done or stopped."""
        while True:
            try:
                self._evaluate_if_due()
                if self.done or self.stop.is_set():
                    return
                self._grow_if_due()
                self._change_if_due()
                self._train_until(self._next_event())
                if self.clock.elapsed_s >= self._save_at and not self.done and not self.stop.is_set():
                    wait = self.saver.try_to_save(self.recorder.checkpoint(self.clock.elapsed_s))
                    self._save_at = self.clock.elapsed_s + max(wait, SHORTEST)
            except DivergedError:
                raise self._diverged() from None
            except ClusterLostError as error:
                resume = f": continue with  tuplet resume {self.run.folder}" if self.run.folder else ""
                self.run.save_error = f"{error}{resume}"
                warnings.warn(self.run.save_error, stacklevel=2)
                self.stop.set()
            except KeyboardInterrupt:  # between two chunks
                if self.stop.is_set():
                    raise
                self.stop.set()

    def _diverged(self) -> UserError:
        fix = "use --threads 1" if self.options.threads > 1 else "use a smaller alpha"
        kept = f" {self.run.folder} keeps the checkpoint of game {self.saver.saved_games:,}." if self.run.folder else ""
        return UserError(f"the weights diverged (inf or NaN) after {self.run.games:,} games: {fix}.{kept}")

    def _next_event(self) -> float:
        """The time of the next checkpoint or evaluation, or of the end."""
        times = [math.inf]
        if self.run.folder is not None:
            times.append(self._save_at)
        if self.options.budget is not None:
            times.append(self.options.budget)
        if self._evaluation is not None and self._evaluation.timed:
            times.append(self._evaluation.every * (self._evaluations() + 1))
        return min(times)

    def _last_game(self) -> float:
        """The number of games at which the run ends, or the next evaluation is due."""
        last = self.options.games or math.inf
        if self._evaluation is not None and not self._evaluation.timed:
            last = min(last, self._evaluation.every * (self._evaluations() + 1))
        return last

    def _save_if_asked(self) -> None:
        """Look once a second whether a page asks for a checkpoint: then it is due now."""
        if self.run.folder is not None and self.clock.elapsed_s >= self._look_at:
            self._look_at = self.clock.elapsed_s + 1
            with suppress(OSError):
                (self.run.folder / ASKED_TO_SAVE).unlink()
                self._save_at = self.clock.elapsed_s

    def report_progress(self, _: object = None) -> None:
        """Show how far it is."""
        self.watch(self.recorder.progress(self.clock.elapsed_s))

    def hyperparameters(self, games: int) -> Any:
        """How to learn at this number of games."""
        progress = self.options.progress(games, self.clock.elapsed_s)
        return self._method_now.hyperparameters_at(progress, begun=self._learner_games > 0)

    def _grows(self, games: int) -> bool:
        """Whether tuples are to join by then."""
        return bool(self._growth) and self.options.progress(games, self.clock.elapsed_s) >= self._growth[0][0]

    def _grow_if_due(self) -> None:
        while self._grows(self.run.games):
            tuples = self._growth.pop(0)[1]
            assert isinstance(self.net, Network)
            self.net.grow(" ".join(format_tuple(cells, self.net.size) for cells in tuples))
            self.tables = self.net.tables_with_memory(self.learner.memory, self.learner.memory_per_weight)

    def _change_if_due(self) -> None:
        """Learn as `--change` says from now on."""
        while self._changes and self.run.games >= self._changes[0].games:
            change = self._changes.pop(0)
            self._method_now = self.method.at(change.games)
            if not isinstance(self.net, Network):
                continue
            self.net.spawn4 = self._method_now.spawn4
            for name in change.settings.get("net", "").split():
                if add_tuples(self.net.tuples, name, self.net.size) != self.net.tuples:  # not so if it was saved since
                    self.net.grow(name)
            self.tables = self.net.tables_with_memory(self.learner.memory, self.learner.memory_per_weight)

    def _train_until(self, until: float) -> None:
        """Learn until that time, until the next evaluation, or until something changes: threads, tuples, rounds."""
        if self._rounds is not None:
            plan = plan_round(self.run.games, self.options.tasks)
            if plan is not None:
                self._play_round(self._rounds, plan)
                return
        began, moves, threads = self.clock.elapsed_s, self.recorder.moves, 1
        if self._tuner is not None:
            threads, seconds = self._tuner.next(began)
            until = min(until, began + seconds)
            self.recorder.threads = threads
        running = self._threads(self.run.games, threads)
        self._share_tables(until, running, threads)
        now = self.clock.elapsed_s
        if self._tuner is not None and now - began > ENOUGH and not self.stop.is_set():
            self._tuner.record(running, (self.recorder.moves - moves) / (now - began), now)

    def _threads(self, games: int, most: int) -> int:
        """How many threads may share the tables.

        Threads that share a fresh memory of TC can drive each other's weights to infinity: one goes first.
        """
        fresh = self._learner_games < self.options.serial
        return 1 if fresh and not isinstance(self.hyperparameters(games).rule, type(TD.rule)) else most

    def _share_tables(self, until: float, threads: int, most: int) -> None:
        """Let threads learn in the same tables."""
        last = self._last_game()
        chunks = self._chunks(until, last, threads, most)
        for chunk in ordered_map(self._play, chunks, threads=threads, stop=self.stop, on_tick=self.report_progress):
            if chunk is None:  # too late, and so are the others
                break
            self._record(chunk, self.clock.elapsed_s, last)

    def _chunks(self, until: float, last: float, threads: int, most: int) -> Iterator[tuple[int, int, float]]:
        """The first game and the number of games of each chunk, and when it is too late to begin it."""
        first, block = self.run.games, self.options.block
        last = min(last, self._changes[0].games if self._changes else math.inf)
        while self.clock.elapsed_s < min(until, self._save_at) and first < last:
            self._save_if_asked()
            if self._threads(first, most) != threads or self._grows(first):
                return
            if self._rounds is not None and plan_round(first, self.options.tasks):
                return
            chunk = chunk_of(self.net)
            ends = (chunk * (first // chunk + 1), block * (first // block + 1), self.options.games or math.inf)
            end = min(*ends, self._changes[0].games if self._changes else math.inf)
            yield first, int(end) - first, until
            first = int(end)

    def _play(self, first: int, games: int, until: float, worker: Worker) -> Chunk | None:
        """Learn from a chunk, in a thread; None if it is too late."""
        if worker.stop.is_set() or self.clock.elapsed_s >= until:
            return None
        hyper = self.hyperparameters(first)
        return learn_chunk(self.net, self.tables, hyper, self.options.seed, first, games, worker)

    def _record(self, chunk: Chunk, began: float, last: float) -> None:
        """Count games that were learned from; the last block before an evaluation waits for it."""
        if isinstance(chunk.rule, type(self.learner.rule)):
            self._learner_games += len(chunk.results[0])
        keep_open = math.inf if self._evaluation is None else last
        self.recorder.add(chunk, began, self.clock.elapsed_s, keep_open)

    def _play_round(self, rounds: Rounds, plan: RoundPlan) -> None:
        began, last = self.clock.elapsed_s, self._last_game()
        tasks = self._tasks(plan, last, rounds.games_per_s)
        results = rounds.play(tasks, self.options.threads, self.stop, self.report_progress)
        if results is None:
            return
        changes, line = rounds.merge(results, self.learner.merge_by)
        self.run.rounds.append({**line, "elapsed_s": round(self.clock.elapsed_s, 3)})
        self.saver.write_line(ROUNDS)
        self._record(join_chunks([result.chunk for result in results]), began, last)
        rounds.advance(changes, self.run.games)

    def _tasks(self, plan: RoundPlan, last: float, games_per_s: float) -> list[Task]:
        """The tasks of a round, which ends before game `last`, and when tuples join."""
        options, elapsed_s, games = self.options, self.clock.elapsed_s, plan.games
        if options.budget is not None and games_per_s:
            seconds = min(BUDGET * options.budget, options.budget - elapsed_s)
            games = min(games, max(int(seconds * games_per_s), 1))
        first = at = self.run.games
        end = int(min(first + plan.tasks * games, last))
        while at < end and not self._grows(at):
            at = min(chunk_of(self.net) * (at // chunk_of(self.net) + 1), end)
        ends = [first + (at - first) * n // plan.tasks for n in range(plan.tasks + 1)]
        return [
            Task(self.method, options, begin, end - begin, elapsed_s, self._learner_games > 0)
            for begin, end in pairwise(ends)
            if end > begin
        ]

    def _evaluations(self) -> int:
        """How many evaluations were due at the last one."""
        last = self.recorder.last_evaluation
        if last is None or self._evaluation is None:
            return 0
        return self._evaluation.due_by(last["learned"], last["elapsed_s"])

    def _evaluation_due(self) -> bool:
        """Whether an evaluation is due now: by its plan, or at the end."""
        if self._evaluation is None or not self.run.games:
            return False
        if self.done:
            last = self.recorder.last_evaluation
            return last is None or last["learned"] < self.run.games
        return self._evaluation.due_by(self.run.games, self.clock.elapsed_s) > self._evaluations()

    def _evaluate_if_due(self) -> None:
        """Evaluate if it is time, while the clock stands. Then close a block that was kept open."""
        due = self._evaluation_due()
        if due and not self.stop.is_set():
            assert self._evaluation is not None
            self.clock.stop()
            result = fresh_games(
                self.net,
                self._evaluation.games,
                opponent=self.options.opponent or "random",
                seed=self.options.seed,
                learned=self.run.games,
                threads=self.options.threads,
                stop=self.stop,
                watch=self.watch,
            )
            if result is not None:
                due, elapsed_s = False, round(self.clock.elapsed_s, 3)
                self.recorder.add_evaluation({"learned": self.run.games, "elapsed_s": elapsed_s, **result})
            self.recorder.restart_meter()
            self.clock.start()
            self.report_progress()
        if not due and self.recorder.block_is_full:
            self.recorder.close_block(self.clock.elapsed_s)
