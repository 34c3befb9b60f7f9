"""Weight files made by hand to do harm: each is refused in one line, before it costs anything."""

from __future__ import annotations

import json
import lzma
import resource
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet import Board, Network
from tuplet.values.network import MAX_WEIGHT
from tuplet.values.packed import read_packed, write_packed
from tuplet.values.weights import read_weights

HEAD: dict[str, Any] = {
    "format": "tuplet-packed-1",
    "tuples": "01",
    "step": 1.0,
    "target": "afterstate",
    "gamma": 1.0,
    "spawn4": 0.1,
}
NOTES = {
    "format": "tuplet-network-1",
    "tuples": "01",
    "target": "afterstate",
    "gamma": "1.0",
    "spawn4": "0.1",
    "initial": "0.0",
}
EMPTY = {"0.where": ("U32", b""), "0.weight": ("F32", b"")}
SIZES = {"F8_E4M3": 1, "U8": 1, "BF16": 2, "U32": 4, "F32": 4, "I64": 8}


def packed(path: Path, head: bytes) -> Path:
    path.write_bytes(lzma.compress(head + b"\n" + bytes(2 * 16**2)))
    return path


def tensors(path: Path, notes: dict[str, str], arrays: dict[str, tuple[str, bytes]]) -> Path:
    """A safetensors file with any arrays, sound or not."""
    header: dict[str, Any] = {"__metadata__": NOTES | notes}
    at = 0
    for name, (kind, data) in arrays.items():
        where, at = [at, at + len(data)], at + len(data)
        shape = [len(data) // SIZES[kind]]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": where}
    text = json.dumps(header).encode()
    data = b"".join(data for _, data in arrays.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def refused(path: Path, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        Network.load(path)
    assert "\n" not in str(raised.value)


def test_the_files_here_are_sound_without_what_is_wrong_with_them(tmp_path: Path) -> None:
    assert read_packed(packed(tmp_path / "x.xz", json.dumps(HEAD).encode())).gamma == 1
    assert read_weights(tensors(tmp_path / "x.safetensors", {}, EMPTY)).network.gamma == 1


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 4000,
        json.dumps(HEAD | {"step": 10**400}).encode(),
        json.dumps(HEAD | {"gamma": True}).encode(),
        json.dumps(HEAD | {"spawn4": False}).encode(),
        json.dumps(HEAD | {"gamma": "1"}).encode(),
        json.dumps(HEAD | {"step": [1]}).encode(),
        json.dumps(HEAD | {"target": {}}).encode(),
        json.dumps(HEAD | {"tuples": ["01"]}).encode(),
        b"1",
        b"\xff",
    ],
)
def test_packed_heads_of_other_kinds_are_refused(tmp_path: Path, head: bytes) -> None:
    refused(packed(tmp_path / "made.xz", head), "is not a valid packed file")


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "F32"])
@pytest.mark.parametrize("name", ["0.where", "0.coherence", "rider"])
def test_arrays_of_other_kinds_are_refused(tmp_path: Path, kind: str, name: str) -> None:
    arrays = EMPTY | {name: (kind, bytes(8))}
    if (kind, name) == ("F32", "rider"):  # which is a kind that we write
        return
    refused(tensors(tmp_path / "made.safetensors", {}, arrays), "is not a valid weight file")


@pytest.mark.parametrize("weight", [3e38, -3e38, np.inf, np.nan, 2 * MAX_WEIGHT])
def test_weights_whose_sums_are_no_numbers_are_refused(tmp_path: Path, weight: float) -> None:
    one = {"0.where": ("U32", bytes(4)), "0.weight": ("F32", np.float32(weight).tobytes())}
    refused(tensors(tmp_path / "made.safetensors", {}, one), "too large to be summed")
    table = np.zeros(16**2, "<f4")
    table[5] = weight
    name = b"2-tuple pattern 01"
    demo = struct.pack("<Qi", 1, len(name)) + name + struct.pack("<Q", len(table))
    (tmp_path / "made.bin").write_bytes(demo + table.tobytes())
    refused(tmp_path / "made.bin", "too large to be summed")
    net = Network("01")
    net.weights[3] = weight
    for ending in ("safetensors", "xz"):  # nor are they written, so that what is saved is read
        with pytest.raises(ValueError, match="no longer finite"):
            net.save(tmp_path / "net.safetensors") if ending != "xz" else write_packed(net, tmp_path / "net.xz")


def test_the_largest_weights_that_are_read_leave_every_legal_move_legal(tmp_path: Path) -> None:
    data = np.full(16**2, MAX_WEIGHT, np.float32).tobytes()
    where = np.arange(16**2, dtype=np.uint32).tobytes()
    path = tensors(tmp_path / "big.safetensors", {}, {"0.where": ("U32", where), "0.weight": ("F32", data)})
    board = Board("2 2 4 8 " * 4)
    legal = [move.move for move in Network.load(path).moves(board) if move.legal]
    assert legal == board.legal_moves()


def test_a_network_that_the_machine_cannot_hold_is_refused_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.values.network.available_memory", lambda: 11 * 10**8)
    notes = {"tuples": "0123456", "initial": "1", "stages": "16384 8192"}
    tables = {name.replace("0", str(n), 1): array for n in range(4) for name, array in EMPTY.items()}
    path = tensors(tmp_path / "made.safetensors", notes, tables)
    assert path.stat().st_size < 1500
    refused(path, r"0123456 needs 4.3 GB for its weights and this machine has 1.1 GB free")
    memory = EMPTY | {f"0.{n}": ("F32", data) for n, data in (("coherence", bytes(8)),)}
    memory |= {"0.where": ("U32", bytes(4)), "0.weight": ("F32", bytes(4))}
    path = tensors(tmp_path / "made.safetensors", {"tuples": "0123456", "initial": "1"}, memory)
    refused(path, r"needs 3.2 GB .* 1.1 GB free")  # what TC remembers counts, too


LIMITED = """\
import resource, sys
from tuplet import Network
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
try:
    Network.load(sys.argv[1])
except ValueError as error:
    print(error)
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0])  # in kB; `getrusage` begins with what the parent had
"""


def test_a_small_file_takes_little_memory_where_memory_is_limited(tmp_path: Path) -> None:
    path = tensors(tmp_path / "m.safetensors", {"tuples": "0123456", "initial": "1"}, EMPTY)
    limit = 1_000_000_000
    command = [sys.executable, "-c", LIMITED, str(path), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    why, used = done.stdout.splitlines()
    assert "needs 1.1 GB for its weights and this machine has 0." in why
    assert int(used) * 1024 < 600_000_000


def test_an_endless_packed_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = packed(tmp_path / "made.xz", json.dumps(HEAD).encode())
    with path.open("r+b") as file:
        file.truncate(1 << 36)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(path, "goes on after its last table")
    with path.open("r+b") as file:
        file.truncate(60)
        file.truncate(1 << 36)
    refused(path, "is not a valid packed file")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_riders_have_a_limit(tmp_path: Path) -> None:
    path = tensors(tmp_path / "m.safetensors", {}, EMPTY | {"rider": ("U8", bytes(8))})
    header = path.read_bytes()
    size = 1 << 28
    made = header.replace(b"[8]", b"[%d]" % size).replace(b"[0, 8]", b"[0, %d]" % size)
    made = struct.pack("<Q", len(made) - 16) + made[8:-8]
    path.write_bytes(made)
    with path.open("r+b") as file:
        file.truncate(len(made) + size)
    refused(path, "extra arrays are larger than an unfinished block")
