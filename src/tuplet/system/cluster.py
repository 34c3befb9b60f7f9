"""A Dask cluster as an executor of blocks: none is lost when a worker dies, none done twice counts.

    with cluster("local:2") as workers:                 # or tcp://host:8786, or a scheduler file
        tuplet.evaluate("runs/ten", games=1000, executor=workers)

A block whose worker dies is handed out again, for as long as any are left. One whose worker is
silent is given to another as well, and whoever is first counts: what it returns does not depend on
who does it. `members.py` says who may do one. Dask sends Python objects as pickles: whoever can reach
the ports of a scheduler or a worker can run code there. `local:N` listens on this machine alone;
others need TLS, or a network of their own.

All state is touched by the event loop of Dask's client alone, in coroutines: there is nothing to
lock. What other threads call (`submit`, `provide`, `tell`, ...) passes on what they want.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
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
from tuplet.system.cluster_members import ClusterMembers, is_lacking
from tuplet.system.local_workers import local_workers
from tuplet.system.worker import WorkerPool, request_stop
from tuplet.system.worker_calls import DONE, GIVEN_UP, process_info, run_block

MOST_WORKERS = 256  # of one machine
MOST_FAILURES = 10  # of a block, each after four of its workers died: it is what ends them
GONE = "the cluster's scheduler is gone"
MOST_AHEAD = 64  # blocks that are handed out before they are needed
_AHEAD = 0.3  # seconds of work that are
_LOOK = 0.5  # seconds between looks at who is there
_CONNECT = 5.0  # seconds to reach the scheduler, or to reach it again
_START = 60.0  # seconds for workers of this machine to come
_GRACE = 10.0  # seconds without any worker, before we say that we wait
_PATIENCE = 600.0  # and before we give up
_REMEMBERED = 64  # calls that were told to stop
_TLS = ("ca", "cert", "key")


@dataclass(eq=False)
class Block:
    """A block that is under way."""

    call: bytes
    token: str  # of the call that it is part of
    result: Future[Any] = field(default_factory=Future)
    sent: list[Any] = field(default_factory=list)  # the Dask futures that it is now
    stuck: Any = None  # an asyncio future that tells that all who have it are silent
    allowed: frozenset[str] = frozenset()  # the workers that may do it
    failures: int = 0


class Cluster(WorkerPool):
    """A Dask cluster that does our blocks."""

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise UserError("the Dask client is an asynchronous one: Client(asynchronous=False)")
        self.client, self.members = client, ClusterMembers(client)
        self._blocks: dict[Block, Any] = {}
        self._stopped: dict[str, None] = {}  # calls that are to stop
        self._finished, self._pace = 0, 0.0  # blocks, and lately how many a second
        self._gone = ""
        if self._is_gone():
            raise ConnectionError(self._gone)
        client.sync(self._begin)

    @property
    def workers(self) -> int:
        """How many blocks can be done at once, by now."""
        return max(sum(worker.threads for worker in [*self.members.workers.values()]), 1)

    @property
    def spare(self) -> int:
        """Blocks beyond those under way: the next is there when one is done.

        More where blocks are short: Dask sends several at a time for little more than one.
        """
        return max(self.workers, 4) + min(int(_AHEAD * self._pace), MOST_AHEAD)

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Have a block done, by whoever is free."""
        called = partial(work, **named) if named else work
        token = getattr(arguments[-1], "token", "") if arguments else ""
        block = Block(pickle.dumps((called, *arguments)), token)
        block.result.set_running_or_notify_cancel()  # whether it has begun is not known here
        if self._is_gone():
            block.result.set_exception(ConnectionError(self._gone))
        else:
            self.client.loop.add_callback(self._see_to, block)
        return block.result

    def provide(self, path: Path, digest: str) -> None:
        """Let all workers have a file: they see it, or it is sent to them, once."""
        self.client.sync(self.members.provide, path, digest)

    def forget(self, digest: str) -> None:
        """A file that was provided is not needed any more."""
        self.client.loop.add_callback(self.members.forget, digest)

    @contextmanager
    def share(self, folder: Path) -> Iterator[None]:
        """Let only those work who see this folder as it is seen here: blocks write to it."""
        self.client.sync(self.members.share, folder)
        try:
            self.members.complain_if_none()
            yield
        finally:
            self.client.loop.add_callback(self.members.unshare, folder)

    def request_stop(self, token: str) -> None:
        """Ask the blocks of one call to stop."""
        self.client.loop.add_callback(self._request_stop, token)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Let go of the cluster, which goes on."""
        with suppress(Exception):  # it may be gone
            self.client.sync(self._end, callback_timeout=_CONNECT)

    async def _begin(self) -> None:
        try:
            await self.client.run_on_scheduler(process_info)
        except Exception as error:
            if is_lacking(error):
                raise UserError("the scheduler has no tuplet: install it there, too") from None
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
        await self.members.tell(request_stop, token)

    def _is_gone(self) -> bool:
        if self.client.status in ("closing", "closed"):
            self._gone = self._gone or GONE
        return bool(self._gone)

    async def _see_to(self, block: Block) -> None:
        """Have a block done, however often its workers die."""
        self._blocks[block] = asyncio.current_task()  # which nobody else would hold on to
        try:
            block.result.set_result(await self._done(block))
        except Exception as error:
            block.result.set_exception(error)
        except BaseException:  # the event loop ends
            block.result.set_exception(ConnectionError(GONE))
            raise
        finally:
            del self._blocks[block]
            self._finished += 1

    async def _done(self, block: Block) -> Any:
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
                became, found = pickle.loads(await self._first_answer(block))
            except CancelledError:  # its workers are gone, or the scheduler
                await asyncio.sleep(_LOOK / 4)
            except Exception as error:
                block.failures += 1
                if block.failures > MOST_FAILURES:
                    why = "a block of work has ended every worker that was given it"
                    raise UserError(f"{why}: {error}") from None
                await asyncio.sleep(_LOOK / 4)
            else:
                if became == GIVEN_UP:
                    raise CancelledError
                if became != DONE:
                    raise found
                return found
            finally:
                block.sent = []

    async def _first_answer(self, block: Block) -> bytes:
        """What the first returns who has done a block; another does it, too, where they are silent.

        Nothing is taken from a silent worker: it may only be slow to tell that it is there.
        """
        asked: dict[asyncio.Task[bytes], Any] = {}
        try:
            while True:
                if not asked or (block.stuck.done() and self.members.workers and not self.members.writes):
                    there, priority = [*self.members.workers], block.failures + len(asked)
                    block.allowed |= {*there}
                    future = self.client.submit(run_block, block.call, workers=there, pure=False, priority=priority)
                    asked[asyncio.create_task(_result(future))] = future
                block.sent = [*asked.values()]
                block.stuck = asyncio.get_running_loop().create_future()
                await asyncio.wait([*asked, block.stuck], return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in asked if task.done()]:
                    if len(asked) == 1 or task.exception() is None:
                        return task.result()
                    del asked[task]  # one of several has failed
                if block.token in self._stopped:
                    raise CancelledError
        finally:
            for task in asked:
                task.cancel()

    async def _keep_looking(self) -> None:
        """See who comes and goes, until the scheduler is gone, or nobody has come for long."""
        try:
            await self._watch_over()
        finally:  # nobody would see to blocks any more
            self._gone = self._gone or GONE
            await self._wake(self._blocks)

    async def _watch_over(self) -> None:
        reached = manned = then = time.monotonic()
        finished, warned = self._finished, False
        while not self._is_gone():
            await asyncio.sleep(_LOOK)
            with suppress(Exception):  # the scheduler does not answer now
                await asyncio.wait_for(self.members.look_round(), _CONNECT)
                there = self.members.workers.keys() | self.members.silent
                await self._wake(each for each in self._blocks if not each.allowed & there)
                await asyncio.wait_for(self._see_who_is_stuck(), _CONNECT)
            now = time.monotonic()
            self._pace = (self._finished - finished) / (now - then)
            finished, then = self._finished, now
            if self.client.status == "running":
                reached = now
            elif now - reached > _CONNECT:
                self._gone = GONE
            if self.members.workers or not self._blocks:
                manned, warned = now, False
            elif now - manned > _PATIENCE:
                self._gone = f"the cluster has had no worker for {_PATIENCE / 60:.0f} minutes"
            elif now - manned > _GRACE and not warned:
                warned = True
                warnings.warn("the cluster has no worker that can work: waiting", stacklevel=2)

    async def _wake(self, blocks: Iterable[Block]) -> None:
        """Have blocks handed out again, or given up, that would wait for workers that have left."""
        asleep = [future for each in blocks for future in each.sent]
        with suppress(Exception):  # nobody sleeps where the client is closed
            if asleep:
                await self.client.cancel(asleep)

    async def _see_who_is_stuck(self) -> None:
        """Tell blocks that all who have them are silent."""
        if not self.members.silent:
            return
        held = await self.client.scheduler.processing(workers=[*self.members.silent])
        keys = {key for each in held.values() for key in each}
        for block in self._blocks:
            held_by_silent = block.sent and all(future.key in keys for future in block.sent)
            if held_by_silent and not block.stuck.done():
                block.stuck.set_result(None)


async def _result(future: Any) -> bytes:
    return await future  # type: ignore[no-any-return]


_known: dict[Any, Cluster] = {}  # by client


def as_cluster(client: Any) -> Cluster:
    """The cluster of a Dask client, looked at once."""
    if not hasattr(client, "scheduler_info"):
        raise UserError(f"an executor is one of concurrent.futures, or a Dask client: {client!r}")
    for old in [each for each, known in _known.items() if known._is_gone()]:
        del _known[old]
    if client not in _known:
        _known[client] = Cluster(client)
    return _known[client]


@contextmanager
def _hushed() -> Iterator[None]:
    """Let Dask log nothing: what matters is told as an error, or a warning."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in ("distributed", *names)}
    for name in levels:  # some have a level of their own, whatever that of the others
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def connect(where: str, tls: str | Path | None = None) -> Iterator[Cluster]:
    """A cluster, whoever is there."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError("a cluster needs Dask: pip install 'tuplet[cluster]'") from None
    with ExitStack() as stack:
        stack.enter_context(_hushed())
        if where.startswith("local:"):
            if tls is not None:
                raise UserError("local:N does not leave this machine: it takes no TLS")
            count = _count(where)
            made = stack.enter_context(local_workers(count))
            client = stack.enter_context(Client(made, set_as_default=False))
            with suppress(TimeoutError):  # of those that come late, each joins
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
def cluster(where: str, tls: str | Path | None = None) -> Iterator[Cluster]:
    """The workers at an address (`tcp://host:8786`), in a scheduler file, or `local:N` of them.

    `tls` is a folder with `ca.pem`, `cert.pem` and `key.pem`. What it gives is an executor; when it
    is left, workers that were started for it end, and others go on.
    """
    with connect(where, tls) as workers:
        workers.members.complain_if_none()
        yield workers


def _security(folder: Path) -> Any:
    from distributed import Security

    files = {name: folder / f"{name}.pem" for name in _TLS}
    for file in files.values():
        if not file.is_file():
            raise UserError(f"there is no {file}: TLS takes ca.pem, cert.pem and key.pem")
    return Security(
        tls_ca_file=str(files["ca"]),
        tls_client_cert=str(files["cert"]),
        tls_client_key=str(files["key"]),
        require_encryption=True,
    )


def _address(where: str) -> str:
    """Where the scheduler is."""
    if Path(where).is_file():
        try:
            return str(json.loads(Path(where).read_bytes())["address"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{where} is no file that a scheduler has written") from None
    if ":" not in where:
        what = "no file of a scheduler, no address like tcp://host:8786, and not local:N"
        raise UserError(f"there is no cluster at {where}: it is {what}")
    return where


def _count(where: str) -> int:
    text = where.removeprefix("local:")
    count = int(text) if text.isdecimal() and len(text) < 4 else 0
    if not 1 <= count <= MOST_WORKERS:
        raise UserError(f"local:N starts 1 to {MOST_WORKERS} workers, not {where}")
    return count
