"""Weight files of other programs: TDL2048-Demo, TDL2048+ and the 2048-Framework.

All are little-endian, hold whole tables, and have a tuple's first cell in the lowest four bits
of an index. They know 4x4 boards, one stage, and values of after-states.

demo       u64 tables; each: i32 length of the name, the name ("4-tuple pattern 0123"),
           u64 length, f32 weights
tdl2048    u8 0, u32 tables; each: u8 4, u32 the cells read as a hexadecimal number, u16 how many
           digits, u16 0, u16 bytes of a weight (2, 4 or 8), u64 length, weights; then u16 0, or
           TC's sums: u16 4, u64 twice the length, every E, every A, u16 0. (It divides by A
           without a look: sums that are still zero are the smallest float instead.)
framework  u32 tables (u64 in the edition of 2017, and in Python's); each: u64 length, f32 weights.
           No names, and the order of cells in an index is the author's own.

A file is first walked through, and its lengths held against its size; only then is anything
allocated. Tables are read and written a part at a time.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, Watcher
from tuplet.values.layout import index_of
from tuplet.values.parameters import Parameters, are_valid_weights
from tuplet.values.patterns import NETWORKS, Tuple, format_tuple, parse, storage_order
from tuplet.values.tables import storage, table_starts

Array = np.ndarray[Any, Any]
Kind = Literal["demo", "tdl2048", "framework", "framework-2017"]
FirstCell = Literal["low", "high"]  # a tuple's first cell: the lowest or the highest bits of an index

_PART_BITS = 18  # of an index: weights read or written at a time
_LENGTHS = [16**n for n in range(1, 9)]
_MOST_TABLES = 1 << 16  # more than there are different tuples
COHERENCE = "coherence"  # what TC remembers of each weight: E and A
_NO_SUM = np.finfo(np.float32).tiny  # TDL2048+'s E and A of a weight that was never updated


class FileTable(NamedTuple):
    """Where in a file one tuple's table stands."""

    cells: str  # "" where the file does not say
    length: int
    weights: int  # where they start
    width: int = 4  # bytes of a weight
    coherence: int = 0  # where TC's sums start, every E before every A; 0: there are none
    coherence_width: int = 4


