"""`@kernel`, `@inlined` and `@allocating`: the only place where tuplet calls Numba's compiler.

Machine code is cached in a folder that is named by its sources (`cache_folders.py`). One process compiles a kernel, the
others wait for its code (`compile_lock.py`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar

import numba
from numba.core import caching, errors, event

from tuplet.kernel.cache_folders import cache_folder, is_tuplet, user_folder, user_modules_of
from tuplet.kernel.compile_lock import acquire, release

F = TypeVar("F", bound=Callable[..., Any])

# Numba counts the references to an array at every call that passes it, atomically: half the time of a search, where a
# call passes a tuple of 15 arrays. Kernels that make no array need no counts.
UNCOUNTED = {"_nrt": False}  # also the `jit_options` of an overload
_COUNTED = {"_nrt": True}  # said in full: else a kernel inherits what its first caller has
INLINED = {**UNCOUNTED, "forceinline": True}  # and of an inlined one


def kernel(function: F) -> F:
    """Compile `function` when first called; it releases the GIL, and its machine code is cached.

    Division follows IEEE rules (no ZeroDivisionError); sums are never reordered, so that the same seed gives the same
    bytes. A kernel of tuplet makes no arrays and returns none: it counts no references. Kernels of other modules may.
    """
    return _compiled(function, **_counting(function, UNCOUNTED))


def allocating(reason: str) -> Callable[[F], F]:  # noqa: ARG001  # for the reader
    """A kernel that makes arrays, or returns one, and so counts references; `reason` says what for."""
    return lambda function: _compiled(function, **_COUNTED)


def inlined(function: F) -> F:
    """A kernel whose machine code is copied into each kernel that calls it, for helpers of the inner loop.

    Numba passes an array as seven words on the stack, and LLVM leaves larger helpers as calls: a move of 2048 took 22 %
    longer with a network that fits the cache, 5 to 10 % with 4x6.
    """
    return _compiled(function, **_counting(function, INLINED))


def counts_references(function: Callable[..., Any]) -> bool:
    """Whether a kernel counts references to arrays; a plain function does."""
    return bool(getattr(function, "targetoptions", {}).get("_nrt", True))


def _counting(function: Callable[..., Any], options: dict[str, bool]) -> dict[str, bool]:
    """The options of a kernel: users' kernels may allocate, so they count."""
    return options if is_tuplet(function.__module__) else {**options, **_COUNTED}


def _compiled(function: F, **options: Any) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if compiled is not function and cache_folder() is not None:
        compiled._cache = _Cache(function)
    return compiled  # type: ignore[no-any-return]  # Numba has no types


def describe_error(error: BaseException) -> str:
    """An error in one line; of a compiler error, the part that names the cause."""
    text = str(error)
    if isinstance(error, errors.NumbaError):
        causes = _CAUSES.findall(text)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        text = causes[-1] if causes else lines[-1] if lines else ""
        return f"cannot be compiled: {text}"
    return f"{type(error).__name__}: {' '.join(text.split())}"[:300]


_CAUSES = re.compile(
    r"Untyped global name '[^']*'|NameError: .*|Unknown attribute .*|No implementation of function "
    r"Function\(<(?!function)[^\n]*|missing a required argument: .*|Cannot unify .*|"
    r"too many positional arguments|Invalid use of [^\n]*"
)


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # Numba has no types
    """Tells Numba's cache the folder, whose name already stands for the sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return "named by the folder"

    def get_disambiguator(self) -> str:
        return self._name

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:  # noqa: ARG003
        return cls(py_func)


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of one kernel, with a folder per set of user modules and a lock while it is compiled."""

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._locked: list[str] = []  # kernels that this process is compiling, one within the other

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The cached code, waiting for another process that compiles it; None if there is none."""
        code = self._read(sig, target_context)
        if code is None and self._open_index(sig):
            self._lock(sig)
            code = self._read(sig, target_context)
            if code is not None:
                self.unlock()
        return code

    def _read(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context) if self._open_index(sig) else None
        except Exception:  # an unreadable file: compile it again
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache compiled code; if the disk is full, the next start compiles again."""
        try:
            if self._open_index(sig):
                super().save_overload(sig, data)
        except OSError:
            self.disable()
        finally:
            self.unlock()

    def _lock(self, sig: Any) -> None:
        self._locked.append(f"{self._impl.filename_base} {sig}")
        if (folder := cache_folder()) is not None:
            acquire(folder, self._locked[-1])

    def unlock(self) -> None:
        """Compiling has ended, or failed: let other processes read the cache."""
        if self._locked and (folder := cache_folder()) is not None:
            release(folder, self._locked.pop())

    def _open_index(self, sig: Any) -> bool:
        """Open the index of code for such types; False if it is not cached."""
        folder, modules = cache_folder(), set().union(*map(user_modules_of, sig))
        if folder is None or "__main__" in modules:  # each program has another __main__
            return False
        module = self._py_func.__module__
        if not is_tuplet(module):
            if self._py_func.__code__.co_filename != getattr(sys.modules.get(module), "__file__", 0):
                return False  # generated code
            modules.add(module)
        if modules:
            folder = user_folder(folder, frozenset(modules))
        if folder is not None:
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = caching.IndexDataCacheFile(str(folder), self._impl.filename_base, stamp)
        return folder is not None


class _CompileEvents(event.Listener):  # type: ignore[misc]
    """Counts kernels that are being compiled, and unlocks those that fail to compile."""

    def __init__(self) -> None:
        self.busy: set[Hashable] = set()

    def on_start(self, event: event.Event) -> None:
        """A kernel is being compiled."""
        self.busy.add(id(event.data["dispatcher"]))

    def on_end(self, event: event.Event) -> None:
        """It is compiled, or has failed to compile."""
        dispatcher, error = event.data["dispatcher"], event._exc_details  # (`is_failed` is true without a failure, too)
        self.busy.discard(id(dispatcher))
        if error is not None and isinstance(dispatcher._cache, _Cache):
            dispatcher._cache.unlock()


_events = _CompileEvents()
event.register("numba:compile", _events)


def compiling() -> bool:
    """True while a kernel is being compiled, in any thread; code read from the cache does not count."""
    return bool(_events.busy)
