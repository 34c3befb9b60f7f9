"""Training runs that clients look at, start, stop, continue, change and delete.

A run is a process of its own, which outlives the page and the server. All that is known of it comes from its folder, so
it does not matter who started it: this server, an earlier one, or a person at a terminal.
"""

from __future__ import annotations

import json
import shlex
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tuplet.agents.listing import run_row
from tuplet.errors import UserError
from tuplet.learn.growing_curve import GrowingCurve, thinned
from tuplet.learn.run import CONFIG, LOCK, METRICS, STATE
from tuplet.learn.run_command import option_name, train_command
from tuplet.learn.settings import Method, RunOptions, load_settings
from tuplet.system.process_lock import LockState, lock_state
from tuplet.web import limits

Json = dict[str, Any]

KILLED = "the process ended without a word (killed, or out of memory): resume continues from the last checkpoint"


class RunFolder:
    """A run's folder, and what was read from it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.curve = GrowingCurve(folder / METRICS)
        self.lock = threading.Lock()
        self._settings: tuple[tuple[int, int, int], Method, RunOptions, list[str]] | None = None

    def read(self, points: int) -> Json:
        """The run and its curve."""
        with self.lock:
            self.curve.update()
            return {
                "run": self._describe(),
                "curve": self.curve.curve(points),
                "evaluations": thinned(self.curve.evaluations, points),
            }

    def describe(self) -> Json:
        """The run without its curve."""
        with self.lock:
            self.curve.update()
            return self._describe()

    def row(self) -> Json:
        """The run in a list."""
        with self.lock:
            self.curve.update()
            run, last, evaluated = self._describe(), self.curve.last, (self.curve.evaluations or [{}])[-1]
            row = run_row(self.name, self.settings()[0], run["games"], run["seconds"], last, evaluated)
            return row | {"state": run["state"]}

    @property
    def process(self) -> LockState:
        """The process that trains it, if there is one."""
        return lock_state(self.folder / LOCK)

    def settings(self) -> tuple[Method, RunOptions, list[str]]:
        """The method, the options, and the commands that repeat the run."""
        stat = (self.folder / CONFIG).stat()
        key = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._settings is None or self._settings[0] != key:
            method, options = load_settings(self.folder / CONFIG)
            self._settings = key, method, options, [shlex.join(train_command(method, options))]
        return self._settings[1:]

    def _describe(self) -> Json:
        process, (method, options, commands) = self.process, self.settings()
        last = self.curve.last
        saved_games, saved_s = self._saved()
        games, seconds = max(last.get("games", 0), saved_games), max(last.get("elapsed_s", 0.0), saved_s)
        done = options.progress(games, seconds) >= 1
        state = "running" if process.held else "finished" if done else "stopped"
        error = process.error or (KILLED if process.killed else "")
        if error and state == "stopped":
            state = "failed"
        values = {**asdict(method), **asdict(options)}
        return {
            "name": self.name,
            "game": method.game,
            "state": state,
            "games": games,
            "seconds": round(seconds, 3),
            "moves_per_second": last.get("moves_per_s"),
            "settings": {option_name(name): value for name, value in values.items() if value not in (None, "")},
            "changes": [],
            "commands": commands,
            "error": error if state == "failed" else None,
        }

    def _saved(self) -> tuple[int, float]:
        """The games and seconds of the last checkpoint."""
        with suppress(OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
            last = json.loads((self.folder / STATE).read_text(encoding="utf-8"))["checkpoints"][-1]
            return int(last["games"]), float(last["elapsed_s"])
        return 0, 0.0


class Runs:
    """The runs in a folder. With `train`, clients may also start, stop, change and delete them."""

    def __init__(self, folder: Path, train: bool = False) -> None:
        self.folder, self.train = folder, train
        self._folders: OrderedDict[str, RunFolder] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, name: str) -> RunFolder:
        """The run of this name; UserError if there is none."""
        folder = self._path(name)
        if not (folder / CONFIG).is_file():
            raise UserError(f"there is no run {name!r}")
        with self._lock:
            run = self._folders.pop(name, None) or RunFolder(folder)
            self._folders[name] = run
            while len(self._folders) > limits.KEPT_CURVES:
                self._folders.popitem(last=False)
        return run

    def _path(self, name: str) -> Path:
        """The folder of a run; a name, or a link, never leads outside of the folder of runs."""
        plain = 0 < len(name) <= limits.MAX_NAME and name.isprintable() and name[0] != "." and not set(name) & {*"/\\:"}
        folder = self.folder.resolve()
        if not plain or (folder / name).resolve().parent != folder:
            raise UserError(f"name must be the name of a run in the server's folder (got {name[:40]!r})")
        return folder / name

    def rows(self) -> list[Json]:
        """A list of the runs, the newest first; folders that hold none are left out."""
        found = []
        for each in self.folder.iterdir() if self.folder.is_dir() else ():
            with suppress(OSError, ValueError):
                found.append((-(each / CONFIG).stat().st_mtime, each.name, self.find(each.name).row()))
        return [row for _, _, row in sorted(found, key=lambda item: item[:2])]
