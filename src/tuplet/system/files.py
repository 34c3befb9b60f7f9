"""Writing files so that a reader finds the old one or the new one, never half of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from tuplet.errors import UserError

PART = ".part"
MOST_LINE = 1 << 24  # bytes of a line; the longest games have some hundred thousand


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path`; when all is written, flush it and rename it to `path`."""
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
    """The lines that are left of a file of lines; ValueError if one is too long to be a line."""
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE and not line.endswith(b"\n"):
            raise UserError(f"{path}: a line has more than {MOST_LINE:,} bytes")
        yield line


def sweep(path: Path) -> None:
    """Remove what writers of `path` that were killed in the middle left behind."""
    for part in path.parent.glob(f".{path.name}.*{PART}"):
        with suppress(OSError):
            part.unlink()


def hold(file: IO[Any], why_not: str) -> None:
    """Hold an open file, so that no other process does; ValueError, with the reason, if one does.

    It is let go when the file is closed, or the process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows: nothing to hold
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(why_not) from None
