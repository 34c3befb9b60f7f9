"""Single key presses from a terminal."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
LETTERS = {
    "w": "up", "a": "left", "s": "down", "d": "right",
    "k": "up", "j": "down", "l": "right",
}  # fmt: skip


class Keys:
    """Keys as they are pressed: "up", "left", ..., or the letter."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def wait(self, seconds: float | None = None) -> str | None:
        """The next key, or None if there is none in that time."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return None
        text = os.read(self._terminal, 32).decode(errors="ignore")
        if not text:
            return "q"  # the terminal is gone
        if text[0] == "\x1b":
            return ARROWS.get(text[2:3], "q" if len(text) == 1 else "?")
        if text[0] == "\x03":
            raise KeyboardInterrupt
        letter = text[0].lower()
        return LETTERS.get(letter, letter)


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
    try:
        tty.setcbreak(terminal)
        yield Keys(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
