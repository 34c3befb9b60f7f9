"""Agents that are other programs, in any language, speaking the protocol of `ewn-6x7`.

    exec:./my_agent
    exec:python3 my_agent.py --level 3
    exec[time=1]:./my_agent             one second a move in place of two

A program that is late, ends, or answers anything but a legal move forfeits its game: it is
stopped, with whatever it started, and the next game begins with a fresh one. Otherwise it plays
game after game. The clock of a move starts when the program can read the question; its first move
has at least 2 s from the program's start, however short the limit, because starting takes time.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from tuplet.games.ewn import SIDES, Position, Side
from tuplet.games.record import Forfeit

GAME = "ewn-6x7"
LIMIT = 2.0  # seconds a move, as the protocol has it
START_UP = 2.0  # seconds that the first move has at least, from the program's start
GRACE = 0.3  # seconds a program has to end by itself
KEPT = 4096  # bytes of its standard error
READ = 4096  # bytes read at once


class External:
    """A program as an agent. `limit` is the seconds it has for a move."""

    def __init__(self, spec: str, game: str = GAME) -> None:
        if game != GAME:
            raise ValueError(f"{spec}: the protocol of programs exists for {GAME} only, not {game}")
        parts = re.fullmatch(r"exec(?:\[time=(\d+\.?\d*|\.\d+)\])?:(.*)", spec, re.DOTALL)
        if parts is None:
            raise ValueError(f"{spec!r}: a program is exec:COMMAND or exec[time=1.5]:COMMAND")
        self.name = spec
        self.limit = LIMIT if parts[1] is None else float(parts[1])
        if not 0 < self.limit <= 86400:
            raise ValueError(f"{spec}: a move takes up to 86400 seconds, and more than none")
        self.command = _command(spec, parts[2])
        self._program: _Program | None = None
        self._known: Position | None = None  # what the program knows of the game
        self._forfeit: Forfeit | None = None  # before the program was asked for a move

    def open(self, start: Position, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Tell the program of a new game, starting it if it does not run."""
        setup = setup_text(start, side)
        self._forfeit = None
        # A program in the middle of a game cannot be told that it ended, so a fresh one it is.
        ended = self._known is not None and self._known.over
        if self._program is not None and ended and self._program.is_idle():
            self._program.send("y" + setup)
        else:
            self._stop(gently=False)
            try:
                self._program = _Program(self.command)
            except OSError as error:
                reason = f"cannot be started: {error.strerror or error}"
                self._forfeit = Forfeit("crashed", f"{self.name}: {reason}")
                return
            self._program.send(setup)
        self._known = start

    def choose(self, position: Position) -> str:
        """The program's move; Forfeit if it has none."""
        if self._forfeit is not None:
            raise self._forfeit
        program = self._program
        if program is None:
            raise ValueError(f"{self.name} plays whole games: open first")
        legal = position.legal_moves()
        try:
            if position != self._known:
                program.expect_silence()
                self._tell(position)
            due = time.monotonic() + self.limit
            if not program.answers:
                due = max(due, program.started + START_UP)
            move = program.receive(due, legal)
        except Forfeit as forfeit:
            self._stop(gently=False)
            self._forfeit = Forfeit(forfeit.kind, f"{self.name}: {forfeit.reason}")
            raise self._forfeit from None
        self._known = position.play(move)
        return move

    def end(self, last: Position) -> None:
        """Tell the program how its game ended, so that it is ready for another."""
        if last.over:
            self._tell(last)

    def close(self) -> None:
        """Stop the program and whatever it has started."""
        self._stop(gently=True)

    def _tell(self, position: Position) -> None:
        """Send the opponent's move that led to a position."""
        known = self._known
        if self._program is None or known is None or position == known:
            return
        for move in known.legal_moves():
            if known.play(move) == position:
                self._program.send(move)
                self._known = position
                return
        raise ValueError(f"{self.name}: a position that does not follow the one before")

    def _stop(self, gently: bool) -> None:
        if self._program is not None:
            self._program.stop(GRACE if gently else 0.0)
        self._program = self._known = None


def setup_text(start: Position, side: Side) -> str:
    """A first position as the protocol has it."""
    at = {(of, square): str(number) for (of, number), square in start.cubes.items()}
    placed = [
        "".join(at.get((of, square), "") for square in squares)
        for of, squares in zip(SIDES, (start.variant.red, start.variant.blue), strict=True)
    ]
    if start.ply or any(len(numbers) != start.variant.cubes for numbers in placed):
        raise ValueError("the protocol of programs knows games from the first position only")
    return "".join([*placed, *map(str, start.known_die), "fs"[SIDES.index(side)]])


