"""The workers of a Dask cluster: which can work, which are silent, and which have which file.

A worker is checked before it gets work: it must have this version of tuplet and the same code, see the folders that
blocks write to, and have the files that blocks read, which are sent to it if necessary. A late worker is checked and
joins. One that sends no heartbeat for some seconds (it was suspended, or its machine sleeps or swaps) gets no work
until it does.

All state is used by the event loop of Dask's client alone, in coroutines: no locks are needed.
"""

from __future__ import annotations

import asyncio
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.system.worker_calls import ProcessInfo, file_digest, forget, has_file, process_info, put, read_text

PIECE = 4 << 20  # bytes of a file that are sent at once
SILENT = 10.0  # seconds without a heartbeat, in a small cluster; workers send two a second
_PER_WORKER = 0.05  # seconds more for each worker: in large clusters heartbeats are rarer
_GAP = 2.0  # seconds between two looks that count; if more, this process was asleep
_LOOK = 0.5  # seconds between looks at whether a worker that was called has fallen silent
_SETTLE = 10.0  # seconds to wait for new workers
_ANSWER = 60.0  # seconds for a worker to answer, and for a piece of a file to arrive


class Rejection(NamedTuple):
    """Why a worker gets no work; it may if `why` is empty."""

    name: str
    why: str
    folder: Path | None = None  # which the worker does not see


