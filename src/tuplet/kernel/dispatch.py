"""Functions whose code is picked by the type of their first argument, compiled and interpreted.

A search is written once against such functions and compiled for each game it is used with; a
learner's update is picked the same way. The types are NamedTuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from tuplet.kernel.cache_folders import comes_from
from tuplet.kernel.compile import INLINED

_CODE: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def register(function: Callable[..., Any], kind: type, code: Callable[..., Any]) -> None:
    """Let `function` run `code`, a kernel, where its first argument is of this kind."""
    if function not in _CODE:
        _CODE[function] = {}
        overload(function, strict=False, jit_options=INLINED)(_chooser(function))
    _CODE[function][kind] = code
    comes_from(kind, code)
    _distinguish(kind)


def _distinguish(kind: type) -> None:
    """Give a type of somebody's own a name that no other has.

    Numba names what it compiles after its arguments' types, whatever module they are from: the
    code of two games whose rules are both called `Rules` would be one.
    """
    if kind in _NAMED or kind.__module__.startswith("tuplet."):
        return
    name, n = f"{kind.__module__}.{kind.__qualname__}", 1
    while kind.__name__ in {each.__name__ for each in _NAMED} or n == 1:
        kind.__name__ = name if n == 1 else f"{name}.{n}"
        n += 1
    _NAMED.append(kind)


_NAMED: list[type] = []


def implementation_of(function: Callable[..., Any], first: Any) -> Callable[..., Any]:
    """What interpreted code runs."""
    return _CODE[function][type(first)]


def _chooser(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba asks for the code behind a function."""

    def choose(first: Any, *_: Any) -> Any:
        if not isinstance(first, types.BaseNamedTuple):
            return None
        code = _CODE[function].get(first.instance_class)
        return getattr(code, "py_func", code)

    return choose
