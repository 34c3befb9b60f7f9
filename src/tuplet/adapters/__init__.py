"""Optional integrations: Gymnasium, PettingZoo, OpenSpiel, TensorBoard.

Each library is an extra. tuplet imports an adapter only when it is named.
"""

from __future__ import annotations

from collections.abc import Iterable

from tuplet.errors import UserError


def one_of(name: str, given: str, known: Iterable[str]) -> str:
    """A checked choice."""
    if given not in (known := tuple(known)):
        raise UserError(f"{name} must be one of {', '.join(known)} (got {given!r})")
    return given


def missing(error: ModuleNotFoundError, library: str, extra: str) -> ModuleNotFoundError:
    """The error for a library that is not installed: one line, with what to do."""
    if (error.name or "").partition(".")[0] != library:
        return error  # the library is installed, and lacks something itself
    return ModuleNotFoundError(f"this needs {library}: install it with  pip install 'tuplet[{extra}]'", name=error.name)
