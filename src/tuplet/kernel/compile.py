"""`@kernel` and `@inlined`: the only place where tuplet calls Numba's compiler.

Compiled code is kept in the user's cache folder, under a name that hashes the Numba version
and every source file that holds a kernel, or constants that such a file imports. Numba's own cache
looks only at the file a function stands in, and would go on serving old code after a helper in
another file changed.

Code for a game or a learner of somebody's own has a folder beside it, `own-...`, whose name hashes
their module and what it imports: nobody who does not have them ever looks there.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import caching, errors
from platformdirs import user_cache_path

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent.parent
_HOLDS_KERNELS = re.compile(rb"^(@kernel|@inlined|@intrinsic|@overload|register)", re.M)
_CONSTANTS = re.compile(rb"^from (tuplet[\w.]*) import (?:\([^)]*|.*)\b[A-Z][A-Z0-9_]+\b", re.M)
_INSTALLED = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
_STARTED = time.time()
_HOMES: dict[type, set[str]] = {}  # the modules that a type's code is from
_OWN: dict[frozenset[str], Path] = {}  # their folders, by the modules
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


def told(error: BaseException) -> str:
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


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where nothing can be written."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    try:
        root = Path(base, "tuplet") if base else user_cache_path("tuplet", appauthor=False)
        folder = root / f"kernels-{_sources_hash()}"
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old(folder.parent, "kernels-*")
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # unwritable, full, or no home folder
        return None
    return folder


def _remove_old(folder: Path, names: str) -> None:
    """Remove the code that nobody has used for a month."""
    for old in folder.glob(names):
        with suppress(FileNotFoundError):  # another process was faster
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
        if path.parent.name != "templates"  # users' files: they hold nothing of ours
    }
    found = {name for name in sources if name.startswith("tuplet.kernel.")}
    found |= {name for name, source in sources.items() if _HOLDS_KERNELS.search(source)}
    new = found
    while new:
        named = {home.decode() for module in new for home in _CONSTANTS.findall(sources[module])}
        new = (named & sources.keys()) - found
        found |= new
    return {name: sources[name] for name in found}


def comes_from(kind: type, code: Callable[..., Any]) -> None:
    """Note that what kernels do with a type is also up to the module of `code`."""
    _HOMES.setdefault(kind, set()).add(code.__module__)


def own_sources(homes: frozenset[str]) -> dict[str, bytes] | None:
    """Somebody's modules and what they import from beside them, by name.

    None where that cannot be told: a notebook, a module that is still being loaded, or one that
    was edited since.
    """
    found: dict[str, bytes] = {}
    new = set(homes)
    while new:
        name = new.pop()
        module = sys.modules.get(name)
        path = Path(getattr(module, "__file__", None) or "")
        if module is None or not path.is_file():
            return None
        if path.stat().st_mtime > _STARTED or getattr(module.__spec__, "_initializing", False):
            return None
        found[name] = path.read_bytes()
        if path.suffix == ".py":
            imported = _imports(module, found[name])
            new |= {other for other in imported - found.keys() if _is_beside(other, module)}
    return found


def _imports(module: ModuleType, source: bytes) -> set[str]:
    """The loaded modules that a module imports, or has things of."""
    names = {getattr(thing, "__module__", None) for thing in vars(module).values()}
    names |= {t.__name__ for t in vars(module).values() if isinstance(t, ModuleType)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), module.__package__ or "")
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    texts = {name for name in names if isinstance(name, str)}
    packages = {name[:i] for name in texts for i, c in enumerate(name) if c == "."}
    return (texts | packages) & sys.modules.keys()


def _is_beside(name: str, module: ModuleType) -> bool:
    """Whether a module is of the same package or folder as another, or at least not installed."""
    file = getattr(sys.modules[name], "__file__", None)
    if file is None or _is_ours(name) or name == "__main__":
        return False
    path, other = Path(file), Path(module.__file__ or "")
    if name.split(".")[0] == module.__name__.split(".")[0] or path.parent == other.parent:
        return True
    return not any(path.is_relative_to(folder) for folder in _INSTALLED)


def own_digest(kind: type) -> str | None:
    """What the code of somebody's own type hashes to; None where that cannot be told."""
    sources = own_sources(frozenset({kind.__module__, *_HOMES.get(kind, ())} - {None}))
    return None if sources is None else _digest(sources)


def _digest(sources: dict[str, bytes]) -> str:
    return hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]


def _edited(name: str) -> bool:
    """Whether a module's file was written since the program began."""
    try:
        return Path(sys.modules[name].__file__ or "").stat().st_mtime > _STARTED
    except (OSError, KeyError):
        return True


def _own_folder(folder: Path, homes: frozenset[str]) -> Path | None:
    """Where code is kept that rests on these modules of others, too."""
    if homes in _OWN and any(_edited(name) for name in homes):
        return None  # and perhaps loaded again: what is compiled now is of another source
    if homes not in _OWN:
        try:
            sources = own_sources(homes)
        except (ImportError, SyntaxError, ValueError):
            sources = None
        if sources is None:
            return None
        own = folder / f"own-{_digest(sources)}"
        if not own.exists():
            _remove_old(folder, "own-*")
            own.mkdir(exist_ok=True)
        os.utime(own)  # it is in use
        _OWN[homes] = own
    return _OWN[homes]


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == "tuplet"


def _homes(kind: Any) -> set[str]:
    """The modules of others that code for this type rests on."""
    if not isinstance(kind, types.BaseTuple):
        return set()
    homes = set().union(*map(_homes, kind))
    if isinstance(kind, types.BaseNamedTuple):
        homes |= {kind.instance_class.__module__, *_HOMES.get(kind.instance_class, ())}
    return {name for name in homes if not _is_ours(name)}


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
            raise ValueError(str(error)) from None

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
        raise ValueError(f"{path} is damaged")
    return stored[32:]


@cache
def _tell_of_damage() -> None:
    """Once, however many files are damaged."""
    warnings.warn(
        f"compiled code kept in {cache_folder()} was damaged: it is compiled again, which takes "
        "some seconds",
        stacklevel=2,
    )


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code, if it is there; what is damaged is compiled and written again."""
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

    def _turn_to(self, sig: Any) -> bool:
        """Open the index that has code for such types; False if there is none."""
        folder, homes = cache_folder(), set().union(*map(_homes, sig))
        if folder is None or "__main__" in homes:  # others have another __main__
            return False
        home = self._py_func.__module__
        if not _is_ours(home):
            if self._py_func.__code__.co_filename != getattr(sys.modules.get(home), "__file__", 0):
                return False  # written by a program
            homes.add(home)
        if homes:
            folder = _own_folder(folder, frozenset(homes))
        if folder is not None:
            self._cache_file = _CacheFile(
                str(folder), self._impl.filename_base, self._impl.locator.get_source_stamp()
            )
        return folder is not None
