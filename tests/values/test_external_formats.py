"""Weight files of other programs: read, written, and refused if not valid."""

from __future__ import annotations

import json
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from naive import NaiveNetwork
from tuplet import Board, Network, evaluate
from tuplet.values.external_formats import detect_format, read_external, write_external
from tuplet.values.network import COHERENCE

INTEROP = Path(__file__).parent.parent / "data" / "interop"
VALUES = [json.loads(line) for line in (INTEROP / "values.jsonl").open()]
SAMPLES = {
    "demo-4x4.bin": ("demo", "0123 4567 0145 1256"),
    "tdl2048-5x4.w": ("tdl2048", "5x4"),
    "tdl2048-2x4-tc.w": ("tdl2048", "0123 4567"),
}
KINDS = ["demo", "tdl2048", "framework", "framework-2017"]
NEVER = np.finfo(np.float32).tiny  # what TDL2048+ starts its sums from
ROWS = [[1, 2, 3, 4], [5, 6, 7, 8], [0, 15, 9, 2], [10, 0, 1, 3]]
BOARD = Board([1 << e if e else 0 for row in ROWS for e in row])


def random_network(tuples: str, coherent: bool = False) -> Network:
    net, random = Network(tuples), np.random.default_rng(5)
    net.weights[:] = random.normal(0, 100, len(net.weights))
    if coherent:
        sums = net.learner_memory(COHERENCE, 2)
        sums[:] = random.normal(0, 10, sums.shape)
        sums[:, 1] = np.abs(sums).sum(axis=1)
        sums[::3] = 0
    return net


