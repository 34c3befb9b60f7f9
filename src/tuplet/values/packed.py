"""Packed weight files: compressed, rounded weights for players that no longer learn.

The file starts with an xz stream whose first line is JSON: the tuples, what the values mean, and
`step`. A weight is its *level*, a 16-bit integer, times `step`. Levels stand in the order of a
file's index, with the tuple's first cell in the lowest four bits.

tuplet-packed-1  up to 2^25 weights. The same stream goes on with each table's levels: all low bytes,
                 then all high bytes.
tuplet-packed-3  larger networks, or a limited size. Each table is an xz stream of its own, so that
                 tables are unpacked in parallel; `sizes` in the first line are their lengths. A table
                 is a bit map of the levels that are not 0 (lowest bit first), then these levels,
                 zigzag-coded (0, -1, 1, -2, ... as 0, 1, 2, 3, ...): low bytes, then high bytes.

Weights that were seldom updated matter little (docs/weights.md): to fit a size, they are dropped
first, then the step grows. TC's sum A of absolute errors tells how much a weight was updated.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from math import log
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.system.blocks import cores
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, Watcher
from tuplet.values.game_network import GameNetwork, find_game_of, network_from
from tuplet.values.network import COHERENCE, Network, are_valid_weights
from tuplet.values.weight_cache import fill_cached

Array = np.ndarray[Any, Any]
AnyNetwork = Network | GameNetwork

FORMAT_1, FORMAT_3 = "tuplet-packed-1", "tuplet-packed-3"
STEP = 8.0  # points: on 4x5, rounding to 16 made no measurable difference in play
MAX_CELLS = 6
MAX_WEIGHTS = {FORMAT_1: 1 << 25, FORMAT_3: 1 << 28}
MAX_LEVEL = 32767
MAX_LINE = 4096  # bytes of the first line
_MAX_MEMORY = 1 << 27  # bytes for unpacking a stream
_CHUNK = 1 << 16  # bytes read at a time
_SELDOM = 32.0  # steps: first to be dropped are weights with a smaller A,
_SMALL = 1.0  # or, without TC's memory, smaller weights
_TRIALS = 10
_NEAR = 0.99  # of the size limit: close enough


class Packing(NamedTuple):
    """How a network was packed."""

    step: float  # weights are multiples of it
    least: float  # weights with a smaller sum of errors were dropped
    kept: int  # weights that are not 0
    bytes: int  # of the file

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return self._asdict()

    def __str__(self) -> str:
        dropped = f" (dropped: weights that moved by less than {self.least:.4g})" if self.least else ""
        return f"{self.bytes:,} bytes: {self.kept:,} weights are not 0, multiples of {self.step:.4g}{dropped}"


def write_packed(
    net: AnyNetwork,
    path: Path,
    *,
    size: int | None = None,
    notes: Mapping[str, str] | None = None,
    watch: Watcher = lambda _: None,
) -> Packing | None:
    """Write a packed file of at most `size` bytes beside `path`, and rename it into place.

    `notes` describe how the network was trained. Without a size, weights are rounded to `STEP`, and
    a network of few weights is written as version 1, without notes; then None is returned.
    """
    largest = _check_packable(net, path)
    # Fine enough for small values, and coarse enough for 16 bits.
    finest = max(min(STEP, largest / 1024), largest / MAX_LEVEL) or 1.0
    meaning = {name: getattr(net, name) for name in ("target", "gamma", "spawn4") if hasattr(net, name)}
    head: dict[str, Any] = {"format": FORMAT_1, "tuples": net.metadata["tuples"], "step": finest, **meaning}
    of_2048 = isinstance(net, Network)
    if not of_2048:
        head |= {"game": net.metadata["game"], "weights": len(net.weights)}
    if of_2048 and size is None and len(net.weights) <= MAX_WEIGHTS[FORMAT_1]:
        xz = lzma.LZMACompressor()
        with atomic_write(path) as file:
            file.write(xz.compress(json.dumps(head).encode() + b"\n"))
            for t in range(len(net.sizes)):
                file.write(xz.compress(_byte_planes(_levels(net, t, finest))))
            file.write(xz.flush())
        return None
    room = None if size is None else size - MAX_LINE - 1024  # for the tables, beside the first line's stream
    trial = None if room is not None and room <= 0 else _fit(net, finest, room, watch)
    if trial is None or (largest > 0 and trial.kept == 0):
        raise UserError(f"nothing of this network would be left in {size:,} bytes: allow a larger size")
    head |= {"format": FORMAT_3, "step": trial.step, "sizes": [*map(len, trial.tables)], "notes": dict(notes or {})}
    line = json.dumps(head).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise UserError("the notes on this network are too long for a packed file")
    with atomic_write(path) as file:
        file.write(b"".join([lzma.compress(line), *trial.tables]))
    return Packing(trial.step, trial.least, trial.kept, path.stat().st_size)


def _check_packable(net: AnyNetwork, path: Path) -> float:
    """Raise UserError if a packed file cannot hold a network; returns its largest absolute weight."""
    reasons = {f"has {len(net.weights):,} weights": len(net.weights) > MAX_WEIGHTS[FORMAT_3]}
    if isinstance(net, Network):
        longest = max(map(len, net.tuples))
        reasons |= {
            f"has {net.size[0]}x{net.size[1]} boards": net.size != (4, 4),
            "has stages": bool(net.stages),
            f"has tuples of {longest} cells": longest > MAX_CELLS,
        }
    why = next((reason for reason, holds in reasons.items() if holds), None)
    if why:
        raise UserError(
            f"a packed file holds networks of 4x4 boards, without stages, with tuples of at most {MAX_CELLS} cells "
            f"and {MAX_WEIGHTS[FORMAT_3]:,} weights in all. This network {why}: "
            f"write {path.with_suffix('.safetensors')} instead"
        )
    if not all(are_valid_weights(net.table(t)) for t in range(len(net.sizes))):
        raise UserError("the weights are no longer finite numbers")
    return max(float(np.abs(net.table(t)).max()) for t in range(len(net.sizes)))


def _levels(net: AnyNetwork, t: int, step: float, least: float = 0.0) -> Array:
    """A table's levels, int16; 0 for weights whose A (or, if unknown, absolute value) is below `least`."""
    levels, place = [], net.table_slice(t)
    for _, indices in net.file_order(t).parts():
        weights = net.weights[place][indices]
        if least:
            known = _knows_errors(net)
            learned = net.learner_memory(COHERENCE, 2)[place][indices, 1] if known else np.abs(weights)
            weights[learned < least] = 0
        levels.append(np.rint(weights / step).astype("<i2"))
    return np.concatenate(levels)


