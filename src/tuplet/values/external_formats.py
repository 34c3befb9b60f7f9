"""Weight files of other programs: TDL2048-Demo, TDL2048+ and the 2048-Framework.

All are little-endian, hold whole tables, and have a tuple's first cell in the lowest four bits
of an index. They hold after-state values of 4x4 boards, without stages.

demo       u64 tables; each: i32 length of the name, the name ("4-tuple pattern 0123"),
           u64 length, f32 weights
tdl2048    u8 0, u32 tables; each: u8 4, u32 the cells read as a hexadecimal number, u16 how many
           digits, u16 0, u16 bytes of a weight (2, 4 or 8), u64 length, weights; then u16 0, or
           TC's sums: u16 4, u64 twice the length, every E, every A, u16 0. (TDL2048+ divides by A
           unchecked, so sums of weights never updated are the smallest float, not 0.)
framework  u32 tables (u64 in the 2017 and Python editions); each: u64 length, f32 weights. Tuples
           are not named, and each author chooses the order of cells in an index.

All lengths are checked against the file's size before anything is allocated. Tables are read and
written a part at a time.
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
from tuplet.values.network import COHERENCE, Network, are_valid_weights
from tuplet.values.patterns import NETWORKS, Tuple, format_tuple, format_tuples, parse
from tuplet.values.tables import FileOrder, FirstCell

Array = np.ndarray[Any, Any]
Format = Literal["demo", "tdl2048", "framework", "framework-2017"]

_LENGTHS = [16**n for n in range(1, 9)]
_MAX_TABLES = 1 << 16  # more than there are different tuples
_NO_SUM = np.finfo(np.float32).tiny  # TDL2048+'s E and A of a weight that was never updated


class FileTable(NamedTuple):
    """One tuple's table in a file."""

    cells: str  # "" if the file does not name them
    length: int
    weights: int  # offset in the file
    width: int = 4  # bytes of a weight
    coherence: int = 0  # offset of TC's sums, every E before every A; 0 if there are none
    coherence_width: int = 4


