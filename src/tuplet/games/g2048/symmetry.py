"""The mirror images and rotations of a board: maps of cells, and the smallest word of them all."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from tuplet.games.g2048.board import Size
from tuplet.games.g2048.rules import Rules2048, transpose
from tuplet.games.protocol import Array
from tuplet.kernel import inlined, kernel

_BYTES = np.uint64(0x00FF00FF00FF00FF)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_PAIRS = np.uint64(0x0000FFFF0000FFFF)


@cache
def symmetries(size: Size = (4, 4)) -> tuple[tuple[int, ...], ...]:
    """Eight maps from cell to cell, the identity first.

    A board that is not square has four symmetries: each is listed twice, so that a value is
    a sum of eight look-ups for each tuple on every board. Cells are numbered on the 4x4 grid.
    """
    rows, columns = size
    maps = []
    for mirrored, turns in itertools.product((False, True), range(4)):
        places = []
        for cell in range(16):
            row, column = divmod(cell, 4)
            if row < rows and column < columns:
                column = columns - 1 - column if mirrored else column
                for turn in range(turns):
                    if rows == columns:
                        row, column = column, rows - 1 - row
                    elif turn % 2:  # two quarter turns are a half turn
                        row, column = rows - 1 - row, columns - 1 - column
            places.append(4 * row + column)
        maps.append(tuple(places))
    return tuple(maps)


@inlined
def canonical(rules: Rules2048, board: np.uint64) -> np.uint64:
    """The smallest word among the board's mirror images and rotations."""
    least = _least_mirror(rules, board)
    if rules.rows == rules.columns:
        least = min(least, _least_mirror(rules, transpose(board)))
    return least


@inlined
def _least_mirror(rules: Rules2048, board: np.uint64) -> np.uint64:
    # Mirrored on 4x4, a smaller board lies at the other edge; a shift moves it back.
    turned = ((board & _BYTES) << np.uint64(8)) | ((board >> np.uint64(8)) & _BYTES)
    turned = ((turned & _NIBBLES) << np.uint64(4)) | ((turned >> np.uint64(4)) & _NIBBLES)
    turned >>= np.uint64(16 - 4 * rules.columns)
    both = min(board, turned), min(_flip(rules, board), _flip(rules, turned))
    return min(both[0], both[1])


@inlined
def _flip(rules: Rules2048, board: np.uint64) -> np.uint64:
    """Top becomes bottom."""
    turned = (board << np.uint64(32)) | (board >> np.uint64(32))
    turned = ((turned & _PAIRS) << np.uint64(16)) | ((turned >> np.uint64(16)) & _PAIRS)
    return turned >> np.uint64(64 - 16 * rules.rows)


@kernel
def canonical_all(rules: Rules2048, boards: Array) -> None:
    """Replace each board by its canonical one."""
    for i in range(len(boards)):
        boards[i] = canonical(rules, boards[i])
