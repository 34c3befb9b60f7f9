"""How a long call is told to end early, from any thread."""

from __future__ import annotations

import threading


class Stop:
    """Ask a long call to end: it saves, and returns what is finished by then.

    Set from any thread, or by a signal handler. Kernels look at `flag`.
    """

    def __init__(self) -> None:
        import numpy as np  # not at once: `tuplet --help` knows this module

        self._event, self.flag = threading.Event(), np.array([False])

    def set(self) -> None:
        """Ask to stop."""
        self._event.set()
        self.flag[0] = True

    def clear(self) -> None:
        """Take it back."""
        self._event.clear()
        self.flag[0] = False

    def is_set(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()


class Stopped(Exception):  # noqa: N818  # nothing went wrong: it was asked for
    """Raised by a call that was told to stop before it had anything to return."""
