"""Matches in pairs and tournaments: which agent plays a game better?

The two games of a pair start from the same position and see the same dice, with sides exchanged, so that
neither the start nor the first move favours an agent. A block of work is one game: its number determines the
agents, the start and the random streams.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import Named, Settings, agent_from, settings_of
from tuplet.agents.distribution import choose_executor
from tuplet.agents.protocol.subprocess_agent import LIMIT, ProgramCommand, Skipped, parse_memory, submissions
from tuplet.agents.specs import Pickled, Spec, as_pickled, as_spec, label_of, trusted
from tuplet.arena.game import play_game
from tuplet.arena.match_file import MOST_AGENTS, MatchFile
from tuplet.arena.page import Reports
from tuplet.arena.results import DISQUALIFIED, GameResult, Match, ScheduleSlot, Tournament, pairings, slot_of
from tuplet.arena.statistics import Sprt
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.games.registry import find_game, is_found
from tuplet.kernel import as_seed, stream, user_code_digest
from tuplet.system.blocks import Worker, as_threads, is_local, ordered_map
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.version import __version__

MOST_GAMES = 10_000_000
TIMEOUTS_TO_DROP = 4  # a program with this many timeouts, and no move, is dropped


def match(
    a: Named,
    b: Named,
    game: str | Game = "ewn-6x7",
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int = 1,
    sprt: str | Sprt | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Match:
    """Play games between two agents in pairs; the result is seen from A's side.

    An agent is named by a text, or is a class, a function that makes one, or an object. Pair p starts from a
    position that depends on the seed and p alone; A moves first, then B. An odd number of games is rounded up.

    The same seed gives the same games, whether they are played by threads (each with its own agents), by
    processes (for your own classes, and copies of objects), or by `executor`. Agents must draw random numbers
    from the stream they are given and remember nothing from game to game.

    With `sprt` ("0,20") the match ends as soon as the sequential test decides. With `out` every game becomes a
    line of that file; if it already has games of the same match, the match continues. `stop`, or Ctrl-C, ends
    the match early (`interrupted`); the result has the pairs finished by then.
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    schedule = _Schedule([a, b], game, games, seed, threads, test)
    header = {"kind": "match", "sprt": [float(test.elo0), float(test.elo1)] if test else None}
    names = schedule.play(out, header, executor, progress, stop)
    results = schedule.results[: len(schedule.results) // 2 * 2]
    if not results:
        raise Stopped("stopped before the first pair of games was finished")
    a, b = names
    endings, planned = schedule.game.terminations, schedule.games
    return Match(
        a, b, schedule.game.name, seed, planned, results, test, schedule.interrupted, endings, schedule.settings
    )


def tournament(
    agents: Sequence[Named] = (),
    game: str | Game = "ewn-6x7",
    *,
    folder: str | Path | None = None,
    time: float | None = None,
    memory: str | int | None = None,
    games: int = 200,
    seed: int = 0,
    threads: int = 1,
    out: str | Path | None = None,
    html: str | Path | None = None,
    csv: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
    against_agents_only: bool = False,
) -> Tournament:
    """Play a round-robin tournament, `games` games per pairing, and rate all agents.

    One pair of every pairing is played, then another pair of every pairing: if the tournament ends early, all
    agents have played about equally often. Everything else is as in `match`.

    With `folder` every program in it plays, too (docs/class.md). `time` is its limit in seconds per move,
    `memory` ("1GB") the limit for the resident memory of all its processes. This is no sandbox: programs can do
    whatever you can. A program that times out in its first four games without a move is disqualified and loses
    the others. `against_agents_only`: the programs meet `agents`, but not each other (see `grade`). `html` is an HTML
    page to write, `csv` a table; the games go into a second table beside it.
    """
    if folder is None and (time is not None or memory is not None):
        raise UserError("time and memory limit the programs of a folder: which folder?")
    reports = Reports(html, csv)
    programs = None if folder is None else ProgramFolder.open(folder, time, memory)
    if programs is not None:
        agents = [*agents, *programs.programs]
    names = [as_spec(each).text for each in agents if isinstance(each, str | Spec)]
    names += [each.name for each in agents if isinstance(each, ProgramCommand)]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{name} is in the tournament twice")
    if not 2 <= len(agents) <= MOST_AGENTS:
        raise UserError(f"a tournament has 2 to {MOST_AGENTS} agents, not {len(agents)}")
    baselines = len(agents) - len(programs.programs) if programs is not None and against_agents_only else 0
    schedule = _Schedule(agents, game, games, seed, threads, baselines=baselines)
    header: dict[str, Any] = {"kind": "tournament"} | ({"baselines": baselines} if baselines else {})
    if programs is not None:
        header |= programs.settings
        schedule.dropout = TimeoutDropout(range(len(agents) - len(programs.programs), len(agents)))
    with reports.games(out) as file:
        labels = schedule.play(file, header, executor, progress, stop)
        result = Tournament.of(
            labels,
            schedule.game.name,
            seed,
            schedule.games,
            schedule.results,
            schedule.interrupted,
            schedule.game.terminations,
            schedule.settings,
            baselines,
        )
        if not result.matches:
            raise Stopped("stopped before the first pair of games was finished")
        if programs is not None:
            result = replace(result, skipped=programs.skipped)
        reports.write(result, file)
    return result


def _play_slot(
    named: tuple[Named, ...],
    game: str | Game,
    seeds: tuple[int, ...],
    slot: ScheduleSlot,
    dropped: frozenset[int],
    worker: Worker,
) -> Record | None:
    """Play a game of a schedule; None if it was stopped. With a dropped agent it is not played."""
    if worker.stop.is_set():
        return None
    pair = np.uint64(stream(np.uint64(seeds[slot.pairing]), np.uint64(slot.pair)))
    rolls, start = find_game(game, trusted=True).opening(pair)
    if dropped & {slot.first, slot.second}:
        return Record(("", ""), start)
    shareable = all(isinstance(each, Spec | Pickled) or callable(each) for each in named)
    participants = worker.keep((named, game) if shareable else "participants", lambda: Participants(named, game))
    participants.pause_programs(slot.first, slot.second)
    n = np.uint64(2 * slot.game)
    streams = (np.uint64(stream(pair, n)), np.uint64(stream(pair, n + np.uint64(1))))
    first, second = participants.agents[slot.first], participants.agents[slot.second]
    record = play_game(first, second, start, rolls=rolls, streams=streams, stop=worker.stop)
    if not record.over:
        return None
    if record.termination in FORFEITS:
        participants.replace(slot.second if record.winner == record.sides[0] else slot.first)
    return record


class _Schedule:
    """The games of a match or tournament, and their results so far.

    A sequential test decides after pairs in their order, so that the end of a match does not depend on which
    game finished first.
    """

    def __init__(
        self,
        agents: Sequence[Any],
        game: str | Game,
        games: int,
        seed: int,
        threads: int,
        test: Sprt | None = None,
        baselines: int = 0,
    ) -> None:
        self.game = find_game(game, trusted=trusted(*agents))
        if self.game.players != 2:
            raise UserError(f"{self.game.name} has one player, a match needs two: tuplet compare compares such players")
        if not 1 <= games <= MOST_GAMES:
            raise UserError(f"games must be 1 to {MOST_GAMES:,} (got {games})")
        self.agents, self.seed, self.threads, self.test = agents, seed, as_threads(threads), test
        self.requested, self.games = games, games + games % 2  # of each pairing
        self.baselines = baselines
        start, count = as_seed(seed), len(pairings(len(agents), baselines))
        # Each pairing of a tournament has its own starts, from streams that no pair uses.
        self.seeds = (int(start), *(int(stream(~start, np.uint64(k))) for k in range(1, count)))
        self.total = self.games * count
        self.results: list[GameResult] = []
        self.wins = self.draws = 0  # A's
        self.pairs = [0, 0, 0, 0, 0]  # with 0, ½, 1, 1½, 2 points
        self.settings: list[Settings] = []  # of the agents
        self.dropout: TimeoutDropout | None = None
        self.interrupted = False
        self._pace, self._moves, self._loaded = RateMeter(), 0, 0

    def play(
        self,
        out: str | Path | None,
        header: dict[str, Any],
        executor: Executor | None,
        progress: ProgressOption,
        stop: Stop | None,
    ) -> list[str]:
        """Play the games that are not in the file `out` yet; returns the names of the agents.

        `header` are settings for the first line of the file, besides those of every schedule.
        """
        # Other processes find a game by its name, or are sent the game itself.
        game = self.game.name if is_found(self.game.name) else self.game
        participants = Participants(self.agents, game)  # refuses agents that cannot be made
        names, start = participants.labels(), self.game.start(self.seed)
        self.settings = [settings_of(agent, start) for agent in participants.agents]
        participants.close()
        with ExitStack() as stack:
            file = None
            if out is not None:
                rules = type(self.game.rules)
                if not rules.__module__.startswith("tuplet."):  # your own game is identified by its code
                    header = {**header, "rules": user_code_digest(rules)}
                settings = {
                    "tuplet": __version__,
                    **header,
                    "game": self.game.name,
                    "agents": names,
                    "seed": self.seed,
                    "games": self.requested,
                }
                file = stack.enter_context(MatchFile(Path(out), settings, self.game))
                if any(self._add(each) for each in file.results[: self.total]):
                    return names
            self._loaded = len(self.results)
            if self._loaded == self.total:
                return names
            watch = stack.enter_context(watching(progress))
            code = [*self.agents, *([game] if isinstance(game, Game) else [])]
            pool, threads = stack.enter_context(choose_executor(code, self.threads, executor))
            agents = tuple(self.agents if is_local(pool) else map(as_pickled, self.agents))
            blocks = (
                (agents, game, self.seeds, self.slot(n), self.dropout.dropped if self.dropout else frozenset())
                for n in range(self._loaded, self.total)
            )
            records = ordered_map(
                _play_slot, blocks, threads=threads, executor=pool, stop=stop, on_tick=lambda _: watch(self._progress())
            )
            for number, record in enumerate(records, self._loaded):
                if record is None:
                    break
                slot = self.slot(number)
                record.names = names[slot.first], names[slot.second]
                if self.dropout is not None:
                    record = self.dropout.forfeit(slot, names, record.start) or record
                if file is not None:
                    file.add(number, record)
                self._moves += len(record.moves)
                assert record.termination is not None
                kind, plies = record.termination, len(record.moves)
                if self._add(GameResult.of(record.winner, record.sides, slot.game, kind, plies, record.reason)):
                    return names
        self.interrupted = len(self.results) < self.total
        return names

    def slot(self, number: int) -> ScheduleSlot:
        """Who plays game `number` (from 0)."""
        return slot_of(number, len(self.agents), self.baselines)

    def _add(self, result: GameResult) -> bool:
        """Count a game; returns whether the sequential test has decided."""
        if self.dropout is not None:
            self.dropout.add(self.slot(len(self.results)), result)
        self.results.append(result)
        self.wins += result.a == 1
        self.draws += result.a == 0.5
        if len(self.results) % 2 or len(self.agents) > 2:
            return False
        self.pairs[round(2 * (self.results[-2].a + result.a))] += 1
        return self.test is not None and self.test.decide(self.test.llr(*self.pairs)) is not None

    def _progress(self) -> Progress:
        figures = {}
        if len(self.agents) == 2:
            draws, losses = self.draws, len(self.results) - self.wins - self.draws
            figures["score"] = f"{self.wins:,}-{f'{draws:,}-' if draws else ''}{losses:,}"
            if self.test and sum(self.pairs):
                figures["LLR"] = f"{self.test.llr(*self.pairs):.2f}"
        rate, done = self._pace.rate(self._moves), len(self.results)
        return Progress("games", done, self.total, rate, figures=figures, before=self._loaded)


class Participants:
    """The agents of a match or tournament, in the order in which they were named."""

    def __init__(self, named: Sequence[Named], game: str | Game) -> None:
        self.named, self.game = list(named), game
        for index, each in enumerate(named):
            if isinstance(each, Pickled) and isinstance(program := each.unpickle(), ProgramCommand):
                self.named[index] = program
        self.agents: list[Any] = []
        try:
            for each in self.named:
                if isinstance(each, ProgramCommand):
                    each.check()
                self.agents.append(agent_from(each, game))
        except BaseException:  # close those that were made
            self.close()
            raise

    def labels(self) -> list[str]:
        """Their names: the text that named each, or its own. Objects of the same name are numbered."""
        names: list[str] = []
        for named, agent in zip(self.named, self.agents, strict=True):
            name = label = label_of(named, agent)
            while not isinstance(named, str | Spec) and label in names:
                label = f"{name}-{int(label[len(name) + 1 :] or 1) + 1}"
            names.append(label)
        return names

    def replace(self, index: int) -> None:
        """Make an agent anew: after a forfeit its state is unknown."""
        self._close(index)
        self.agents[index] = agent_from(self.named[index], self.game)

    def pause_programs(self, *playing: int) -> None:
        """End the programs that do not play now: all of them share memory and cores."""
        for index, named in enumerate(self.named):
            if isinstance(named, ProgramCommand) and index not in playing:
                self._close(index)

    def close(self) -> None:
        """Close the agents that were made here."""
        for index in range(len(self.agents)):
            self._close(index)

    def _close(self, index: int) -> None:
        if self.agents[index] is not self.named[index]:
            with suppress(Exception):  # an error while closing changes no result
                self.agents[index].close()


@dataclass(frozen=True)
class ProgramFolder:
    """The programs in a folder, and their limits."""

    programs: list[ProgramCommand]
    skipped: list[Skipped]
    time: float  # seconds per move
    memory: int | None  # bytes of a process group

    @classmethod
    def open(cls, folder: str | Path, time: float | None, memory: str | int | None) -> ProgramFolder:
        """Find the programs of a folder; UserError if there are none."""
        allowed = parse_memory(memory) if isinstance(memory, str) else memory
        limit = LIMIT if time is None else float(time)
        programs, skipped = submissions(folder, limit, allowed)
        if not programs:
            why = f": {skipped[0].name}: {skipped[0].why}" if skipped else ""
            raise UserError(f"there is no program in {folder}{why}")
        return cls(programs, skipped, limit, allowed)

    @property
    def settings(self) -> dict[str, Any]:
        """The limits, and a digest of each program, for the file of games."""
        return {
            "limits": {"time": self.time, "memory": self.memory},
            "programs": {
                each.name: hashlib.sha256(Path(each.command[-1]).read_bytes()).hexdigest()[:16]
                for each in self.programs
            },
        }


class TimeoutDropout:
    """Drops a program that has timed out in each of its first games and never made a move.

    It sees games in schedule order, so that the decision does not depend on which game finished first.
    """

    def __init__(self, programs: Sequence[int]) -> None:
        self._timeouts = dict.fromkeys(programs, 0)  # of programs that have not moved yet

    @property
    def dropped(self) -> frozenset[int]:
        """The participants that do not play any more."""
        return frozenset(index for index, count in self._timeouts.items() if count >= TIMEOUTS_TO_DROP)

    def add(self, slot: ScheduleSlot, result: GameResult) -> None:
        """Take note of a game."""
        for order, index in enumerate((slot.first, slot.second)):
            if result.plies > order:
                self._timeouts.pop(index, None)
            elif index in self._timeouts and result.first == order and result.kind == "late":
                self._timeouts[index] += 1

    def forfeit(self, slot: ScheduleSlot, names: Sequence[str], start: Any) -> Record | None:
        """The lost game of a program that was dropped; None if both play."""
        for side, index in zip(start.sides, (slot.first, slot.second), strict=True):
            if index in self.dropped:
                record = Record((names[slot.first], names[slot.second]), start)
                record.forfeit(side, "late", f"{names[index]}: it {DISQUALIFIED}")
                return record
        return None
