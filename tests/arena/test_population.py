"""Many runs side by side: the best of them and their average, judged by games of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tuplet
from tuplet.cli import run

SETTINGS = {"net": "0123 4567", "games": 300, "evaluate_games": 60}


def test_the_best_and_the_average_are_kept_and_judged_anew(tmp_path: Path) -> None:
    found = tuplet.population(seeds=3, out=tmp_path / "pop", seed=4, **SETTINGS)
    assert [member.seed for member in found.members] == [4, 5, 6]
    first = max(found.members, key=lambda member: member.mean_score)
    kept = tuplet.Network.load(tmp_path / "pop")
    assert (kept.weights == tuplet.Network.load(first.folder).weights).all()
    mean = tuplet.Network.load(tmp_path / "pop" / "average.safetensors")
    members = [tuplet.Network.load(member.folder) for member in found.members]
    board = [2, 4, 8, 16, 0, 2, 64, 32] + 8 * [0]
    assert mean.value(board) == pytest.approx(sum(m.value(board) for m in members) / 3, rel=1e-5)
    assert found.best is not None
    assert found.average is not None
    assert found.best.summary.mean_score != first.mean_score  # by other games
    assert not found.interrupted
    again = tuplet.population(seeds=3, out=tmp_path / "pop", seed=4, **SETTINGS)
    assert again.as_json() == found.as_json()


def test_recipes_can_differ_too(tmp_path: Path) -> None:
    found = tuplet.population(seeds=2, out=tmp_path / "pop", recipe="quick,homework", **SETTINGS)
    assert len(found.members) == 4
    assert {member["settings"] for member in found.as_json()["runs"]} == {"recipe=quick", "recipe=homework"}


def test_a_stopped_population_continues(tmp_path: Path) -> None:
    stop = tuplet.Stop()
    seen = []

    def look(event: tuplet.Progress) -> None:
        seen.append(event)
        if event.figures.get("runs", "").startswith("1 "):
            stop.set()

    part = tuplet.population(seeds=4, out=tmp_path / "pop", threads=1, stop=stop, progress=look, **SETTINGS)
    assert part.interrupted
    assert 1 <= len(part.members) < 4
    whole = tuplet.population(seeds=4, out=tmp_path / "pop", **SETTINGS)
    assert whole.members[: len(part.members)] == part.members


def test_the_command_line_shows_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "population",
        "--seeds",
        "2",
        "--net",
        "0123 4567",
        "--games",
        "200",
        "--out",
        str(tmp_path / "pop"),
        "--evaluate-games",
        "40",
    ]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "average.safetensors" in out
    assert "the best" in out
    assert run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["seed"] for each in told["runs"]] == [0, 1]
    assert told["average"]["ci95"][0] < told["average"]["mean_score"]
    for many in ("0", "1000000"):
        assert run(["population", "--seeds", many, "--games", "9"]) == 2
        assert "seeds must be 2 to 1000" in capsys.readouterr().err
    assert run([*words, "--csv", str(tmp_path / "x.csv")]) == 0
    assert [line.split(",")[1] for line in (tmp_path / "x.csv").read_text().splitlines()] == ["seed", "0", "1"]
    pytest.importorskip("tensorboardX")
    capsys.readouterr()
    assert run([*words, "--tensorboard"]) == 2
    assert "--tensorboard" in capsys.readouterr().err