class _Reader:
    """Reads numbers and skips arrays; UserError if the file ends too early."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def bytes(self, count: int) -> bytes:
        """The next bytes."""
        self._check(count)
        return self.file.read(count)

    def numbers(self, layout: str) -> tuple[int, ...]:
        """The next numbers, in a layout of `struct`."""
        return struct.unpack("<" + layout, self.bytes(struct.calcsize("<" + layout)))

    def skip(self, count: int, width: int) -> int:
        """Skip an array; returns its offset."""
        self._check(count * width)
        start = self.file.tell()
        self.file.seek(count * width, os.SEEK_CUR)
        return start

    def table_numbers(self, layout: str) -> range:
        """The range of table numbers, from the next number."""
        (count,) = self.numbers(layout)
        if not 1 <= count <= _MAX_TABLES:
            raise UserError(f"it has {count} tables (a file has 1 to {_MAX_TABLES:,})")
        return range(count)

    def _check(self, count: int) -> None:
        if not 0 <= count <= self.size - self.file.tell():
            raise UserError("it ends too early")


def _demo_tables(reader: _Reader) -> Iterator[FileTable]:
    for _ in reader.table_numbers("Q"):
        (length,) = reader.numbers("i")
        name = reader.bytes(length if length <= 64 else -1).decode("ascii", "replace")
        match = re.fullmatch(r"\d+-tuple pattern ([0-9a-f]+)", name)
        if not match:
            raise UserError(f"it has a feature {name!r}, which is not a tuple")
        (length,) = reader.numbers("Q")
        yield FileTable(match[1], length, reader.skip(length, 4))


def _tdl2048_tables(reader: _Reader) -> Iterator[FileTable]:
    reader.numbers("B")
    for _ in reader.table_numbers("I"):
        code, number, digits, text, width, length = reader.numbers("BIHHHQ")
        if code != 4 or text or not 1 <= digits <= 8:
            raise UserError("the name of a table is not a tuple")
        _check_width(width)
        weights = reader.skip(length, width)
        coherence, coherence_width = 0, reader.numbers("H")[0]
        if coherence_width:
            _check_width(coherence_width)
            (count,) = reader.numbers("Q")
            coherence = reader.skip(count, coherence_width)
            if count != 2 * length or reader.numbers("H") != (0,):
                raise UserError("it has arrays that are not TC's sums")
        yield FileTable(f"{number:0{digits}x}", length, weights, width, coherence, coherence_width)


def _check_width(width: int) -> None:
    if width not in (2, 4, 8):
        raise UserError(f"a weight must have 2, 4 or 8 bytes (got {width})")


def _framework_tables(reader: _Reader, counted: str = "I") -> Iterator[FileTable]:
    for _ in reader.table_numbers(counted):
        (length,) = reader.numbers("Q")
        yield FileTable("", length, reader.skip(length, 4))


_TABLES: dict[Format, Callable[[_Reader], Iterator[FileTable]]] = {
    "demo": _demo_tables,
    "tdl2048": _tdl2048_tables,
    "framework": _framework_tables,
    "framework-2017": lambda reader: _framework_tables(reader, "Q"),
}


def detect_format(path: Path) -> Format | Literal["tuplet", "packed"] | None:
    """The format of a weight file, recognised by its first bytes; None if it is unknown."""
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
    if head[:1] == b"\0" and 0 < number(1, 5) <= _MAX_TABLES and head[5:6] == b"\4":
        return "tdl2048"
    starts: tuple[tuple[Format, int], ...] = (("framework", 4), ("framework-2017", 8))
    for fits in (lambda n: n in _LENGTHS, lambda n: 16 <= n <= size // 4):
        for kind, at in starts:
            if 0 < number(0, at) <= _MAX_TABLES and fits(number(at, at + 8)):
                return kind
    return None


def read_external(
    path: Path, file_format: Format, *, net: str = "", first: FirstCell = "low", watch: Watcher = lambda _: None
) -> Network:
    """The network in another program's file. Raises UserError if the file is not valid.

    A Framework file does not name its tuples: it is read as the named network whose tables have the
    same sizes, unless `net` gives the tuples, and `first` the order of their cells.
    """

    def invalid(why: object) -> UserError:
        return UserError(f"{path} is not a valid {file_format} file: {why}")

    with path.open("rb") as file:
        try:
            reader = _Reader(file)
            tables = list(_TABLES[file_format](reader))
            if file.tell() < reader.size:
                raise UserError("it goes on after its last table")
            if len({table.coherence > 0 for table in tables}) > 1:
                raise UserError("only some of its tables have TC's sums")
            names = [table.cells for table in tables]
            tuples = parse(names) if all(names) else None
        except ValueError as error:
            raise invalid(error) from None
        lengths = [table.length for table in tables]
        if tuples is None:
            tuples = _tuples_of(path, lengths, net)
        elif net:
            raise UserError(f"{path} names its tuples itself: leave --net out")
        if lengths != [16 ** len(cells) for cells in tuples]:
            raise invalid("a table's length does not fit its tuple")

        network = Network(format_tuples(tuples))
        parts = [(t, network.weights, table.weights, table.width) for t, table in enumerate(tables)]
        if tables[0].coherence:
            sums = network.learner_memory(COHERENCE, 2)
            for t, (_, length, _, _, start, width) in enumerate(tables):
                parts.append((t, sums[:, 0], start, width))
                parts.append((t, sums[:, 1], start + length * width, width))
        done, total = 0, sum(lengths[t] for t, *_ in parts)
        for t, out, start, width in parts:
            file.seek(start)
            for _, indices in FileOrder(network.tuples[t], first).parts():
                numbers = np.frombuffer(file.read(len(indices) * width), f"<f{width}")
                if len(numbers) < len(indices):
                    raise invalid("it ends too early")
                with np.errstate(over="ignore"):  # infinities are refused below
                    numbers = numbers.astype(np.float32)
                if not are_valid_weights(numbers):
                    raise invalid("some weights are not finite numbers, or too large to be summed")
                if out is not network.weights:
                    numbers[numbers == _NO_SUM] = 0
                out[network.table_slice(t)][indices] = numbers
                done += len(indices)
                watch(Progress("weights read", done, total))
    return network


def _tuples_of(path: Path, lengths: list[int], net: str) -> list[Tuple]:
    """The tuples of a file that names none."""
    tables = ", ".join(f"{length:,}" for length in lengths[:8])
    if len(lengths) > 8:
        tables += f", ... ({len(lengths)} tables)"
    for known in [net] if net else NETWORKS.values():
        tuples = parse(known)
        if [16 ** len(cells) for cells in tuples] == lengths:
            return tuples
    if net:
        raise UserError(
            f"{path} has tables of {tables} weights, which do not fit the tuples of --net {format_tuples(tuples)}"
        )
    if any(length not in _LENGTHS for length in lengths):
        raise UserError(
            f"{path} has tables of {tables} weights: only tables of 16^n weights, one for each value of n cells, "
            "can be read"
        )
    raise UserError(
        f"{path} has tables of {tables} weights, but does not name their tuples: "
        f'use tuplet convert {path} OUT.safetensors --net "0123 4567 ..."'
    )


def write_external(
    net: Network, path: Path, file_format: Format, *, first: FirstCell = "low", watch: Watcher = lambda _: None
) -> Path:
    """Write another program's file beside `path`, and rename it into place.

    Only TDL2048+'s files hold TC's sums. Raises UserError if such a file cannot hold the network.
    """
    for fits, what in (
        (net.size == (4, 4), "networks of 4x4 boards"),
        (not net.stages, "networks without stages"),
        (net.target == "afterstate", "values of after-states"),
        (net.gamma == 1, "values without a discount"),
    ):
        if not fits:
            raise UserError(f"{file_format} files hold only {what}: write a .safetensors file")
    with_sums = file_format == "tdl2048" and net.has_learner_memory(COHERENCE)
    sums = net.learner_memory(COHERENCE, 2) if with_sums else None
    done, total = 0, len(net.weights) * (1 if sums is None else 3)

    def write(t: int, array: Array) -> None:
        nonlocal done
        for _, indices in FileOrder(net.tuples[t], first).parts():
            numbers = array[net.table_slice(t)][indices]
            if sums is not None and array is not net.weights:
                numbers[sums[net.table_slice(t)][indices, 1] == 0] = _NO_SUM
            if not are_valid_weights(numbers):
                raise UserError("the weights are no longer finite numbers")
            file.write(numbers.astype("<f4", copy=False).tobytes())
            done += len(indices)
            watch(Progress("weights written", done, total))

    with atomic_write(path) as file:
        heads = {"tdl2048": "<xI", "framework": "<I"}
        file.write(struct.pack(heads.get(file_format, "<Q"), len(net.tuples)))
        for t, cells in enumerate(net.tuples):
            file.write(_table_head(file_format, cells))
            write(t, net.weights)
            if sums is not None:
                file.write(struct.pack("<HQ", 4, 2 * 16 ** len(cells)))
                write(t, sums[:, 0])
                write(t, sums[:, 1])
            if file_format == "tdl2048":
                file.write(struct.pack("<H", 0))
    return path


def _table_head(file_format: Format, cells: Tuple) -> bytes:
    length = 16 ** len(cells)
    if file_format == "tdl2048":
        return struct.pack("<BIHHHQ", 4, int(format_tuple(cells), 16), len(cells), 0, 4, length)
    if file_format == "demo":
        name = f"{len(cells)}-tuple pattern {format_tuple(cells)}".encode()
        return struct.pack("<i", len(name)) + name + struct.pack("<Q", length)
    return struct.pack("<Q", length)
