"""A terminal for tests: a command runs in it and is sent keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from codecs import getincrementaldecoder


def at_terminal(
    keys: list[tuple[str, str]],
    *arguments: object,
    before: str = "",
    lines: int = 40,
    columns: int = 100,
    patience: float = 60,
    code: int = 0,
    left: list[float] | None = None,
) -> str:
    """Run a command in a terminal; each key is sent once its cue has been seen. The screen.

    `before` is Python to run first, such as an agent of the test's own; `code` the exit code. A key
    `30x10` changes the size of the window instead, `TERM` and the like send a signal. `left` gets
    the times of the keys.
    """
    words = list(map(str, arguments))
    program = f"{before}\nimport sys; from tuplet.cli import main; sys.argv[1:] = {words}; main()"
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = os.environ.get("TEST_TERM", "xterm-256color")
        for name in ("COLUMNS", "LINES"):  # the window may change
            os.environ.pop(name, None)
        os.execv(sys.executable, [sys.executable, "-c", program])
    _resize(terminal, columns, lines)
    seen, waiting, deadline = "", list(keys), time.time() + patience
    since, decoder = 0, getincrementaldecoder("utf-8")("replace")
    while time.time() < deadline:
        if waiting and waiting[0][0] in plain(seen[since:]):
            since = len(seen)
            if left is not None:
                left.append(time.time())
            _press(terminal, process, waiting.pop(0)[1])
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            seen += decoder.decode(data)  # a character may come in two halves
    else:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == code, (waiting, plain(seen)[-3000:])
    assert not waiting, (waiting, plain(seen)[-3000:])
    return plain(seen)


def _press(terminal: int, process: int, key: str) -> None:
    if size := re.fullmatch(r"(\d+)x(\d+)", key):
        _resize(terminal, int(size[1]), int(size[2]))
    elif key in ("TERM", "HUP"):
        os.kill(process, getattr(signal, f"SIG{key}"))
    else:
        os.write(terminal, key.encode())


def _resize(terminal: int, columns: int, lines: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def plain(text: str) -> str:
    """What is printed, without colours and other orders to the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
