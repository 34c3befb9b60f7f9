"""Some kernels to compile for WebAssembly, of each kind of argument and result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.kernel import draw, inlined, kernel, now, popcount, stream
from tuplet.kernel.wasm import Exports

Array = np.ndarray[Any, Any]


class Scale(NamedTuple):
    """A table, and how it is read."""

    table: Array  # float32[rows, columns]
    factor: np.float32
    reverse: bool


@inlined
def _entry(scale: Scale, row: int, column: int) -> np.float32:
    return scale.table[row, -1 - column if scale.reverse else column] * scale.factor


@kernel
def row_sum(scale: Scale, row: int, out: Array) -> tuple[np.float32, tuple[np.uint64, bool]]:
    """The sum of a row, whose entries are written to `out`; how many are above 0, and whether all are."""
    total, above = np.float32(0), np.uint64(0)
    for column in range(scale.table.shape[1]):
        out[column] = _entry(scale, row, column)
        total += out[column]
        above += np.uint64(out[column] > np.float32(0))
    return total, (above, above == np.uint64(scale.table.shape[1]))


@kernel
def refuse(number: int) -> int:
    """An exception for negative numbers."""
    if number < 0:
        raise ValueError("negative")
    return number + 1


@kernel
def ones(bits: np.uint64) -> np.uint64:
    """The one bits, and 1 if time goes by."""
    return popcount(bits) + np.uint64(now() > 0.0)


def exports() -> Exports:
    """What is compiled."""
    scale = Scale(np.zeros((2, 3), np.float32), np.float32(1), True)
    return {
        "stream": (stream, (np.uint64(0), np.uint64(0))),
        "draw": (draw, (np.uint64(0),)),
        "row_sum": (row_sum, (scale, 0, np.zeros(3, np.float32))),
        "refuse": (refuse, (0,)),
        "ones": (ones, (np.uint64(0),)),
    }
