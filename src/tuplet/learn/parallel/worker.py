"""Learning apart: a task begins with a snapshot of a run's tables and returns what it changed.

A process that learns for a run keeps the snapshot once, and as many copies to learn in as tasks are
done there at a time, memory allowing. Snapshots differ by little: a copy is brought from one to the
next by the changes between them, which are files that the cluster hands round, or are at hand.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Results, make_results
from tuplet.learn.parallel.merge import Changes, apply, changes_between, load_changes, memory_of
from tuplet.learn.progress import share_done
from tuplet.learn.self_play import workspace_of
from tuplet.learn.settings import Method, RunOptions
from tuplet.learn.td import play_afterstates, play_states
from tuplet.system.blocks import Worker
from tuplet.system.memory import available_memory
from tuplet.system.worker_calls import copy_of
from tuplet.values.network import Network

CHUNK = 25  # games a thread plays before it looks at the clock


class DivergedError(Exception):
    """The values have become no finite numbers."""


class Step(NamedTuple):
    """From one snapshot to the next."""

    before: str
    after: str
    grow: str = ""  # tuples that join, or else
    changes: Changes | None = None  # at hand, or else
    path: str = ""  # in a file
    digest: str = ""

    def apply(self, net: Network) -> None:
        """Bring a network there."""
        if self.grow:
            net.grow(self.grow)
        else:
            found = self.changes or load_changes(copy_of(self.digest) or self.path)
            apply(net, found)


class Snapshot(NamedTuple):
    """A run's tables, by name: a file, and the steps since, or since a little earlier."""

    run: str  # told from others by
    name: str
    tuples: str
    base: str  # the name of the snapshot that is a file
    path: str
    digest: str
    steps: tuple[Step, ...] = ()

    def bring(self, net: Network | None, name: str) -> Network:
        """A network that stands at snapshot `name`, brought to this one."""
        if net is None or (name != self.name and name not in [step.before for step in self.steps]):
            net, name = Network.load(copy_of(self.digest) or self.path), self.base
        for step in self.steps:
            if step.before == name:
                step.apply(net)
                name = step.after
        if name != self.name:
            raise UserError("the tables to begin with are not those that were asked for")
        return net


class Task(NamedTuple):
    """Games to learn from, beginning with a snapshot."""

    method: Method
    options: RunOptions
    first: int
    games: int
    elapsed_s: float  # when the round began: how much of a budget is done
    begun: bool  # a learner that has begun is not delayed any more


class Chunk(NamedTuple):
    """Games that were played and learned from."""

    first: int
    results: Results
    moves: int  # with those of games begun in the middle
    rule: Any  # what adjusted the weights


class TaskResult(NamedTuple):
    """What a task came to."""

    first: int
    results: Results
    moves: int
    rule: Any
    changes: Changes
    seconds: float  # by the clock
    cpu_s: float  # of the processor, for learning
    around_s: float  # and for all else: to copy tables, and to compare them


@dataclass
class Home:
    """A run's tables in a process that learns for it."""

    net: Network | None = None
    name: str = ""  # of the snapshot that `net` is
    spare: list[tuple[str, Network]] = field(default_factory=list)  # copies, and where they stand
    out: int = 0  # copies that are learned in now
    stays: bool = False  # until it is told to go: the run itself is in this process
    free: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def copy(self, snapshot: Snapshot) -> Iterator[tuple[Network, Network]]:
        """The snapshot, and a copy to learn in: put back as it was, unless something goes wrong."""
        with self.free:
            if self.name != snapshot.name:
                self.net = snapshot.bring(self.net, self.name)
                self.name = snapshot.name
            net = self.net
            assert net is not None
            while not self.spare and self.out and available_memory() < 1.1 * tables_size(net):
                self.free.wait()
            at, mine = self.spare.pop() if self.spare else ("", None)
            self.out += 1
        try:
            known = at and (at == snapshot.name or at in [step.before for step in snapshot.steps])
            mine = snapshot.bring(mine, at) if mine is not None and known else _copied(net)
            yield net, mine
        except BaseException:
            mine = None
            raise
        finally:
            with self.free:
                self.out -= 1
                if mine is not None:
                    self.spare.append((snapshot.name, mine))
                self.free.notify_all()


def tables_size(net: Network) -> int:
    """Bytes of a network's tables, and of what a learner remembers."""
    return net.weights.nbytes + memory_of(net).nbytes


def _copied(net: Network) -> Network:
    made = Network(
        net.name,
        board=net.size,
        stages=net.stages,
        initial=0.0,
        target=net.target,
        gamma=net.gamma,
        spawn4=net.spawn4,
        original_tuples=net.original_tuples,
    )
    made.initial = net.initial
    made.weights[:] = net.weights
    if net.memory is not None:
        made.learner_memory(net.memory.name, net.memory.values.shape[1])[:] = net.memory.values
    return made


_homes: dict[str, Home] = {}  # by run
_lock = threading.Lock()


def home_of(run: str) -> Home:
    """A run's tables in this process; those of runs that nobody learns for here are let go."""
    with _lock:
        for name, home in [*_homes.items()]:
            if name != run and not home.out and not home.stays:
                del _homes[name]
        return _homes.setdefault(run, Home())


def leave(run: str) -> None:
    """Let go of a run's tables."""
    with _lock:
        _homes.pop(run, None)


def learn_apart(snapshot: Snapshot, task: Task, worker: Worker) -> TaskResult | None:
    """Learn from some games; None if told to stop before the last.

    What comes out depends on the snapshot and the task alone.
    """
    began, busy = time.perf_counter(), time.thread_time()
    with home_of(snapshot.run).copy(snapshot) as (net, mine):
        ready = time.thread_time()
        found = _learn(mine, task, worker)
        done = time.thread_time()
        changes = changes_between(net, mine)
        apply(mine, Changes(changes.where, net.weights[changes.where], memory_of(net)[changes.where]))
    if found is None:
        return None
    around = time.thread_time() - busy - (done - ready)
    return TaskResult(task.first, *found, changes, time.perf_counter() - began, done - ready, around)


def _learn(net: Network, task: Task, worker: Worker) -> tuple[Results, int, Any] | None:
    method, options, learner = task.method, task.options, task.method.registered
    tables = net.tables_with_memory(learner.memory, learner.memory_per_weight)
    rules = rules_for(*net.size, method.spawn4)
    play = play_states if method.target == "state" else play_afterstates
    work, results, moves = workspace_of(net, worker), make_results(task.games), 0
    seed, rule = np.uint64(options.seed), method.hyperparameters_at(0.0)
    for at in range(0, task.games, CHUNK):
        if worker.stop.is_set():
            return None
        games = min(CHUNK, task.games - at)
        done = share_done(options, task.first + at, task.elapsed_s)
        rule = method.hyperparameters_at(max(done, method.delay) if task.begun else done)
        work.tally[:] = 0
        play(rules, tables, rule, work, seed, task.first + at, games, results, at)
        if work.tally[1]:
            raise DivergedError
        moves += int(results.lengths[at : at + games].sum() + work.tally[0])
    return results, moves, rule.rule
