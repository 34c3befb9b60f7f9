"""Unpacked weights in the user's cache folder, so that a packed player is unpacked only once.

A file is a line of JSON (the number of weights, and the CRC-32 of each 32 MB of them), padded to a
page, then the weights as they stand in memory. Its name hashes the packed file and the sources of
this package, which decide how weights are laid out. It is read, not mapped: a system has no large
pages for files, and play from mapped weights of `strong` took 1.4 times as long.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.kernel import cache_root, line_aligned
from tuplet.system.blocks import cores
from tuplet.system.files import PART, atomic_write

Array = np.ndarray[Any, Any]

LEAST = 1 << 20  # weights: fewer are unpacked faster than their file is found
MOST_KEPT = 2 << 30  # bytes of all files together
UNUSED = 30 * 86400  # seconds after which a file is removed
_HEAD, _PART = 4096, 32 << 20  # bytes before the weights, and read at a time
_ABANDONED = 3600  # seconds after which a file that is being written was given up
_unpacking = threading.Lock()


def unpacked(packed: BufferedReader, count: int, unpack: Callable[[], Array]) -> Array:
    """The `count` weights of an open packed file: the ones kept, or what `unpack` returns.

    A kept file that is damaged is unpacked and written again. Where nothing can be written, nothing
    is kept.
    """
    if count < LEAST:
        return unpack()
    with _unpacking:  # other threads wait in place of unpacking the same
        path = _place(packed)
        kept = _read(path, count) if path is not None else None
        if kept is not None:
            return kept
        weights = unpack()
        if path is not None:
            with suppress(OSError):
                _keep(path, weights)
        return weights


def _place(packed: BufferedReader) -> Path | None:
    """Where the weights of a packed file are kept; None without a cache folder."""
    at = packed.tell()
    packed.seek(0)
    digest = hashlib.file_digest(packed, lambda: hashlib.sha256(_sources()))
    packed.seek(at)
    with suppress(OSError, RuntimeError):  # no home folder, or it cannot be written to
        folder = cache_root() / "unpacked"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{digest.hexdigest()[:32]}.weights"
    return None


@cache
def _sources() -> bytes:
    return b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))


def _read(path: Path, count: int) -> Array | None:
    """The weights in a kept file; None if it is not there, or damaged."""
    try:
        with path.open("rb") as file:
            head, size = json.loads(file.read(_HEAD)), os.fstat(file.fileno()).st_size
        if size != _HEAD + 4 * count:
            return None
        weights = line_aligned(count, np.float32)
        parts = _parts(weights)

        def read(number: int) -> int:
            with path.open("rb") as file:
                file.seek(_HEAD + number * _PART)
                file.readinto(parts[number])
            return zlib.crc32(parts[number])

        with ThreadPoolExecutor(min(cores(), 4), "tuplet") as pool:
            found = list(pool.map(read, range(len(parts))))
        with suppress(OSError):
            os.utime(path)  # it is in use
    except (OSError, ValueError, RecursionError):
        return None
    return weights if head == {"weights": count, "crc32": found} else None


def _parts(weights: Array) -> list[memoryview]:
    data = weights.data.cast("B")
    return [data[at : at + _PART] for at in range(0, len(data), _PART)]


def _keep(path: Path, weights: Array) -> None:
    """Write weights beside `path`, rename them, and remove what was not used for longest."""
    if shutil.disk_usage(path.parent).free < 4 * weights.nbytes:
        return
    sums = [zlib.crc32(part) for part in _parts(weights)]
    head = json.dumps({"weights": len(weights), "crc32": sums}).encode()
    with atomic_write(path) as file:
        file.write(head.ljust(_HEAD))
        file.write(weights.data)
    _remove_old(path)


def _remove_old(newest: Path) -> None:
    now, room = time.time(), MOST_KEPT
    files = [(path, path.stat()) for path in newest.parent.iterdir()]
    for path, about in sorted(files, key=lambda each: -each[1].st_mtime):
        age = now - about.st_mtime
        if path.name.endswith(PART):
            old = age > _ABANDONED
        else:
            room -= about.st_size
            old = path != newest and (room < 0 or age > UNUSED)
        if old:
            with suppress(OSError):
                path.unlink()