class ClusterMembers:
    """The workers that get work, and those that do not."""

    def __init__(self, client: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.client, self.here, self._clock = client, ProcessInfo.of(process_info()), clock
        self.workers: dict[str, ProcessInfo] = {}  # by address
        self.refused: dict[str, Rejection] = {}
        self.silent: set[str] = set()  # addresses
        self._heartbeats: dict[str, tuple[Any, float]] = {}  # the last one, and the seconds since then
        self._looked = clock()
        self.sent: list[tuple[str, str]] = []  # digests of files, and the addresses they were sent to
        self.arrivals: set[asyncio.Task[None]] = set()  # checks of new workers
        self._known: dict[str, str] = {}  # addresses of checked workers, and their local folders
        self._files: dict[str, Path] = {}
        self._wanted: Counter[str] = Counter()  # how many calls need a file
        self._folders: Counter[Path] = Counter()

    async def update(self) -> None:
        """Notice workers that have left, and check new ones."""
        there = (await self.client.scheduler.identity(n_workers=-1))["workers"]
        for address, home in [*self._known.items()]:
            if there.get(address, {}).get("local_directory") != home:
                self._drop(address)
        self._listen(there)
        for address, worker in there.items():
            if address not in self._known and address not in self.silent:
                self._known[address] = worker["local_directory"]
                arrival = asyncio.create_task(self._admit(address, worker))
                self.arrivals.add(arrival)
                arrival.add_done_callback(self.arrivals.discard)

    def _listen(self, there: dict[str, dict[str, Any]]) -> None:
        """Find silent workers by the heartbeats that the scheduler has received."""
        now = self._clock()
        passed, self._looked = min(now - self._looked, _GAP), now
        longest = SILENT + _PER_WORKER * len(there)
        self.silent &= there.keys()
        self._heartbeats = {each: beat for each, beat in self._heartbeats.items() if each in there}
        for address, worker in there.items():
            beat = (worker["local_directory"], worker["last_seen"])
            before, quiet = self._heartbeats.get(address, (beat, 0.0))
            quiet = quiet + passed if beat == before else 0.0
            self._heartbeats[address] = (beat, quiet)
            name = f"worker {worker.get('name', address)} ({address})"
            if quiet >= longest and address not in self.silent:
                self.silent.add(address)
                self._drop(address)
                then = "what it writes waits for it" if self.writes else "others do its work"
                warnings.warn(f"{name} has not answered for {longest:.0f} s: {then}", stacklevel=2)
            elif not quiet and address in self.silent:
                self.silent.discard(address)
                warnings.warn(f"{name} answers again", stacklevel=2)

    @property
    def writes(self) -> bool:
        """True if blocks write to a folder: the same block must not run twice."""
        return bool(self._folders)

    async def settle(self) -> None:
        """Look for workers, and wait a little for those that are being checked."""
        await self.update()
        if self.arrivals:
            await asyncio.wait(self.arrivals, timeout=_SETTLE)

    async def provide(self, path: Path, digest: str) -> None:
        """Let all workers have a file: they see it, or it is sent to them, once."""
        self._files[digest] = path
        self._wanted[digest] += 1
        for address, why in (await self._send([*self.workers], path, digest)).items():
            if address in self.workers:
                self._refuse(address, Rejection(self.workers[address].name, why))

    async def forget(self, digest: str) -> None:
        """A call does not need a file any more."""
        self._wanted[digest] -= 1
        if self._wanted[digest] <= 0:
            del self._wanted[digest]
            self._files.pop(digest, None)
            await self.broadcast(forget, digest)

    async def share(self, folder: Path) -> None:
        """Use only workers that see a folder as it is here; OSError if it is not here."""
        _marker(folder).unlink()
        self._folders[folder] += 1
        for address, worker in [*self.workers.items()]:
            try:
                rejection = await self._check_folder(address, worker.name, folder)
            except Exception:  # it does not answer
                self._drop(address)
            else:
                if rejection.why:
                    self._refuse(address, rejection)

    async def unshare(self, folder: Path) -> None:
        """Use the other workers again."""
        self._folders[folder] -= 1
        if self._folders[folder] <= 0:
            del self._folders[folder]
            for address in [each for each, no in self.refused.items() if no.folder == folder]:
                self._drop(address)

    async def broadcast(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function on all workers, best effort."""
        with suppress(Exception):
            run = self.client.run(function, *arguments, workers=[*self.workers], on_error="ignore")
            await asyncio.wait_for(run, _ANSWER)

    def raise_if_none(self) -> None:
        """Raise UserError if there are workers, and none can work."""
        if not self.workers and self.refused:
            first = next(iter(self.refused.values()))
            raise UserError(f"no worker of the cluster can do this: worker {first.name} {first.why}")

    async def _admit(self, address: str, worker: dict[str, Any]) -> None:
        """Check a new worker: it joins, or is refused with the reason."""
        name, home = str(worker.get("name", address)), self._known[address]
        try:
            info = ProcessInfo.of(await self._call(address, process_info))
            rejection = Rejection(name, self.here.differs(info))
            checked: set[Path | str] = set()  # more may be required meanwhile
            while not rejection.why and (need := next(self._required(checked), None)) is not None:
                checked.add(need)
                if isinstance(need, Path):
                    rejection = await self._check_folder(address, name, need)
                else:
                    failed = await self._send([address], self._files[need], need)
                    rejection = Rejection(name, failed.get(address, ""))
        except Exception as error:
            if not lacks_module(error):  # it does not answer
                self._drop(address)
            rejection = Rejection(name, f"has no tuplet {self.here.tuplet}")
        if self._known.get(address) != home:
            return  # it has left meanwhile
        if rejection.why:
            self._refuse(address, rejection)
        else:
            self.workers[address] = info._replace(name=name, threads=int(worker["nthreads"]))

    def _required(self, checked: set[Path | str]) -> Iterator[Path | str]:
        """The folders that a worker must see and the digests of files that it must have, but for those checked."""
        required: list[Path | str] = [*self._folders, *self._files]
        return (each for each in required if each not in checked)

    def _refuse(self, address: str, rejection: Rejection) -> None:
        self.workers.pop(address, None)
        self.refused[address] = rejection
        warnings.warn(f"worker {rejection.name} ({address}) {rejection.why}: it gets no work", stacklevel=2)

    def _drop(self, address: str) -> None:
        """A worker has left or does not answer: if it is there, it is checked again."""
        for known in (self._known, self.workers, self.refused):
            known.pop(address, None)

    async def _call(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on a worker; raises what it raises, or TimeoutError."""
        run = asyncio.ensure_future(self.client.run(function, *arguments, workers=[address]))
        end = self._clock() + _ANSWER
        try:
            while not (await asyncio.wait([run], timeout=_LOOK))[0]:
                if address in self.silent or self._clock() > end:
                    raise TimeoutError(f"{address} does not answer")
            return run.result()[address]
        finally:
            run.cancel()

    async def _check_folder(self, address: str, name: str, folder: Path) -> Rejection:
        """Check that a worker sees what is written to a folder here."""
        try:
            marker = _marker(folder)
        except OSError as error:  # it is gone here: not the worker's fault
            return Rejection(name, f"cannot be checked for {folder}: {error.strerror or error}", folder)
        try:
            seen = await self._call(address, read_text, str(marker))
        finally:
            marker.unlink(missing_ok=True)
        why = "" if seen == marker.name else f"does not see {folder}, where this work is written"
        return Rejection(name, why, folder)

    async def _send(self, addresses: list[str], path: Path, digest: str) -> dict[str, str]:
        """Let workers have a file; returns why some cannot. Those that leave meanwhile are dropped."""
        calls = (self._call(each, has_file, str(path), digest) for each in addresses)
        answers = dict(zip(addresses, await asyncio.gather(*calls, return_exceptions=True), strict=True))
        lacking = [each for each, there in answers.items() if there is False]
        for address in [each for each, there in answers.items() if isinstance(there, Exception)]:
            self._drop(address)
        if not lacking:
            return {}
        if await asyncio.to_thread(_digest, path) != digest:
            self._files.pop(digest, None)  # the call that needed it has ended
            return {}
        token, size, failed = uuid.uuid4().hex, path.stat().st_size, {}
        for at in range(0, size, PIECE):
            with path.open("rb") as file:
                file.seek(at)
                piece = file.read(PIECE)
            arguments = (token, digest, at, piece, at + PIECE >= size, path.suffix)
            run = self.client.run(put, *arguments, workers=lacking, on_error="return")
            replies: dict[str, Any] = {}
            with suppress(Exception):
                replies = await asyncio.wait_for(run, _ANSWER)
            for address in lacking:
                why = replies.get(address)
                if not isinstance(why, str):
                    self._drop(address)
                elif why:
                    failed[address] = f"was sent {path.name}, and {why}"
            lacking = [each for each in lacking if replies.get(each) == ""]
            if not lacking:
                break
        self.sent += [(digest, each) for each in lacking]
        return failed


def lacks_module(error: Exception) -> bool:
    """True if a worker cannot import what it was asked to run: Dask sends texts for that."""
    return isinstance(error, ImportError) or "ModuleNotFoundError" in str(error)


def _marker(folder: Path) -> Path:
    """A new file in a folder that contains its own name."""
    marker = folder / f".seen-{uuid.uuid4().hex}"
    marker.write_text(marker.name)
    return marker


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError:
        return ""
