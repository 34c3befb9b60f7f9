"""Packed weight files: a player small enough to ship.

An xz stream. Its first line is JSON: the tuples, what the values mean, and `step`, the size that
weights are rounded to. Then, for each table in the order of files, all weights as 16-bit
multiples of `step`: their low bytes first, then their high bytes, because bytes of a kind pack
better together. What TC remembers is left out: a packed player plays, it does not go on learning.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tuplet.system.files import replacing
from tuplet.values.foreign import file_order
from tuplet.values.parameters import Parameters
from tuplet.values.patterns import spell

FORMAT = "tuplet-packed-1"
STEP = 8.0  # points: on 4x5, rounding to 16 changed the mean score by less than could be measured
MOST_CELLS, MOST_WEIGHTS = 6, 1 << 25  # a packed file is for small networks
_LINE = 4096  # bytes: the first line is shorter
_MEMORY = 1 << 27  # bytes that unpacking may take


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
    largest = float(np.abs(net.weights).max())
    if not np.isfinite(largest):
        raise ValueError("the weights are no longer finite numbers")
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
    packed = path.read_bytes()
    unpacker = lzma.LZMADecompressor(memlimit=_MEMORY)
    try:
        line, _, rest = unpacker.decompress(packed, _LINE).partition(b"\n")
        head = json.loads(line)
        if head["format"] != FORMAT:
            raise ValueError("it is an xz file, but not one of tuplet's networks")
        tuples = str(head["tuples"]).split()
        longest = max(map(len, tuples), default=0)
        if longest > MOST_CELLS or sum(16 ** len(cells) for cells in tuples) > MOST_WEIGHTS:
            raise ValueError("it names tuples that are too long or too many for a packed file")
        step = np.float32(head["step"])
        if not 0 < step < 1e6:
            raise ValueError(f"it has weights in steps of {step}")
        net = Parameters(tuples, target=head["target"], gamma=head["gamma"], spawn4=head["spawn4"])
        for t, size in enumerate(net.sizes):
            begun, rest = rest[: 2 * size], rest[2 * size :]
            parts = _take(unpacker, 2 * size - len(begun))
            planes = np.frombuffer(b"".join([begun, *parts]), np.uint8)
            if len(planes) < 2 * size:
                raise ValueError("it ends too early")
            weights = planes.reshape(2, -1).T.copy().view("<i2")[:, 0] * step
            done = 0
            for where in file_order(net, t):
                net.weights[where] = weights[done : done + len(where)]
                done += len(where)
        more = b"" if unpacker.eof else unpacker.decompress(b"", 1)
        if rest or more or unpacker.unused_data:
            raise ValueError("it goes on after its last table")
        if not unpacker.eof:  # its checksum is missing
            raise ValueError("it ends too early")
    except (lzma.LZMAError, EOFError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a sound packed file: {error or 'cut off'}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a sound packed file: {error}") from None
    return net


def _take(unpacker: lzma.LZMADecompressor, count: int) -> Iterator[bytes]:
    """The next `count` bytes, or all there are."""
    while count > 0 and not unpacker.eof and not unpacker.needs_input:
        part = unpacker.decompress(b"", count)
        count -= len(part)
        yield part
