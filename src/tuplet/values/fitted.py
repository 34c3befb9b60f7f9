"""Packed files of networks of any size, rounded as coarsely as a limit in bytes asks for.

Most weights of a network were seldom seen: where TC has learned, A, the sum of the sizes of all
errors, tells. Those are left out first, more and more of them, which costs less in play than to
round the others more (docs/weights.md); only then does the step grow, and both together.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.system.blocks import cores
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, Watcher
from tuplet.values.external_formats import COHERENCE
from tuplet.values.levels import MOST_LEVEL, encode, to_levels
from tuplet.values.packed import FORMAT_2, LINE, STEP, check_packable
from tuplet.values.parameters import Parameters
from tuplet.values.patterns import format_tuple
from tuplet.values.tables import table_order

Array = np.ndarray[Any, Any]

_SELDOM = 32.0  # steps: a weight whose errors have come to less, all in all, is left out first,
_SMALL = 1.0  # or, where nobody remembers them, one that is smaller
_TRIALS = 10  # steps looked at
_STEEP = 1.5  # a guess: for half the size, the step is so often doubled
_FINE = 1 / 64  # nearly all that there is, in logarithms
_NEAR = 0.99  # of the limit: large enough
_CONTAINER = 1 << 10  # bytes that xz adds, and one in 4,096


class Packing(NamedTuple):
    """How a network was packed."""

    step: float  # weights are multiples of it
    least: float  # what was learned less of was left out
    kept: int  # weights that are not 0
    bytes: int  # the file's

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return self._asdict()

    def __str__(self) -> str:
        less = f" (left out: what moved by less than {self.least:.4g})" if self.least else ""
        return f"{self.bytes:,} bytes: {self.kept:,} weights are not 0, multiples of {self.step:.4g}{less}"


class _Trial(NamedTuple):
    """A network, packed more or less coarsely."""

    coarse: float  # 0: all that it has; up to 1, more is left out; then it is rounded more, too
    step: float
    least: float
    kept: int
    tables: list[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.tables))


def write_fitted(
    net: Parameters,
    path: Path,
    *,
    size: int | None = None,
    notes: Mapping[str, str] | None = None,
    watch: Watcher = lambda _: None,
) -> Packing:
    """Write a packed file of version 2, of `size` bytes at most, beside `path`, and rename it.

    Without a size, weights are rounded as in version 1. `notes` say how it was made.
    """
    largest = check_packable(net, path)
    head = {
        "format": FORMAT_2,
        "tuples": " ".join(format_tuple(t) for t in net.tuples),
        "step": 0.0,
        "target": net.target,
        "gamma": net.gamma,
        "spawn4": net.spawn4,
        "sizes": [0] * len(net.tuples),
        "notes": dict(notes or {}),
    }
    finest = max(min(STEP, largest / 1024), largest / MOST_LEVEL) or 1.0
    room = None if size is None else size - LINE - _CONTAINER - size // 4096
    packed = None
    if room is None:
        packed = _pack(net, finest, 0.0, watch)
    elif room > 0:
        packed = _fit(net, finest, room, watch)
    if packed is None or (largest > 0 and packed.kept == 0):
        raise UserError(f"nothing of this network would be left in {size:,} bytes: allow for more")
    head |= {"step": packed.step, "sizes": [len(table) for table in packed.tables]}
    line = json.dumps(head).encode() + b"\n"
    if len(line) > LINE:
        raise UserError("what is to be said about this network is too long for a packed file")
    packer = lzma.LZMACompressor(preset=0)  # what is coded well cannot be packed again
    with atomic_write(path) as file:
        file.write(packer.compress(line))
        for table in packed.tables:
            file.write(packer.compress(table))
        file.write(packer.flush())
    return Packing(packed.step, packed.least, packed.kept, path.stat().st_size)


def _fit(net: Parameters, finest: float, room: int, watch: Watcher) -> _Trial | None:
    """The finest packing that was found to fit, or nearly so; None if none does.

    In logarithms, size against coarseness is nearly a straight line: the next is where the last
    two that enclose the limit say.
    """
    tried = _pack(net, finest, 0.0, watch)
    if tried.size <= room:
        return tried
    best, above, aim = None, tried._replace(coarse=_FINE), _NEAR**0.5 * room
    coarse = 1.0
    for _ in range(_TRIALS):
        tried = _pack(net, finest, coarse, watch)
        if tried.size > room:
            above = tried
        else:
            best = tried
            if tried.size >= _NEAR * room or tried.kept == 0:
                break
        if best is None:
            coarse = above.coarse * max(above.size / aim, 1.1) ** _STEEP
            continue
        slope = log(best.coarse / above.coarse) / log(best.size / above.size)
        coarse = above.coarse * (aim / above.size) ** slope
        if not above.coarse < coarse < best.coarse:  # the line is not that straight
            coarse = (above.coarse * best.coarse) ** 0.5
    return best


def _pack(net: Parameters, finest: float, coarse: float, watch: Watcher) -> _Trial:
    """All tables, rounded."""
    step = float(np.float32(finest * max(coarse, 1.0)))
    # Where values began high, what was seldom seen is not near 0.
    known = net.has_learner_memory(COHERENCE) and net.initial == 0
    least = (_SELDOM if known else _SMALL) * finest * coarse
    sums = net.learner_memory(COHERENCE, 2) if known else np.zeros((0, 2), np.float32)

    def pack(t: int) -> tuple[int, bytes]:
        levels = np.empty(net.sizes[t], np.int16)
        order = table_order(net.tuples[t])
        kept = to_levels(net.table(t), sums[net.span(t)].ravel(), *order, step, least, levels)
        return kept, encode(levels)

    parts = []
    with ThreadPoolExecutor(min(cores(), 4), "tuplet") as pool:
        for part in pool.map(pack, range(len(net.tuples))):
            parts.append(part)
            figures = {"rounded to": f"{step:.3g} points"}
            watch(Progress("tables packed", len(parts), len(net.tuples), figures=figures))
    return _Trial(coarse, step, least, sum(n for n, _ in parts), [data for _, data in parts])
