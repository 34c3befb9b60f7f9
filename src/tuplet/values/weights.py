"""Weight files: safetensors that hold the weights learning has touched.

For table number t (a tuple's, counting on from stage to stage) there are two arrays of one
length: `t.where` (uint32: the index in the table, a tuple's first cell in its lowest four bits,
ascending) and `t.weight` (float32); where a learner remembers k numbers of each weight, a third,
`t.NAME`, has k times the length (TC: `t.coherence`, E and A of each weight). All other weights are
`initial / m` (in later stages: not read yet; 0 for tuples that joined later: all but the first
`original_tuples`, which m counts). The header's text fields say which tuples and what the values mean; `extra`
arrays ride along (a checkpoint keeps its unfinished block of games there).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.kernel import kernel
from tuplet.system.file_types import describe_file
from tuplet.system.files import atomic_write
from tuplet.system.tensors import is_written, write_header
from tuplet.system.worker_calls import file_digest
from tuplet.values.external_formats import detect_format, read_external
from tuplet.values.layout import index_of
from tuplet.values.packed import packed_head, packed_notes, read_packed
from tuplet.values.parameters import Parameters, Target, are_valid_weights, check_memory, parse_stages
from tuplet.values.patterns import format_tuple, parse
from tuplet.values.players import find_player
from tuplet.values.tables import table_order

Array = np.ndarray[Any, Any]

FORMAT = "tuplet-network-1"
WEIGHTS = "weights.safetensors"
MODEL, MODEL_CONFIG = "model.safetensors", "config.json"  # of a model folder: learn/hub.py
MAX_STATE_FLOATS = 16  # numbers that a file may say a learner remembers of each weight
MAX_EXTRA_BYTES = 1 << 28  # bytes that may ride along: the unfinished block of games is far below
_STEP = 1 << 20  # weights looked at, or written, at a time


class WeightFile(NamedTuple):
    """What a weight file holds."""

    parameters: Parameters
    notes: dict[str, str]
    extra: dict[str, Array]


def save_weights(
    net: Parameters, path: str | Path, notes: Mapping[str, str] | None = None, extra: Mapping[str, Array] | None = None
) -> Path:
    """Write a weight file beside `path` and rename it into place."""
    path = Path(path)
    metadata = {
        "format": FORMAT,
        "board": "x".join(str(n) for n in net.size),
        "tuples": " ".join(format_tuple(t, net.size) for t in net.tuples),
        "stages": " ".join(str(tile) for tile in net.stages),
        "target": net.target,
        "gamma": repr(net.gamma),
        "spawn4": repr(net.spawn4),
        "initial": repr(net.initial),
        **({"born": str(net.original_tuples)} if net.original_tuples < len(net.tuples) else {}),
        **(notes or {}),
    }
    arrays: dict[str, tuple[str, int]] = {}
    counts = [_count(net, t) for t in range(len(net.sizes))]
    for t, count in enumerate(counts):
        arrays |= {f"{t}.where": ("u4", count), f"{t}.weight": ("f4", count)}
        if net.memory is not None:
            arrays[f"{t}.{net.memory.name}"] = ("f4", _floats(net) * count)
    # The widest first, so that each array begins at a multiple of its items' size.
    riders = dict(sorted((extra or {}).items(), key=lambda rider: -rider[1].itemsize))
    arrays |= {name: (array.dtype.str[1:], len(array)) for name, array in riders.items()}
    with atomic_write(path) as file:
        starts, end = write_header(file, metadata, arrays)
        for name, array in riders.items():
            file.seek(starts[name])
            file.write(np.ascontiguousarray(array).tobytes())
        for t, count in enumerate(counts):
            if count:
                own = [start for name, start in starts.items() if name.startswith(f"{t}.")]
                _write_table(file, net, t, own)
        file.truncate(end)
    return path


def _floats(net: Parameters) -> int:
    """How many numbers a learner remembers of each weight."""
    return 0 if net.memory is None else net.memory.values.shape[1]


def _memory(net: Parameters, t: int) -> Array:
    """What a learner remembers of a table's weights, one after another; empty without one."""
    if net.memory is None:
        return np.zeros(0, np.float32)
    return net.memory.values[net.span(t)].ravel()


def _count(net: Parameters, t: int) -> int:
    """How many weights of a table are written."""
    table, memory, initial, floats = net.table(t), _memory(net, t), net.initial_weight(t), _floats(net)
    count = 0
    for i in range(0, len(table), _STEP):
        part = table[i : i + _STEP]
        learned = ~np.isnan(part) if np.isnan(initial) else part != initial
        for k in range(floats):
            learned |= memory[floats * i + k : floats * (i + _STEP) : floats] != 0
        count += int(np.count_nonzero(learned))
    return count


