#!/usr/bin/env python3
"""A program to start from: it speaks the protocol of `ewn-6x7` in a hundred lines of plain Python.

It wins if it can; otherwise it moves the cube that comes nearest to its corner. `tuplet check
examples/ewn_program.py` checks the protocol; `tuplet match exec:examples/ewn_program.py easy
--games 20` measures how well it plays.
"""

import sys

ROWS, COLUMNS = 6, 7
STARTS = (
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)],  # Red's squares
    [(3, 6), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6)],  # Blue's
)
GOALS = ((5, 6), (0, 0))
STEPS = ((0, 1), (1, 0), (1, 1), (-1, 1))  # Red's directions; Blue's are opposite


def receive(count):
    """Read the next characters; exit at the end of the input."""
    text = sys.stdin.read(count)
    if len(text) < count:
        sys.exit(0)
    return text


def send(move):
    """Send two digits and nothing else, without buffering."""
    sys.stdout.write(move)
    sys.stdout.flush()


def movable(own, face):
    """The cube with the number rolled, or the next lower and higher ones that are left."""
    if face in own:
        return [face]
    lower = [cube for cube in own if cube < face]
    higher = [cube for cube in own if cube > face]
    return ([max(lower)] if lower else []) + ([min(higher)] if higher else [])


def target(cubes, side, cube, direction):
    """The square a move leads to, or None if it is off the board."""
    sign = -1 if side else 1
    row = cubes[side][cube][0] + sign * STEPS[direction][0]
    column = cubes[side][cube][1] + sign * STEPS[direction][1]
    return (row, column) if 0 <= row < ROWS and 0 <= column < COLUMNS else None


def play(cubes, side, cube, direction):
    """Move a cube; a cube of either colour on the target square is taken."""
    square = target(cubes, side, cube, direction)
    for owner in (0, 1):
        for other in [n for n, where in cubes[owner].items() if where == square]:
            del cubes[owner][other]
    cubes[side][cube] = square


def is_over(cubes):
    """Whether a side has reached its corner or lost its last cube."""
    return any(not cubes[side] or GOALS[side] in cubes[side].values() for side in (0, 1))


def choose(cubes, side, face):
    """The move that leads nearest to the corner."""
    moves = [
        (cube, direction)
        for cube in movable(cubes[side], face)
        for direction in range(4)
        if target(cubes, side, cube, direction)
    ]

    def left(move):
        row, column = target(cubes, side, *move)
        return max(abs(GOALS[side][0] - row), abs(GOALS[side][1] - column))

    return min(moves, key=left)


def game():
    """Play a game, as Red or Blue."""
    red, blue, die, role = receive(6), receive(6), receive(21), receive(1)
    own = 0 if role == "f" else 1
    cubes = [
        {int(number): square for number, square in zip(numbers, squares, strict=True)}
        for numbers, squares in zip((red, blue), STARTS, strict=True)
    ]
    ply = 0
    while not is_over(cubes):
        side = ply % 2
        if side == own:
            cube, direction = choose(cubes, side, int(die[ply % 21]))
            send(f"{cube}{direction}")
        else:
            cube, direction = map(int, receive(2))
        play(cubes, side, cube, direction)
        ply += 1


while True:
    game()
    if receive(1) != "y":
        break
