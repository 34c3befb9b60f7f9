"""The folder of a sweep: its settings, and results as they come, so that it can go on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.system.files import atomic_write, hold, sweep as tidy_up
from tuplet.system.tables import plural
from tuplet.system.version import __version__

SETTINGS, RESULTS, LOCK = "sweep.json", "results.jsonl", ".lock"
GROWS = ("points", "games", "seeds")  # what another call of the same sweep may change
_WHAT = {"tuplet": "tuplet's version", "kind": "kind"}


class SweepFolder:
    """A folder that is held while a sweep is under way; `results` are lines of before."""

    def __init__(self, path: Path, settings: dict[str, Any], points: Sequence[str]) -> None:
        self.path = path
        self.settings = {"tuplet": __version__, **settings, "points": list(points)}
        self.results: list[dict[str, Any]] = []
        self._unwritten = b""  # lines that a full disk had no place for
        self._size = 0  # bytes of whole lines in the file

    @contextmanager
    def held(self) -> Iterator[SweepFolder]:
        """Hold it; refuses the folder of another sweep, or of something else."""
        if self.path.exists() and not self.path.is_dir():
            raise UserError(f"{self.path} is a file: choose another --out")
        if (
            not (self.path / SETTINGS).exists()
            and self.path.is_dir()
            and any(each.name != LOCK for each in self.path.iterdir())
        ):
            raise UserError(f"{self.path} holds something else: choose another --out")
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("a+") as file:
            hold(file, f"another process is sweeping in {self.path}: wait, or choose another --out")
            if (self.path / SETTINGS).exists():
                self._check_same()
            for name in (SETTINGS, RESULTS):
                tidy_up(self.path / name)
            with atomic_write(self.path / SETTINGS) as settings:
                settings.write(json.dumps(self.settings, indent=1).encode() + b"\n")
            self.results = self._read()
            yield self
            if self._unwritten and (error := self._write()):
                lost = plural(self._unwritten.count(b"\n"), "result")
                told = f"{lost} could not be written to {self.path / RESULTS} ({error.strerror})"
                warnings.warn(f"{told}: the same command measures again", stacklevel=2)

    def place(self, name: str, ending: str = "") -> Path:
        """A path for a point, named after its settings."""
        return self.path / f"{file_name(name.replace(', ', ','))}{ending}"

    def add(self, line: dict[str, Any]) -> None:
        """Note a result; where it cannot be written, it is kept, and written with a later one."""
        self.results.append(line)
        known = bool(self._unwritten)
        self._unwritten += json.dumps(line).encode() + b"\n"
        if (error := self._write()) and not known:
            told = f"results cannot be written to {self.path / RESULTS} now ({error.strerror})"
            warnings.warn(f"{told}: they are kept, and written when that works", stacklevel=2)

    def _write(self) -> OSError | None:
        """Write what is not written yet, or nothing: half a line would spoil the next."""
        path = self.path / RESULTS
        try:
            with path.open("ab", buffering=0) as file:
                try:
                    written = file.write(self._unwritten)
                    if written < len(self._unwritten):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    with suppress(OSError):
                        file.truncate(self._size)
                    raise
        except OSError as error:
            return error
        self._size, self._unwritten = self._size + len(self._unwritten), b""
        return None

    def _read(self) -> list[dict[str, Any]]:
        """The results noted so far; a line that was cut off is dropped."""
        path, found = self.path / RESULTS, []
        if not path.exists():
            return []
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            try:
                result = json.loads(line)
                scores = result["scores"]
                sound = (
                    isinstance(result["point"], str)
                    and isinstance(scores, list)
                    and all(isinstance(score, int) for score in scores)
                )
            except (ValueError, TypeError, KeyError, RecursionError):
                sound = False
            if not sound:
                raise UserError(f"{path}: line {number} is not a result of a sweep")
            found.append(result)
            self._size += len(line)
        with path.open("r+b") as file:
            file.truncate(self._size)
        return found

    def _check_same(self) -> None:
        path = self.path / SETTINGS
        old: dict[str, Any] = {}
        with suppress(ValueError, RecursionError):
            old = json.loads(path.read_bytes())
        if not isinstance(old, dict) or not isinstance(old.get("points"), list):
            raise UserError(f"{path} does not hold the settings of a sweep: choose another --out")
        for name in [*self.settings, *old]:
            if name not in GROWS and old.get(name) != self.settings.get(name):
                was, now = old.get(name), self.settings.get(name)
                raise UserError(
                    f"{self.path} holds another sweep: its {_WHAT.get(name, name)} is {was}, not "
                    f"{now}; choose another --out"
                )
        lost = [point for point in old["points"] if point not in self.settings["points"]]
        if lost:
            raise UserError(
                f"{self.path} holds another sweep: its grid has {lost[0]}; add to that grid, or choose another --out"
            )


def file_name(text: str) -> str:
    """A text as the name of a file, the same for no other text."""
    name = re.sub(r"[^\w.=,+-]+", "_", text).strip("_.")[:100]
    return name if name == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