class _Reader:
    """Takes numbers from a file and steps over its arrays; ValueError where it ends too early."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def bytes(self, count: int) -> bytes:
        """The next bytes."""
        self._check(count)
        return self.file.read(count)

    def numbers(self, layout: str) -> tuple[int, ...]:
        """The next numbers, laid out as `struct` writes it."""
        return struct.unpack("<" + layout, self.bytes(struct.calcsize("<" + layout)))

    def step_over(self, count: int, width: int) -> int:
        """Where an array starts that ends here now."""
        self._check(count * width)
        start = self.file.tell()
        self.file.seek(count * width, os.SEEK_CUR)
        return start

    def count(self, layout: str) -> range:
        """To be repeated for each table."""
        (count,) = self.numbers(layout)
        if not 1 <= count <= _MOST_TABLES:
            raise UserError(f"it cannot hold {count} tables")
        return range(count)

    def _check(self, count: int) -> None:
        if not 0 <= count <= self.size - self.file.tell():
            raise UserError("it ends too early")


def _demo_tables(reader: _Reader) -> Iterator[FileTable]:
    for _ in reader.count("Q"):
        (length,) = reader.numbers("i")
        name = reader.bytes(length if length <= 64 else -1).decode("ascii", "replace")
        match = re.fullmatch(r"\d+-tuple pattern ([0-9a-f]+)", name)
        if not match:
            raise UserError(f"it has a feature {name!r}, which is not a tuple")
        (length,) = reader.numbers("Q")
        yield FileTable(match[1], length, reader.step_over(length, 4))


def _tdl2048_tables(reader: _Reader) -> Iterator[FileTable]:
    reader.numbers("B")
    for _ in reader.count("I"):
        code, number, digits, text, width, length = reader.numbers("BIHHHQ")
        if code != 4 or text or not 1 <= digits <= 8:
            raise UserError("it has a table whose name is not a tuple")
        _check_width(width)
        weights = reader.step_over(length, width)
        coherence, coherence_width = 0, reader.numbers("H")[0]
        if coherence_width:
            _check_width(coherence_width)
            (count,) = reader.numbers("Q")
            coherence = reader.step_over(count, coherence_width)
            if count != 2 * length or reader.numbers("H") != (0,):
                raise UserError("it has fields that are not TC's sums")
        yield FileTable(f"{number:0{digits}x}", length, weights, width, coherence, coherence_width)


def _check_width(width: int) -> None:
    if width not in (2, 4, 8):
        raise UserError(f"a weight has 2, 4 or 8 bytes, not {width}")


def _framework_tables(reader: _Reader, counted: str = "I") -> Iterator[FileTable]:
    for _ in reader.count(counted):
        (length,) = reader.numbers("Q")
        yield FileTable("", length, reader.step_over(length, 4))


_TABLES: dict[Kind, Callable[[_Reader], Iterator[FileTable]]] = {
    "demo": _demo_tables,
    "tdl2048": _tdl2048_tables,
    "framework": _framework_tables,
    "framework-2017": lambda reader: _framework_tables(reader, "Q"),
}


def detect_format(path: Path) -> Kind | Literal["tuplet", "packed"] | None:
    """Which program wrote a weight file, by how it begins; None if none that is known."""
    with path.open("rb") as file:
        head = file.read(32)
        size = os.fstat(file.fileno()).st_size

    def number(start: int, stop: int) -> int:
        return int.from_bytes(head[start:stop], "little")

    if head[8:9] == b"{":
        return "tuplet"
    if head.startswith(b"\xfd7zXZ\0"):
        return "packed"
    if head[13:27] == b"-tuple pattern":
        return "demo"
    if head[:1] == b"\0" and 0 < number(1, 5) <= _MOST_TABLES and head[5:6] == b"\4":
        return "tdl2048"
    starts: tuple[tuple[Kind, int], ...] = (("framework", 4), ("framework-2017", 8))
    for fits in (lambda n: n in _LENGTHS, lambda n: 16 <= n <= size // 4):
        for kind, at in starts:
            if 0 < number(0, at) <= _MOST_TABLES and fits(number(at, at + 8)):
                return kind
    return None


def read_external(
    path: Path, kind: Kind, *, net: str = "", first: FirstCell = "low", watch: Watcher = lambda _: None
) -> Parameters:
    """The network in another program's file. Raises ValueError, with the reason, if unsound.

    A Framework file does not say which tuples it has: that named network whose tables have the
    same sizes, unless `net` says otherwise, and `first` where their first cell stands.
    """

    def unsound(why: object) -> ValueError:
        return UserError(f"{path} is not a sound {kind} file: {why}")

    with path.open("rb") as file:
        try:
            reader = _Reader(file)
            tables = list(_TABLES[kind](reader))
            if file.tell() < reader.size:
                raise UserError("it goes on after its last table")
            if len({table.coherence > 0 for table in tables}) > 1:
                raise UserError("only some of its tables have TC's sums")
            names = [table.cells for table in tables]
            tuples = parse(names) if all(names) else None
        except ValueError as error:
            raise unsound(error) from None
        lengths = [table.length for table in tables]
        if tuples is None:
            tuples = _tuples_of(path, lengths, net)
        elif net:
            raise UserError(f"{path} says itself which tuples it has: leave --net out")
        if lengths != [16 ** len(cells) for cells in tuples]:
            raise unsound("a table's length does not fit its tuple")

        network = Parameters([format_tuple(cells) for cells in tuples])
        parts = [(t, network.weights, table.weights, table.width) for t, table in enumerate(tables)]
        if tables[0].coherence:
            sums = network.learner_memory(COHERENCE, 2)
            for t, (_, length, _, _, start, width) in enumerate(tables):
                parts.append((t, sums[:, 0], start, width))
                parts.append((t, sums[:, 1], start + length * width, width))
        done, total = 0, sum(lengths[t] for t, *_ in parts)
        for t, out, start, width in parts:
            file.seek(start)
            for where in file_order(network, t, first):
                numbers = np.frombuffer(file.read(len(where) * width), f"<f{width}")
                if len(numbers) < len(where):
                    raise unsound("it ends too early")
                with np.errstate(over="ignore"):  # infinity is found below
                    numbers = numbers.astype(np.float32)
                if not are_valid_weights(numbers):
                    raise unsound("some weights are not finite numbers, or too large to be summed")
                if out is not network.weights:
                    numbers[numbers == _NO_SUM] = 0
                out[where] = numbers
                done += len(where)
                watch(Progress("weights read", done, total))
    return network


def _tuples_of(path: Path, lengths: list[int], net: str) -> list[Tuple]:
    """The tuples of a file that names none."""
    if net:
        tuples = parse(net)
        if [16 ** len(cells) for cells in tuples] != lengths:
            raise UserError(
                f"{path} has tables of {_in_words(lengths)} weights, which do not fit the tuples "
                f"of --net {' '.join(map(format_tuple, tuples))}"
            )
        return tuples
    for known in NETWORKS.values():
        tuples = parse(known)
        if [16 ** len(cells) for cells in tuples] == lengths:
            return tuples
    if any(length not in _LENGTHS for length in lengths):
        raise UserError(
            f"{path} has tables of {_in_words(lengths)} weights: only tables of 16^n weights, one "
            "for each value of n cells, can be read"
        )
    raise UserError(
        f"{path} has tables of {_in_words(lengths)} weights, and does not say of which tuples: "
        f'tuplet convert {path} OUT.safetensors --net "0123 4567 ..."'
    )


def _in_words(lengths: list[int]) -> str:
    shown = ", ".join(f"{length:,}" for length in lengths[:8])
    return shown if len(lengths) <= 8 else f"{shown}, ... ({len(lengths)} tables)"


def write_external(
    net: Parameters, path: Path, kind: Kind, *, first: FirstCell = "low", watch: Watcher = lambda _: None
) -> Path:
    """Write a network as another program's file, beside `path`, and rename it into place.

    Only TDL2048+'s files hold TC's sums. Raises ValueError for a network that such a file
    cannot hold.
    """
    for fits, what in (
        (net.size == (4, 4), "networks of 4x4 boards"),
        (not net.stages, "networks without stages"),
        (net.target == "afterstate", "values of after-states"),
        (net.gamma == 1, "values without a discount"),
    ):
        if not fits:
            raise UserError(f"{kind} files hold only {what}: write a .safetensors file")
    sums = net.learner_memory(COHERENCE, 2) if kind == "tdl2048" and net.has_learner_memory(COHERENCE) else None
    done, total = 0, len(net.weights) * (1 if sums is None else 3)

    def pour(t: int, array: Array) -> None:
        nonlocal done
        for where in file_order(net, t, first):
            numbers = array[where]
            if sums is not None and array is not net.weights:
                numbers[sums[where, 1] == 0] = _NO_SUM
            if not are_valid_weights(numbers):
                raise UserError("the weights are no longer finite numbers")
            file.write(numbers.astype("<f4", copy=False).tobytes())
            done += len(where)
            watch(Progress("weights written", done, total))

    with atomic_write(path) as file:
        file.write(_file_head(kind, len(net.tuples)))
        for t, cells in enumerate(net.tuples):
            file.write(_table_head(kind, cells))
            pour(t, net.weights)
            if sums is not None:
                file.write(struct.pack("<HQ", 4, 2 * 16 ** len(cells)))
                pour(t, sums[:, 0])
                pour(t, sums[:, 1])
            if kind == "tdl2048":
                file.write(struct.pack("<H", 0))
    return path


def _file_head(kind: Kind, tables: int) -> bytes:
    if kind == "tdl2048":
        return struct.pack("<BI", 0, tables)
    return struct.pack("<I" if kind == "framework" else "<Q", tables)


def _table_head(kind: Kind, cells: Tuple) -> bytes:
    length = 16 ** len(cells)
    if kind == "tdl2048":
        return struct.pack("<BIHHHQ", 4, int(format_tuple(cells), 16), len(cells), 0, 4, length)
    if kind == "demo":
        name = f"{len(cells)}-tuple pattern {format_tuple(cells)}".encode()
        return struct.pack("<i", len(name)) + name + struct.pack("<Q", length)
    return struct.pack("<Q", length)


def file_order(net: Parameters, t: int, first: FirstCell = "low") -> Iterator[Array]:
    """Where in `net.weights` a file's weights of tuple t stand, in the file's order, by parts.

    An index of ours is linear in exclusive-or (see `layout`): the index of a part's weight is
    that of the part's start, exclusive-or that of the weight in the first part.
    """
    cells = net.tuples[t]
    bits = 4 * len(cells)
    nibbles = tuple(range(len(cells)))
    place, gap = storage(nibbles if first == "low" else nibbles[::-1], storage_order(cells))
    part = np.array([table_starts(net.tuples)[t]])
    for bit in range(min(bits, _PART_BITS)):
        part = np.concatenate([part, part ^ int(index_of(np.uint64(1 << bit), place, gap))])
    for start in range(0, 1 << bits, len(part)):
        yield part ^ int(index_of(np.uint64(start), place, gap))
