#!/usr/bin/env python3
"""A program that plays ewn-6x7 with any referee of the course's protocol; it needs only Python.

    tuplet match exec:./template.py easy --games 20
    tuplet match exec:./template.py normal --games 20 --out games.jsonl

The protocol is characters without separators, on standard input and output. The program receives
6 digits (Red's cubes on its starting squares), 6 digits (Blue's), 21 digits (the die), and f (it
moves first, as Red) or s (second, as Blue). Then moves are exchanged, two digits each: the cube,
and the direction. After a game y begins another; anything else ends. A move may take two seconds.
Other output goes to standard error: print(..., file=sys.stderr).
"""

import random
import sys

ROWS, COLUMNS, DIE = 6, 7, 21
RED, BLUE = 0, 1
STARTS = (  # (row, column) of the starting squares, in the order of the digits
    ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)),
    ((3, 6), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6)),
)
GOALS = ((5, 6), (0, 0))  # the corner that each side wants to reach
STEPS = ((0, 1), (1, 0), (1, 1), (-1, 1))  # Red's, by direction; Blue's are the opposite


class Position:
    """The cubes, the die, and the number of moves made."""

    def __init__(self, cubes, die, ply=0):
        self.cubes = cubes  # of Red and of Blue: {number: (row, column)}
        self.die = die  # 21 digits: move n is made with number n % 21
        self.ply = ply

    @property
    def turn(self):
        """The side to move, RED or BLUE."""
        return self.ply % 2

    def movable(self):
        """The cube of the die's number; if it is gone, the nearest lower and higher ones left."""
        rolled, own = int(self.die[self.ply % DIE]), self.cubes[self.turn]
        if rolled in own:
            return [rolled]
        lower, higher = [n for n in own if n < rolled], [n for n in own if n > rolled]
        return [*([max(lower)] if lower else []), *([min(higher)] if higher else [])]

    def legal_moves(self):
        """Moves as (cube, direction); whatever stands on the target square is captured."""
        return [
            (cube, direction)
            for cube in self.movable()
            for direction in range(4)
            if self.target(cube, direction) is not None
        ]

    def target(self, cube, direction):
        """The square that a step leads to; None beyond the board."""
        (row, column), (down, right) = self.cubes[self.turn][cube], STEPS[direction]
        sign = 1 if self.turn == RED else -1
        row, column = row + sign * down, column + sign * right
        return (row, column) if 0 <= row < ROWS and 0 <= column < COLUMNS else None

    def play(self, move):
        """The position after a move; this one stays as it is."""
        cube, direction = move
        to = self.target(cube, direction)
        cubes = [{n: at for n, at in side.items() if at != to} for side in self.cubes]
        cubes[self.turn][cube] = to
        return Position(cubes, self.die, self.ply + 1)

    def winner(self):
        """RED or BLUE if one stands in its corner, or the other has no cubes; else None."""
        for side in (RED, BLUE):
            if GOALS[side] in self.cubes[side].values() or not self.cubes[1 - side]:
                return side
        return None


def choose(position):
    """Put your idea here.

    This one wins if it can, else takes the step after which its best cube is nearest to the corner, compared with the
    opponent's; among equal moves, a random one.
    """
    me = position.turn
    moves = position.legal_moves()
    values = [value(position.play(move), me) for move in moves]
    return random.choice([m for m, v in zip(moves, values, strict=True) if v == max(values)])


def value(position, me):
    """How good a position is for `me`."""
    if position.winner() is not None:
        return 100 if position.winner() == me else -100
    return distance(position, 1 - me) - distance(position, me)


def distance(position, side):
    """How many steps a side's nearest cube has to go."""
    row, column = GOALS[side]
    return min(max(abs(row - r), abs(column - c)) for r, c in position.cubes[side].values())


def receive(count):
    """Read the next characters from the referee; the program ends at the end of the input."""
    text = ""
    while len(text) < count:
        more = sys.stdin.read(1)
        if not more:
            sys.exit()
        text += more if not more.isspace() else ""
    return text


def play_game():
    """Play one game."""
    red, blue, die, order = receive(6), receive(6), receive(DIE), receive(1)
    cubes = [
        {int(digit): at for digit, at in zip(digits, squares, strict=True)}
        for digits, squares in zip((red, blue), STARTS, strict=True)
    ]
    position, me = Position(cubes, die), RED if order == "f" else BLUE
    while position.winner() is None:
        if position.turn == me:
            move = choose(position)
            sys.stdout.write(f"{move[0]}{move[1]}")
            sys.stdout.flush()  # else the referee waits for ever
        else:
            text = receive(2)
            move = int(text[0]), int(text[1])
        position = position.play(move)


if __name__ == "__main__":
    play_game()
    while receive(1) == "y":
        play_game()
