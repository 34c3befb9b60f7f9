"""A flag that ends a long call early, from any thread."""

from __future__ import annotations

import threading


class Stop:
    """Asks a long call to end: it saves, and returns what is finished by then.

    Set from any thread, or by a signal handler. Kernels read `flag`.
    """

    def __init__(self) -> None:
        import numpy as np  # imported late: `tuplet --help` imports this module

        self._event, self.flag = threading.Event(), np.array([False])

    def set(self) -> None:
        """Ask to stop."""
        self._event.set()
        self.flag[0] = True

    def clear(self) -> None:
        """Withdraw the request."""
        self._event.clear()
        self.flag[0] = False

    def is_set(self) -> bool:
        """True once `set` was called."""
        return self._event.is_set()


class Stopped(Exception):  # noqa: N818  # not an error: it was requested
    """Raised by a call that was stopped before it had anything to return."""
