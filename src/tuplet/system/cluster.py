"""A Dask cluster as an executor of blocks: no block is lost when a worker dies, and none counts twice.

    with cluster("local:2") as workers:                 # or tcp://host:8786, or a scheduler file
        tuplet.evaluate("runs/ten", games=1000, executor=workers)

A block whose worker dies is submitted again, as long as there are workers. One whose worker is silent is given to
another as well, and the first result counts: it does not depend on the worker. `cluster_members.py` decides which
workers may run blocks. Dask sends Python objects as pickles: who can reach the ports of a scheduler or a worker can
run code there. `local:N` listens on this machine alone; others need TLS, or a network of their own.

All state is used by the event loop of Dask's client alone, in coroutines: no locks are needed. What other threads call
(`submit`, `provide`, `request_stop`, ...) is passed on to the loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.system.cluster_members import ClusterMembers, lacks_module
from tuplet.system.worker import WorkerPool, request_stop
from tuplet.system.worker_calls import DONE, DROPPED, process_info, run_block

MOST_WORKERS = 256  # on one machine
MOST_FAILURES = 10  # of a block, each after four workers died: the block kills them
GONE = "the cluster's scheduler is gone"
MOST_AHEAD = 64  # blocks that are submitted before they are needed
_AHEAD = 0.3  # seconds of work submitted ahead
_LOOK = 0.5  # seconds between looks at the workers
_CONNECT = 5.0  # seconds to reach the scheduler, or to reach it again
_START = 60.0  # seconds for local workers to start
_GRACE = 10.0  # seconds without any worker before a warning
_GIVE_UP = 600.0  # seconds without any worker before an error
_REMEMBERED = 64  # stopped calls
_TLS = ("ca", "cert", "key")
_HOST = "127.0.0.1"  # of local workers
_RESTART = 1.0  # seconds between looks for dead local workers
_END = 3.0  # seconds for a local worker to end


@dataclass(eq=False)
class Block:
    """A block that is running or submitted."""

    call: bytes
    token: str  # of the call that it belongs to
    result: Future[Any] = field(default_factory=Future)
    sent: list[Any] = field(default_factory=list)  # its Dask futures
    stuck: Any = None  # an asyncio future, set once all workers that have it are silent
    allowed: frozenset[str] = frozenset()  # the workers that may run it
    failures: int = 0


class Cluster(WorkerPool):
    """A Dask cluster that runs blocks."""

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise UserError("the Dask client is asynchronous: make it with Client(asynchronous=False)")
        self.client, self.members = client, ClusterMembers(client)
        self._blocks: dict[Block, Any] = {}
        self._stopped: dict[str, None] = {}  # calls that were attempts to stop
        self._finished, self._pace = 0, 0.0  # blocks, and blocks a second
        self._gone = ""
        if self._is_gone():
            raise ConnectionError(self._gone)
        client.sync(self._begin)

    @property
    def workers(self) -> int:
        """How many blocks can run at once now."""
        return max(sum(worker.threads for worker in [*self.members.workers.values()]), 1)

    @property
    def spare(self) -> int:
        """Blocks to submit beyond those that run; more if blocks are short, as Dask sends several for little more
        than one.
        """
        return max(self.workers, 4) + min(int(_AHEAD * self._pace), MOST_AHEAD)

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a block on any free worker."""
        called = partial(work, **named) if named else work
        token = getattr(arguments[-1], "token", "") if arguments else ""
        block = Block(pickle.dumps((called, *arguments)), token)
        block.result.set_running_or_notify_cancel()  # whether it has begun is unknown here
        if self._is_gone():
            block.result.set_exception(ConnectionError(self._gone))
        else:
            self.client.loop.add_callback(self._run, block)
        return block.result

    def provide(self, path: Path, digest: str) -> None:
        """Let all workers have a file: they see it, or it is sent to them, once."""
        self.client.sync(self.members.provide, path, digest)

    def forget(self, digest: str) -> None:
        """A file that was provided is not needed any more."""
        self.client.loop.add_callback(self.members.forget, digest)

    @contextmanager
    def share(self, folder: Path) -> Iterator[None]:
        """Use only workers that see a folder, to which blocks write."""
        self.client.sync(self.members.share, folder)
        try:
            self.members.raise_if_none()
            yield
        finally:
            self.client.loop.add_callback(self.members.unshare, folder)

    def request_stop(self, token: str) -> None:
        """Ask the blocks of one call to stop."""
        self.client.loop.add_callback(self._request_stop, token)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Release the cluster, which goes on."""
        with suppress(Exception):  # it may be gone
            self.client.sync(self._end, callback_timeout=_CONNECT)

    async def _begin(self) -> None:
        try:
            await self.client.run_on_scheduler(process_info)
        except Exception as error:
            if lacks_module(error):
                raise UserError("the scheduler has no tuplet: install it there too") from None
            raise
        await self.members.settle()
        self._watch = asyncio.create_task(self._keep_looking())

    async def _end(self) -> None:
        self._gone = self._gone or "the cluster was left"
        self._watch.cancel()

    async def _request_stop(self, token: str) -> None:
        self._stopped[token] = None
        for old in [*self._stopped][:-_REMEMBERED]:
            del self._stopped[old]
        await self.members.broadcast(request_stop, token)

    def _is_gone(self) -> bool:
        if self.client.status in ("closing", "closed"):
            self._gone = self._gone or GONE
        return bool(self._gone)

    async def _run(self, block: Block) -> None:
        """Run a block, however often its workers die."""
        self._blocks[block] = asyncio.current_task()  # a reference, so that it is not collected
        try:
            block.result.set_result(await self._result_of(block))
        except Exception as error:
            block.result.set_exception(error)
        except BaseException:  # the event loop ends
            block.result.set_exception(ConnectionError(GONE))
            raise
        finally:
            del self._blocks[block]
            self._finished += 1

    async def _result_of(self, block: Block) -> Any:
        while True:
            if block.token in self._stopped:
                raise CancelledError
            if self._is_gone():
                raise ConnectionError(self._gone)
            if not self.members.workers or self.client.status != "running":
                await asyncio.sleep(_LOOK / 4)
                continue
            block.allowed = frozenset()
            try:
                outcome, result = pickle.loads(await self._first_answer(block))
            except CancelledError:  # its workers are gone, or the scheduler
                await asyncio.sleep(_LOOK / 4)
            except Exception as error:
                block.failures += 1
                if block.failures > MOST_FAILURES:
                    why = "a block of work has killed every worker that ran it"
                    raise UserError(f"{why}: {error}") from None
                await asyncio.sleep(_LOOK / 4)
            else:
                if outcome == DROPPED:
                    raise CancelledError
                if outcome != DONE:
                    raise result
                return result
            finally:
                block.sent = []

    async def _first_answer(self, block: Block) -> bytes:
        """The first result of a block, which is also given to another worker when those that have it are silent.

        It is not taken from a silent worker, whose heartbeats may only be late.
        """
        attempts: dict[asyncio.Future[bytes], Any] = {}
        try:
            while True:
                if not attempts or (block.stuck.done() and self.members.workers and not self.members.writes):
                    there, priority = [*self.members.workers], block.failures + len(attempts)
                    block.allowed |= {*there}
                    future = self.client.submit(run_block, block.call, workers=there, pure=False, priority=priority)
                    attempts[asyncio.ensure_future(future)] = future
                block.sent = [*attempts.values()]
                block.stuck = asyncio.get_running_loop().create_future()
                await asyncio.wait([*attempts, block.stuck], return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in attempts if task.done()]:
                    if len(attempts) == 1 or task.exception() is None:
                        return task.result()
                    del attempts[task]  # one of several has failed
                if block.token in self._stopped:
                    raise CancelledError
        finally:
            for task in attempts:
                task.cancel()

    async def _keep_looking(self) -> None:
        """Watch the workers until the scheduler is gone, or there has been no worker for long."""
        try:
            await self._watch_members()
        finally:  # nothing would run blocks any more
            self._gone = self._gone or GONE
            await self._cancel(self._blocks)

    async def _watch_members(self) -> None:
        reached = manned = then = time.monotonic()
        finished, warned = self._finished, False
        while not self._is_gone():
            await asyncio.sleep(_LOOK)
            with suppress(Exception):  # the scheduler does not answer now
                await asyncio.wait_for(self.members.update(), _CONNECT)
                there = self.members.workers.keys() | self.members.silent
                await self._cancel(each for each in self._blocks if not each.allowed & there)
                await asyncio.wait_for(self._find_stuck(), _CONNECT)
            now = time.monotonic()
            self._pace = (self._finished - finished) / (now - then)
            finished, then = self._finished, now
            if self.client.status == "running":
                reached = now
            elif now - reached > _CONNECT:
                self._gone = GONE
            if self.members.workers or not self._blocks:
                manned, warned = now, False
            elif now - manned > _GIVE_UP:
                self._gone = f"the cluster has had no worker for {_GIVE_UP / 60:.0f} minutes"
            elif now - manned > _GRACE and not warned:
                warned = True
                warnings.warn("the cluster has no worker that can work: waiting", stacklevel=2)

    async def _cancel(self, blocks: Iterable[Block]) -> None:
        """Cancel what waits for workers that have left: it is submitted again, or dropped."""
        futures = [future for each in blocks for future in each.sent]
        with suppress(Exception):  # the client is closed
            if futures:
                await self.client.cancel(futures)

    async def _find_stuck(self) -> None:
        """Mark blocks that only silent workers have."""
        if not self.members.silent:
            return
        running = await self.client.scheduler.processing(workers=[*self.members.silent])
        keys = {key for each in running.values() for key in each}
        for block in self._blocks:
            only_silent = block.sent and all(future.key in keys for future in block.sent)
            if only_silent and not block.stuck.done():
                block.stuck.set_result(None)


_known: dict[Any, Cluster] = {}  # by client


def as_cluster(client: Any) -> Cluster:
    """The cluster of a Dask client, made once."""
    if not hasattr(client, "scheduler_info"):
        raise UserError(f"executor must be one of concurrent.futures, or a Dask client (got {client!r})")
    for old in [each for each, known in _known.items() if known._is_gone()]:
        del _known[old]
    if client not in _known:
        _known[client] = Cluster(client)
    return _known[client]


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence Dask's loggers: what matters is raised or warned of."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in ("distributed", *names)}
    for name in levels:  # some have a level of their own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def connect(where: str, tls: str | Path | None = None) -> Iterator[Cluster]:
    """A cluster, also one without workers."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError("a cluster needs Dask: install it with  pip install 'tuplet[cluster]'") from None
    with ExitStack() as stack:
        stack.enter_context(_without_logs())
        if where.startswith("local:"):
            if tls is not None:
                raise UserError("local:N does not leave this machine: it takes no TLS")
            count = _count(where)
            scheduler = stack.enter_context(_local_workers(count))
            client = stack.enter_context(Client(scheduler, set_as_default=False))
            with suppress(TimeoutError):  # late workers join
                client.wait_for_workers(count, _START)
        else:
            address, security = _address(where), None if tls is None else _security(Path(tls))
            try:
                client = Client(address, security=security, timeout=_CONNECT, set_as_default=False)
            except Exception as error:
                raise UserError(f"there is no cluster at {where}: {error}") from None
            stack.enter_context(client)
        workers = Cluster(client)
        stack.callback(workers.shutdown)
        yield workers


