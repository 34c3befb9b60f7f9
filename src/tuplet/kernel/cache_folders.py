"""Where compiled code is kept, and of which sources it is.

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
_HOLDS_KERNELS = re.compile(rb"^(@kernel|@inlined|@intrinsic|@overload|register)", re.M)
_CONSTANTS = re.compile(rb"^from (tuplet[\w.]*) import (?:\([^)]*|.*)\b[A-Z][A-Z0-9_]+\b", re.M)
_INSTALLED = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
_STARTED = time.time()
_HOMES: dict[type, set[str]] = {}  # the modules that a type's code is from
_OWN: dict[frozenset[str], Path] = {}  # their folders, by the modules


def cache_root() -> Path:
    """The user's cache folder: NUMBA_CACHE_DIR/tuplet if that is set."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    return Path(base, "tuplet") if base else user_cache_path("tuplet", appauthor=False)


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where nothing can be written."""
    try:
        folder = cache_root() / f"kernels-{_sources_hash()}"
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old(folder.parent, "kernels-*")
        os.utime(folder)  # it is in use
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
    if file is None or is_ours(name) or name == "__main__":
        return False
    path, other = Path(file), Path(module.__file__ or "")
    if name.split(".")[0] == module.__name__.split(".")[0] or path.parent == other.parent:
        return True
    return not any(path.is_relative_to(folder) for folder in _INSTALLED)


def user_code_digest(kind: type) -> str | None:
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


def own_folder(folder: Path, homes: frozenset[str]) -> Path | None:
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


def is_ours(name: str) -> bool:
    """Whether a module is tuplet's."""
    return name.split(".")[0] == "tuplet"


def homes_of(kind: Any) -> set[str]:
    """The modules of others that code for this type rests on."""
    if not isinstance(kind, types.BaseTuple):
        return set()
    homes = set().union(*map(homes_of, kind))
    if isinstance(kind, types.BaseNamedTuple):
        homes |= {kind.instance_class.__module__, *_HOMES.get(kind.instance_class, ())}
    return {name for name in homes if not is_ours(name)}
