from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tuplet.kernel import (
    bits as bit_twins,
    cache_folders,
    draw,
    kernel,
    load_pair,
    pdep,
    pext,
    popcount,
    random as random_twins,
    stream,
)
from tuplet.kernel.cache_folders import cache_folder
from tuplet.values.layout import compute_indices, index_of
from tuplet.values.patterns import parse, storage_order
from tuplet.values.tables import make_tables, storage, tables_for

u64 = st.integers(0, 2**64 - 1)


@kernel
def compiled(bits, mask):
    return pext(bits, mask), pdep(bits, mask), popcount(bits)


@kernel
def compiled_mix(bits):
    return random_twins.mix(bits), random_twins.step(bits)


@kernel
def compiled_indices(board, plan, out):
    compute_indices(board, plan, out, np.uint64(0))


@kernel
def compiled_two_of(array, index):
    return load_pair(array, index)


@given(u64, u64)
def test_bit_tricks_equal_their_plain_twins(bits: int, mask: int) -> None:
    a, b = np.uint64(bits), np.uint64(mask)
    twins = (bit_twins.pext(a, b), bit_twins.pdep(a, b), bit_twins.popcount(a))
    assert tuple(map(int, compiled(a, b))) == tuple(map(int, twins))
    assert int(pext(pdep(a, b), b)) == bits & ((1 << mask.bit_count()) - 1)


@given(u64)
def test_random_numbers_equal_their_plain_twins(bits: int) -> None:
    x = np.uint64(bits)
    expected = (int(random_twins.mix(x)), int(random_twins.step(x)))
    assert tuple(map(int, compiled_mix(x))) == expected


def test_random_stream_is_splitmix64() -> None:
    # The reference generator's first outputs from state 1234567.
    state, out = np.uint64(1234567), []
    for _ in range(3):
        state, bits = draw(np.uint64(state))
        out.append(int(bits))
    assert out == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_streams_of_games_and_seeds_differ() -> None:
    starts = {int(stream(np.uint64(s), np.uint64(g))) for s in range(50) for g in range(50)}
    assert len(starts) == 2500


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
@pytest.mark.parametrize("net", ["4x6", "4x5", "5x4", "2x7", "012 0 45 01234567 89abc"])
def test_vector_indices_equal_the_plain_definition(net: str, kind: type) -> None:
    plan = make_tables(parse(net), np.zeros(1, np.float32)).plan
    random = np.random.default_rng(5)
    for board in random.integers(0, 2**64, 200, np.uint64):
        fast, plain = np.zeros(plan.shape[1], kind), np.zeros(plan.shape[1], kind)
        compiled_indices(board, plan, fast)
        compute_indices(board, plan, plain, np.uint64(0))  # the twin, interpreted
        assert (fast == plain).all()


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_two_neighbours_are_loaded_in_their_order(kind: type) -> None:
    array = np.array([3, np.iinfo(kind).max, 5, 0], kind)
    for i in range(3):
        assert compiled_two_of(array, np.uint64(i)) == (array[i], array[i + 1])
        assert load_pair(array, np.uint64(i)) == (array[i], array[i + 1])


def test_tables_beyond_32_bits_are_found_by_indices_of_64() -> None:
    far = 3 << 33
    plan = tables_for([((0, 1), [0, 1], far)] * 8, np.zeros(1, np.float32)).plan
    fast, plain, board = np.zeros(8, np.uint64), np.zeros(8, np.uint64), np.uint64(0x21)
    compiled_indices(board, plan, fast)
    compute_indices(board, plan, plain, np.uint64(0))
    assert (fast == plain).all() and (fast >> np.uint64(8) == np.uint64(far >> 8)).all()


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_a_table_has_a_place_for_every_index_and_no_other(length: int) -> None:
    cells = tuple(range(length))
    place, gap = storage(cells, storage_order(cells))
    found = {int(index_of(np.uint64(i), place, gap)) for i in range(16**length)}
    assert found == set(range(16**length))


def run_python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment.update(env)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)


PLAY = """
import tuplet
net = tuplet.Network("0123 0145")
tuplet.train(net, games=3, seed=4, progress=False)
print(net.value([2, 4, 8, 0] * 4), tuplet.evaluate(net, games=2, seed=9).summary.mean_score)
"""


