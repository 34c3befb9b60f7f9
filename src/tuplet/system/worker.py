"""`Worker`: what a block knows of the process it runs in. `WorkerPool`: an executor of blocks."""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tuplet.system.stop import Stop

T = TypeVar("T")
Array = np.ndarray[Any, Any]

_REMEMBERED = 64  # calls whose blocks may still come
_KEPT = 4  # objects that a thread, or the process, keeps


class Worker:
    """A block's view of its process: whether to stop, and objects that are kept from block to block.

    Sent to another process, it becomes that process's own worker.
    """

    def __init__(self, stop: Stop | None = None, owner: Worker | None = None) -> None:
        self.stop, self.token = stop or Stop(), uuid.uuid4().hex
        self.under_way: list[Array] = []  # counts of unfinished blocks, for the progress display
        self._kept: OrderedDict[tuple[int, Hashable], Any] = OrderedDict()
        self._lock, self._making = threading.Lock(), threading.RLock()
        if owner is not None:  # share the objects that it keeps
            self._kept, self._lock, self._making = owner._kept, owner._lock, owner._making

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """The object of this thread for `key`, made if there is none; the last few are kept."""
        return self._keep((threading.get_ident(), key), make)

    def share(self, key: Hashable, make: Callable[[], T]) -> T:
        """The same, shared by all threads of the process: for large objects that are only read."""
        with self._making:  # one thread makes it, the others wait
            return self._keep((0, key), make)

    def _keep(self, place: tuple[int, Hashable], make: Callable[[], T]) -> T:
        with self._lock:
            if place in self._kept:
                self._kept.move_to_end(place)
                return self._kept[place]  # type: ignore[no-any-return]
        value = make()
        with self._lock:
            self._kept[place] = value
            own = [old for old in self._kept if old[0] == place[0]]
            dropped = [self._kept.pop(old) for old in own[:-_KEPT]]
        _close(dropped)
        return value

    @contextmanager
    def showing(self, counts: Array) -> Iterator[None]:
        """Publish counts that grow while a block runs."""
        self.under_way.append(counts)
        try:
            yield
        finally:
            self.under_way = [each for each in self.under_way if each is not counts]

    def close(self) -> None:
        """Close and drop all kept objects."""
        with self._lock:
            dropped = [*self._kept.values()]
            self._kept.clear()
        _close(dropped)

    def __reduce__(self) -> tuple[Callable[[str], Worker], tuple[str]]:
        return call_worker, (self.token,)


def _close(dropped: list[Any]) -> None:
    for each in dropped:
        close = getattr(each, "close", None)
        if callable(close):
            with suppress(Exception):  # ignore errors from close()
                close()


_lock = threading.Lock()
_own: Worker | None = None
_calls: OrderedDict[str, Stop] = OrderedDict()  # the last calls that sent blocks here


def process_worker() -> Worker:
    """The worker of this process, for blocks from another process."""
    global _own  # one per process
    with _lock:
        if _own is None:
            _own = Worker()
            atexit.register(_own.close)
    return _own


def call_worker(token: str) -> Worker:
    """The worker of this process for the blocks of one call, which can be stopped."""
    own, stop = process_worker(), _stop_of(token)
    if own.stop.is_set():
        stop.set()
    return Worker(stop, own)


def request_stop(token: str) -> None:
    """Ask the blocks of one call, in this process, to stop."""
    _stop_of(token).set()


def request_stop_all() -> None:
    """Ask all blocks of this process to stop, and those still to come."""
    process_worker().stop.set()
    with _lock:
        for stop in _calls.values():
            stop.set()


def _stop_of(token: str) -> Stop:
    with _lock:
        stop = _calls.setdefault(token, Stop())
        _calls.move_to_end(token)
        while len(_calls) > _REMEMBERED:
            _calls.popitem(last=False)
    return stop


class WorkerPool(Executor):
    """An executor of blocks. As it is, it forwards to any executor of `concurrent.futures`."""

    is_local = False  # True if blocks run in this process and can share its memory

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.is_local = isinstance(executor, ThreadPoolExecutor)

    @property
    def workers(self) -> int:
        """How many blocks run at once."""
        return int(getattr(self._executor, "_max_workers", 2 * cores()))

    @property
    def spare(self) -> int:
        """Blocks to submit beyond those that run, so that no worker waits."""
        return 1

    def submit(self, work: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Run a block."""
        return self._executor.submit(work, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Release the executor's threads or processes."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)

    def request_stop(self, token: str) -> None:
        """Ask the running blocks of one call to stop, where that is possible."""

    def provide(self, path: Path, digest: str) -> None:
        """Let all workers have a file. Processes of this machine see it."""

    def forget(self, digest: str) -> None:
        """A file that was provided is not needed any more."""

    def share(self, folder: Path) -> AbstractContextManager[None]:  # noqa: ARG002
        """Use only workers that see a folder, to which blocks write."""
        return nullcontext()


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
