"""Weight files: safetensors that hold the weights learning has touched.

For tuple number t there are two arrays of one length: `t.where` (uint32: the index in the
table, a tuple's first cell in its lowest four bits, ascending) and `t.weight` (float32). All
other weights are `initial / m`. The header's text fields say which tuples and what the values
mean; `extra` arrays ride along (a checkpoint keeps its unfinished block of games there).

Read with the safetensors library. Written here, table by table, because the library would
first copy everything: a checkpoint must not double the memory of a training run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tuplet.formats.files import replacing
from tuplet.formats.foreign import kind_of, read_foreign
from tuplet.values.network import Network, Target
from tuplet.values.patterns import Tuple, parse, spell, storage_order
from tuplet.values.tables import restore, storage, visited

Array = np.ndarray[Any, Any]

FORMAT = "tuplet-network-1"
WEIGHTS = "weights.safetensors"
_STEP = 1 << 20  # weights looked at, or written, at a time
_DTYPES = {"u4": "U32", "f4": "F32", "i8": "I64", "u1": "U8"}


class WeightFile(NamedTuple):
    """What a weight file holds besides the network."""

    network: Network
    notes: dict[str, str]
    extra: dict[str, Array]


def save_network(
    net: Network,
    path: str | Path,
    notes: Mapping[str, str] | None = None,
    extra: Mapping[str, Array] | None = None,
) -> Path:
    """Write a weight file beside `path` and rename it into place."""
    path = Path(path)
    metadata = {
        "format": FORMAT,
        "tuples": " ".join(spell(t) for t in net.tuples),
        "target": net.target,
        "gamma": repr(net.gamma),
        "spawn4": repr(net.spawn4),
        "initial": repr(net.initial),
        **(notes or {}),
    }
    header: dict[str, Any] = {"__metadata__": metadata}
    size = 0

    def declare(name: str, kind: str, count: int) -> int:
        nonlocal size
        start, size = size, size + count * int(kind[1])
        header[name] = {"dtype": _DTYPES[kind], "shape": [count], "data_offsets": [start, size]}
        return start

    spans = []
    for t in range(len(net.tuples)):
        count = _count(net.table(t), net.initial_weight)
        spans.append((declare(f"{t}.where", "u4", count), declare(f"{t}.weight", "f4", count)))

    # The widest first, so that each array begins at a multiple of its items' size.
    riders = sorted((extra or {}).items(), key=lambda rider: -rider[1].itemsize)
    extras = [(declare(name, a.dtype.str[1:], len(a)), a) for name, a in riders]

    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        base = file.tell()
        for start, array in extras:
            file.seek(base + start)
            file.write(np.ascontiguousarray(array).tobytes())
        for t, (where, weight) in enumerate(spans):
            if weight > where:  # else nothing was visited
                _write_table(file, net, t, base + where, base + weight)
        file.truncate(base + size)
    return path


def _count(table: Array, initial: np.float32) -> int:
    parts = (table[i : i + _STEP] for i in range(0, len(table), _STEP))
    return sum(int(np.count_nonzero(part != initial)) for part in parts)


def _write_table(file: BinaryIO, net: Network, t: int, where_at: int, weight_at: int) -> None:
    cells = net.tuples[t]
    place, gap = _file_order(cells)
    where, weight = np.empty(_STEP, np.uint32), np.empty(_STEP, np.float32)
    size = net.sizes[t]
    for start in range(0, size, _STEP):
        stop = min(start + _STEP, size)
        n = visited(
            net.table(t), net.initial_weight, place, gap,
            np.uint64(start), np.uint64(stop), where, weight,
        )  # fmt: skip
        if not np.isfinite(weight[:n]).all():
            raise ValueError("the weights are no longer finite numbers: learn with a smaller alpha")
        if n:
            file.seek(where_at)
            file.write(where[:n].tobytes())
            file.seek(weight_at)
            file.write(weight[:n].tobytes())
            where_at, weight_at = where_at + 4 * n, weight_at + 4 * n


def _file_order(cells: Tuple) -> tuple[np.uint64, np.uint64]:
    """Place and gap that lead from a file's index, read as a board, to the table's."""
    return storage(tuple(range(len(cells))), storage_order(cells))


def find_weights(path: str | Path) -> Path:
    """The weight file that a path names: itself, or the one in a run folder."""
    path = Path(path)
    if path.is_dir():
        if not (path / WEIGHTS).is_file():
            raise FileNotFoundError(
                f"{path} holds no {WEIGHTS}: is it the folder of a training run?"
            )
        path = path / WEIGHTS
    if not path.is_file():
        raise FileNotFoundError(f"there is no run folder or weight file {path}")
    return path


def load_network(path: str | Path) -> Network:
    """The network in a weight file or run folder."""
    return read_weights(path).network


def read_weights(path: str | Path) -> WeightFile:
    """Read a weight file whole, ours or another program's.

    Raises ValueError, with the reason, if it is not sound.
    """
    from safetensors import SafetensorError, safe_open

    path = find_weights(path)
    kind = kind_of(path)
    if kind is None:
        raise ValueError(f"{path} is not a sound weight file, of tuplet or another known program")
    if kind != "tuplet":
        return WeightFile(read_foreign(path, kind), {}, {})
    try:
        with safe_open(path, framework="numpy") as file:
            return _read(file, path)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a sound weight file: {error}") from None


def _read(file: Any, path: Path) -> WeightFile:
    notes: dict[str, str] = file.metadata() or {}
    if notes.get("format") != FORMAT:
        raise ValueError(f"{path} is a safetensors file, but not one of tuplet's networks")
    try:
        tuples = parse(notes.pop("tuples"))
        target: Target = notes.pop("target")  # type: ignore[assignment]  # Network checks it
        gamma, spawn4 = float(notes.pop("gamma")), float(notes.pop("spawn4"))
        initial = float(notes.pop("initial"))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a sound weight file: {error}") from None

    def unsound(why: str) -> ValueError:
        return ValueError(f"{path} is not a sound weight file: {why}")

    names = set(file.keys())
    spans = []
    for t in range(len(tuples)):
        pair = []
        for name, dtype in ((f"{t}.where", "U32"), (f"{t}.weight", "F32")):
            if name not in names or file.get_slice(name).get_dtype() != dtype:
                raise unsound(f"no {dtype} array {name}")
            pair.append(file.get_slice(name))
            names.remove(name)
        shape = pair[0].get_shape()
        if len(shape) != 1 or shape != pair[1].get_shape():
            raise unsound(f"the arrays of tuple {t} differ")
        spans.append((*pair, shape[0]))
    net = Network(
        [list(t) for t in tuples], initial=initial, target=target, gamma=gamma, spawn4=spawn4
    )
    for t, (wheres, weights, count) in enumerate(spans):
        for start in range(0, count, _STEP):
            stop = min(start + _STEP, count)
            where, weight = wheres[start:stop], weights[start:stop]
            if int(where.max()) >= net.sizes[t]:
                raise unsound(f"an index of tuple {t} is too large")
            if not np.isfinite(weight).all():
                raise unsound("some weights are not finite numbers")
            restore(net.table(t), *_file_order(net.tuples[t]), where, weight)
    return WeightFile(net, notes, {name: file.get_tensor(name) for name in names})
