"""`@kernel` and `@inlined`: the only place where tuplet calls Numba's compiler.

Machine code is kept in a folder that is named by its sources (`folders.py`). Processes that need
the same kernel take turns: one compiles it, the others read its code (`turns.py`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, errors, event

from tuplet.errors import UserError
from tuplet.kernel.cache_folders import cache_folder, homes_of, is_ours, own_folder
from tuplet.kernel.compile_lock import leave, take

F = TypeVar("F", bound=Callable[..., Any])

INLINED = {"forceinline": True}  # also the `jit_options` of an inlined overload


def kernel(function: F) -> F:
    """Compile `function` when first called, without the GIL, and cache the machine code.

    Division follows IEEE rules (no ZeroDivisionError); sums are never reordered, so that the
    same seed gives the same bytes.
    """
    return _compiled(function)


def inlined(function: F) -> F:
    """A kernel whose machine code is copied into each kernel that calls it.

    For the few helpers of the inner loop. Numba hands an array over as seven words on the
    stack, and LLVM leaves the larger helpers as calls: a move of 2048 took 22 % longer on a
    network small enough for the cache, 5 to 10 % on 4x6.
    """
    return _compiled(function, **INLINED)


def _compiled(function: F, **options: Any) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if compiled is not function and cache_folder() is not None:
        compiled._cache = _Cache(function)
    return compiled  # type: ignore[no-any-return]  # Numba has no types


def describe_error(error: BaseException) -> str:
    """What went wrong, in one line; of what the compiler says, what matters."""
    text = str(error)
    if isinstance(error, errors.NumbaError):
        found = _MATTERS.findall(text)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        text = found[-1] if found else lines[-1] if lines else ""
        return f"cannot be compiled: {text}"
    return f"{type(error).__name__}: {' '.join(text.split())}"[:300]


_MATTERS = re.compile(
    r"Untyped global name '[^']*'|NameError: .*|Unknown attribute .*|No implementation of function "
    r"Function\(<(?!function)[^\n]*|missing a required argument: .*|Cannot unify .*|"
    r"too many positional arguments|Invalid use of [^\n]*"
)


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # Numba has no types
    """Tells Numba's cache the folder above, and that its name already names the sources."""

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


class _CacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index of a kernel's machine code, and the code itself, each behind its checksum.

    Numba would run whatever can still be unpickled. Here damage is found before it runs.
    """

    def _load_index(self) -> dict[Any, str]:
        with suppress(FileNotFoundError):
            stamp, code = caching.pickle.loads(_unsealed(self._index_path))
            return code if stamp == self._source_stamp else {}
        return {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        try:
            return caching.pickle.loads(_unsealed(self._data_path(name)))
        except FileNotFoundError:  # Numba knows what to do: it was removed meanwhile
            raise
        except OSError as error:  # a folder stands there, or the disk fails
            raise UserError(str(error)) from None

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, what: Any) -> None:
        data = self._dump(what)
        if Path(path).is_dir():  # whoever put it there
            shutil.rmtree(path)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)


def _unsealed(path: str) -> bytes:
    """What stands behind the checksum; ValueError if it is not what was written."""
    stored = Path(path).read_bytes()
    if hashlib.sha256(stored[32:]).digest() != stored[:32]:
        raise UserError(f"{path} is damaged")
    return stored[32:]


@cache
def _tell_of_damage() -> None:
    """Once, however many files are damaged."""
    warnings.warn(
        f"compiled code kept in {cache_folder()} was damaged: it is compiled again, which takes some seconds",
        stacklevel=2,
    )


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._begun: list[str] = []  # what this process is compiling, one within the other

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code, if it is there, or as soon as another process has it."""
        found = self._read(sig, target_context)
        if found is None and self._turn_to(sig):
            self._begin(sig)
            found = self._read(sig, target_context)
            if found is not None:
                self.end()
        return found

    def _read(self, sig: Any, target_context: Any) -> Any:
        """The code that is there; what is damaged is compiled and written again."""
        try:
            return super().load_overload(sig, target_context) if self._turn_to(sig) else None
        except Exception:
            _tell_of_damage()
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled code; a full disk costs the next start some seconds, no more."""
        try:
            if self._turn_to(sig):
                super().save_overload(sig, data)
        except OSError:
            self.disable()
        finally:
            self.end()

    def _begin(self, sig: Any) -> None:
        """Wait until nobody else compiles this."""
        self._begun.append(f"{self._impl.filename_base} {sig}")
        if (folder := cache_folder()) is not None:
            take(folder, self._begun[-1])

    def end(self) -> None:
        """It is compiled, or cannot be: let others look."""
        if self._begun and (folder := cache_folder()) is not None:
            leave(folder, self._begun.pop())

    def _turn_to(self, sig: Any) -> bool:
        """Open the index that has code for such types; False if there is none."""
        folder, homes = cache_folder(), set().union(*map(homes_of, sig))
        if folder is None or "__main__" in homes:  # others have another __main__
            return False
        home = self._py_func.__module__
        if not is_ours(home):
            if self._py_func.__code__.co_filename != getattr(sys.modules.get(home), "__file__", 0):
                return False  # written by a program
            homes.add(home)
        if homes:
            folder = own_folder(folder, frozenset(homes))
        if folder is not None:
            self._cache_file = _CacheFile(str(folder), self._impl.filename_base, self._impl.locator.get_source_stamp())
        return folder is not None


class _Failures(event.Listener):  # type: ignore[misc]
    """What cannot be compiled is not waited for."""

    def on_start(self, event: event.Event) -> None:
        """A function is being compiled."""

    def on_end(self, event: event.Event) -> None:
        """It is done, or cannot be."""
        kept, error = event.data["dispatcher"]._cache, event._exc_details  # (`is_failed` is
        if error is not None and isinstance(kept, _Cache):  # true where nothing has failed)
            kept.end()


event.register("numba:compile", _Failures())
