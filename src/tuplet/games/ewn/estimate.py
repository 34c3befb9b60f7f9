"""The value of an EWN position that is not over: who wins the race to the corner?

`arrival` tells, for the cubes a side has lost and the die from its next turn on, how many of its
own turns a cube needs to stand on the goal if nobody interferes: the turns in which the die lets
it move are counted, the others pass. With a known cycle the numbers are exact; with a die that is
rolled they are expectations, in quarters of a turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.ewn.rules import ANY, BLUE, CHOICE, CYCLE, MOST_CUBES, RED, STRIDE, Ewn, gone, side, stands_on
from tuplet.games.game import Int, Words
from tuplet.kernel import inlined, kernel

Array = np.ndarray[Any, Any]

UNREACHABLE = 255
TURNS = 4.0  # a lead of so many turns is halfway to a win
_BYTE = np.uint64(0xFF)
_TOP = np.uint64(56)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)


@kernel
def fill_arrival(arrival: Array, movable: Array, cycle: Array, turns: int, faces: int) -> None:
    """Fill the table; `turns` is the length of a known cycle, or 1."""
    arrival[:] = UNREACHABLE
    known, free = cycle[0] < MOST_CUBES, cycle[0] == ANY
    for lost in range(64):
        for turn in range(turns):
            for cube in range(MOST_CUBES):
                if lost >> cube & 1:
                    continue
                at = ((lost * turns + turn) * MOST_CUBES + cube) * STRIDE
                arrival[at] = 0
                if known:
                    steps, ply, waited = 0, turn, 0
                    while steps < STRIDE - 1 and waited < UNREACHABLE - 1:
                        waited += 1
                        if _moves(movable, lost, np.int64(cycle[ply]), cube):
                            steps += 1
                            arrival[at + steps] = waited
                        ply = (ply + 2) % turns
                else:
                    helps = 0
                    for die in range(faces):
                        helps += free or _moves(movable, lost, die, cube)
                    for steps in range(1, STRIDE):
                        arrival[at + steps] = min(4 * steps * faces // max(helps, 1), UNREACHABLE - 1)


@kernel
def _moves(movable: Array, lost: int, die: Int, cube: int) -> bool:
    pair = np.int64(movable[lost << 3 | die])
    lower, higher = pair & 15, pair >> 4
    return bool(lower == cube or higher == cube)


@inlined
def race(game: Ewn, position: Words, of: Int) -> Int:
    """The turns that `of` needs to reach its goal if it is the one to move next."""
    cubes = position[0] if of == RED else position[1]
    ply = position[0] >> _TOP
    turn = np.uint64(0)
    if game.die == CYCLE:
        turn = ply + ((ply & _ONE) ^ np.uint64(of))
        turn = turn - game.turns if turn >= game.turns else turn
        turn = turn - game.turns if turn >= game.turns else turn
    base = (gone(cubes) * game.turns + turn) * np.uint64(MOST_CUBES * STRIDE)
    board = np.uint64(of) << _SEVEN
    distance, arrival = game.distance, game.arrival
    best = np.uint64(UNREACHABLE)
    for cube in range(MOST_CUBES):
        square = (cubes >> np.uint64(8 * cube)) & _BYTE
        steps = np.uint64(distance[board | square])
        turns = np.uint64(arrival[base + np.uint64(cube * STRIDE) + steps])
        best = min(best, turns)
    return np.int64(best)


@inlined
def value_range(game: Ewn) -> tuple[float, float]:  # noqa: ARG001
    """A loss and a win."""
    return -1.0, 1.0


@inlined
def _estimate_for_cubes(game: Ewn, position: Words) -> float:
    """The opponent's turns to the goal minus one's own, to the side whose cubes move next.

    Half a turn is added for that side; the lead is brought between -1 and 1.
    """
    mover = np.int64((position[0] >> _TOP) & _ONE)
    mine, theirs = race(game, position, mover), race(game, position, BLUE - mover)
    unit = 1 if game.die == CYCLE else 4
    lead = np.float64(theirs - mine) / unit + 0.5
    return lead / (TURNS + abs(lead))


@inlined
def estimate(game: Ewn, position: Words) -> float:
    """The lead in the race to the goal, to the side that `side` tells."""
    value = _estimate_for_cubes(game, position)
    mover = np.int64((position[0] >> _TOP) & _ONE)
    return value if side(game, position) == mover else -value  # who chooses the opponent's die


@inlined
def move_priority(game: Ewn, position: Words, move: Int, child: Words) -> Int:
    """The estimate first; then captures and steps towards the goal, captures of one's own last."""
    if move >= CHOICE:
        return 0
    mover = (position[0] >> _TOP) & _ONE
    own, other = (position[0], position[1]) if mover == np.uint64(0) else (position[1], position[0])
    board = mover << _SEVEN
    square = (own >> (np.uint64(move) & ~_SEVEN)) & _BYTE
    target = np.uint64(game.targets[((board | square) << np.uint64(3)) | (np.uint64(move) & _SEVEN)])
    gain = np.int64(game.distance[board | square]) - np.int64(game.distance[board | target])
    return (
        np.int64(-300.0 * _estimate_for_cubes(game, child))  # the opponent's cubes move next
        + 8 * gain
        + 2 * np.int64((np.uint64(move) & _SEVEN) == np.uint64(2))
        + 4 * np.int64(stands_on(other, target))
        - 12 * np.int64(stands_on(own, target))
    )