def table(length: int, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(0, 50, length).astype("<f4")


def value_by_hand(tables: dict[str, Any], high: bool = False) -> float:
    """The value of BOARD with each tuple's table in a file's order."""
    total = 0.0
    for cells, weights in tables.items():
        for key in NaiveNetwork([cells]).keys(ROWS):
            seen = key[-len(cells) :]
            digits = seen[::-1] if high else seen
            total += float(weights[sum(e << 4 * i for i, e in enumerate(digits))])
    return total


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_of_other_programs_have_their_values_and_are_written_byte_by_byte(name: str, tmp_path: Path) -> None:
    kind, tuples = SAMPLES[name]
    net = Network.load(INTEROP / name)
    assert (detect_format(INTEROP / name), net.name, net.target) == (kind, tuples, "afterstate")
    for row in VALUES:
        value = net.value(Board([1 << e if e else 0 for e in row["board"]]))
        assert value == pytest.approx(row[name], rel=1e-6, abs=2e-3)
    again = write_external(net, tmp_path / "again", kind)  # type: ignore[arg-type]
    assert again.read_bytes() == (INTEROP / name).read_bytes()


def test_the_tdl2048_sample_plays_as_well_as_where_it_was_trained() -> None:
    """There: 20,000 games with a mean of 36,241, the 2048 tile in 75.4 %."""
    result = evaluate(Network.load(INTEROP / "tdl2048-5x4.w"), games=2000, threads=2, seed=3)
    assert result.ci95[0] < 36_241 < result.ci95[1]
    assert result.reached_ci95[2048][0] < 0.754 < result.reached_ci95[2048][1]


def test_the_demo_sample_plays_as_well_as_where_it_was_trained() -> None:
    """There: a mean of 21,919 over its last thousand games, in which it was still learning.

    What was learned from the last of those games is in the file: a little better is expected.
    """
    result = evaluate(Network.load(INTEROP / "demo-4x4.bin"), games=1000, threads=2, seed=3)
    assert 21_000 < result.summary.mean_score < 24_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tuples", ["5x4", "01 01234 5 45678"])
def test_every_format_returns_the_network_it_was_given(kind, tuples, tmp_path: Path) -> None:
    net = random_network(tuples, coherent=True)
    path = write_external(net, tmp_path / "net", kind)
    assert detect_format(path) == kind
    again = read_external(path, kind, net=tuples if kind.startswith("framework") else "")
    assert again.tuples == net.tuples
    assert again.weights.tobytes() == net.weights.tobytes()
    if kind == "tdl2048":
        assert again.memory is not None and net.memory is not None
        assert again.memory.values.tobytes() == net.memory.values.tobytes()
    else:
        assert again.memory is None


@pytest.mark.parametrize("kind", ["demo", "tdl2048"])
def test_reading_and_writing_take_no_more_memory_than_the_file(kind, tmp_path: Path) -> None:
    net = random_network("01234 45678 01245")
    path = write_external(net, tmp_path / "net", kind)
    size = path.stat().st_size
    tracemalloc.start()
    try:
        write_external(net, path, kind)
        assert tracemalloc.get_traced_memory()[1] < size
        tracemalloc.reset_peak()
        again = Network.load(path)
        assert tracemalloc.get_traced_memory()[1] < again.weights.nbytes + size
    finally:
        tracemalloc.stop()


@given(st.permutations(range(16)), st.lists(st.integers(1, 3), min_size=1, max_size=4))
@settings(max_examples=30)
def test_any_tuples_return_through_named_formats(tmp_path_factory, cells, lengths) -> None:
    folder = tmp_path_factory.mktemp("any")
    tuples, at = [], 0
    for length in lengths:
        tuples.append("".join(f"{c:x}" for c in cells[at : at + length]))
        at += length
    try:
        net = random_network(" ".join(tuples))
    except ValueError:  # the same up to symmetry
        return
    for kind in ("demo", "tdl2048"):
        again = Network.load(write_external(net, folder / kind, kind))
        assert again.tuples == net.tuples and again.weights.tobytes() == net.weights.tobytes()


def test_sums_that_are_zero_are_the_smallest_float_in_tdl2048(tmp_path: Path) -> None:
    """It takes |E| / A without a look at A; its own files show what it starts from."""
    net = random_network("01", coherent=True)
    data = write_external(net, tmp_path / "net.w", "tdl2048").read_bytes()
    sums = np.frombuffer(data[-2 - 8 * 256 : -2], "<f4").reshape(2, 256)
    assert (sums[1] > 0).all()
    assert ((sums[0] == NEVER) == (sums[1] == NEVER)).all() and 80 < (sums == NEVER).sum() / 2 < 90
    theirs = Network.load(INTEROP / "tdl2048-2x4-tc.w").learner_memory(COHERENCE, 2)
    assert theirs is not None
    assert (np.abs(theirs[:, 0]) <= theirs[:, 1]).all()
    assert 0.05 < (theirs[:, 1] > 0).mean() < 0.5  # the others were never visited


@pytest.mark.parametrize(("width", "most"), [(2, 1e-3), (4, 0), (8, 1e-7)])
def test_tdl2048_weights_may_have_two_four_or_eight_bytes(width, most, tmp_path: Path) -> None:
    weights = table(16**3).astype(f"<f{width}")
    head = struct.pack("<BIBIHHHQ", 0, 1, 4, 0x015, 3, 0, width, 16**3)
    sums = np.concatenate([table(16**3, 2), np.abs(table(16**3, 2)) + 1]).astype(f"<f{width}")
    tail = struct.pack("<HQ", width, 2 * 16**3) + sums.tobytes() + struct.pack("<H", 0)
    path = tmp_path / "net.w"
    path.write_bytes(head + weights.tobytes() + tail)
    net = Network.load(path)
    assert net.value(BOARD) == pytest.approx(value_by_hand({"015": weights}), rel=1e-5)
    sums = net.learner_memory(COHERENCE, 2)
    assert sums.any() and (sums[:, 1] >= np.abs(sums[:, 0])).all()
    assert np.sort(net.weights) == pytest.approx(np.sort(table(16**3)), rel=most)


@pytest.mark.parametrize("count", ["<I", "<Q"])
def test_framework_files_are_told_by_the_sizes_of_their_tables(count, tmp_path: Path) -> None:
    cells = ["0123", "4567", "0145", "1256", "569a"]
    tables = {c: table(65536, seed) for seed, c in enumerate(cells)}
    parts = [struct.pack("<Q", 65536) + w.tobytes() for w in tables.values()]
    path = tmp_path / "weights.bin"
    path.write_bytes(struct.pack(count, 5) + b"".join(parts))
    kind = detect_format(path)
    assert kind == ("framework" if count == "<I" else "framework-2017")
    net = Network.load(path)
    assert net.name == "5x4"
    assert net.value(BOARD) == pytest.approx(value_by_hand(tables), rel=1e-4)
    assert write_external(net, tmp_path / "again", kind).read_bytes() == path.read_bytes()

    other = read_external(path, kind, net="3210 4567 0145 1256 569a", first="high")
    mirrored = {"3210": tables["0123"]} | {c: tables[c] for c in cells[1:]}
    assert other.value(BOARD) == pytest.approx(value_by_hand(mirrored, high=True), rel=1e-4)
    again = write_external(other, tmp_path / "again", kind, first="high")
    assert again.read_bytes() == path.read_bytes()


def test_framework_files_that_are_unclear_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"

    def write(*lengths: int) -> None:
        parts = [struct.pack("<Q", n) + bytes(4 * n) for n in lengths]
        path.write_bytes(struct.pack("<I", len(lengths)) + b"".join(parts))

    write(4096, 4096)
    with pytest.raises(ValueError, match=r"convert .* --net"):
        Network.load(path)
    assert read_external(path, "framework", net="012 456").name == "012 456"
    with pytest.raises(ValueError, match=r"do not fit the tuples of --net 012 45"):
        read_external(path, "framework", net="012 45")
    with pytest.raises(ValueError, match="same up to symmetry"):
        read_external(path, "framework", net="012 210")
    write(15**3, 15**3)
    with pytest.raises(ValueError, match=r"3,375, 3,375 weights: only tables of 16\^n"):
        Network.load(path)


def test_networks_that_another_program_cannot_hold_are_refused(tmp_path: Path) -> None:
    for options, word in (
        ({"target": "state"}, "after-states"),
        ({"gamma": 0.9}, "discount"),
        ({"board": "3x3"}, "4x4"),
        ({"stages": "512"}, "stages"),
    ):
        for kind in KINDS:
            with pytest.raises(ValueError, match=f"{kind} files .* {word}"):
                write_external(Network("01", **options), tmp_path / "net", kind)  # type: ignore
    net = Network("01")
    net.weights[3] = np.nan
    with pytest.raises(ValueError, match="finite"):
        write_external(net, tmp_path / "net", "demo")
    assert not list(tmp_path.iterdir())


def small_files(folder: Path) -> dict[str, bytes]:
    """A file of each kind, small enough that every byte of its heads can be harmed."""
    net = random_network("01 45", coherent=True)
    return {k: write_external(net, folder / k, k).read_bytes() for k in KINDS}  # type: ignore


def refused(path: Path) -> bool:
    """Whether a file is refused, in one line that names it; anything else fails the test."""
    try:
        net = Network.load(path)
    except ValueError as error:
        complaint = str(error)
    else:
        assert np.isfinite(net.weights).all()
        return False
    assert str(path) in complaint and "\n" not in complaint
    return True


def test_files_cut_short_or_too_long_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "harmed"
    for kind, good in small_files(tmp_path).items():
        for stop in [*range(80), *range(80, len(good), 97), len(good) - 1]:
            path.write_bytes(good[:stop])
            assert refused(path), (kind, stop)
        path.write_bytes(good + b"\0")
        assert refused(path)


def test_lengths_that_lie_are_refused_before_anything_is_allocated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = small_files(tmp_path)

    def allocate(*_: object) -> None:
        raise AssertionError("allocated")

    monkeypatch.setattr("tuplet.values.network.allocate", allocate)
    path = tmp_path / "harmed"
    length = struct.pack("<Q", 256)
    for kind, good in files.items():
        for lie in (257, 16**6, 16**8, 1 << 40, 1 << 62, (1 << 64) - 1):
            path.write_bytes(good.replace(length, struct.pack("<Q", lie), 1))
            assert refused(path), (kind, lie)
    demo = files["demo"]
    for lie in (-1, 21, 1 << 30):
        path.write_bytes(demo[:8] + struct.pack("<i", lie) + demo[12:])
        assert refused(path)
    for tables in (0, 3, 1 << 31):
        path.write_bytes(struct.pack("<Q", tables) + demo[8:])
        assert refused(path)


@given(st.data())
@settings(max_examples=200)
def test_harmed_files_are_read_or_refused(tmp_path_factory, data) -> None:
    folder = tmp_path_factory.mktemp("harmed", numbered=True)
    files = test_harmed_files_are_read_or_refused.files  # type: ignore[attr-defined]
    if not files:
        files.update(small_files(folder))
    harmed = bytearray(files[data.draw(st.sampled_from(KINDS))])
    near = st.integers(0, 60) | st.integers(0, len(harmed) - 1)
    for _ in range(data.draw(st.integers(1, 6))):
        harmed[data.draw(near)] = data.draw(st.integers(0, 255))
    path = folder / "harmed"
    path.write_bytes(harmed)
    refused(path)


test_harmed_files_are_read_or_refused.files = {}  # type: ignore[attr-defined]


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_noise_is_refused(tmp_path_factory, noise: bytes) -> None:
    path = tmp_path_factory.mktemp("noise") / "noise"
    path.write_bytes(noise)
    assert refused(path)


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "harmed"
    for kind, good in small_files(tmp_path).items():
        weights = len(good) - 500  # amid the last table, or TC's sums
        path.write_bytes(good[:weights] + b"\xff" * 8 + good[weights + 8 :])
        assert refused(path), kind
    head = struct.pack("<BIBIHHHQ", 0, 1, 4, 0x01, 2, 0, 8, 256)
    path.write_bytes(head + np.full(256, 1e300).tobytes() + b"\0\0")
    assert refused(path)
