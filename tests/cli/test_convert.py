"""`tuplet convert`, and other commands with weight files of other programs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from test_cli import BOARD, one_line

from pages import arguments_of
from terminal import at_terminal
from tuplet.cli import run

ROOT = Path(__file__).parent.parent.parent
INTEROP = ROOT / "tests" / "data" / "interop"


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line in the test's folder and in this process, which is quicker."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        return subprocess.CompletedProcess(words, run(words), *capsys.readouterr())

    return command


def test_convert_there_and_back_and_says_what_it_did(here, tmp_path: Path) -> None:
    sample = INTEROP / "tdl2048-2x4-tc.w"
    done = here("convert", sample, "a.safetensors", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "from": "tdl2048",
        "to": "tuplet",
        "net": "0123 4567",
        "tables": 2,
        "weights": 131_072,
        "coherence": True,
    }
    done = here("convert", "a.safetensors", "a.bin")
    assert "demo" in done.stdout and "131,072 weights" in done.stdout and "without" in done.stdout
    assert here("convert", "a.safetensors", "a.w").returncode == 0
    assert Path("a.w").read_bytes() == sample.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bin", "a.safetensors", "a.w"]


def test_framework_files_need_to_be_told_their_tuples(here) -> None:
    sample = INTEROP / "demo-4x4.bin"
    Path("a").write_bytes(sample.read_bytes())
    words = ("convert", "a", "a", "--to", "framework", "--first", "high")
    one_line(here(*words), "a exists: add --force")
    # A file may be replaced by itself in another format.
    assert here(*words, "--force").returncode == 0
    one_line(here("eval", "a"), "--net")
    net = ("--net", "0123 4567 0145 1256")
    done = here("convert", "a", "low.bin", *net, "--json")
    assert json.loads(done.stdout)["from"] == "framework"
    done = here("convert", "a", "high.bin", *net, "--first", "high")
    assert "--net" in done.stdout
    assert Path("high.bin").read_bytes() == sample.read_bytes() != Path("low.bin").read_bytes()


def test_convert_shows_how_far_it_is(tmp_path: Path) -> None:
    screen = at_terminal([], "convert", INTEROP / "tdl2048-5x4.w", tmp_path / "a.bin")
    assert "327,680 of 327,680 weights written" in screen


def test_a_run_folder_is_converted_and_plays_the_same(here, trained_run) -> None:
    done = here("convert", trained_run, "run.w", "--json")
    report = json.loads(done.stdout)
    assert (report["from"], report["to"], report["net"]) == ("tuplet", "tdl2048", "5x4")
    scores = [
        json.loads(here("eval", player, "--games", 50, "--json").stdout)["mean_score"]
        for player in (trained_run, "run.w")
    ]
    assert scores[0] == scores[1]


def test_every_command_takes_files_of_other_programs_whatever_their_name(here) -> None:
    Path("odd.txt").write_bytes((INTEROP / "demo-4x4.bin").read_bytes())
    done = here("analyze", "2048", BOARD, "--agent", "odd.txt", "--json")
    report = json.loads(done.stdout)
    assert report["best"] in ("up", "right", "down", "left")
    search = f"expectimax:depth=1,values={INTEROP / 'tdl2048-5x4.w'}"
    assert here("eval", search, "--games", 1).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["SAMPLE", "out.weights"], ["out.weights", ".safetensors", "--to"]),
        (["SAMPLE", "out.w", "--to", "pickle"], ["pickle"]),
        (["SAMPLE", "."], ["is a folder"]),
        (["SAMPLE", ".", "--to", "demo"], ["folder"]),
        (["SAMPLE", "no/out.bin"], ["no", "out.bin"]),
        (["SAMPLE", "out.bin", "--net", "0123"], ["--net"]),
        (["SAMPLE", "out.bin", "--first", "high"], ["--first"]),
        (["nowhere.w", "out.bin"], ["nowhere.w"]),
        (["/dev/null", "out.bin"], ["/dev/null"]),
        (
            [str(ROOT / "README.md"), "out.bin"],
            ["README.md", "is not a weight file tuplet recognises: it is a text file"],
        ),
    ],
)
def test_what_cannot_be_converted_is_one_line(here, tmp_path, arguments, words) -> None:
    sample = str(INTEROP / "demo-4x4.bin")
    arguments = [sample if word == "SAMPLE" else word for word in arguments]
    one_line(here("convert", *arguments), *words)
    assert not list(tmp_path.iterdir())


def test_state_values_stay_in_tuplets_own_format(here) -> None:
    from tuplet import Network

    Network("01", target="state").save("a.safetensors")
    Path("b.w").write_text("kept")
    done = here("convert", "a.safetensors", "b.w", "--force")
    assert done.returncode == 2 and "after-states" in done.stderr.splitlines()[-1]
    assert Path("b.w").read_text() == "kept"


def test_the_commands_of_the_docs_run_as_written(here, trained_run) -> None:
    """Every `tuplet` line of docs/weights.md in order, with the files that it takes for granted."""
    text = (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")
    Path("runs").mkdir()
    Path("runs/first").symlink_to(trained_run)
    for name, sample in (("demo.bin", "demo-4x4.bin"), ("other.w", "tdl2048-5x4.w")):
        Path(name).write_bytes((INTEROP / sample).read_bytes())
    lines = [line for line in text.splitlines() if line.startswith("tuplet ")]
    assert len(lines) >= 6
    for line in lines:
        words = arguments_of(line)
        if "--games" in words:
            words[words.index("--games") + 1] = "20"
        if words[0] == "train":
            words[words.index("--net") + 1] = "5x4"
        done = here(*words)
        assert done.returncode == 0, (line, done.stderr)