def _knows_errors(net: AnyNetwork) -> bool:
    """Whether TC's memory tells how much a weight was updated.

    With a high initial value, weights that were seldom updated are not near 0 and must be kept.
    """
    return net.has_learner_memory(COHERENCE) and net.initial == 0


def _byte_planes(numbers: Array) -> bytes:
    """16-bit numbers as all low bytes, then all high bytes, which compresses better."""
    return numbers.view(np.uint8).reshape(-1, 2).T.tobytes()


class _Trial(NamedTuple):
    """A network packed more or less coarsely."""

    coarseness: float  # 0: nothing is dropped; up to 1: more and more; above 1 the step grows, too
    step: float
    least: float
    kept: int
    tables: list[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.tables))


def _pack(net: AnyNetwork, finest: float, coarseness: float, watch: Watcher) -> _Trial:
    """Round and compress all tables."""
    step = float(np.float32(finest * max(coarseness, 1.0)))
    least = (_SELDOM if _knows_errors(net) else _SMALL) * finest * coarseness

    def pack(t: int) -> tuple[int, bytes]:
        levels = _levels(net, t, step, least)
        used = levels != 0
        some = levels[used].astype(np.int32)
        zigzag = ((some << 1) ^ (some >> 31)).astype("<u2")
        return len(some), lzma.compress(np.packbits(used, bitorder="little").tobytes() + _byte_planes(zigzag))

    tables, kept = [], 0
    with ThreadPoolExecutor(min(cores(), 4), "tuplet") as pool:
        for count, table in pool.map(pack, range(len(net.sizes))):
            tables.append(table)
            kept += count
            figures = {"rounded to": f"{step:.3g} points"}
            watch(Progress("tables packed", len(tables), len(net.sizes), figures=figures))
    return _Trial(coarseness, step, least, kept, tables)


