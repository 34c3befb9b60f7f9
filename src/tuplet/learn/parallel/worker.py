"""A worker's part of a round: learn from a task's games, in a copy of the run's tables.

A process keeps a run's tables once, and as many copies to learn in as it runs tasks at a time, memory
allowing. A snapshot differs from the one before it by few weights: tables are brought from one to the
next by these changes, which are in memory, or in files that the cluster sends around.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.learn.parallel.merge import Changes, apply, changes_between, load_changes, memory_of
from tuplet.learn.self_play import Chunk, chunk_of, learn_chunk
from tuplet.learn.settings import Method, RunOptions
from tuplet.system.blocks import Worker
from tuplet.system.memory import available_memory
from tuplet.system.worker_calls import copy_of
from tuplet.values.network import Network
from tuplet.values.packed import AnyNetwork
from tuplet.values.weights import read_weights


class Step(NamedTuple):
    """From one snapshot to the next: by tuples that join, by changes in memory, or by changes in a file."""

    before: str
    after: str
    grow: str = ""
    changes: Changes | None = None
    path: str = ""
    digest: str = ""

    def apply(self, net: AnyNetwork) -> None:
        """Bring a network to the next snapshot."""
        if self.grow:
            assert isinstance(net, Network)  # other games' networks do not grow
            net.grow(self.grow)
        else:
            apply(net, self.changes or load_changes(copy_of(self.digest) or self.path))


class Snapshot(NamedTuple):
    """A run's tables between two rounds: those of a file, and the latest steps."""

    run: str  # an id
    name: str
    tuples: str
    base: str  # the name of the snapshot in the file
    path: str
    digest: str
    steps: tuple[Step, ...] = ()

    def reachable_from(self, name: str) -> bool:
        """Whether the steps lead here from the snapshot `name`."""
        return name == self.name or name in [step.before for step in self.steps]

    def bring(self, net: AnyNetwork | None, name: str) -> AnyNetwork:
        """A network at snapshot `name`, brought to this one."""
        if net is None or not self.reachable_from(name):
            net, name = read_weights(copy_of(self.digest) or self.path).network, self.base
        for step in self.steps:
            if step.before == name:
                step.apply(net)
                name = step.after
        if name != self.name:
            raise UserError(f"snapshot {self.name} of the tables cannot be reached from {name}")
        return net


class Task(NamedTuple):
    """Games to learn from, beginning with a snapshot."""

    method: Method
    options: RunOptions
    first: int
    games: int
    elapsed_s: float  # when the round began: how much of a budget is used
    begun: bool  # whether the learner's delay is over


class TaskResult(NamedTuple):
    """What a task learned, and what it took."""

    chunk: Chunk
    changes: Changes
    seconds: float  # wall-clock time
    cpu_s: float  # processor time for learning
    around_s: float  # processor time for the rest: to copy and compare tables


@dataclass
class RunTables:
    """A run's tables in a process that learns for it."""

    net: AnyNetwork | None = None
    name: str = ""  # of the snapshot that `net` holds
    spare: list[tuple[str, AnyNetwork]] = field(default_factory=list)  # copies, and their snapshots
    in_use: int = 0  # copies
    pinned: bool = False  # the run itself is in this process
    free: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def copy(self, snapshot: Snapshot) -> Iterator[tuple[AnyNetwork, AnyNetwork]]:
        """The snapshot, and a copy to learn in, which must be the snapshot again at the end."""
        with self.free:
            if self.name != snapshot.name:
                self.net = snapshot.bring(self.net, self.name)
                self.name = snapshot.name
            net = self.net
            assert net is not None
            size = net.weights.nbytes + memory_of(net).nbytes
            while not self.spare and self.in_use and available_memory() < 1.1 * size:
                self.free.wait()
            name, own = self.spare.pop() if self.spare else ("", None)
            self.in_use += 1
        try:
            known = own is not None and name and snapshot.reachable_from(name)
            own = snapshot.bring(own, name) if known else _copy(net)
            yield net, own
        except BaseException:
            own = None
            raise
        finally:
            with self.free:
                self.in_use -= 1
                if own is not None:
                    self.spare.append((snapshot.name, own))
                self.free.notify_all()


def _copy(net: AnyNetwork) -> AnyNetwork:
    copy = net.empty_copy()
    copy.weights[:] = net.weights
    if net.memory is not None:
        copy.learner_memory(net.memory.name, net.memory.values.shape[1])[:] = net.memory.values
    return copy


_runs: dict[str, RunTables] = {}
_lock = threading.Lock()


def tables_of_run(run: str) -> RunTables:
    """A run's tables in this process; those of other runs are dropped if no task uses them."""
    with _lock:
        for name, tables in [*_runs.items()]:
            if name != run and not tables.in_use and not tables.pinned:
                del _runs[name]
        return _runs.setdefault(run, RunTables())


def drop_tables(run: str) -> None:
    """Free a run's tables."""
    with _lock:
        _runs.pop(run, None)


def run_task(snapshot: Snapshot, task: Task, worker: Worker) -> TaskResult | None:
    """Learn from a task's games; None if stopped before the last.

    The result depends on the snapshot and the task alone.
    """
    began, cpu_began = time.perf_counter(), time.thread_time()
    with tables_of_run(snapshot.run).copy(snapshot) as (net, own):
        ready = time.thread_time()
        chunk = learn_task(own, task, worker)
        learned = time.thread_time()
        changes = changes_between(net, own)
        apply(own, Changes(changes.where, net.weights[changes.where], memory_of(net)[changes.where]))
    if chunk is None:
        return None
    around = time.thread_time() - cpu_began - (learned - ready)
    return TaskResult(chunk, changes, time.perf_counter() - began, learned - ready, around)


def learn_task(net: AnyNetwork, task: Task, worker: Worker) -> Chunk | None:
    """Learn from a task's games in these tables; None if stopped before the last."""
    method, options = task.method, task.options
    tables = net.tables_with_memory(method.registered.memory, method.registered.memory_per_weight)
    chunks = []
    chunk = chunk_of(net)
    for first in range(task.first, task.first + task.games, chunk):
        if worker.stop.is_set():
            return None
        hyper = method.hyperparameters_at(options.progress(first, task.elapsed_s), task.begun)
        games = min(chunk, task.first + task.games - first)
        chunks.append(learn_chunk(net, tables, hyper, options.seed, first, games, worker))
    return join_chunks(chunks)


def join_chunks(chunks: list[Chunk]) -> Chunk:
    """Chunks that follow each other as one."""
    kind = type(chunks[0].results)
    results = kind(*map(np.concatenate, zip(*(chunk.results for chunk in chunks), strict=True)))
    return Chunk(chunks[0].first, results, sum(chunk.moves for chunk in chunks), chunks[-1].rule)
