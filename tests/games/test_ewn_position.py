"""Positions and records of EWN as people hold, write and draw them."""

from __future__ import annotations

import doctest
import json
import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import naive_ewn as naive
import tuplet
from tuplet.games.ewn import EwnGame, EwnPosition, game as ewn_game
from tuplet.games.record import FORFEITS, Record

names = st.sampled_from(list(naive.MEMBERS))
seeds = st.integers(0, 2**32)


def some_position(name: str, seed: int) -> EwnPosition:
    plain = naive.random_position(naive.MEMBERS[name], random.Random(seed))
    return EwnPosition.parse(naive.notation(name, plain))


def some_game(name: str, seed: int, most: int = 1000) -> Record:
    """A random game, broken off after some moves."""
    state, start = EwnGame(name).initial_position(np.uint64(seed))
    record, source = Record(("a player", "größer"), start), random.Random(seed)
    while not record.over and len(record.moves) < most:
        if record.position.is_chance:
            state, rolled = record.position.random_outcome(state)
            record.apply_outcome(int(rolled))
        record.play(source.choice(record.position.legal_moves()))
    return record


@given(names, seeds)
def test_positions_round_trip_through_notation_and_repr(name: str, seed: int) -> None:
    position = some_position(name, seed)
    again = EwnPosition.parse(position.notation)
    assert again == position and hash(again) == hash(position)
    assert again.notation == position.notation
    assert eval(repr(position), {"Position": tuplet.Position}) == position
    for move in position.legal_moves():
        after = position.play(move)
        assert EwnPosition.parse(after.notation) == after


@given(names, seeds, st.data())
def test_a_changed_notation_is_refused_or_means_what_it_says(name, seed, data) -> None:
    text = list(some_position(name, seed).notation)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(list("rb./ 0123456789?*:=,ewnx-²٣é") + ["", "r1", "//"]))
    try:
        position = EwnPosition.parse("".join(text))
    except ValueError:
        return
    again = EwnPosition.parse(position.notation)
    assert again == position and again.notation == position.notation
    str(position), position._repr_svg_(), position.legal_moves()  # none of them fails


@given(st.text())
@example("ewn ...../...../...../...../..... red ?")
@example("ewn:cycle=" + "9" * 5000 + " . red 0:1")
@example("ewn-6x7 " + "/".join(["......."] * 6) + " red 999:1")
@example("ewn r\u0663.../...../...../...../....b1 red ?")
@example("ewn: board=3x3,cubes=1 r1../.../..b1 red ?")
def test_garbage_is_neither_a_position_nor_a_record(text: str) -> None:
    for parse in (EwnPosition.parse, Record.parse):
        with pytest.raises(ValueError, match=r"."):
            parse(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
fields = st.sampled_from(["red", "blue", "start", "moves", "rolls", "winner", "kind", "reason", "other"])


@given(names, seeds, st.integers(0, 12))
def test_records_round_trip(name: str, seed: int, most: int) -> None:
    record = some_game(name, seed, most)
    again = Record.parse(record.line)
    assert again == record and again.line == record.line and "\n" not in record.line
    assert [move for _, move in again.replay()] == record.moves
    if not record.over:
        record.forfeit(record.position.turn, random.Random(seed).choice(FORFEITS), "a reason")
        assert Record.parse(record.line) == record
        assert record.winner != record.position.turn


@given(names, seeds, fields, json_values)
def test_a_record_with_another_value_is_refused_or_the_same(name, seed, field, value) -> None:
    record = some_game(name, seed, 6)
    given_values = {**json.loads(record.line), field: value}
    try:
        again = Record.parse(json.dumps(given_values))
    except ValueError:
        return
    assert Record.parse(again.line) == again
    if field in ("start", "rolls", "winner", "kind"):
        assert again == record


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "ewn:die=chosen"])
def test_tampered_records_are_refused(name: str) -> None:
    record = some_game(name, 12)
    good = json.loads(record.line)
    rolls = good.get("rolls", [])
    assert record.over and Record.parse(json.dumps(good)) == record
    loser = "red" if record.winner == "blue" else "blue"
    other_kind = "corner" if record.termination == "elimination" else "elimination"
    changes: list[dict[str, object]] = [
        {"winner": loser},
        {"winner": None},
        {"kind": other_kind},
        {"kind": "late"},
        {"winner": loser, "kind": "late"},
        {"moves": record.moves[:-1]},
        {"moves": record.moves + record.moves[-1:]},
        {"moves": ["99", *record.moves[1:]]},
        {"moves": "".join(record.moves)},
        {"moves": 5},
        {"moves": None},
        {"rolls": 5},
        {"rolls": [*rolls, 1]},
        {"rolls": [True, *rolls[1:]]},
        {"rolls": ["1", *rolls[1:]]},
        {"start": 5},
        {"start": "ewn"},
    ]
    if rolls:
        changes += [{"rolls": rolls[:-1]}, {"rolls": [9, *rolls[1:]]}]
    for change in changes:
        with pytest.raises(ValueError, match=r"."):
            Record.parse(json.dumps({**good, **change}))
    unfinished = json.loads(some_game(name, 12, 3).line)
    for change in ({"winner": "red"}, {"winner": "red", "kind": "corner"}, {"kind": "corner"}):
        with pytest.raises(ValueError, match=r"moves show|do not show"):
            Record.parse(json.dumps({**unfinished, **change}))
    for text in ("[" * 100_000, "[]", "null", "5", "{}", '{"start": {}, "red": 1, "blue": 2}'):
        with pytest.raises(ValueError, match="not a game's record"):
            Record.parse(text)


