"""Weight files: safetensors that hold the weights learning has touched.

For table number t (a tuple's, counting on from stage to stage) there are two arrays of one
length: `t.where` (uint32: the index in the table, a tuple's first cell in its lowest four bits,
ascending) and `t.weight` (float32); where TC has learned, a third, `t.coherence`, has twice the
length: E and A of each weight. All other weights are `initial / m` (in later stages: not read
yet). The header's text fields say which tuples and what the values mean; `extra` arrays ride
along (a checkpoint keeps its unfinished block of games there).

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
from tuplet.formats.packed import read_packed
from tuplet.values.network import Network, Target, as_stages
from tuplet.values.patterns import Tuple, as_size, parse, spell, storage_order
from tuplet.values.tables import restore, storage, visited

Array = np.ndarray[Any, Any]

FORMAT = "tuplet-network-1"
WEIGHTS = "weights.safetensors"
PLAYERS = Path(__file__).parent.parent / "players"  # shipped with the package, packed
SHIPPED = "small"  # the one to take where none is named: `make player` trains it
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
        "board": "x".join(str(n) for n in net.size),
        "tuples": " ".join(spell(t, net.size) for t in net.tuples),
        "stages": " ".join(str(tile) for tile in net.stages),
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
    for t in range(len(net.sizes)):
        count = _count(net, t)
        span = [declare(f"{t}.where", "u4", count), declare(f"{t}.weight", "f4", count)]
        if net.coherence is not None:
            span.append(declare(f"{t}.coherence", "f4", 2 * count))
        spans.append(span)

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
        for t, span in enumerate(spans):
            if span[1] > span[0]:  # else nothing was visited
                _write_table(file, net, t, [base + start for start in span])
        file.truncate(base + size)
    return path


def _initial(net: Network, t: int) -> np.float32:
    """What the weights of a table are before they are learned, or read by a later stage."""
    return net.initial_weight if t < len(net.tuples) else np.float32(np.nan)


def _memory(net: Network, t: int) -> Array:
    """What TC remembers of a table, E and A in turns; empty without TC."""
    return np.zeros(0, np.float32) if net.coherence is None else net.coherence[net.span(t)].ravel()


def _count(net: Network, t: int) -> int:
    """How many weights of a table are written."""
    table, memory, initial = net.table(t), _memory(net, t), _initial(net, t)
    count = 0
    for i in range(0, len(table), _STEP):
        part = table[i : i + _STEP]
        learned = ~np.isnan(part) if np.isnan(initial) else part != initial
        if len(memory):
            learned |= memory[2 * i + 1 : 2 * (i + _STEP) : 2] != 0
        count += int(np.count_nonzero(learned))
    return count


def _write_table(file: BinaryIO, net: Network, t: int, starts: list[int]) -> None:
    place, gap = _table_order(net.tuples[t % len(net.tuples)])
    parts = [
        np.empty(_STEP, np.uint32),
        np.empty(_STEP, np.float32),
        np.empty(2 * _STEP, np.float32),
    ]
    size = net.sizes[t]
    for start in range(0, size, _STEP):
        stop = min(start + _STEP, size)
        n = visited(
            net.table(t), _memory(net, t), _initial(net, t), place, gap,
            np.uint64(start), np.uint64(stop), *parts,
        )  # fmt: skip
        written = [parts[0][:n], parts[1][:n], parts[2][: 2 * n]]
        if not all(np.isfinite(part).all() for part in written[1:]):
            raise ValueError("the weights are no longer finite numbers: learn with a smaller alpha")
        for i, at in enumerate(starts):
            file.seek(at)
            file.write(written[i].tobytes())
            starts[i] += written[i].nbytes


def _table_order(cells: Tuple) -> tuple[np.uint64, np.uint64]:
    """Place and gap that lead from a file's index, read as a board, to the table's."""
    return storage(tuple(range(len(cells))), storage_order(cells))


def find_weights(path: str | Path) -> Path:
    """The weight file that a path names: itself, the one in a run folder, or a shipped player's."""
    path = Path(path)
    shipped = PLAYERS / f"{path}.xz"
    if path.name == str(path) and shipped.is_file() and not path.exists():
        return shipped
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
    if kind == "packed":
        return WeightFile(read_packed(path), {}, {})
    if kind != "tuplet":
        return WeightFile(read_foreign(path, kind), {}, {})
    try:
        with safe_open(path, framework="numpy") as file:
            return _read(file, path)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a sound weight file: {error}") from None


def _read(file: Any, path: Path) -> WeightFile:
    notes: dict[str, str] = file.metadata() or {}
    if str(notes.get("format")).startswith("tuplet-solution"):
        raise ValueError(
            f"{path} is a table of exact values: it is for tuplet analyze, or tuplet regret --table"
        )
    if notes.get("format") != FORMAT:
        raise ValueError(f"{path} is a safetensors file, but not one of tuplet's networks")
    try:
        size = as_size(notes.pop("board", "4x4"))
        tuples = parse(notes.pop("tuples"), size)
        stages = as_stages(notes.pop("stages", ""))
        target: Target = notes.pop("target")  # type: ignore[assignment]  # Network checks it
        gamma, spawn4 = float(notes.pop("gamma")), float(notes.pop("spawn4"))
        initial = float(notes.pop("initial"))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a sound weight file: {error}") from None

    def unsound(why: str) -> ValueError:
        return ValueError(f"{path} is not a sound weight file: {why}")

    names = set(file.keys())
    coherent = "0.coherence" in names
    spans = []
    for t in range(len(tuples) * 2 ** len(stages)):
        parts = []
        kinds = [(f"{t}.where", "U32"), (f"{t}.weight", "F32"), (f"{t}.coherence", "F32")]
        for name, dtype in kinds if coherent else kinds[:2]:
            if name not in names or file.get_slice(name).get_dtype() != dtype:
                raise unsound(f"no {dtype} array {name}")
            parts.append(file.get_slice(name))
            names.remove(name)
        count, *others = (part.get_shape() for part in parts)
        if len(count) != 1 or others != [count, [2 * count[0]]][: len(others)]:
            raise unsound(f"the arrays of table {t} differ")
        spans.append((parts, count[0]))
    net = Network(
        " ".join(spell(t, size) for t in tuples), board=size, stages=stages, initial=initial,
        target=target, gamma=gamma, spawn4=spawn4,
    )  # fmt: skip
    if coherent:
        net.remember_updates()
    nothing = np.zeros(0, np.float32)
    for t, (parts, count) in enumerate(spans):
        for start in range(0, count, _STEP):
            stop = min(start + _STEP, count)
            where, weight = parts[0][start:stop], parts[1][start:stop]
            coherence = parts[2][2 * start : 2 * stop] if coherent else nothing
            if int(where.max()) >= net.sizes[t]:
                raise unsound(f"an index of table {t} is too large")
            if not (np.isfinite(weight).all() and np.isfinite(coherence).all()):
                raise unsound("some weights are not finite numbers")
            order = _table_order(net.tuples[t % len(tuples)])
            restore(net.table(t), _memory(net, t), *order, where, weight, coherence)
    return WeightFile(net, notes, {name: file.get_tensor(name) for name in names})
