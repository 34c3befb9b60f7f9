"""A running program at the other end of three pipes: what is sent and received, and how it ends.

Each program is started in its own process group, and killed as one. A watchdog, one process for all
of them, watches their memory, and kills them if this process is killed.
"""

from __future__ import annotations

import itertools
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tuplet.agents.protocol import watchdog
from tuplet.errors import UserError
from tuplet.games.record import Forfeit

GRACE = 0.3  # seconds a program has to exit by itself
KEPT = 4096  # bytes of its standard error
READ = 4096  # bytes read at once
TRANSCRIPT_MESSAGES = 40
LONGEST = 120  # characters of a message in a transcript
ERROR_LINES = 5  # of standard error in a transcript
POLL = 0.005  # seconds between checks whether a program has exited


class Program:
    """A running program: its pipes, which never block, and the last messages.

    `folder` is where it runs, `memory` the resident bytes that its process group may have.
    """

    def __init__(self, command: Sequence[str], folder: Path | None = None, memory: int | None = None) -> None:
        if os.name != "posix":
            raise UserError("programs as agents need a Unix system: use WSL on Windows")
        self.started = time.monotonic()
        self.memory = memory
        self.mark = f"{_WATCHDOG.mark}{next(_COUNT)}-"
        pipe = subprocess.PIPE
        process = self._process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            cwd=folder,
            env={**os.environ, watchdog.MARK: self.mark},
            start_new_session=True,  # its own process group, to be killed as one
        )
        self._kill = weakref.finalize(self, _kill, process, self.mark)  # also when Python exits
        _WATCHDOG.tell(f"+{process.pid} {memory or 0}\n")
        assert process.stdin is not None  # for the type checker
        assert process.stdout is not None
        assert process.stderr is not None
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        for end in (self._in, self._out, self._err):
            os.set_blocking(end.fileno(), False)
        self.answers = 0  # moves it has made
        self.spaces = 0  # whitespace characters that it has sent
        self._unsent = b""
        self._closed = False  # its output
        self._received = ""  # but not parsed: at most one read's worth
        self._stderr = bytearray()
        self._stderr_closed = False
        self._messages: deque[tuple[float, str, str]] = deque(maxlen=TRANSCRIPT_MESSAGES)

    @property
    def group(self) -> int:
        """The number of its process group, and of its first process."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether its first process has not exited."""
        return self._process.poll() is None

    def is_idle(self) -> bool:
        """Whether it runs, and has sent nothing unasked."""
        try:
            self.expect_silence()
        except Forfeit:
            return False
        return not self._closed and self.runs

    def expect_silence(self) -> None:
        """Raise Forfeit if the program has sent anything but space."""
        for _ in range(64):  # no more than a pipe holds: a program may send whitespace for ever
            if self._received.strip():
                text = self._received.strip()[:20]
                raise Forfeit("illegal", f"it sent {text!r} without being asked")
            if self._closed:  # the next read reports it
                return
            try:
                self._received = self._take()
            except BlockingIOError:
                return

    def send(self, text: str) -> None:
        """Send text, now or as soon as the program reads."""
        self._note(">", text)
        self._unsent += text.encode()
        self._write()

    def receive(self, due: float, legal: list[str]) -> str:
        """A legal move that arrives in time; anything else raises Forfeit."""
        move = ""
        while len(move) < 2:
            self._received = self._received.lstrip()
            if not self._received:
                try:
                    self.read(due)
                except Forfeit as forfeit:
                    self._note("<", f"({forfeit.reason})", plain=True)
                    raise
                continue
            move, self._received = move + self._received[0], self._received[1:]
            if not any(known.startswith(move) for known in legal):
                sent = (move + self._received).strip()[:20]
                raise Forfeit("illegal", f"it sent {sent!r}, not one of {', '.join(legal)}")
        self.expect_silence()
        self.answers += 1
        return move

    def receive_line(self, due: float) -> str:
        """A line that arrives in time; anything else raises Forfeit."""
        while "\n" not in self._received:
            if len(self._received) > READ:
                raise Forfeit("illegal", f"it sent {self._received[:20]!r}, and no end of the line")
            self.read(due)
        line, _, self._received = self._received.partition("\n")
        return line.strip()

    def read(self, due: float) -> None:
        """Wait for text; Forfeit if none arrives in time, or none can arrive."""
        while True:
            left = due - time.monotonic()
            listening = [self._out] if self._stderr_closed else [self._out, self._err]
            writing = [self._in] if self._unsent else []
            ready = select.select(listening, writing, [], left) if left > 0 else ([], [], [])
            if not ready[0] and not ready[1]:
                raise Forfeit("late", "no move in time")
            if ready[1]:
                self._write()
            if self._err in ready[0]:
                self.drain()
            if self._out in ready[0]:
                break
        self._received += self._take()
        if self._closed:
            raise Forfeit(*self._how_it_ended())

    def listen(self, seconds: float) -> str:
        """Unparsed output, once there is some or time is up."""
        until = time.monotonic() + seconds
        with suppress(Forfeit):  # the next `receive` raises it again
            while not self._received and not self._closed:
                self.read(until)
        return self._received

    def drain(self) -> None:
        """Drain stderr so the program never blocks; its end is kept."""
        for _ in range(16):  # a pipe's worth: a program may write for ever
            if self._stderr_closed:
                return
            try:
                data = os.read(self._err.fileno(), 16 * READ)
            except BlockingIOError:
                return
            self._stderr_closed = not data
            self._stderr += data
            del self._stderr[:-KEPT]

    def end_input(self) -> None:
        """Close its input."""
        self._note(">", "(the input ends)", plain=True)
        with suppress(OSError):
            self._in.close()
        self._unsent = b""

    def wait(self, seconds: float) -> int | None:
        """Its exit code, or minus the number of the signal that killed it; None if it still runs."""
        until = time.monotonic() + seconds
        while (code := self._process.poll()) is None and time.monotonic() < until:
            self.drain()
            if self._stderr_closed:
                time.sleep(POLL)
            else:
                select.select([self._err], [], [], POLL)
        self.drain()
        return code

    def stop(self, grace: float) -> None:
        """Tell the program to exit, then kill it."""
        if not self._in.closed:
            with suppress(OSError):  # it has exited, or does not read
                self._in.write(b"n")
            with suppress(OSError):
                self._in.close()
        self.wait(grace)
        self._kill()
        self._out.close()
        self._err.close()

    def transcript(self) -> tuple[str, ...]:
        """The last messages of both sides, with seconds since the start, and the end of its stderr.

            0.000 > 203541135204145110431455221232514f
            0.031 < 10

        `>` is what it was sent, `<` its answer, `!` its standard error.
        """
        self.drain_if_open()
        messages = [f"{at:.3f} {mark} {text}" for at, mark, text in self._messages]
        return (*messages, *(f"! {line[:LONGEST]}" for line in self.stderr_lines()[-ERROR_LINES:]))

    def drain_if_open(self) -> None:
        """Read its stderr until now, unless it was stopped."""
        if not self._err.closed:
            self.drain()

    def stderr_lines(self) -> list[str]:
        """The last non-empty lines of its standard error."""
        lines = self._stderr.decode(errors="replace").split("\n")
        return ["".join(c if c.isprintable() else "?" for c in line.strip()) for line in lines if line.strip()]

    def _take(self) -> str:
        """What can be read; BlockingIOError if nothing can."""
        text = os.read(self._out.fileno(), READ).decode("latin-1")
        if text:
            self._note("<", text)
            self.spaces += sum(map(str.isspace, text))
        elif not self._closed:
            self._closed = True
            self._note("<", "(the output ends)", plain=True)
        return text

    def _write(self) -> None:
        if self._in.closed:
            return
        try:
            sent = os.write(self._in.fileno(), self._unsent)
        except BlockingIOError:  # the pipe is full: it does not read
            return
        except OSError:  # it has exited: the next read reports it
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]

    def _note(self, mark: str, text: str, plain: bool = False) -> None:
        short = text if len(text) <= LONGEST else f"{text[:LONGEST]}"
        shown = short if plain else repr(short)[1:-1]
        more = f" ... ({len(text):,} characters)" if len(text) > LONGEST else ""
        self._messages.append((time.monotonic() - self.started, mark, shown + more))

    def _how_it_ended(self) -> tuple[str, str]:
        """Why there is no more output: the kind of forfeit, and the reason."""
        code = self.wait(GRACE)
        used = _WATCHDOG.used(self.group)
        if used is not None and self.memory is not None:
            return "memory", f"it had {size(used)} of memory, {size(self.memory)} are allowed"
        if code is None:
            return "crashed", "it closed its output"
        last = self.stderr_lines()[-1:]
        how = f"ended with code {code}" if code >= 0 else f"was ended by {signal_name(-code)}"
        return "crashed", f"it {how}" + (f": {last[0][:200]}" if last else "")