def _fit(net: AnyNetwork, finest: float, room: int | None, watch: Watcher) -> _Trial | None:
    """The finest packing found that fits into `room` bytes; None if none does.

    On logarithmic scales, size against coarseness is nearly a straight line: the next trial is
    where the line through the nearest two trials, one too large and one that fits, meets the limit.
    """
    above, best, coarseness = _pack(net, finest, 0.0, watch), None, 1.0
    if room is None or above.size <= room:
        return above
    above, aim = above._replace(coarseness=1 / 64), _NEAR**0.5 * room
    for _ in range(_TRIALS):
        trial = _pack(net, finest, coarseness, watch)
        if trial.size > room:
            above = trial
        else:
            best = trial
            if trial.size >= _NEAR * room or trial.kept == 0:
                break
        if best is None:
            coarseness = above.coarseness * max(above.size / aim, 1.1) ** 1.5
            continue
        slope = log(best.coarseness / above.coarseness) / log(best.size / above.size)
        coarseness = above.coarseness * (aim / above.size) ** slope
        if not above.coarseness < coarseness < best.coarseness:
            coarseness = (above.coarseness * best.coarseness) ** 0.5
    return best


def read_packed(path: Path, game: Game | None = None) -> AnyNetwork:
    """The network in a packed file. Raises UserError if it is not valid.

    Unpacks no more than the tables of the tuples it names.
    """
    try:
        with path.open("rb") as file:
            return _read(file, path, game)
    except (lzma.LZMAError, EOFError, KeyError, TypeError, OverflowError, RecursionError, ValueError) as error:
        raise UserError(f"{path} is not a valid packed file: {error or 'cut off'}") from None


def packed_head(path: Path) -> dict[str, Any]:
    """The first line of a packed file; empty if it is not valid."""
    try:
        with path.open("rb") as file:
            head = json.loads(_Stream(file).line())
    except (OSError, lzma.LZMAError, ValueError, RecursionError):
        head = None
    return head if isinstance(head, dict) else {}


def packed_notes(path: Path) -> dict[str, str]:
    """How a packed player was trained, if its first line says so."""
    notes = packed_head(path).get("notes")
    return {k: str(v) for k, v in notes.items()} if isinstance(notes, dict) else {}


def _read(file: BinaryIO, path: Path, game: Game | None) -> AnyNetwork:
    stream = _Stream(file)
    head = json.loads(stream.line())
    if head["format"] == "tuplet-packed-2":
        raise UserError("it was packed by a development version of tuplet: convert the training run again")
    if head["format"] not in MAX_WEIGHTS:
        raise UserError("it is an xz file, but not one of tuplet's networks")
    of_2048 = "game" not in head
    for name in ("step", "gamma", *(("spawn4",) if of_2048 else ())):
        if not isinstance(head[name], int | float) or isinstance(head[name], bool):
            raise UserError(f"its {name} is not a number")
    step = np.float32(head["step"])
    if not 0 < step < 1e6:
        raise UserError(f"its step of {step} is not above 0 and below a million")
    net: AnyNetwork
    if of_2048 and game is None:
        tuples = str(head["tuples"]).split()
        longest = max(map(len, tuples), default=0)
        if longest > MAX_CELLS or sum(16 ** len(cells) for cells in tuples) > MAX_WEIGHTS[head["format"]]:
            raise UserError("its tuples are too long or too many for a packed file")
        net = Network(tuples, target=head["target"], gamma=head["gamma"], spawn4=head["spawn4"])
    else:
        of = find_game_of(str(head.get("game", "2048")), path, game)
        if not 0 < int(head["weights"]) <= MAX_WEIGHTS[FORMAT_3]:
            raise UserError("it has too many weights for a packed file")
        net = network_from(of, {name: str(head[name]) for name in ("tuples", "gamma", "weights")})
    if head["format"] == FORMAT_1:
        fill_cached(file, net.weights, lambda: _read_planes(file, stream, net, step))
    else:
        file.seek(-len(stream.finish()), os.SEEK_CUR)
        fill_cached(file, net.weights, lambda: _read_tables(file, net, step, head["sizes"]))
    return net


