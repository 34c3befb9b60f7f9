"""Whatever people paste is read: positions and games, in every form; and written again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tuplet
from tuplet import Record, game, read, write
from tuplet.games.formats import FORMATS, MOST, read_game
from tuplet.games.g2048 import formats as formats_2048

EWN = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
FRAMEWORK = Path(__file__).parents[1] / "data" / "interop" / "framework" / "cpp-dummy.txt"


def played(name: str, seed: int = 1, most: int = 400) -> Record:
    """A random game."""
    held: Any = game(name)
    record = Record(tuple(held.sides), held.start(seed))
    state = np.uint64(seed)
    while not record.over and len(record.moves) < most:
        if record.position.is_chance:
            state, outcome = record.position.random_outcome(state)
            record.apply_outcome(outcome)
        else:
            state, move = record.position.random_move(state)
            record.play(move)
    return record


# Three letters by the site's own definition: 128 of them, seven bits each, the highest first.
def letters(move: int, four: int, x: int, y: int, time: int = 0x7FF) -> str:
    number = move + 4 * four + 16 * x + 128 * y + 1024 * time
    return "".join(formats_2048.LETTERS[number // 128**n % 128] for n in (2, 1, 0))


UP, DOWN, LEFT, RIGHT = range(4)
STEPS = ["left", "2@3"], ["right", "4@8"], ["down", "2@2"]
NEW = "4x4-1_" + "".join(
    [
        letters(UP, 0, 0, 0),
        letters(UP, 0, 1, 0, 0),
        letters(LEFT, 0, 3, 0, 17),
        letters(RIGHT, 1, 0, 2, 3),
        letters(DOWN, 0, 2, 0, 0x7FE),
    ]
)
#  the move, a bit for a 4, the column, the row; the first of 128 letters is a blank
OLD = "replay_" + "".join(formats_2048.OLD_LETTERS[at] for at in (0, 4, 96 + 12, 32 + 16 + 2, 64 + 8))


def test_games_of_2048verse_are_read_by_the_sites_definition() -> None:
    assert len(set(formats_2048.LETTERS)) == len(set(formats_2048.OLD_LETTERS)) == 128
    assert formats_2048.LETTERS[:3] + formats_2048.LETTERS[62] + formats_2048.LETTERS[-2:] == "012À¤¾"
    assert formats_2048.OLD_LETTERS[0] + formats_2048.OLD_LETTERS[94:97] + formats_2048.OLD_LETTERS[-2:] == " ~Çüƒá"
    assert NEW.startswith("4x4-1_¾ú0") and OLD.endswith("_ $ìRh")
    for text in (NEW, OLD, f"\n  {OLD}\n", NEW.replace("-1_", "-_"), OLD.replace("_", ":", 1)):
        found = read(text).as_json()
        assert (found["kind"], found["format"], found["game"]) == ("game", "2048verse", "2048")
        assert found["start"] == "2048 2,2,0,0/0,0,0,0/0,0,0,0/0,0,0,0 0"
        assert [step[:2] for step in found["steps"]] == [*STEPS]
        assert [step[2] for step in found["steps"]] == [4, 0, 0]
        assert found["position"]["tiles"] == [0, 0, 2, 0] + 8 * [0] + [4, 0, 4, 2]
        assert read(found["record"]).as_json()["steps"] == found["steps"]


def test_a_board_of_2048verse_says_rows_first_and_games_come_back() -> None:
    for name in ("2048:board=2x4", "2048:board=4x3", "2048"):
        record = played(name)
        found = read(record.line).as_json()
        text = write(name, record.start, found["steps"], "2048verse")
        assert text.startswith(name.partition("=")[2] or "4x4")
        again = read(text).as_json()
        assert again["steps"] == found["steps"] and again["position"] == found["position"]


def test_a_file_of_2048verse_has_a_byte_for_each_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = "replay_1.vrs"  # which would be a game itself
    Path(path).write_bytes(NEW.encode("latin-1"))
    assert read_game(path) == read_game(NEW)
    Path(path).write_bytes(NEW.encode())
    assert read_game(path) == read_game(NEW)
    Path(path).write_bytes(NEW.encode("latin-1")[:-1])
    with pytest.raises(ValueError, match="three letters"):
        read_game(path)


@pytest.mark.parametrize(
    "text",
    [
        "2 . . 4\n. 8 . .\n. . . .\n. . . .",
        "[[2,0,0,4],[0,8,0,0],[0,0,0,0],[0,0,0,0]]",
        '{"board": [2,0,0,4,0,8,0,0,0,0,0,0,0,0,0,0]}',
        "2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 0",
        "2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 0",
        "1002030000000000",
        "https://2048verse.com/p/1002030000000000",
        '{"notation": "2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 0", "score": 0}',
    ],
)
def test_a_board_is_read_in_every_layout(text: str) -> None:
    found = read(text).as_json()
    assert found["kind"] == "position" and found["game"] == "2048"
    assert found["position"] == game("2048").parse("2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0").as_json()


def test_positions_of_every_game_and_size_are_read() -> None:
    for text, hint, notation in (
        (EWN, None, EWN),
        (EWN, "2048", EWN),
        (EWN[4:], "ewn", EWN),
        (game("ewn-6x7").start(1).notation, None, game("ewn-6x7").start(1).notation),
        ("2048:board=3x3,spawn4=0.2 2,0,0/0,4,0/0,0,0 12 ?", None, None),
        ("2 4 / 8 16", None, "2048:board=2x2 2,4/8,16 0"),
        ("2,4,8/16,32,64 100", None, "2048:board=2x3 2,4,8/16,32,64 100"),
        ("2 4 8 16 32 64", "2048:board=2x3", "2048:board=2x3 2,4,8/16,32,64 0"),
        ("2 4 / 8 16", "2048:spawn4=0.2", "2048:board=2x2,spawn4=0.2 2,4/8,16 0"),
        ("2048 1024 512 256 " + "2 4 2 4 " * 3, None, None),
    ):
        found = read(text, hint).as_json()
        assert found["kind"] == "position"
        assert found["position"]["notation"] == (notation or found["position"]["notation"])
    assert found["position"]["tiles"][:4] == [2048, 1024, 512, 256]


@pytest.mark.parametrize("name", ["2048", "2048:board=3x2,spawn4=0.3", "ewn", "ewn-6x7"])
def test_records_are_read_and_written_step_by_step(name: str) -> None:
    record = played(name)
    found = read(record.line).as_json()
    assert found["format"] == "record" and found["players"] == list(record.names)
    assert found["game"] == name and found["record"] == record.line
    position = game(name).parse(found["start"])
    assert not position.is_chance
    for move, outcome, reward, after in found["steps"]:
        before = getattr(position, "score", 0)
        position = position.play(move)
        assert reward == getattr(position, "score", 0) - before
        position = position if outcome is None else position.apply_outcome(outcome)
        assert position.notation == after
    assert found["position"]["notation"] == record.position.notation
    again = write(name, found["start"], found["steps"], "record", found["players"])
    assert read(again).as_json()["steps"] == found["steps"]


def test_the_frameworks_line_is_read_and_written() -> None:
    line = FRAMEWORK.read_text().splitlines()[0]
    episode, found = read_game(line), read(line).as_json()
    assert found["format"] == "episode" and found["players"] == list(episode.names)
    assert found["position"]["tiles"] == episode.position.tiles
    assert found["position"]["score"] == episode.score
    text = write("2048", found["start"], found["steps"], "episode", found["players"])
    again = read_game(text)
    assert (again.moves, again.outcomes) == (episode.moves, episode.outcomes)
    assert text == write("2048", found["start"], found["steps"], "episode", found["players"])
    told = tuplet.review(text, depth=1).as_json()
    assert told == tuplet.review(found["record"], depth=1).as_json()


@pytest.mark.parametrize(
    ("text", "hint", "complaint"),
    [
        ("", None, "nothing to read"),
        ("hello, what would you do here?", None, "neither a position nor a game"),
        ("x" * (MOST + 1), None, "too long"),
        ("2 4 8", None, "not 3"),
        ("somewhere/mine.py:GAME 0:0", None, "is not loaded"),
        ("os:system ls", None, "is not loaded"),
        ('{"first": "a", "second": "b", "start": "os:system 0:0"}', None, "is not loaded"),
        ("2 4 / 8 16", "somewhere/mine.py:GAME", "is not loaded"),
        ("2 4 / 8 16", "chess", "is not a game"),
        ("a:b@1|0111#L[4]31|b@2\na:b@1|0111|b@2", None, "2 lines, a game each"),
        ("a:b@1|0111#L[8]|b@2", None, "earns 4"),
        ("a:b@1|0111#L[4]33|b@2", None, "'8@3' cannot happen"),
        ('{"kind": "match", "agents": []}', None, "a saved match"),
        ('{"start": 3}', None, "start and moves are texts"),
        ("4x4-1_¾ú", None, "three letters"),
        ("4x4-1_¾ú0", None, "two tiles"),
        ("4x4-1_¾ú0¾ú0", None, "tile 2: cell 0 is not an empty cell"),
        ("4x4-1_¾ú0¾ ú", None, "is not a tile"),
        ("2x2-1_¾ú0¾úw", None, "row 1, column 3 is not on a board of 2x2"),
        ("9x9-1_¾ú0¾ú0", None, "2x2 to 4x4"),
        (NEW + letters(UP, 3, 0, 0), None, "neither a 2 nor a 4"),
        (NEW + letters(LEFT, 0, 0, 0), None, "tile 6: cell 0 is not an empty cell"),
        ("replay_h h", None, "is not a tile"),
        ("ewn r1", None, "four words"),
    ],
)
def test_unreadable_text_is_a_one_line_error(text: str, hint: str | None, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as told:
        read(text, hint)
    assert "\n" not in str(told.value) and len(str(told.value)) < 300


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("2048", "2,2/0,0", [], "record"), "board of 4x4"),
        (("2048:board=2x2", "2,2/0,0", [], "pgn"), "record, episode, 2048verse"),
        (("2048:board=2x2", "2,2/0,0", [], "episode"), "4x4"),
        (("2048:board=2x2", "2,4/8,0", [], "2048verse"), "two tiles"),
        (("2048:board=2x2", "2,2/0,0", [["left", None]], "2048verse"), "none has appeared"),
        (("2048:board=2x2", "2,2/0,0", [["up", None]], "record"), "step 1: up changes nothing"),
        (("2048:board=2x2", "2,2/0,0", [["left", "8@1"]], "record"), "step 1: '8@1' cannot happen"),
        (("2048:board=2x2", "2,2/0,0", [["left", None], ["left", None]], "record"), "step 2"),
        (("2048:board=2x2", "2,2/0,0", ["left"], "record"), "a step is a move"),
        (("2048:board=2x2", "2,2/0,0", [[3, None]], "record"), "a move is a text"),
        (("2048:board=2x2", "2,2/0,0", [], "record", ["a", "b"]), "1 text"),
        (("ewn", EWN, [], "2048verse"), "is written as record"),
        (("mine.py:GAME", "0:0", [], "record"), "is not loaded"),
    ],
)
def test_a_game_that_a_format_cannot_express_is_a_one_line_error(arguments: tuple[Any, ...], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as told:
        write(*arguments)
    assert "\n" not in str(told.value)


SOUND = [
    NEW,
    OLD,
    EWN,
    "2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,0,0 12 ?",
    "you:me@1|0111#L[4]31#LC1#U82|me@2",
    "2 . . 4\n. 8 . .\n. . . .\n. . . .",
    played("2048:board=2x2").line,
    played("ewn").line,
]


@settings(max_examples=150)
@given(st.randoms(use_true_random=False), st.text(max_size=12))
def test_any_text_is_read_or_refused(rng: random.Random, piece: str) -> None:
    text = rng.choice(SOUND)
    at, length = rng.randrange(len(text) + 1), rng.choice((0, 1, 3, 40))
    text = text[:at] + (piece or rng.choice("{}[]|@_,/ 2")) + text[at + length :]
    hint = rng.choice((None, "2048", "ewn", "2048:board=2x2"))
    try:
        found = read(text, hint)
    except ValueError as error:
        found, why = None, str(error)
    if found is None:
        assert "\n" not in why
        return
    told = json.loads(json.dumps(found.as_json()))
    assert told["kind"] in ("position", "game")
    if told["kind"] == "game":
        assert told["format"] in FORMATS
        text = write(told["game"], told["start"], told["steps"], "record", told["players"])
        assert read(text).as_json()["steps"] == told["steps"]
    else:
        assert read(told["position"]["notation"]).position == found.position
