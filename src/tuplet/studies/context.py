"""What a study's `run` works with: its folder, its share of the games, and the workers that play them.

    OUT/study.json    the study, its seed and scale
    OUT/games/        its matches, a file each
    OUT/parts/        other finished pieces, a JSON file each
    OUT/report.html   the report, with report.json and pictures beside it

Whatever ends a study early, finished pieces stay, and the same call continues from there. A larger scale in the same
folder continues from the games of a smaller one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.arena.match import match
from tuplet.arena.results import Match
from tuplet.arena.resumable import JobFolder, WriteQueue
from tuplet.errors import UserError
from tuplet.learn.run import Run
from tuplet.learn.train import train_or_resume
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.files import atomic_write
from tuplet.system.progress import Progress, RateMeter, Watcher
from tuplet.system.stop import Stop, Stopped

SETTINGS, GAMES, PARTS = "study.json", "games", "parts"


@dataclass(frozen=True)
class StudyContext:
    """What a study's `run` works with."""

    study: str
    folder: Path
    scale: float
    seed: int
    threads: int
    executor: Executor | None
    watch: Watcher
    stop: Stop
    options: Mapping[str, Any] = field(default_factory=dict)  # the study's own
    _shares: ExitStack = field(default_factory=ExitStack)

    def games(self, full: int, least: int = 2) -> int:
        """The study's share of a full number of games, rounded up to an even number."""
        games = max(round(full * self.scale), least)
        return games + games % 2

    def matches(
        self, pairings: Mapping[str, tuple[str, str, int]], sprt: str | None = None, game: str = "ewn-6x7"
    ) -> dict[str, Match]:
        """Play matches of a game (agent, opponent, games) one after another, each with all workers.

        A match is saved in a file of its name.
        """
        total, done, matches = sum(games for *_, games in pairings.values()), 0, {}
        (self.folder / GAMES).mkdir(exist_ok=True)
        for number, (name, (a, b, games)) in enumerate(pairings.items(), 1):

            def report(event: Progress, done: int = done, now: str = f"{number} of {len(pairings)}, {name}") -> None:
                self.watch(event.within(done, total, match=now))

            try:
                result = match(
                    a,
                    b,
                    game,
                    games=games,
                    seed=self.seed,
                    threads=self.threads,
                    sprt=sprt,
                    out=self.folder / GAMES / f"{name}.jsonl",
                    executor=self.executor,
                    progress=report,
                    stop=self.stop,
                )
            except Stopped:
                raise self.stopped(done, total, "games") from None
            if result.interrupted:
                raise self.stopped(done + result.games, total, "games")
            matches[name] = result
            done += games
        return matches

    def parts(
        self,
        function: Callable[..., Any],
        parts: Mapping[str, tuple[Any, ...]],
        on_tick: Callable[[int, Worker], None] | None = None,
    ) -> dict[str, Any]:
        """Call `function(*arguments, worker)` for each named part; None means that it was stopped.

        What a part returns is kept as JSON, and not computed again. `on_tick` reports progress, given the number
        of finished parts.
        """
        folder = self.folder / PARTS
        folder.mkdir(exist_ok=True)
        results = {name: old for name in parts if (old := _read_part(folder / f"{name}.json")) is not None}
        missing = [name for name in parts if name not in results]
        before, queue = len(results), WriteQueue(folder, "part")

        def tick(worker: Worker) -> None:
            if on_tick is not None:
                on_tick(len(results), worker)
                return
            now = next((name for name in missing if name not in results), "")
            self.watch(Progress("parts", len(results), len(parts), figures={"now": now}, before=before))

        finished = ordered_map(
            function,
            [parts[name] for name in missing],
            threads=self.threads,
            executor=self.executor,
            stop=self.stop,
            on_tick=tick,
        )
        for name, result in zip(missing, finished, strict=False):
            if result is not None:
                results[name] = result
                queue.put(partial(_write_part, folder / f"{name}.json", result))
        queue.close()
        if len(results) < len(parts):
            raise self.stopped(len(results), len(parts), "parts")
        return {name: results[name] for name in parts}

    def count(self, unit: str, sizes: Sequence[float], names: Sequence[str] = ()) -> Callable[[int, Worker], None]:
        """The `on_tick` of parts that count `unit`: how many each has in all, and what each is called.

        A part shows how far it is by `worker.showing`, as far as it runs in this process.
        """
        rate, before, total = RateMeter(), -1.0, sum(sizes)

        def tick(finished: int, worker: Worker) -> None:
            nonlocal before
            done = min(sum(sizes[:finished]) + sum(float(each[0]) for each in worker.under_way), total)
            before = done if before < 0 else before
            now = {"now": names[min(finished, len(names) - 1)]} if names else {}
            figures = {"parts": f"{finished} of {len(sizes)}", **now}
            speed = rate.rate(done - before) if unit == "games" else None
            self.watch(Progress(unit, done, total, speed, f"{unit}/s", figures, before=before))

        return tick

    def shared(self, name: str) -> str:
        """A path in the study's folder that workers write to, also those of a cluster."""
        folder, share = self.folder.resolve(), getattr(self.executor, "share", None)
        if share is not None:
            self._shares.enter_context(share(folder))
        return str(folder / name)

    def stopped(self, done: int, total: int, unit: str) -> Stopped:
        """The exception for a study without a report yet; it says how to continue."""
        return Stopped(
            f"{done:,} of {total:,} {unit} of {self.study} are done and kept in {self.folder}: the same command "
            "continues from there"
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder; refuses one that holds another study, or something else."""
        settings = {"study": self.study, "seed": self.seed, **self.options, "scale": self.scale}
        with JobFolder(self.folder, "study", SETTINGS, settings).locked({"scale"}), self._shares:
            yield


def _write_part(path: Path, result: Any) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(result).encode() + b"\n")


def _read_part(path: Path) -> Any:
    """The result of a part that was finished before, else None."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise UserError(f"{path} does not hold a part of a study: delete it") from None


def train_part(folder: str, worker: Worker, **settings: Any) -> Run | None:
    """Train in a folder as a part of a study, or continue there; None if it was stopped."""
    unit, done = "time" if settings.get("budget") else "games", np.zeros(1)

    def report(event: Progress) -> None:
        done[0] = event.done if event.what == unit else done[0]

    with worker.showing(done):
        run = train_or_resume(folder, progress=report, stop=worker.stop, **settings)
    return None if run.interrupted else run


def list_of(text: str, read: Callable[[str], Any], message: str) -> list[Any]:
    """The sorted values of a text such as "1 3 10"; UserError with this message if there is none, or a wrong one."""
    try:
        values = sorted({read(word) for word in text.replace(",", " ").split()})
    except ValueError:
        values = []
    if not values:
        raise UserError(f"{message} (got {text!r})")
    return values
