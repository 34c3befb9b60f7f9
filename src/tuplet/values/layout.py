"""Where in a table an n-tuple's weight stands, for many placements at once.

An exponent e (four bits, ab|cd) is first spread to 00ab00cd. Two cells' spread exponents
interleave to a byte, and the bytes of a tuple stand side by side:

    byte 0:  ab of cell 1 | ab of cell 0 | cd of cell 1 | cd of cell 0     byte 1: cells 2, 3 ...

so that the lowest four bits, the sixteen weights of one 64-byte cache line, are the 4 x 4
neighbouring values of a tuple's first two cells. The bits above are then folded down by two
exclusive-or shifts: high bits of exponents are nearly always the same, and without the fold
most look-ups would fight for a few sets of the processor's caches. (Measured on 4x6: the fold
gave 15 to 25 % in play, the choice of the two cells 8 to 10 %.) Both steps can be undone, and
they are linear in exclusive-or, so that filling an empty cell changes an index by a constant.

A *place* is eight bytes: the cells of one placement of a tuple, `ABSENT` beyond the tuple's
length. With AVX2 or AVX-512 the bytes of four or eight placements are moved at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tuplet.kernel.bits import cpu_has
from tuplet.kernel.compile import INLINED, kernel

Array = np.ndarray[Any, Any]

ABSENT = 0x80
FOLDS = ((8, 0xFFF0), (12, 0x0FF0))

_BYTE = np.uint64(0xFF)
_FOLD1, _KEEP1 = np.uint64(FOLDS[0][0]), np.uint64(FOLDS[0][1])
_FOLD2, _KEEP2 = np.uint64(FOLDS[1][0]), np.uint64(FOLDS[1][1])


@kernel
def index_of(nibbles: np.uint64, place: np.uint64, gap: np.uint64) -> np.uint64:
    """The table index of one placement on a board of sixteen 4-bit exponents.

    In a tuple of odd length the last cell's two high bits, marked by `gap`, would stand two
    places too high.
    """
    index = np.uint64(0)
    for i in range(8):
        cell = (place >> np.uint64(8 * i)) & _BYTE
        if cell < np.uint64(16):
            exponent = (nibbles >> (cell * np.uint64(4))) & np.uint64(15)
            spread = (exponent & np.uint64(3)) | ((exponent & np.uint64(12)) << np.uint64(2))
            index |= spread << np.uint64(8 * (i // 2) + 2 * (i % 2))
    index ^= (index >> _FOLD1) & _KEEP1
    index ^= (index >> _FOLD2) & _KEEP2
    high = index & gap
    return index ^ high ^ (high >> np.uint64(2))


def indices(nibbles: np.uint64, plan: Array, out: Array, start: np.uint64) -> None:
    """The index of each look-up of a plan, written to `out[start:start + m]`.

    `plan` is uint64[3, m], m a multiple of eight: the place of each look-up, its gap, and
    where its table starts.
    """
    for j in range(np.uint64(plan.shape[1])):
        k = np.uint64(j)
        out[start + k] = index_of(nibbles, plan[0, k], plan[1, k]) + plan[2, k]


def _vector_width() -> int:
    """Bytes that one shuffle moves; 0 where there is no such instruction."""
    if cpu_has("avx512bw"):
        return 64
    return 32 if cpu_has("avx2") else 0


_SHUFFLES = {32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _shuffled(
    typing_context: Any,
    nibbles: Any, plan: Any, m: Any, k: Any, out: Any, start: Any,
) -> Any:  # fmt: skip
    """`indices` for as many look-ups, from number k on, as fit in a vector."""
    width = _vector_width()
    lanes = width // 8
    byte, word, long, number = (ir.IntType(n) for n in (8, 16, 64, 32))
    bytes_, words = ir.VectorType(byte, width), ir.VectorType(word, width // 2)
    longs = ir.VectorType(long, lanes)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nibbles, plan, m, k, out, start = args

        def pointer(array: Any, kind: Any, index: Any) -> Any:
            data = context.make_array(kind)(context, builder, array).data
            return builder.bitcast(builder.gep(data, [index]), longs.as_pointer())

        def plan_row(row: int) -> Any:
            index = builder.add(k, builder.mul(m, long(row)))
            return builder.load(pointer(plan, signature.args[1], index), align=8)

        def shuffle(vector: Any, mask: Any) -> Any:
            kind = ir.FunctionType(bytes_, [bytes_, bytes_])
            call = cgutils.get_or_insert_function(builder.module, kind, _SHUFFLES[width])
            return builder.call(call, [builder.bitcast(vector, bytes_), mask])

        def every(value: int) -> Any:
            return ir.Constant(longs, [value] * lanes)

        def spread(vector: Any, by: int, keep: int) -> Any:
            """In each word: the bits and themselves moved up, those to keep of both."""
            moved = builder.shl(vector, ir.Constant(half_board, [by] * 8))
            return builder.and_(builder.or_(vector, moved), ir.Constant(half_board, [keep] * 8))

        # Two exponents to a byte become one to a byte, 0000abcd, then 00ab00cd.
        half_board = ir.VectorType(word, 8)
        board = builder.zext(builder.bitcast(nibbles, ir.VectorType(byte, 8)), half_board)
        board = spread(spread(board, 4, 0x0F0F), 2, 0x3333)
        board = builder.bitcast(board, ir.VectorType(long, 2))
        both = ir.Constant(ir.VectorType(number, lanes), [i % 2 for i in range(lanes)])
        board = builder.shuffle_vector(board, board, both)

        place = builder.bitcast(plan_row(0), bytes_)
        cells = builder.bitcast(shuffle(board, place), words)
        pairs = builder.or_(cells, builder.lshr(cells, ir.Constant(words, [6] * (width // 2))))
        even = [8 * (i % 2) + b if b < 8 else ABSENT for i in range(lanes)
                for b in (0, 2, 4, 6, 8, 8, 8, 8)]  # fmt: skip
        index = builder.bitcast(shuffle(pairs, ir.Constant(bytes_, even)), longs)
        for by, keep in FOLDS:
            folded = builder.and_(builder.lshr(index, every(by)), every(keep))
            index = builder.xor(index, folded)
        top = builder.and_(index, plan_row(1))
        index = builder.xor(index, builder.xor(top, builder.lshr(top, every(2))))
        index = builder.add(index, plan_row(2))
        builder.store(index, pointer(out, signature.args[4], builder.add(start, k)), align=8)
        return context.get_dummy_value()

    word_ = types.uint64
    return types.void(word_, plan, word_, word_, out, word_), generate


@overload(indices, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_indices(nibbles: Any, plan: Any, out: Any, start: Any) -> Callable[..., Any]:
    if not _vector_width():
        return indices
    at_once = np.uint64(_vector_width() // 8)

    def vectors(nibbles: Any, plan: Any, out: Any, start: Any) -> None:
        m = np.uint64(plan.shape[1])
        for k in range(np.uint64(0), m, at_once):
            _shuffled(nibbles, plan, m, np.uint64(k), out, start)

    return vectors
