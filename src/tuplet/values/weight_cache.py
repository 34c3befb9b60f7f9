"""The weights of packed players, unpacked in the user's cache folder: `strong` is unpacked once, not by every command.

A file is a line of JSON (the number of weights, and the CRC-32 of each 32 MB of them), padded to a page, then the
weights as they are in memory. Its name is a hash of the packed file and of this package's sources, which decide how
weights are laid out. It is read, not mapped: files get no huge pages, and play from mapped weights took 1.4 times as
long.
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
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tuplet.kernel import cache_root
from tuplet.system.blocks import cores
from tuplet.system.files import PART, atomic_write

Array = np.ndarray[Any, Any]

MIN_WEIGHTS = 1 << 20  # fewer are unpacked faster than their file is found
MAX_BYTES = 2 << 30  # of all files together
MAX_AGE = 30 * 86400  # seconds since a file was last used
MAX_WRITING = 3600  # seconds after which a file that is being written was given up
_HEADER, _PART = 4096, 32 << 20  # bytes before the weights, and read at a time
_lock = threading.Lock()


def fill_cached(packed: BinaryIO, weights: Array, unpack: Callable[[], None]) -> None:
    """Fill `weights` from the cache, or by `unpack`, which is then cached.

    A damaged file of the cache is replaced. Where nothing can be written, nothing is cached.
    """
    if len(weights) < MIN_WEIGHTS:
        return unpack()
    with _lock:  # other threads wait instead of unpacking the same file
        path = _path(packed)
        if path is None or not _read(path, weights):
            weights[:] = 0  # a damaged file may have been read
            unpack()
            if path is not None:
                with suppress(OSError):
                    _write(path, weights)
    return None


def _path(packed: BinaryIO) -> Path | None:
    """The file of the cache; None if there is no cache folder."""
    start = packed.tell()
    packed.seek(0)
    digest = hashlib.file_digest(packed, lambda: hashlib.sha256(_sources()))  # type: ignore[arg-type]
    packed.seek(start)
    with suppress(OSError, RuntimeError):  # no home folder, or it cannot be written to
        folder = cache_root() / "unpacked"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{digest.hexdigest()[:32]}.weights"
    return None


@cache
def _sources() -> bytes:
    return b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))


def _parts(weights: Array) -> list[memoryview]:
    data = weights.data.cast("B")
    return [data[start : start + _PART] for start in range(0, len(data), _PART)]


def _read(path: Path, weights: Array) -> bool:
    """Fill `weights` from a file of the cache; False if there is none, or it is damaged."""
    parts = _parts(weights)

    def read(number: int) -> int:
        with path.open("rb") as file:
            file.seek(_HEADER + number * _PART)
            file.readinto(parts[number])
        return zlib.crc32(parts[number])

    try:
        with path.open("rb") as file:
            header, size = json.loads(file.read(_HEADER)), os.fstat(file.fileno()).st_size
        if size != _HEADER + weights.nbytes:
            return False
        with ThreadPoolExecutor(min(cores(), 4), "tuplet") as pool:
            sums = list(pool.map(read, range(len(parts))))
        with suppress(OSError):
            os.utime(path)  # it is in use
    except (OSError, ValueError, RecursionError):
        return False
    return bool(header == {"weights": len(weights), "crc32": sums})


def _write(path: Path, weights: Array) -> None:
    """Write a file of the cache, and remove those that were not used for longest."""
    if shutil.disk_usage(path.parent).free < 4 * weights.nbytes:
        return
    header = json.dumps({"weights": len(weights), "crc32": [zlib.crc32(part) for part in _parts(weights)]})
    with atomic_write(path) as file:
        file.write(header.encode().ljust(_HEADER))
        file.write(weights.data)
    left = MAX_BYTES
    for each in sorted(path.parent.iterdir(), key=lambda each: -each.stat().st_mtime):
        age, unfinished = time.time() - each.stat().st_mtime, each.name.endswith(PART)
        left -= 0 if unfinished else each.stat().st_size
        if each != path and (age > MAX_WRITING if unfinished else left < 0 or age > MAX_AGE):
            with suppress(OSError):
                each.unlink()
