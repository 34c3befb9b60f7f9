"""Whether something is being compiled just now: for those who wait, and would like to know why."""

from __future__ import annotations

from collections.abc import Hashable

from numba.core import event


class _Compiler(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Keeps account of what the compiler has begun and not finished; machine code that is read
    from the cache is not compiled.
    """

    def __init__(self) -> None:
        self.busy: set[Hashable] = set()

    def on_start(self, event: event.Event) -> None:
        """A function is being compiled."""
        self.busy.add(id(event.data["dispatcher"]))

    def on_end(self, event: event.Event) -> None:
        """It is done, or cannot be."""
        self.busy.discard(id(event.data["dispatcher"]))


_compiler = _Compiler()
event.register("numba:compile", _compiler)


def compiling() -> bool:
    """Whether a kernel is being compiled just now, in whatever thread."""
    return bool(_compiler.busy)
