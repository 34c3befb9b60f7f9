r"""One training by several learners: rounds of tasks that learn separately and are merged.

    snapshot --task 0--> changes \
             --task 1--> changes  merged in the order of tasks --> the next snapshot
             --task 2--> changes /

A task is a pure function of the snapshot, the seed and its games. So a lost task can be run again
elsewhere, and the same number of tasks gives the same weights wherever they run. One learner begins:
early on, merging costs more games than it saves. The more games are learned from, the more tasks
there are, and the longer the rounds.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.learn.curves import Metrics
from tuplet.learn.parallel.merge import Changes, merge, save_changes
from tuplet.learn.parallel.worker import Snapshot, Step, Task, TaskResult, drop_tables, run_task, tables_of_run
from tuplet.learn.self_play import CHUNK
from tuplet.system.blocks import as_executor, is_local, ordered_map
from tuplet.system.stop import Stop
from tuplet.system.worker_calls import file_digest
from tuplet.values.packed import AnyNetwork

ALONE = 10_000  # games for each task of a round: with twice as many, two tasks
SHARE = 0.1  # a round's games, of all games before it
BUDGET = 0.04  # a round's time, of the budget, at most


class ClusterLostError(Exception):
    """The workers are gone, or the files that they need cannot be written."""


class RoundPlan(NamedTuple):
    """The size of a round."""

    tasks: int
    games: int  # of each task


def plan_round(games: int, most: int) -> RoundPlan | None:
    """The round after `games` games, of at most `most` tasks; None while one learner goes first.

    >>> plan_round(9_000, 8), plan_round(40_000, 8), plan_round(800_000, 8)
    (None, RoundPlan(tasks=4, games=1000), RoundPlan(tasks=8, games=10000))
    """
    tasks = min(games // ALONE, most)
    if tasks < min(2, most):
        return None
    each = games * SHARE / tasks
    return RoundPlan(tasks, max(round(each / CHUNK), 1) * CHUNK)


class Rounds:
    """The rounds of a run: snapshots of its tables, which tasks start from."""

    def __init__(self, net: AnyNetwork, folder: Path | None, executor: Any = None) -> None:
        self.net, self.run = net, uuid.uuid4().hex
        self.executor = as_executor(executor)
        self.local = is_local(self.executor)  # workers share this process's memory
        self.games_per_s = 0.0  # of the fastest task of the last round
        self._snapshot: Snapshot | None = None
        self._base_size = self._steps_size = 0  # bytes of files
        self._folder = None if folder is None else folder.resolve() / "rounds"  # of snapshots and changes

    def play(
        self, tasks: list[Task], threads: int, stop: Stop, on_tick: Callable[[Any], object]
    ) -> list[TaskResult] | None:
        """Run the tasks of a round; None if stopped. ClusterLostError if the workers are lost."""
        results = []
        with self._on_cluster():
            snapshot = self._current_snapshot()
            blocks = ((snapshot, task) for task in tasks)
            for result in ordered_map(
                run_task, blocks, executor=self.executor, threads=threads, stop=stop, on_tick=on_tick
            ):
                if result is None:
                    return None
                results.append(result)
        return results if tasks and len(results) == len(tasks) else None

    def merge(self, results: list[TaskResult], merge_by: int | None) -> tuple[Changes, Metrics]:
        """Merge what tasks have learned into the run's tables; returns the changes, and a line of `rounds.jsonl`."""
        began, cpu_began = time.perf_counter(), time.thread_time()
        changes = merge(self.net, [each.changes for each in results], merge_by)
        counts = [len(each.chunk.results.scores) for each in results]
        self.games_per_s = max(count / each.seconds for count, each in zip(counts, results, strict=True))
        return changes, {
            "games": results[0].chunk.first + sum(counts),
            "tasks": len(results),
            "seconds": [round(each.seconds, 3) for each in results],
            "cpu_s": [round(each.cpu_s, 3) for each in results],
            "around_s": [round(each.around_s, 3) for each in results],
            "merge_s": round(time.perf_counter() - began, 3),
            "merge_cpu_s": round(time.thread_time() - cpu_began, 3),
            "changed": [each.changes.size for each in results],
            "merged": changes.size,
        }

    @contextmanager
    def _on_cluster(self) -> Iterator[None]:
        """Turn I/O errors of a cluster and its files into ClusterLostError."""
        try:
            yield
        except OSError as error:
            if self.local:  # a progress callback's
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise ClusterLostError(f"{where}{error.strerror or error}") from error

    def _current_snapshot(self) -> Snapshot:
        net = self.net
        snapshot = self._snapshot or self._save_base(uuid.uuid4().hex, ())
        if snapshot.tuples != net.name:
            after = _name(snapshot.name, net.name)
            step = Step(snapshot.name, after, grow=net.name)
            snapshot = snapshot._replace(name=after, tuples=net.name, steps=(*snapshot.steps, step))
        self._snapshot = snapshot
        if self.local:
            tables = tables_of_run(self.run)
            tables.net, tables.name, tables.pinned = net, snapshot.name, True
        return snapshot

    def advance(self, changes: Changes, games: int) -> None:
        """Go on to the snapshot after `games` games, which these changes lead to."""
        before = self._snapshot
        assert before is not None
        if self.local:
            after = _name(before.name, str(games))
            steps = (Step(before.name, after, changes=changes),)  # all copies are at `before`
            self._snapshot = before._replace(name=after, steps=steps)
            return
        with self._on_cluster():
            path = self._make_folder() / f"{games}.safetensors"
            save_changes(path, changes)
            digest = file_digest(path)
            after = _name(before.name, digest)
            self._provide(path, digest)
            step = Step(before.name, after, path=str(path), digest=digest)
            self._steps_size += path.stat().st_size
            self._snapshot = before._replace(name=after, steps=(*before.steps, step))
            if self._steps_size > self._base_size:
                self._snapshot = self._save_base(after, (step,))
                for old in before.steps:
                    self._forget(old.path, old.digest)
                self._forget(before.path, before.digest)

    def _save_base(self, name: str, steps: tuple[Step, ...]) -> Snapshot:
        """The tables as a snapshot, in a file if the workers are elsewhere."""
        path, digest = "", ""
        if not self.local:
            file = self.net.save(self._make_folder() / f"{name}.safetensors")
            path, digest = str(file), file_digest(file)
            self._base_size, self._steps_size = file.stat().st_size, 0
            self._provide(file, digest)
        return Snapshot(self.run, name, self.net.name, name, path, digest, steps)

    def _provide(self, path: Path, digest: str) -> None:
        if self.executor is not None:
            self.executor.provide(path, digest)

    def _forget(self, path: str, digest: str) -> None:
        if path and self.executor is not None:
            self.executor.forget(digest)
            Path(path).unlink(missing_ok=True)

    def _make_folder(self) -> Path:
        """The folder of snapshots and changes."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="tuplet-rounds-"))
        self._folder.mkdir(exist_ok=True)
        return self._folder

    def close(self) -> None:
        """Free the tables, and delete the files."""
        drop_tables(self.run)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _name(before: str, by: str) -> str:
    """The name of the snapshot after another: the same for the same steps."""
    return hashlib.blake2b(f"{before} {by}".encode(), digest_size=16).hexdigest()