@contextmanager
def _local_workers(count: int) -> Iterator[Any]:
    """A Dask scheduler in this process, with `count` workers of one thread each that only this machine reaches.

    Workers are started by the same command as on other machines: they do not run the main program again, and Ctrl-C
    does not reach them. One that dies is started again. They end with this process: a worker without a scheduler
    ends.
    """
    from distributed import LocalCluster

    options = {"dashboard": False, "dashboard_address": f"{_HOST}:0"}
    with LocalCluster(
        n_workers=0, host=_HOST, dashboard_address=None, silence_logs=logging.CRITICAL, scheduler_kwargs=options
    ) as scheduler:
        processes = [_start(scheduler.scheduler_address, number) for number in range(count)]
        ended = threading.Event()

        def restart_dead() -> None:
            while not ended.wait(_RESTART):
                for number, process in enumerate(processes):
                    if process.poll() is not None:
                        processes[number] = _start(scheduler.scheduler_address, number)

        watch = threading.Thread(target=restart_dead, name="tuplet", daemon=True)
        watch.start()
        try:
            yield scheduler
        finally:
            ended.set()
            watch.join()
            _end(processes)


def _start(address: str, number: int) -> subprocess.Popen[bytes]:
    options = f"--host {_HOST} --nthreads 1 --memory-limit 0 --no-nanny --no-dashboard --dashboard-address {_HOST}:0"
    words = [address, "--name", str(number), *options.split(), "--death-timeout", "60"]
    path = [each or os.getcwd() for each in sys.path]  # noqa: PTH109  # as text, like the others
    return subprocess.Popen(
        # -P: a file of this folder must not hide a library of the same name
        [sys.executable, "-P", "-m", "distributed.cli.dask_worker", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "DASK_LOGGING__DISTRIBUTED": "critical"},
        stdin=subprocess.DEVNULL,
        stdout=2,  # what a user's class prints is not a result
        start_new_session=True,
    )


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End the workers, and the processes that they have started."""
    for process in processes:
        process.terminate()
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
    for process in processes:
        process.kill()
        with suppress(ProcessLookupError, AttributeError):  # of the group; not on Windows
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(where: str, tls: str | Path | None = None) -> Iterator[Cluster]:
    """An executor of the workers at an address (`tcp://host:8786`) or in a scheduler file, or of `local:N` new ones.

    `tls` is a folder with `ca.pem`, `cert.pem` and `key.pem`. At the end of the `with` block local workers end, and
    others go on.
    """
    with connect(where, tls) as workers:
        workers.members.raise_if_none()
        yield workers


def _security(folder: Path) -> Any:
    from distributed import Security

    files = {name: folder / f"{name}.pem" for name in _TLS}
    for file in files.values():
        if not file.is_file():
            raise UserError(f"there is no {file}: TLS needs ca.pem, cert.pem and key.pem")
    return Security(
        tls_ca_file=str(files["ca"]),
        tls_client_cert=str(files["cert"]),
        tls_client_key=str(files["key"]),
        require_encryption=True,
    )


def _address(where: str) -> str:
    """The address of the scheduler."""
    if Path(where).is_file():
        try:
            return str(json.loads(Path(where).read_bytes())["address"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{where} is not a scheduler file") from None
    if ":" not in where:
        what = "a scheduler file, an address such as tcp://host:8786, or local:N"
        raise UserError(f"there is no cluster at {where}: give {what}")
    return where


def _count(where: str) -> int:
    text = where.removeprefix("local:")
    count = int(text) if text.isdecimal() and len(text) < 4 else 0
    if not 1 <= count <= MOST_WORKERS:
        raise UserError(f"local:N must start 1 to {MOST_WORKERS} workers (got {where})")
    return count
