"""The value of an EWN position that is not over.

`arrival` tells, for the cubes a side has lost and the die from its next turn on, how many of its
own turns a cube needs to stand on the goal if nobody interferes: the turns in which the die lets
it move are counted, the others pass. With a known cycle the numbers are exact; with a die that is
rolled they are expectations, in quarters of a turn.

The *race* is who arrives first. Where weights have been learned (`learn/ewn.py`), they are added
up for what the race does not tell: each cube's square and arrival, the numbers of cubes, and which
ones are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.ewn.rules import ANY, CYCLE, GONE, MOST_CUBES, STRIDE, Ewn, gone, side
from tuplet.games.game import Int, Words
from tuplet.kernel import inlined, kernel

Array = np.ndarray[Any, Any]

NEVER = 255
SQUARES, ARRIVALS, RACES = 81, 16, 24
# Where the weights of each feature begin: the mover's cubes, the other's, the race, the numbers
# of cubes, the cubes left to the mover, to the other.
OTHER = SQUARES * ARRIVALS
RACE = 2 * OTHER
COUNTS = RACE + RACES * RACES
LEFT = COUNTS + 49
WEIGHTS = LEFT + 128

_BYTE = np.uint64(0xFF)
_TOP = np.uint64(56)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)


@kernel
def fill_arrival(arrival: Array, movable: Array, cycle: Array, turns: int, faces: int) -> None:
    """Fill the table; `turns` is the length of a known cycle, or 1."""
    arrival[:] = NEVER
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
                    while steps < STRIDE - 1 and waited < NEVER - 1:
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
                        arrival[at + steps] = min(4 * steps * faces // max(helps, 1), NEVER - 1)


@kernel
def _moves(movable: Array, lost: int, die: Int, cube: int) -> bool:
    pair = np.int64(movable[lost << 3 | die])
    lower, higher = pair & 15, pair >> 4
    return bool(lower == cube or higher == cube)


@inlined
def limits(game: Ewn) -> tuple[float, float]:  # noqa: ARG001
    """A loss and a win."""
    return -1.0, 1.0


@kernel
def features(game: Ewn, position: Words, found: Array) -> int:
    """Write the indices of the weights that count here; returns how many."""
    ply = position[0] >> _TOP
    n, scale = 0, 0 if game.die == CYCLE else 1
    turns_mine = turns_theirs = lost_mine = lost_theirs = np.int64(NEVER)
    for other in range(2):
        of = (ply + np.uint64(other)) & _ONE
        cubes = position[0] if of == np.uint64(0) else position[1]
        lost, base = gone(cubes), _arrivals(game, cubes, ply + np.uint64(other))
        best = np.int64(NEVER)
        for cube in range(MOST_CUBES):
            square = (cubes >> np.uint64(8 * cube)) & _BYTE
            if square != GONE:
                steps = np.uint64(game.distance[(of << _SEVEN) | square])
                turns = np.int64(game.arrival[base + np.uint64(cube * STRIDE) + steps]) >> scale
                best = min(best, turns)
                seen = square if of == np.uint64(0) else game.red_goal - square
                found[n] = other * OTHER + np.int64(seen) * ARRIVALS + min(turns, ARRIVALS - 1)
                n += 1
        if other:
            turns_theirs, lost_theirs = best, np.int64(lost)
        else:
            turns_mine, lost_mine = best, np.int64(lost)
    mine, theirs = min(turns_mine, RACES - 1), min(turns_theirs, RACES - 1)
    found[n] = RACE + mine * RACES + theirs
    found[n + 1] = COUNTS + (6 - _ones(lost_mine)) * 7 + 6 - _ones(lost_theirs)
    found[n + 2] = LEFT + lost_mine
    found[n + 3] = LEFT + 64 + lost_theirs
    return n + 4


@kernel
def _ones(bits: int) -> int:
    count = 0
    for i in range(MOST_CUBES):
        count += bits >> i & 1
    return count


@inlined
def _arrivals(game: Ewn, cubes: np.uint64, ply: np.uint64) -> np.uint64:
    """Where the arrivals of a side begin whose next turn is at `ply`."""
    turn = np.uint64(0)
    if game.die == CYCLE:
        turn = ply
        while turn >= game.turns:
            turn -= game.turns
    return (gone(cubes) * game.turns + turn) * np.uint64(MOST_CUBES * STRIDE)


@inlined
def squash(total: float) -> float:
    """A sum of weights as a value between -1 and 1."""
    return total / (1.0 + abs(total))


@inlined
def estimate(game: Ewn, position: Words) -> float:
    """From the view of the side to move."""
    ply = position[0] >> _TOP
    distance, arrival, weights = game.distance, game.arrival, game.weights
    learned = len(weights) > 0
    scale = 0 if game.die == CYCLE else 1
    total, races, losses = 0.0, np.int64(0), np.int64(0)
    for other in range(2):
        of = (ply + np.uint64(other)) & _ONE
        cubes = position[0] if of == np.uint64(0) else position[1]
        lost, base = gone(cubes), _arrivals(game, cubes, ply + np.uint64(other))
        board, best = of << _SEVEN, np.int64(NEVER)
        turned = np.uint64(0) if of == np.uint64(0) else game.red_goal
        for cube in range(MOST_CUBES):
            square = (cubes >> np.uint64(8 * cube)) & _BYTE
            steps = np.uint64(distance[board | square])
            turns = np.int64(arrival[base + np.uint64(cube * STRIDE) + steps]) >> scale
            best = min(best, turns)
            if learned and square != GONE:
                seen = np.int64(square if turned == np.uint64(0) else turned - square)
                total += weights[other * OTHER + seen * ARRIVALS + min(turns, ARRIVALS - 1)]
        races = races * 256 + best
        losses = losses * 64 + np.int64(lost)
    mine, theirs = races >> 8, races & 255
    if learned:
        total += weights[RACE + min(mine, RACES - 1) * RACES + min(theirs, RACES - 1)]
        left_mine, left_theirs = 6 - _ones(losses >> 6), 6 - _ones(losses & 63)
        total += weights[COUNTS + left_mine * 7 + left_theirs]
        total += weights[LEFT + (losses >> 6)] + weights[LEFT + 64 + (losses & 63)]
        return squash(total)
    lead = np.float64(theirs - mine) / (1 if game.die == CYCLE else 2)
    return squash((lead + 0.5) / 4.0)
