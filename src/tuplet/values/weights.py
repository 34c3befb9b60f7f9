"""Weight files: safetensors files of the weights that learning has changed.

Table number t (a tuple's, counting on from stage to stage) has two arrays of one length: `t.where`
(uint32: the index in the table, the tuple's first cell in its lowest four bits, ascending) and
`t.weight` (float32). If a learner keeps k numbers for each weight, a third array `t.NAME` has k
times the length (TC: `t.coherence`, E and A of each weight). All other weights are `initial / m`;
in later stages they are NaN, and 0 for tuples added later (all but the first `born`, which m
counts). The header's text fields name the tuples and define what the values mean. `extra` arrays
may be added: a checkpoint keeps its unfinished block of games there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import as_size
from tuplet.games.game import Game
from tuplet.system.file_types import describe_file
from tuplet.system.files import atomic_write
from tuplet.system.tensors import is_written, write_header
from tuplet.system.worker_calls import file_digest
from tuplet.values.external_formats import detect_format, read_external
from tuplet.values.game_network import GameNetwork, find_game_of, network_from
from tuplet.values.network import Network, are_valid_weights, check_memory
from tuplet.values.packed import AnyNetwork, packed_head, packed_notes, read_packed
from tuplet.values.patterns import format_tuples, parse, parse_stages
from tuplet.values.players import find_player

Array = np.ndarray[Any, Any]

FORMAT = "tuplet-network-1"
WEIGHTS = "weights.safetensors"
MODEL, MODEL_CONFIG = "model.safetensors", "config.json"  # in a model folder: see learn/hub.py
MAX_STATE_FLOATS = 16  # numbers per weight that a file may hold of a learner
MAX_EXTRA_BYTES = 1 << 28  # of extra arrays: an unfinished block of games is far smaller
_STEP = 1 << 20  # weights read or written at a time


class WeightFile(NamedTuple):
    """The contents of a weight file."""

    network: Any  # a Network, or a GameNetwork for other games than 2048
    notes: dict[str, str]
    extra: dict[str, Array]


def save_weights(
    net: AnyNetwork, path: str | Path, notes: Mapping[str, str] | None = None, extra: Mapping[str, Array] | None = None
) -> Path:
    """Write a weight file beside `path` and rename it into place."""
    path = Path(path)
    metadata = {"format": FORMAT, **net.metadata, **(notes or {})}
    arrays: dict[str, tuple[str, int]] = {}
    counts = [_count(net, t) for t in range(len(net.sizes))]
    for t, count in enumerate(counts):
        arrays |= {f"{t}.where": ("u4", count), f"{t}.weight": ("f4", count)}
        if net.memory is not None:
            arrays[f"{t}.{net.memory.name}"] = ("f4", _floats(net) * count)
    # The widest items first, so that each array starts at a multiple of its item size.
    extra = dict(sorted((extra or {}).items(), key=lambda item: -item[1].itemsize))
    arrays |= {name: (array.dtype.str[1:], len(array)) for name, array in extra.items()}
    with atomic_write(path) as file:
        starts, end = write_header(file, metadata, arrays)
        for name, array in extra.items():
            file.seek(starts[name])
            file.write(np.ascontiguousarray(array).tobytes())
        for t, count in enumerate(counts):
            if count:
                _write_table(file, net, t, [start for name, start in starts.items() if name.startswith(f"{t}.")])
        file.truncate(end)
    return path


def _floats(net: AnyNetwork) -> int:
    """The numbers per weight in a learner's memory."""
    return 0 if net.memory is None else net.memory.values.shape[1]


def _memory(net: AnyNetwork, t: int) -> Array:
    """A learner's memory of one table's weights, float32[weights, k]; k is 0 if there is none."""
    return np.empty((net.sizes[t], 0), np.float32) if net.memory is None else net.memory.values[net.table_slice(t)]


def _changed(weights: Array, memory: Array, initial: np.float32) -> Array:
    """Which weights learning has changed."""
    changed = ~np.isnan(weights) if np.isnan(initial) else weights != initial
    for numbers in memory.T:
        changed |= numbers != 0
    return changed


