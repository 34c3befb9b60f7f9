"""The process of a training run: `tuplet train` or `tuplet resume` in a session of its own.

It prints to the log in its run folder, which is locked before the process exists and as long as it lives: the lock
belongs to its standard output. So a run is known to be under way from the first moment, whoever asks, and also if the
server that started it has gone. When it trains, it holds the lock of the run folder, too, as every training does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tuplet.errors import UserError
from tuplet.learn.run import ASKED_TO_STOP, CONFIG, LOCK, LOG
from tuplet.system.files import lock_file
from tuplet.system.process_lock import interrupt, is_at, is_held, lock_state
from tuplet.system.stop import Stop, Stopped
from tuplet.system.text import in_one_line
from tuplet.web import limits

_INTERRUPTED = 130  # the exit code of a run that was stopped
_LOG_END = 8192  # bytes of a log that are read


class RunProcess:
    """A process that this server started."""

    def __init__(self, folder: Path, words: Sequence[str], new: bool = False) -> None:
        """Start `tuplet` with these words; UserError if a process is at work in the folder.

        The folder of a `new` run is removed if the run does not begin.
        """
        self.folder, self._new = folder, folder.stat().st_ino if new else None
        try:
            self._start(words)
        except BaseException:
            self._remove_if_empty()
            raise

    def _start(self, words: Sequence[str]) -> None:
        folder = self.folder
        busy = f"{folder.name} is being trained already"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            log = os.fdopen(os.open(folder / LOG, flags, 0o666), "ab")
        except FileNotFoundError:
            raise UserError(f"there is no run {folder.name!r}") from None
        with log:
            lock_file(log, busy, limits.LOCK_TIMEOUT)
            if not is_at(log.fileno(), folder / LOG):  # it was deleted meanwhile
                raise UserError(f"there is no run {folder.name!r}")
            self._log_start = os.fstat(log.fileno()).st_size
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tuplet", *words, "--json"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._error = ""
        self._end = threading.Thread(target=self._wait, daemon=True)
        self._end.start()

    def _wait(self) -> None:
        """Wait until it ends."""
        self.process.wait()
        self._error = self._last_line()
        self._remove_if_empty()

    def _remove_if_empty(self) -> None:
        """Remove the folder of a new run in which nothing was trained; not one that has taken its place since."""
        with suppress(OSError):
            if self._new == self.folder.stat().st_ino and not (self.folder / CONFIG).exists():
                shutil.rmtree(self.folder, ignore_errors=True)

    def wait_until_it_trains(self, stop: Stop) -> None:
        """Return when the run has begun, or has ended well; UserError with the reason if it could not begin."""
        while self.process.poll() is None:
            state = lock_state(self.folder / LOCK)
            if state.begun and state.pid == self.process.pid and (self.folder / CONFIG).exists():
                return
            if stop.is_set():
                raise Stopped(f"{self.folder.name} has not begun yet: look again in a moment")
            time.sleep(limits.PROCESS_POLL)
        self._end.join()
        if self.process.returncode not in (0, _INTERRUPTED):
            raise UserError(self._error or f"{self.folder.name} could not be started")

    def _last_line(self) -> str:
        """The last line that it printed, without the place of the folder of runs."""
        with suppress(OSError), (self.folder / LOG).open("rb") as file:
            file.seek(max(self._log_start, os.fstat(file.fileno()).st_size - _LOG_END))
            lines = file.read().decode(errors="replace").strip().splitlines()
            text = (lines or [""])[-1].removeprefix("tuplet: ")
            return in_one_line(text.replace(f"{self.folder.parent}/", ""))
        return ""


def is_under_way(folder: Path) -> bool:
    """Whether a process trains in a run folder, or is about to."""
    return is_held(folder / LOCK) or is_held(folder / LOG)


def stop_process(folder: Path, stop: Stop) -> None:
    """Interrupt the process that trains in a folder, once, and wait until it has saved and ended.

    A second interrupt would end it without saving: whoever asks first leaves a mark in the folder.
    """
    target = mark = None
    try:
        while is_under_way(folder):
            state = lock_state(folder / LOCK)
            if state.held and state.pid is not None:
                if target is None:
                    target, mark = state[1:3], folder / f"{ASKED_TO_STOP}{state.pid}"
                    if _made(mark):
                        interrupt(state)
                elif target != state[1:3]:  # somebody continued it
                    return
            if stop.is_set():
                raise Stopped(f"{folder.name} is still saving: look again in a moment")
            time.sleep(limits.PROCESS_POLL)
    except UserError:
        if mark is not None:
            mark.unlink(missing_ok=True)
        raise
    if mark is not None:
        mark.unlink(missing_ok=True)


def _made(mark: Path) -> bool:
    """Make a file; False if another has made it."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except (FileExistsError, FileNotFoundError):  # or the folder was deleted
        return False
    return True
