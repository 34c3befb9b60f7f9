"""The command line as users meet it: what it prints, and how it refuses."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import at_terminal

BOARD = "2,0,0,4,0,8,2,0,0,0,16,0,2,0,0,32"


def one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("tuplet: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_help_names_every_command_and_waits_for_no_compiler(tuplet) -> None:
    done = tuplet("--help")
    assert done.returncode == 0
    for command in (
        "train",
        "eval",
        "plot",
        "analyze",
        "play",
        "review",
        "match",
        "tournament",
        "show",
        "agent",
        "convert",
        "bench",
        "solve",
        "regret",
        "reproduce",
    ):
        assert command in done.stdout
        assert tuplet(command, "--help").returncode == 0
    heavy = ("numba", "numpy", "matplotlib", "multiprocessing", "safetensors")
    script = f"import sys, tuplet.cli; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


def test_analyze_says_what_each_move_is_worth(tuplet, trained_run: Path) -> None:
    done = tuplet("analyze", "2048", BOARD, "--agent", trained_run, "--json")
    report = json.loads(done.stdout)
    assert [m["move"] for m in report["moves"]] == ["up", "right", "down", "left"]
    legal = [m for m in report["moves"] if m["legal"]]
    assert report["best"] == max(legal, key=lambda m: m["value"])["move"]
    text = tuplet("analyze", "2048", BOARD, "--agent", trained_run).stdout
    assert "Why" in text and "0145" in text and "best" in text


def test_analyze_of_an_illegal_move_and_of_a_finished_game(tuplet, trained_run: Path) -> None:
    done = tuplet("analyze", "2048", "2" + ",0" * 15, "--agent", trained_run, "--json")
    moves = {m["move"]: m for m in json.loads(done.stdout)["moves"]}
    assert moves["up"] == {"move": "up", "legal": False, "reward": 0, "value": None}
    over = ",".join(["2,4,2,4,4,2,4,2"] * 2)
    done = tuplet("analyze", "2048", over, "--agent", trained_run)
    assert done.returncode == 0 and "over" in done.stdout
    assert json.loads(tuplet("analyze", "2048", over, "--agent", trained_run, "--json").stdout)["best"] is None


def test_eval_prints_json_and_a_table(tuplet, trained_run: Path) -> None:
    done = tuplet("eval", trained_run, "--games", 60, "--json", "--threads", 2)
    report = json.loads(done.stdout)
    assert report["games"] == 60
    low, high = report["ci95"]
    assert low < report["mean_score"] < high
    assert set(report) >= {"max_score", "moves_per_s", "reached", "ended"}
    assert sum(report["ended"].values()) == pytest.approx(1)
    text = tuplet("eval", trained_run, "--games", 60).stdout
    assert f"{report['mean_score']:,.1f}" in text and "95 %" in text


def test_eval_takes_players_by_module_and_class_and_saves_episodes(tuplet, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Player:\n    def choose(self, board):\n        return board.legal_moves()[0]\n"
        "class Nasty:\n    def place(self, board):\n        return board.empty[-1], 4\n"
        "class Broken:\n    pass\n"
    )
    done = tuplet(
        "eval",
        "mine:Player",
        "--environment",
        "mine:Nasty",
        "--games",
        3,
        "--json",
        "--out",
        tmp_path / "games.txt",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "games.txt").read_text().splitlines()
    assert len(lines) == 3 and lines[0].startswith("Player:Nasty@")
    one_line(tuplet("eval", "mine:Broken", cwd=tmp_path), "choose")
    one_line(tuplet("eval", "mine:Nobody", cwd=tmp_path), "Nobody")
    one_line(tuplet("eval", "nowhere:Player", cwd=tmp_path), "nowhere")
    (tmp_path / "bad.py").write_text("raise RuntimeError('boom')")
    one_line(tuplet("eval", "bad:Player", cwd=tmp_path), "boom")


def test_plot_draws_one_or_more_runs(tuplet, trained_run: Path, tmp_path: Path) -> None:
    for name in ("a.png", "a.svg", "a.pdf"):
        done = tuplet("plot", trained_run, trained_run, "--log", "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).stat().st_size > 2000
    one_line(tuplet("plot", trained_run, "-o", tmp_path / "a.docx"), ".png")
    one_line(tuplet("plot", tmp_path), "not the folder of a training run")


def test_bench_prints_speeds(tuplet, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, small in (
        ("WARM_UP", 200),
        ("MEASURED", 100),
        ("PLAYOUTS", 100),
        ("ROUNDS", 2),
        ("SIMS", 1000),
        ("SECONDS", 0.05),
        ("OPEN_SPIEL_SIMS", 100),
    ):
        monkeypatch.setattr(f"tuplet.arena.bench.{name}", small)
    for game, keys in (
        ("2048", ["train_moves_per_s", "eval_moves_per_s"]),
        ("ewn", ["playouts_per_s", "sims_per_s", "nodes_per_s", "ewn_sims_per_s"]),
    ):
        done = tuplet("bench", game, "--json", "--net", "0123")
        report = json.loads(done.stdout)
        assert done.returncode == 0 and report["threads"] == 1
        assert all(report[key] > 0 for key in keys)
        text = tuplet("bench", game, "--net", "0123").stdout
        assert "1 thread" in text and text.count("/s") >= len(keys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--net", "9x9"], ["9x9"]),
        (["train", "--net", "0123 cdef", "--games", "5"], ["0123", "cdef", "symmetry"]),
        (["train", "--alpha", "0"], ["alpha"]),
        (["train", "--alpha", "nan"], ["alpha"]),
        (["train", "--alpha", "much"], ["much"]),
        (["train", "--games", "-3"], ["games"]),
        (["train", "--budget", "soon"], ["soon"]),
        (["train", "--spawn4", "1.2"], ["--spawn4 must be 0 to 1"]),
        (["train", "--learner", "magic"], ["magic"]),
        (["train", "--target", "both"], ["both"]),
        (["train", "--threads", "0"], ["threads"]),
        (["train", "--resume", "nowhere"], ["nowhere"]),
        (["train", "--resume", "nowhere", "--lambda", "0.2"], ["--lambda"]),
        (["train", "--frobnicate"], ["frobnicate"]),
        (["eval", "nowhere"], ["nowhere"]),
        (["eval"], ["PLAYER"]),
        (["eval", "random", "--games", "0"], ["game"]),
        (["eval", "random", "--games", "99999999999"], ["games"]),
        (["eval", "random", "--spawn4", "-1"], ["--spawn4 must be 0 to 1"]),
        (["eval", "random", "--seed", "99999999999999999999"], ["seed"]),
        (["eval", "random", "--seed", "-1"], ["seed"]),
        (["train", "--initial", "1e300"], ["initial"]),
        (["eval", "random", "--environment", "nice"], ["nice"]),
        (["analyze", "2048", "2,4"], ["16 tiles"]),
        (["analyze", "2048", "3" + BOARD[1:]], ["3"]),
        (["analyze", "chess", BOARD, "--agent", "nowhere"], ["chess"]),
        (["analyze", "2048", BOARD, "--agent", "nowhere"], ["nowhere"]),
        (["analyze", "2048", BOARD, "--agent", "nowhere", "--depth", "deep"], ["deep"]),
        (["eval", "random", "--depth", "2"], ["depth", "random"]),
        (["play", "ewn", "--depth", "2"], ["--depth", "2048"]),
        (["play", "2048"], ["terminal"]),
        (["play", "2048", "--speed", "99"], ["speed"]),
        (["plot", "nowhere"], ["nowhere"]),
        (["dance"], ["dance"]),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tuplet, tmp_path, arguments, words) -> None:
    one_line(tuplet(*arguments, cwd=tmp_path), *words)
    assert not list(tmp_path.iterdir())


def test_damaged_and_hostile_weight_files_are_refused(tuplet, trained_run, tmp_path) -> None:
    good = (trained_run / "weights.safetensors").read_bytes()
    length = int.from_bytes(good[:8], "little")
    header = json.loads(good[8 : 8 + length])

    def with_header(change) -> bytes:  # type: ignore[no-untyped-def]
        new = json.loads(json.dumps(header))
        change(new)
        text = json.dumps(new).encode()
        return len(text).to_bytes(8, "little") + text + good[8 + length :]

    hostile = {
        "empty": b"",
        "short": good[: len(good) // 2],
        "header": good[:100],
        "huge header": (1 << 62).to_bytes(8, "little") + good[8:],
        "zeros": bytes(5000),
        "pickle": b"\x80\x04cposix\nsystem\n(S'touch owned'\ntR.",
        "no metadata": with_header(lambda h: h.pop("__metadata__")),
        "other format": with_header(lambda h: h["__metadata__"].update(format="other")),
        "same tuples": with_header(lambda h: h["__metadata__"].update(tuples="0123 0123")),
        "not a number": with_header(lambda h: h["__metadata__"].update(gamma="much")),
        "wrong target": with_header(lambda h: h["__metadata__"].update(target="both")),
        "smaller table": with_header(lambda h: h["__metadata__"].update(tuples="01 4567 0145 1256 569a")),
        "missing array": with_header(lambda h: h["__metadata__"].update(tuples="0123 4567 0145 1256 569a 26")),
        "wrong type": with_header(lambda h: h["0.weight"].update(dtype="I32")),
        "lying shape": with_header(lambda h: h["0.weight"].update(shape=[10**12])),
    }
    for name, data in hostile.items():
        path = tmp_path / "weights.safetensors"
        path.write_bytes(data)
        done = tuplet("analyze", "2048", BOARD, "--agent", path, cwd=tmp_path)
        assert done.returncode == 2, (name, done.stdout, done.stderr)
        one_line(done)
    assert not (tmp_path / "owned").exists()


def test_folders_that_cannot_be_written_are_one_line(tuplet, trained_run, tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    one_line(tuplet("train", "--games", 5, "--net", "5x4", "--out", tmp_path / "file"), "file")
    one_line(tuplet("train", "--games", 5, "--net", "5x4", "--out", tmp_path / "file" / "run"), "file")
    one_line(tuplet("train", "--games", 5, "--net", "5x4", "--out", "/proc/run"), "/proc")
    one_line(tuplet("plot", trained_run, "-o", tmp_path / "no" / "a.png"), "no")
    one_line(tuplet("train", "--games", 5, "--net", "5x4", "--out", trained_run), "tuplet resume")


@pytest.mark.slow
def test_a_full_disk_keeps_the_last_checkpoint(tuplet, tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: writing fails half-way."""
    run = tmp_path / "run"
    assert tuplet("train", "--games", 25, "--net", "5x4", "--out", run).returncode == 0
    good = (run / "weights.safetensors").read_bytes()
    code = (
        "import resource, signal, sys; from tuplet.cli import run\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(good) + 1000}, {len(good) + 1000}))\n"
        f"sys.exit(run(['train', '--resume', {str(run)!r}, '--games', '2000']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tuplet: ")
    assert "Traceback" not in done.stderr
    assert (run / "weights.safetensors").read_bytes() == good
    assert tuplet("train", "--resume", run, "--games", 100).returncode == 0


