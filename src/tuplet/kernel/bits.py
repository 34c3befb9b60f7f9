"""Bit operations and prefetch, each one machine instruction where the processor has it.

The plain functions define what the instructions do; they run uncompiled, or where the instruction is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, overload

from tuplet.kernel.compile import INLINED, UNCOUNTED

Array = np.ndarray[Any, Any]


def cpu_has(feature: str) -> bool:
    """True if code may be compiled for a processor feature ("bmi2", "avx2", ...)."""
    if config.CPU_NAME not in (None, "host") or config.CPU_FEATURES is not None:
        features = config.CPU_FEATURES or ""
    else:
        features = get_host_cpu_features()  # the features Numba will use, NUMBA_ENABLE_AVX considered
    return f"+{feature}" in features.split(",")


def pext(bits: np.uint64, mask: np.uint64) -> np.uint64:
    """Extract the bits of `bits` under `mask` and pack them from the lowest bit up."""
    rest, out, place = np.uint64(mask), np.uint64(0), np.uint64(1)
    while rest != np.uint64(0):
        lowest = rest & (~rest + np.uint64(1))
        if bits & lowest != np.uint64(0):
            out |= place
        place <<= np.uint64(1)
        rest ^= lowest
    return out


def pdep(bits: np.uint64, mask: np.uint64) -> np.uint64:
    """Deposit the lowest bits of `bits` where `mask` has ones: the inverse of `pext`."""
    rest, left, out = np.uint64(mask), np.uint64(bits), np.uint64(0)
    while rest != np.uint64(0):
        lowest = rest & (~rest + np.uint64(1))
        if left & np.uint64(1) != np.uint64(0):
            out |= lowest
        left >>= np.uint64(1)
        rest ^= lowest
    return out


def popcount(bits: np.uint64) -> np.uint64:
    """The number of one bits."""
    return np.uint64(int(bits).bit_count())


def prefetch(array: Array, index: np.uint64) -> None:
    """Load `array[index]` into the cache without waiting for it."""


def load_pair(array: Array, index: np.uint64 | int) -> tuple[np.uint64, np.uint64]:
    """`array[index]` and `array[index + 1]`, in one load if they have 32 bits each.

    A weight look-up takes two loads, of the index and of the weight. With one load for two indices, sums of cached
    weights take 0.82 times as long, prefetches 0.76 times.
    """
    return np.uint64(array[index]), np.uint64(array[index + np.uint64(1)])


def line_aligned(count: int, kind: Any) -> Array:
    """Zeros aligned to a 64-byte cache line; NumPy's large arrays begin 16 bytes into a page.

    1 to 2 % faster for the weights of 4x6, about 8 % in play for indices, which are written by vector instructions.
    """
    buffer = np.zeros(64 + count * np.dtype(kind).itemsize, np.uint8)
    skip = -buffer.ctypes.data % 64
    return buffer[skip : len(buffer) - 64 + skip].view(kind)


def _instruction(name: str) -> Any:
    """The x86 instruction `name` as a function of two uint64 in compiled code."""

    @intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
    def call(typing_context: Any, bits: Any, mask: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word, word])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

        return types.uint64(types.uint64, types.uint64), generate

    return call


_pext_instruction = _instruction("llvm.x86.bmi.pext.64")
_pdep_instruction = _instruction("llvm.x86.bmi.pdep.64")


@overload(pext, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_pext(bits: Any, mask: Any) -> Callable[..., Any]:  # noqa: ARG001
    return (lambda bits, mask: _pext_instruction(bits, mask)) if cpu_has("bmi2") else pext


@overload(pdep, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_pdep(bits: Any, mask: Any) -> Callable[..., Any]:  # noqa: ARG001
    return (lambda bits, mask: _pdep_instruction(bits, mask)) if cpu_has("bmi2") else pdep


@intrinsic  # type: ignore[untyped-decorator]
def _population(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@overload(popcount, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_popcount(bits: Any) -> Callable[..., Any]:  # noqa: ARG001
    return lambda bits: _population(bits)


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data_cache = flag(0), flag(3), flag(1)
        builder.call(instruction, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@overload(prefetch, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_prefetch(array: Any, index: Any) -> Callable[..., Any]:  # noqa: ARG001
    return lambda array, index: _prefetch(array, index)


@intrinsic  # type: ignore[untyped-decorator]
def _load_two(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    pair = types.UniTuple(types.uint64, 2)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        at = builder.bitcast(builder.gep(data, [args[1]]), word.as_pointer())
        both = builder.load(at, align=4)
        pair_parts = [builder.and_(both, word(0xFFFFFFFF)), builder.lshr(both, word(32))]
        return context.make_tuple(builder, pair, pair_parts)

    return pair(array, types.uint64), generate


@overload(load_pair, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_two_of(array: Any, index: Any) -> Callable[..., Any]:  # noqa: ARG001
    if array.dtype == types.uint32 and sys.byteorder == "little":
        return lambda array, index: _load_two(array, index)
    return load_pair
