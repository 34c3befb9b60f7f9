r"""One training by several learners: rounds of tasks that learn apart, and are merged.

    snapshot --task 0--> changes \
             --task 1--> changes  merged in the order of tasks --> the next snapshot
             --task 2--> changes /

A task is a pure function of the snapshot, the seed and its games; so a task that is lost is done
again somewhere else, and the same number of tasks gives the same weights, whoever does them. One
learner begins: early on, merging costs more games than it saves. Tasks become more, and rounds
longer, as the games that are learned from do.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tuplet.games.g2048.statistics import Results
from tuplet.learn.checkpoints import CheckpointWriter
from tuplet.learn.parallel.merge import Changes, merge, save_changes
from tuplet.learn.parallel.worker import (
    CHUNK,
    Chunk,
    Snapshot,
    Step,
    Task,
    TaskResult,
    home_of,
    learn_apart,
    leave,
    tables_size,
)
from tuplet.learn.run import ROUNDS, Run
from tuplet.learn.settings import Method, RunOptions
from tuplet.system.blocks import as_executor, is_local, ordered_map
from tuplet.system.memory import available_memory
from tuplet.system.stop import Stop
from tuplet.system.worker_calls import file_digest
from tuplet.values.network import Network
from tuplet.values.patterns import Tuple

ALONE = 10_000  # games for each task of a round: with twice as many, two tasks
SHARE = 0.1  # a round's games, of all before it
SPARE = 1.5  # times the memory that copies take has to be free
BUDGET = 0.04  # a round's time, of the budget, at most


class LostError(Exception):
    """Those who learn for a run are gone, or the files that they need cannot be written."""


class RoundPlan(NamedTuple):
    """A round."""

    tasks: int
    games: int  # of each task


def plan_round(games: int, most: int) -> RoundPlan | None:
    """The round after so many games, of at most so many tasks; None while one learner goes first.

    >>> plan_round(9_000, 8), plan_round(40_000, 8), plan_round(800_000, 8)
    (None, RoundPlan(tasks=4, games=1000), RoundPlan(tasks=8, games=10000))
    """
    tasks = min(games // ALONE, most)
    if tasks < min(2, most):
        return None
    each = games * SHARE / tasks
    return RoundPlan(tasks, max(round(each / CHUNK), 1) * CHUNK)


class Learning(Protocol):
    """What rounds need of a training."""

    run: Run
    net: Network
    method: Method
    options: RunOptions
    stop: Stop
    saver: CheckpointWriter
    games: int

    @property
    def elapsed_s(self) -> float: ...  # noqa: D102

    @property
    def begun(self) -> bool: ...  # noqa: D102

    def tuples_due(self, games: int) -> list[Tuple]: ...  # noqa: D102

    def tell(self) -> None: ...  # noqa: D102

    def record(self, chunk: Chunk, when: float) -> None: ...  # noqa: D102


class Rounds:
    """A run's rounds."""

    def __init__(self, training: Learning, executor: Any = None) -> None:
        self.training, self.run = training, uuid.uuid4().hex
        self.executor = as_executor(executor)
        self.here = is_local(self.executor)
        self._snapshot: Snapshot | None = None
        self._base_size = self._steps_size = 0  # bytes of files
        self._folder: Path | None = None
        self._pace = 0.0  # games a second, of a task

    def plan(self, games: int) -> RoundPlan | None:
        """The round after so many games; None while one learner goes first."""
        options = self.training.options
        return plan_round(games, options.tasks or options.threads)

    def fits(self) -> bool:
        """Whether threads can learn apart now: enough is learned, and there is room for copies."""
        need = tables_size(self.training.net) * self.training.options.threads
        room = self._snapshot is not None or available_memory() > SPARE * need
        return room and self.plan(self.training.games) is not None

    def leave(self) -> None:
        """Let go of copies: the tables are learned in by others now."""
        if self._snapshot is not None:
            leave(self.run)
            self._snapshot = None

    def go(self, last: float) -> None:
        """A round, without games from number `last` on; given up if told to stop meanwhile.

        LostError, with nothing of the run half done, if those who learn elsewhere are lost.
        """
        training, began = self.training, time.perf_counter()
        with self._elsewhere():
            snapshot, found = self._now(), []
            tasks = self._tasks(last)
            for learned in ordered_map(
                learn_apart,
                ((snapshot, task) for task in tasks),
                executor=self.executor,
                threads=training.options.threads,
                stop=training.stop,
                on_tick=lambda _: training.tell(),
            ):
                if learned is None:
                    return
                found.append(learned)
        if tasks and len(found) == len(tasks):
            changes = self._merge(found, began)
            with self._elsewhere():
                self._step(changes)

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """Do what the cluster, or a file for it, may fail at."""
        try:
            yield
        except OSError as error:
            if self.here:  # a watcher's: not for us to explain
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise LostError(f"{where}{error.strerror or error}") from error

    def _tasks(self, last: float) -> list[Task]:
        """The tasks of a round; it ends before game `last`, and when tuples join."""
        training, options, plan = self.training, self.training.options, self.plan(self.training.games)
        assert plan is not None
        elapsed_s, games = training.elapsed_s, plan.games
        if options.budget is not None and self._pace:
            seconds = min(BUDGET * options.budget, options.budget - elapsed_s)
            games = min(games, max(int(seconds * self._pace), 1))
        first, at = training.games, training.games
        end = int(min(first + plan.tasks * games, last))
        while at < end and len(training.tuples_due(at)) == len(training.net.tuples):
            at = min(CHUNK * (at // CHUNK + 1), end)
        ends = [first + (at - first) * n // plan.tasks for n in range(plan.tasks + 1)]
        return [
            Task(training.method, options, one, other - one, elapsed_s, training.begun)
            for one, other in pairwise(ends)
            if other > one
        ]

    def _merge(self, found: list[TaskResult], began: float) -> Changes:
        """Make one of what tasks have learned, and let the run know of their games."""
        training, now, busy = self.training, time.perf_counter(), time.thread_time()
        merge_by = training.method.registered.merge_by
        changes = merge(training.net, [each.changes for each in found], merge_by)
        first, games = found[0].first, sum(len(each.results.scores) for each in found)
        self._pace = max(len(each.results.scores) / each.seconds for each in found)
        line = {
            "games": first + games,
            "tasks": len(found),
            "elapsed_s": round(training.elapsed_s, 3),
            "seconds": [round(each.seconds, 3) for each in found],
            "cpu_s": [round(each.cpu_s, 3) for each in found],
            "around_s": [round(each.around_s, 3) for each in found],
            "merge_s": round(time.perf_counter() - now, 3),
            "merge_cpu_s": round(time.thread_time() - busy, 3),
            "changed": [each.changes.size for each in found],
            "merged": changes.size,
        }
        training.run.rounds.append(line)
        training.saver.write_line(ROUNDS)
        took = time.perf_counter() - began
        for each in found:
            at, block = 0, training.options.block
            while at < len(each.results.scores):
                here = each.first + at
                count = min(block - here % block, len(each.results.scores) - at)
                part = Results(*(array[at : at + count] for array in each.results))
                moves = each.moves * count // len(each.results.scores)
                when = began + took * (here + count - first) / games
                training.record(Chunk(here, part, moves, each.rule), when)
                at += count
        return changes

    def _now(self) -> Snapshot:
        """The tables as they are, for tasks to begin with."""
        net = self.training.net
        known = self._snapshot or self._as_file(uuid.uuid4().hex, ())
        if known.tuples != net.name:
            after = _name(known.name, net.name)
            step = Step(known.name, after, grow=net.name)
            known = known._replace(name=after, tuples=net.name, steps=(*known.steps, step))
        self._snapshot = known
        if self.here:
            home = home_of(self.run)
            home.net, home.name, home.stays = net, known.name, True
        return known

    def _step(self, changes: Changes) -> None:
        """Go on to the next snapshot, by these changes."""
        known = self._snapshot
        assert known is not None
        if self.here:
            after = _name(known.name, str(self.training.games))
            steps = (Step(known.name, after, changes=changes),)  # all copies are that far
            self._snapshot = known._replace(name=after, steps=steps)
            return
        path = self._where() / f"{len(self.training.run.rounds)}.safetensors"
        save_changes(path, changes)
        digest = file_digest(path)
        after = _name(known.name, digest)
        self._hand_out(path, digest)
        step = Step(known.name, after, path=str(path), digest=digest)
        self._steps_size += path.stat().st_size
        self._snapshot = known._replace(name=after, steps=(*known.steps, step))
        if self._steps_size > self._base_size:
            self._snapshot = self._as_file(after, (step,))
            for old in known.steps:
                self._take_back(old.path, old.digest)
            self._take_back(known.path, known.digest)

    def _as_file(self, name: str, steps: tuple[Step, ...]) -> Snapshot:
        """The tables by a name, in a file if others have to read them."""
        net, path, digest = self.training.net, "", ""
        if not self.here:
            file = net.save(self._where() / f"{name}.safetensors")
            path, digest = str(file), file_digest(file)
            self._base_size, self._steps_size = file.stat().st_size, 0
            self._hand_out(file, digest)
        return Snapshot(self.run, name, net.name, name, path, digest, steps)

    def _hand_out(self, path: Path, digest: str) -> None:
        if self.executor is not None:
            self.executor.provide(path, digest)

    def _take_back(self, path: str, digest: str) -> None:
        if path:
            if self.executor is not None:
                self.executor.forget(digest)
            Path(path).unlink(missing_ok=True)

    def _where(self) -> Path:
        """The folder of files that tasks begin with."""
        if self._folder is None:
            run = self.training.run.folder
            if run is None:
                self._folder = Path(tempfile.mkdtemp(prefix="tuplet-rounds-"))
            else:
                self._folder = run.resolve() / "rounds"
                self._folder.mkdir(exist_ok=True)
        return self._folder

    def close(self) -> None:
        """Let go of all that was kept for tasks."""
        self.leave()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _name(before: str, by: str) -> str:
    """The name of the snapshot after one: the same for the same steps."""
    return hashlib.blake2b(f"{before} {by}".encode(), digest_size=16).hexdigest()
