"""Games that people hold: all of one kind, built in or somebody's own."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tuplet
from tuplet.games.g2048 import Board
from tuplet.games.registry import find_game
from tuplet.testing.games import perft

CONNECT4 = f"{Path(__file__).parents[2] / 'examples' / 'connect4.py'}:CONNECT4"
GAMES = [
    "2048",
    "2048:board=3x3,spawn4=0.2",
    "2048:board=2x3",
    "ewn",
    "ewn-6x7",
    "ewn:board=4x4,cubes=3",
    "ewn:die=chosen",
    "ewn:die=free,own=no",
    CONNECT4,
]


def walk(position, source: random.Random, steps: int):
    """Positions of a random game."""
    for _ in range(steps):
        yield position
        if position.over:
            return
        if position.is_chance:
            position = position.apply_outcome(source.choice(list(position.chance_outcomes())))
        else:
            position = position.play(source.choice(position.legal_moves()))


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_the_same_interface(name: str) -> None:
    game = tuplet.game(name)
    assert tuplet.game(game) is game and tuplet.game(name) is game
    assert game.name == name.replace(" ", "%20")
    assert game.start(5) == game.start(5)
    ended = 0
    for seed in range(4):
        for position in walk(game.start(seed), random.Random(seed), 300):
            assert position.game is game and position.turn in game.sides
            assert game.parse(position.notation) == position
            assert game.parse(position.notation.split(maxsplit=1)[1]) == position
            assert (position.result is None) == (position.termination is None) == (not position.over)
            assert str(position).strip() and ElementTree.fromstring(position._repr_svg_()) is not None
            if position.is_chance:
                shares = position.chance_outcomes()
                assert sum(shares.values()) == pytest.approx(1) and not position.legal_moves()
                _, outcome = position.random_outcome(np.uint64(seed))
                assert outcome in shares
                with pytest.raises(ValueError, match="first"):
                    position.play("1" if game.players == 2 else "left")
            elif not position.over:
                assert not position.chance_outcomes()
                for move in position.legal_moves():
                    assert position.move_text(position.action_of(move)) == move
                with pytest.raises(ValueError, match=r"is not legal|is not a move"):
                    position.play("nonsense")
                with pytest.raises(ValueError, match=r"cannot happen|nothing to roll"):
                    position.apply_outcome("1")
        ended += position.over
        if position.over:
            assert not position.legal_moves() and position.termination in game.terminations
    assert ended


def test_2048_is_the_game_that_is_learned() -> None:
    """Tiles and points as in `Board`, spawns as compiled games draw them."""
    game = tuplet.game("2048")
    standing = game.start(seed=3)
    environment = tuplet.RandomEnvironment(seed=3)
    episode = tuplet.play_episode(tuplet.GreedyAgent(), environment)
    boards = [position.board for position, _ in episode.replay()]
    assert Board(standing) == standing.board == boards[0]
    state = np.uint64(0)
    position, score = standing, 0
    while not position.over:
        if position.is_chance:
            state, outcome = position.random_outcome(state)
            position = position.apply_outcome(outcome)
        else:
            move = tuplet.GreedyAgent().choose(position)
            score += position.move(move)[1]
            position = position.play(move)
        assert position.score == score
    assert position.result == score
    assert tuplet.game("2048").parse("2,0,0,4, 0,0,0,0, 0,0,0,0, 0,0,0,0").tiles[3] == 4
    assert tuplet.game("2048").parse("2048 0 0 4 0 0 0 0 0 0 0 0 0 0 0 0").largest == 2048


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("chess", "'chess' is not a game: 2048, ewn"),
        ("2048:board=5x5", "2x2 to 4x4"),
        ("2048:spawn4=2", "spawn4 must be 0 to 1"),
        ("2048:speed=2", "speed is not a setting; there are board, spawn4"),
        ("ewn:board=1x1", "3x3 to 9x9"),
        ("ewn-5x5", "is not a game"),
        ("nowhere.py:GAME", "cannot import nowhere.py"),
        ("json:dumps", "not a tuplet.Game"),
        ("json:nothing", "has no game nothing"),
        ("", "is not a game"),
    ],
)
def test_a_text_that_names_no_game_is_refused_with_the_reason(name: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        tuplet.game(name)


def test_untrusted_text_cannot_name_code() -> None:
    for text in ("json:tool", "mine.py:GAME"):
        with pytest.raises(ValueError, match="is not loaded"):
            find_game(text)
        with pytest.raises(ValueError, match="is not loaded"):
            tuplet.Record.parse(f'{{"start": "{text} 0:0", "first": "a", "second": "b"}}')
    assert find_game("ewn").name == "ewn"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "....",
        "......./......./......./......./......./...X...",
        "......./......./......./......./...Y.../.......",
        "......./......./......./......./......./YY.....",
        "......./......./......./......./......./......",
    ],
)
def test_an_impossible_board_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rows of|hangs|as many"):
        tuplet.game(CONNECT4).parse(text)


@pytest.mark.parametrize("board", ["131072,131072/0,0", "131072,65536/65536,0", "131072,131072,0/0,0,0"])
def test_tiles_that_would_make_a_262144_are_refused(board: str) -> None:
    size = "2x3" if board.count(",") == 4 else "2x2"
    with pytest.raises(ValueError, match=r"262,140 at most, which no game exceeds \(got 262,144\)"):
        tuplet.game(f"2048:board={size}").parse(board)


def test_positions_after_a_board_can_be_read_again() -> None:
    """The fullest board with a free cell: fifteen tiles, 8 to 131072."""
    tiles = [str(1 << e) for e in range(17, 2, -1)] + ["0"]
    board = "/".join(",".join(tiles[r : r + 4]) for r in range(0, 16, 4))
    held = tuplet.game("2048")
    start = held.parse(board)
    for move in start.legal_moves():
        for tile in start.play(move).chance_outcomes():
            after = start.play(move).apply_outcome(tile)
            assert held.parse(after.notation) == after
    full = held.parse(board.replace(",0", ",4"))
    assert full.over and sum(full.tiles) == 262_140


def test_connect_four_has_as_many_ways_to_go_on_as_others_count() -> None:
    position = tuplet.game(CONNECT4).start()
    counts = [perft(position.rules, position.words, depth) for depth in range(1, 9)]
    assert counts == [7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234]


PUZZLES = [  # position, and the moves that win at once for the side to move
    ("......./......./......./......./.RRR.../.YYY...", {"1", "5"}),  # yellow, in the lowest row
    ("......./......./....Y../....R../RR.RY../RYYRYYY", {"3"}),  # red, between two others
    ("......./......./......./...Y.../...Y.R./...Y.RR", {"4"}),  # in a column
    ("......./......./......./...YR../..YRR../.YRRY.Y", {"5"}),  # upwards
    ("......./......./......./..RY.../..RRY../..YRRYY", {"3"}),  # downwards
]


def test_wins_in_one_are_found_and_proven() -> None:
    game = tuplet.game(CONNECT4)
    for text, wins in PUZZLES:
        position = game.parse(text)
        found = {m for m in position.legal_moves() if position.play(m).winner == position.turn}
        assert found == wins, text
        for agent in ("alphabeta:depth=6", "mcts:sims=2000"):
            analysis = tuplet.analyze(game, position, agent)
            best = next(move for move in analysis.moves if move.move == analysis.best)
            assert analysis.best in wins and best.value == 1.0 and best.proven, (text, agent)


def test_records_of_any_game_are_written_read_and_sent() -> None:
    from tuplet.agents.agent import make_agent

    for name in (CONNECT4, "ewn", "ewn-6x7", "ewn:cubes=2,die=chosen"):
        start = tuplet.game(name).start(1)
        record = tuplet.play_game(make_agent("easy", name), make_agent("easy", name), start)
        assert record.over and tuplet.Record.parse(record.line) == record
        assert pickle.loads(pickle.dumps(record)) == record
        assert len([*record.replay()]) == len(record.moves)


def test_a_drawn_game_is_a_record_without_a_winner() -> None:
    """Every column is filled so that nobody ever has four."""
    record = tuplet.Record(("a", "b"), tuplet.game(CONNECT4).start())
    for move in "111111222222333333544444455555666666777777":
        record.play(move)
    assert record.over and record.winner is None and record.termination == "full"
    assert record.position.result == 0.5
    line = record.as_json()
    assert "winner" not in line and line["kind"] == "full" and line["yellow"] == "a"
    assert tuplet.Record.parse(record.line) == record
    for tampered in ({"winner": "red"}, {"kind": "line"}, {"kind": None}):
        import json

        with pytest.raises(ValueError, match="the moves show"):
            tuplet.Record.parse(json.dumps({**line, **tampered}))


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("ewn:", "ewn"),
        ("ewn:cubes=6", "ewn"),
        ("ewn:own=yes,board=5x5", "ewn"),
        ("ewn:cubes=3,board=4x4", "ewn:board=4x4,cubes=3"),
        ("ewn:own=no,cycle=07,die=cycle", "ewn:cycle=7,own=no"),
        ("ewn:cycle=21", "ewn:die=cycle"),
    ],
)
def test_a_game_has_one_name_however_it_was_typed(typed: str, name: str) -> None:
    one, other = tuplet.game(typed), tuplet.game(name)
    assert one.name == other.name == name
    position = one.start(seed=1)
    assert position == other.start(seed=1) and other.parse(position.notation) == position
    cells = position.notation.partition(" ")[2]
    assert one.parse(f"{typed.rstrip(':')} {cells}") == position


def test_equal_positions_of_2048_are_all_equal() -> None:
    game, board = tuplet.game("2048"), Board([2, 2] + 14 * [0])
    none, some = (game.parse(f"2,2,0,0/0,0,0,0/0,0,0,0/0,0,0,0 {points}") for points in (0, 8))
    assert none != some and none == game.position(board) and hash(none) == hash(game.position(board))
    assert board != none and none != board and Board(none) == Board(some) == board
    assert none.legal_moves() == [*board.legal_moves()] == ["right", "down", "left"]
    with pytest.raises(ValueError, match="up changes nothing"):
        none.play("up")


def test_no_tile_is_due_on_a_full_board_of_2048() -> None:
    game, full = tuplet.game("2048:board=2x2"), "2,4/4,2 12"
    with pytest.raises(tuplet.UserError, match=r"^no tile can appear on a full board: leave out the \?$"):
        game.parse(f"{full} ?")
    assert game.parse(full).over
