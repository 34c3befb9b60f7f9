"""Small arrays on a kernel's stack, for kernels that allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array


def local_array(count: int, dtype: Any) -> np.ndarray[Any, Any]:
    """An array of `count` zeros on the stack of the kernel that makes it, gone when that returns.

    `count` is a constant, and small.
    """
    return np.zeros(count, dtype)


@type_callable(local_array)  # type: ignore[untyped-decorator]  # Numba has no types
def _type_local_array(context: Any) -> Callable[..., Any]:  # noqa: ARG001
    def typer(count: Any, dtype: Any) -> Any:
        if isinstance(count, types.IntegerLiteral) and isinstance(dtype, types.DTypeSpec):
            return types.Array(dtype.dtype, 1, "C")
        return None

    return typer


@lower_builtin(local_array, types.IntegerLiteral, types.DTypeSpec)  # type: ignore[untyped-decorator]
def _make_local_array(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
    kind, count = signature.return_type, signature.args[0].literal_value
    item = context.get_data_type(kind.dtype)
    word, size = context.get_value_type(types.intp), context.get_abi_sizeof(item)
    data = cgutils.alloca_once(builder, ir.ArrayType(item, count))
    data.align = 64  # a cache line
    cgutils.memset(builder, data, word(count * size), 0)
    array = make_array(kind)(context, builder)
    start = builder.bitcast(data, array.data.type)
    populate_array(array, start, [word(count)], [word(size)], word(size), None)
    return array._getvalue()
