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

A *place* is eight bytes: the cells of one placement of a tuple, first those that stand low in a
byte of the index (0, 2, 4, 6), then those that stand high, `ABSENT` beyond the tuple's length.
With AVX2 (or WebAssembly's vectors) the bytes of eight placements are moved at once, and an index
takes 32 bits: twice as many to a vector as with 64. Tables of more than 2^32 weights have indices of
64 bits; the type of the array that they are written to tells.
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
FOLDED = 0xFFF0  # the bits that those 8 and 12 places higher are folded into
PLACE, OTHER, START, FAR, GAP = range(5)  # the rows of a plan

_BYTE, _HALF = np.uint64(0xFF), np.uint64(32)
_FOLDED = np.uint64(FOLDED)


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
            index |= spread << np.uint64(8 * (i % 4) + 2 * (i // 4))
    high = index >> np.uint64(8)
    index ^= (high ^ (high >> np.uint64(4))) & _FOLDED
    top = index & gap
    return index ^ top ^ (top >> np.uint64(2))


def compute_indices(nibbles: np.uint64, plan: Array, out: Array, start: np.uint64) -> None:
    """The index of each look-up of a plan, written to `out[start:start + m]`.

    `plan` is uint32[4, m] or, where a tuple has an odd number of cells, [5, m], m a multiple of
    eight: the two halves of each look-up's place, of where its table starts, and its gap.
    """
    for j in range(np.uint64(plan.shape[1])):
        k = np.uint64(j)
        place = np.uint64(plan[PLACE, k]) | (np.uint64(plan[OTHER, k]) << _HALF)
        table = np.uint64(plan[START, k]) | (np.uint64(plan[FAR, k]) << _HALF)
        gap = np.uint64(plan[GAP, k]) if plan.shape[0] > GAP else np.uint64(0)
        out[start + k] = index_of(nibbles, place, gap) + table


_AT_ONCE = np.uint64(8)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]  # Numba has no types
def _shuffled(typing_context: Any, nibbles: Any, plan: Any, odd: Any, k: Any, out: Any, start: Any) -> Any:
    """`compute_indices` for eight look-ups, from number k on; `odd` says whether the plan has gaps."""
    lanes = int(_AT_ONCE)
    byte, word, number, long = (ir.IntType(n) for n in (8, 16, 32, 64))
    bytes_, numbers = ir.VectorType(byte, 4 * lanes), ir.VectorType(number, lanes)
    longs, half_board = ir.VectorType(long, lanes), ir.VectorType(word, 8)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nibbles, plan, _, k, out, start = args
        table = context.make_array(signature.args[1])(context, builder, plan)
        m = builder.extract_value(table.shape, 1)

        def row(number: int) -> Any:
            at = builder.gep(table.data, [builder.add(k, builder.mul(m, long(number)))])
            return builder.load(builder.bitcast(at, numbers.as_pointer()), align=4)

        def shuffle(vector: Any, mask: Any) -> Any:
            kind = ir.FunctionType(bytes_, [bytes_, bytes_])
            name = "llvm.x86.avx2.pshuf.b" if cpu_has("avx2") else "tuplet_shuffle_bytes"  # of kernel/wasm.ll
            call = cgutils.get_or_insert_function(builder.module, kind, name)
            mask = builder.bitcast(mask, bytes_)
            return builder.bitcast(builder.call(call, [vector, mask]), numbers)

        def every(value: int, kind: Any = numbers) -> Any:
            return ir.Constant(kind, [value] * kind.count)

        def spread(vector: Any, by: int, keep: int) -> Any:
            """In each word: the bits and themselves moved up, those to keep of both."""
            moved = builder.shl(vector, every(by, half_board))
            return builder.and_(builder.or_(vector, moved), every(keep, half_board))

        def twice(vector: Any) -> Any:
            """A shuffle moves bytes within each half of a vector: the board stands in both."""
            vector = builder.bitcast(vector, ir.VectorType(long, 2))
            both = ir.Constant(ir.VectorType(number, 4), [0, 1, 0, 1])
            return builder.bitcast(builder.shuffle_vector(vector, vector, both), bytes_)

        # Two exponents to a byte become one to a byte, 0000abcd, then 00ab00cd.
        board = builder.zext(builder.bitcast(nibbles, ir.VectorType(byte, 8)), half_board)
        board = spread(spread(board, 4, 0x0F0F), 2, 0x3333)
        higher = builder.shl(board, every(2, half_board))  # ab00cd00
        index = builder.or_(shuffle(twice(board), row(PLACE)), shuffle(twice(higher), row(OTHER)))
        high = builder.lshr(index, every(8))
        folded = builder.xor(high, builder.lshr(high, every(4)))
        index = builder.xor(index, builder.and_(folded, every(FOLDED)))
        if signature.args[2].literal_value:
            top = builder.and_(index, row(GAP))
            index = builder.xor(index, builder.xor(top, builder.lshr(top, every(2))))
        starts = row(START)
        wide = signature.args[4].dtype.bitwidth == long.width
        if wide:
            index, starts = builder.zext(index, longs), builder.zext(starts, longs)
            far = builder.shl(builder.zext(row(FAR), longs), every(32, longs))
            starts = builder.or_(starts, far)
        index = builder.add(index, starts)
        data = context.make_array(signature.args[4])(context, builder, out).data
        at = builder.gep(data, [builder.add(start, k)])
        at = builder.bitcast(at, index.type.as_pointer())
        builder.store(index, at, align=8 if wide else 4)
        return context.get_dummy_value()

    word_ = types.uint64
    return types.void(word_, plan, odd, word_, out, word_), generate


@overload(compute_indices, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_indices(nibbles: Any, plan: Any, out: Any, start: Any) -> Callable[..., Any]:
    if not (cpu_has("avx2") or cpu_has("simd128")):
        return compute_indices

    def vectors(nibbles: Any, plan: Any, out: Any, start: Any) -> None:
        m = np.uint64(plan.shape[1])
        if plan.shape[0] > GAP:
            for k in range(np.uint64(0), m, _AT_ONCE):
                _shuffled(nibbles, plan, True, np.uint64(k), out, start)
        else:
            for k in range(np.uint64(0), m, _AT_ONCE):
                _shuffled(nibbles, plan, False, np.uint64(k), out, start)

    return vectors