def _read_planes(file: BinaryIO, stream: _Stream, net: AnyNetwork, step: np.float32) -> None:
    """Read the tables of version 1."""
    for t, size in enumerate(net.sizes):
        net.table(t)[net.file_order(t).indices(np.arange(size))] = stream.numbers(size, "<i2") * step
    if stream.finish() or file.read(1):
        raise UserError("it goes on after its last table")


def _read_tables(file: BinaryIO, net: AnyNetwork, step: np.float32, sizes: Any) -> None:
    """Read the tables of version 3, in parallel."""
    if not isinstance(sizes, list) or len(sizes) != len(net.sizes):
        raise UserError("it does not have the size of each table")
    for size, weights in zip(sizes, net.sizes, strict=True):
        if type(size) is not int or not 0 < size <= 3 * weights + 1024:
            raise UserError(f"it has a table of {weights:,} weights in {size} bytes")
    left = os.fstat(file.fileno()).st_size - file.tell()
    if sum(sizes) != left:
        raise UserError("it ends too early" if sum(sizes) > left else "it goes on after its last table")

    def read(t: int, data: bytes) -> None:
        stream = _Stream(BytesIO(data))
        used = np.unpackbits(np.frombuffer(stream.exactly(-(-net.sizes[t] // 8)), np.uint8), bitorder="little")
        where = np.flatnonzero(used[: net.sizes[t]])
        zigzag = stream.numbers(len(where), "<u2").astype(np.int32)
        if stream.finish():
            raise UserError(f"table {t} ends before its {len(data):,} bytes")
        net.table(t)[net.file_order(t).indices(where)] = ((zigzag >> 1) ^ -(zigzag & 1)) * step

    with ThreadPoolExecutor(min(cores(), 4), "tuplet") as pool:
        list(pool.map(read, range(len(sizes)), [file.read(size) for size in sizes]))


class _Stream:
    """An xz stream that is unpacked only as far as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)
        self._rest = b""  # unpacked, but not read yet

    def read(self, count: int) -> bytes:
        """The next bytes, fewer where the stream ends."""
        parts, self._rest = [self._rest[:count]], self._rest[count:]
        count -= len(parts[0])
        while count > 0 and not self._xz.eof:
            packed = self._file.read(_CHUNK) if self._xz.needs_input else b""
            if self._xz.needs_input and not packed:
                break
            parts.append(self._xz.decompress(packed, count))
            count -= len(parts[-1])
        return b"".join(parts)

    def line(self) -> bytes:
        """The first line."""
        line, _, self._rest = self.read(MAX_LINE).partition(b"\n")
        return line

    def exactly(self, count: int) -> bytes:
        """The next bytes, all of them."""
        data = self.read(count)
        if len(data) < count:
            raise UserError("it ends too early")
        return data

    def numbers(self, count: int, dtype: str) -> Array:
        """16-bit numbers: all low bytes, then all high bytes."""
        planes = np.frombuffer(self.exactly(2 * count), np.uint8).reshape(2, -1)
        return planes.T.copy().view(dtype)[:, 0]

    def finish(self) -> bytes:
        """Check that the stream ends here, with its checksum; returns what was read beyond it."""
        if self.read(1):
            raise UserError("it goes on after its last table")
        if not self._xz.eof:
            raise UserError("it ends too early")
        return self._xz.unused_data