def _write_table(file: BinaryIO, net: Parameters, t: int, starts: list[int]) -> None:
    place, gap = table_order(net.tuples[t % len(net.tuples)])
    floats, size = _floats(net), net.sizes[t]
    parts = [np.empty(_STEP, np.uint32), np.empty(_STEP, np.float32), np.empty(floats * _STEP, np.float32)]
    for start in range(0, size, _STEP):
        stop = min(start + _STEP, size)
        n = visited(
            net.table(t),
            _memory(net, t),
            floats,
            net.initial_weight(t),
            place,
            gap,
            np.uint64(start),
            np.uint64(stop),
            *parts,
        )
        written = [parts[0][:n], parts[1][:n], parts[2][: floats * n]]
        if not (are_valid_weights(written[1]) and np.isfinite(written[2]).all()):
            raise UserError("the weights are no longer finite numbers: learn with a smaller alpha")
        for i, at in enumerate(starts):
            file.seek(at)
            file.write(written[i].tobytes())
            starts[i] += written[i].nbytes


@kernel
def visited(
    table: Array,
    memory: Array,
    floats: int,
    initial: np.float32,
    place: np.uint64,
    gap: np.uint64,
    start: np.uint64,
    stop: np.uint64,
    where: Array,
    weight: Array,
    remembered: Array,
) -> int:
    """List the weights that differ from their initial value, in the order of files.

    A file's index has a tuple's first cell in its lowest four bits; looks at those from
    `start` to `stop`. Returns how many were written to `where` and `weight`; of each, so many
    `floats` of `memory` are written to `remembered`.
    """
    n, nothing = 0, np.float32(0)
    for i in range(start, stop):
        at = index_of(np.uint64(i), place, gap)
        w = table[at]
        listed = w != initial and not (np.isnan(w) and np.isnan(initial))
        for k in range(floats):
            listed = listed or memory[floats * at + k] != nothing
        if listed:
            where[n], weight[n] = i, w
            for k in range(floats):
                remembered[floats * n + k] = memory[floats * at + k]
            n += 1
    return n


@kernel
def restore(
    table: Array,
    memory: Array,
    floats: int,
    place: np.uint64,
    gap: np.uint64,
    where: Array,
    weight: Array,
    remembered: Array,
) -> None:
    """Undo `visited`: write listed weights to their places in the table."""
    for i in range(where.shape[0]):
        at = index_of(np.uint64(where[i]), place, gap)
        table[at] = weight[i]
        for k in range(floats):
            memory[floats * at + k] = remembered[floats * i + k]


def digest(path: str | Path) -> str:
    """A weight file's content as a short text: the same for the same bytes."""
    return file_digest(find_weights(path))


def find_weights(path: str | Path) -> Path:
    """The weight file that a path names: itself, the one in a run's or a model's folder, or a
    shipped player's.
    """
    path = find_player(path) or Path(path)
    if path.is_dir():
        held = next((n for n in (WEIGHTS, MODEL) if (path / n).is_file()), None)
        if held is None:
            raise FileNotFoundError(f"{path} holds no {WEIGHTS}: is it the folder of a training run or a model?")
        path = path / held
    if not path.is_file():
        raise FileNotFoundError(f"there is no run folder or weight file {path}")
    return path


def estimate_weights(path: str | Path) -> int:
    """How many weights reading a file would make, as far as its first bytes tell; an estimate."""
    from safetensors import SafetensorError, safe_open

    path = find_weights(path)
    notes: Mapping[str, str] = {}
    with suppress(OSError, SafetensorError):
        if detect_format(path) == "tuplet":
            with safe_open(path, framework="numpy") as file:
                notes = file.metadata() or {}
        elif detect_format(path) == "packed":
            notes = packed_head(path)
    tuples, stages = str(notes.get("tuples", "")).split(), str(notes.get("stages", "")).split()
    listed = sum(16 ** len(cells) for cells in tuples[:64] if len(cells) < 9) << len(stages[:5])
    return listed or path.stat().st_size // 4


def read_weights(path: str | Path, *, memory: bool = True) -> WeightFile:
    """Read a weight file whole, ours or another program's.

    `memory=False` leaves out what a learner remembers, which who only plays does not need. Raises
    ValueError, with the reason, if it is not sound.
    """
    from safetensors import SafetensorError, safe_open

    path = find_weights(path)
    kind = detect_format(path)
    if kind is None:
        raise UserError(f"{path} is not a weight file tuplet recognises: it is {describe_file(path)}")
    if kind == "packed":
        return WeightFile(read_packed(path), packed_notes(path), {})
    if kind != "tuplet":
        return WeightFile(read_external(path, kind), {}, {})
    try:
        with safe_open(path, framework="numpy") as file:
            return _read(file, path, memory)
    except SafetensorError as error:
        raise UserError(f"{path} is not a sound weight file: {error}") from None


