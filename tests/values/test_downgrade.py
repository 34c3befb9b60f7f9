"""How boards with tiles beyond what was trained are seen."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tuplet import Board
from tuplet.values.downgrade import downgrade_board


def lowered(tiles: list[int], limit: int | None) -> list[int]:
    """The tiles that are seen, without the empty cells behind."""
    seen = downgrade_board(Board(tiles + [0] * (16 - len(tiles))), limit).tiles
    assert seen[len(tiles) :] == [0] * (16 - len(tiles))
    return seen[: len(tiles)]


@pytest.mark.parametrize(
    ("tiles", "limit", "seen"),
    [
        ([32768, 16384, 4096], 32768, [16384, 8192, 4096]),
        ([32768, 16384, 4096], None, [32768, 16384, 4096]),
        ([16384, 8192, 2048], 32768, [16384, 8192, 2048]),
        ([32768, 2, 32768, 4], 32768, [16384, 2, 16384, 4]),
        ([65536, 32768, 8192], 65536, [32768, 16384, 8192]),
        ([65536, 8192], 32768, [16384, 8192]),  # twice
        ([131072, 65536, 2], 131072, [65536, 32768, 2]),
        ([131072, 65536, 2], 65536, [32768, 16384, 2]),
        ([16, 8, 4], 16, [8, 4, 2]),
        ([16, 8, 4, 2], 16, [16, 8, 4, 2]),  # nothing is missing
        ([4096, 1024, 2], 2048, [1024, 512, 2]),
    ],
)
def test_tiles_above_the_largest_missing_one_are_halved(tiles: list[int], limit: int | None, seen: list[int]) -> None:
    assert lowered(tiles, limit) == seen


@given(st.lists(st.integers(0, 17), min_size=16, max_size=16), st.integers(3, 17))
def test_a_lowered_board_is_played_the_same_way(exponents: list[int], limit: int) -> None:
    board = Board([1 << e if e else 0 for e in exponents])
    seen = downgrade_board(board, 1 << limit)
    assert seen.legal_moves() == board.legal_moves() and seen.empty == board.empty
    missing = set(range(1, limit)) - set(seen.exponents)
    assert seen.largest < 1 << limit or not missing
    assert (seen == board) == (board.largest < 1 << limit or seen.largest == board.largest)
