"""Packed players: small, nearly the same, and never more than their tuples ask for."""

from __future__ import annotations

import json
import lzma
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tuplet import Network, evaluate
from tuplet.values.packed import read_packed, write_packed
from tuplet.values.players import PLAYERS, SHIPPED


@pytest.fixture(scope="module")
def packed(trained: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_packed(trained, tmp_path_factory.mktemp("packed") / "player.xz", 0.5)


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
        with pytest.raises(ValueError, match="a packed file is for small networks"):
            write_packed(net, tmp_path / "no.xz")
    broken = Network("0123")
    broken.weights[5] = np.nan
    with pytest.raises(ValueError, match="no longer finite"):
        write_packed(broken, tmp_path / "no.xz")
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
    good = {"format": "tuplet-packed-1", "tuples": "0123", "step": 1, "target": "afterstate",
            "gamma": 1, "spawn4": 0.1}  # fmt: skip
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


def test_the_shipped_player_is_small_and_decent(tmp_path: Path, monkeypatch) -> None:
    assert (PLAYERS / f"{SHIPPED}.xz").stat().st_size <= 5_000_000
    result = evaluate(Network.load(SHIPPED), games=500, seed=2)
    assert result.ci95[0] > 80_000
    monkeypatch.chdir(tmp_path)  # a file of that name comes first
    Network("01").save("small")
    assert Network.load("small").name == "01"
