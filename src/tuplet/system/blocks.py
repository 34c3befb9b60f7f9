"""Work in blocks, done by threads, processes or any executor, with results in order.

A block is a call of a top-level function with plain arguments; what it returns does not depend on where it runs.
Results come in the order of the blocks, whichever is finished first. The function's last argument is the `Worker`
that runs it.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from tuplet.errors import UserError
from tuplet.system.stop import Stop
from tuplet.system.worker import (
    Array,
    Worker as Worker,
    WorkerPool as WorkerPool,
    cores as cores,
    request_stop,
    request_stop_all,
)

T = TypeVar("T")

MOST_THREADS = 256
_TICK = 0.1  # seconds between looks at the clock, the screen, and the stop flag
_ALL = "all"  # the token of all calls


def as_threads(threads: int) -> int:
    """A checked number of threads."""
    if not 1 <= threads <= MOST_THREADS:
        raise UserError(f"threads must be 1 to {MOST_THREADS} (got {threads})")
    return threads


def as_executor(executor: Any) -> WorkerPool | None:
    """A pool for an executor of `concurrent.futures` or a Dask client; None stays None."""
    if executor is None or isinstance(executor, WorkerPool):
        return executor
    if isinstance(executor, Executor):
        return WorkerPool(executor)
    from tuplet.system.cluster import as_cluster

    return as_cluster(executor)


def is_local(pool: WorkerPool | None) -> bool:
    """True if blocks run in this process and can share its memory."""
    return pool is None or pool.is_local


def is_picklable(thing: object) -> bool:
    """True if a class, a function or an object can be sent to another process, also from `__main__` or a notebook."""
    import cloudpickle

    try:
        cloudpickle.dumps(thing)
    except Exception:
        return False
    return True


def run_interruptible(flag: Array, kernel: Callable[..., T], *arguments: Any) -> T:
    """Call a kernel that ends early once `flag[0]` is set, so that Ctrl-C interrupts it.

    Python delivers signals to the main thread, and only between its own instructions: there, another thread runs the
    kernel.
    """
    if threading.current_thread() is not threading.main_thread():
        return kernel(*arguments)
    with ThreadPoolExecutor(1, "tuplet") as pool:
        future, before = pool.submit(kernel, *arguments), bool(flag[0])
        try:
            return future.result()
        except BaseException:  # whatever the signal handler raises
            flag[0] = True
            wait([future])
            flag[0] = before
            raise


def ordered_map(
    work: Callable[..., T],
    blocks: Iterable[tuple[Any, ...]],
    *,
    threads: int = 1,
    executor: Any = None,
    stop: Stop | None = None,
    on_tick: Callable[[Worker], object] = lambda _: None,
) -> Iterator[T]:
    """The results of `work(*block, worker)` for all blocks, in their order.

    Run by `threads` threads, or by `executor` (any Executor, or a Dask client). When `stop` is set, or at Ctrl-C,
    running blocks are asked to stop and still give their results; the others are dropped. `on_tick` is called a few
    times a second, in the caller's thread. Blocks are taken from their iterator as they are needed.
    """
    worker, stop, ticked = Worker(), stop or Stop(), -math.inf
    pool = as_executor(executor) or WorkerPool(ThreadPoolExecutor(as_threads(threads), "tuplet"))
    remaining, pending = iter(blocks), deque[Future[T]]()

    def ask_to_stop() -> None:
        if not worker.stop.is_set():
            pool.request_stop(worker.token)
        worker.stop.set()

    try:
        while True:
            try:
                if stop.is_set():
                    ask_to_stop()
                while len(pending) < pool.workers + pool.spare and not worker.stop.is_set():
                    block = next(remaining, None)
                    if block is None:
                        break
                    pending.append(pool.submit(work, *block, worker))
                if worker.stop.is_set():  # drop the blocks that have not begun: they are the last
                    while pending and (pending[-1].cancelled() or pending[-1].cancel()):
                        pending.pop()
                if not pending:
                    on_tick(worker)
                    return
                ready = wait([pending[0]], _TICK).done
                if time.monotonic() - ticked >= _TICK:
                    on_tick(worker)
                    ticked = time.monotonic()
            except KeyboardInterrupt:
                if stop.is_set():  # the second Ctrl-C
                    raise
                stop.set()
                continue
            if ready:
                try:
                    result = pending[0].result()
                except CancelledError:
                    if not worker.stop.is_set():
                        raise
                    return  # stopped before it began
                pending.popleft()
                yield result
    finally:
        if pending:
            ask_to_stop()
        for future in pending:
            future.cancel()
        if not isinstance(sys.exc_info()[1], KeyboardInterrupt):  # else wait for nothing
            wait(pending)
            if executor is None:
                pool.shutdown()
        worker.close()


@contextmanager
def processes(count: int) -> Iterator[WorkerPool]:
    """A pool of processes, for users' classes, which as threads would wait for each other."""
    with tempfile.TemporaryDirectory(prefix="tuplet-") as folder:
        pool = _ProcessPool(as_threads(count), Path(folder))
        try:
            yield pool
        except KeyboardInterrupt:  # the second Ctrl-C: a user's class may never return
            pool.shutdown(kill=True)
            raise
        finally:
            pool.request_stop(_ALL)
            pool.shutdown()


class _ProcessPool(WorkerPool):
    """Processes by loky, which sends classes of a script or a notebook by value and does not run the script again.

    A file in `folder`, named by a call's token, asks the blocks of that call to stop. (An event or a lock would hang
    if its process was killed.)
    """

    def __init__(self, count: int, folder: Path) -> None:
        from loky import ProcessPoolExecutor

        self._folder = folder
        super().__init__(ProcessPoolExecutor(count, timeout=None, initializer=_start_process, initargs=(folder,)))

    def request_stop(self, token: str) -> None:
        """Ask the running blocks of one call, or of all, to stop."""
        (self._folder / token).touch()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True, kill: bool = False) -> None:  # noqa: ARG002
        """End the processes."""
        self._executor.shutdown(wait, kill_workers=kill)  # type: ignore[call-arg]


def _start_process(folder: Path) -> None:
    """In a new process: leave Ctrl-C to the parent, stop blocks when asked, and end with the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what a user's class prints is not a result
    parent = os.getppid()

    def listen() -> None:
        known: set[str] = set()
        while os.getppid() == parent:
            time.sleep(_TICK)
            with suppress(FileNotFoundError):  # the pool is gone, and this process about to end
                for token in {path.name for path in folder.iterdir()} - known:
                    request_stop_all() if token == _ALL else request_stop(token)
                    known.add(token)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
