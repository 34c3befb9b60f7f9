"""How a position of EWN looks to a network.

The board is turned so that the side to move always goes to the bottom right. A cube's content is not its number but
how soon it can move: with a rolled die by how many faces move it, with a known die by the turns until it may move.
Contents are 1 to 4 for own cubes and 5 to 8 for the opponent's, the sooner the lower (known die) or the higher
(rolled die). A rolled die is fair, so renumbering the cubes of one side from the other end changes nothing, and
features that name cubes are the same for both numberings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games import protocol
from tuplet.games.encoding import Encoding, transposed
from tuplet.games.ewn.rules import (
    BLUE,
    CHOSEN,
    CYCLE,
    MOST_CUBES,
    RED,
    ROLLED,
    STRIDE,
    UNKNOWN,
    EwnRules,
    can_move,
    gone,
    race,
    side,
)
from tuplet.games.protocol import Int, Words
from tuplet.kernel import draw, inlined, kernel, register

Array = np.ndarray[Any, Any]

CLASSES = 4  # of a side's cubes
TURNS = 32  # kinds of arrivals with a known die
LEADS = 64  # kinds of expected turns of a race with a rolled die
QUARTERS = 4.0  # kinds per turn

_BYTE, _TOP, _ONE = np.uint64(0xFF), np.uint64(56), np.uint64(1)
_HALF = np.uint64(32)


class EwnTables(NamedTuple):
    """What `encode` reads besides the rules."""

    classes: Array  # uint8[256]: the class of a cube by the turns (or quarters of a turn) until its next step
    masks: Array  # uint8[64]: cubes gone, of two numberings the smaller mask
    powers: Array  # int64[6]: a side's distances to the goal are the digits of a number, one for each cube
    distances: Array  # int32[d ** 6]: that number, of two numberings the smaller
    leads: Array  # uint8[d ** 6]: its expected number of turns to the goal, in quarters


@inlined
def encode(game: EwnRules, tables: EwnTables, position: Words, codes: Array, numbers: Array) -> int:
    """Codes of cubes, then features: cubes gone, and what is known about the race."""
    of = side(game, position)
    own, other = (position[0], position[1]) if of == RED else (position[1], position[0])
    own_gone, other_gone = gone(own), gone(other)
    last = np.int64(game.red_goal)
    count = _encode_cubes(game, tables, position, own, own_gone, of, of, last, codes, 0)
    count = _encode_cubes(game, tables, position, other, other_gone, BLUE - of, of, last, codes, count)
    masks = tables.masks
    numbers[0] = np.int64(masks[own_gone]) * 64 + np.int64(masks[other_gone])
    if game.die == ROLLED:
        mine, theirs = _distances(game, tables.powers, own, of), _distances(game, tables.powers, other, BLUE - of)
        numbers[1] = tables.distances[mine]
        numbers[2] = tables.distances[theirs]
        numbers[3] = np.int64(tables.leads[mine]) * LEADS + np.int64(tables.leads[theirs])
    elif game.die == CYCLE:
        soonest = min(race(game, position, of), TURNS - 1)
        numbers[1] = soonest * TURNS + min(race(game, position, BLUE - of), TURNS - 1)
    return count


@inlined
def _encode_cubes(
    game: EwnRules,
    tables: EwnTables,
    position: Words,
    cubes: np.uint64,
    lost: np.uint64,
    whose: Int,
    of: Int,
    last: Int,
    codes: Array,
    count: int,
) -> int:
    """Write the codes of one side's cubes, as player `of` sees them; returns how many codes there are now."""
    ply, die = position[0] >> _TOP, position[1] >> _TOP
    mover = np.int64(ply & _ONE)
    turn = np.uint64(0)
    if game.die == CYCLE:
        turn = ply + np.uint64(mover != whose)
        turn = turn - game.turns if turn >= game.turns else turn
        turn = turn - game.turns if turn >= game.turns else turn
    at = (lost * game.turns + turn) * np.uint64(MOST_CUBES * STRIDE) + _ONE
    first = 0 if whose == of else CLASSES
    for cube in range(MOST_CUBES):
        if (lost >> np.uint64(cube)) & _ONE == np.uint64(0):
            square = np.int64((cubes >> np.uint64(8 * cube)) & _BYTE)
            square = square if of == RED else last - square
            if game.die == CHOSEN:
                content = np.int64(3)
                if die != np.uint64(UNKNOWN) and whose == mover:
                    movable = can_move(game.movable, np.int64(lost), np.int64(die), cube)
                    content = np.int64(1) if movable else np.int64(2)
            else:
                content = np.int64(tables.classes[game.arrival[at + np.uint64(cube * STRIDE)]])
            codes[count] = square * (2 * CLASSES + 1) + first + content
            count += 1
    return count


@inlined
def _distances(game: EwnRules, powers: Array, cubes: np.uint64, whose: Int) -> Int:
    number, board = np.int64(0), np.uint64(whose) << np.uint64(7)
    for cube in range(MOST_CUBES):
        square = (cubes >> np.uint64(8 * cube)) & _BYTE
        number += np.int64(game.distance[board | square]) * powers[cube]
    return number


