"""Atomic writes, locks, and lines of bounded length."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from tuplet.errors import UserError

PART = ".part"
MOST_LINE = 1 << 24  # bytes of a line; the longest games have about a hundred thousand


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside `path`, flush it and rename it to `path`: readers see the old file or the new one."""
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{PART}")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename = str(path)  # the name that the user knows
        raise
    with suppress(OSError):  # not every file system lets a folder be flushed
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_lines(file: BinaryIO, path: str | Path) -> Iterator[bytes]:
    """The remaining lines of a file; UserError if one is longer than `MOST_LINE`."""
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE and not line.endswith(b"\n"):
            raise UserError(f"{path}: a line is longer than {MOST_LINE:,} bytes")
        yield line


def remove_partial_files(path: Path) -> None:
    """Remove the partial files that killed writers of `path` have left."""
    for part in path.parent.glob(f".{path.name}.*{PART}"):
        with suppress(OSError):
            part.unlink()


def lock_file(file: IO[Any], why_not: str, timeout: float = 0.0) -> None:
    """Lock an open file; UserError with the text `why_not` if another process has locked it, also after `timeout`.

    The lock is released when the file is closed, or the process ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows: no locks
        return
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                raise UserError(why_not) from None
            time.sleep(0.02)
        else:
            return
