"""Single key presses from a terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
LETTERS = {
    "w": "up", "a": "left", "s": "down", "d": "right",
    "k": "up", "j": "down", "l": "right",
}  # fmt: skip

FASTER, SLOWER = ("+", "=", "up", "right"), ("-", "_", "down", "left")


def changed(speed: int, key: str, speeds: int) -> int:
    """A speed, of so many, after one of these keys."""
    return min(speed + 1, speeds - 1) if key in FASTER else max(speed - 1, 0)


class Keys:
    """Keys as they are pressed: "up", "left", ..., or the letter."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._typed: deque[str] = deque()

    def wait(self, seconds: float | None = None) -> str | None:
        """The next key, or None if there is none in that time."""
        if not self._typed and select.select([self._terminal], [], [], seconds)[0]:
            text = os.read(self._terminal, 1024).decode(errors="ignore")
            # "q" when the terminal is gone; an escape sequence is one key.
            self._typed.extend(re.findall(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", text, re.S) or "q")
        if not self._typed:
            return None
        key = self._typed.popleft()
        if key == "\x03":
            raise KeyboardInterrupt
        if key[0] == "\x1b":
            return ARROWS.get(key[-1], "?") if len(key) > 1 else "q"
        return LETTERS.get(key.lower(), key.lower())


@contextmanager
def pressed_keys() -> Iterator[Keys]:
    """Read keys without waiting for Enter; the terminal is put back in order afterwards."""
    try:
        import termios
        import tty
    except ImportError:  # pragma: no cover
        raise ValueError("playing needs a Unix terminal: use WSL on Windows") from None
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    suspend = signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # would leave a screen half set up
    try:
        tty.setcbreak(terminal)
        yield Keys(terminal)
    finally:
        signal.signal(signal.SIGTSTP, suspend)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
