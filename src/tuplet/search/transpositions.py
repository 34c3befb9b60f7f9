"""The transposition table of a search: for each position its value, bound, depth and best move.

An entry is a tag (the key's upper 40 bits, the kind of bound, the depth, the best move) and a
value. A position may stand in any of four neighbouring entries, its *bucket*.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.protocol import ONGOING, Int, Words, apply, ending, is_chance
from tuplet.kernel import inlined, kernel, mix

Array = np.ndarray[Any, Any]

EXACT, AT_LEAST, AT_MOST = range(3)
NO_MOVE = 255  # no move has this code
ENTRY = np.dtype([("tag", np.uint64), ("value", np.float64)])
KEY = np.uint64(0xFFFFFFFFFF000000)  # tag: key, bound, depth, move
_ZERO = np.uint64(0)


@inlined
def key_of(position: Words) -> np.uint64:
    """A position as a random number."""
    return mix(position[0] ^ mix(position[1] ^ np.uint64(0x9E3779B97F4A7C15)))


@inlined
def look_up(
    table: Array, key: np.uint64, bucket: np.uint64, depth: Int, alpha: float, beta: float
) -> tuple[Int, Int, float]:
    """Returns (move, depth, value); depth is 0 unless the entry cuts off this window."""
    for i in range(4):
        entry = table[bucket + np.uint64(i)]
        tag = entry["tag"]
        if (tag ^ key) & KEY == _ZERO and tag != _ZERO:
            move = np.int64(tag & np.uint64(0xFF))
            deep = np.int64((tag >> np.uint64(8)) & np.uint64(0xFF))
            value = np.float64(entry["value"])
            bound = np.int64((tag >> np.uint64(16)) & np.uint64(3))
            if deep >= depth and (
                bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha)
            ):
                return move, deep, value
            return move, 0, value
    return NO_MOVE, 0, 0.0


@inlined
def store(table: Array, key: np.uint64, bucket: np.uint64, depth: Int, bound: Int, move: Int, value: float) -> None:
    """Store a result over the same position or an empty entry, else in the bucket's fourth entry."""
    slot = bucket
    shallowest: Int = 1 << 30
    for i in range(4):
        tag = table[bucket + np.uint64(i)]["tag"]
        if (tag ^ key) & KEY == _ZERO:
            slot = bucket + np.uint64(i)
            break
        deep: Int = np.int64((tag >> np.uint64(8)) & np.uint64(0xFF)) if i < 3 else 0
        if deep < shallowest:
            slot, shallowest = bucket + np.uint64(i), deep
    table[slot]["tag"] = (
        (key & KEY) | (np.uint64(bound) << np.uint64(16)) | (np.uint64(depth) << np.uint64(8)) | np.uint64(move)
    )
    table[slot]["value"] = value


@inlined
def known_move(table: Array, position: Words) -> Int:
    """The best move stored for a position, or NO_MOVE."""
    key = key_of(position)
    bucket = key & np.uint64(len(table) - 4)
    move: Int = NO_MOVE
    for i in range(4):
        tag = table[bucket + np.uint64(i)]["tag"]
        if (tag ^ key) & KEY == _ZERO and tag != _ZERO:
            move = np.int64(tag & np.uint64(0xFF))
    return move


@kernel
def main_line(game: Any, position: Words, move: Int, table: Array, line: Array) -> Int:
    """Write the principal variation as far as the table has it, up to a chance node; returns its length."""
    n = 0
    while n < len(line):
        line[n] = move
        n += 1
        position = apply(game, position, move)
        if ending(game, position) != ONGOING or is_chance(game, position):
            break
        move = known_move(table, position)
        if move == NO_MOVE:
            break
    return n
