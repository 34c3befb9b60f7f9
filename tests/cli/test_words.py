"""What the command line says when something is wrong: the cause, what to do, in one line."""

from __future__ import annotations

import shlex
from functools import partial
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

import tuplet as package
from tuplet.cli import app, run

EMPTY = ",".join(["0"] * 15)
SMALL = "2048:board=3x4 2,2,0,0/0,0,0,0/0,0,0,0 0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eval", "random", "--games", "1.5"], ["--games must be a whole number (got '1.5')"]),
        (["match", "easy", "easy", "--games", "1e3"], ["--games", "whole number"]),
        (["train", "--games", "2.0"], ["--games", "whole number"]),
        (["train", "--lambda", "2"], ["--lambda must be a number from 0 to 1 (got 2.0)"]),
        (["train", "--budget", "-5s"], ["--budget must be a time such as 5ms", "(got '-5s')"]),
        (["train", "--checkpoint", "-5s"], ["--checkpoint must be a time", "(got '-5s')"]),
        (["train", "--threads", "0"], ["--threads must be a whole number from 1 to 256 (got 0)"]),
        (["match", "easy", "easy", "--threads", "0"], ["--threads must be 1 to 256 (got 0)"]),
        (["eval", "random", "--seed", "-1"], ["--seed must be 0 to 2^63 - 1 (got -1)"]),
        (["play", "2048", "--against", "small"], ["--against needs a two-player game"]),
        (["analyze", "ewn", "--agent", "alphabeta:depth=0"], ["alphabeta:depth=0: depth must be 1"]),
        (["check", "."], [". is a folder: name the program in it"]),
        (["eval", "hard"], ["hard plays EWN, not 2048; agents are expectimax"]),
        (["match", "small", "easy"], ["small plays 2048, not ewn; agents are best"]),
        (["eval"], ["eval: PLAYER is missing", "tuplet eval --help"]),
        (["eval", "random", "--seed"], ["--seed needs a value"]),
        (["eval", "random", "--gamez", "3"], ["Did you mean --games", "tuplet eval --help"]),
        (["bench", "2048", "--learner", "x"], ['"td", "tc"', "tuplet bench --help"]),
        (["analyze", "2048", f"-2,{EMPTY}"], ["-2 is not a tile"]),
        (["analyze", "2048", "--agnet", "small"], ["Did you mean --agent"]),
        (["analyze", "2048", "-x"], ["Unknown option"]),
        (["analyze", "ewn", "--depth", "2"], ["of 2048", "mcts:time=2"]),
        (["reproduce", "foo"], ["no study 'foo'; there is "]),
        (["match", "alphabeta:time=0", "easy"], ["more than 0 seconds"]),
        (
            ["review", '{"red":"a","blue":"b","start":"ewn:board=4x4,cubes=3 r1r2../r3.../...b3/..b2b1 red ?"}'],
            ["the game has no moves to review"],
        ),
        (["review", f'{{"player":"a","start":"{SMALL}","moves":["left"]}}'], ["tuplet has no player of 3x4", "mcts"]),
    ],
)
def test_bad_input_is_told_in_words_that_help(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    for word in words:
        assert word in told.err


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_help_fills_its_lines_at_any_width(columns: int) -> None:
    """No line ends where the first word of the next would have fitted, and no flag is False."""
    console = Console(file=StringIO(), width=columns)
    commands = [(name,) for name in app if name[0] != "-"]
    parts = [(name, part) for (name,) in commands for part in app[name] if part[0] != "-"]
    for words in [(), *commands, *parts]:
        console.file = StringIO()
        app.help_print(words, console=console)
        lines = console.file.getvalue().splitlines()
        assert "default: False" not in " ".join(lines), words
        for line, following in pairwise(lines):
            if line[:1] == "│" and following[:6] == "│     ":
                room = columns - 2 - len(line[:-1].rstrip())
                assert len(following[1:].split()[0]) + 1 > room, (words, line, following)


def test_a_board_with_hyphens_for_empty_cells_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "2048", "- - 2 4\n- - - -\n- - - -\n- - - 2", "--agent", "greedy"]) == 0
    assert "2   4" in capsys.readouterr().out


def test_a_folder_without_programs_is_not_said_to_have_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tournament", "--folder", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"tuplet: there is no program in {tmp_path}\n"


