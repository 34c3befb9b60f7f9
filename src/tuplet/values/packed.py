"""Packed weight files: a player small enough to ship.

An xz stream. Its first line is JSON: the tuples, what the values mean, and `step`, the size that
weights are rounded to. Then, for each table in the order of files, all weights as 16-bit
multiples of `step`: their low bytes first, then their high bytes, because bytes of a kind pack
better together. What TC remembers is left out: a packed player plays, it does not go on learning.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tuplet.system.files import replacing
from tuplet.values.foreign import file_order
from tuplet.values.parameters import Parameters, are_sound
from tuplet.values.patterns import spell

FORMAT = "tuplet-packed-1"
STEP = 8.0  # points: on 4x5, rounding to 16 changed the mean score by less than could be measured
MOST_CELLS, MOST_WEIGHTS = 6, 1 << 25  # a packed file is for small networks
_LINE = 4096  # bytes: the first line is shorter
_MEMORY = 1 << 27  # bytes that unpacking may take
_PART = 1 << 16  # bytes read at a time


def write_packed(net: Parameters, path: Path, step: float = STEP) -> Path:
    """Write a packed file beside `path` and rename it into place."""
    longest, count = max(map(len, net.tuples)), len(net.weights)
    why = (
        f"its boards are {net.size[0]}x{net.size[1]}" if net.size != (4, 4)
        else "it has stages" if net.stages
        else f"it has tuples of {longest} cells" if longest > MOST_CELLS
        else f"it has {count:,} weights" if count > MOST_WEIGHTS
        else ""
    )  # fmt: skip
    if why:
        raise ValueError(
            f"a packed file is for small networks (4x4 boards, no stages, tuples of at most "
            f"{MOST_CELLS} cells, {MOST_WEIGHTS:,} weights in all: 4x5 fits, 4x6 does not), and "
            f"this one is not: {why}; write {path.with_suffix('.safetensors')} instead"
        )
    if not are_sound(net.weights):
        raise ValueError("the weights are no longer finite numbers")
    largest = float(np.abs(net.weights).max())
    # Fine enough for small values, and coarse enough for 16 bits.
    step = max(min(step, largest / 1024), largest / 32767) or 1.0
    head = {
        "format": FORMAT, "tuples": " ".join(spell(t) for t in net.tuples), "step": step,
        "target": net.target, "gamma": net.gamma, "spawn4": net.spawn4,
    }  # fmt: skip
    packer = lzma.LZMACompressor()
    with replacing(path) as file:
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
            return _read(_Unpacker(file))
    except (lzma.LZMAError, EOFError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is not a sound packed file: {error or 'cut off'}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a sound packed file: {error}") from None


def _read(unpacker: _Unpacker) -> Parameters:
    head = json.loads(unpacker.line())
    if head["format"] != FORMAT:
        raise ValueError("it is an xz file, but not one of tuplet's networks")
    for name in ("step", "gamma", "spawn4"):
        if not isinstance(head[name], int | float) or isinstance(head[name], bool):
            raise ValueError(f"its {name} is no number")
    tuples = str(head["tuples"]).split()
    longest = max(map(len, tuples), default=0)
    if longest > MOST_CELLS or sum(16 ** len(cells) for cells in tuples) > MOST_WEIGHTS:
        raise ValueError("it names tuples that are too long or too many for a packed file")
    step = np.float32(head["step"])
    if not 0 < step < 1e6:
        raise ValueError(f"it has weights in steps of {step}")
    net = Parameters(tuples, target=head["target"], gamma=head["gamma"], spawn4=head["spawn4"])
    for t, size in enumerate(net.sizes):
        planes = np.frombuffer(unpacker.take(2 * size), np.uint8)
        if len(planes) < 2 * size:
            raise ValueError("it ends too early")
        weights = planes.reshape(2, -1).T.copy().view("<i2")[:, 0] * step
        done = 0
        for where in file_order(net, t):
            net.weights[where] = weights[done : done + len(where)]
            done += len(where)
    if unpacker.take(1) or unpacker.goes_on:
        raise ValueError("it goes on after its last table")
    if not unpacker.complete:  # its checksum is missing
        raise ValueError("it ends too early")
    return net


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
        line, _, self._begun = self.take(_LINE).partition(b"\n")
        return line

    @property
    def complete(self) -> bool:
        """Whether all was unpacked, and is what was packed."""
        return self._xz.eof

    @property
    def goes_on(self) -> bool:
        """Whether something stands behind what was packed."""
        return bool(self._xz.unused_data or (self._xz.eof and self._file.read(1)))
