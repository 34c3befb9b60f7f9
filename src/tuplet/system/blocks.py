"""Work in blocks: done by threads, processes, or anybody's executor, and handed over in order.

A block is a call of a top-level function with plain arguments; what it returns does not depend on
where it is called. Results come in the order of the blocks, so that nothing depends on who was
faster. The function's last argument is the `Worker` it is called by.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from tuplet.system.stop import Stop
from tuplet.system.worker import Array, Worker as Worker, cores as cores, stop_all

T = TypeVar("T")

MOST_THREADS = 256
_LOOK = 0.1  # seconds between looks at the clock, the screen, and whether to stop


def as_threads(threads: int) -> int:
    """A number of threads; ValueError for others."""
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads are 1 to {MOST_THREADS}, not {threads}")
    return threads


def as_executor(executor: Any) -> Executor | None:
    """What does blocks: an executor as it is, a Dask client as a cluster of its workers."""
    if executor is None or isinstance(executor, Executor):
        return executor
    from tuplet.system.cluster import workers_of

    return workers_of(executor)


def stays_here(executor: Executor | None) -> bool:
    """Whether blocks are done in this process, and can share what it has in memory."""
    return executor is None or isinstance(executor, ThreadPoolExecutor)


def can_leave(thing: object) -> bool:
    """Whether a class or a function can be named, or an object copied, to another process."""
    try:
        data = bytes(ForkingPickler.dumps(thing))
    except Exception:
        return False
    return b"__main__" not in data  # a script's or a notebook's own: nothing to be imported there


def heard(flag: Array, kernel: Callable[..., T], *arguments: Any) -> T:
    """Call a kernel that ends early once `flag[0]` is set, so that Ctrl-C is heard meanwhile.

    Python tells the main thread alone of signals, and that one not before a kernel returns: there,
    another thread runs it.
    """
    if threading.current_thread() is not threading.main_thread():
        return kernel(*arguments)
    with ThreadPoolExecutor(1, "tuplet") as pool:
        future, before = pool.submit(kernel, *arguments), bool(flag[0])
        try:
            return future.result()
        except BaseException:  # whatever a signal's handler raises
            flag[0] = True
            wait([future])
            flag[0] = before
            raise


def in_order(
    work: Callable[..., T],
    blocks: Iterable[tuple[Any, ...]],
    *,
    threads: int = 1,
    executor: Any = None,
    stop: Stop | None = None,
    look: Callable[[Worker], object] = lambda _: None,
) -> Iterator[T]:
    """The results of `work(*block, worker)` for all blocks, in their order.

    Done by so many threads, or by `executor` (any Executor, or a Dask client). When `stop` is set,
    or at Ctrl-C, blocks that have begun are told and their results still come; the others are given
    up. `look` is called, here, a few times a second. Blocks are taken from their iterator only as
    they are needed.
    """
    inner, stop, looked = Worker(), stop or Stop(), -math.inf
    pool = as_executor(executor) or ThreadPoolExecutor(as_threads(threads), "tuplet")
    left, pending = iter(blocks), deque[Future[T]]()
    try:
        while True:
            try:
                if stop.is_set():
                    _tell(inner, pool)
                while len(pending) < _ahead(pool) and not inner.stop.is_set():
                    block = next(left, None)
                    if block is None:
                        break
                    pending.append(pool.submit(work, *block, inner))
                if inner.stop.is_set():
                    _give_up(pending)
                if not pending:
                    look(inner)
                    return
                ready = wait([pending[0]], _LOOK).done
                if time.monotonic() - looked >= _LOOK:
                    look(inner)
                    looked = time.monotonic()
            except KeyboardInterrupt:
                if stop.is_set():  # the second time
                    raise
                stop.set()
                continue
            if ready:
                try:
                    found = pending[0].result()
                except CancelledError:
                    if not inner.stop.is_set():
                        raise
                    return  # it was told before it had begun
                pending.popleft()
                yield found
    finally:
        if pending or isinstance(pool, _Processes):
            _tell(inner, pool)
        for future in pending:
            future.cancel()
        if not isinstance(sys.exc_info()[1], KeyboardInterrupt):  # else nobody is waited for
            wait(pending)
            if executor is None:
                pool.shutdown()
        inner.close()


def at_once(pool: Executor) -> int:
    """How many blocks an executor does at once, as far as it tells."""
    return int(getattr(pool, "_max_workers", 2 * cores()))


def _ahead(pool: Executor) -> int:
    """How many blocks are handed out: more than can be done at once, so that nobody waits."""
    spare: int = getattr(pool, "spare", 1)
    return at_once(pool) + spare


def _tell(inner: Worker, pool: Executor) -> None:
    """Tell the blocks that have begun to stop, as far as they can be told."""
    if isinstance(pool, _Processes):
        pool.event.set()
    elif hasattr(pool, "tell") and not inner.stop.is_set():
        pool.tell(inner.token)
    inner.stop.set()


def _give_up(pending: deque[Future[Any]]) -> None:
    """Cancel the blocks that have not begun; they are the last ones."""
    while pending and (pending[-1].cancelled() or pending[-1].cancel()):
        pending.pop()


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """An executor of processes, for classes that would wait for each other as threads."""
    pool = _Processes(as_threads(count))
    try:
        yield pool
    except KeyboardInterrupt:  # asked twice: somebody's class may never answer
        for process in list(pool._processes.values()):
            process.terminate()
        raise
    finally:
        pool.event.set()
        pool.shutdown(wait=True, cancel_futures=True)


class _Processes(ProcessPoolExecutor):
    """Processes that import what they are sent, but not the program that sends it.

    (Python would run the main program's file again in each, for the sake of what it defines.)
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.event = context.Event()  # to stop
        super().__init__(count, context, _begin, (self.event,))

    def submit(self, *arguments: Any, **more: Any) -> Future[Any]:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            return super().submit(*arguments, **more)
        finally:
            sys.modules["__main__"] = main


def _begin(event: Any) -> None:
    """In a new process: stop its blocks when the others stop; leave Ctrl-C to the parent.

    It ends with the parent, however that ends: nobody would ever ask it again.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what somebody's class prints is no result

    def listen() -> None:
        event.wait()
        stop_all()

    def end_with_the_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    threading.Thread(target=end_with_the_parent, daemon=True).start()
