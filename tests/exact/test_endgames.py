"""Endgame tables of EWN: values as of a plain recursion, files, and what the commands say."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import naive_ewn
import tuplet
from both_ways import in_both_ways
from tuplet import EndgameTable, Position, UserError
from tuplet.cli import run
from tuplet.exact.endgames import NOT_KNOWN, value_error

GAMES = [
    "ewn:board=3x3,cubes=3",
    "ewn:board=3x3,cubes=2,directions=4",
    "ewn:board=3x4,cubes=2,own=no",
    "ewn:board=4x3,cubes=2,directions=4,own=no",
    "ewn:board=3x3,cubes=3,hole=yes,backward=yes",
]


@pytest.fixture(scope="module")
def table() -> EndgameTable:
    return tuplet.solve("ewn", cubes=3, threads=2)


@pytest.mark.parametrize("name", GAMES)
def test_every_value_equals_that_of_a_plain_recursion(name: str) -> None:
    game = naive_ewn.named(name, random.Random(1))
    exact = naive_ewn.Exact(game)
    table = tuplet.solve(name)
    assert table.cubes == 2 * table.game.cubes  # the whole game
    source = random.Random(2)
    for position in table.sample(300, 1):
        rolled = position.roll(source.randint(1, table.game.cubes))
        for each in (position, rolled):
            red = exact(naive_ewn.from_words(game, each.words))[0]
            assert table.value(each) == pytest.approx(red if each.turn == "red" else 1 - red, abs=1e-6)


def test_positions_of_six_cubes_a_side_equal_a_plain_recursion(table: EndgameTable) -> None:
    game = naive_ewn.MEMBERS["ewn"]
    exact = naive_ewn.Exact(game)
    for position in table.sample(40, 3):
        red = exact(naive_ewn.from_words(game, position.words))[0]
        assert table.value(position) == pytest.approx(red if position.turn == "red" else 1 - red, abs=1e-6)


def test_each_position_is_counted_once(table: EndgameTable) -> None:
    known = {(each.own, each.other): each.positions for each in table.endings}
    assert sum(known.values()) == table.positions == int((table.values != NOT_KNOWN).sum())
    squares = [divmod(s, 5) for s in range(24)]
    apart = [(a, b) for a in squares for b in squares if a != (4 - b[0], 4 - b[1])]
    assert known[1, 1] == sum(a[1] >= a[0] for a, _ in apart)  # the first cube on or above the diagonal


def test_mirrored_turned_and_renumbered_positions_have_one_value(table: EndgameTable) -> None:
    one = Position.parse("ewn ...../.r2.../..r3../.b5.../..... red ?")
    mirrored = Position.parse("ewn ...../.r2.b5./..r3../...../..... red ?")
    renumbered = Position.parse("ewn ...../.r5.../..r4../.b1.../..... red ?")
    turned = Position.parse("ewn ...../...r5./..b3../...b2./..... blue ?")
    assert len({table.value(each) for each in (one, mirrored, renumbered, turned)}) == 1


BOTH_WAYS = """
import zlib, tuplet
for game in ("ewn:board=3x3,cubes=2", "ewn:board=3x3,cubes=2,directions=4,own=no"):
    print(zlib.crc32(tuplet.solve(game, cubes=3, progress=False).values.tobytes()))
"""


def test_compiled_and_interpreted_values_are_the_same() -> None:
    compiled, interpreted = in_both_ways(BOTH_WAYS, [])
    assert compiled == interpreted


def test_the_best_move_is_worth_what_the_position_is(table: EndgameTable) -> None:
    for position in table.sample(50, 5):
        rolled = position.roll(4)
        moves = table.moves(rolled)
        assert sorted(m.move for m in moves) == sorted(rolled.legal_moves())
        assert moves[0].value == table.value(rolled) and moves[0].move == table.choose(rolled)
        assert all(m.proven for m in moves)
    mean = sum(table.value(position.roll(n)) for n in range(1, 7)) / 6
    assert table.value(position) == pytest.approx(mean, abs=1e-6)


def test_threads_do_not_change_a_bit(table: EndgameTable) -> None:
    assert np.array_equal(table.values, tuplet.solve("ewn", cubes=3).values)


def test_a_saved_table_is_the_same_and_names_its_game(table: EndgameTable, tmp_path: Path) -> None:
    path = table.save(tmp_path / "table")
    loaded = EndgameTable.load(path)
    assert np.array_equal(loaded.values, table.values) and isinstance(loaded.values, np.memmap)
    assert loaded.as_json() == table.as_json()
    for damage in (b"", b"{}", path.read_bytes()[:-4], path.read_bytes().replace(b'\\"cubes\\": 3', b'\\"cubes\\": 4')):
        (tmp_path / "damaged").write_bytes(damage)
        with pytest.raises(UserError, match="table of endgames"):
            EndgameTable.load(tmp_path / "damaged")


def test_what_cannot_be_solved_is_refused_with_the_reason() -> None:
    for arguments, reason in (
        (("ewn-6x7",), "die is known in advance"),
        (("ewn:die=chosen",), "chosen by the opponent"),
        (("ewn:die=free",), "not used"),
        (("ewn", 5), "3.8 GB"),
        (("ewn", 1), "must be 2 to 12"),
        (("ewn", 13), "must be 2 to 12"),
        ((tuplet.game("2048"),), "has no endgame tables"),
        (("2x2", 3), "cubes are of ewn"),
    ):
        game, *cubes = arguments
        with pytest.raises(UserError, match=reason):
            tuplet.solve(game, cubes=cubes[0] if cubes else None)


def test_the_commands_save_a_table_and_analyze_with_it(
    table: EndgameTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, position = tmp_path / "table", "ewn ...../..r1../...../.b1.b6./..... red 2"
    assert run(["solve", "ewn", "--cubes", "3", "--out", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == table.as_json()
    assert run(["analyze", "ewn", position, "--agent", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["best"] == "10" and all(move["proven"] for move in said["moves"])
    assert said["moves"][0]["value"] == table.value(Position.parse(position))
    assert run(["analyze", "ewn", "--agent", str(path)]) == 2
    assert "up to 3 cubes, and this one has 12" in capsys.readouterr().err
    assert run(["analyze", "ewn-6x7", "--agent", str(path)]) == 2
    assert "the table is of ewn, not of ewn-6x7" in capsys.readouterr().err


def test_the_judge_of_values_finds_no_error_in_exact_values(table: EndgameTable) -> None:
    assert value_error(table, table.value, positions=20)[0] == 0
    mean, (low, high) = value_error(table, lambda _: 0.5, positions=200, seed=1)
    assert 0.1 < low < mean < high < 0.5
