"""`tuplet match`, `tournament` and `show` as users meet them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("tuplet: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_match_prints_json_and_a_table(tuplet, tmp_path: Path) -> None:
    options = ["--game", "ewn-6x7", "--games", "20", "--threads", "2", "--seed", "5"]
    done = tuplet("match", "hard", "easy", *options, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    keys = "games wins losses win_rate ci95 elo elo_ci95 first_player_share mean_length kinds pairs forfeits"
    assert set(report) >= set(keys.split())
    assert report["games"] == 20 == report["wins"] + report["losses"]
    assert report["win_rate"] == report["wins"] / 20
    assert report["ci95"][0] < report["win_rate"] <= report["ci95"][1]
    done = tuplet("match", "hard", "easy", *options, "--sprt", "0,20", "--out", tmp_path / "m")
    assert f"{report['wins']} - {report['losses']}" in done.stdout
    for word in ("Elo", "95 %", "first player", "plies", "corner", "LLR"):
        assert word in done.stdout
    again = tuplet("show", tmp_path / "m")
    assert again.stdout == done.stdout
    shown = json.loads(tuplet("show", tmp_path / "m", "--json").stdout)
    assert shown["wins"] == report["wins"] and shown["decision"] is None and "llr" in shown


def test_an_odd_number_of_games_is_rounded_up_aloud(tuplet) -> None:
    done = tuplet("match", "easy", "easy", "--games", 3, "--game", "ewn", "--json")
    assert json.loads(done.stdout)["games"] == 4
    assert "pairs" in done.stderr


def test_show_replays_a_game_and_draws_it(tuplet, tmp_path: Path) -> None:
    path = tmp_path / "m"
    tuplet("match", "easy", "normal", "--game", "ewn", "--games", 4, "--out", path)
    text = tuplet("show", path, "--number", 2).stdout
    record = json.loads(tuplet("show", path, "--number", 2, "--json").stdout)
    assert text.startswith("Game 2: normal (red) - easy (blue), ewn")
    assert text.count("to move, die") == len(record["moves"]) and "has won" in text
    for move in record["moves"]:
        assert f"plays {move} to row" in text
    assert tuplet("show", path, "--number", 2, "--ply", 0).stdout in text
    for more in ([], ["--ply", "3"], ["--ply", "0"]):
        done = tuplet("show", path, "--number", 1, "--out", tmp_path / "p.svg", "--force", *more)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "p.svg").read_text().startswith("<svg")
    one_line(tuplet("show", path, "--number", 9), "games 1 to 4")
    one_line(tuplet("show", path, "--number", 1, "--ply", 999), "moves")
    one_line(tuplet("show", path, "--ply", 1), "--number")
    one_line(tuplet("show", tmp_path / "p.svg"), "not a saved match")
    one_line(tuplet("show", tmp_path / "nothing"), "nothing")


def test_tournament_prints_json_and_a_cross_table(tuplet, tmp_path: Path) -> None:
    arguments = ["tournament", "easy", "normal", "hard", "--games", "6", "--out", tmp_path / "t"]
    report = json.loads(tuplet(*arguments, "--json").stdout)
    assert report["games"] == 18 and len(report["matches"]) == 3
    assert {row["agent"] for row in report["agents"]} == {"easy", "normal", "hard"}
    for row in report["agents"]:
        assert row["ci95"][0] < row["rating"] < row["ci95"][1]
        assert row["wins"] + row["losses"] == 12
    text = tuplet(*arguments).stdout
    assert tuplet("show", tmp_path / "t").stdout == text
    for row in report["agents"]:
        assert f"{row['wins']} - {row['losses']}" in text


def test_ctrl_c_reports_what_was_played_and_the_match_can_be_continued(tmp_path: Path, tuplet) -> None:
    path = tmp_path / "m"
    command = ["match", "hard", "normal", "--games", "3000", "--out", str(path), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tuplet", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.time() + 60
    while time.time() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 6):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert 4 <= report["games"] < 3000
    assert "Stopped after" in err and str(path) in err and "same command" in err
    unfinished = tuplet("show", path)
    assert "not finished" in unfinished.stdout
    saved = path.read_bytes()
    games = str(report["games"] + 10)
    done = tuplet("match", "hard", "normal", "--games", games, "--out", path, "--json")
    assert path.read_bytes().startswith(saved)
    fresh = tuplet("match", "hard", "normal", "--games", games, "--json")
    assert done.stdout == fresh.stdout


def test_a_killed_match_can_be_continued(tmp_path: Path, tuplet) -> None:
    path = tmp_path / "m"
    command = ["match", "hard", "normal", "--games", "3000", "--out", str(path), "--json"]
    process = subprocess.Popen([sys.executable, "-m", "tuplet", *command])
    deadline = time.time() + 60
    while time.time() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 6):
        time.sleep(0.02)
    done = tuplet("match", "hard", "normal", "--games", 6, "--out", path, "--json")
    one_line(done, "another process")
    process.kill()
    process.wait()
    done = tuplet("match", "hard", "normal", "--games", 10, "--out", path, "--json")
    fresh = tuplet("match", "hard", "normal", "--games", 10, "--json")
    assert done.returncode == 0 and done.stdout == fresh.stdout


@pytest.mark.slow
def test_at_a_terminal_a_bar_shows_the_running_score() -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="120", LINES="40")
        command = ["match", "hard", "normal", "--games", "2000"]
        os.execv(sys.executable, [sys.executable, "-m", "tuplet", *command])
    seen = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    text = seen.decode(errors="replace")
    assert "of 2,000 games" in text and "moves/s" in text and "wins - losses" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["match", "easy"], ["B"]),
        (["match", "easy", "nobody"], ["nobody"]),
        (["match", "easy", "easy", "--game", "chess"], ["chess"]),
        (["match", "easy", "easy", "--game", "ewn:board=99x1"], ["board"]),
        (["match", "easy", "easy", "--games", "0"], ["games"]),
        (["match", "easy", "easy", "--games", "-2"], ["games"]),
        (["match", "easy", "easy", "--games", "many"], ["many"]),
        (["match", "easy", "easy", "--threads", "0"], ["threads"]),
        (["match", "easy", "easy", "--seed", "-1"], ["seed"]),
        (["match", "easy", "easy", "--sprt", "20"], ["--sprt must be elo0,elo1"]),
        (["match", "easy", "easy", "--sprt", "20,0"], ["elo0 < elo1"]),
        (["match", "easy", "easy", "--out", "no/folder/m"], ["no/folder/m"]),
        (["match", "easy", "easy", "--out", "."], ["not a file"]),
        (["tournament"], ["agents"]),
        (["tournament", "easy"], ["agents"]),
        (["tournament", "easy", "easy"], ["twice"]),
        (["tournament", "easy", "nobody"], ["nobody"]),
        (["show", "."], ["."]),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tuplet, tmp_path, arguments, words) -> None:
    one_line(tuplet(*arguments, cwd=tmp_path), *words)
    assert not list(tmp_path.iterdir())


def test_games_saved_by_play_are_replayed(tuplet, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    done = tuplet("play", "ewn", "--agent", "easy", "--watch", "--speed", 8, "--seed", 1, "--out", file)
    assert done.returncode == 0, done.stderr
    done = tuplet("show", file, "--number", 1)
    assert done.returncode == 0 and "Game 1: easy (red) - easy (blue), ewn" in done.stdout
    assert "has won" in done.stdout
    done = tuplet("show", file)
    assert done.returncode == 2 and "--number 1" in done.stderr and done.stderr.count("\n") == 1


def test_agents_of_a_sweep_have_distinct_names_in_a_pipe(tuplet) -> None:
    agents = [f"mcs:results=rich,ucb=ucb1,sims=25,c={c}" for c in ("0.25", "0.5", "0.75")]
    done = tuplet("tournament", *agents, "easy", "--games", 2)
    assert done.returncode == 0, done.stderr
    for c, agent in zip(("0.25", "0.5", "0.75"), agents, strict=True):
        assert f" mcs:c={c} " in done.stdout and f"mcs:c={c} is {agent}" in done.stdout
    assert "…" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.long)])
def test_no_result_is_lost_to_a_terminal_of_another_encoding(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    for words in (("match", "easy", "easy"), ("tournament", "easy", "normal", "random")):
        command = [sys.executable, "-m", "tuplet", *words, "--game", "ewn:board=3x3,cubes=2"]
        done = subprocess.run([*command, "--games", "2"], capture_output=True, encoding=encoding, env=environment)
        assert done.returncode == 0, done.stderr
        assert "easy" in done.stdout and "Traceback" not in done.stderr


def test_names_in_a_file_cannot_command_a_terminal(tuplet, tmp_path: Path) -> None:
    tuplet("match", "easy", "normal", "--games", 2, "--out", tmp_path / "m")
    text = (tmp_path / "m").read_text().replace("normal", "\\u001b]0;gotcha\\u0007")
    (tmp_path / "m").write_text(text)
    for more in ((), ("--number", 1)):
        done = tuplet("show", tmp_path / "m", *more)
        assert done.returncode == 0 and "gotcha" in done.stdout
        assert "\x1b" not in done.stdout and "\x07" not in done.stdout


@pytest.mark.parametrize("agent", ["alphabeta:time=0", "mcts:time=0", "best:time=0"])
def test_no_time_is_refused(tuplet, agent: str) -> None:
    done = tuplet("match", agent, "easy", "--games", 2)
    assert done.returncode == 2 and "more than 0 seconds" in done.stderr
