from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from tuplet import Board

tiles = st.sampled_from([0] + [1 << e for e in range(1, 18)])


@given(st.lists(tiles, min_size=16, max_size=16))
def test_board_round_trips_through_lists_text_words_and_repr(cells: list[int]) -> None:
    board = Board(cells)
    assert board.tiles == cells
    assert Board(",".join(map(str, cells))) == board
    assert Board.from_packed(*board.packed) == board
    assert eval(repr(board)) == board
    assert Board(board) == board and hash(Board(cells)) == hash(board)
    printed = [int(word) if word != "." else 0 for word in str(board).split()]
    assert printed == cells


@given(st.lists(tiles, min_size=12, max_size=12), st.sampled_from(["up", "right", "down", "left"]))
def test_motion_says_where_each_tile_of_a_move_comes_from(cells: list[int], move: str) -> None:
    board = Board(cells, rows=3, columns=4)
    came: dict[int, list[int]] = {}
    for start, end, merged in board.motion(move):
        came.setdefault(end, []).append(board[start])
        assert merged == (sum(to == end for _, to, _ in board.motion(move)) == 2)
    assert sorted(start for start, _, _ in board.motion(move)) == [c for c, tile in enumerate(cells) if tile]
    after = board.move(move)[0]
    assert [sum(came.get(cell, [])) for cell in range(12)] == after.tiles
    assert all(len(set(tiles)) == 1 and len(tiles) <= 2 for tiles in came.values())


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2), (3, 3), (4, 3), (2, 4)])
def test_small_boards_slide_within_their_edges(shape: tuple[int, int]) -> None:
    rows, columns = shape
    board = Board(rows=rows, columns=columns).place(0, 2)
    right, _ = board.move("right")
    assert right.tiles[columns - 1] == 2
    corner, _ = right.move("down")
    assert corner.tiles[-1] == 2
    assert Board.from_packed(*corner.packed, rows, columns) == corner


def test_after_states_spawns_and_the_end_of_a_game() -> None:
    board = Board([2, 2, 4, 8] + [0] * 12)
    after = board.after_states()
    assert list(after) == ["right", "down", "left"]
    assert after["left"][0].tiles[:4] == [4, 4, 8, 0] and after["left"][1] == 4
    spawns = board.spawns(0.2)
    assert len(spawns) == 24
    assert sum(p for _, p in spawns) == pytest.approx(1)
    assert sum(p for b, p in spawns if 4 in b.tiles[4:]) == pytest.approx(0.2)
    assert not board.over
    assert Board([2, 4, 2, 4, 4, 2, 4, 2] * 2).over


def test_a_board_draws_itself() -> None:
    svg = ET.fromstring(Board([131072, 2] + [0] * 14)._repr_svg_())
    texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["131072", "2"]
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}rect"))) == 17


@pytest.mark.parametrize(
    ("tiles", "complaint"),
    [
        ([3] + [0] * 15, "3 is not a tile"),
        ([1] + [0] * 15, "1 is not a tile"),
        ([262144] + [0] * 15, "not a tile"),
        ([-2] + [0] * 15, "not a tile"),
        ([2] * 15, "16 tiles"),
        ("2,4,x", "not a board"),
        ([[2, 4], [2]], "one length"),
        ([[2] * 5] * 5, "2 to 4"),
        ([], "16 tiles"),
    ],
)
def test_what_is_not_a_board_is_refused_with_the_reason(tiles: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Board(tiles)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "{board}",
        "{board!r}",
        "{tiles}",
        "{rows}",
        "{board.tiles}",
        "+---+---+---+---+\n| 2 | . | . | 4 |\n| _ | 8 | - | . |\n| . | . | . | . |\n"
        "| 16 | 2 | 4 | 32768 |\n+---+---+---+---+",
        "exponents 1 0 0 2  0 3 0 0  0 0 0 0  4 1 2 15",
    ],
)
def test_a_board_is_read_however_it_is_pasted(text: str) -> None:
    rows = [[2, 0, 0, 4], [0, 8, 0, 0], [0, 0, 0, 0], [16, 2, 4, 32768]]
    board = Board(rows)
    given = text.format(board=board, rows=rows, tiles=",".join(map(str, board.tiles)))
    assert Board(given.removeprefix("Board(").removesuffix(")")) == board
    small = Board([[2, 4, 8], [0, 2, 0]])
    assert Board(str(small)) == small and Board("2 4 8/. 2 .") == small


@pytest.mark.parametrize("text", ["2,0,x", "1 " * 16, "1 2 4 8 " * 4, "18 3 " + "0 " * 14])
def test_text_that_is_not_a_board_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a board|is not a tile"):
        Board(text)
