"""Packed players are unpacked once, into a cache that may be damaged, full or missing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tuplet import Network
from tuplet.values import packed as packing, weight_cache
from tuplet.values.packed import write_packed


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of unpacked weights, for networks of any size."""
    monkeypatch.setattr(weight_cache, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(weight_cache, "MIN_WEIGHTS", 1)
    return tmp_path / "cache" / "unpacked"


def player(path: Path, seed: int = 0, tuples: str = "012 345") -> Path:
    net = Network(tuples)
    net.weights[:] = np.random.default_rng(seed).normal(0, 100, len(net.weights))
    write_packed(net, path)
    return path


def test_a_packed_player_is_unpacked_only_once(cached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = player(tmp_path / "player.xz")
    first = Network.load(path)
    assert len(list(cached.iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.delattr(packing, "_read_planes")  # nothing is unpacked again
        again = Network.load(path)
        assert (again.weights == first.weights).all() and again.weights.ctypes.data % 64 == 0
        again.update([2, 2] + 14 * [0], 1e6)  # it can learn without changing the cache
        assert (again.weights != first.weights).any()
        assert (Network.load(path).weights == first.weights).all()
    assert (Network.load(player(path, seed=1)).weights != first.weights).any()  # another content
    assert len(list(cached.iterdir())) == 2


@pytest.mark.parametrize("damage", ["flipped", "cut", "longer", "empty", "head", "deep", "folder"])
def test_damaged_unpacked_weights_are_unpacked_again(cached: Path, tmp_path: Path, damage: str) -> None:
    path = player(tmp_path / "player.xz")
    weights = Network.load(path).weights.copy()
    (file,) = cached.iterdir()
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
    assert len(list(cached.iterdir())) == 1


def test_what_is_cached_unpacked_is_limited(cached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (player(tmp_path / f"{seed}.xz", seed) for seed in range(3))
    Network.load(one)
    (first,) = cached.iterdir()
    Network.load(two)
    (second,) = {*cached.iterdir()} - {first}
    unfinished = cached / ".x.1.part", cached / ".x.2.part"
    for age, file in ((50, first), (99, second), (4000, unfinished[0]), (60, unfinished[1])):
        file.touch()
        os.utime(file, 2 * (time.time() - age,))
    monkeypatch.setattr(weight_cache, "MAX_BYTES", 2 * first.stat().st_size)
    Network.load(three)  # the one that was not used for longest makes room
    assert not second.exists() and first.exists() and len(list(cached.iterdir())) == 3
    assert [file.exists() for file in unfinished] == [False, True]


def test_without_a_place_to_keep_them_weights_are_unpacked_each_time(
    cached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = player(tmp_path / "player.xz")
    cached.parent.touch()  # a file in its place
    weights = Network.load(path).weights
    cached.parent.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(weight_cache, "atomic_write", lambda _: (_ for _ in ()).throw(OSError("full")))
        assert (Network.load(path).weights == weights).all()
    monkeypatch.setattr(weight_cache.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    assert (Network.load(path).weights == weights).all()
    assert not list(cached.iterdir())
