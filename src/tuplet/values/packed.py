"""Packed weight files: a player small enough to ship.

An xz stream. Its first line is JSON: the tuples, what the values mean, and `step`, the size that
weights are rounded to. Then, for each table in the order of files:

version 1  all weights as 16-bit multiples of `step`: their low bytes first, then their high bytes,
           because bytes of a kind pack better together;
version 2  for large networks: what `levels` makes of the multiples, `sizes` bytes of the first
           line each. `fitted` writes it.

What TC remembers is left out: a packed player plays, it does not go on learning.
"""

from __future__ import annotations

import json
import lzma
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tuplet.errors import UserError
from tuplet.system.blocks import cores
from tuplet.system.files import atomic_write
from tuplet.values.external_formats import file_order
from tuplet.values.levels import SPARE, decode, from_levels
from tuplet.values.parameters import Parameters, are_valid_weights
from tuplet.values.patterns import format_tuple
from tuplet.values.tables import table_order
from tuplet.values.unpacked import unpacked

Array = np.ndarray[Any, Any]

FORMAT, FORMAT_2 = "tuplet-packed-1", "tuplet-packed-2"
STEP = 8.0  # points: on 4x5, rounding to 16 changed the mean score by less than could be measured
MOST_CELLS = 6
MOST_WEIGHTS = {FORMAT: 1 << 25, FORMAT_2: 1 << 28}
LINE = 4096  # bytes: the first line is shorter
_MEMORY = 1 << 27  # bytes that unpacking may take
_PART = 1 << 16  # bytes read at a time


def check_packable(net: Parameters, path: Path) -> float:
    """Raise ValueError if no packed file can hold a network; returns its largest weight's size."""
    longest, count = max(map(len, net.tuples)), len(net.weights)
    why = (
        f"its boards are {net.size[0]}x{net.size[1]}"
        if net.size != (4, 4)
        else "it has stages"
        if net.stages
        else f"it has tuples of {longest} cells"
        if longest > MOST_CELLS
        else f"it has {count:,} weights"
        if count > MOST_WEIGHTS[FORMAT_2]
        else ""
    )
    if why:
        raise UserError(
            f"a packed file holds networks of 4x4 boards, without stages, with tuples of at most "
            f"{MOST_CELLS} cells and {MOST_WEIGHTS[FORMAT_2]:,} weights in all, and this one is "
            f"not such: {why}; write {path.with_suffix('.safetensors')} instead"
        )
    largest = 0.0
    for t in range(len(net.tuples)):
        if not are_valid_weights(net.table(t)):
            raise UserError("the weights are no longer finite numbers")
        largest = max(largest, float(np.abs(net.table(t)).max()))
    return largest


def write_packed(net: Parameters, path: Path, step: float = STEP) -> Path:
    """Write a small network's packed file, of version 1, beside `path`; rename it into place."""
    largest = check_packable(net, path)
    # Fine enough for small values, and coarse enough for 16 bits.
    step = max(min(step, largest / 1024), largest / 32767) or 1.0
    head = {
        "format": FORMAT,
        "tuples": " ".join(format_tuple(t) for t in net.tuples),
        "step": step,
        "target": net.target,
        "gamma": net.gamma,
        "spawn4": net.spawn4,
    }
    packer = lzma.LZMACompressor()
    with atomic_write(path) as file:
        file.write(packer.compress(json.dumps(head).encode() + b"\n"))
        for t in range(len(net.tuples)):
            weights = np.concatenate([net.weights[where] for where in file_order(net, t)])
            planes = np.rint(weights / step).astype("<i2").view(np.uint8).reshape(-1, 2)
            for plane in planes.T:
                file.write(packer.compress(plane.tobytes()))
        file.write(packer.flush())
    return path


