"""Files and folders that an interrupted job continues from.

One process at a time holds them. They keep the settings of the job, so that another job is not mixed into them.
A full disk does not end a job: what cannot be written waits in memory until it can.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import warnings
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from tuplet.errors import UserError
from tuplet.system.files import MOST_LINE, atomic_write, lock_file, read_lines, remove_partial_files
from tuplet.system.tables import plural
from tuplet.system.version import __version__

Settings = Mapping[str, Any]
LOCK = ".lock"
_LABELS = {"tuplet": "version of tuplet", "sprt": "test", "rules": "game's code"}


def check_same_settings(
    path: Path, kind: str, old: Settings, new: Settings, may_change: Container[str], advice: str
) -> None:
    """Raise UserError if a file or folder was begun with other settings."""
    for name in dict.fromkeys([*new, *old]):
        was, now = (each.get(name, "the default") for each in (old, new))
        if name in may_change or was == now:
            continue
        if isinstance(was, dict) and isinstance(now, dict):
            changed = [key for key in {**now, **was} if was.get(key) != now.get(key)]
            raise UserError(f"{path} holds another {kind}: its {name} changed ({', '.join(changed[:3])}); {advice}")
        label, verb = _LABELS.get(name, name), "are" if isinstance(was, list) else "is"
        raise UserError(f"{path} holds another {kind}: its {label} {verb} {_text(was)}, not {_text(now)}; {advice}")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)


class WriteQueue:
    """Writes things in their order. One that fails, say because the disk is full, is tried again with the next."""

    def __init__(self, path: Path, unit: str) -> None:
        self.path, self.unit = path, unit
        self.error: OSError | None = None
        self._waiting: deque[Callable[[], None]] = deque()

    def put(self, write: Callable[[], None]) -> None:
        """Write, or keep what cannot be written yet; the first failure is warned of."""
        self._waiting.append(write)
        failed_before = self.error is not None
        self.flush()
        if self.error is not None and not failed_before:
            warnings.warn(
                f"{self.unit}s cannot be saved in {self.path} now ({self._reason}): they are kept in memory, and "
                "written as soon as that is possible",
                stacklevel=3,
            )

    def flush(self) -> None:
        """Write what waits, as far as that is possible."""
        try:
            while self._waiting:
                self._waiting[0]()
                self._waiting.popleft()
            self.error = None
        except OSError as error:
            self.error = error

    def close(self) -> None:
        """Try a last time, and warn of what is lost."""
        self.flush()
        if self._waiting:
            lost = plural(len(self._waiting), self.unit)
            warnings.warn(
                f"{lost} could not be saved in {self.path} ({self._reason}): the same command does them again",
                stacklevel=3,
            )

    @property
    def _reason(self) -> str:
        return str(self.error and (self.error.strerror or self.error))


class LineFile:
    """A file of JSON lines that one process appends to.

    A line that was cut off is dropped when the file is read. A file that is deleted or replaced while it is
    open is written again.
    """

    def __init__(self, path: Path, unit: str) -> None:
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a file that {unit}s can be saved in")
        self.path, self.queue = path, WriteQueue(path, unit)
        self._size = 0  # bytes of whole lines
        self.handle = self._open(path)

    def _open(self, path: Path) -> BinaryIO:
        file = path.open("a+b")
        try:
            lock_file(
                file, f"another process is saving {self.queue.unit}s in {path}: wait for it, or choose another file"
            )
        except BaseException:
            file.close()
            raise
        return file

    def first_line(self) -> bytes:
        """The first line, even if it was cut off."""
        self.handle.seek(0)
        return self.handle.readline(MOST_LINE)

    def read(self) -> Iterator[bytes]:
        """All whole lines; what follows the last of them is removed."""
        self.handle.seek(0)
        for line in read_lines(self.handle, self.path):
            if not line.endswith(b"\n"):
                break
            self._size += len(line)
            yield line
        self.handle.truncate(self._size)

    def add(self, line: Settings) -> None:
        """Append a line, now or as soon as possible."""
        self.queue.put(partial(self.write, line))

    def write(self, line: Settings) -> None:
        """Append a line now; OSError, and nothing written, if the disk is full."""
        data = json.dumps(line).encode() + b"\n"
        if not self._is_in_place():
            self._write_again()
        try:
            if os.write(self.handle.fileno(), data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with suppress(OSError):  # half a line is none
                self.handle.truncate(self._size)
            raise
        self._size += len(data)

    def _is_in_place(self) -> bool:
        """Whether the open file is still the one at its path."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self.handle.fileno()))
        except FileNotFoundError:
            return False

    def _write_again(self) -> None:
        """Copy the open file to its path, or to a new one if another file is there."""
        path, number = self.path, 1
        while path.exists():
            number += 1
            path = self.path.with_stem(f"{self.path.stem}-{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        os.lseek(self.handle.fileno(), 0, os.SEEK_SET)
        with open(self.handle.fileno(), "rb", closefd=False) as old, atomic_write(path) as new:
            shutil.copyfileobj(old, new)
        file = self._open(path)
        self.handle.close()
        gone = "is gone" if path == self.path else "was replaced by another file"
        unit = self.queue.unit
        warnings.warn(f"{self.path} {gone}: the {unit}s so far were written again, to {path}", stacklevel=5)
        self.handle, self.path = file, path

    def close(self) -> None:
        """Write what waits, and let other processes use the file."""
        self.queue.close()
        self.handle.close()


class JobFolder:
    """The folder of a job, with its settings in `settings_file`."""

    def __init__(self, path: Path, kind: str, settings_file: str, settings: Settings) -> None:
        self.path, self.kind, self.settings_file = path, kind, path / settings_file
        self.settings: Settings = {"tuplet": __version__, **settings}

    @contextmanager
    def locked(self, may_change: Container[str], check: Callable[[Settings], None] = lambda _: None) -> Iterator[None]:
        """Hold the folder. Refuses that of another job, or of something else.

        `may_change` are settings that may differ from those of the call before; `check` raises UserError for
        others that may not.
        """
        path, file = self.path, self.settings_file
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file: choose another --out")
        if not file.exists() and path.is_dir() and any(each.name != LOCK for each in path.iterdir()):
            raise UserError(f"{path} holds something else: choose another --out")
        path.mkdir(parents=True, exist_ok=True)
        with (path / LOCK).open("a+") as lock:
            lock_file(lock, f"another process is at work in {path}: wait for it, or choose another --out")
            begun = any(each.name not in (LOCK, file.name) for each in path.iterdir())
            if begun and file.exists():
                old: Any = None
                with suppress(ValueError, RecursionError):
                    old = json.loads(file.read_bytes())
                if not isinstance(old, dict) or not {"tuplet", "seed"} <= {*old}:
                    raise UserError(f"{file} does not hold the settings of a {self.kind}: choose another --out")
                check_same_settings(path, self.kind, old, self.settings, may_change, "choose another --out")
                check(old)
            remove_partial_files(file)
            with atomic_write(file) as written:
                written.write(json.dumps(self.settings, indent=1).encode() + b"\n")
            yield