def _command(spec: str, text: str) -> list[str]:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{spec}: {error}") from None
    if not command:
        raise ValueError(f"{spec}: which program? exec:COMMAND")
    if shutil.which(command[0]) is None:
        problem = "is not executable" if Path(command[0]).is_file() else "is not there"
        raise ValueError(f"{spec}: {command[0]} {problem}")
    return command


class _Program:
    """A running program: its pipes, which never block us, and the end of what it complained."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.monotonic()
        pipe = subprocess.PIPE
        process = self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0,
            start_new_session=True,  # a process group of its own, to be killed as one
        )  # fmt: skip
        self._kill = weakref.finalize(self, _kill, process)  # also when Python exits
        assert process.stdin is not None  # for the type checker
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self._out.fileno(), False)
        self.answers = 0  # moves it has made
        self._unsent = b""
        self._closed = False  # its output
        self._received = ""  # and not looked at: no more than one read's worth
        self._complaints = bytearray()
        self._listener = threading.Thread(
            target=_keep_end, args=(process.stderr, self._complaints), daemon=True
        )
        self._listener.start()

    def is_idle(self) -> bool:
        """Whether it runs, and says nothing that it was not asked for."""
        try:
            self.expect_silence()
        except Forfeit:
            return False
        return not self._closed and self._process.poll() is None

    def expect_silence(self) -> None:
        """Raise Forfeit if the program has sent anything but space."""
        for _ in range(64):  # no more than a pipe holds: some send space for ever
            if self._received.strip():
                text = self._received.strip()[:20]
                raise Forfeit("illegal", f"it sent {text!r} without being asked")
            try:
                data = os.read(self._out.fileno(), READ)
            except BlockingIOError:
                return
            if not data:
                self._closed = True  # as reading will tell, if more is asked of it
                return
            self._received = data.decode("latin-1")

    def send(self, text: str) -> None:
        """Send text, now or as soon as the program reads."""
        self._unsent += text.encode()
        self._write()

    def receive(self, due: float, legal: list[str]) -> str:
        """A legal move that arrives in time; anything else raises Forfeit."""
        move = ""
        while len(move) < 2:
            self._received = self._received.lstrip()
            if not self._received:
                self._read(due)
                continue
            move, self._received = move + self._received[0], self._received[1:]
            if not any(known.startswith(move) for known in legal):
                sent = (move + self._received).strip()[:20]
                raise Forfeit("illegal", f"it sent {sent!r}, not one of {', '.join(legal)}")
        self.expect_silence()
        self.answers += 1
        return move

    def stop(self, grace: float) -> None:
        """Tell the program to end, and end it."""
        with suppress(OSError):  # it has ended, or does not read
            self._in.write(b"n")
        self._in.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        self._kill()
        self._out.close()
        self._listener.join(GRACE)

    def _read(self, due: float) -> None:
        """Wait for text; Forfeit if none comes in time, or none can come."""
        while True:
            left = due - time.monotonic()
            writing = [self._in] if self._unsent else []
            ready = select.select([self._out], writing, [], left) if left > 0 else ([], [], [])
            if not ready[0] and not ready[1]:
                raise Forfeit("late", "no move in time")
            if ready[1]:
                self._write()
            if ready[0]:
                break
        data = os.read(self._out.fileno(), READ)
        if not data:
            raise Forfeit("crashed", self._how_it_ended())
        self._received += data.decode("latin-1")

    def _write(self) -> None:
        try:
            sent = os.write(self._in.fileno(), self._unsent)
        except BlockingIOError:  # the pipe is full: it does not read
            return
        except OSError:  # it has ended, as reading will tell
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]

    def _how_it_ended(self) -> str:
        """Why there is no more output."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        self._listener.join(GRACE)
        lines = self._complaints.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"ended with code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"
        return f"it {how}" + (f": {last[:200]}" if last else "")


def _keep_end(pipe: IO[bytes], end: bytearray) -> None:
    """Read a pipe to its end and keep the last bytes."""
    with pipe:
        while data := pipe.read(65536):
            end += data
            del end[:-KEPT]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, unless a child has left its process group."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