def read_packed(path: Path) -> Parameters:
    """The network in a packed file. Raises ValueError, with the reason, if it is not sound.

    Unpacks no more than the tables of the tuples it names.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except (lzma.LZMAError, EOFError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise UserError(f"{path} is not a sound packed file: {error or 'cut off'}") from None
    except ValueError as error:
        raise UserError(f"{path} is not a sound packed file: {error}") from None


def packed_head(path: Path) -> dict[str, Any]:
    """The first line of a packed file, reading no more than that; empty if it is not sound."""
    try:
        with path.open("rb") as file:
            head = json.loads(_Unpacker(file).line())
    except (OSError, lzma.LZMAError, ValueError, RecursionError):
        head = None
    return head if isinstance(head, dict) else {}


def packed_notes(path: Path) -> dict[str, str]:
    """How a packed player was made, as far as its first line says so."""
    notes = packed_head(path).get("notes")
    return {k: str(v) for k, v in notes.items()} if isinstance(notes, dict) else {}


def _read(file: BufferedReader) -> Parameters:
    unpacker = _Unpacker(file)
    head = json.loads(unpacker.line())
    if head["format"] not in MOST_WEIGHTS:
        raise UserError("it is an xz file, but not one of tuplet's networks")
    for name in ("step", "gamma", "spawn4"):
        if not isinstance(head[name], int | float) or isinstance(head[name], bool):
            raise UserError(f"its {name} is no number")
    tuples = str(head["tuples"]).split()
    longest = max(map(len, tuples), default=0)
    if longest > MOST_CELLS or sum(16 ** len(cells) for cells in tuples) > (MOST_WEIGHTS[head["format"]]):
        raise UserError("it names tuples that are too long or too many for a packed file")
    step = np.float32(head["step"])
    if not 0 < step < 1e6:
        raise UserError(f"it has weights in steps of {step}")
    net = Parameters(tuples, target=head["target"], gamma=head["gamma"], spawn4=head["spawn4"])

    def unpack() -> Array:
        (_read_planes if head["format"] == FORMAT else _read_levels)(unpacker, net, step, head)
        if unpacker.take(1) or unpacker.goes_on:
            raise UserError("it goes on after its last table")
        if not unpacker.complete:  # its checksum is missing
            raise UserError("it ends too early")
        return net.weights

    net.weights = unpacked(file, len(net.weights), unpack)
    return net


def _read_planes(unpacker: _Unpacker, net: Parameters, step: np.float32, _: Any) -> None:
    for t, size in enumerate(net.sizes):
        planes = np.frombuffer(unpacker.take(2 * size), np.uint8)
        if len(planes) < 2 * size:
            raise UserError("it ends too early")
        weights = planes.reshape(2, -1).T.copy().view("<i2")[:, 0] * step
        done = 0
        for where in file_order(net, t):
            net.weights[where] = weights[done : done + len(where)]
            done += len(where)


def _read_levels(unpacker: _Unpacker, net: Parameters, step: np.float32, head: Any) -> None:
    sizes = head["sizes"]
    if not isinstance(sizes, list) or len(sizes) != len(net.tuples):
        raise UserError("it does not say how large each of its tables is")
    for size, weights in zip(sizes, net.sizes, strict=True):
        if type(size) is not int or not 0 < size <= 4 * weights + SPARE:
            raise UserError(f"it has a table of {weights:,} weights in {size} bytes")

    def read(t: int, data: bytes) -> None:
        levels = np.zeros(net.sizes[t], np.int16)
        decode(data, levels)
        from_levels(levels, step, *table_order(net.tuples[t]), net.table(t))

    at_once = min(cores(), 4)  # tables: each takes some memory of its own
    with ThreadPoolExecutor(at_once, "tuplet") as pool:
        for first in range(0, len(sizes), at_once):
            some = range(first, min(first + at_once, len(sizes)))
            data = [unpacker.take(sizes[t]) for t in some]
            if len(data[-1]) < sizes[some[-1]]:
                raise UserError("it ends too early")
            list(pool.map(read, some, data))


class _Unpacker:
    """Unpacks a file as it is asked for, and reads no more of it than that takes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._xz = lzma.LZMADecompressor(memlimit=_MEMORY)
        self._begun = b""  # unpacked, and not taken yet

    def take(self, count: int) -> bytes:
        """The next bytes, fewer where it ends."""
        parts, self._begun = [self._begun[:count]], self._begun[count:]
        count -= len(parts[0])
        while count > 0 and not self._xz.eof:
            packed = self._file.read(_PART) if self._xz.needs_input else b""
            if self._xz.needs_input and not packed:
                break
            parts.append(self._xz.decompress(packed, count))
            count -= len(parts[-1])
        return b"".join(parts)

    def line(self) -> bytes:
        """The first line."""
        line, _, self._begun = self.take(LINE).partition(b"\n")
        return line

    @property
    def complete(self) -> bool:
        """Whether all was unpacked, and is what was packed."""
        return self._xz.eof

    @property
    def goes_on(self) -> bool:
        """Whether something stands behind what was packed."""
        return bool(self._xz.unused_data or (self._xz.eof and self._file.read(1)))
