"""Levels in few bytes: what is packed is unpacked, compiled and interpreted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tuplet.games.registry import find_game
from tuplet.values.game_network import GameNetwork
from tuplet.values.levels import pack_levels, unpack_levels
from tuplet.values.players import bundled_values


def random_tables(seed: int) -> list[tuple[np.ndarray, int]]:
    random = np.random.default_rng(seed)
    tables = []
    for base, cells in ((2, 6), (3, 5), (9, 3), (16, 2), (4096, 1), (1, 1), (5, 7)):
        levels = random.integers(-32768, 32768, base**cells).astype(np.int16)
        levels[random.random(len(levels)) < random.random()] = 0
        tables.append((levels >> random.integers(0, 16), base))
    return tables


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_unpacked_as_they_were_packed(seed: int) -> None:
    tables = random_tables(seed)
    found = unpack_levels(pack_levels(tables), [(len(levels), base) for levels, base in tables])
    for (levels, _), back in zip(tables, found, strict=True):
        np.testing.assert_array_equal(back, levels)


def test_no_levels_take_few_bytes() -> None:
    assert len(pack_levels([])) <= 4
    assert len(pack_levels([(np.zeros(9**5, np.int16), 9)])) < 100


def test_a_player_of_ewn_takes_less_than_xz_makes_of_it() -> None:
    file = bundled_values("ewn")
    assert file is not None
    network = GameNetwork.load(file, find_game("ewn"))
    step = np.abs(network.weights[network.weights != 0]).min()
    levels = np.rint(network.weights / step).astype(np.int16)
    bases = [*(each.base for each in network.tuples), *network.sizes[len(network.tuples) :]]
    tables = [(levels[network.table_slice(number)], base) for number, base in enumerate(bases)]
    assert len(pack_levels(tables)) < 0.8 * file.stat().st_size


SCRIPT = "from test_levels import *; print(pack_levels(random_tables(7)[:5]).hex())"


def test_interpreted_code_packs_the_same_bytes() -> None:
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == pack_levels(random_tables(7)[:5]).hex()
