"""Who does a block: a `Worker` is what a block knows of its surroundings, in whatever process."""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np

from tuplet.system.stop import Stop

T = TypeVar("T")
Array = np.ndarray[Any, Any]

_REMEMBERED = 64  # calls whose blocks may still come
_KEPT = 4  # things of a kind that a thread, or the process, keeps


class Worker:
    """Where a block is done: whether to stop, and what is kept there from block to block.

    Sent to another process, it becomes that process's own.
    """

    def __init__(self, stop: Stop | None = None, kept: Worker | None = None) -> None:
        self.stop, self.token = stop or Stop(), uuid.uuid4().hex
        self.under_way: list[Array] = []  # counts of blocks that are not finished, to be watched
        self._kept: OrderedDict[tuple[int, Hashable], Any] = OrderedDict()
        self._lock, self._making = threading.Lock(), threading.RLock()
        if kept is not None:  # another call's, in the same process
            self._kept, self._lock, self._making = kept._kept, kept._lock, kept._making

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """What this thread has made for `key`, made if need be; the last few are kept."""
        return self._keep((threading.get_ident(), key), make)

    def share(self, key: Hashable, make: Callable[[], T]) -> T:
        """The same for all threads of the process: something large, that nobody writes to."""
        with self._making:  # one makes it, the others wait
            return self._keep((0, key), make)

    def _keep(self, place: tuple[int, Hashable], make: Callable[[], T]) -> T:
        with self._lock:
            if place in self._kept:
                self._kept.move_to_end(place)
                return self._kept[place]  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            self._kept[place] = made
            own = [old for old in self._kept if old[0] == place[0]]
            dropped = [self._kept.pop(old) for old in own[:-_KEPT]]
        _close(dropped)
        return made

    @contextmanager
    def showing(self, counts: Array) -> Iterator[None]:
        """Let others see counts that grow as a block is done."""
        self.under_way.append(counts)
        try:
            yield
        finally:
            self.under_way = [each for each in self.under_way if each is not counts]

    def close(self) -> None:
        """Let go of everything that is kept."""
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
            with suppress(Exception):  # it has worked; how it leaves is its own affair
                close()


_lock = threading.Lock()
_own: Worker | None = None
_calls: OrderedDict[str, Stop] = OrderedDict()  # the last ones that sent blocks here


def process_worker() -> Worker:
    """The worker of this process, for blocks that came from another."""
    global _own  # one for each process
    with _lock:
        if _own is None:
            _own = Worker()
            atexit.register(_own.close)
    return _own


def call_worker(token: str) -> Worker:
    """The worker of this process, for the blocks of one call: that one can be told to stop."""
    own, stop = process_worker(), _stop_of(token)
    if own.stop.is_set():
        stop.set()
    return Worker(stop, own)


def hear(token: str) -> None:
    """Tell the blocks of one call, in this process, to stop."""
    _stop_of(token).set()


def stop_all() -> None:
    """Tell all blocks of this process to stop, and those that come."""
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


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
