"""A terminal to play at: pictures of its size, and keys; left as it was found.

Whatever happens, the window's size included, is noticed in `Screen.wait`, the only place to wait.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.screen import Screen as Page

from tuplet.cli.ascii_fallback import has_signs, plain
from tuplet.cli.common import handling_signals
from tuplet.errors import UserError

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
LETTERS = {"w": "up", "a": "left", "s": "down", "d": "right", "k": "up", "j": "down", "l": "right"}

ESCAPE = "escape"  # the key alone
UNKNOWN = "?"  # a key, or whatever else a terminal reports, that has no meaning here
FASTER, SLOWER = ("+", "=", "up", "right"), ("-", "_", "down", "left")

# One after another, each is one key: what mice, pastes and terminals report, keys with a sequence
# of their own, Alt and a key, and characters of one to four bytes.
_KEY = re.compile(
    rb"""\x1b\[M.{3}                          # a mouse, as of old
    |\x1b\[200~.*?\x1b\[201~                  # a paste
    |\x1b{1,2}\[\[[A-E]                       # function keys of the Linux console
    |\x1b{1,2}\[(?!\[|M|200~)[0-?]*[ -/]*[@-~]
    |\x1b{1,2}O[ -~]
    |\x1b[P\]X^_].*?(?:\x07|\x1b\\)           # an unexpected answer of the terminal
    |\x1b(?![\[OP\]X^_\x1b])(?:[\x00-\x7f]|[\xc2-\xf4][\x80-\xbf]+)
    |[\x00-\x1a\x1c-\x7f]
    |[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}
    |(?:[\xc2-\xf4][\x80-\xbf]{0,2}(?=[^\x80-\xbf])|[\x80-\xc1\xf5-\xff])  # no character
    """,
    re.S | re.X,
)

# What may become one of these with more bytes.
_BEGUN = re.compile(
    rb"""\x1b{1,2}(?:\[[0-?]*[ -/]*|O|\[\[)?|\x1b\[M.{0,2}|\x1b\[200~.*|\x1b[P\]X^_].*
    |\x1b?(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})""",
    re.S | re.X,
)


def changed(speed: int, key: str, speeds: int) -> int:
    """A speed after one of these keys; there are `speeds` of them."""
    return min(speed + 1, speeds - 1) if key in FASTER else max(speed - 1, 0)


class KeyReader:
    """Bytes to keys: "up", "left", ..., the character in lower case, ESCAPE or UNKNOWN."""

    def __init__(self) -> None:
        self._begun = b""  # of a key that has not arrived whole

    @property
    def unfinished(self) -> bool:
        """Whether more of a key is to be expected at once."""
        return bool(self._begun)

    def keys(self, data: bytes) -> list[str]:
        """The keys that are complete with these bytes."""
        text, at, keys = self._begun + data, 0, []
        while at < len(text):
            match = _KEY.match(text, at)
            if match is None and _BEGUN.fullmatch(text, at):
                break
            keys.append(_named(match[0]) if match else ESCAPE)  # Esc, and then something else
            at = match.end() if match else at + 1
        self._begun = text[at:]
        return keys

    def give_up(self) -> list[str]:
        """No more has come: Esc was pressed, or something was cut off, which is no key."""
        begun, self._begun = self._begun, b""
        return [ESCAPE if begun in (b"\x1b", b"\x1b\x1b") else UNKNOWN] if begun else []


def _named(key: bytes) -> str:
    if key[0] == 0x1B:
        sent = re.fullmatch(rb"\x1b{1,2}(?:\[[0-9;]*|O)([A-D])", key)
        return ARROWS[sent[1].decode()] if sent else UNKNOWN
    text = key.decode("utf-8", "ignore").lower()
    return LETTERS.get(text, text) or UNKNOWN


Size = tuple[int, int]  # columns and lines
Picture = Callable[[int, int], RenderableType]  # of a window of these columns and lines

# Another screen, no cursor, and pastes that differ from keys; and all back again.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J", "\x1b[?2004l\x1b[?25h\x1b[?1049l"
_SEQUENCE = 0.1  # seconds until the rest of a key has come, over any line


class Screen:
    """Where a game is drawn and keys are pressed."""

    def __init__(self, terminal: int, wake: int) -> None:
        self._terminal, self._wake = terminal, wake
        self._reader, self._typed = KeyReader(), deque[str]()
        self._picture: Picture | None = None
        self._shown = ""
        self.console = Console(file=sys.stdout, highlight=False)
        self.dumb = self.console.is_dumb_terminal
        self.resized = self.left = False  # set by signals

    def draw(self, picture: Picture, *, again: bool = False) -> None:
        """Show a picture, and show it anew whenever the window changes.

        `again`: it is the one before but for a clock: a terminal that cannot draw over what it has
        shown shows it once.
        """
        self._picture = picture
        if self.dumb:
            text = as_text(self.console, picture)
            if text != self._shown and not again:
                self._write(f"\n{text}")
                self._shown = text
            return
        size = window()
        self.console.size = ConsoleDimensions(*size)
        with self.console.capture() as capture:
            self.console.print(Page(picture(*size)), end="")
        self._write(f"\x1b[H{capture.get()}")

    def _write(self, text: str) -> None:
        try:
            sys.stdout.write(text if has_signs(sys.stdout) else plain(text))
            sys.stdout.flush()
        except OSError:  # the terminal is gone
            raise KeyboardInterrupt from None

    def wait(self, seconds: float | None = None) -> str | None:
        """The next key, or None if there is none in that time.

        Raises KeyboardInterrupt when the program is asked to end, or the terminal is gone.
        """
        until = None if seconds is None else time.perf_counter() + seconds
        while True:
            if self.left:
                raise KeyboardInterrupt
            if self.resized:
                self.resized = False
                if self._picture is not None:
                    self.draw(self._picture)
            if self._typed:
                return self._typed.popleft()
            left = None if until is None else max(0.0, until - time.perf_counter())
            if self._reader.unfinished:
                left = _SEQUENCE
            ready = select.select([self._terminal, self._wake], [], [], left)[0]
            if self._wake in ready:
                os.read(self._wake, 1024)
            elif self._terminal in ready:
                self._typed.extend(self._reader.keys(self._read()))
            elif self._reader.unfinished:
                self._typed.extend(self._reader.give_up())
            else:
                return None

    def _read(self) -> bytes:
        with suppress(OSError):
            data = os.read(self._terminal, 1024)
            if data:
                return data
        raise KeyboardInterrupt  # the terminal is gone


def window() -> Size:
    """The window's size, as it is now."""
    for stream in (sys.stdout, sys.stdin, sys.stderr):
        with suppress(OSError, ValueError):
            columns, lines = os.get_terminal_size(stream.fileno())
            if columns and lines:
                return columns, lines
    return 80, 24


def as_text(console: Console, picture: Picture) -> str:
    """A picture that is printed, and scrolls by."""
    columns, lines = window()
    with console.capture() as capture:
        console.print(picture(columns, max(lines, 24)))
    return capture.get()


def print_picture(picture: Picture) -> None:
    """Leave a picture on the terminal for good."""
    text = as_text(Console(file=sys.stdout, highlight=False), picture)
    print(text if has_signs(sys.stdout) else plain(text), end="")


@contextmanager
def screen() -> Iterator[Screen]:
    """A terminal to play at; it is put back in order afterwards, however that comes."""
    try:
        import termios
        import tty
    except ImportError:  # pragma: no cover
        raise UserError("playing needs a Unix terminal: use WSL on Windows") from None
    terminal = sys.stdin.fileno()
    wake, waking = os.pipe()
    os.set_blocking(waking, False)
    table = Screen(terminal, wake)

    def leave(*_: Any) -> None:
        if table.left:  # asked for the second time: do not wait
            raise KeyboardInterrupt
        table.left = True

    def resize(*_: Any) -> None:
        table.resized = True

    before = termios.tcgetattr(terminal)
    with ExitStack() as stack:
        stack.callback(os.close, wake)
        stack.callback(os.close, waking)
        stack.enter_context(handling_signals(leave, "SIGINT", "SIGTERM", "SIGHUP"))
        stack.enter_context(handling_signals(resize, "SIGWINCH"))
        stack.enter_context(handling_signals(signal.SIG_IGN, "SIGTSTP"))  # would leave half a screen
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(waking, warn_on_full_buffer=False))
        stack.callback(_put_back, terminal, before, table.dumb)
        tty.setcbreak(terminal)
        if not table.dumb:
            sys.stdout.write(_ENTER)
            sys.stdout.flush()
        yield table


def _put_back(terminal: int, before: Any, dumb: bool) -> None:
    import termios

    with suppress(OSError, ValueError):  # it may be gone
        if not dumb:
            sys.stdout.write(_LEAVE)
        sys.stdout.flush()
    with suppress(OSError, termios.error):
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
