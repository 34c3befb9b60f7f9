"""Matches in pairs and tournaments: who plays a game better?

Games are played in pairs: both start from one position and see the same dice, and the agents
exchange colours, so that neither the start nor the first move favours anybody. A block is a game:
its number says between whom, from which start, and with what luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import Named
from tuplet.agents.distribution import choose_executor
from tuplet.agents.protocol.subprocess_agent import ProgramCommand
from tuplet.agents.settings import Settings, settings_of
from tuplet.agents.specs import Pickled, Spec, as_pickled, as_spec, trusted
from tuplet.arena.folder import ProgramFolder, TimeoutDropout, unplayed
from tuplet.arena.game import play_game
from tuplet.arena.match_file import MOST_AGENTS, GameFile
from tuplet.arena.participants import Participants
from tuplet.arena.played import GameResult, slot_of
from tuplet.arena.reports import Reports
from tuplet.arena.results import Match, Tournament
from tuplet.arena.sprt import Sprt
from tuplet.errors import UserError
from tuplet.games.catalogue import find_game, is_found
from tuplet.games.position import Game
from tuplet.games.record import FORFEITS, Record
from tuplet.kernel import as_seed, stream, user_code_digest
from tuplet.system.blocks import Worker, as_threads, is_local, ordered_map
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.version import __version__

MOST_GAMES = 10_000_000


def _play_number(
    named: tuple[Named, ...],
    game: str | Game,
    seeds: tuple[int, ...],
    number: int,
    dropped: frozenset[int],
    worker: Worker,
) -> Record | None:
    """Game `number` of a schedule, whoever plays it; None if it was told to stop."""
    if worker.stop.is_set():
        return None
    here = all(isinstance(each, Spec | Pickled) or callable(each) for each in named)
    participants = worker.keep((named, game) if here else "seats", lambda: Participants(named, game))
    pairings = list(combinations(range(len(named)), 2))
    at = slot_of(number, len(pairings))
    pair = np.uint64(stream(np.uint64(seeds[at.pairing]), np.uint64(at.pair)))
    rolls, start = find_game(game, trusted=True).opening(pair)
    n = np.uint64(2 * at.game)
    streams = (np.uint64(stream(pair, n)), np.uint64(stream(pair, n + np.uint64(1))))
    first, second = pairings[at.pairing][:: -1 if at.game else 1]
    if dropped & {first, second}:
        names = participants.labels()
        return unplayed((names[first], names[second]), start, 0 if first in dropped else 1)
    participants.rest(first, second)
    record = play_game(
        participants.agents[first], participants.agents[second], start, rolls=rolls, streams=streams, stop=worker.stop
    )
    if not record.over:
        return None
    if record.kind in FORFEITS:
        participants.replace(second if record.winner == record.sides[0] else first)
    return record


def match(
    a: Named,
    b: Named,
    game: str | Game = "ewn-6x7",
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int = 1,
    sprt: str | Sprt | None = None,
    save: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Match:
    """Play games between two agents in pairs, and judge them from A's side.

    Pair p starts from a position drawn from seed and p alone; A moves first, then B. The
    same seed gives the same games whoever plays them: threads, each of which makes agents of its
    own, processes (for classes of one's own, or copies of an object), or `executor`. (Agents must
    draw from the stream they are given, and keep nothing from game to game.) An agent is named by a
    text, or is a class, what makes one, or an object. An odd number of games is rounded up. With
    `sprt` (as in "0,20") the match ends as soon as the sequential test has an answer. With `save`
    every game becomes a line of that file; if it has games of the same match already, the match
    goes on where it ended. `stop`, or Ctrl-C, ends early and judges the pairs finished by then
    (`interrupted` tells).
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    more = {"kind": "match", "sprt": [float(test.elo0), float(test.elo1)] if test else None}
    schedule = _Schedule([a, b], game, games, seed, threads, _Score(1, test))
    names, played, interrupted = schedule.play(save, more, executor, progress, stop)
    played = played[: len(played) // 2 * 2]
    if not played:
        raise Stopped("stopped before the first pair of games was finished")
    return Match(
        names[0],
        names[1],
        schedule.held.name,
        seed,
        _even(games),
        played,
        test,
        interrupted,
        schedule.held.kinds,
        schedule.settings,
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
    save: str | Path | None = None,
    page: str | Path | None = None,
    csv: str | Path | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Tournament:
    """Let everybody play `games` games, in pairs, against everybody else, and rate them all.

    A pair of every pairing is played, then another of every pairing: whenever it ends, all have
    played about as often. Everything else is as in `match`.

    With `folder` every program in it plays, too (docs/class.md): `time` is the seconds that each
    has for a move, `memory` ("1GB") what the processes of each may have resident. That is no
    sandbox: programs can do whatever you can. One that has not moved in time in any of its first
    four games is not asked again, and loses the others. `page` is an HTML page of everything, `csv`
    the table; its games are in a file beside it.
    """
    if folder is None and (time is not None or memory is not None):
        raise UserError("time and memory are limits of a folder's programs: which folder?")
    reports = Reports(page, csv)
    group = None if folder is None else ProgramFolder.of(folder, time, memory)
    if group is not None:
        agents = [*agents, *group.programs]
    named = [as_spec(each).text for each in agents if isinstance(each, str | Spec)]
    named += [each.name for each in agents if isinstance(each, ProgramCommand)]
    twice = [each for each in named if named.count(each) > 1]
    if twice:
        raise UserError(f"{twice[0]} is in the tournament twice")
    if not 2 <= len(agents) <= MOST_AGENTS:
        raise UserError(f"a tournament has 2 to {MOST_AGENTS} agents, not {len(agents)}")
    pairings = list(combinations(range(len(agents)), 2))
    schedule = _Schedule(agents, game, games, seed, threads, _Score(len(pairings)))
    more: dict[str, Any] = {"kind": "tournament"}
    if group is not None:
        more |= group.settings
        asked = range(len(agents) - len(group.programs), len(agents))
        schedule.dropout = TimeoutDropout(pairings, asked)
    with reports.games(save) as file:
        names, played, interrupted = schedule.play(file, more, executor, progress, stop)
        held = schedule.held
        result = Tournament.of(names, held.name, seed, _even(games), played, interrupted, held.kinds, schedule.settings)
        if not result.matches:
            raise Stopped("stopped before the first pair of games was finished")
        if group is not None:
            result = replace(result, skipped=group.skipped)
        reports.write(result, file)
    return result


class _Score:
    """The score while games come in; a sequential test decides after pairs, in their order.

    That makes the end of a match independent of who played which game.
    """

    def __init__(self, pairings: int, test: Sprt | None = None) -> None:
        self.pairings, self.test = pairings, test
        self.games = self.wins = self.draws = 0
        self.pairs = [0, 0, 0, 0, 0]  # of 0, ½, 1, 1½, 2 points
        self.first = 0.0  # A's score in the first game of a pair

    def add(self, played: GameResult) -> bool:
        """Count a game; returns whether there were enough."""
        self.games += 1
        self.wins += played.a == 1
        self.draws += played.a == 0.5
        if self.games % 2:
            self.first = played.a
            return False
        self.pairs[round(2 * (self.first + played.a))] += 1
        return self.test is not None and self.test.decide(self.test.llr(*self.pairs)) is not None

    def figures(self) -> dict[str, str]:
        """What there is to tell of it."""
        if self.pairings > 1:
            return {}
        draws = f"{self.draws:,}-" if self.draws else ""
        told = {"score": f"{self.wins:,}-{draws}{self.games - self.wins - self.draws:,}"}
        if self.test and sum(self.pairs):
            told["LLR"] = f"{self.test.llr(*self.pairs):.2f}"
        return told


def _even(games: int) -> int:
    return games + games % 2


class _Schedule:
    """The games of a match or tournament, and how far they are."""

    def __init__(
        self, named: Sequence[Any], game: str | Game, games: int, seed: int, threads: int, score: _Score
    ) -> None:
        self.held = find_game(game, trusted=trusted(*named))
        if self.held.players != 2:
            raise UserError(f"{self.held.name} is for one player, and a match for two")
        if not 1 <= games <= MOST_GAMES:
            raise UserError(f"games must be 1 to {MOST_GAMES:,} (got {games})")
        self.named, self.games, self.seed = named, games, seed
        # Other processes find a game by its name, or are sent the game itself.
        self.game = self.held.name if is_found(self.held.name) else self.held
        self.threads, self.score = as_threads(threads), score
        start = as_seed(seed)
        # Every pairing of a tournament has starts of its own, of streams that no pair has.
        others = (stream(~start, np.uint64(k)) for k in range(1, score.pairings))
        self.seeds = (int(start), *map(int, others))
        self.total = _even(games) * score.pairings
        self.played: list[GameResult] = []
        self.settings: list[Settings] = []  # of the agents
        self.dropout: TimeoutDropout | None = None
        self._pace, self._moves, self._before = RateMeter(), 0, 0

    def play(
        self,
        save: str | Path | None,
        more: dict[str, Any],
        executor: Executor | None,
        progress: ProgressOption,
        stop: Stop | None,
    ) -> tuple[list[str], list[GameResult], bool]:
        """Play what is not in the file yet: the agents' names, all games, and whether it stopped.

        `more` are settings to keep in the file with the others.
        """
        participants = Participants(self.named, self.game)  # refuses agents that cannot be made, and names them
        names = participants.labels()
        start = self.held.start(self.seed)
        self.settings = [settings_of(agent, start) for agent in participants.agents]
        participants.close()
        with ExitStack() as stack:
            file = None
            if save is not None:
                rules = type(self.held.rules)
                if not rules.__module__.startswith("tuplet."):  # the code is the rules
                    more = {**more, "rules": user_code_digest(rules)}
                settings = {
                    "tuplet": __version__,
                    **more,
                    "game": self.held.name,
                    "agents": names,
                    "seed": self.seed,
                    "games": self.games,
                }
                file = stack.enter_context(GameFile(Path(save), settings, self.held))
            known = [] if file is None else file.played[: self.total]
            if any(self._add(each) for each in known) or len(self.played) == self.total:
                return names, self.played, False
            self._before = len(self.played)
            watch = stack.enter_context(watching(progress))
            movers = [*self.named, *([self.game] if isinstance(self.game, Game) else [])]
            pool, threads = stack.enter_context(choose_executor(movers, self.threads, executor))
            named = tuple(self.named)
            if not is_local(pool):
                named = tuple(map(as_pickled, named))
            played = ordered_map(
                _play_number,
                ((named, self.game, self.seeds, n, self._absent) for n in range(self._before, self.total)),
                threads=threads,
                executor=pool,
                stop=stop,
                on_tick=lambda _: watch(self._event()),
            )
            met = list(combinations(names, 2))
            for number, record in enumerate(played, self._before):
                if record is None:
                    break
                at = slot_of(number, self.score.pairings)
                both = met[at.pairing][:: -1 if at.game else 1]
                record.names = both[0], both[1]
                record = self._in_its_order(number, record)
                if file is not None:
                    file.add(number, record)
                self._moves += len(record.moves)
                if self._add(GameResult.of(record, at.game)):
                    return names, self.played, False
        return names, self.played, len(self.played) < self.total

    @property
    def _absent(self) -> frozenset[int]:
        return frozenset() if self.dropout is None else self.dropout.dropped

    def _in_its_order(self, number: int, record: Record) -> Record:
        """The game, or what it is if somebody was not to be asked: others may have been faster."""
        if not self._absent or self.dropout is None:
            return record
        at = slot_of(number, self.score.pairings)
        movers = self.dropout.pairings[at.pairing][:: -1 if at.game else 1]
        out = [place for place, seat in enumerate(movers) if seat in self._absent]
        return unplayed(record.names, record.start, out[0]) if out else record

    def _add(self, played: GameResult) -> bool:
        if self.dropout is not None:
            self.dropout.see(slot_of(len(self.played), self.score.pairings), played)
        self.played.append(played)
        return self.score.add(played)

    def _event(self) -> Progress:
        rate, figures = self._pace.rate(self._moves), self.score.figures()
        return Progress("games", len(self.played), self.total, rate, "moves/s", figures, before=self._before)
