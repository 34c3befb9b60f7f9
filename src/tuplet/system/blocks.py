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
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from ctypes import c_char
from multiprocessing import spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from typing import Any, TypeVar

from tuplet.errors import UserError
from tuplet.system.stop import Stop
from tuplet.system.worker import Array, Worker as Worker, cores as cores, hear, stop_all

T = TypeVar("T")

MOST_THREADS = 256
_LOOK = 0.1  # seconds between looks at the clock, the screen, and whether to stop


def as_threads(threads: int) -> int:
    """A number of threads; ValueError for others."""
    if not 1 <= threads <= MOST_THREADS:
        raise UserError(f"threads must be 1 to {MOST_THREADS} (got {threads})")
    return threads


def as_executor(executor: Any) -> Executor | None:
    """What does blocks: an executor as it is, a Dask client as a cluster of its workers."""
    if executor is None or isinstance(executor, Executor):
        return executor
    from tuplet.system.cluster import as_cluster

    return as_cluster(executor)


def is_local(executor: Executor | None) -> bool:
    """Whether blocks are done in this process, and can share what it has in memory."""
    return executor is None or isinstance(executor, ThreadPoolExecutor)


def is_picklable(thing: object) -> bool:
    """Whether a class or a function can be named, or an object copied, to another process."""
    try:
        _Leaving.dumps(thing)
    except Exception:
        return False
    return True


class _Leaving(ForkingPickler):
    """Refuses what a script or a notebook defines: elsewhere there is nothing to import."""

    def reducer_override(self, thing: object) -> Any:
        if isinstance(thing, type | types.FunctionType) and thing.__module__ == "__main__":
            raise PicklingError(f"{thing.__qualname__} is of the main program")
        return NotImplemented


def run_interruptible(flag: Array, kernel: Callable[..., T], *arguments: Any) -> T:
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


def ordered_map(
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
        if pending:
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
    if hasattr(pool, "tell") and not inner.stop.is_set():
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
        pool.tell(_EVERY)
        pool.shutdown(wait=True, cancel_futures=True)


_EVERY = "every call"  # in place of a call's token
_TOKENS, _LENGTH = 32, 32  # calls that were told to stop and are remembered; letters of a token
_OURS = "tuplet-"  # how the names of our processes begin


class _Process(SpawnProcess):
    """A process that imports what it is sent, but not the program that sends it.

    (Python would run the main program's file again in each, for the sake of what it defines.)
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.name = f"{_OURS}{self.name}"


class _Context(SpawnContext):
    Process = _Process


_prepared = spawn.get_preparation_data


def _without_main(name: str) -> dict[str, Any]:
    """What a new process is told of this one; ours are not told of the main program."""
    data = _prepared(name)
    if name.startswith(_OURS):
        for key in ("init_main_from_name", "init_main_from_path"):
            data.pop(key, None)
    return data


spawn.get_preparation_data = _without_main


class _Processes(ProcessPoolExecutor):
    """Processes that can be told to stop the blocks of a call.

    They look into memory that all share, a few times a second. (Events and locks would hang where
    a process was killed that waited for them.)
    """

    def __init__(self, count: int) -> None:
        context = _Context()
        self._telling = threading.Lock()
        self._count = context.RawValue("Q")
        self._tokens: Any = context.RawArray(c_char, _TOKENS * _LENGTH)
        super().__init__(count, context, _begin, (self._count, self._tokens))

    def tell(self, token: str) -> None:
        """Tell the blocks of one call, or of every call, to stop."""
        with self._telling:
            at = self._count.value % _TOKENS * _LENGTH
            self._tokens[at : at + _LENGTH] = token.encode().ljust(_LENGTH)
            self._count.value += 1


def _begin(count: Any, tokens: Any) -> None:
    """In a new process: stop blocks when it is told to; leave Ctrl-C to the parent.

    It ends with the parent, however that ends: nobody would ever ask it again.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what somebody's class prints is no result

    parent = multiprocessing.parent_process()
    assert parent is not None

    def listen() -> None:
        heard = 0
        while parent.is_alive():
            parent.join(_LOOK)
            for number in range(max(heard, count.value - _TOKENS), count.value):
                at = number % _TOKENS * _LENGTH
                token = tokens[at : at + _LENGTH].decode().rstrip()
                stop_all() if token == _EVERY else hear(token)
                heard = number + 1
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
