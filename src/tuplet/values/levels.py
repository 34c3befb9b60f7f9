"""How the tables of a packed player are coded: whole levels, near those of their neighbours.

A table's weights, rounded to multiples of a step, are *levels*: most are 0, the others small, and
alike where one exponent of the index differs by one or two. So each is told in yes-or-no
decisions, and how likely a yes is, is learned on the way, apart for each *context*: what the
neighbours are that are known already, those whose index is one less (*near*) or two less (*far*)
in one of its digits. An arithmetic coder then spends on a decision what it surprises. (Against xz
over bit maps and bytes, this takes 15 % less, and can unpack to nothing but a table.)

In the order of files (a tuple's first cell in an index's lowest four bits), for each 256 weights:
whether any is not 0; if so for each 16 of these; if so for each weight: whether it is not 0, then
whether it is above 0, then its size s: whether 2 <= s, whether 4 <= s, ..., until a no, and the
bits of s below its highest: the first with a context of its own, the others at even odds.
docs/weights.md has all contexts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel import inlined, kernel
from tuplet.values.layout import index_of

Array = np.ndarray[Any, Any]
Coder = tuple[np.uint64, np.uint64, np.uint64, np.uint64]  # low, high, what is read, bytes so far

MOST_LEVEL = 32767
SPARE = 64  # bytes that a coded table may take beside four for each weight

# Where the odds of each kind of decision begin, and how many contexts there are in all.
_BLOCKS, _ROWS, _ZEROS, _SIGNS = 0, 25, 61, 845
_LENGTHS, _HALVES, _COIN, _CONTEXTS = 858, 1370, 1882, 1883
_LOUDEST = 31

_EVEN = np.uint32(1 << 15)  # odds are of 2^16
_RATE = np.uint32(6)  # a decision moves its odds by a 64th of what was missing
_CERTAIN = np.uint32(65535)
_MASK, _TOP = np.uint64(0xFFFFFFFF), np.uint64(0xFF000000)
_LOWER, _BYTE = np.uint64(0xFFFF), np.uint64(0xFF)
_0, _1, _8, _16, _24 = (np.uint64(n) for n in (0, 1, 8, 16, 24))


def encode(levels: Array) -> bytes:
    """A table's levels (int16, in the order of files), coded."""
    room = np.zeros(4 * len(levels) + SPARE, np.uint8)
    count = _code(levels, room, False)
    if count > len(room):
        raise UserError("these weights cannot be packed: they are noise")
    return room[:count].tobytes()


def decode(data: bytes, levels: Array) -> None:
    """Undo `encode`, into `levels`, which are 0. Raises ValueError if it is not what was coded."""
    if _code(levels, np.frombuffer(bytearray(data), np.uint8), True) != len(data):
        raise UserError("a table ends too early or too late")


@kernel
def to_levels(
    table: Array, sums: Array, place: np.uint64, gap: np.uint64, step: float, least: float, levels: Array
) -> int:
    """Round a table's weights to levels, in the order of files; returns how many are not 0.

    Where `sums` are TC's, E and A of each weight, those whose A is below `least` are left out;
    without sums, those that are smaller themselves.
    """
    kept = 0
    for i in range(levels.shape[0]):
        at = index_of(np.uint64(i), place, gap)
        weight = np.float64(table[at])
        learned = abs(weight) if sums.shape[0] == 0 else np.float64(sums[np.uint64(2) * at + _1])
        level = int(abs(weight) / step + 0.5) if learned >= least else 0
        levels[i] = level if weight > 0 else -level
        kept += level != 0
    return kept


@kernel
def from_levels(levels: Array, step: np.float32, place: np.uint64, gap: np.uint64, table: Array) -> None:
    """Write what is not 0 to its place in a table."""
    for i in range(levels.shape[0]):
        if levels[i] != 0:
            table[index_of(np.uint64(i), place, gap)] = np.float32(levels[i]) * step


@kernel
def _code(levels: Array, data: Array, reading: bool) -> int:
    """Write levels to `data`, or read them from there; returns how many bytes that took."""
    size = levels.shape[0]
    blocks, rows = np.zeros((size + 255) >> 8, np.uint8), np.zeros(size >> 4, np.uint8)
    for i in range(0 if reading else size):
        if levels[i] != 0:
            blocks[i >> 8] = 1
            rows[i >> 4] = 1
    odds = np.full(_CONTEXTS, _EVEN, np.uint32)
    near, far = np.zeros(8, np.int64), np.zeros(8, np.int64)
    at, code = np.uint64(0), np.uint64(0)
    if reading:
        for _ in range(4):
            code = (code << _8) | _byte(data, at)
            at += _1
    coder = (np.uint64(0), _MASK, code, at)
    for b in range(blocks.shape[0]):
        context = _BLOCKS + _among(blocks, b, 4, 5)
        blocks[b], coder = _decide(coder, data, odds, context, blocks[b] != 0, reading)
        if blocks[b] == 0:
            continue
        for r in range(16 * b, min(16 * b + 16, rows.shape[0])):
            context = _ROWS + _among(rows, r, 5, 6)
            rows[r], coder = _decide(coder, data, odds, context, rows[r] != 0, reading)
            if rows[r] != 0:
                coder = _code_row(levels, r, near, far, coder, data, odds, reading)
    low, _, _, at = coder
    if not reading:
        for shift in (_24, _16, _8, _0):
            _put(data, at, (low >> shift) & _BYTE)
            at += _1
    return int(at)


