"""The transposition table of a search: what was found for a position, to what depth, and how sure.

An entry is a tag (the key's upper 40 bits, the kind of bound, the depth, the best move) and a
value. A position may stand in any of four neighbouring entries, its *bucket*.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.game import ONGOING, Int, Words, apply, ending, is_chance
from tuplet.kernel import inlined, kernel, mix

Array = np.ndarray[Any, Any]

EXACT, AT_LEAST, AT_MOST = range(3)
NO_MOVE = 255
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
    """The best move known (or NO_MOVE), the depth of its result, and the value.

    The depth is 0 unless the result is deep enough and settles the window.
    """
    for i in range(4):
        entry = table[bucket + np.uint64(i)]
        tag = entry["tag"]
        if (tag ^ key) & KEY == _ZERO and tag != _ZERO:
            move = np.int64(tag & np.uint64(0xFF))
            deep = np.int64((tag >> np.uint64(8)) & np.uint64(0xFF))
            found = np.float64(entry["value"])
            bound = np.int64((tag >> np.uint64(16)) & np.uint64(3))
            if deep >= depth and (
                bound == EXACT or (bound == AT_LEAST and found >= beta) or (bound == AT_MOST and found <= alpha)
            ):
                return move, deep, found
            return move, 0, found
    return NO_MOVE, 0, 0.0


@inlined
def store(table: Array, key: np.uint64, bucket: np.uint64, depth: Int, bound: Int, move: Int, found: float) -> None:
    """Keep a result: over the same position, else over the shallowest of the bucket.

    The fourth entry counts as empty, so that it is replaced unless one of the others is empty.
    """
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
    table[slot]["value"] = found


@inlined
def known_move(table: Array, position: Words) -> Int:
    """The best move that the table knows for a position, or NO_MOVE."""
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
    """Write the moves that both sides are expected to make, as far as the table knows them.

    Returns how many there are; stops where nature acts.
    """
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
