"""The levels of a packed network (`packed.py`) in few bytes, for the page without a server.

Adaptive binary arithmetic coding, in a kernel, so that the page unpacks what `make site` packed. A level is a flag (is
it 0?), the length of its absolute value in bits, a sign, and its other bits. The probability of each of these bits is
learned on the way, in two contexts each, whose mean counts. Contexts are what is known of the *neighbours* of a level:
those of contents that are smaller by one in one cell. They say a lot of where the zeros are, and how large a level is.

`small` takes 0.79 of what xz makes of it, the players of EWN 0.75 and 0.65.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tuplet.kernel import inlined, kernel

Array = np.ndarray[Any, Any]
Number = Any  # an integer, of Python or NumPy

MOST_CELLS = 6  # of a tuple: more have neighbours in the first six alone
_MOST = 16  # bits of a level
_ADAPTIVE = 3  # bits after the highest whose probability is learned
_SLOWEST = 127  # a probability changes by 1 / (n + 1.5) the n-th time, at least by this
_RATES = (65536 / (np.arange(_SLOWEST + 1) + 1.5)).astype(np.int64)
_LEAST = 16  # of 65536: the smallest probability
_FIRST, _LAST, _CODE, _AT = range(4)  # of the coder: the interval, the code that is read, the place in the data

# Where the contexts of each kind of bit begin
_ZEROS, _ZEROS_2 = 0, 4**MOST_CELLS
_COUNTS = (MOST_CELLS + 1) * 8 * 16  # how many neighbours are not 0, how many there are, their size
_LENGTHS, _LENGTHS_2 = _ZEROS_2 + _COUNTS, _ZEROS_2 + 17 * _COUNTS
_SIGNS, _SIGNS_2 = _LENGTHS_2 + 17**3, _LENGTHS_2 + 17**3 + 3**5
_BITS, _BITS_2 = _SIGNS_2 + 2 * 17 * 17, _SIGNS_2 + 2 * 17 * 17 + 17 * 8 * 32
_CONTEXTS = _BITS_2 + 17 * 8 * 17


class LevelModel(NamedTuple):
    """What is learned of the levels, and working memory."""

    chances: Array  # int64[contexts]: of 65536, that the bit is 1
    seen: Array  # uint8[contexts]: bits, at most `_SLOWEST`
    digits: Array  # int64[MOST_CELLS]: the contents of the cells
    near: Array  # int64[MOST_CELLS]: the neighbours' levels, 0 where there is none
    coder: Array  # uint64[4]


def make_model() -> LevelModel:
    """A model that has seen nothing."""
    coder = np.array([0, 0xFFFFFFFF, 0, 0], np.uint64)
    digits, near = np.zeros(MOST_CELLS, np.int64), np.zeros(MOST_CELLS, np.int64)
    return LevelModel(np.full(_CONTEXTS, 32768), np.zeros(_CONTEXTS, np.uint8), digits, near, coder)


@inlined
def _adapt(model: LevelModel, context: Number, bit: Number) -> None:
    seen, chance = np.int64(model.seen[context]), model.chances[context]
    chance += (((bit << 16) - chance) * _RATES[seen]) >> 16
    model.chances[context] = min(max(chance, _LEAST), 65536 - _LEAST)
    model.seen[context] = min(seen + 1, _SLOWEST)


@inlined
def _shift(model: LevelModel, data: Array, decodes: bool) -> None:
    """Write or read the bytes that are settled."""
    coder = model.coder
    while (coder[_FIRST] ^ coder[_LAST]) & np.uint64(0xFF000000) == np.uint64(0):
        at = np.int64(coder[_AT])
        if decodes:
            byte = np.uint64(data[at]) if at < len(data) else np.uint64(0)
            coder[_CODE] = (coder[_CODE] << np.uint64(8) & np.uint64(0xFFFFFFFF)) | byte
        else:
            data[at] = np.uint8(coder[_LAST] >> np.uint64(24))
        coder[_AT] = np.uint64(at + 1)
        coder[_FIRST] = coder[_FIRST] << np.uint64(8) & np.uint64(0xFFFFFFFF)
        coder[_LAST] = (coder[_LAST] << np.uint64(8) & np.uint64(0xFFFFFFFF)) | np.uint64(0xFF)


@inlined
def _split(model: LevelModel, data: Array, chance: Number, bit: Number, decodes: bool) -> Number:
    """Code a bit that is 1 with a probability of `chance` / 65536; returns it."""
    coder = model.coder
    middle = coder[_FIRST] + ((coder[_LAST] - coder[_FIRST]) * np.uint64(chance) >> np.uint64(16))
    if decodes:
        bit = np.int64(coder[_CODE] <= middle)
    if bit:
        coder[_LAST] = middle
    else:
        coder[_FIRST] = middle + np.uint64(1)
    _shift(model, data, decodes)
    return bit


@inlined
def _code(model: LevelModel, data: Array, one: Number, other: Number, bit: Number, decodes: bool) -> Number:
    """Code a bit in two contexts; returns it."""
    bit = _split(model, data, (model.chances[one] + model.chances[other]) >> 1, bit, decodes)
    _adapt(model, one, bit)
    _adapt(model, other, bit)
    return bit


@inlined
def _length(number: Number) -> Number:
    """The length of a number in bits, at most 16."""
    n, number = 0, abs(number)
    while number and n < _MOST:
        number >>= 1
        n += 1
    return n


@inlined
def _sign(number: Number) -> Number:
    return 1 + np.int64(number > 0) - np.int64(number < 0)


@kernel
def code_table(model: LevelModel, data: Array, levels: Array, base: Number, decodes: bool) -> Number:
    """Write the levels of a table (int16) to `data`, or read them from it; cells have `base` contents.

    Returns the bytes so far. Tables follow each other with the same model.
    """
    digits, near, size = model.digits, model.near, len(levels)
    cells = 0
    step = 1
    while step < size and cells < MOST_CELLS:
        digits[cells], near[cells] = 0, 0
        step *= base
        cells += 1
    for other in range(cells, MOST_CELLS):
        digits[other], near[other] = 0, 0
    for number in range(size):
        known, there, total, sizes, zeros, step = 0, 0, 0, 0, 0, 1
        for cell in range(cells):
            near[cell] = 0
            if digits[cell] > 0:
                there += 1
                near[cell] = np.int64(levels[number - step])
                if near[cell] != 0:
                    known += 1
                    total += near[cell]
                    sizes += abs(near[cell])
                    zeros |= 1 << 2 * cell
            else:
                zeros |= 2 << 2 * cell
            step *= base
        cell = 0
        while cell < cells:  # the contents of the next number
            digits[cell] += 1
            if digits[cell] < base:
                break
            digits[cell] = 0
            cell += 1
        usual = min(_length(sizes // known), 14) if known else 15
        counts = (known * 8 + there) * 16 + usual
        level: Number = 0 if decodes else np.int64(levels[number])
        if not _code(model, data, _ZEROS + zeros, _ZEROS_2 + counts, np.int64(level != 0), decodes):
            levels[number] = 0
            continue
        mean = total // known if known else 0
        length, longer = 1, _length(level)
        pair = (_length(near[0]) * 17 + _length(near[1])) * 17
        while length < _MOST and _code(
            model, data, _LENGTHS + counts * 16 + length, _LENGTHS_2 + pair + length, np.int64(length < longer), decodes
        ):
            length += 1
        signs = 0
        for cell in range(5):
            signs = 3 * signs + _sign(near[cell])
        lean = (np.int64(mean < 0) * 17 + _length(mean)) * 17 + length
        negative = _code(model, data, _SIGNS + signs, _SIGNS_2 + lean, np.int64(level < 0), decodes)
        expected = abs(mean) if (mean < 0) == (negative > 0) and _length(mean) == length else 0
        given = abs(level)
        found, prefix = 1, 1
        for place in range(length - 2, -1, -1):
            bit = (given >> place) & 1
            if length - 2 - place < _ADAPTIVE:
                context = length * 8 + prefix
                bit = _code(
                    model,
                    data,
                    _BITS + context * 32 + min(expected >> place, 31),
                    _BITS_2 + context * 17 + usual,
                    bit,
                    decodes,
                )
                prefix = 2 * prefix + bit
            else:
                bit = _split(model, data, 32768, bit, decodes)
            found = 2 * found + bit
        levels[number] = np.int16(-found if negative else found)
    return np.int64(model.coder[_AT])


@kernel
def begin_decoding(model: LevelModel, data: Array) -> None:
    """Read the first bytes of packed levels; then `code_table` reads the tables."""
    coder = model.coder
    for at in range(4):
        byte = np.uint64(data[at]) if at < len(data) else np.uint64(0)
        coder[_CODE] = coder[_CODE] << np.uint64(8) | byte
    coder[_AT] = np.uint64(4)


def pack_levels(tables: Sequence[tuple[Array, int]]) -> bytes:
    """Levels (int16) of tables, each with the number of contents of a cell, in few bytes."""
    model, data = make_model(), np.zeros(4 * sum(len(levels) for levels, _ in tables) + 64, np.uint8)
    size = 0
    for levels, base in tables:
        size = code_table(model, data, levels.copy(), base, False)
    for shift in (24, 16, 8, 0):  # the end of the interval
        data[size] = int(model.coder[_LAST]) >> shift & 0xFF
        size += 1
    return data[:size].tobytes()


def unpack_levels(packed: bytes, shapes: Sequence[tuple[int, int]]) -> list[Array]:
    """The levels of tables, whose sizes and numbers of contents are given."""
    model, data = make_model(), np.frombuffer(packed, np.uint8).copy()
    begin_decoding(model, data)
    tables = [np.zeros(size, np.int16) for size, _ in shapes]
    for levels, (_, base) in zip(tables, shapes, strict=True):
        code_table(model, data, levels, base, True)
    return tables
