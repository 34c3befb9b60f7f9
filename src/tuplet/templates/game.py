"""A game: put stones on a board; the first with four in a line wins.

    tuplet match mcts:sims=500 alphabeta:depth=3 --game template.py:TEMPLATE --games 20
    tuplet analyze template.py:TEMPLATE ...../.xxx./.oo../...../.o... --agent alphabeta
    tuplet play template.py:TEMPLATE
    python template.py                                               (checks the rules)

A game has two parts: rules, which are compiled functions, and a class for text and pictures. The rules use only their
parameters, a NamedTuple, and a position, which is two 64-bit words. Here these are bits: the stones of the side to
move, and all stones. A row has one bit more than the board has columns, which stays empty, so that no line runs from
the end of a row into the next.

Two traps of compiled code: np.uint64 mixed with Python's numbers becomes signed, so write constants as ONE, not 1;
and a function can use only NumPy, numbers, tuples and compiled functions.
"""

from typing import NamedTuple

import numpy as np

from tuplet import Game, register_game
from tuplet.games.protocol import NO_WINNER, ONGOING
from tuplet.kernel import inlined, popcount

ZERO, ONE = np.uint64(0), np.uint64(1)
FIRST_WON, SECOND_WON, FULL = 1, 2, 3  # how a game ends: any numbers from 1 on


class Rules(NamedTuple):
    """The parameters of the game: the first argument of the functions below."""

    size: int  # rows and columns
    line: int  # stones in a line that win
    board: np.uint64  # every cell


def rules(size: int = 5, line: int = 4) -> Rules:
    """A move is one of at most 48, and a position has 64 bits: 6x6 is the largest board."""
    if not 2 <= size <= 6:
        raise ValueError(f"the board must be 2x2 to 6x6 (got {size}x{size})")
    cells = sum(1 << r * (size + 1) + c for r in range(size) for c in range(size))
    return Rules(size, line, np.uint64(cells))


@inlined
def side(game, position):
    """The side to move, 0 or 1: the first if the number of stones is even."""
    return np.int64(popcount(position[1]) & ONE)


@inlined
def legal(game, position, moves, start):
    """Write the legal moves, numbers from 0 to 254, into `moves` from `start` on; returns their number."""
    at = start
    for cell in range(game.size * game.size):
        moves[at] = cell
        at += np.int64(position[1] & stone(game, cell) == ZERO)  # else the next move overwrites it
    return at - start


@inlined
def stone(game, cell):
    """A cell's bit; cells are numbered row by row."""
    return ONE << np.uint64(cell // game.size * (game.size + 1) + cell % game.size)


@inlined
def apply(game, position, move):
    """The position after a move: the other side moves next, and its stones come first."""
    own, all_ = position
    return own ^ all_, all_ | stone(game, move)


@inlined
def has_line(game, stones):
    """True if enough stones are in a line: across, down, or on a diagonal."""
    row = np.uint64(game.size + 1)
    for step in (ONE, row, row - ONE, row + ONE):
        left = stones
        for _ in range(game.line - 1):
            left &= left >> step  # stones with one more neighbour behind them
        if left != ZERO:
            return True
    return False


@inlined
def ending(game, position):
    """ONGOING, or how the game ended. Only the side that moved last can have won."""
    if has_line(game, position[0] ^ position[1]):
        return SECOND_WON if popcount(position[1]) & ONE == ZERO else FIRST_WON
    return FULL if position[1] == game.board else ONGOING


@inlined
def winner(game, ended):
    """The winner of a game that ended so: 0, 1, or NO_WINNER for a draw."""
    return NO_WINNER if ended in (FULL, ONGOING) else ended - FIRST_WON


# The number is the most legal moves of a position. More functions are possible: an estimate of a position's value, for
# alpha-beta (estimate), and for dice or cards
#
#     @inlined
#     def is_chance(game, position):             True if chance acts next (a die is due)
#     @inlined
#     def count_outcomes(game, position):        the number of outcomes: 6
#     @inlined
#     def probability(game, position, n):        the probability of outcome n: 1 / 6
#     @inlined
#     def apply_outcome(game, position, n):      the position after it
register_game(Rules, 36, side=side, legal=legal, apply=apply, ending=ending, winner=winner)


class Template(Game):
    """Text and pictures: o begins; cells are a1, b1, ... in the top row, a2, b2, ... below."""

    sides = ("o", "x")
    terminations = ("line", "full")
    colours = {"o": "#2f62b5", "x": "#c8402f"}  # noqa: RUF012
    openings = 2  # random stones at the start of a match's games, so that they differ

    def move_text(self, words, code):
        """A move as text."""
        return f"{'abcdef'[code % self.rules.size]}{code // self.rules.size + 1}"

    def cells(self, words):
        """The board as rows of short texts, from which text and pictures are drawn."""
        size, (own, stones) = self.rules.size, map(int, words)
        first = own if stones.bit_count() % 2 == 0 else own ^ stones
        bits = [[1 << r * (size + 1) + c for c in range(size)] for r in range(size)]
        return [["" if not stones & b else "o" if first & b else "x" for b in row] for row in bits]

    def write(self, words):
        """A position as text: its rows; the side to move follows from the number of stones."""
        return "/".join("".join(cell or "." for cell in row) for row in self.cells(words))

    def read(self, text):
        """The inverse of `write`; ValueError says what is wrong with a text."""
        size, rows = self.rules.size, text.split("/")
        if len(rows) != size or any(len(row) != size or set(row) - set(".ox") for row in rows):
            raise ValueError(f"a board is {size} rows of {size} cells: . o or x")
        stones = {"o": 0, "x": 0}
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if cell != ".":
                    stones[cell] |= 1 << r * (size + 1) + c
        ahead = stones["o"].bit_count() - stones["x"].bit_count()
        if ahead not in (0, 1):
            raise ValueError("o has as many stones as x, or one more")
        return np.uint64(stones["x" if ahead else "o"]), np.uint64(stones["o"] | stones["x"])


TEMPLATE = Template(rules(), "template")


if __name__ == "__main__":
    from tuplet.testing import check_game

    check_game(f"{__file__}:TEMPLATE")
    print("TEMPLATE is right.")
