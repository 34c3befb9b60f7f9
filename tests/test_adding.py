"""docs/adding.md: every piece of code runs, and Connect Four is what the page says it is."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tuplet as tuplet_package
from pages import arguments_of, blocks

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
START, GAME, AGENT, BANDIT, LEARNER = re.split(r"^## ", PAGE, flags=re.M)
EXAMPLE = (ROOT / "examples" / "connect4.py").read_text(encoding="utf-8")
CONNECT4 = "examples/connect4.py:CONNECT4"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_lines(tuplet, text: str, here: Path) -> None:
    """The page's commands, with fewer games."""
    for line in "".join(blocks("sh", text)).splitlines():
        words = arguments_of(line)
        if words[0] in ("play", "bench"):
            continue  # the one takes a person, the other its time
        if "--games" in words:
            at = words.index("--games") + 1
            words[at] = {"30000": "300", "20000": "200", "1000": "20"}.get(words[at], "2")
        if words[0] == "train":
            words += ["--net", "5x4"]
        done = tuplet(*words, cwd=here)
        assert done.returncode == 0, (line, done.stderr)


def test_the_game(tuplet, here: Path) -> None:
    assert len(EXAMPLE.splitlines()) <= 180
    names: dict[str, object] = {}
    shown = 0
    for piece in blocks("python", GAME):
        if piece in EXAMPLE:
            shown += 1
        else:
            assert "tuplet" in piece
            exec(piece, names)
    assert shown == 8
    run_lines(tuplet, GAME, here)


def test_the_templates(tuplet, here: Path) -> None:
    run_lines(tuplet, START, here)
    written = {path.name for path in here.glob("*.*")}
    assert written == {"my_game.py", "look_ahead.py", "smooth.py", "spite.py", "runner.py", "racer.cpp"}


def test_the_agents(tuplet, here: Path) -> None:
    pieces = blocks("python", AGENT)
    names: dict[str, object] = {}
    for piece in pieces:
        exec(piece, names)
    (here / "mine.py").write_text("\n".join(piece for piece in pieces if "class " in piece))
    run_lines(tuplet, AGENT, here)
    told = tuplet(
        "analyze",
        CONNECT4,
        "......./......./......./......./.RRR.../.YYY...",
        "--agent",
        "mine:OneAhead",
        "--json",
        cwd=here,
        process=True,
    )
    assert told.returncode == 0, told.stderr
    report = json.loads(told.stdout)
    assert report["best"] in ("1", "5") and report["note"] == "one move ahead"
    values = {move["move"]: move["value"] for move in report["moves"]}
    assert values == {"1": 1.0, "5": 1.0, "2": 0.5, "3": 0.5, "4": 0.5, "6": 0.5, "7": 0.5}


def test_the_bandit(tuplet, here: Path) -> None:
    (here / "bandit.py").write_text(blocks("python", BANDIT)[0])
    run_lines(tuplet, BANDIT, here)
    wrong = tuplet("match", "mcts:ucb=bandit.py:Nobody", "easy", cwd=here, process=True)
    assert wrong.returncode == 2 and "has no class Nobody" in wrong.stderr


def test_the_learner(tuplet, here: Path) -> None:
    (here / "learner.py").write_text(blocks("python", LEARNER)[0])
    run_lines(tuplet, LEARNER, here)
    config = (here / "runs" / "settling" / "config.toml").read_text()
    assert 'learner = "settling"' in config and "learner.py" not in config
    resumed = tuplet("train", "--resume", "runs/settling", "--games", 400, cwd=here, process=True)
    assert resumed.returncode == 2 and "your own, --learner file.py:NAME" in resumed.stderr
    (here / "runs" / "settling" / "config.toml").write_text(config.replace('"settling"', '"learner.py:SETTLING"'))
    refused = tuplet("train", "--resume", "runs/settling", "--games", 400, cwd=here, process=True)
    assert refused.returncode == 2 and "code of a learner cannot be named" in refused.stderr


