"""Studies: listed, and run again by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tuplet.cli import run


def test_studies_are_listed_and_run_by_name(capsys, tmp_path: Path) -> None:
    assert run(["reproduce"]) == 0
    assert "regret" in capsys.readouterr().out
    picture = tmp_path / "regret.svg"
    options = ["--board", "2x2", "--games", "200", "-o", str(picture), "--json"]
    assert run(["reproduce", "regret", *options]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["board"], row["games"]) for row in rows} == {("2x2", 100), ("2x2", 200)}
    assert all(row["score"] + row["regret"] == pytest.approx(66.964149) for row in rows)
    assert "<svg" in picture.read_text()
    for arguments in (["nothing"], ["regret", "-o", "picture.txt"], ["regret", "--board", "5x5"]):
        assert run(["reproduce", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
