"""Processes that need the same kernel take turns: one compiles it, the others read its code.

Two that begin together on a fresh machine would else compile everything twice. A turn is a lock on
a byte of a file in the cache folder; the system lets go of it when a process ends, however it does.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where everybody compiles
    fcntl = None  # type: ignore[assignment]

FILE = "turns"


def take(folder: Path, name: str) -> None:
    """Wait as long as another process compiles what has this name."""
    if fcntl is not None:
        with suppress(OSError):  # no locks on this disk: everybody compiles
            fcntl.lockf(_opened(folder), fcntl.LOCK_EX, 1, _place(name))


def leave(folder: Path, name: str) -> None:
    """Let the next one look."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.lockf(_opened(folder), fcntl.LOCK_UN, 1, _place(name))


@cache
def _opened(folder: Path) -> int:
    # Never closed: to close a file lets go of all of the process's locks on it.
    return os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def _place(name: str) -> int:
    """The byte for something that is to be compiled."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
