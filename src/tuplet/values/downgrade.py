"""Tile downgrading: boards with larger tiles than a network was trained with.

If the largest tile has reached a limit, all tiles above the largest missing tile are halved
(Guei, Chen & Wu 2021), repeatedly until the largest is below the limit:

    32768  16384   4096  2048              16384   8192   4096  2048
      512    128      4     2   becomes      512    128      4     2    for a limit
        .      .      .     .                  .      .      .     .    of 32768
        .      .      .     .                  .      .      .     .

Equal tiles stay equal and consecutive tiles stay consecutive, so the board is played the same way.
"""

from __future__ import annotations

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.rules import LARGEST
from tuplet.kernel import inlined, kernel

NO_LIMIT = np.uint64(0)  # in place of a limit

_EVEN = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONES = np.uint64(0x0101010101010101)
_SIXTEENS = np.uint64(0x1010101010101010)
_ONE, _FOUR, _NIBBLE = np.uint64(1), np.uint64(4), np.uint64(15)


def downgrade_limit(tile: int | None) -> np.uint64:
    """The exponent of a limit tile; NO_LIMIT for None."""
    if tile is None:
        return NO_LIMIT
    exponent = int(tile).bit_length() - 1
    if tile != 1 << max(exponent, 0) or not 3 <= exponent <= LARGEST:
        raise UserError(f"downgrade must be a tile from 8 to {1 << LARGEST} (got {tile})")
    return np.uint64(exponent)


@inlined
def _reaches(board: np.uint64, limit: np.uint64) -> bool:
    """Whether any of sixteen 4-bit exponents is at least `limit`, 1 to 15."""
    more = (np.uint64(16) - limit) * _ONES  # raises an exponent of `limit` to 16
    even, odd = board & _EVEN, (board >> _FOUR) & _EVEN
    return bool(((even + more) | (odd + more)) & _SIXTEENS != np.uint64(0))


@kernel
def _downgrade(board: np.uint64, high: np.uint64, limit: np.uint64) -> tuple[np.uint64, np.uint64]:
    while True:
        present, largest = np.uint64(1), np.uint64(0)  # a bit for each exponent on the board
        for c in range(np.uint64(0), np.uint64(64), _FOUR):
            exponent = ((board >> c) & _NIBBLE) | (((high >> c) & _ONE) << _FOUR)
            present |= _ONE << exponent
            largest = max(largest, exponent)
        gap = largest
        while (present >> gap) & _ONE != np.uint64(0) and gap > np.uint64(0):
            gap -= _ONE
        if largest < limit or gap == np.uint64(0):
            return board, high
        for c in range(np.uint64(0), np.uint64(64), _FOUR):
            exponent = ((board >> c) & _NIBBLE) | (((high >> c) & _ONE) << _FOUR)
            if exponent > gap:
                exponent -= _ONE
                board = (board & ~(_NIBBLE << c)) | ((exponent & _NIBBLE) << c)
                high = (high & ~(_ONE << c)) | ((exponent >> _FOUR) << c)


@inlined
def downgrade_words(board: np.uint64, high: np.uint64, limit: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The board, downgraded if its largest exponent reaches `limit` (an exponent or NO_LIMIT)."""
    if limit != NO_LIMIT and (high != np.uint64(0) or _reaches(board, min(limit, _NIBBLE))):
        return _downgrade(board, high, limit)
    return board, high


def downgrade_board(board: Board, tile: int | None) -> Board:
    """The board, downgraded if it has a tile of at least `tile`."""
    limit = downgrade_limit(tile)
    low, high = board.packed if limit == NO_LIMIT else _downgrade(*board.packed, limit)
    return Board.from_packed(int(low), int(high), board.rows, board.columns)
