"""Training runs over HTTP: looked at by anybody, trained with `serve --train` only."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from browsing import Server, serving
from tuplet.learn.run import locked


@pytest.fixture
def runs(tmp_path: Path, trained_run: Path) -> Path:
    """A folder with a run of 3,000 games."""
    shutil.copytree(trained_run, tmp_path / "runs" / "done")
    return tmp_path / "runs"


@pytest.fixture
def watched(runs: Path) -> Iterator[Server]:
    """A server whose clients may look only."""
    with serving(runs=runs) as server:
        yield server


def ask(server: Server, path: str, **body: Any) -> Any:
    """The answer to a call, which must be right."""
    status, answer = server.ask(path, body or None)
    assert status == 200, answer
    return answer


def test_a_run_is_listed_and_described_with_its_curve_and_its_command(watched: Server) -> None:
    listed = ask(watched, "/api/runs")
    assert listed["train"] is False
    assert [(run["run"], run["state"], run["games"]) for run in listed["runs"]] == [("done", "finished", 3000)]
    answer = ask(watched, "/api/run", name="done", points=2)
    run, curve = answer["run"], answer["curve"]
    assert run["commands"] == ["tuplet train --net=5x4 --games=3000 --seed=1"]
    assert (run["state"], run["games"], run["error"], run["changes"]) == ("finished", 3000, None, [])
    assert run["settings"]["net"] == "5x4" and run["settings"]["lambda"] == 0.5
    assert curve["games"] == [1000, 3000]
    for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True):
        assert low < mean < high
    assert len(ask(watched, "/api/run", name="done")["curve"]["games"]) == 3


def test_the_state_of_a_run_is_found_from_its_folder_alone(watched: Server, runs: Path) -> None:
    def state() -> tuple[str, str | None]:
        run = ask(watched, "/api/run", name="done")["run"]
        return run["state"], run["error"]

    with locked(runs / "done"):
        assert state() == ("running", None)
    assert state() == ("finished", None)
    config = runs / "done" / "config.toml"
    config.write_text(config.read_text().replace("games = 3000", "games = 9000"))
    assert state() == ("stopped", None)
    with suppress(ValueError), locked(runs / "done") as begin:
        begin()
        raise ValueError("the weights diverged")
    assert state() == ("failed", "the weights diverged")


@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "done/../../outside", "/etc", "link", "no", "x\0"])
def test_no_name_leads_outside_of_the_folder_of_runs(name: str, watched: Server, runs: Path, trained_run: Path) -> None:
    shutil.copytree(trained_run, runs.parent / "outside")
    (runs / "link").symlink_to(runs.parent / "outside")
    status, answer = watched.ask("/api/run", {"name": name})
    assert status == 400 and ("name must be" in answer["error"] or "there is no run" in answer["error"])
    assert [run["run"] for run in ask(watched, "/api/runs")["runs"]] == ["done"]