def test_output_to_a_reader_that_leaves_is_quiet(trained_run: Path) -> None:
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m tuplet train --games 2000 --net 5x4 --out {trained_run}2 | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert len(Path(f"{trained_run}2", "metrics.jsonl").read_text().splitlines()) == 2


def test_a_person_plays_with_hints_and_takes_back(trained_run: Path, tmp_path: Path) -> None:
    keys = [
        ("q ends", "h"),
        ("hint:", "\x1b[D"),
        ("q ends", "\x1b[B"),
        ("q ends", "d"),
        ("q ends", "u"),
        ("q ends", "q"),
    ]
    screen = at_terminal(keys, "play", "2048", "--agent", trained_run, "--seed", 1, "--out", tmp_path / "g.txt")
    assert "hint:  " in screen and "score" in screen
    assert (tmp_path / "g.txt").read_text().startswith("you:random@")


def test_an_agent_is_watched(trained_run: Path) -> None:
    screen = at_terminal(
        [("space pauses", "+"), ("speed 8", "-"), ("speed 7", " "), ("paused", "q")],
        "play",
        "2048",
        "--agent",
        trained_run,
        "--watch",
        "--speed",
        7,
    )
    assert "largest tile" in screen


def test_watching_without_a_terminal_plays_to_the_end(tuplet, trained_run: Path) -> None:
    done = tuplet("play", "2048", "--agent", trained_run, "--watch", "--seed", 3)
    assert done.returncode == 0
    assert re.search(r"[\d,]+ points, largest tile \d+ after [\d,]+ moves", done.stdout)


def test_training_at_a_terminal_shows_a_live_display(tmp_path: Path) -> None:
    screen = at_terminal([], "train", "--budget", "3s", "--net", "5x4", "--out", tmp_path / "r")
    assert "M moves/s" in screen and "left" in screen and "1000    avg = " in screen