def _count(net: AnyNetwork, t: int) -> int:
    """The number of weights of a table that a file holds."""
    table, memory, initial = net.table(t), _memory(net, t), net.initial_weight(t)
    steps = range(0, len(table), _STEP)
    return sum(int(_changed(table[i : i + _STEP], memory[i : i + _STEP], initial).sum()) for i in steps)


def _write_table(file: BinaryIO, net: AnyNetwork, t: int, starts: list[int]) -> None:
    table, memory, initial = net.table(t), _memory(net, t), net.initial_weight(t)
    for first, indices in net.file_order(t).parts():
        weights, numbers = table[indices], memory[indices]
        changed = _changed(weights, numbers, initial)
        weights, numbers = weights[changed], numbers[changed]
        if not (are_valid_weights(weights) and np.isfinite(numbers).all()):
            raise UserError("the weights are no longer finite numbers: learn with a smaller alpha")
        where = (first + np.flatnonzero(changed)).astype(np.uint32)
        for i, array in enumerate((where, weights, numbers)[: len(starts)]):
            file.seek(starts[i])
            file.write(array.tobytes())
            starts[i] += array.nbytes


def digest(path: str | Path) -> str:
    """A short digest of a weight file's bytes."""
    return file_digest(find_weights(path))


def find_weights(path: str | Path) -> Path:
    """The weight file that a path names: the file itself, the one in a run's or a model's folder,
    or a bundled player's.
    """
    path = find_player(path) or Path(path)
    if path.is_dir():
        name = next((n for n in (WEIGHTS, MODEL) if (path / n).is_file()), None)
        if name is None:
            raise FileNotFoundError(f"{path} holds no {WEIGHTS}: is it the folder of a training run or a model?")
        path = path / name
    if not path.is_file():
        raise FileNotFoundError(f"there is no run folder or weight file {path}")
    return path


def estimate_weights(path: str | Path) -> int:
    """About how many weights the network in a file has, judged by the file's header."""
    from safetensors import SafetensorError, safe_open

    path = find_weights(path)
    notes: Mapping[str, str] = {}
    with suppress(OSError, SafetensorError):
        if detect_format(path) == "tuplet":
            with safe_open(path, framework="numpy") as file:
                notes = file.metadata() or {}
        elif detect_format(path) == "packed":
            notes = packed_head(path)
    if str(notes.get("weights", "")).isdecimal():
        return int(notes["weights"])
    tuples, stages = str(notes.get("tuples", "")).split(), str(notes.get("stages", "")).split()
    listed = sum(16 ** len(cells) for cells in tuples[:64] if len(cells) < 9) << len(stages[:5])
    return listed or path.stat().st_size // 4


def load_game_network(path: str | Path, game: Game) -> GameNetwork:
    """The network of a run folder, a weight file or a bundled player that holds values of this game, for play."""
    network = read_weights(path, memory=False, game=game).network
    if not isinstance(network, GameNetwork):
        raise UserError(f"{path} holds values of 2048, not of {game.name}")
    return network


def read_weights(path: str | Path, *, memory: bool = True, game: Game | None = None) -> WeightFile:
    """Read a weight file, tuplet's or another program's.

    A file of values for another game than 2048 names that game; one of the user's own must have been loaded, or be
    passed as `game`. `memory=False` leaves out the learner's memory, which play does not need. Raises UserError if
    the file is not valid.
    """
    from safetensors import SafetensorError, safe_open

    path = find_weights(path)
    file_format = detect_format(path)
    if file_format is None:
        raise UserError(f"{path} is not a weight file tuplet recognises: it is {describe_file(path)}")
    if file_format == "packed":
        return WeightFile(read_packed(path, game), packed_notes(path), {})
    if file_format != "tuplet":
        return WeightFile(read_external(path, file_format), {}, {})
    try:
        with safe_open(path, framework="numpy") as file:
            return _read(file, path, memory, game)
    except SafetensorError as error:
        raise UserError(f"{path} is not a valid weight file: {error}") from None