@inlined
def random_start(game: EwnRules, position: Words, state: np.uint64) -> tuple[np.uint64, Words]:
    """Shuffle the cubes of both sides on their squares (Fisher & Yates)."""
    red, blue = position
    for last in range(game.cubes - 1, 0, -1):
        state, bits = draw(state)
        red = _exchanged(red, last, np.int64(((bits >> _HALF) * np.uint64(last + 1)) >> _HALF))
        state, bits = draw(state)
        blue = _exchanged(blue, last, np.int64(((bits >> _HALF) * np.uint64(last + 1)) >> _HALF))
    return state, (red, blue)


@inlined
def _exchanged(cubes: np.uint64, one: int, other: Int) -> np.uint64:
    shift, shift2 = np.uint64(8 * one), np.uint64(8 * other)
    differ = ((cubes >> shift) ^ (cubes >> shift2)) & _BYTE
    return cubes ^ ((differ << shift) | (differ << shift2) if one != other else np.uint64(0))


def make_encoding(rules: EwnRules) -> Encoding:
    """The encoding of a variant."""
    rows, columns, cubes = rules.rows, rules.columns, rules.cubes
    classes, masks = np.zeros(256, np.uint8), np.arange(64, dtype=np.uint8)
    base = int(rules.distance.max()) + 1
    powers = np.array([base**cube for cube in range(MOST_CUBES)], np.int64)
    features = {"cubes": 64 * 64}
    distances, leads = np.zeros(1, np.int32), np.zeros(1, np.uint8)
    if rules.die == CYCLE:
        classes[1:] = np.searchsorted([1, 2, 4], np.arange(1, 256), side="left") + 1
        features |= {"arrivals": TURNS * TURNS}
    else:  # quarters of a turn: by how many faces move the cube
        for faces in range(1, cubes + 1):
            classes[min(4 * cubes // faces, 254)] = min(faces, CLASSES)
    if rules.die == ROLLED:
        low = (1 << cubes) - 1
        flipped = [int(f"{mask & low:0{cubes}b}"[::-1], 2) | mask & ~low for mask in range(64)]
        masks = np.minimum(masks, np.array(flipped, np.uint8))
        size = base**cubes
        numbers = np.arange(size)
        other_end = sum((numbers // powers[c] % base) * powers[cubes - 1 - c] for c in range(cubes))
        distances = np.minimum(numbers, other_end).astype(np.int32)
        turns = np.full(size, float(LEADS))
        expected_turns(turns, rules.movable, base, cubes)
        leads = np.clip(np.rint((turns - 1) * QUARTERS), 0, LEADS - 1).astype(np.uint8)
        features |= {"own distances": size, "other distances": size, "race": LEADS * LEADS}
    large = "3x4/side" if min(rows, columns) > 3 else "3x3/side"
    wide = "2x3" if (square := _is_symmetric(rules)) else "2x3 3x2"
    return Encoding(
        rows,
        columns,
        2 * CLASSES + 1,
        wide if rules.die == CYCLE else f"{wide} {large}",
        symmetries=(transposed(rows),) if square else (),
        groups={"side": (0, *[1] * CLASSES, *[2] * CLASSES)},
        features=features,
        lam=0.0 if rules.die == ROLLED else 0.5,
        tables=EwnTables(classes, masks, powers, distances, leads),
    )


def _is_symmetric(rules: EwnRules) -> bool:
    """Whether exchanging rows and columns maps steps to steps."""
    if rules.rows != rules.columns:
        return False
    image = np.array([*transposed(rules.rows), *range(rules.rows**2, 128)])
    targets = rules.targets.reshape(2, 128, 8)[RED]
    return all(set(image[targets[square]]) == set(targets[image[square]]) for square in range(rules.rows**2))


@kernel
def expected_turns(turns: Array, movable: Array, base: int, cubes: int) -> None:
    """The expected number of own turns until a cube reaches the goal, for every vector of distances.

    The best cube of those that the die allows moves one step each turn; nothing is captured. Vectors with a smaller
    sum of distances have a smaller number, digit by digit, so one pass is enough.
    """
    size = len(turns)
    for number in range(1, size):
        lost = 63
        rest = number
        for cube in range(cubes):
            if rest % base > 0:
                lost ^= 1 << cube
            rest //= base
        total = 0.0
        for die in range(cubes):
            pair = np.int64(movable[lost * 8 + die])
            best = 1e9
            for which in range(2):
                mover = pair & 15 if which == 0 else pair >> 4
                if mover < cubes:
                    power = base**mover
                    steps = number // power % base
                    best = min(best, 0.0 if steps == 1 else turns[number - power])
            total += best
        turns[number] = 1.0 + total / cubes


register(protocol.encode, EwnRules, encode)
register(protocol.random_start, EwnRules, random_start)