def test_players_without_a_name_keep_their_place_in_a_record() -> None:
    record = Record(("", ""), EwnGame("ewn").setup())
    assert Record.parse(record.line) == record


@pytest.mark.parametrize("name", naive.MEMBERS)
def test_pictures_are_well_formed_and_show_every_cube(name: str) -> None:
    for seed in range(20):
        position = some_position(name, seed)
        svg = ET.fromstring(position._repr_svg_())
        space = "{http://www.w3.org/2000/svg}"
        texts = [t.text for t in svg.iter(f"{space}text")]
        assert sorted(texts[:-1]) == sorted(str(number) for _, number in position.cubes)
        squares = position.game.rows * position.game.columns
        assert len(list(svg.iter(f"{space}rect"))) == 1 + squares + len(position.cubes)
        assert texts[-1] == str(position).splitlines()[-1]
        words = {word for line in str(position).splitlines()[:-1] for word in line.split()} - {"."}
        assert words == {f"{side[0]}{number}" for side, number in position.cubes}


def test_captions_say_what_comes_next() -> None:
    def caption(text: str) -> str:
        return str(EwnPosition.parse(text)).splitlines()[-1]

    assert caption("ewn r1..../...../...../...../....b1 blue ?") == "blue to roll"
    assert caption("ewn r1..../...../...../...../....b1 blue 3") == "blue to move, die 3"
    assert caption("ewn ...../...../...../...../....r1 blue ?") == "red has won (corner)"
    assert caption("ewn r1..../...../...../...../..... blue ?") == "red has won (elimination)"
    assert caption("ewn:die=free r1..../...../...../...../....b1 red *") == "red to move, any cube"
    chosen = "ewn:die=chosen r1..../...../...../...../....b1 red ?"
    assert caption(chosen) == "blue to choose the die"
    known = EwnGame("ewn-6x7").setup(die="012345012345012345012")
    assert str(known).splitlines()[-1] == "red to move, die 0, then 1234501..."


def test_examples_in_docstrings_are_true() -> None:
    result = doctest.testmod(ewn_game)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: EwnGame("chess").setup(), "not a game"),
        (lambda: EwnGame("ewn:board=2x2").setup(), "3x3 to 9x9"),
        (lambda: EwnGame("ewn:board=3x3").setup(), "do not fit"),
        (lambda: EwnGame("ewn:cubes=7").setup(), "cubes must be 1 to 6"),
        (lambda: EwnGame("ewn:die=loaded").setup(), "die must be cycle, rolled, chosen or free"),
        (lambda: EwnGame("ewn:die=rolled,cycle=5").setup(), "cycle"),
        (lambda: EwnGame("ewn:cycle=61").setup(), "cycle must be 1 to 60"),
        (lambda: EwnGame("ewn:size=4").setup(), "size"),
        (lambda: EwnGame("ewn:board").setup(), "write name=value"),
        (lambda: EwnGame("ewn").setup(red="123455"), "red's cubes are 1 to 6"),
        (lambda: EwnGame("ewn").setup(blue=[1, 2]), "blue's cubes"),
        (lambda: EwnGame("ewn-6x7").setup(), "21 values"),
        (lambda: EwnGame("ewn-6x7").setup(die="6" * 21), "shows 0 to 5"),
        (lambda: EwnGame("ewn-6x7").setup(die="0" * 21, first="blue"), "red moves first"),
        (lambda: EwnGame("ewn").setup(die="12"), "0 values"),
        (lambda: EwnGame("ewn").setup().roll(7), "no 7"),
        (lambda: EwnGame("ewn").setup().roll(1).roll(1), "nothing to roll"),
        (lambda: EwnGame("ewn").setup().play("10"), "rolled first"),
        (lambda: EwnGame("ewn").setup().roll(1).play("20"), "not legal here: 10, 11, 12"),
        (lambda: EwnPosition.parse("ewn ....r1/....r1/...../...../..... red 1"), "twice"),
        (lambda: EwnPosition.parse("ewn ....r1/...../...../...../..... green 1"), "not a side"),
        (lambda: EwnPosition.parse("ewn ....r1/...../...../...../..... red 7"), "not a die"),
    ],
)
def test_impossible_positions_and_moves_are_refused_with_the_reason(call, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()
