"""Other people's code by name: `module:Name`, or `path/to/file.py:Name`; and who may name it.

All code that a text names is imported here, in `find`, and only where the caller says that the text
is trusted: typed by the person whose process this is. Nothing is trusted by default.
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

_loading = RLock()  # a module is seen before it has run
_for_strangers: ContextVar[bool] = ContextVar("untrusted_input", default=False)


@contextmanager
def untrusted_input() -> Iterator[None]:
    """Within, no text is trusted, whatever the caller says: a server answers requests so.

    The public functions take a plain text as typed by the person who calls them. A server calls
    them for somebody else, and must not pass a stranger's text on as its own. (A thread does not
    inherit this: start it with `contextvars.copy_context().run`.)
    """
    before = _for_strangers.set(True)
    try:
        yield
    finally:
        _for_strangers.reset(before)


def may_trust() -> bool:
    """Whether a text can be trusted here at all."""
    return not _for_strangers.get()


def names_code(text: str) -> bool:
    """Whether a text has the form of such a name."""
    home, _, name = text.rpartition(":")
    return name.isidentifier() and (home.endswith(".py") or all(part.isidentifier() for part in home.split(".")))


def find(text: str, what: str = "class", *, trusted: bool = False) -> Any:
    """What a text that is trusted names; ValueError says why it is not found."""
    if not (trusted and may_trust()):
        raise UserError(f"{text!r}: the code of a {what} cannot be named from here")
    home, _, name = text.rpartition(":")
    try:
        with _loading:
            module = _of_file(Path(home)) if home.endswith(".py") else _of_name(home)
    except Exception as error:
        raise UserError(f"cannot import {home}: {told(error)}") from None
    if not hasattr(module, name):
        raise UserError(f"module {module.__name__} has no {what} {name}")
    return getattr(module, name)


def told(error: Exception) -> str:
    """What went wrong in somebody's own code, and where: `NameError: ... (mine.py, line 3)`."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):  # which says where itself
        return text
    libraries = ("<", str(Path(importlib.__file__).parents[1]), str(Path(__file__).parents[1]))
    calls = [
        call
        for call in extract_tb(error.__traceback__)
        if not call.filename.startswith(libraries) and "-packages" not in call.filename
    ]
    return f"{text} ({Path(calls[-1].filename).name}, line {calls[-1].lineno})" if calls else text


def _of_name(home: str) -> ModuleType:
    """A module of the folder that the command was typed in, or an installed one.

    The folder comes last on the path: a file there that happens to be called like a library is not
    taken for it, by whoever imports that library.
    """
    here = Path(f"{home}.py")
    if here.is_file():
        return _of_file(here)
    if "" not in sys.path:
        sys.path.append("")
    return importlib.import_module(home)


def _of_file(path: Path) -> ModuleType:
    """A file as a module that is named after it, once; what stands beside it can be imported."""
    path = path.resolve()
    folder, name = str(path.parent), path.stem
    known = sys.modules.get(name)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == path:
        return known
    if known is not None or _is_library(name):
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


def _is_library(name: str) -> bool:
    """Whether a module of this name comes with Python or was installed: it may be needed yet."""
    installed = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    found = PathFinder.find_spec(name, installed)
    return name in sys.stdlib_module_names or (found is not None and found.origin is not None)
