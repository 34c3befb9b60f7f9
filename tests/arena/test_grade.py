"""`tuplet grade`: the programs of a class against baselines, and their points."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tuplet as package
from tuplet.arena.grade import Bar
from tuplet.arena.results import pairings
from tuplet.errors import UserError


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """A program that plays, and one that says nothing sensible."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    package.new("program", "runner", out=folder)
    (folder / "broken.py").write_text("print('hello')\n")
    (folder / "notes.txt").write_text("not a program")
    return folder


def test_programs_meet_the_baselines_and_not_each_other() -> None:
    assert pairings(5, 2) == [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]
    assert pairings(4, 0) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_a_program_gets_the_points_of_the_bars_that_it_reaches(submissions: Path, tuplet, tmp_path: Path) -> None:
    bars = "random>=50:40 easy>=0:1.5 hard>=100%:60"
    words = ("grade", submissions, "--bars", bars, "--games", 8, "--out", tmp_path / "games.jsonl")
    first = tuplet(*words, "--csv", tmp_path / "points.csv", "--html", tmp_path / "games.html", "--json")
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    runner, broken = report["grades"]
    assert (runner["program"], broken["program"]) == ("runner", "broken")
    for grade in report["grades"]:
        for mark, bar in zip(grade["marks"], report["bars"], strict=True):
            assert mark["points"] == (bar["points"] if mark["win_rate"] >= bar["share"] else 0)
            low, high = mark["ci95"]
            assert low <= mark["win_rate"] <= high and mark["close"] == (low < bar["share"] <= high)
        assert grade["points"] == sum(mark["points"] for mark in grade["marks"])
    assert runner["points"] >= 41.5 and broken["points"] == 1.5  # nothing is to be won for its second bar
    assert broken["forfeits"]["illegal"] == 24 and not sum(runner["forfeits"].values())
    with (tmp_path / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["program"], float(row["points"])) for row in rows] == [
        ("runner", runner["points"]),
        ("broken", broken["points"]),
    ]
    assert float(rows[0]["hard win_rate"]) == runner["marks"][2]["win_rate"]
    assert "runner" in (tmp_path / "games.html").read_text()
    # The saved games have it all: nothing is played again, and `show` reads them.
    saved = (tmp_path / "games.jsonl").read_bytes()
    again = tuplet(*words, "--json")
    assert json.loads(again.stdout) == report and (tmp_path / "games.jsonl").read_bytes() == saved
    lines = saved.splitlines(keepends=True)
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines[:20]))
    resumed = json.loads(tuplet(*words, "--json").stdout)  # the program plays at random: other games, as many
    assert resumed["tournament"]["games"] == 48
    assert (tmp_path / "games.jsonl").read_bytes().startswith(b"".join(lines[:20]))
    shown = tuplet("show", tmp_path / "games.jsonl", "--json")
    assert shown.returncode == 0 and json.loads(shown.stdout)["games"] == 48


@pytest.mark.parametrize(
    ("bars", "complaint"),
    [
        ("easy", "a bar is agent>=percent:points"),
        ("easy>=many:4", "a bar is agent>=percent:points"),
        ("easy>=120:4", "must be 0 to 100 %"),
        ("", "there is no bar"),
        ("nobody>=50:4", "nobody"),
    ],
)
def test_a_bar_that_cannot_be_read_is_refused_in_one_line(bars: str, complaint: str, submissions: Path, tuplet) -> None:
    done = tuplet("grade", submissions, "--bars", bars)
    assert done.returncode == 2 and complaint in done.stderr.splitlines()[-1]


def test_a_baseline_may_have_settings() -> None:
    assert Bar.read("mcts:ucb=tuned,sims=50>=12.5:3") == ("mcts:ucb=tuned,sims=50", 0.125, 3.0)
    with pytest.raises(UserError):
        Bar.read("mcts:sims=50")
