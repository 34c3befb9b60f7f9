"""What the page on many machines calculates is what its example calculates."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import a_hundred_machines as machines  # noqa: E402


def test_the_page_has_the_table_of_the_example() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert f"\n{machines.table()}\n" in page
    assert doctest.testmod(machines).failed == 0


def test_more_machines_help_until_the_scheduler_or_the_cable_is_full() -> None:
    speeds = [machines.blocks(cores, 0.1) for cores in (1, 10, 100, 1000, 10_000)]
    assert speeds == sorted(speeds)
    assert speeds[-1] == speeds[-2]
    rounds = [
        machines.round_s(1, machines.HALL, 1e6) / machines.round_s(n, machines.HALL, 1e6) for n in (1, 10, 100, 1000)
    ]
    assert rounds[0] == 1
    assert max(rounds) > rounds[-1]
    tree = machines.round_s(1000, machines.HALL, 1e6, tree=True)
    assert tree < machines.round_s(1000, machines.HALL, 1e6)
