"""Files of exact values: safetensors with one-dimensional arrays, memory-mapped when they are opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.protocol import Array
from tuplet.system.files import atomic_write
from tuplet.system.tensors import DTYPES, write_header

Header = Mapping[str, Any]


def write_table(path: str | Path, notes: Mapping[str, str], arrays: Mapping[str, Array]) -> Path:
    """Write arrays beside `path` and rename the file into place."""
    path = Path(path)
    with atomic_write(path) as file:
        kinds = {name: (array.dtype.str[1:], len(array)) for name, array in arrays.items()}
        write_header(file, notes, kinds)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
    return path


def read_header(path: Path, form: str) -> Header | None:
    """The header of a table's file, checked by safetensors; None for a file of another format."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileNotFoundError(f"there is no table {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            notes = file.metadata() or {}
        if notes.get("format") != form:
            return None
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header: dict[str, Any] = json.loads(stream.read(length))
    except (SafetensorError, ValueError, RecursionError):
        return None
    return {**header, "__metadata__": notes, "__end__": 8 + length}


def map_arrays(path: Path, header: Header, kinds: Mapping[str, str]) -> dict[str, Array]:
    """The arrays of a file by name, memory-mapped; `kinds` are their types, as "<f8". UserError if one is missing."""
    arrays: dict[str, Array] = {}
    for name, kind in kinds.items():
        entry, dtype = header.get(name, {}), DTYPES[kind[1:]]
        if entry.get("dtype") != dtype or len(entry["shape"]) != 1:
            raise UserError(f"no {dtype} array {name}")
        if entry["shape"][0] < 1:
            raise UserError(f"{name} is empty")
        start = header["__end__"] + entry["data_offsets"][0]
        arrays[name] = np.memmap(path, kind, "r", start, tuple(entry["shape"]))
    return arrays