def _read(file: Any, path: Path, with_memory: bool, game: Game | None) -> WeightFile:
    """Check all sizes, then make the network and read its tables."""
    notes: dict[str, str] = file.metadata() or {}
    if str(notes.get("format")).startswith("tuplet-solution"):
        raise UserError(f"{path} is a table of exact values: use it with tuplet analyze, or tuplet regret --table")
    if notes.get("format") != FORMAT:
        raise UserError(f"{path} is a safetensors file, but not one of tuplet's networks")

    def invalid(why: object) -> UserError:
        return UserError(f"{path} is not a valid weight file: {why}")

    make, text, count, numbers = _described(notes, path, game, invalid)

    arrays = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    names = {name[2:] for name in arrays if name.startswith("0.")} - {"where", "weight"}
    if len(names) > 1:
        raise invalid(f"more than one learner's memory: {', '.join(sorted(names))}")
    memory_name = next(iter(names), None)
    tables, floats = [], 0
    for t in range(count):
        parts = []
        for name, dtype in (("where", "U32"), ("weight", "F32"), (memory_name, "F32")):
            if name is None:
                continue
            part = arrays.pop(f"{t}.{name}", None)
            if part is None or part.get_dtype() != dtype or len(part.get_shape()) != 1:
                raise invalid(f"no {dtype} array {t}.{name}")
            parts.append(part)
        changed, *lengths = (part.get_shape()[0] for part in parts)
        if memory_name and changed:
            floats = floats or lengths[1] // changed
        if lengths != [changed, floats * changed][: len(lengths)]:
            raise invalid(f"the arrays of table {t} differ in length")
        tables.append((parts, changed))
    if floats > MAX_STATE_FLOATS:
        raise invalid(f"{floats} numbers of a learner for each weight (at most {MAX_STATE_FLOATS})")
    for name, part in arrays.items():
        if not is_written(part.get_dtype()) or len(part.get_shape()) != 1:
            raise invalid(f"tuplet writes no arrays such as {name}")
    if 8 * sum(part.get_shape()[0] for part in arrays.values()) > MAX_EXTRA_BYTES:
        raise invalid("its extra arrays are larger than an unfinished block of games")
    if not with_memory:
        floats = 0
    try:
        check_memory(text, numbers * (1 + floats))
        net = make()
    except ValueError as error:
        raise invalid(error) from None

    if memory_name and floats:
        net.learner_memory(memory_name, floats)
    for t, (parts, changed) in enumerate(tables):
        order, table, memory = net.file_order(t), net.table(t), _memory(net, t)
        for start in range(0, changed, _STEP):
            stop = min(start + _STEP, changed)
            where, weights = parts[0][start:stop], parts[1][start:stop]
            if int(where.max()) >= len(table):
                raise invalid(f"an index of table {t} is too large")
            indices = order.indices(where)
            table[indices] = weights
            if floats:
                memory[indices] = parts[2][floats * start : floats * stop].reshape(-1, floats)
            if not (are_valid_weights(weights) and np.isfinite(memory[indices]).all()):
                raise invalid("some weights are not finite numbers, or too large to be summed")
    return WeightFile(net, notes, {name: file.get_tensor(name) for name in arrays})


def _described(
    notes: dict[str, str], path: Path, game: Game | None, invalid: Callable[[object], UserError]
) -> tuple[Callable[[], AnyNetwork], str, int, int]:
    """What a file's metadata describe: a function that makes the network, its name, and its numbers of
    tables and weights.
    """
    if "game" in notes or game is not None:
        of = find_game_of(notes.pop("game", "2048"), path, game)
        try:
            empty = network_from(of, notes)
        except (KeyError, ValueError) as error:
            raise invalid(error) from None
        return (lambda: empty), empty.name, len(empty.sizes), len(empty.weights)
    try:
        size = as_size(notes.pop("board", "4x4"))
        tuples = parse(notes.pop("tuples"), size)
        stages = parse_stages(notes.pop("stages", ""))
        settings: dict[str, Any] = {"target": notes.pop("target")}
        settings |= {name: float(notes.pop(name)) for name in ("gamma", "spawn4", "initial")}
        settings["original_tuples"] = int(notes.pop("born", len(tuples)))
    except (KeyError, ValueError) as error:
        raise invalid(error) from None
    weights = sum(16 ** len(cells) for cells in tuples) << len(stages)
    text = format_tuples(tuples, size)
    return (lambda: Network(text, board=size, stages=stages, **settings)), text, len(tuples) << len(stages), weights