def test_connect_four_is_played_like_any_other_game(tuplet, here: Path) -> None:
    """match, tournament, show, play and analyze, on one core and two, and after an interruption."""
    agents = ("mcts:sims=100,batch=1,expand=5", "alphabeta:depth=2")
    done = []
    for threads, file in ((1, "a"), (2, "b")):
        found = tuplet(
            "match",
            *agents,
            "--game",
            CONNECT4,
            "--games",
            6,
            "--threads",
            threads,
            "--out",
            file,
            "--json",
            cwd=here,
            process=True,
        )
        assert found.returncode == 0, found.stderr
        done.append(json.loads(found.stdout))
    assert done[0] == done[1] and (here / "a").read_bytes() == (here / "b").read_bytes()
    report = done[0]
    assert report["wins"] + report["draws"] + report["losses"] == report["games"] == 6
    assert report["win_rate"] == (report["wins"] + report["draws"] / 2) / 6
    lines = (here / "a").read_text().splitlines()
    assert len({json.loads(line)["start"] for line in lines[1:]}) == 3  # pairs differ
    (here / "b").write_text("\n".join(lines[:4]) + "\n" + lines[4][:20])
    again = tuplet("match", *agents, "--game", CONNECT4, "--games", 6, "--out", "b", "--json", cwd=here, process=True)
    assert json.loads(again.stdout) == report
    assert (here / "a").read_bytes() == (here / "b").read_bytes()
    refused = tuplet("show", "a", "--number", 1, cwd=here, process=True)
    assert refused.returncode == 2 and "is not loaded" in refused.stderr
    again = tuplet("show", "a", "--game", CONNECT4, "--json", cwd=here, process=True)
    assert json.loads(again.stdout) == report
    shown = tuplet("show", "a", "--number", 1, "--game", CONNECT4, cwd=here, process=True)
    assert "(yellow)" in shown.stdout and "yellow plays" in shown.stdout
    drawn = tuplet("show", "a", "--number", 1, "--out", "a.svg", "--game", CONNECT4, cwd=here, process=True)
    assert drawn.returncode == 0, drawn.stderr
    assert (here / "a.svg").read_text().startswith("<svg")
    table = tuplet("tournament", "easy", *agents, "--game", CONNECT4, "--games", 2, "--json", cwd=here, process=True)
    assert len(json.loads(table.stdout)["agents"]) == 3
    watched = tuplet("play", CONNECT4, "--agent", "easy", "--watch", "--seed", 1, "--out", "g", cwd=here, process=True)
    assert watched.returncode == 0 and "yellow easy, red easy: " in watched.stdout
    for words, complaint in (
        (("match", "hard", "easy", "--game", CONNECT4), "hard plays EWN"),
        (("match", "exec:true", "easy", "--game", CONNECT4), "exists for ewn-6x7 only"),
        (("match", "easy", "easy", "--game", "examples/connect4.py:NOTHING"), "has no game NOTHING"),
        (("match", "easy", "easy", "--game", "examples/connect4.py:Connect4"), "is a class"),
        (("match", "easy", "easy", "--game", "2048"), "has one player"),
        (("analyze", CONNECT4, "......."), "6 rows of 7 cells"),
        (("play", CONNECT4, "--watch", "--side", "blue"), "'blue' is not a side"),
    ):
        wrong = tuplet(*words, cwd=here)
        assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1, wrong.stderr
        assert complaint in wrong.stderr


@cache
def solved(position: Any) -> float:
    """To the side to move, by brute force."""
    if position.over:
        return 0.5 if position.winner is None else 0.0
    return max(1 - solved(position.play(move)) for move in position.legal_moves())


@pytest.mark.parametrize("agent", ["alphabeta", "mcts:sims=20000,batch=1,expand=1"])
def test_late_positions_are_proven_won_drawn_and_lost(agent: str) -> None:
    game = tuplet_package.game(f"{ROOT / 'examples' / 'connect4.py'}:CONNECT4")
    source, left = random.Random(5), {0.0: 4, 0.5: 4, 1.0: 4}
    while any(left.values()):
        position = game.start()
        while not position.over and sum(row.count("") for row in position.cells) > 8:
            position = position.play(source.choice(position.legal_moves()))
        if position.over or len(position.legal_moves()) == 1 or not left[solved(position)]:
            continue
        left[solved(position)] -= 1
        found = tuplet_package.analyze(game, position, agent)
        best = next(move for move in found.moves if move.move == found.best)
        assert best.proven and best.value == solved(position), (position.notation, found)
