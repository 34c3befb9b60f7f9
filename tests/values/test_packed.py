"""Packed players: small, nearly the same weights, and never more than their tuples need."""

from __future__ import annotations

import hashlib
import json
import lzma
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

from tuplet import Network, convert, evaluate
from tuplet.values import packed as packing
from tuplet.values.packed import packed_notes, read_packed, write_packed
from tuplet.values.players import DEFAULT_PLAYER, PLAYERS


@pytest.fixture(scope="module")
def packed(trained: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "player.xz"
    return half_point_steps(trained, path)


def half_point_steps(net: Network, path: Path) -> Path:
    """Pack a network with weights rounded to half a point, as version 1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "STEP", 0.5)
        assert write_packed(net, path) is None
    return path


@pytest.mark.slow
def test_a_packed_player_is_small_and_plays_as_well(packed: Path, trained: Network) -> None:
    again = Network.load(packed)  # recognised by its first bytes
    assert again.tuples == trained.tuples
    assert np.abs(again.weights - trained.weights).max() <= 0.2501
    assert packed.stat().st_size < 4 * len(trained.weights) / 4
    mean, packed_mean = (evaluate(n, games=300).summary.mean_score for n in (trained, again))
    assert packed_mean == pytest.approx(mean, rel=0.2)


def test_packing_again_changes_nothing(packed: Path, tmp_path: Path) -> None:
    again = half_point_steps(read_packed(packed), tmp_path / "again.xz")
    assert again.read_bytes() == packed.read_bytes()


def test_weights_too_large_for_the_step_make_it_larger(tmp_path: Path) -> None:
    net = Network("0123")
    net.weights[:3] = [1e6, -1e6, 40]
    write_packed(net, tmp_path / "large.xz")
    again = read_packed(tmp_path / "large.xz")
    assert again.weights[:2] == pytest.approx([1e6, -1e6], rel=1e-4)


@pytest.mark.parametrize("size", [None, 1_000_000])  # version 1, version 3
@pytest.mark.parametrize("tuples", ["01 45", "01 0123", "0123 01 012 5"])
def test_short_tuples_and_small_values_come_back(tuples: str, size: int | None, tmp_path: Path) -> None:
    net = Network(tuples, target="state", gamma=0.5, spawn4=0.25)
    net.weights[:] = np.random.default_rng(2).normal(0, 1, len(net.weights))
    write_packed(net, tmp_path / "short.xz", size=size)
    again = read_packed(tmp_path / "short.xz")
    assert np.abs(again.weights - net.weights).max() < 0.01
    assert (again.target, again.gamma, again.spawn4) == ("state", 0.5, 0.25)


def test_networks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for net in (Network("0123", stages="64"), Network("0123", board="2x2"), Network("0123456")):
        for size in (None, 1_000_000):
            with pytest.raises(ValueError, match="a packed file holds networks of 4x4 boards"):
                write_packed(net, tmp_path / "no.xz", size=size)
    broken = Network("0123")
    broken.weights[5] = np.nan
    for size in (None, 1_000_000):
        with pytest.raises(ValueError, match="no longer finite"):
            write_packed(broken, tmp_path / "no.xz", size=size)
    assert not list(tmp_path.iterdir())


def test_damaged_files_fail_cleanly_and_stay_small(packed: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    good = packed.read_bytes()
    path = tmp_path / "bad.xz"
    for n in range(60):
        data = bytearray(good)
        if n % 2:
            data = data[: len(data) - n if n < 20 else rng.integers(6, len(data))]
        else:
            for _ in range(rng.integers(1, 4)):
                data[rng.integers(6, len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(data))
        tracemalloc.start()
        with pytest.raises(ValueError, match="not a valid packed file"):
            Network.load(path)
        assert tracemalloc.get_traced_memory()[1] < 64_000_000
        tracemalloc.stop()


@pytest.mark.parametrize(
    "head",
    [
        {},
        [],
        {"format": "another"},
        {"tuples": "01234567"},
        {"tuples": "012345 456789 89abcd"},
        {"tuples": "0123 4567 0123"},
        {"step": 0},
        {"step": "x"},
        {"target": "moves"},
        {"gamma": None},
    ],
)
def test_a_head_that_makes_no_sense_is_refused(head: object, tmp_path: Path) -> None:
    good = {"format": "tuplet-packed-1", "tuples": "0123", "step": 1, "target": "afterstate", "gamma": 1, "spawn4": 0.1}
    whole = {**good, **head} if isinstance(head, dict) and head else head
    path = tmp_path / "head.xz"
    path.write_bytes(lzma.compress(json.dumps(whole).encode() + b"\n" + bytes(131072)))
    with pytest.raises(ValueError, match="not a valid packed file"):
        Network.load(path)


def test_bytes_beyond_the_tables_are_refused(tmp_path: Path) -> None:
    """Not even a stream that unpacks to gigabytes: no more than the tables is unpacked."""
    head = b'{"format": "tuplet-packed-1", "tuples": "0123", "step": 1, "target": "afterstate", '
    head += b'"gamma": 1, "spawn4": 0.1}\n'
    path = tmp_path / "long.xz"
    path.write_bytes(lzma.compress(head + bytes(50_000_000)))
    tracemalloc.start()
    with pytest.raises(ValueError, match="goes on"):
        Network.load(path)
    assert tracemalloc.get_traced_memory()[1] < 16_000_000
    tracemalloc.stop()


def test_a_file_that_asks_for_much_memory_to_be_unpacked_is_refused(tmp_path: Path) -> None:
    """A dictionary of 512 MB, which the first block of an xz stream may name in a byte."""
    path = tmp_path / "greedy.xz"
    write_packed(Network("01"), path)
    data = bytearray(path.read_bytes())
    assert data[14:16] == b"\x21\x01"  # LZMA2, with one byte of settings
    end = 12 + 4 * data[12]
    data[16] = 34  # 2 << 28
    data[end : end + 4] = zlib.crc32(data[12:end]).to_bytes(4, "little")
    path.write_bytes(data)
    assert len(lzma.decompress(data)) > 512  # sound, but for what it asks for
    with pytest.raises(ValueError, match="not a valid packed file: Memory usage limit"):
        Network.load(path)


def test_the_shipped_player_is_small_and_decent(tmp_path: Path, monkeypatch) -> None:
    assert (PLAYERS / f"{DEFAULT_PLAYER}.xz").stat().st_size <= 5_000_000
    result = evaluate(Network.load(DEFAULT_PLAYER), games=500, seed=2)
    assert result.ci95[0] > 80_000
    monkeypatch.chdir(tmp_path)  # a file of that name comes first
    Network("01").save("small")
    assert Network.load("small").name == "01"


def test_what_is_small_is_packed_as_ever(tmp_path: Path) -> None:
    """`make player` gives the same bytes: version 1 is written wherever it was."""
    net = Network("0123 012")
    net.weights[:] = (np.arange(len(net.weights)) * 7919 % 5003 - 2500) * np.float32(3.7)
    net.save(tmp_path / "net.safetensors")
    assert convert(tmp_path / "net.safetensors", tmp_path / "net.xz").packing is None
    data = lzma.decompress((tmp_path / "net.xz").read_bytes())
    assert data.startswith(b'{"format": "tuplet-packed-1", "tuples": "0123 012", "step": 8.0')
    assert hashlib.sha256(data).hexdigest()[:16] == "d55e5130eecfcb0a"


def weights_of(content: str, cells: int) -> np.ndarray:
    """Weights that are multiples of 8."""
    rng = np.random.default_rng(cells)
    size, most = 16**cells, 8 * packing.MAX_LEVEL
    if content == "sparse":
        return 8 * np.where(rng.random(size) < 0.02, rng.normal(0, 9000, size), 0).round()
    if content == "dense":
        return 8 * rng.integers(-packing.MAX_LEVEL, packing.MAX_LEVEL, size, endpoint=True)
    return np.full(size, {"zeros": 0, "largest": -most}[content])


@pytest.mark.parametrize("content", ["sparse", "dense", "zeros", "largest"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_multiples_of_the_step_come_back_as_they_were(content: str, cells: int, tmp_path: Path) -> None:
    net = Network("0123"[:cells])
    net.weights[:] = weights_of(content, cells)
    net.weights[0] = 8 * packing.MAX_LEVEL  # so that the step is 8
    done = write_packed(net, tmp_path / "net.xz", size=1_000_000)
    assert done is not None and (done.step, done.kept) == (8, np.count_nonzero(net.weights))
    assert (read_packed(tmp_path / "net.xz").weights == net.weights).all()


def test_a_size_is_kept_and_weights_are_as_near_as_their_step_says(trained: Network, tmp_path: Path) -> None:
    """As large as it may be, or nearly; what it says of its step is true."""
    net, path = tmp_path / "net.safetensors", tmp_path / "player.xz"
    trained.save(net)
    steps = []
    for size in (40_000, 60_000):
        packing = convert(net, path, size=size).packing
        assert packing is not None and 0.8 * size < path.stat().st_size <= size
        again = Network.load(path)
        seen = trained.memory.values[:, 1] >= packing.least  # errors, all in all
        off = np.abs(again.weights - trained.weights)
        assert off[seen].max() <= packing.step / 2 * 1.0001
        assert not again.weights[~seen].any() and 0 < seen.mean() < 1
        assert np.count_nonzero(again.weights) == packing.kept
        steps.append(packing.step)
    assert steps[0] > steps[1]
    finest = convert(net, path, size="32M").packing  # it need not be filled
    assert finest is not None and finest.step <= 8 and path.stat().st_size < 32_000_000
    assert finest.least == 0 and np.abs(Network.load(path).weights - trained.weights).max() <= 4
    with pytest.raises(ValueError, match="nothing of this network would be left in 100 bytes"):
        convert(net, path, size=100)
    with pytest.raises(ValueError, match="--size is for packed files"):
        convert(net, tmp_path / "net.bin", size=40_000)
    for wrong in ("x", "0", "-3", "1e9", ""):
        with pytest.raises(ValueError, match="is not a size"):
            convert(net, path, size=wrong)


def test_a_player_says_how_it_was_made(tmp_path: Path, trained_run: Path) -> None:
    convert(trained_run, tmp_path / "player.xz", size="1M")
    notes = packed_notes(tmp_path / "player.xz")
    assert notes["games"] == "3000" and notes["learner"] == "tc"
    convert(tmp_path / "player.xz", tmp_path / "again.xz", size="1M")
    assert packed_notes(tmp_path / "again.xz")["games"] == "3000"
    assert packed_notes(PLAYERS / f"{DEFAULT_PLAYER}.xz") == {}
    assert packed_notes(tmp_path / "none.xz") == {}


GOOD = {
    "format": "tuplet-packed-3",
    "tuples": "01 012",
    "step": 1,
    "target": "afterstate",
    "gamma": 1,
    "spawn4": 0.1,
    "notes": {},
}


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ({}, ""),
        ({"sizes": None}, "the size of each table"),
        ({"sizes": [40]}, "the size of each table"),
        ({"sizes": [40, -4]}, "in -4 bytes"),
        ({"sizes": [40, True]}, "in True bytes"),
        ({"sizes": [40, 1e9]}, "in 1000000000.0 bytes"),
        ({"sizes": [40, 10**12]}, "in 1000000000000 bytes"),
        ({"more": [0, 1]}, "it ends too early"),
        ({"more": [0, -1]}, "it goes on after its last table"),
        ({"more": [4, -4]}, "ends before its"),
        ({"more": [-4, 4]}, "it ends too early"),
        ({"table": bytes(512 + 1)}, "it ends too early"),
        ({"table": bytes(512 + 1)}, "it goes on after"),
        ({"table": bytes(50_000_000)}, "it goes on after"),
        ({"tuples": "01234567"}, "too long or too many"),
        ({"step": 1e-320}, "its step of"),
        ({"format": "tuplet-packed-2"}, "convert the training run again"),
        ({"format": "tuplet-packed-4"}, "not one of tuplet's"),
    ],
)
def test_a_head_of_version_3_that_makes_no_sense_is_refused(head: dict, why: str, tmp_path: Path) -> None:
    tables = [lzma.compress(b"\xff" * 32 + bytes(512)), lzma.compress(bytes(512))]
    if "table" in head:
        tables[1] = lzma.compress(b"\1" + head["table"][1:] if why == "it ends too early" else head["table"])
    sizes = [len(table) + more for table, more in zip(tables, head.get("more", (0, 0)), strict=True)]
    path = tmp_path / "head.xz"
    line = json.dumps(GOOD | {"sizes": sizes} | {k: v for k, v in head.items() if k != "table"}).encode()
    path.write_bytes(b"".join([lzma.compress(line + b"\n"), *tables]))
    if not why:  # valid, so that each other file has one fault
        assert Network.load(path).name == "01 012"
        return
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"not a valid packed file: .*{why}") as raised:
        Network.load(path)
    assert tracemalloc.get_traced_memory()[1] < 32_000_000
    tracemalloc.stop()
    assert "\n" not in str(raised.value)


def test_damaged_files_of_version_3_fail_cleanly(trained: Network, tmp_path: Path) -> None:
    path = tmp_path / "bad.xz"
    write_packed(trained, path, size=60_000)
    good, rng = path.read_bytes(), np.random.default_rng(5)
    for n in range(20):
        data = bytearray(good[: rng.integers(6, len(good))] if n % 2 else good)
        if not n % 2:
            data[rng.integers(6, len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(data))
        with pytest.raises(ValueError, match="not a valid packed file"):
            Network.load(path)


def test_more_weights_than_a_packed_file_holds_are_refused_before_they_cost_anything(tmp_path: Path) -> None:
    from itertools import combinations

    many = " ".join("".join(f"{c:x}" for c in cells) for cells in list(combinations(range(16), 6)))
    path = tmp_path / "many.xz"
    head = GOOD | {"tuples": many[: 7 * 17 - 1], "sizes": [4] * 17}
    path.write_bytes(lzma.compress(json.dumps(head).encode() + b"\n"))
    tracemalloc.start()
    with pytest.raises(ValueError, match="too long or too many"):
        Network.load(path)
    assert tracemalloc.get_traced_memory()[1] < 16_000_000  # what unpacking takes
    tracemalloc.stop()
