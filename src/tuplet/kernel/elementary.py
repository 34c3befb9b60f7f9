"""log, exp and cos by additions, multiplications and divisions, which are the same on every machine.

The C library's functions differ in the last digit from one system to the next, and a search that differs there soon
takes another path. These are the formulas of fdlibm (Sun Microsystems, 1993), with errors below one unit in the last
place; WebAssembly, native code and plain Python return the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from tuplet.kernel.compile import INLINED, inlined, kernel

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_PER_LN2 = 1.44269504088896338700e00
_HALF_PI_HIGH, _HALF_PI_LOW = 1.57079632673412561417e00, 6.07710050650619224932e-11
_PER_HALF_PI = 6.36619772367581382433e-01
_SQRT_HALF = np.int64(0x3FE6A09E00000000)  # the bits of about sqrt(1/2)
_FRACTION, _ONE = np.int64((1 << 52) - 1), np.int64(1023)
_SHIFT = np.int64(52)


def _bits_of(number: np.float64) -> np.int64:
    return np.float64(number).view(np.int64)


def _number_of(bits: np.int64) -> np.float64:
    return np.int64(bits).view(np.float64)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _cast_to_bits(typing_context: Any, number: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _cast_to_number(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@overload(_bits_of, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_bits_of(number: Any) -> Callable[..., Any]:  # noqa: ARG001
    return lambda number: _cast_to_bits(number)


@overload(_number_of, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_number_of(bits: Any) -> Callable[..., Any]:  # noqa: ARG001
    return lambda bits: _cast_to_number(bits)


@inlined
def _power_of_two(exponent: np.int64) -> np.float64:
    """2^exponent, which must not be denormal."""
    return _number_of((exponent + _ONE) << _SHIFT)


@kernel
def log(x: float) -> float:
    """The natural logarithm."""
    number = np.float64(x)
    if not 0.0 < number < np.inf:
        return -np.inf if number == 0.0 else number if number > 0.0 else np.float64(np.nan)
    k = np.int64(0)
    if number < 2.2250738585072014e-308:  # denormal
        number *= 18014398509481984.0
        k = np.int64(-54)
    # number = 2^k (1 + f), with 1 + f between sqrt(1/2) and sqrt(2)
    bits = _bits_of(number) + ((_ONE << _SHIFT) - _SQRT_HALF)
    k += (bits >> _SHIFT) - _ONE
    f = _number_of((bits & _FRACTION) + _SQRT_HALF) - 1.0
    half_square, s = 0.5 * f * f, f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = 1.818357216161805012e-01 + w * 1.479819860511658591e-01
    odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * odd))
    dk = np.float64(k)
    return s * (half_square + (odd + even)) + dk * _LN2_LOW - half_square + f + dk * _LN2_HIGH


@kernel
def exp(x: float) -> float:
    """The exponential function."""
    number = np.float64(x)
    if not -745.2 < number < 709.79:
        return np.float64(0.0) if number < 0.0 else number * np.inf if number > 0.0 else number
    k = np.floor(number * _PER_LN2 + 0.5)
    high, low = number - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    rr = r * r
    c = 6.61375632143793436117e-05 + rr * (-1.65339022054652515390e-06 + rr * 4.13813679705723846039e-08)
    c = r - rr * (1.66666666666666019037e-01 + rr * (-2.77777777770155933842e-03 + rr * c))
    y = 1.0 + (r * c / (2.0 - c) - low + high)
    first = np.int64(k) >> np.int64(1)
    return float(y * _power_of_two(first) * _power_of_two(np.int64(k) - first))


@kernel
def cos(x: float) -> float:
    """The cosine of a number up to some thousands; near its zeros the last digits are not exact."""
    number = np.float64(x)
    n = np.floor(number * _PER_HALF_PI + 0.5)
    high, low = number - n * _HALF_PI_HIGH, n * _HALF_PI_LOW
    r = high - low
    rest = (high - r) - low
    z = r * r
    turn = np.int64(n) & np.int64(3)
    if turn & np.int64(1):  # the sine of r
        c = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)
        c = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * c)
        v = z * r
        value = r - ((z * (0.5 * rest - v * c) - rest) - v * -1.66666666666666324348e-01)
        return float(-value if turn == np.int64(1) else value)
    c = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)
    c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * c))
    half = 0.5 * z
    w = 1.0 - half
    value = w + (((1.0 - w) - half) + (z * z * c - r * rest))
    return float(-value if turn == np.int64(2) else value)
