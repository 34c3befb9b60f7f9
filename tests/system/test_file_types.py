"""Whoever names the wrong file is told what it is, and which command takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture
def folder(tmp_path: Path, trained_run: Path) -> Path:
    (tmp_path / "picture").write_bytes(PNG)
    (tmp_path / "nothing").write_bytes(b"")
    (tmp_path / "noise").write_bytes(bytes(range(128, 256)) * 9)
    (tmp_path / "notes").write_text("these are my notes\n")
    (tmp_path / "match").write_text('{"kind": "match", "agents": ["a", "b"], "seed": 0}\n')
    (tmp_path / "run").symlink_to(trained_run)
    (tmp_path / "weights").symlink_to(trained_run / "weights.safetensors")
    (tmp_path / "metrics").symlink_to(trained_run / "metrics.jsonl")
    (tmp_path / "episodes").symlink_to(DATA / "interop/framework/cpp-dummy.txt")
    (tmp_path / "demo").symlink_to(DATA / "interop/demo-4x4.bin")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("show run", "the folder of a training run, for tuplet eval"),
        ("show weights", "the weights of a network, for tuplet eval"),
        ("show episodes", "games of 2048, for tuplet review"),
        ("show picture", "a PNG picture"),
        ("show nothing", "empty"),
        ("show metrics", "the metrics of a training run: name its folder"),
        ("review match", "a saved match, for tuplet show"),
        ("review run", "the folder of a training run"),
        ("review demo", "the weights of a network"),
        ("review noise", "a file of unknown kind"),
        ("review notes", "a text file"),
        ("convert match out.w", "a saved match, for tuplet show"),
        ("convert episodes out.w", "games of 2048, for tuplet review"),
        ("convert picture out.w", "a PNG picture"),
        ("eval notes", "a text file"),
        ("eval match", "a saved match, for tuplet show"),
        ("plot match -o out.png", "a saved match, for tuplet show"),
    ],
)
def test_a_wrong_file_is_described_in_the_error(tuplet: Any, folder: Path, words: str, told: str) -> None:
    done = tuplet(*words.split(), cwd=folder)
    assert done.returncode == 2 and not done.stdout
    assert told in done.stderr and done.stderr.count("\n") == 1