class _Watchdog:
    """Our end of the watchdog, which is started with the first program."""

    def __init__(self) -> None:
        self.mark = f"{os.getpid()}-{secrets.token_hex(4)}-"
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: dict[int, str] = {}  # the line that reported each
        self._over: dict[int, int] = {}  # groups that had too much memory, and how much

    def tell(self, line: str) -> None:
        """Send a line; if the watchdog cannot be started, programs are not watched."""
        group = int(line[1:].split()[0])
        with self._lock:
            if line.startswith("+"):
                self._groups[group] = line
                self._over.pop(group, None)
            else:
                self._groups.pop(group, None)
            if line.startswith("+") and (self._process is None or self._process.poll() is not None):
                line = "".join(self._groups.values())  # also if it was killed meanwhile
                self._start()
            if self._process is not None and self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.write(line.encode())

    def used(self, group: int) -> int | None:
        """The memory for which a group was killed; None if it was not."""
        with self._lock:
            if self._process is not None and self._process.stdout is not None:
                with suppress(BlockingIOError, OSError):
                    for line in os.read(self._process.stdout.fileno(), 65536).splitlines():
                        over, used = map(int, line.split())
                        self._over[over] = used
            return self._over.get(group)

    def _start(self) -> None:
        for end in (self._process.stdin, self._process.stdout) if self._process else ():
            if end is not None:
                end.close()
        pipe = subprocess.PIPE
        self._process = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", watchdog.__file__, self.mark],
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
            assert self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)


_WATCHDOG, _COUNT = _Watchdog(), itertools.count()


def _reset_after_fork() -> None:
    """In a fork: the programs belong to the parent."""
    global _WATCHDOG
    _WATCHDOG = _Watchdog()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _kill(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a program and all it has started, as far as possible also outside its process group."""
    watchdog.end_group(process.pid)
    process.wait()
    watchdog.end_marked(mark)
    _WATCHDOG.tell(f"-{process.pid} \n")


def size(count: int) -> str:
    """Bytes as text."""
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
