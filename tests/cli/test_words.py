"""What the command line says when something is wrong: the cause, what to do, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuplet.cli import run

EMPTY = ",".join(["0"] * 15)
SMALL = "2048:board=3x4 2,2,0,0/0,0,0,0/0,0,0,0 0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eval", "random", "--games", "1.5"], ["--games", "whole number, not '1.5'"]),
        (["match", "easy", "easy", "--games", "1e3"], ["--games", "whole number"]),
        (["train", "--games", "2.0"], ["--games", "whole number"]),
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
            [
                "review",
                '{"red":"a","blue":"b","start":"ewn:board=4x4,cubes=3 r1r2../r3.../...b3/..b2b1 '
                'red ?"}',
            ],
            ["a game of ewn:", "tuplet show"],
        ),
        (
            ["review", f'{{"player":"a","start":"{SMALL}","moves":["left"]}}'],
            ["no player of 3x4 comes with tuplet", "mcts"],
        ),
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


def test_a_board_with_hyphens_for_empty_cells_is_no_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["analyze", "2048", "- - 2 4\n- - - -\n- - - -\n- - - 2", "--agent", "greedy"]) == 0
    assert "2   4" in capsys.readouterr().out


def test_one_game_is_not_one_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "greedy", "--games", "1"]) == 0
    told = capsys.readouterr()
    assert "greedy  1 game\n" in told.out and "1 games" not in told.out + told.err


def test_a_match_of_others_is_named_in_good_grammar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = ["match", "easy", "easy", "--games", "2", "--save", str(tmp_path / "m")]
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
    assert "there is a folder small here" in first and "holds no weights" in second


def test_a_network_too_large_to_pack_is_told_why_and_what_to_write() -> None:
    from tuplet.values.packed import write_packed
    from tuplet.values.parameters import Parameters

    with pytest.raises(ValueError, match=r"its boards are 3x3; write a\.safetensors instead"):
        write_packed(Parameters("012", board=(3, 3)), Path("a.xz"))
