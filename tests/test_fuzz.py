"""Files of every kind, damaged at random: a reader gives what it says, or ValueError or OSError."""

from __future__ import annotations

import lzma
import random
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tuplet
from tuplet import Board, Network, Run, Solution
from tuplet.arena.match_file import load, load_game
from tuplet.arena.results import Match, Tournament
from tuplet.games.formats import read_game as game_of_file
from tuplet.learn.convert import convert
from tuplet.system.file_types import describe_file
from tuplet.values.external_formats import read_external

DATA = Path(__file__).parent / "data"
SLOW = 20.0  # seconds: on a busy machine, but far from hanging
GAME = "ewn"
PIECES = [
    b"[" * 4000,
    b"{" * 4000,
    b'{"a":' * 2000,
    b"1e999",
    b"-1",
    b"10" * 300,
    b"true",
    b'""',
    b"NaN",
    b"\0" * 9,
    b"\xff" * 8,
    b"\x1b]52;c;AA\x07",
    b"\xe2\x80\xae",
    b"\n",
    b"|",
    b"@",
    b"BF16",
    b"F8_E4M3",
    b"F64",
    b"null",
    b"[]",
    b"{}",
    b'"x"',
    b"99999999999999999999",
    b"1234567",
    b"fedcba98",
    b"\x7f\x7f\xff\xff",
    b"3e38",
    b"agents",
    b"= 10000000000000",
    b"\n[a.b]\n",
]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes with something wrong: changed, cut, doubled, exchanged, or put in."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(made) + 1)
        # Headers are where the harm is done.
        at = at if rng.random() < 0.5 else at % 400
        length = rng.choice((1, 1, 2, 4, 8, 50))
        way = rng.randrange(6)
        if way == 0 and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            made[at : at + length] = b""
        elif way == 2:
            made[at:at] = made[at : at + length]
        elif way == 3:
            made[at : at + length] = rng.randbytes(length)
        elif way == 4:
            piece = rng.choice(PIECES)
            made[at : at + rng.choice((0, length, len(piece)))] = piece
        elif rng.random() < 0.2:
            del made[at:]
    return bytes(made)


def look_at(result: Any) -> None:
    """Everything that a result is asked for."""
    result.as_json()
    result.text_tables()
    repr(result)


def read_network(path: Path) -> None:
    net = Network.load(path)
    net.value(Board().place(0, 2))
    again = Network.load(net.save(path.with_name("again.safetensors")))
    assert again.value(Board().place(0, 2)) == net.value(Board().place(0, 2))


def read_framework(path: Path) -> None:
    read_external(path, "framework", net="012 014")


def read_saved(path: Path) -> None:
    result = load(path)
    assert isinstance(result, Match | Tournament)
    look_at(result)


def read_game(path: Path) -> None:
    record = load_game(path, 1)
    assert tuplet.Record.parse(record.line).line == record.line
    list(record.replay())


def read_solution(path: Path) -> None:
    solution = Solution.load(path)
    look_at(solution)
    solution.moves([[2, 2], [4, 8]])


def read_run(path: Path) -> None:
    run = Run.load(path.parent)
    look_at(run)


def read_games(path: Path) -> None:
    episode = game_of_file(path)
    assert game_of_file(episode.text("episode")).text("episode") == episode.text("episode")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, Callable[..., None]]]:
    """A small sound file of each kind, and what reads it."""
    folder = tmp_path_factory.mktemp("sound")
    run = tuplet.train("012 014", games=40, block=20, out=folder / "run", progress=False)
    staged = Network("012 45", stages="16", initial=100.0)
    staged.save(folder / "staged.safetensors")
    made: dict[str, tuple[bytes, Callable[..., None]]] = {}
    for ending in ("safetensors", "xz", "bin", "w"):
        if ending != "safetensors":
            convert(folder / "run", folder / f"net.{ending}")
        else:
            shutil.copy(folder / "run" / "weights.safetensors", folder / "net.safetensors")
        made[f"net.{ending}"] = (folder / f"net.{ending}").read_bytes(), read_network
    convert(folder / "run", folder / "fitted.xz", size="1M")
    made["fitted.xz"] = (folder / "fitted.xz").read_bytes(), read_network
    convert(folder / "run", folder / "net.f", to="framework")
    made["net.f"] = (folder / "net.f").read_bytes(), read_framework
    made["staged.safetensors"] = (folder / "staged.safetensors").read_bytes(), read_network
    tuplet.solve("2x2").save(folder / "solution")
    made["solution"] = (folder / "solution").read_bytes(), read_solution
    tuplet.match("easy", "random", GAME, games=4, out=folder / "match", progress=False)
    tuplet.tournament(["easy", "normal", "random"], GAME, games=2, out=folder / "tournament", progress=False)
    games = (folder / "match").read_bytes()
    made["match"], made["game"] = (games, read_saved), (games.split(b"\n")[1] + b"\n", read_game)
    made["tournament"] = (folder / "tournament").read_bytes(), read_saved
    made["episodes"] = ((DATA / "interop/framework/odd-names.txt").read_bytes().splitlines()[5] + b"\n", read_games)
    for name in ("config.toml", "metrics.jsonl"):
        made[name] = (folder / "run" / name).read_bytes(), read_run
    assert run.metrics
    return made


@pytest.fixture(autouse=True)
def small_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No damaged file gets more memory than that."""
    monkeypatch.setattr("tuplet.values.network.available_memory", lambda: 1 << 26)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def try_out(kinds: dict[str, Any], folder: Path, seed: int, times: int) -> int:
    """Read damaged files of each kind; returns how many were read all the same."""
    rng, read = random.Random(seed), 0
    for name, (sound, reader) in kinds.items():
        if reader is read_run:  # the other file is sound
            for other in ("config.toml", "metrics.jsonl"):
                (folder / other).write_bytes(kinds[other][0])
        path = folder / name
        for _ in range(times):
            damaged = mutated(sound, rng)
            if name.endswith(".xz") and rng.random() < 0.7:  # behind the checksum
                damaged = lzma.compress(mutated(lzma.decompress(sound), rng), preset=0)
            path.write_bytes(damaged)
            began = time.perf_counter()
            try:
                describe_file(path)
                reader(path)
                read += 1
            except (ValueError, OSError):
                pass
            except BaseException as error:
                raise AssertionError(f"{name}: {damaged[:2000]!r}") from error
            assert time.perf_counter() - began < SLOW, damaged[:500]
    return read


def test_damaged_files_of_every_kind_raise_nothing_but_what_is_told(kinds: dict[str, Any], tmp_path: Path) -> None:
    assert all(
        reader(_written(tmp_path / name, sound)) is None  # what is sound is read
        for name, (sound, reader) in kinds.items()
        if reader is not read_run
    )
    assert 0 < try_out(kinds, tmp_path, 1, 25) < 25 * len(kinds)


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_ten_thousand_damaged_files_raise_nothing_but_what_is_told(
    kinds: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    try_out(kinds, tmp_path, seed, 1000)


def test_any_text_is_a_board_or_refused() -> None:
    rng = random.Random(3)
    sound = b'| 2 | . | 4 |   |\n2,4,,8,\n[[2, 4], [8, 16]] {"board": [0, 2]} + - 1024\t\x1b[1m'
    for _ in range(2000):
        text = mutated(sound[: rng.randrange(len(sound))], rng).decode(errors="replace")
        try:
            assert Board(str(Board(text))) == Board(text)
        except ValueError:
            continue
