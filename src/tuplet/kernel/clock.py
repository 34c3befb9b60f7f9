"""A monotonic clock for compiled code: a search must know when to stop."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tuplet.kernel.compile import UNCOUNTED

_MONOTONIC = 6 if sys.platform == "darwin" else 1  # the system's number for that clock


def now() -> float:
    """Seconds of `time.monotonic`."""
    return time.monotonic()


# Windows has no clock_gettime: there compiled code calls Python's, by a name of ours.
_FALLBACK = "tuplet_monotonic"
_python_clock = ctypes.CFUNCTYPE(ctypes.c_double)(time.monotonic)
_HAS_CLOCK = hasattr(time, "clock_gettime")  # (LLVM does not know the symbol yet when this is imported)
if not _HAS_CLOCK:
    binding.add_symbol(_FALLBACK, ctypes.cast(_python_clock, ctypes.c_void_p).value)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _clock(typing_context: Any) -> Any:  # noqa: ARG001
    """A call of the C library's `clock_gettime`, found by name when the code is loaded."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        if not _HAS_CLOCK:
            signature = ir.FunctionType(ir.DoubleType(), [])
            return builder.call(cgutils.get_or_insert_function(builder.module, signature, _FALLBACK), [])
        word, number = ir.IntType(64), ir.IntType(32)
        reading = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        kind = ir.FunctionType(number, [number, ir.ArrayType(word, 2).as_pointer()])
        read = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(read, [number(_MONOTONIC), reading])
        seconds, nanos = (
            builder.sitofp(builder.load(cgutils.gep_inbounds(builder, reading, 0, i)), ir.DoubleType())
            for i in range(2)
        )
        return builder.fadd(seconds, builder.fmul(nanos, ir.DoubleType()(1e-9)))

    return types.float64(), generate


@overload(now, strict=False, jit_options=UNCOUNTED)  # type: ignore[untyped-decorator]
def _compile_now() -> Callable[..., Any]:
    return lambda: _clock()
