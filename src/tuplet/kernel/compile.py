"""`@kernel` and `@inlined`: the only place where tuplet calls Numba's compiler.

Compiled code is kept in the user's cache folder, under a name that hashes the Numba version
and every source file that holds a kernel, or constants that such a file imports. Numba's own cache
looks only at the file a function stands in, and would go on serving old code after a helper in
another file changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import caching
from platformdirs import user_cache_path

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent.parent
_HOLDS_KERNELS = re.compile(rb"^(@kernel|@inlined|@intrinsic|@overload|register)", re.M)
_CONSTANTS = re.compile(rb"^from (tuplet[\w.]*) import (?:\([^)]*|.*)\b[A-Z][A-Z0-9_]+\b", re.M)
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


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where nothing can be written."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    try:
        root = Path(base, "tuplet") if base else user_cache_path("tuplet", appauthor=False)
        folder = root / f"kernels-{_sources_hash()}"
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old(folder.parent)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # unwritable, full, or no home folder
        return None
    return folder


def _remove_old(folder: Path) -> None:
    """Remove the code of versions that nobody has compiled for a month."""
    for old in folder.glob("kernels-*"):
        if time.time() - old.stat().st_mtime > 30 * 86400:
            shutil.rmtree(old, ignore_errors=True)


def _sources_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for name, source in sorted(kernel_sources().items()):
        digest.update(name.encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def kernel_sources() -> dict[str, bytes]:
    """The modules that hold kernels, and those that these take constants from, by name."""
    sources = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path.read_bytes()
        for path in PACKAGE.rglob("*.py")
    }
    found = {name for name in sources if name.startswith("tuplet.kernel.")}
    found |= {name for name, source in sources.items() if _HOLDS_KERNELS.search(source)}
    new = found
    while new:
        named = {home.decode() for module in new for home in _CONSTANTS.findall(sources[module])}
        new = (named & sources.keys()) - found
        found |= new
    return {name: sources[name] for name in found}


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # Numba has no types
    """Tells Numba's cache the folder above, and that its name already names the sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module = function.__module__
        self._line = function.__code__.co_firstlineno
        self._file = Path(function.__code__.co_filename)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        if self._file.resolve().is_relative_to(PACKAGE):
            return "named by the folder"
        return hashlib.sha256(self._file.read_bytes()).hexdigest()  # a kernel of somebody else's

    def get_disambiguator(self) -> str:
        return f"{self._module}.{self._line}"

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:  # noqa: ARG003
        return cls(py_func)


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code, if it is there; what is damaged is forgotten, and compiled again."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled code; a full disk costs the next start some seconds, no more.

        Code for types of somebody else's, a game or a learner, is not kept: who starts next may
        not have the module that they are from.
        """
        try:
            if all(map(_is_ours, sig)):
                super().save_overload(sig, data)
        except OSError:
            self.disable()


def _is_ours(kind: Any) -> bool:
    """Whether a type of compiled code can be read again by anybody who has tuplet."""
    if not isinstance(kind, types.BaseNamedTuple):
        return True
    return kind.instance_class.__module__.startswith("tuplet.") and all(map(_is_ours, kind))
