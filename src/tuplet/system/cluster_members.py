"""The workers of a Dask cluster: who is there, who can work, and who has which file.

A worker is looked at before it gets work: it must have this version of tuplet and the same code,
see the folders that blocks write to, and have the files that blocks read, which are sent to it if
need be. One that comes late is looked at, and joins. One that gives no sign of life for some
seconds (it was stopped, its machine sleeps or swaps) gets no more work until it does.

All of this is done by the event loop of Dask's client, in coroutines: there is nothing to lock.
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
from tuplet.system.worker_calls import ProcessInfo, file_digest, forget, has, here_of, process_info, put, sees

PIECE = 4 << 20  # bytes of a file that are sent at once
SILENT = 10.0  # seconds without a sign of life, in a small cluster; workers give two a second
_A_WORKER = 0.05  # seconds more for each worker: where there are many, signs come more seldom
_GAP = 2.0  # seconds between two looks that count: in more, it was we who were asleep
_LOOK = 0.5  # seconds between looks at whether somebody who is asked is silent
_SETTLE = 10.0  # seconds to wait for newcomers
_ANSWER = 60.0  # seconds that a worker has to answer, and a piece of a file to arrive


class Rejection(NamedTuple):
    """Why a worker gets no work."""

    name: str
    why: str
    folder: Path | None = None  # that it does not see


class ClusterMembers:
    """Those who can work, and those who cannot."""

    def __init__(self, client: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.client, self.here, self._clock = client, here_of(process_info()), clock
        self.workers: dict[str, ProcessInfo] = {}  # by address
        self.refused: dict[str, Rejection] = {}
        self.silent: set[str] = set()  # addresses
        self._signs: dict[str, tuple[Any, float]] = {}  # of life: the last, and seconds since then
        self._looked = clock()
        self.sent: list[tuple[str, str]] = []  # files, by digest, and to whom
        self.guests: set[asyncio.Task[None]] = set()  # newcomers that are looked at
        self._known: dict[str, str] = {}  # who was looked at, and a folder that no other has
        self._files: dict[str, Path] = {}
        self._wanted: Counter[str] = Counter()  # how many calls need a file
        self._folders: Counter[Path] = Counter()

    async def look_round(self) -> None:
        """See who has left, and look at newcomers."""
        there = (await self.client.scheduler.identity(n_workers=-1))["workers"]
        for address, home in [*self._known.items()]:
            if there.get(address, {}).get("local_directory") != home:
                self._lose(address)
        self._listen(there)
        for address, worker in there.items():
            if address not in self._known and address not in self.silent:
                self._known[address] = worker["local_directory"]
                guest = asyncio.create_task(self._welcome(address, worker))
                self.guests.add(guest)
                guest.add_done_callback(self.guests.discard)

    def _listen(self, there: dict[str, dict[str, Any]]) -> None:
        """Find out who is silent, by what the scheduler has heard of workers."""
        now = self._clock()
        passed, self._looked = min(now - self._looked, _GAP), now
        longest = SILENT + _A_WORKER * len(there)
        self.silent &= there.keys()
        self._signs = {each: sign for each, sign in self._signs.items() if each in there}
        for address, worker in there.items():
            sign = (worker["local_directory"], worker["last_seen"])
            before, quiet = self._signs.get(address, (sign, 0.0))
            quiet = quiet + passed if sign == before else 0.0
            self._signs[address] = (sign, quiet)
            who = f"worker {worker.get('name', address)} ({address})"
            if quiet >= longest and address not in self.silent:
                self.silent.add(address)
                self._lose(address)
                then = "what it writes waits for it" if self.writes else "others do its work"
                warnings.warn(f"{who} has not answered for {longest:.0f} s: {then}", stacklevel=2)
            elif not quiet and address in self.silent:
                self.silent.discard(address)
                warnings.warn(f"{who} answers again", stacklevel=2)

    @property
    def writes(self) -> bool:
        """Whether blocks write to a folder: two that did the same one would get in each other's
        way.
        """
        return bool(self._folders)

    async def settle(self) -> None:
        """See who is there, and wait a little for those that are looked at."""
        await self.look_round()
        if self.guests:
            await asyncio.wait(self.guests, timeout=_SETTLE)

    async def provide(self, path: Path, digest: str) -> None:
        """Let all workers have a file: they see it, or it is sent to them, once."""
        self._files[digest] = path
        self._wanted[digest] += 1
        wrong = await self._give([*self.workers], path, digest)
        for address, why in wrong.items():
            if address in self.workers:
                self._refuse(address, Rejection(self.workers[address].name, why))

    async def forget(self, digest: str) -> None:
        """A call does not need a file any more."""
        self._wanted[digest] -= 1
        if self._wanted[digest] <= 0:
            del self._wanted[digest]
            self._files.pop(digest, None)
            await self.tell(forget, digest)

    async def share(self, folder: Path) -> None:
        """Let only those work who see a folder as it is seen here; OSError if it is not here."""
        _mark(folder).unlink()
        self._folders[folder] += 1
        for address, worker in [*self.workers.items()]:
            try:
                wrong = await self._try_folder(address, worker.name, folder)
            except Exception:  # it does not answer
                self._lose(address)
            else:
                if wrong.why:
                    self._refuse(address, wrong)

    async def unshare(self, folder: Path) -> None:
        """The others may work again."""
        self._folders[folder] -= 1
        if self._folders[folder] <= 0:
            del self._folders[folder]
            for address in [each for each, no in self.refused.items() if no.folder == folder]:
                self._lose(address)

    async def tell(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have all workers hear something; whoever does not is none the worse."""
        with suppress(Exception):
            run = self.client.run(function, *arguments, workers=[*self.workers], on_error="ignore")
            await asyncio.wait_for(run, _ANSWER)

    def complain_if_none(self) -> None:
        """ValueError where there are workers, and none can work."""
        if not self.workers and self.refused:
            first = next(iter(self.refused.values()))
            raise UserError(f"no worker of the cluster can do this: worker {first.name} {first.why}")

    async def _welcome(self, address: str, worker: dict[str, Any]) -> None:
        """Let a newcomer join, or say by name why not."""
        name, home = str(worker.get("name", address)), self._known[address]
        try:
            here = here_of(await self._ask(address, process_info))
            wrong = Rejection(name, self.here.differs(here))
            had: set[Path | str] = set()
            while not wrong.why and (need := next(self._needed(had), None)) is not None:
                had.add(need)
                if isinstance(need, Path):
                    wrong = await self._try_folder(address, name, need)
                else:
                    failed = await self._give([address], self._files[need], need)
                    wrong = Rejection(name, failed.get(address, ""))
        except Exception as error:
            if not is_lacking(error):  # it does not answer
                self._lose(address)
            wrong = Rejection(name, f"has no tuplet {self.here.tuplet}")
        if self._known.get(address) != home:
            return  # it has left meanwhile
        if wrong.why:
            self._refuse(address, wrong)
        else:
            self.workers[address] = here._replace(name=name, threads=int(worker["nthreads"]))

    def _needed(self, had: set[Path | str]) -> Iterator[Path | str]:
        """What a newcomer must see or have yet; more may be asked for while it is looked at."""
        needed: list[Path | str] = [*self._folders, *self._files]
        return (each for each in needed if each not in had)

    def _refuse(self, address: str, wrong: Rejection) -> None:
        self.workers.pop(address, None)
        self.refused[address] = wrong
        warnings.warn(f"worker {wrong.name} ({address}) {wrong.why}: it gets no work", stacklevel=2)

    def _lose(self, address: str) -> None:
        """A worker has left, or does not answer: if it is there, it is looked at anew."""
        self._known.pop(address, None)
        self.workers.pop(address, None)
        self.refused.pop(address, None)

    async def _ask(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a worker answers; raises what it raises, or what keeps it from answering."""
        run = asyncio.ensure_future(self.client.run(function, *arguments, workers=[address]))
        end = self._clock() + _ANSWER
        try:
            while not (await asyncio.wait([run], timeout=_LOOK))[0]:
                if address in self.silent or self._clock() > end:
                    raise TimeoutError(f"{address} does not answer")
            return run.result()[address]
        finally:
            run.cancel()

    async def _try_folder(self, address: str, name: str, folder: Path) -> Rejection:
        """Whether a worker sees what is written to a folder here."""
        try:
            mark = _mark(folder)
        except OSError as error:  # it is gone here: no fault of the worker's
            why = f"cannot be asked for {folder}: {error.strerror or error}"
            return Rejection(name, why, folder)
        try:
            seen = await self._ask(address, sees, str(mark))
        finally:
            mark.unlink(missing_ok=True)
        why = "" if seen == mark.name else f"does not see {folder}, where this work is written"
        return Rejection(name, why, folder)

    async def _give(self, addresses: list[str], path: Path, digest: str) -> dict[str, str]:
        """Let workers have a file; returns why some cannot. Those that leave meanwhile are lost."""
        asked = (self._ask(each, has, str(path), digest) for each in addresses)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        found = dict(zip(addresses, answers, strict=True))
        lacking = [each for each, there in found.items() if there is False]
        for address in [each for each, there in found.items() if isinstance(there, Exception)]:
            self._lose(address)
        if not lacking:
            return {}
        if await asyncio.to_thread(_content, path) != digest:
            self._files.pop(digest, None)  # whoever needed it has let go of it
            return {}
        token, size, wrong = uuid.uuid4().hex, path.stat().st_size, {}
        for at in range(0, size, PIECE):
            with path.open("rb") as file:
                file.seek(at)
                piece = file.read(PIECE)
            arguments = (token, digest, at, piece, at + PIECE >= size, path.suffix)
            run = self.client.run(put, *arguments, workers=lacking, on_error="return")
            told: dict[str, Any] = {}
            with suppress(Exception):
                told = await asyncio.wait_for(run, _ANSWER)
            for address in lacking:
                why = told.get(address)
                if not isinstance(why, str):
                    self._lose(address)
                elif why:
                    wrong[address] = f"was sent {path.name}, and {why}"
            lacking = [each for each in lacking if told.get(each) == ""]
            if not lacking:
                break
        self.sent += [(digest, each) for each in lacking]
        return wrong


def is_lacking(error: Exception) -> bool:
    """Whether somebody was asked who cannot import what he was asked for: Dask has texts for it."""
    return isinstance(error, ImportError) or "ModuleNotFoundError" in str(error)


def _mark(folder: Path) -> Path:
    """A new file in a folder, that holds its own name."""
    mark = folder / f".seen-{uuid.uuid4().hex}"
    mark.write_text(mark.name)
    return mark


def _content(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError:
        return ""
