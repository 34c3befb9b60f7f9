"""The work of a study: how much of it, in which folder, by whose hands.

    OUT/study.json    the study, its seed and scale
    OUT/games/        its matches, a file each
    OUT/parts/        other pieces that are finished, a JSON file each
    OUT/report.html   the report, with report.json and pictures beside it

Whatever ends a study early, what is finished stays, and the same call goes on from there. A larger
scale in the same folder goes on from a smaller one's games.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.arena.match import match
from tuplet.arena.results import Match
from tuplet.errors import UserError
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.files import atomic_write, hold
from tuplet.system.progress import Progress, Watcher
from tuplet.system.stop import Stop, Stopped
from tuplet.system.version import __version__

SETTINGS, LOCK, GAMES, PARTS = "study.json", ".lock", "games", "parts"


class Pairing(NamedTuple):
    """A match of a study."""

    name: str  # of its file
    a: str
    b: str
    games: int
    sprt: str | None = None


@dataclass(frozen=True)
class StudyContext:
    """What a study is given."""

    study: str
    folder: Path
    scale: float
    seed: int
    threads: int
    executor: Executor | None
    watch: Watcher
    stop: Stop
    options: Mapping[str, Any] = field(default_factory=dict)  # the study's own
    _held: ExitStack = field(default_factory=ExitStack)

    def games(self, full: int, least: int = 2) -> int:
        """So much of a full number of games, and an even one."""
        games = max(round(full * self.scale), least)
        return games + games % 2

    def matches(self, pairings: Sequence[Pairing], game: str = "ewn-6x7") -> list[Match]:
        """Play matches one after another, each by all hands."""
        total, done, played = sum(each.games for each in pairings), 0, []
        (self.folder / GAMES).mkdir(exist_ok=True)
        for number, (name, a, b, games, sprt) in enumerate(pairings, 1):

            def look(seen: Progress, done: int = done, number: int = number, name: str = name) -> None:
                figures = {"match": f"{number} of {len(pairings)}, {name}", **seen.figures}
                self.watch(
                    seen._replace(done=done + seen.done, before=done + seen.before, total=total, figures=figures)
                )

            try:
                found = match(
                    a,
                    b,
                    game,
                    games=games,
                    seed=self.seed,
                    threads=self.threads,
                    sprt=sprt,
                    save=self.folder / GAMES / f"{name}.jsonl",
                    executor=self.executor,
                    progress=look,
                    stop=self.stop,
                )
            except Stopped:
                raise self.stopped(done, total, "games") from None
            if found.interrupted:
                raise self.stopped(done + found.games, total, "games")
            played.append(found)
            done += games
        return played

    def parts(
        self,
        do: Callable[..., Any],
        parts: Mapping[str, tuple[Any, ...]],
        look: Callable[[int, Worker], None] | None = None,
    ) -> dict[str, Any]:
        """What `do(*arguments, worker)` returns for each named part; None is one that was stopped.

        What a part returns is kept as JSON, and not done again.
        """
        folder = self.folder / PARTS
        folder.mkdir(exist_ok=True)
        found = {name: known for name in parts if (known := _kept(folder / name)) is not None}
        missing = [name for name in parts if name not in found]

        def see(worker: Worker) -> None:
            if look is not None:
                look(len(found), worker)
                return
            now = next((name for name in missing if name not in found), "")
            self.watch(
                Progress("parts", len(found), len(parts), figures={"now": now}, before=len(parts) - len(missing))
            )

        unwritten: dict[str, Any] = {}

        def write() -> None:
            """Write what is not written yet: a full disk may be freed before the next is done."""
            try:
                for name in [*unwritten]:
                    with atomic_write(folder / f"{name}.json") as file:
                        file.write(json.dumps(unwritten[name]).encode() + b"\n")
                    del unwritten[name]
            except OSError as error:
                if len(unwritten) == 1:
                    told = f"{folder} cannot be written to now ({error.strerror})"
                    warnings.warn(f"{told}: what is done is kept in memory", stacklevel=3)

        blocks = [parts[name] for name in missing]
        for name, result in zip(
            missing,
            ordered_map(do, blocks, threads=self.threads, executor=self.executor, stop=self.stop, on_tick=see),
            strict=False,
        ):
            if result is not None:
                found[name] = unwritten[name] = result
                write()
        if unwritten:
            write()
        if unwritten:
            told = f"{', '.join(unwritten)} could not be kept in {folder}"
            warnings.warn(f"{told}: the same command does it again", stacklevel=2)
        if len(found) < len(parts):
            raise self.stopped(len(found), len(parts), "parts")
        return {name: found[name] for name in parts}

    def shared(self, name: str) -> str:
        """A path in the study's folder that blocks write to, wherever they are done."""
        folder, share = self.folder.resolve(), getattr(self.executor, "share", None)
        if share is not None:
            self._held.enter_context(share(folder))
        return str(folder / name)

    def stopped(self, done: int, total: int, what: str) -> Stopped:
        """Why a study has no report yet, and how to go on."""
        return Stopped(
            f"{done:,} of {total:,} {what} of {self.study} are done and kept in {self.folder}: the "
            "same command goes on from there"
        )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder; refuses that of another study, or of something else."""
        path = self.folder
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file: choose another --out")
        settings = path / SETTINGS
        if not settings.exists() and path.is_dir() and any(each.name != LOCK for each in path.iterdir()):
            raise UserError(f"{path} holds something else: choose another --out")
        path.mkdir(parents=True, exist_ok=True)
        with (path / LOCK).open("a+") as file:
            hold(file, f"another process is at work in {path}: wait for it, or choose another --out")
            own = {"tuplet": __version__, "study": self.study, "seed": self.seed, **self.options}
            begun = any(each.name not in (LOCK, SETTINGS) for each in path.iterdir())
            if begun and settings.exists():
                old: Any = None
                with suppress(ValueError, RecursionError):
                    old = json.loads(settings.read_bytes())
                if not isinstance(old, dict) or "study" not in old:
                    raise UserError(f"{settings} does not name a study: choose another --out")
                for name in [*own, *old]:
                    was, now = old.get(name, "the usual"), own.get(name, "the usual")
                    if was != now and name != "scale":
                        raise UserError(
                            f"{path} holds another study: its {name} is {was}, not {now}; choose another --out"
                        )
            with atomic_write(settings) as written:
                written.write(json.dumps({**own, "scale": self.scale}).encode() + b"\n")
            with self._held:
                yield


def _kept(path: Path) -> Any:
    """A part that was finished before; None if there is none."""
    path = path.with_name(f"{path.name}.json")
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise UserError(f"{path} does not hold a part of a study: delete it") from None
