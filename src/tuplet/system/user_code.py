"""Users' code by name (`module:Name` or `path/to/file.py:Name`), imported only from trusted text.

All code that a text names is imported here, in `find`, and only if the caller says that the text is trusted: typed by
the person whose process this is. Nothing is trusted by default.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import PathFinder
from pathlib import Path
from threading import RLock
from traceback import extract_tb
from types import ModuleType
from typing import Any

from tuplet.errors import UserError

_loading = RLock()  # a module is in sys.modules before it has run
_untrusted: ContextVar[bool] = ContextVar("untrusted_input", default=False)


@contextmanager
def untrusted_input() -> Iterator[None]:
    """Trust no text inside the `with` block, whatever the caller says: a server answers requests so.

    The public functions take plain text as typed by their caller. A server calls them for others, whose text must not
    become its own. (A thread does not inherit this: start it with `contextvars.copy_context().run`.)
    """
    before = _untrusted.set(True)
    try:
        yield
    finally:
        _untrusted.reset(before)


def may_trust() -> bool:
    """False inside `untrusted_input`."""
    return not _untrusted.get()


def names_code(text: str) -> bool:
    """True if a text has the form of such a name."""
    module, _, name = text.rpartition(":")
    return name.isidentifier() and (module.endswith(".py") or all(part.isidentifier() for part in module.split(".")))


def find(text: str, what: str = "class", *, trusted: bool = False) -> Any:
    """Import what a trusted text names; UserError says why it cannot be found."""
    if not (trusted and may_trust()):
        raise UserError(f"{text!r}: the code of a {what} cannot be named from here")
    source, _, name = text.rpartition(":")
    try:
        with _loading:
            module = _import_file(Path(source)) if source.endswith(".py") else _import_name(source)
    except Exception as error:
        raise UserError(f"cannot import {source}: {locate_error(error)}") from error
    if not hasattr(module, name):
        raise UserError(f"module {module.__name__} has no {what} {name}")
    return getattr(module, name)


def locate_error(error: Exception) -> str:
    """An error in a user's code, and its place: `NameError: ... (mine.py, line 3)`."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):  # which names the place itself
        return text
    libraries = ("<", str(Path(importlib.__file__).parents[1]), str(Path(__file__).parents[1]))
    calls = [
        call
        for call in extract_tb(error.__traceback__)
        if not call.filename.startswith(libraries) and "-packages" not in call.filename
    ]
    return f"{text} ({Path(calls[-1].filename).name}, line {calls[-1].lineno})" if calls else text


def _import_name(name: str) -> ModuleType:
    """A module of the current folder, or an installed one.

    The folder comes last on the path, so that a file there does not hide a library of the same name.
    """
    here = Path(f"{name}.py")
    if here.is_file():
        return _import_file(here)
    if "" not in sys.path:
        sys.path.append("")
    return importlib.import_module(name)


def _import_file(path: Path) -> ModuleType:
    """Import a file once, as a module of its name; modules beside it can be imported."""
    path = path.resolve()
    folder, name = str(path.parent), path.stem
    known = sys.modules.get(name)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == path:
        return known
    if known is not None or is_library(name):
        raise ImportError(f"there is another module called {name}: rename the file {path.name}")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path.name} in {path.parent}")
    if folder not in sys.path:
        sys.path.append(folder)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def is_library(name: str) -> bool:
    """True if a module of this name comes with Python or is installed: it may be imported later."""
    installed = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    spec = PathFinder.find_spec(name, installed)
    return name in sys.stdlib_module_names or (spec is not None and spec.origin is not None)
