"""Functions that a cluster's worker is asked to run, in its own process."""

from __future__ import annotations

import hashlib
import pickle
import platform
import traceback
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.system.version import __version__
from tuplet.system.worker import Worker, cores

DONE, FAILED, DROPPED = "done", "failed", "dropped"  # the outcome of a block
_SPARE = 2  # copies of files that are kept when no call needs them

_copies: dict[str, Path] = {}  # files that were sent here, by digest
_spare: list[str] = []  # digests of copies that no call needs now


class ProcessInfo(NamedTuple):
    """A process, as the client knows it before it sends work."""

    name: str
    tuplet: str  # version
    code: str  # a hash of tuplet's sources and Numba's version
    python: str
    machine: str
    threads: int

    @classmethod
    def of(cls, fields: dict[str, Any]) -> ProcessInfo:
        """From the fields that a worker sent; those of another version may be more."""
        return cls(**{name: fields[name] for name in cls._fields})

    def differs(self, other: ProcessInfo) -> str:
        """Why the other process cannot do this one's work; empty if it can."""
        if other.tuplet != self.tuplet:
            return f"has tuplet {other.tuplet}, not {self.tuplet}"
        if other.code != self.code:
            return "has other code, or another Numba, under the same version of tuplet"
        return ""


@cache
def process_info() -> dict[str, Any]:
    """The fields of this process's `ProcessInfo`."""
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = "unknown"
    package, digest = Path(__file__).parents[1], hashlib.sha256(numba.encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    python, code = platform.python_version(), digest.hexdigest()[:16]
    return ProcessInfo("", __version__, code, python, platform.node(), cores())._asdict()


def run_block(call: bytes) -> bytes:
    """Run a block; errors name this worker. A block that was stopped before it began is dropped."""
    try:
        work, *arguments = pickle.loads(call)
    except Exception as error:
        why = f"{error} (on {_where()}): the worker must be able to import the agents"
        return pickle.dumps((FAILED, UserError(why)))
    worker = arguments[-1] if arguments else None
    if isinstance(worker, Worker) and worker.stop.is_set():
        return pickle.dumps((DROPPED, None))
    try:
        return pickle.dumps((DONE, work(*arguments)))
    except (Exception, SystemExit) as error:
        return pickle.dumps((FAILED, _portable_error(error)))


def _portable_error(error: BaseException) -> Exception:
    """An error that can be sent, with the name of this worker."""
    if isinstance(error, UserError | ImportError):
        return UserError(f"{error} (on {_where()})")
    if isinstance(error, OSError):
        return OSError(f"{error} (on {_where()})")
    portable: Exception = RuntimeError(f"{type(error).__name__}: {error}")
    with suppress(Exception):  # it cannot be pickled
        copy = pickle.loads(pickle.dumps(error))
        portable = copy if isinstance(copy, Exception) else portable
    portable.add_note(f"on {_where()}:\n{''.join(traceback.format_exception(error))}")
    return portable


def _where() -> str:
    from distributed import get_worker

    return f"worker {get_worker().name}, {platform.node()}"


def has_file(path: str, digest: str) -> bool:
    """True if this process was sent a file, or sees it at `path`, with this content."""
    if digest in _copies:
        if digest in _spare:
            _spare.remove(digest)
        return True
    try:
        return file_digest(path) == digest
    except OSError:
        return False


def file_digest(path: str | Path) -> str:
    """A short hash of a file's content."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]


def put(token: str, digest: str, at: int, piece: bytes, last: bool, suffix: str, dask_worker: Any = None) -> str:
    """Write a piece of a file that is sent here; returns why that failed, or nothing.

    Dask fills in its worker, whose folder is removed with it.
    """
    folder = Path(dask_worker.local_directory) / "tuplet"
    part = folder / f"{digest}-{token}"
    try:
        folder.mkdir(exist_ok=True)
        with part.open("r+b" if at else "wb") as file:
            file.seek(at)
            file.write(piece)
        if last:
            if file_digest(part) != digest:
                return "received something else"
            _copies[digest] = part.replace(folder / f"{digest}{suffix}")
    except OSError as error:
        return f"cannot write it: {error}"
    return ""


def copy_of(digest: str) -> Path | None:
    """The file of this content that was sent here, if any."""
    return _copies.get(digest)


def forget(digest: str) -> None:
    """A file is not needed any more; of those that were sent here, the last few are kept."""
    if digest in _copies and digest not in _spare:
        _spare.append(digest)
    for old in _spare[:-_SPARE]:
        _spare.remove(old)
        _copies.pop(old).unlink(missing_ok=True)


def read_text(path: str) -> str:
    """The content of a file, or nothing if this process does not see it."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
