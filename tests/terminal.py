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
) -> str:
    """Run a command in a terminal; each key is sent once its cue has been seen. The screen.

    `before` is Python to run first, such as an agent of the test's own.
    """
    words = list(map(str, arguments))
    program = f"{before}\nimport sys; from tuplet.cli import main; sys.argv[1:] = {words}; main()"
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(lines))
        os.execv(sys.executable, [sys.executable, "-c", program])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    seen, waiting, deadline = "", list(keys), time.time() + patience
    since, decoder = 0, getincrementaldecoder("utf-8")("replace")
    while time.time() < deadline:
        if waiting and waiting[0][0] in plain(seen[since:]):
            since = len(seen)
            os.write(terminal, waiting.pop(0)[1].encode())
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
    assert os.waitstatus_to_exitcode(status) == 0, (waiting, seen)
    assert not waiting, (waiting, seen)
    return plain(seen)


def plain(text: str) -> str:
    """What is printed, without colours and other orders to the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
