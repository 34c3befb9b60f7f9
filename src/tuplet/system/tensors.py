"""Safetensors files, written array by array.

The library would first copy everything, and a checkpoint must not double the memory of a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

DTYPES = {"u1": "U8", "u4": "U32", "u8": "U64", "i8": "I64", "f4": "F32", "f8": "F64"}


def is_written(dtype: str) -> bool:
    """True if tuplet writes arrays of this type."""
    return dtype in DTYPES.values()


def write_header(
    file: BinaryIO, metadata: Mapping[str, str], arrays: Mapping[str, tuple[str, int]]
) -> tuple[dict[str, int], int]:
    """Write the header for one-dimensional arrays, given each one's type ("f4") and length.

    Returns the file position of each array, and of the end of the file.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    starts, size = {}, 0
    for name, (kind, count) in arrays.items():
        starts[name], size = size, size + count * int(kind[1])
        offsets = [starts[name], size]
        header[name] = {"dtype": DTYPES[kind], "shape": [count], "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    base = file.tell()
    return {name: base + start for name, start in starts.items()}, base + size
