"""Processes that need the same kernel take turns: one compiles it, the others read its code.

Two that begin together on a fresh machine would else compile everything twice. A turn is a lock on
a byte of a file in the cache folder; the system lets go of it when a process ends, however it does.
A process that was stopped in the middle keeps its turn: it is waited for once, and not for long.
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
except ImportError:  # Windows, where everybody compiles
    fcntl = None  # type: ignore[assignment]

FILE = "turns"
LONGEST = 60.0  # seconds to wait, in all: on slow machines a kernel takes half a minute
_LOOK = 0.02  # seconds between looks
_hanging: set[Path] = set()  # folders in which a process was waited for in vain


def take(folder: Path, name: str) -> None:
    """Wait while another process compiles what has this name, but not for one that hangs."""
    if fcntl is None or folder in _hanging:
        return
    end = time.monotonic() + LONGEST
    while True:
        try:
            fcntl.lockf(_opened(folder), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
        except (BlockingIOError, PermissionError):  # another process has it
            if time.monotonic() >= end:
                _hanging.add(folder)
                warnings.warn(
                    f"another process has been compiling for {LONGEST:.0f} s, or was stopped while "
                    "it did: this one compiles for itself",
                    stacklevel=2,
                )
                return
            time.sleep(_LOOK)
        except OSError:  # no locks on this disk: everybody compiles
            return
        else:
            return


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
