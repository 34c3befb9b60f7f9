"""Connect Four: two players drop discs into columns; four of a colour in a line win.

A position is two words: the discs of the side to move, and all discs, as bits. Column c has the
bits from c * (rows + 1) on, the lowest row first; the bit above each column stays empty, so that
no line of four can run from the top of a column into the next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuplet import Encoding, Game, register_game
from tuplet.games.encoding import mirrored
from tuplet.games.protocol import NO_WINNER, ONGOING
from tuplet.kernel import inlined, popcount

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
FIRST_WON, SECOND_WON, FULL = 1, 2, 3  # how a game ends
KINDS = 4  # contents of a cell, for learning: empty, own, the opponent's, next to be filled


class ConnectFour(NamedTuple):
    """The rules, which every kernel gets as its first argument."""

    columns: int
    rows: int
    bottom: np.uint64  # the lowest cell of each column
    board: np.uint64  # every cell


def rules(columns: int = 7, rows: int = 6) -> ConnectFour:
    """The rules on a board of any size that fits into 64 bits."""
    if columns * (rows + 1) > 64 or min(columns, rows) < 1:
        raise ValueError(f"a board of {columns}x{rows} does not fit into 64 bits")
    bottom = sum(1 << c * (rows + 1) for c in range(columns))
    return ConnectFour(columns, rows, np.uint64(bottom), np.uint64(bottom * (2**rows - 1)))


@inlined
def side(game, position):
    """The side to move: whether the number of discs is odd."""
    return np.int64(popcount(position[1]) & ONE)


@inlined
def legal(game, position, moves, start):
    """The columns that are not full."""
    at, height = start, game.rows + 1
    for column in range(game.columns):
        moves[at] = column
        top = ONE << np.uint64(column * height + game.rows - 1)
        at += np.int64(position[1] & top == ZERO)
    return at - start


@inlined
def apply(game, position, move):
    """Drop a disc: adding to a column carries to its first empty cell."""
    own, all_ = position
    bottom = ONE << np.uint64(move * (game.rows + 1))
    column = bottom * ((ONE << np.uint64(game.rows)) - ONE)
    after = all_ | ((all_ & column) + bottom)
    return own ^ all_, after


@inlined
def has_four(game, discs):
    """Whether four discs stand in a line: vertical, horizontal, and both diagonals."""
    height = np.uint64(game.rows + 1)
    for step in (ONE, height, height - ONE, height + ONE):
        pairs = discs & (discs >> step)
        if pairs & (pairs >> (TWO * step)) != ZERO:
            return True
    return False


@inlined
def ending(game, position):
    """Only the side that moved last can have won."""
    if has_four(game, position[0] ^ position[1]):
        return SECOND_WON if popcount(position[1]) & ONE == ZERO else FIRST_WON
    return FULL if position[1] == game.board else ONGOING


@inlined
def winner(game, ended):
    """A full board is a draw."""
    return NO_WINNER if ended in (FULL, ONGOING) else ended - FIRST_WON


@inlined
def encode(game, tables, position, codes, numbers):
    """For learning: own discs are 1, the opponent's 2, next cells to fill 3; how many of these win for each side."""
    count, height, numbers[0] = 0, game.rows + 1, 0
    for column in range(game.columns):
        for row in range(game.rows):
            bit = ONE << np.uint64(column * height + row)
            taken = position[1] & bit != ZERO
            content = 3 if not taken else 1 if position[0] & bit != ZERO else 2
            codes[count] = ((game.rows - 1 - row) * game.columns + column) * KINDS + content
            count += 1
            if not taken:
                numbers[0] += 8 * has_four(game, position[0] | bit) + has_four(game, position[0] ^ position[1] | bit)
                break
    return count


register_game(ConnectFour, 9, side=side, legal=legal, apply=apply, ending=ending, winner=winner, encode=encode)


class Connect4(Game):
    """How people see it: columns are numbered from 1, Y and R are discs."""

    sides = ("yellow", "red")
    terminations = ("line", "full")
    colours = {"Y": "#d9a514", "R": "#c8402f", "yellow": "#d9a514", "red": "#c8402f"}  # noqa: RUF012
    openings = 4  # discs on the board when a game of a match starts, so that pairs of games differ

    @property
    def encoding(self):
        """For learning: blocks of cells, rows, and the diagonals of every 4x4 block; mirror images share a table."""
        rows, columns = self.rules.rows, self.rules.columns
        steps = [i * (columns + 1) for i in range(4)] + [3 + i * (columns - 1) for i in range(4)]
        corners = [r * columns + c for r in range(rows - 3) for c in range(columns - 3)]
        crosses = ["-".join(str(corner + step) for step in steps) for corner in corners]
        net = " ".join(["2x4 4x2 3x3", f"1x{columns}", *crosses])
        mirror, features = mirrored(rows, columns), {"threats": 64}
        return Encoding(rows, columns, KINDS, net, symmetries=(mirror,), features=features, lam=0.8)

    @property
    def actions(self):
        """A move for each column."""
        return self.rules.columns

    def termination_of(self, ending):
        """How a game ended."""
        return self.terminations[ending == FULL]

    def move_text(self, words, code):
        """A column."""
        return str(code + 1)

    def cells(self, words):
        """The board, the top row first."""
        own, discs = map(int, words)
        first = own if discs.bit_count() % 2 == 0 else own ^ discs
        bits = [
            [1 << c * (self.rules.rows + 1) + r for c in range(self.rules.columns)]
            for r in reversed(range(self.rules.rows))
        ]
        return [["" if not discs & b else "Y" if first & b else "R" for b in row] for row in bits]

    def write(self, words):
        """The rows from the top; who moves next follows from the number of discs."""
        return "/".join("".join(cell or "." for cell in row) for row in self.cells(words))

    def read(self, text):
        """Undo `write`."""
        rows = text.split("/")[::-1]
        size = (self.rules.columns, self.rules.rows)
        if len(rows) != size[1] or any(len(r) != size[0] or set(r) - set(".YR") for r in rows):
            raise ValueError("a board is {1} rows of {0} cells: . Y or R".format(*size))
        of = {"Y": 0, "R": 0}
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if cell in of:
                    of[cell] |= 1 << c * (size[1] + 1) + r
                    if r and rows[r - 1][c] == ".":
                        raise ValueError(f"a disc of column {c + 1} hangs in the air")
        ahead = of["Y"].bit_count() - of["R"].bit_count()
        if ahead not in (0, 1):
            raise ValueError("yellow has as many discs as red, or one more")
        return np.uint64(of["R" if ahead else "Y"]), np.uint64(of["Y"] | of["R"])


CONNECT4 = Connect4(rules(), "connect4")
