"""At home in other people's libraries: an adapter each, and each library is an extra.

Nothing of tuplet imports this room but somebody who asks for an adapter by its name.
"""

from __future__ import annotations

from collections.abc import Iterable

from tuplet.errors import UserError


def one_of(name: str, given: str, known: Iterable[str]) -> str:
    """What was given, if it is one of those that exist; ValueError otherwise."""
    if given not in (known := tuple(known)):
        raise UserError(f"{name} is one of {', '.join(known)}, not {given!r}")
    return given


def missing(error: ModuleNotFoundError, library: str, extra: str) -> ModuleNotFoundError:
    """What to say where an adapter's library is not installed: one line, with what to do."""
    if (error.name or "").partition(".")[0] != library:
        return error  # the library is here, and lacks something itself
    return ModuleNotFoundError(f"this needs {library}: install it with  pip install 'tuplet[{extra}]'", name=error.name)