def test_one_game_is_not_one_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "greedy", "--games", "1"]) == 0
    told = capsys.readouterr()
    assert "greedy  1 game\n" in told.out and "1 games" not in told.out + told.err


def test_a_match_of_others_is_named_in_good_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played = ["match", "easy", "easy", "--games", "2", "--out", str(tmp_path / "m")]
    assert run(played) == 0
    assert run([*played[:2], "normal", *played[3:]]) == 2
    assert "its agents are easy, easy, not easy, normal" in capsys.readouterr().err


def test_a_folder_that_hides_the_shipped_player_is_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small").mkdir()
    assert run(["eval", "small", "--games", "1"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "using the folder small here" in first and "holds no weights" in second


def test_a_network_too_large_to_pack_is_told_why_and_what_to_write() -> None:
    from tuplet.values.network import Network
    from tuplet.values.packed import write_packed

    with pytest.raises(ValueError, match=r"This network has 3x3 boards: write a\.safetensors instead"):
        write_packed(Network("012", board=(3, 3)), Path("a.xz"))


def test_every_help_ends_with_examples_that_can_be_typed() -> None:
    commands = [app[name] for name in app if name[0] != "-"]
    commands += [command[part] for command in commands for part in command if part[0] != "-"]
    for command in [app, *commands]:
        title, *lines = filter(None, (command.help_epilogue or "").partition("Examples:")[1:])
        examples = [line.strip() for line in lines[0].splitlines() if line.strip()]
        assert title == "Examples:" and 2 <= len(examples) <= 4, command.name
        for line in examples:
            program, *words = shlex.split(line)
            _, _, unknown, *_ = app.parse_known_args(words)
            assert program == "tuplet" and not unknown, line


def test_a_bug_of_ours_is_not_shown_as_the_users_error(monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tuplet.list_games", partial(int, "x"), raising=False)
    assert run(["list", "games"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "internal error: ValueError: invalid literal" in error and "--debug" in error
    assert run(["list", "games", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_error_in_a_users_code_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own_agent.py"
    path.write_text("class Own:\n    def choose(self, position):\n        return {}['x']\n")
    assert run(["analyze", "ewn", "--agent", f"{path}:Own"]) == 2
    assert "KeyError: 'x' (own_agent.py, line 3)" in capsys.readouterr().err


def test_users_errors_have_a_class_of_their_own() -> None:
    source = Path(package.__file__).parent
    plain = [path for path in source.rglob("*.py") if "templates" not in path.parts]
    assert len(plain) > 200
    for path in plain:
        text = path.read_text(encoding="utf-8").replace("class UserError(ValueError)", "")
        assert "ValueError(" not in text, path


def test_a_users_error_has_a_traceback_with_debug(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "random", "--games", "0", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_quiet_prints_results_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "easy", "easy", "--games", "3"]
    assert run(words) == 0
    assert "pairs" in capsys.readouterr().err
    assert run([*words, "-q"]) == 0
    output = capsys.readouterr()
    assert output.err == "" and "easy" in output.out
    assert run(["--quiet", "train", "--net", "0123", "--games", "50", "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == ""


def test_files_that_exist_are_not_overwritten_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("mine")
    Path("mine.svg").write_text("mine")
    for words in (
        ["eval", "greedy", "--games", "1", "--csv", "mine"],
        ["eval", "greedy", "--games", "1", "--out", "mine"],
        ["match", "easy", "easy", "--games", "2", "--csv", "mine"],
        ["solve", "2048", "--board", "2x2", "--out", "mine"],
        ["analyze", "ewn", "--agent", "mcts:sims=10", "--out", "mine.svg"],
        ["analyze", "ewn", "--agent", "mcts:sims=10", "--plot", "mine.svg"],
    ):
        assert run(words) == 2
        file = next(word for word in words if word.startswith("mine"))
        assert f"tuplet: {file} exists: add --force" in capsys.readouterr().err
        assert Path(file).read_text() == "mine"
        assert run([*words, "--force", "-q"]) == 0
        assert Path(file).read_bytes() != b"mine"
        Path(file).write_text("mine")
    # What belongs to saved work is brought up to date when that continues.
    again = ["match", "easy", "easy", "--games", "2", "--out", "games", "--csv", "table.csv"]
    assert run(again) == run(again) == 0