@pytest.mark.long
def test_results_do_not_depend_on_compilation_or_vector_instructions(tmp_path: Path) -> None:
    compiled_run = run_python(PLAY, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert compiled_run.returncode == 0, compiled_run.stderr
    interpreted = run_python(PLAY, NUMBA_DISABLE_JIT="1")
    plain_cpu = run_python(PLAY, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", NUMBA_CACHE_DIR=str(tmp_path / "c2"))
    assert compiled_run.stdout == interpreted.stdout, interpreted.stderr
    assert compiled_run.stdout == plain_cpu.stdout, plain_cpu.stderr


def test_cache_is_in_the_users_folder_and_named_by_the_sources(tmp_path: Path) -> None:
    code = "from tuplet.kernel import cache_folder; print(cache_folder())"
    folder = run_python(code, XDG_CACHE_HOME=str(tmp_path)).stdout.strip()
    assert Path(folder).parent == tmp_path / "tuplet"
    assert cache_folder() is None or Path(folder).name == cache_folder().name


def test_without_a_writable_cache_kernels_run_uncached(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code = "from tuplet.kernel import *; print(cache_folder(), popcount(7))"
    for env in ({"XDG_CACHE_HOME": str(blocked)}, {"HOME": str(blocked)}):
        assert run_python(code, **env).stdout.split() == ["None", "3"]


def test_only_sources_of_kernels_name_the_cache() -> None:
    """Editing a page of the command line recompiles nothing; a constant of the rules does."""
    names = set(cache_folders.kernel_sources())
    assert {"tuplet.learn.td", "tuplet.games.g2048.rules", "tuplet.kernel.dispatch"} <= names
    assert "tuplet.games.ewn.rules" in names  # says which kernels a game has
    assert "tuplet.values.patterns" in names  # has constants that kernels' modules import
    assert not any(name.startswith(("tuplet.cli", "tuplet.system")) for name in names)
    assert not {"tuplet.learn.training", "tuplet.learn.curves", "tuplet.arena.match"} & names


CACHED = """
import importlib.util, sys
from typing import NamedTuple
import numpy as np
from tuplet.games import protocol
from tuplet.kernel import kernel
from tuplet.testing.games import perft
if "ewn" in sys.argv:
    from tuplet.games.ewn import EwnPosition
    position = EwnGame("ewn").setup().roll(1)
    print(perft(position.rules, position.words, 2))
else:
    sys.path.insert(0, ".")
    if "path" in sys.argv:
        spec = importlib.util.spec_from_file_location("mine", "mine.py")
        mine = sys.modules["mine"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(mine)
    import mine
    print(perft(mine.Own(2), (np.uint64(0), np.uint64(0)), 3))
    print(mine.double(3))
hits, misses = perft.stats.cache_hits, perft.stats.cache_misses
print("kept" if hits and not misses else "compiled")
"""
OWN_GAME = """
from typing import NamedTuple
import numpy as np
from helper import FACTOR
from tuplet.games.protocol import ONGOING, register_game
from tuplet.kernel import kernel
class Own(NamedTuple):
    moves: int
@kernel
def legal(game, position, moves, start):
    for i in range(game.moves):
        moves[start + i] = i
    return game.moves
@kernel
def apply(game, position, move):
    return position
@kernel
def ending(game, position):
    return ONGOING
@kernel
def zero(game, position):
    return 0
@kernel
def double(x):
    return FACTOR * x
register_game(Own, 2, side=zero, legal=legal, apply=apply, ending=ending, winner=zero)
"""


def run_cached(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CACHED, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def own_game(tmp_path: Path) -> Path:
    """A folder with a game of somebody's own, a helper of it, and something else."""
    (tmp_path / "mine.py").write_text(OWN_GAME)
    (tmp_path / "helper.py").write_text("FACTOR = 2")
    (tmp_path / "other.py").write_text("")
    return tmp_path


@pytest.mark.slow
def test_code_for_a_users_game_is_cached_until_it_or_its_helpers_change(own_game: Path) -> None:
    assert run_cached(own_game) == ["8", "6", "compiled"]
    assert run_cached(own_game) == ["8", "6", "kept"]
    assert run_cached(own_game, "path") == ["8", "6", "kept"]
    (own_game / "other.py").write_text("changed = True")
    assert run_cached(own_game) == ["8", "6", "kept"]
    edited = OWN_GAME.replace("range(game.moves)", "range(3)").replace("return game.moves", "return 3")
    (own_game / "mine.py").write_text(edited)
    assert run_cached(own_game) == ["27", "6", "compiled"]
    (own_game / "helper.py").write_text("FACTOR = 5")
    assert run_cached(own_game) == ["27", "15", "compiled"]
    (own_game / "helper.py").write_text("FACTOR = 2")
    (own_game / "mine.py").write_text(OWN_GAME)
    assert run_cached(own_game) == ["8", "6", "kept"]


@pytest.mark.long
def test_a_game_that_is_gone_does_no_harm_and_what_is_damaged_heals(own_game: Path) -> None:
    known = run_cached(own_game, "ewn")[0]
    run_cached(own_game)
    (own_game / "mine.py").rename(own_game / "theirs.txt")
    assert run_cached(own_game, "ewn") == [known, "kept"]
    for path in (own_game / "cache").rglob("*perft*.nb?"):
        path.write_bytes(path.read_bytes()[:100])
    assert run_cached(own_game, "ewn") == [known, "compiled"]
    assert run_cached(own_game, "ewn") == [known, "kept"]
    (own_game / "theirs.txt").rename(own_game / "mine.py")
    assert run_cached(own_game) == ["8", "6", "compiled"]
    assert run_cached(own_game) == ["8", "6", "kept"]


@pytest.mark.long
def test_code_for_games_unused_for_a_month_is_removed(own_game: Path) -> None:
    run_cached(own_game)
    (old,) = (own_game / "cache").rglob("user-*")
    os.utime(old, (0, 0))
    run_cached(own_game)  # is playing it
    assert old.stat().st_mtime > 0
    os.utime(old, (0, 0))
    (own_game / "helper.py").write_text("FACTOR = 3")
    run_cached(own_game)
    (new,) = (own_game / "cache").rglob("user-*")
    assert new != old


WITHOUT_CLOCK = """
import time
from llvmlite import binding
known = binding.address_of_symbol
binding.address_of_symbol = lambda name: None if name == "clock_gettime" else known(name)
from tuplet.kernel import kernel, now

@kernel
def read():
    return now()

before, read_there, after = time.monotonic(), read(), time.monotonic()
assert before <= read_there <= after, (before, read_there, after)
print(read.signatures)
"""


def test_compiled_code_has_the_clock_of_python_where_the_system_has_no_clock_gettime(tmp_path: Path) -> None:
    """As on Windows."""
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLOCK],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert told.stdout == "[()]\n", told.stderr
