"""Where compiled code is cached, under names that stand for its sources.

Compiled code is in the user's cache folder, under a hash of the Numba version and of every source file that holds a
kernel, or constants that such a file imports. Numba's own cache looks only at the file that defines a function, and
would serve old code after a helper in another file has changed.

Code for a user's game or learner is in a folder `user-...` inside it, whose name hashes their module and what it
imports.
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
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
from numba import types
from platformdirs import user_cache_path

PACKAGE = Path(__file__).resolve().parent.parent
_HOLDS_KERNELS = re.compile(rb"^(@kernel|@inlined|@allocating|@intrinsic|@overload|register)", re.M)
_CONSTANTS = re.compile(rb"^from (tuplet[\w.]*) import (?:\([^)]*|.*)\b[A-Z][A-Z0-9_]+\b", re.M)
_INSTALLED = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
_STARTED = time.time()
_MODULES: dict[type, set[str]] = {}  # the modules that define the kernels of a type
_USER_FOLDERS: dict[frozenset[str], Path] = {}  # by user modules


def cache_root() -> Path:
    """The user's cache folder, or NUMBA_CACHE_DIR/tuplet if that is set."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    return Path(base, "tuplet") if base else user_cache_path("tuplet", appauthor=False)


@cache
def cache_folder() -> Path | None:
    """The folder of compiled kernels, or None if it cannot be written."""
    try:
        folder = cache_root() / f"kernels-{_digest({**kernel_sources(), 'numba': numba.__version__.encode()})}"
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old(folder.parent, "kernels-*")
        os.utime(folder)  # mark it as used
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # unwritable, full, or no home folder
        return None
    return folder


def _remove_old(folder: Path, names: str) -> None:
    """Remove folders that have not been used for a month."""
    for old in folder.glob(names):
        with suppress(FileNotFoundError):  # another process was faster
            if time.time() - old.stat().st_mtime > 30 * 86400:
                shutil.rmtree(old, ignore_errors=True)


def kernel_sources() -> dict[str, bytes]:
    """The sources of modules that hold kernels, and of those that they import constants from, by module name."""
    sources = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path.read_bytes()
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "templates"  # files for users, which tuplet does not import
    }
    chosen = {name for name in sources if name.startswith("tuplet.kernel.")}
    chosen |= {name for name, source in sources.items() if _HOLDS_KERNELS.search(source)}
    new = chosen
    while new:
        imported = {name.decode() for module in new for name in _CONSTANTS.findall(sources[module])}
        new = (imported & sources.keys()) - chosen
        chosen |= new
    return {name: sources[name] for name in chosen}


def note_module(kind: type, code: Callable[..., Any]) -> None:
    """Note that kernels of a type come from the module of `code`."""
    _MODULES.setdefault(kind, set()).add(code.__module__)


def user_sources(modules: frozenset[str]) -> dict[str, bytes] | None:
    """The sources of user modules and of the modules beside them that they import, by module name.

    None if they are unknown: a notebook, a module that is still being loaded, or one that was edited since the start.
    """
    sources: dict[str, bytes] = {}
    new = set(modules)
    while new:
        name = new.pop()
        module = sys.modules.get(name)
        path = Path(getattr(module, "__file__", None) or "")
        if module is None or not path.is_file():
            return None
        if path.stat().st_mtime > _STARTED or getattr(module.__spec__, "_initializing", False):
            return None
        sources[name] = path.read_bytes()
        if path.suffix == ".py":
            imported = _imports(module, sources[name])
            new |= {other for other in imported - sources.keys() if _is_beside(other, module)}
    return sources


def _imports(module: ModuleType, source: bytes) -> set[str]:
    """The loaded modules that a module imports, or whose objects it holds."""
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
    """True if a module is in the same package or folder as another, or at least not installed."""
    file = getattr(sys.modules[name], "__file__", None)
    if file is None or is_tuplet(name) or name == "__main__":
        return False
    path, other = Path(file), Path(module.__file__ or "")
    if name.split(".")[0] == module.__name__.split(".")[0] or path.parent == other.parent:
        return True
    return not any(path.is_relative_to(folder) for folder in _INSTALLED)


def user_code_digest(kind: type) -> str | None:
    """A hash of the code of a user's type; None if its sources are unknown."""
    sources = user_sources(frozenset({kind.__module__, *_MODULES.get(kind, ())} - {None}))
    return None if sources is None else _digest(sources)


def _digest(sources: dict[str, bytes]) -> str:
    return hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]


def _edited(name: str) -> bool:
    """True if a module's file was written since the program started."""
    try:
        return Path(sys.modules[name].__file__ or "").stat().st_mtime > _STARTED
    except (OSError, KeyError):
        return True


def user_folder(folder: Path, modules: frozenset[str]) -> Path | None:
    """The folder of code that depends on these user modules; None if it cannot be cached."""
    if modules in _USER_FOLDERS and any(_edited(name) for name in modules):
        return None  # and perhaps loaded again: what is compiled now is of another source
    if modules not in _USER_FOLDERS:
        try:
            sources = user_sources(modules)
        except (ImportError, SyntaxError, ValueError):
            sources = None
        if sources is None:
            return None
        own = folder / f"user-{_digest(sources)}"
        if not own.exists():
            _remove_old(folder, "user-*")
            own.mkdir(exist_ok=True)
        os.utime(own)  # it is in use
        _USER_FOLDERS[modules] = own
    return _USER_FOLDERS[modules]


def is_tuplet(name: str) -> bool:
    """True for tuplet's own modules."""
    return name.split(".")[0] == "tuplet"


def user_modules_of(kind: Any) -> set[str]:
    """The user modules that code for this type depends on."""
    if not isinstance(kind, types.BaseTuple):
        return set()
    modules = set().union(*map(user_modules_of, kind))
    if isinstance(kind, types.BaseNamedTuple):
        modules |= {kind.instance_class.__module__, *_MODULES.get(kind.instance_class, ())}
    return {name for name in modules if not is_tuplet(name)}
