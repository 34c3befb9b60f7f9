"""`tuplet convert`, and other commands with weight files of other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_cli import BOARD, one_line

from terminal import at_terminal

ROOT = Path(__file__).parent.parent.parent
INTEROP = ROOT / "tests" / "data" / "interop"


def test_convert_there_and_back_and_says_what_it_did(tuplet, tmp_path: Path) -> None:
    sample = INTEROP / "tdl2048-2x4-tc.w"
    done = tuplet("convert", sample, "a.safetensors", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "from": "tdl2048", "to": "tuplet", "net": "0123 4567", "tables": 2, "weights": 131_072,
        "coherence": True,
    }  # fmt: skip
    done = tuplet("convert", "a.safetensors", "a.bin", cwd=tmp_path)
    assert "demo" in done.stdout and "131,072 weights" in done.stdout and "without" in done.stdout
    assert tuplet("convert", "a.safetensors", "a.w", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.w").read_bytes() == sample.read_bytes()
    # A file may be replaced by itself in another format.
    assert tuplet("convert", "a.bin", "a.bin", "--to", "framework", cwd=tmp_path).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bin", "a.safetensors", "a.w"]
    one_line(tuplet("eval", "a.bin", cwd=tmp_path), "--net")
    net = ("--net", "0123 4567")
    done = tuplet("convert", "a.bin", "b.w", *net, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["from"] == "framework"
    done = tuplet("convert", "a.bin", "c.w", *net, "--first", "high", cwd=tmp_path)
    assert "--net" in done.stdout
    assert (tmp_path / "b.w").read_bytes() != (tmp_path / "c.w").read_bytes()


def test_convert_shows_how_far_it_is(tmp_path: Path) -> None:
    screen = at_terminal([], "convert", INTEROP / "tdl2048-5x4.w", tmp_path / "a.bin")
    assert "reading" in screen and "writing" in screen and "of 327,680 weights" in screen


def test_a_run_folder_is_converted_and_plays_the_same(tuplet, trained_run, tmp_path) -> None:
    done = tuplet("convert", trained_run, tmp_path / "run.w", "--json")
    report = json.loads(done.stdout)
    assert (report["from"], report["to"], report["net"]) == ("tuplet", "tdl2048", "5x4")
    scores = [
        json.loads(tuplet("eval", player, "--games", 50, "--json").stdout)["mean_score"]
        for player in (trained_run, tmp_path / "run.w")
    ]
    assert scores[0] == scores[1]


def test_every_command_takes_files_of_other_programs_whatever_their_name(tuplet, tmp_path) -> None:
    (tmp_path / "odd.txt").write_bytes((INTEROP / "demo-4x4.bin").read_bytes())
    done = tuplet("analyze", "2048", BOARD, "--agent", "odd.txt", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["best"] in ("up", "right", "down", "left")
    search = f"expectimax:depth=1,values={INTEROP / 'tdl2048-5x4.w'}"
    assert tuplet("eval", search, "--games", 1).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["SAMPLE", "out.weights"], ["out.weights", ".safetensors", "--to"]),
        (["SAMPLE", "out.w", "--to", "pickle"], ["pickle"]),
        (["SAMPLE", "."], ["--to"]),
        (["SAMPLE", ".", "--to", "demo"], ["folder"]),
        (["SAMPLE", "no/out.bin"], ["no/out.bin"]),
        (["SAMPLE", "out.bin", "--net", "0123"], ["--net"]),
        (["SAMPLE", "out.bin", "--first", "high"], ["--first"]),
        (["nowhere.w", "out.bin"], ["nowhere.w"]),
        (["/dev/null", "out.bin"], ["/dev/null"]),
        ([str(ROOT / "README.md"), "out.bin"], ["README.md", "not a sound weight file"]),
    ],
)
def test_what_cannot_be_converted_is_one_line(tuplet, tmp_path, arguments, words) -> None:
    sample = str(INTEROP / "demo-4x4.bin")
    arguments = [sample if word == "SAMPLE" else word for word in arguments]
    one_line(tuplet("convert", *arguments, cwd=tmp_path), *words)
    assert not list(tmp_path.iterdir())


def test_state_values_stay_in_tuplets_own_format(tuplet, tmp_path: Path) -> None:
    from tuplet import Network

    Network("01", target="state").save(tmp_path / "a.safetensors")
    (tmp_path / "b.w").write_text("kept")
    one_line(tuplet("convert", "a.safetensors", "b.w", cwd=tmp_path), "after-states")
    assert (tmp_path / "b.w").read_text() == "kept"


def test_the_commands_of_the_docs_run_as_written(tuplet, trained_run, tmp_path: Path) -> None:
    """Every `tuplet` line of docs/weights.md in order, with the files that it takes for granted."""
    text = (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "first").symlink_to(trained_run)
    for name, sample in (("demo.bin", "demo-4x4.bin"), ("other.w", "tdl2048-5x4.w")):
        (tmp_path / name).write_bytes((INTEROP / sample).read_bytes())
    lines = [line for line in text.splitlines() if line.startswith("tuplet ")]
    assert len(lines) >= 6
    for line in lines:
        words = [w.strip('"') for w in re.findall(r'"[^"]*"|\S+', line.split("#")[0])][1:]
        if "--games" in words:
            words[words.index("--games") + 1] = "20"
        done = tuplet(*words, cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