@inlined
def _among(marks: Array, i: int, digits: int, base: int) -> int:
    """How many near neighbours of a block or row there are, and how many of them are marked."""
    marked = there = 0
    for d in range(digits):
        if (i >> (4 * d)) & 15:
            there += 1
            marked += marks[i - (1 << (4 * d))]
    return base * marked + there


@inlined
def _code_row(
    levels: Array, row: int, near: Array, far: Array, coder: Coder, data: Array, odds: Array, reading: bool
) -> Coder:
    """The sixteen levels of a row that is not empty."""
    nears = fars = 0
    for d in range(5):  # the digits above the lowest are the row's
        digit = (row >> (4 * d)) & 15
        if digit > 0:
            near[nears] = 16 << (4 * d)
            nears += 1
        if digit > 1:
            far[fars] = 32 << (4 * d)
            fars += 1
    for low in range(16):
        i = 16 * row + low
        near[nears], far[fars] = 1, 2
        loud = filled = distant = lean = 0
        for k in range(nears + (low > 0)):
            level = int(levels[i - near[k]])
            loud += 2 * abs(level)
            filled += level != 0
            lean += (level > 0) - (level < 0)
        for k in range(fars + (low > 1)):
            level = int(levels[i - far[k]])
            loud += abs(level)
            distant += level != 0
        volume = _volume(loud)
        level = int(levels[i])
        context = _ZEROS + 16 * (7 * filled + distant) + min(volume, 15)
        some, coder = _decide(coder, data, odds, context, level != 0, reading)
        if some:
            above, coder = _decide(coder, data, odds, _SIGNS + lean + 6, level > 0, reading)
            size, coder = _code_size(coder, data, odds, 16 * volume, abs(level), reading)
            levels[i] = size if above else -size
    return coder


@inlined
def _volume(loud: int) -> int:
    """How loud neighbours are: twice the logarithm of the sum of their sizes, in whole numbers."""
    if loud < 2:
        return loud
    length = 0
    while loud >> (length + 1):
        length += 1
    return min(2 * length + ((loud >> (length - 1)) & 1), _LOUDEST)


@inlined
def _code_size(coder: Coder, data: Array, odds: Array, context: int, size: int, reading: bool) -> tuple[int, Coder]:
    """A level's size, at least 1."""
    length = 0
    while length < 14:
        longer = size >> (length + 1) != 0
        where = _LENGTHS + context + length
        longer, coder = _decide(coder, data, odds, where, longer, reading)
        if not longer:
            break
        length += 1
    found = 1
    for k in range(length - 1, -1, -1):
        # The highest of the bits below has odds of its own; of the others nothing is known.
        where = _HALVES + context + length if k == length - 1 else _COIN
        bit, coder = _decide(coder, data, odds, where, (size >> k) & 1 != 0, reading)
        odds[_COIN] = _EVEN
        found = 2 * found + bit
    return found, coder


@inlined
def _decide(coder: Coder, data: Array, odds: Array, context: int, yes: Any, reading: bool) -> tuple[Any, Coder]:
    """Write a decision, or read one: the interval from low to high is cut where the odds are."""
    low, high, code, at = coder
    odd = odds[context]
    span, share = high - low, np.uint64(odd)
    cut = low + (span >> _16) * share + (((span & _LOWER) * share) >> _16)
    if reading:
        yes = code <= cut
    if yes:
        high = cut
        odds[context] = odd + ((_CERTAIN - odd) >> _RATE)
    else:
        low = cut + _1
        odds[context] = odd - (odd >> _RATE)
    while (low ^ high) & _TOP == _0:
        if reading:
            code = ((code << _8) & _MASK) | _byte(data, at)
        else:
            _put(data, at, high >> _24)
        at += _1
        low, high = (low << _8) & _MASK, ((high << _8) & _MASK) | _BYTE
    return yes, (low, high, code, at)


@inlined
def _byte(data: Array, at: np.uint64) -> np.uint64:
    """A byte; zeros behind the last."""
    return np.uint64(data[at]) if at < np.uint64(data.shape[0]) else _0


@inlined
def _put(data: Array, at: np.uint64, byte: np.uint64) -> None:
    """Write a byte, where there is room."""
    if at < np.uint64(data.shape[0]):
        data[at] = byte
