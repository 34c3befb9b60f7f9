"""Training runs that clients look at, start, stop, continue, change and delete.

A run is a process of its own, which outlives the page and the server. All that is known of it comes from its folder, so
it does not matter who started it: this server, an earlier one, or a person at a terminal.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from tuplet.agents.listing import run_row
from tuplet.errors import UserError
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.games.registry import find_game, is_found
from tuplet.learn.growing_curve import GrowingCurve, thinned
from tuplet.learn.recipes import choose
from tuplet.learn.run import ASKED_TO_SAVE, CONFIG, LOCK, LOG, METRICS, STATE, free_folder
from tuplet.learn.run_command import option_name, option_words, setting_named, train_command
from tuplet.learn.settings import CHANGES, ONLY_2048, Method, RunOptions, load_settings, split
from tuplet.system.blocks import cores
from tuplet.system.files import lock_file
from tuplet.system.memory import available_memory
from tuplet.system.process_lock import is_held, lock_state
from tuplet.system.stop import Stop
from tuplet.values.players import is_bundled
from tuplet.values.weights import WEIGHTS
from tuplet.web import limits
from tuplet.web.answers import Answer
from tuplet.web.run_process import RunProcess, is_under_way, stop_process

Json = dict[str, Any]

# What a client may set. Not how many learners there are (--tasks), nor how many checkpoints are kept.
SETTINGS = {each.name for kind in (Method, RunOptions) for each in fields(kind) if not each.metadata["hidden"]} - {
    "tasks",
    "keep",
} | {"game"}
RUN_OPTIONS = {each.name for each in fields(RunOptions)}
RECIPE = "recipe"
CHANGEABLE = ("games", "budget")  # when a run is resumed
DELETED = ".deleted-"  # the name of a folder that is being deleted begins so
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
KILLED = "the process ended without a word (killed, or out of memory): resume continues from the last checkpoint"


class Pace:
    """How often clients should look at runs: the more there are, the less often, so that looking stays cheap."""

    def __init__(self) -> None:
        self._looks: deque[float] = deque()  # times of the last seconds
        self._poll, self._changed = 1, 0.0

    def look(self, now: float) -> int:
        """Somebody looks at this time, in seconds; returns the seconds until the next look."""
        self._looks.append(now)
        while self._looks[0] < now - limits.LOOKS_WINDOW:
            self._looks.popleft()
        if now - self._changed > limits.LOOKS_WINDOW + self._poll:  # all these look at the same pace
            viewers = self._poll * len(self._looks) / limits.LOOKS_WINDOW
            self._poll = min(max(round(viewers / limits.MAX_LOOKS), 1), limits.MAX_POLL)
            self._changed = now
        return self._poll


class RunFolder:
    """A run's folder, and what was read from it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.curve = GrowingCurve(folder / METRICS)
        self.lock, self.changing = threading.Lock(), threading.Lock()
        self._settings: tuple[tuple[int, int, int], Method, RunOptions, Json] | None = None
        self._answers: dict[int, Answer] = {}  # by the number of points

    def read(self, points: int, poll: int = 1) -> Answer:
        """The run and its curve; the same answer for all who look, until there is something new."""
        with self.lock:
            self._update()
            known, last = {"run": self._describe(), "poll": poll}, self._answers.get(points)
            if last is None or any(last[name] != known[name] for name in known):
                evaluations = thinned(self.curve.evaluations, points)
                last = Answer({**known, "curve": self.curve.curve(points), "evaluations": evaluations})
                self._answers[points] = last
                while len(self._answers) > limits.KEPT_ANSWERS:
                    self._answers.pop(next(iter(self._answers)))
            return last

    def _update(self) -> None:
        """Read what was written since."""
        if self.curve.update():
            self._answers.clear()

    def describe(self) -> Json:
        """The run without its curve."""
        with self.lock:
            self._update()
            return self._describe()

    def row(self) -> Json:
        """The run in a list."""
        with self.lock:
            self._update()
            run, last, evaluated = self._describe(), self.curve.last, (self.curve.evaluations or [{}])[-1]
            row = run_row(self.name, self.settings()[0], run["games"], run["seconds"], last, evaluated)
            return row | {"state": run["state"]}

    @property
    def is_running(self) -> bool:
        """Whether a process trains it, or is about to."""
        return is_under_way(self.folder)

    def played_game(self) -> Game:
        """The game that it learns, as it is now."""
        method = self.settings()[0].at(self.saved()[0])
        return find_game(method.game) if method.game != "2048" else Game2048(method.board, method.spawn4)

    def save(self, stop: Stop) -> None:
        """Ask the process for a checkpoint if the last one is old, and wait for it."""
        file, asked = self.folder / WEIGHTS, self.folder / ASKED_TO_SAVE
        with suppress(OSError):
            saved, now = file.stat().st_mtime_ns, time.monotonic()
            if not is_held(self.folder / LOCK) or time.time() - saved / 1e9 < pause_of(self.settings()[0]):
                return
            asked.touch()
            while is_held(self.folder / LOCK) and file.stat().st_mtime_ns == saved:
                if stop.is_set() or time.monotonic() > now + limits.SAVE_TIMEOUT:
                    return
                time.sleep(limits.PROCESS_POLL)

    def used_memory(self) -> int:
        """The bytes that its process has taken, as far as is known."""
        pid = lock_state(self.folder / LOCK).pid
        with suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def needed_memory(self) -> int:
        """The bytes that its process takes in all."""
        with suppress(OSError, ValueError):
            return memory_of(self.settings()[0])
        return limits.RUN_MEMORY  # it has no settings yet

    def settings(self) -> tuple[Method, RunOptions]:
        """The method and the options."""
        return self._load()[1:3]

    def _load(self) -> tuple[tuple[int, int, int], Method, RunOptions, Json]:
        """The settings, read again when they have changed, and what answers say of them."""
        try:
            stat = (self.folder / CONFIG).stat()
        except FileNotFoundError:  # it was deleted meanwhile
            raise UserError(f"there is no run {self.name!r}") from None
        key = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._settings is None or self._settings[0] != key:
            method, options = load_settings(self.folder / CONFIG)
            values = {**asdict(method), **asdict(options)}
            for name in ONLY_2048 if method.game != "2048" else ():
                del values[name]
            said = {
                "settings": {option_name(name): value for name, value in values.items() if value not in (None, "")},
                "changes": [{"game": each.games, **each.settings} for each in method.changes()],
                "commands": [shlex.join(train_command(method, options))],
            }
            self._settings = key, method, options, said
        return self._settings

    def _describe(self) -> Json:
        running, process, (_, method, options, said) = self.is_running, lock_state(self.folder / LOCK), self._load()
        last = self.curve.last
        saved_games, saved_s = self.saved()
        games, seconds = max(last.get("games", 0), saved_games), max(last.get("elapsed_s", 0.0), saved_s)
        done = options.progress(games, seconds) >= 1
        state = "running" if running else "finished" if done else "stopped"
        error = process.error or (KILLED if process.killed else "")
        if error and state == "stopped":
            state = "failed"
        return {
            "name": self.name,
            "game": method.game,
            "state": state,
            "games": games,
            "seconds": round(seconds, 3),
            "moves_per_second": last.get("moves_per_s"),
            **said,
            "error": error if state == "failed" else None,
        }

    def saved(self) -> tuple[int, float]:
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
        self._lock, self._pace = threading.Lock(), Pace()
        self._starting = threading.Lock()  # one after the other, such that they count each other

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

    def read(self, name: str, points: int) -> Answer:
        """A run and its curve."""
        run = self.find(name)
        with self._lock:
            poll = self._pace.look(time.monotonic())
        return run.read(points, poll)

    def rows(self) -> list[Json]:
        """A list of the runs, the newest first; folders that hold none are left out."""
        found = []
        for each in self.folder.iterdir() if self.folder.is_dir() else ():
            with suppress(OSError, ValueError):
                found.append((-(each / CONFIG).stat().st_mtime, each.name, self.find(each.name).row()))
        return [row for _, _, row in sorted(found, key=lambda item: item[:2])]

    def start(self, settings: Json, name: str | None, stop: Stop) -> RunFolder:
        """Start a run, in a folder of its own."""
        self._check_allowed()
        method, options = checked_settings(settings)
        with self._starting:
            self._check_room(method)
            folder = self._new_folder(name, method)
            words = [*train_command(method, options)[1:], *option_words({"checkpoint": options.checkpoint})]
            process = RunProcess(folder, [*words, f"--out={folder}"], new=True)
        process.wait_until_it_trains(stop)
        return self.find(folder.name)

    def resume(self, name: str, settings: Json, stop: Stop) -> RunFolder:
        """Continue a run."""
        self._check_allowed()
        run = self.find(name)
        method, options = run.settings()
        changes = plain_settings(settings, CHANGEABLE)
        if changes:
            replace(options, **{"games": None, "budget": None, **changes})  # checks them
        with self._starting:
            if run.is_running:
                raise UserError(f"{name} is being trained already")
            self._check_room(method)
            process = RunProcess(run.folder, _resume_words(run, changes))
        process.wait_until_it_trains(stop)
        return run

    def change(self, name: str, settings: Json, stop: Stop) -> RunFolder:
        """Continue a run with another alpha, share of fours or more tuples; one that goes on is stopped first."""
        self._check_allowed()
        run = self.find(name)
        changes = plain_settings(settings, CHANGES)
        if not changes:
            raise UserError(f"settings must have one of {', '.join(CHANGES)}")
        with run.changing:
            changed = run.settings()[0].with_change(run.describe()["games"], changes)  # refuses before it stops
            self._check_room(changed, beside=name)
            stop_process(run.folder, stop)
            with self._starting:
                process = RunProcess(run.folder, _resume_words(run, changes))
            process.wait_until_it_trains(stop)
        return run

    def stop(self, name: str, stop: Stop) -> RunFolder:
        """Stop a run as Ctrl-C does, and wait until it is saved."""
        self._check_allowed()
        run = self.find(name)
        stop_process(run.folder, stop)
        return run

    def delete(self, name: str, confirm: str) -> None:
        """Delete a run that is not being trained."""
        self._check_allowed()
        run = self.find(name)
        if confirm != name:
            raise UserError(f"confirm must be the name of the run to delete, {name!r} (got {confirm[:40]!r})")
        busy = f"{name} is being trained: stop it first"
        with self._starting, ExitStack() as stack:
            run.settings()  # UserError if another client has deleted it
            for file in (run.folder / LOG, run.folder / LOCK):
                opened = stack.enter_context(os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW), "rb"))
                lock_file(opened, busy, limits.LOCK_TIMEOUT)
            gone = run.folder.with_name(f"{DELETED}{uuid.uuid4().hex}")
            run.folder.rename(gone)  # a process that starts now does not find it
        with self._lock:
            self._folders.pop(name, None)
        for each in [gone, *gone.parent.glob(f"{DELETED}*")]:  # also what a server left that was killed
            shutil.rmtree(each, ignore_errors=True)

    def _check_allowed(self) -> None:
        if not self.train:
            raise UserError("this server shows runs only: start it with  tuplet serve --train")

    def _new_folder(self, name: str | None, method: Method) -> Path:
        """Make the folder of a new run."""
        if name is None:
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", free_folder(method, self.folder.resolve()).name).strip("-_")[:64]
        if not _NAME.fullmatch(name):
            raise UserError(f"name must be at most 64 letters, digits, - and _ (got {name[:40]!r})")
        if is_bundled(name):
            raise UserError(f"{name} is the name of a player that comes with tuplet: choose another name")
        folder = self._path(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            raise UserError(f"there is a run {name!r} already: choose another name") from None
        return folder

    def _check_room(self, method: Method, beside: str = "") -> None:
        """UserError if too many runs are under way, or if there is no memory for another; one may be left out."""
        under_way = [*self._running()]
        running = [run for run in under_way if run.name != beside]
        if len(running) >= limits.MAX_RUNS:
            names = ", ".join(sorted(run.name for run in running))
            raise UserError(f"no more runs can be under way at once ({names}): stop one of them")
        free = available_memory() + sum(run.used_memory() for run in under_way)
        free -= sum(run.needed_memory() for run in running)  # tables take memory when they are written to
        needed = memory_of(method)
        if needed > free:
            raise UserError(
                f"the run needs {needed / 1e9:.1f} GB of memory and {max(free, 0) / 1e9:.1f} GB are free: use shorter "
                "tuples, or stop another run"
            )

    def _running(self) -> Iterator[RunFolder]:
        for each in self.folder.iterdir() if self.folder.is_dir() else ():
            if is_under_way(each):
                with suppress(UserError):
                    yield RunFolder(self._path(each.name))


def _resume_words(run: RunFolder, settings: Json) -> list[str]:
    """The command that continues a run."""
    game = run.settings()[0].game
    own = [] if game == "2048" else [f"--game={game.replace('%20', ' ')}"]
    return ["resume", str(run.folder), *own, *option_words(settings)]


def memory_of(method: Method) -> int:
    """About how many bytes a process takes that trains this."""
    return limits.RUN_MEMORY + 4 * method.count_numbers()


def plain_settings(settings: Json, known: Collection[str]) -> Json:
    """Settings by the names of options as settings of Python; UserError if one is not among those known."""
    plain = {}
    for option, value in settings.items():
        name = setting_named(option)
        if name not in known:
            raise UserError(f"unknown setting {option[:40]!r}: there are {', '.join(map(option_name, sorted(known)))}")
        if not isinstance(value, str | int | float | None):
            raise UserError(f"{option} must be a text or a number")
        if isinstance(value, str) and not (len(value) <= limits.MAX_SETTING and value.isprintable()):
            raise UserError(f"{option} must have at most {limits.MAX_SETTING} printable characters")
        if value is not None:
            plain[name] = value
    return plain


def checked_settings(settings: Json) -> tuple[Method, RunOptions]:
    """What `tuplet train` makes of these options, within the limits of a server."""
    given = plain_settings(settings, {*SETTINGS, RECIPE})
    recipe = given.pop(RECIPE, None)
    for name in (RECIPE, "game", "net", "learner"):
        if not isinstance(settings.get(name, ""), str | None):
            raise UserError(f"{name} must be a text")
    RunOptions(**{name: value for name, value in given.items() if name in RUN_OPTIONS})  # checks them
    method, options = split(choose(recipe, given))
    if not is_found(method.game):
        raise UserError(f"{method.game} cannot be trained from here: train it in Python")
    if options.threads > cores():
        raise UserError(f"threads must be at most {cores()}, the cores of the server (got {options.threads})")
    return method, replace(options, checkpoint=max(options.checkpoint, limits.CHECKPOINT))


def pause_of(method: Method) -> float:
    """The seconds between two checkpoints, such that a run does not spend its time with saving."""
    return max(limits.CHECKPOINT, 4 * method.count_numbers() / limits.CHECKPOINT_RATE)
