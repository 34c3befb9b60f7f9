"""Packed players: small, nearly the same, and never more than their tuples ask for."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import time
import tracemalloc
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tuplet import Network, convert, evaluate
from tuplet.values import packed as packing, unpacked
from tuplet.values.fitted import write_fitted
from tuplet.values.levels import MOST_LEVEL, decode, encode
from tuplet.values.packed import packed_notes, read_packed, write_packed
from tuplet.values.players import DEFAULT_PLAYER, PLAYERS


@pytest.fixture(scope="module")
def packed(trained: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_packed(trained, tmp_path_factory.mktemp("packed") / "player.xz", 0.5)


@pytest.mark.slow
def test_a_packed_player_is_small_and_plays_as_well(packed: Path, trained: Network) -> None:
    again = Network.load(packed)  # told by content
    assert again.tuples == trained.tuples
    assert np.abs(again.weights - trained.weights).max() <= 0.2501
    assert packed.stat().st_size < 4 * len(trained.weights) / 4
    mean, packed_mean = (evaluate(n, games=300).summary.mean_score for n in (trained, again))
    assert packed_mean == pytest.approx(mean, rel=0.2)


def test_packing_again_changes_nothing(packed: Path, tmp_path: Path) -> None:
    net = read_packed(packed)
    assert write_packed(net, tmp_path / "again.xz", 0.5).read_bytes() == packed.read_bytes()


def test_weights_too_large_for_the_step_make_it_larger(tmp_path: Path) -> None:
    net = Network("0123")
    net.weights[:3] = [1e6, -1e6, 40]
    again = read_packed(write_packed(net, tmp_path / "large.xz", 8.0))
    assert again.weights[:2] == pytest.approx([1e6, -1e6], rel=1e-4)


@pytest.mark.parametrize("tuples", ["01 45", "01 0123", "0123 01 012"])
def test_short_tuples_and_small_values_come_back(tuples: str, tmp_path: Path) -> None:
    net = Network(tuples, target="state", gamma=0.5, spawn4=0.25)
    net.weights[:] = np.random.default_rng(2).normal(0, 1, len(net.weights))
    again = read_packed(write_packed(net, tmp_path / "short.xz"))
    assert np.abs(again.weights - net.weights).max() < 0.01
    assert (again.target, again.gamma, again.spawn4) == ("state", 0.5, 0.25)


def test_networks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for net in (Network("0123", stages="64"), Network("0123", board="2x2"), Network("0123456")):
        for write in (write_packed, write_fitted):
            with pytest.raises(ValueError, match="a packed file holds networks of 4x4 boards"):
                write(net, tmp_path / "no.xz")
    broken = Network("0123")
    broken.weights[5] = np.nan
    for write in (write_packed, write_fitted):
        with pytest.raises(ValueError, match="no longer finite"):
            write(broken, tmp_path / "no.xz")
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
        with pytest.raises(ValueError, match="not a sound packed file"):
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
    with pytest.raises(ValueError, match="not a sound packed file"):
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
    path = write_packed(Network("01"), tmp_path / "greedy.xz")
    data = bytearray(path.read_bytes())
    assert data[14:16] == b"\x21\x01"  # LZMA2, with one byte of settings
    end = 12 + 4 * data[12]
    data[16] = 34  # 2 << 28
    data[end : end + 4] = zlib.crc32(data[12:end]).to_bytes(4, "little")
    path.write_bytes(data)
    assert len(lzma.decompress(data)) > 512  # sound, but for what it asks for
    with pytest.raises(ValueError, match="not a sound packed file: Memory usage limit"):
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


def levels_of(kind: str, cells: int) -> np.ndarray:
    rng = np.random.default_rng(cells)
    size = 16**cells
    if kind == "sparse":
        return np.where(rng.random(size) < 0.02, rng.normal(0, 9, size), 0).astype(np.int16)
    if kind == "dense":
        return rng.integers(-MOST_LEVEL, MOST_LEVEL, size, np.int16, endpoint=True)
    return np.full(size, {"zeros": 0, "largest": -MOST_LEVEL}[kind], np.int16)


@pytest.mark.parametrize("kind", ["sparse", "dense", "zeros", "largest"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_levels_come_back_as_they_were(kind: str, cells: int) -> None:
    levels = levels_of(kind, cells)
    coded, again = encode(levels), np.zeros_like(levels)
    decode(coded, again)
    assert (again == levels).all() and len(coded) <= 4 * len(levels) + 64
    for wrong in (coded[:-1], coded + b"\0"):
        with pytest.raises(ValueError, match="too early or too late"):
            decode(wrong, np.zeros_like(levels))


def test_compiled_and_interpreted_levels_are_coded_alike() -> None:
    from tuplet.values import levels as coding

    levels = levels_of("sparse", 3)
    room, plain = np.zeros(9000, np.uint8), np.zeros(9000, np.uint8)
    names = ("_code", "_among", "_code_row", "_volume", "_code_size", "_decide", "_byte", "_put")
    compiled = coding._code(levels.copy(), room, False)
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            function = getattr(coding, name)
            patch.setattr(coding, name, getattr(function, "py_func", function))
        assert coding._code(levels.copy(), plain, False) == compiled
    assert (plain == room).all()


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
    for wrong in ("x", "0", "-3", "1e9", "32 MiB", ""):
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
    "format": "tuplet-packed-2",
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
        ({"sizes": None}, "how large each"),
        ({"sizes": [40]}, "how large each"),
        ({"sizes": [40, -4]}, "in -4 bytes"),
        ({"sizes": [40, True]}, "in True bytes"),
        ({"sizes": [40, 1e9]}, "in 1000000000.0 bytes"),
        ({"sizes": [40, 10**12]}, "in 1000000000000 bytes"),
        ({"more": [0, 1]}, "it ends too early"),
        ({"more": [1, -1]}, "too early or too late"),
        ({"more": [0, -1]}, "too early or too late"),
        ({"tuples": "01234567"}, "too long or too many"),
        ({"step": 1e-320}, "in steps of"),
        ({"format": "tuplet-packed-3"}, "not one of tuplet's"),
    ],
)
def test_a_head_of_version_2_that_makes_no_sense_is_refused(head: dict, why: str, tmp_path: Path) -> None:
    tables = [encode(levels_of("sparse", cells)) for cells in (2, 3)]
    sizes = [len(table) + more for table, more in zip(tables, head.get("more", (0, 0)), strict=True)]
    path = tmp_path / "head.xz"
    line = json.dumps(GOOD | {"sizes": sizes} | head).encode()
    path.write_bytes(lzma.compress(b"\n".join([line, b"".join(tables)])))
    if not why:  # sound, so that what is wrong with the others is what is said
        assert np.count_nonzero(Network.load(path).weights) > 50
        return
    with pytest.raises(ValueError, match=f"not a sound packed file: .*{why}") as raised:
        Network.load(path)
    assert "\n" not in str(raised.value)


def test_damaged_files_of_version_2_fail_cleanly(trained: Network, tmp_path: Path) -> None:
    path = tmp_path / "bad.xz"
    write_fitted(trained, path, size=60_000)
    good, rng = path.read_bytes(), np.random.default_rng(5)
    for n in range(20):
        data = bytearray(good[: rng.integers(6, len(good))] if n % 2 else good)
        if not n % 2:
            data[rng.integers(6, len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(data))
        with pytest.raises(ValueError, match="not a sound packed file"):
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


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where unpacked weights are kept, however few there are."""
    monkeypatch.setattr(unpacked, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(unpacked, "LEAST", 1)
    return tmp_path / "cache" / "unpacked"


def player(path: Path, seed: int = 0, tuples: str = "012 345") -> Path:
    net = Network(tuples)
    net.weights[:] = np.random.default_rng(seed).normal(0, 100, len(net.weights))
    return write_packed(net, path)


def test_a_packed_player_is_unpacked_only_once(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = player(tmp_path / "player.xz")
    first = Network.load(path)
    assert len(list(kept.iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.delattr(packing, "_read_planes")  # nobody unpacks again
        again = Network.load(path)
        assert (again.weights == first.weights).all() and again.weights.ctypes.data % 64 == 0
        again.update([2, 2] + 14 * [0], 1e6)  # it can learn, which is nobody else's affair
        assert (again.weights != first.weights).any()
        assert (Network.load(path).weights == first.weights).all()
    assert (Network.load(player(path, seed=1)).weights != first.weights).any()  # another content
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize("damage", ["flipped", "cut", "longer", "empty", "head", "deep", "folder"])
def test_damaged_unpacked_weights_are_unpacked_again(kept: Path, tmp_path: Path, damage: str) -> None:
    path = player(tmp_path / "player.xz")
    weights = Network.load(path).weights.copy()
    (file,) = kept.iterdir()
    good = file.read_bytes()
    flipped = bytearray(good)
    flipped[-5] ^= 4
    bad = {
        "flipped": bytes(flipped),
        "cut": good[:-8],
        "longer": good + b"0" * 8,
        "empty": b"",
        "head": b"[" + good[1:],
        "deep": b"[" * 100_000,
    }
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(bad[damage])
    assert (Network.load(path).weights == weights).all()
    assert damage == "folder" or file.read_bytes() == good
    assert len(list(kept.iterdir())) == 1


def test_what_is_kept_unpacked_is_limited(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (player(tmp_path / f"{seed}.xz", seed) for seed in range(3))
    Network.load(one)
    (first,) = kept.iterdir()
    Network.load(two)
    (second,) = {*kept.iterdir()} - {first}
    unfinished = kept / ".x.1.part", kept / ".x.2.part"
    for age, file in ((50, first), (99, second), (4000, unfinished[0]), (60, unfinished[1])):
        file.touch()
        os.utime(file, 2 * (time.time() - age,))
    monkeypatch.setattr(unpacked, "MOST_KEPT", 2 * first.stat().st_size)
    Network.load(three)  # the one that was not used for longest makes room
    assert not second.exists() and first.exists() and len(list(kept.iterdir())) == 3
    assert [file.exists() for file in unfinished] == [False, True]


def test_without_a_place_to_keep_them_weights_are_unpacked_each_time(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = player(tmp_path / "player.xz")
    kept.parent.touch()  # a file in its place
    weights = Network.load(path).weights
    kept.parent.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(unpacked, "atomic_write", lambda _: (_ for _ in ()).throw(OSError("full")))
        assert (Network.load(path).weights == weights).all()
    monkeypatch.setattr(unpacked.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    assert (Network.load(path).weights == weights).all()
    assert not list(kept.iterdir())