def _read(file: Any, path: Path, with_memory: bool) -> WeightFile:
    notes: dict[str, str] = file.metadata() or {}
    if str(notes.get("format")).startswith("tuplet-solution"):
        raise UserError(f"{path} is a table of exact values: it is for tuplet analyze, or tuplet regret --table")
    if notes.get("format") != FORMAT:
        raise UserError(f"{path} is a safetensors file, but not one of tuplet's networks")

    def unsound(why: object) -> ValueError:
        return UserError(f"{path} is not a sound weight file: {why}")

    try:
        size = as_size(notes.pop("board", "4x4"))
        tuples = parse(notes.pop("tuples"), size)
        stages = parse_stages(notes.pop("stages", ""))
        target: Target = notes.pop("target")  # type: ignore[assignment]  # checked below
        gamma, spawn4 = float(notes.pop("gamma")), float(notes.pop("spawn4"))
        initial = float(notes.pop("initial"))
        original_tuples = int(notes.pop("born", len(tuples)))
    except (KeyError, ValueError) as error:
        raise unsound(error) from None

    names = set(file.keys())
    remembered = {n[2:] for n in names if n.startswith("0.")} - {"where", "weight"}
    if len(remembered) > 1:
        raise unsound(f"more than one learner's memory: {', '.join(sorted(remembered))}")
    memory = next(iter(remembered), None)
    spans, floats = [], 0
    for t in range(len(tuples) * 2 ** len(stages)):
        parts = []
        kinds = [(f"{t}.where", "U32"), (f"{t}.weight", "F32"), (f"{t}.{memory}", "F32")]
        for name, dtype in kinds if memory else kinds[:2]:
            if name not in names or file.get_slice(name).get_dtype() != dtype:
                raise unsound(f"no {dtype} array {name}")
            parts.append(file.get_slice(name))
            names.remove(name)
        count, *others = (part.get_shape() for part in parts)
        if memory and len(count) == 1 and count[0]:
            floats = floats or sum(others[-1]) // count[0]
        wanted = [count, [floats * count[0]] if count else None]
        if len(count) != 1 or others != wanted[: len(others)]:
            raise unsound(f"the arrays of table {t} differ")
        spans.append((parts, count[0]))
    if memory and not floats:
        floats, memory = 0, None  # nothing was learned yet
    if floats > MAX_STATE_FLOATS:
        raise unsound(f"{floats} numbers are remembered of each weight")
    if not with_memory:
        floats, memory = 0, None
    for name in names:
        extra = file.get_slice(name)
        if not is_written(extra.get_dtype()) or len(extra.get_shape()) != 1:
            raise unsound(f"{name} is an array of a kind that tuplet does not write")
    if sum(file.get_slice(name).get_shape()[0] for name in names) * 8 > MAX_EXTRA_BYTES:
        raise unsound("more rides along than an unfinished block of games")
    weights = sum(16 ** len(cells) for cells in tuples) << len(stages)
    try:
        check_memory(" ".join(format_tuple(t, size) for t in tuples), weights * (1 + floats))
        net = Parameters(
            " ".join(format_tuple(t, size) for t in tuples),
            board=size,
            stages=stages,
            initial=initial,
            target=target,
            gamma=gamma,
            spawn4=spawn4,
            original_tuples=original_tuples,
        )
    except ValueError as error:
        raise unsound(error) from None
    if memory:
        net.learner_memory(memory, floats)
    nothing = np.zeros(0, np.float32)
    for t, (parts, count) in enumerate(spans):
        for start in range(0, count, _STEP):
            stop = min(start + _STEP, count)
            where, weight = parts[0][start:stop], parts[1][start:stop]
            own = parts[2][floats * start : floats * stop] if memory else nothing
            if int(where.max()) >= net.sizes[t]:
                raise unsound(f"an index of table {t} is too large")
            if not (are_valid_weights(weight) and np.isfinite(own).all()):
                raise unsound("some weights are not finite numbers, or too large to be summed")
            order = table_order(net.tuples[t % len(tuples)])
            restore(net.table(t), _memory(net, t), floats, *order, where, weight, own)
    return WeightFile(net, notes, {name: file.get_tensor(name) for name in names})
