"""A lock per kernel, so that one process compiles it and the others read its code from the cache.

Without it, two processes that start together on a fresh machine compile everything twice. A lock is a byte range of a
file in the cache folder; the system releases it when the process ends. A process that was suspended keeps its lock:
others wait for it once, and not for long.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where every process compiles
    fcntl = None  # type: ignore[assignment]

FILE = "compile.lock"
LONGEST = 60.0  # seconds to wait in all: on slow machines a kernel takes half a minute
_RETRY = 0.02  # seconds between attempts
_abandoned: set[Path] = set()  # folders where waiting timed out


def acquire(folder: Path, name: str, longest: float = LONGEST) -> None:
    """Wait until no other process compiles the kernel of this name, at most `longest` seconds."""
    if fcntl is None or folder in _abandoned:
        return
    end = time.monotonic() + longest
    while time.monotonic() < end:
        try:
            fcntl.lockf(_lock_file(folder), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_of(name))
            return
        except (BlockingIOError, PermissionError):  # another process has it
            time.sleep(_RETRY)
        except OSError:  # no locks on this disk: every process compiles
            return
    _abandoned.add(folder)
    warnings.warn(
        f"another process has been compiling for {longest:.0f} s, or was suspended: this one compiles for itself",
        stacklevel=2,
    )


def release(folder: Path, name: str) -> None:
    """Let the next process acquire the lock."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.lockf(_lock_file(folder), fcntl.LOCK_UN, 1, _byte_of(name))


@cache
def _lock_file(folder: Path) -> int:
    # Never closed: closing a file releases all of the process's locks on it.
    return os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def _byte_of(name: str) -> int:
    """The position in the lock file that stands for a kernel."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
