"""`ewn-6x7` in plain Python, for moves while the kernels are not ready.

It needs neither Numba nor NumPy nor the rest of the package, so it can move within milliseconds of the
process's start. Positions are as in the protocol: cubes 0-5, directions 0-3, squares row by row from
the top left. The search is alpha-beta with the course's leaf value.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from tuplet.errors import UserError

ROWS, COLUMNS, CUBES, DIE = 6, 7, 6, 21
STARTS = ((0, 1, 2, 7, 8, 14), (27, 33, 34, 39, 40, 41))  # Red's squares, Blue's
GOALS = (41, 0)
GONE = -1
WON = 1000
DEEPEST = 12
_STEPS = ((0, 1), (1, 0), (1, 1), (-1, 1))  # Red's, by direction: rows down, columns right


def _ways(side: int, square: int) -> list[tuple[int, int]]:
    """The directions a cube can take from a square, and where they lead."""
    row, column = divmod(square, COLUMNS)
    sign = 1 - 2 * side
    return [
        (direction, r * COLUMNS + c)
        for direction, (down, right) in enumerate(_STEPS)
        if 0 <= (r := row + sign * down) < ROWS and 0 <= (c := column + sign * right) < COLUMNS
    ]


def _steps_left(side: int, square: int) -> int:
    row, column = divmod(square, COLUMNS)
    goal_row, goal_column = divmod(GOALS[side], COLUMNS)
    return max(abs(goal_row - row), abs(goal_column - column))


_SQUARES = range(ROWS * COLUMNS)
_WAYS = [[_ways(side, square) for square in _SQUARES] for side in (0, 1)]
LEFT = [[_steps_left(side, square) for square in _SQUARES] for side in (0, 1)]


class FallbackPosition(NamedTuple):
    """A position: both sides' cubes by number, each its square or GONE; the die; moves made."""

    cubes: tuple[tuple[int, ...], tuple[int, ...]]  # Red's, Blue's
    die: str
    ply: int = 0

    @property
    def turn(self) -> int:
        """The side to move: 0 is Red, 1 Blue."""
        return self.ply & 1


def start(red: str, blue: str, die: str) -> FallbackPosition:
    """The first position: cubes' numbers on the starting squares, and the known die."""
    placed = []
    for name, numbers, squares in (("red", red, STARTS[0]), ("blue", blue, STARTS[1])):
        if sorted(numbers) != list("012345"):
            raise UserError(f"{name}'s cubes are 0 to 5 in some order, not {numbers}")
        where = dict(zip(numbers, squares, strict=True))
        placed.append(tuple(where[cube] for cube in "012345"))
    if len(die) != DIE or not set(die) <= set("012345"):
        raise UserError(f"the die is {DIE} digits from 0 to 5, not {die}")
    return FallbackPosition((placed[0], placed[1]), die)


def winner(position: FallbackPosition) -> int | None:
    """The side that has won, if any."""
    for side in (0, 1):
        own, other = position.cubes[side], position.cubes[1 - side]
        if GOALS[side] in own or other == (GONE,) * CUBES:
            return side
    return None


def legal_moves(position: FallbackPosition) -> list[str]:
    """The moves of the side to move: lower cube first, directions in order."""
    if winner(position) is not None:
        return []
    return [f"{cube}{direction}" for cube, direction, _ in _moves(position)]


def play(position: FallbackPosition, move: str) -> FallbackPosition:
    """The position after a legal move; any other raises ValueError."""
    if winner(position) is None:
        for cube, direction, target in _moves(position):
            if move == f"{cube}{direction}":
                return _after(position, cube, target)
    raise UserError(f"{move} is not legal here: {', '.join(legal_moves(position)) or 'it is over'}")


def choose(position: FallbackPosition, until: float) -> str:
    """The best move of a search until `until` (of `time.monotonic`), of one ply at least."""
    moves = _moves(position)
    best = moves[0]
    for depth in range(1, DEEPEST):
        top, chosen = -2 * WON, best
        # The best move so far goes first: a deeper search that is cut short can only improve on it.
        for move in [best, *(m for m in moves if m is not best)]:
            value = _value(_after(position, move[0], move[2]), depth - 1, -2 * WON, -top, until)
            if value is None:
                break
            if -value > top:
                top, chosen = -value, move
        best = chosen
        if abs(top) > WON or len(moves) == 1 or time.monotonic() >= until:
            break
    return f"{best[0]}{best[1]}"


def _moves(position: FallbackPosition) -> list[tuple[int, int, int]]:
    """Cube, direction and target of each move, in a game that is not over."""
    side = position.ply & 1
    own, face = position.cubes[side], int(position.die[position.ply % DIE])
    ways = _WAYS[side]
    if own[face] != GONE:
        return [(face, direction, to) for direction, to in ways[own[face]]]
    lower = [cube for cube in range(face) if own[cube] != GONE][-1:]
    higher = [cube for cube in range(face + 1, CUBES) if own[cube] != GONE][:1]
    return [(c, direction, to) for c in lower + higher for direction, to in ways[own[c]]]


def _after(position: FallbackPosition, cube: int, target: int) -> FallbackPosition:
    red, blue = ([GONE if s == target else s for s in side] for side in position.cubes)
    (blue if position.ply & 1 else red)[cube] = target
    return FallbackPosition((tuple(red), tuple(blue)), position.die, position.ply + 1)


def _value(position: FallbackPosition, depth: int, alpha: int, beta: int, until: float) -> int | None:
    """The value to the side to move; quicker wins are worth more. None when time is up."""
    won = winner(position)
    if won is not None:
        return WON + depth + 1 if won == position.turn else -WON - depth - 1
    if depth == 0:
        mine, theirs = position.turn, 1 - position.turn
        return _nearest(position, theirs) - _nearest(position, mine)
    if time.monotonic() >= until:
        return None
    best = -2 * WON
    for _, _, target, cube in _promising(position):
        value = _value(_after(position, cube, target), depth - 1, -beta, -max(alpha, best), until)
        if value is None:
            return None
        best = max(best, -value)
        if best >= beta:
            break
    return best


def _promising(position: FallbackPosition) -> list[tuple[int, int, int, int]]:
    """The moves, those towards the goal first."""
    left = LEFT[position.turn]
    return sorted((left[to], -way, to, cube) for cube, way, to in _moves(position))


def _nearest(position: FallbackPosition, side: int) -> int:
    left = LEFT[side]
    return min(left[square] for square in position.cubes[side] if square != GONE)
