"""What a cluster's worker is asked to do, in its own process."""

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

DONE, FAILED, GIVEN_UP = "done", "failed", "given up"  # what became of a block
_SPARE = 2  # copies that are kept when nobody needs them any more: somebody may again

_copies: dict[str, Path] = {}  # files that were sent here, by their digests
_spare: list[str] = []  # those that nobody needs now


class ProcessInfo(NamedTuple):
    """A process as others have to know it before they give it work."""

    name: str
    tuplet: str  # version
    code: str  # a hash of all of tuplet, and of Numba's version
    python: str
    machine: str
    threads: int

    def differs(self, other: ProcessInfo) -> str:
        """Why the other cannot do this one's work; nothing if it can."""
        if other.tuplet != self.tuplet:
            return f"has tuplet {other.tuplet}, not {self.tuplet}"
        if other.code != self.code:
            return "has other code, or another Numba, under the same version of tuplet"
        return ""


def here_of(told: dict[str, Any]) -> ProcessInfo:
    """A process as it has told of itself; another version may tell other things."""
    return ProcessInfo(**{name: told[name] for name in ProcessInfo._fields})


@cache
def process_info() -> dict[str, Any]:
    """Who this process is."""
    package, digest = Path(__file__).parents[1], hashlib.sha256(_version("numba").encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    python, code = platform.python_version(), digest.hexdigest()[:16]
    return ProcessInfo("", __version__, code, python, platform.node(), cores())._asdict()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def run_block(call: bytes) -> bytes:
    """Do a block, or say why not: what is wrong here is told with this worker's name.

    A block that was told to stop before it has begun is given up.
    """
    try:
        work, *arguments = pickle.loads(call)
    except Exception as error:
        why = f"{error} (on {_where()}): what plays must be there, too"
        return pickle.dumps((FAILED, UserError(why)))
    worker = arguments[-1] if arguments else None
    if isinstance(worker, Worker) and worker.stop.is_set():
        return pickle.dumps((GIVEN_UP, None))
    try:
        return pickle.dumps((DONE, work(*arguments)))
    except (Exception, SystemExit) as error:
        return pickle.dumps((FAILED, _told(error)))


def _told(error: BaseException) -> Exception:
    """An error as somebody elsewhere can understand it."""
    if isinstance(error, UserError | ImportError):
        return UserError(f"{error} (on {_where()})")
    if isinstance(error, OSError):
        return OSError(f"{error} (on {_where()})")
    told = f"on {_where()}:\n{''.join(traceback.format_exception(error))}"
    found: Exception = RuntimeError(f"{type(error).__name__}: {error}")
    with suppress(Exception):  # it cannot be sent
        copy = pickle.loads(pickle.dumps(error))
        found = copy if isinstance(copy, Exception) else found
    found.add_note(told)
    return found


def _where() -> str:
    from distributed import get_worker

    return f"worker {get_worker().name}, {platform.node()}"


def has(path: str, digest: str) -> bool:
    """Whether this process was sent a file, or sees it, with the same content."""
    if digest in _copies:
        if digest in _spare:
            _spare.remove(digest)
        return True
    try:
        return file_digest(path) == digest
    except OSError:
        return False


def file_digest(path: str | Path) -> str:
    """A file's content as a short text: the same for the same bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]


def put(token: str, digest: str, at: int, piece: bytes, last: bool, suffix: str, dask_worker: Any = None) -> str:
    """Write a piece of a file that is being sent here, the last one makes it one; or say why not.

    Dask fills in its worker, whose folder goes when it does.
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
                return "was sent something else"
            _copies[digest] = part.replace(folder / f"{digest}{suffix}")
    except OSError as error:
        return f"cannot keep it: {error}"
    return ""


def copy_of(digest: str) -> Path | None:
    """The file of this content that was sent here, if one was."""
    return _copies.get(digest)


def forget(digest: str) -> None:
    """A file is not needed any more; of those that were sent here, a few are kept."""
    if digest in _copies and digest not in _spare:
        _spare.append(digest)
    for old in _spare[:-_SPARE]:
        _spare.remove(old)
        _copies.pop(old).unlink(missing_ok=True)


def sees(path: str) -> str:
    """What a file holds, as this process sees it; nothing where it does not."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
