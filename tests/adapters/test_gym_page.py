"""docs/gymnasium.md: every line of code runs and prints what it shows; the measurement runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pages import DOCS, follow

pytestmark = pytest.mark.slow


def test_the_page_says_what_can_be_done(tuplet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "gymnasium.md").read_text(encoding="utf-8")
    assert follow(tuplet, text, tmp_path) > 25


def test_the_measurement_measures_what_is_here() -> None:
    """Ours, and a line for each of the others: its speed, or that it is not installed."""
    script = [sys.executable, DOCS / "_ext" / "gym_speed.py", "--seconds", "0.02"]
    done = subprocess.run([*script, "--boards", "32"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:5]] == [
        "tuplet, exponents",
        "tuplet, onehot",
        "tuplet, afterstates",
        "tuplet, single",
    ]
    for name in ("pgx", "jumanji", "gymnasium"):
        assert any(line.startswith(name) for line in lines[5:])
