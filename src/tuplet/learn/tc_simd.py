"""TC's update of eight weights at once: one vector division instead of eight.

A division takes as long as a dozen other instructions, and the two sums of a weight are neighbours:
together they take one load, one addition and one store. Eight look-ups are the placements of one
tuple, so two of them may be the same weight (on a board that is its own mirror image); such a weight
is updated once for each, one after the other, which vectors cannot do.
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
from tuplet.kernel.compile import INLINED

Array = np.ndarray[Any, Any]

_LANES = 8
# One instruction each splits two vectors of four (E, A) into one of eight E and one of eight A: the
# look-ups in the order that results.
_ORDER = [0, 1, 4, 5, 2, 3, 6, 7]


def update_eight(weights: Array, memory: Array, indices: Array, i: np.uint64 | int, amount: np.float32) -> bool:
    """Update the weights of look-ups i to i + 7 by TC, unless two of them are the same.

    Returns whether it did.
    """
    return False


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _eight(typing_context: Any, weights: Any, memory: Any, indices: Any, i: Any, amount: Any) -> Any:
    real, long = ir.FloatType(), ir.IntType(64)
    reals, pair = ir.VectorType(real, _LANES), ir.VectorType(real, 2)
    number = ir.IntType(32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        weights, memory, indices = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:3], args[:3], strict=True)
        )
        i, amount = args[3:]

        def pick(one: Any, other: Any, lanes: list[int]) -> Any:
            return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(number, len(lanes)), lanes))

        def every(value: Any) -> Any:
            """A vector of eight equal values."""
            first = builder.insert_element(ir.Constant(reals, ir.Undefined), value, number(0))
            return pick(first, first, [0] * _LANES)

        def absolute(value: Any) -> Any:
            kind = ir.FunctionType(reals, [reals])
            call = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{_LANES}f32")
            return builder.call(call, [value])

        # Rotating by one to four places compares all pairs of the eight.
        where = builder.gep(indices, [i])
        raw = ir.VectorType(ir.IntType(8), 4 * _LANES)
        pointer = ir.IntType(8).as_pointer()
        # A load that LLVM does not see through: it would split the eight again, which is slower than
        # loading them one by one.
        ldu = cgutils.get_or_insert_function(builder.module, ir.FunctionType(raw, [pointer]), "llvm.x86.avx.ldu.dq.256")
        at = builder.call(ldu, [builder.bitcast(where, pointer)])
        at = builder.bitcast(at, ir.VectorType(number, _LANES))
        twice = ir.Constant(ir.VectorType(ir.IntType(1), _LANES), [0] * _LANES)
        for turn in range(1, _LANES // 2 + 1):
            turned = pick(at, at, [(lane + turn) % _LANES for lane in range(_LANES)])
            twice = builder.or_(twice, builder.icmp_unsigned("==", at, turned))
        single = builder.icmp_unsigned("==", builder.bitcast(twice, ir.IntType(_LANES)), ir.IntType(_LANES)(0))
        with builder.if_then(single, likely=True):
            at = [builder.load(builder.gep(where, [long(lane)])) for lane in range(_LANES)]
            at = [builder.zext(each, long) for each in at]
            both = [builder.gep(memory, [builder.add(each, each)]) for each in at]
            both = [builder.bitcast(each, pair.as_pointer()) for each in both]
            sums = [builder.load(each, align=4) for each in both]
            sums = [pick(sums[k], sums[k + 1], [0, 1, 2, 3]) for k in range(0, _LANES, 2)]
            low, high = (pick(sums[k], sums[k + 1], list(range(_LANES))) for k in (0, 2))
            e = pick(low, high, [0, 2, 8, 10, 4, 6, 12, 14])
            a = pick(low, high, [1, 3, 9, 11, 5, 7, 13, 15])

            one, zero = ir.Constant(reals, [1.0] * _LANES), ir.Constant(reals, [0.0] * _LANES)
            rate = builder.fdiv(absolute(e), a)
            rate = builder.select(builder.fcmp_ordered("<", one, rate), one, rate)
            rate = builder.select(builder.fcmp_ordered(">", a, zero), rate, one)
            share = builder.fmul(every(amount), rate)
            for lane, look_up in enumerate(_ORDER):
                weight = builder.gep(weights, [at[look_up]])
                part = builder.extract_element(share, number(lane))
                builder.store(builder.fadd(builder.load(weight), part), weight)

            new = pick(every(amount), absolute(every(amount)), [0, _LANES] * (_LANES // 2))
            low, high = builder.fadd(low, new), builder.fadd(high, new)
            for look_up, each in enumerate(both):
                half, k = (low, high)[look_up // 4], 2 * (look_up % 4)
                builder.store(pick(half, half, [k, k + 1]), each, align=4)
        return single

    return types.boolean(weights, memory, indices, types.uint64, types.float32), generate


@overload(update_eight, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_update_eight(weights: Any, memory: Any, indices: Any, i: Any, amount: Any) -> Callable[..., Any]:
    if not cpu_has("avx2") or indices.dtype != types.uint32:
        return update_eight
    return lambda weights, memory, indices, i, amount: _eight(weights, memory, indices, i, amount)
