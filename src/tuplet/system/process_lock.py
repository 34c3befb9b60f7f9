"""A lock on a file that says which process holds it, and how the last one ended.

The file has one record of a fixed length: the process that holds it, or after an error the error. A process that is
killed leaves its own record behind without the lock. Whether a file is held is decided by the lock alone, so the number
of a process that ended long ago does no harm.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.system.files import lock_file
from tuplet.system.text import in_one_line

_RECORD = 4096  # bytes
_ERROR = 500  # characters of an error that are kept
_RETRIES = 0.3  # seconds: `is_held` may have the file for an instant


class LockState(NamedTuple):
    """Whether a process holds a lock, and what its record says."""

    held: bool
    pid: int | None = None
    started: str = ""  # when that process began, in the words of the system
    host: str = ""
    error: str = ""  # with which the last process ended
    begun: bool = False  # its work

    @property
    def killed(self) -> bool:
        """Whether the last process ended without a word."""
        return not self.held and self.pid is not None


@contextmanager
def process_lock(path: Path, why_not: str) -> Iterator[Callable[[], None]]:
    """Hold a file in a `with` block; UserError with the text `why_not` if another process does.

    Yields a function to call when the work begins. An error before that is no end of the work: what the file said of
    the last one stays.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0) as file:
        lock_file(file, why_not, _RETRIES)
        if not is_at(file.fileno(), path):  # its folder was deleted meanwhile
            raise UserError(f"{path.parent} was deleted")
        before, pid = _read(path), os.getpid()
        own = {"pid": pid, "started": _start_of(pid), "host": platform.node(), "begun": False}

        def begin() -> None:
            own["begun"] = True
            _write(file.fileno(), own)

        _write(file.fileno(), own)
        try:
            yield begin
        except Exception as error:
            failed = {"error": in_one_line(str(error) or type(error).__name__)[:_ERROR]}
            _write(file.fileno(), failed if own["begun"] else before)
            raise
        except BaseException:
            _write(file.fileno(), {})
            raise
        _write(file.fileno(), {})


def lock_state(path: Path) -> LockState:
    """Whether a process holds this lock, and which."""
    record = _read(path)
    pid = record.get("pid")
    started, host, error = (str(record.get(name, ""))[:_ERROR] for name in ("started", "host", "error"))
    valid = type(pid) is int and pid > 0
    return LockState(is_held(path), pid if valid else None, started, host, error, record.get("begun") is True)


def is_held(path: Path) -> bool:
    """Whether a process has locked a file; the file is left as it is."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):  # Windows has no locks
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def interrupt(state: LockState) -> None:
    """Send SIGINT, as Ctrl-C does, to the process that holds a lock; UserError if it is not one of this machine."""
    if state.pid is None or state.host != platform.node():
        raise UserError(f"the process runs on another machine ({state.host or 'unknown'}): stop it there")
    if state.pid == os.getpid():
        raise UserError("the process is the server itself: stop it there")
    with suppress(ProcessLookupError), _process(state.pid) as send:
        if _start_of(state.pid) == state.started:
            send(signal.SIGINT)


@contextmanager
def _process(pid: int) -> Iterator[Any]:
    """A function that signals this process; where the system allows it, never a later one with the same number."""
    if not hasattr(os, "pidfd_open"):
        yield lambda number: os.kill(pid, number)
        return
    descriptor = os.pidfd_open(pid)
    try:
        yield lambda number: signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def _start_of(pid: int) -> str:
    """When a process began; "" if there is none."""
    with suppress(OSError, IndexError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    if Path("/proc/self/stat").exists():
        return ""
    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _write(descriptor: int, record: dict[str, Any]) -> None:
    """Replace the record in one write, such that readers see the old one or the new one."""
    text = json.dumps(record) if record else ""
    with suppress(OSError):  # the disk is full: the lock counts
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text.ljust(_RECORD - 1).encode() + b"\n")


def _read(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError), path.open("rb") as file:
        record = json.loads(file.read(_RECORD).strip() or b"{}")
        return record if isinstance(record, dict) else {}
    return {}
