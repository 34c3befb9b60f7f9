"""Functions that dispatch on the type of their first argument, compiled and interpreted.

A search is written once against such functions and compiled for each game; a learner's update is chosen the same way.
The types are NamedTuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from tuplet.kernel.cache_folders import note_module
from tuplet.kernel.compile import INLINED, counts_references

_IMPLEMENTATIONS: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def register(function: Callable[..., Any], kind: type, code: Callable[..., Any]) -> None:
    """Implement `function` by the kernel `code` for a first argument of type `kind`."""
    if function not in _IMPLEMENTATIONS:
        _IMPLEMENTATIONS[function] = {}
        for counting in (False, True):
            options = {**INLINED, "_nrt": counting}
            overload(function, strict=False, jit_options=options)(_chooser(function, counting))
    _IMPLEMENTATIONS[function][kind] = code
    note_module(kind, code)
    _distinguish(kind)


def _distinguish(kind: type) -> None:
    """Give a user's type a unique name.

    Numba names compiled code by the names of its arguments' types, without their modules: the code of two games whose
    rules are both called `Rules` would be mixed up.
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
    """The implementation for `type(first)`, used without JIT."""
    return _IMPLEMENTATIONS[function][type(first)]


def _chooser(function: Callable[..., Any], counting: bool) -> Callable[..., Any]:
    """The function that Numba calls to choose an implementation, of those that count references or of the others."""

    def choose(first: Any, *_: Any) -> Any:
        if not isinstance(first, types.BaseNamedTuple):
            return None
        code = _IMPLEMENTATIONS[function].get(first.instance_class)
        return getattr(code, "py_func", code) if code and counts_references(code) == counting else None

    return choose
