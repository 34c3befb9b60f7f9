"""Games of EWN between agents: one game, a match in pairs, everybody against everybody.

Games are played in pairs: both start from one position and see the same dice, and the agents
exchange colours, so that neither the start nor the first move favours anybody.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from itertools import combinations
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

import tuplet
from tuplet.agents.ewn import Agent, Forfeit, make_agent
from tuplet.arena.hall import play_in_order
from tuplet.arena.results import Match, Played, Tournament, place_of
from tuplet.arena.saved import GameFile
from tuplet.arena.sprt import Sprt
from tuplet.games.ewn import FORFEITS, SIDES, Position, Record, Side, family
from tuplet.kernel import as_seed, stream

MOST_GAMES = 10_000_000
_STREAMS = np.uint64(0), np.uint64(1), np.uint64(2)
_REASON = 200  # characters of a forfeit's reason that are kept

Spec = str | Callable[[], Agent]  # an agent by name, or what makes one
Watcher = Callable[[int, int, str], None]  # games finished, moves made since, the score in words


def play_game(
    red: Agent,
    blue: Agent,
    start: Position,
    *,
    rolls: np.uint64 = _STREAMS[0],
    streams: tuple[np.uint64, np.uint64] = _STREAMS[1:],
    time_limit: float | None = None,
    stop: Event | None = None,
) -> Record:
    """Let two agents play from `start` on.

    `rolls` is the random stream of the die, `streams` those of Red and Blue. An agent that
    raises an exception, answers with an illegal move, or takes longer than `time_limit` seconds
    for a move loses by forfeit. If `stop` is set meanwhile, the game is returned unfinished.
    """
    if start.over:
        raise ValueError("there is nothing left to play: the game is over")
    agents: dict[Side, Agent] = {"red": red, "blue": blue}
    record = Record(name_of(red), name_of(blue), start)
    side: Side
    try:
        for side, state in zip(SIDES, streams, strict=True):
            if callable(getattr(agents[side], "open_game", None)):
                _ask(agents[side], "open_game", start, side, state)
        while not record.over and not (stop is not None and stop.is_set()):
            if record.position.needs_roll:
                rolls, rolled = record.position.random_roll(rolls)
                assert rolled.die is not None
                record.roll(rolled.die)
            side = record.position.turn
            _move(agents[side], record, time_limit)
    except Forfeit as forfeit:
        record.forfeit(side, forfeit.kind, _in_one_line(forfeit.reason))
    if record.over and record.kind not in FORFEITS:
        for agent in (red, blue):  # the loser has not seen the last move yet
            if callable(getattr(agent, "close_game", None)):
                with suppress(Forfeit):  # too late to lose
                    _ask(agent, "close_game", record.position)
    return record


def _move(agent: Agent, record: Record, time_limit: float | None) -> None:
    began = time.perf_counter()
    move = _ask(agent, "choose", record.position)
    took = time.perf_counter() - began
    if time_limit is not None and took > time_limit:
        raise Forfeit("late", f"{took:.2f} s for a move, {time_limit:g} s are allowed")
    if not isinstance(move, str):
        raise Forfeit("illegal", f"a move is a text, not a {type(move).__name__}")
    try:
        record.play(move)
    except ValueError as error:
        raise Forfeit("illegal", str(error)) from None


def _ask(agent: object, method: str, *arguments: object) -> Any:
    """Call a method of anybody's class; what goes wrong in there loses the game."""
    try:
        return getattr(agent, method)(*arguments)
    except Forfeit:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        raise Forfeit("crashed", f"{type(error).__name__}: {error} ({where})") from None


def _in_one_line(text: object) -> str:
    line = " ".join(str(text).split())
    line = "".join(each if each.isprintable() else "?" for each in line)
    return line if len(line) <= _REASON else line[: _REASON - 3] + "..."


def name_of(agent: object) -> str:
    """What an agent is called."""
    return str(getattr(agent, "name", type(agent).__name__))


class _Desk:
    """A thread's own agents, and how they play the games of a schedule."""

    def __init__(
        self, specs: Sequence[Spec], game: str, seeds: Sequence[np.uint64], stack: ExitStack
    ) -> None:
        self.specs, self.game, self.seeds = specs, game, seeds
        self.pairings = list(combinations(range(len(specs)), 2))
        self.agents: list[Agent] = []
        stack.callback(self.close)  # also when only some of them can be made
        for spec in specs:
            self.agents.append(self._make(spec))

    def _make(self, spec: Spec) -> Agent:
        return make_agent(spec, self.game) if isinstance(spec, str) else spec()

    def play(self, number: int, stop: Event) -> Record | None:
        """Game `number` of the schedule; None if it was stopped."""
        at = place_of(number, len(self.pairings))
        pair = np.uint64(stream(self.seeds[at.pairing], np.uint64(at.pair)))
        rolls, start = Position.random(self.game, pair)
        first = np.uint64(2 * at.game)
        streams = (np.uint64(stream(pair, first)), np.uint64(stream(pair, first + np.uint64(1))))
        seats = self.pairings[at.pairing]
        if at.game:
            seats = seats[::-1]
        red, blue = seats
        record = play_game(
            self.agents[red], self.agents[blue], start, rolls=rolls, streams=streams, stop=stop
        )
        if not record.over:
            return None
        if record.kind in FORFEITS:
            # Who knows in what state the loser is now: the next game gets a new one.
            loser = seats[record.winner == "red"]
            _close(self.agents[loser])
            self.agents[loser] = self._make(self.specs[loser])
        record.red, record.blue = (self.label(seat) for seat in seats)
        return record

    def label(self, seat: int) -> str:
        """The name an agent was asked for by, or its own."""
        spec = self.specs[seat]
        return spec if isinstance(spec, str) else name_of(self.agents[seat])

    def close(self) -> None:
        """Let all agents go."""
        for agent in self.agents:
            _close(agent)


def _close(agent: Agent) -> None:
    with suppress(Exception):  # it has played; how it leaves is its own affair
        closing = getattr(agent, "close", None)
        if callable(closing):
            closing()


def match(
    a: Spec,
    b: Spec,
    game: str = "ewn-6x7",
    *,
    games: int = 1000,
    seed: int = 0,
    threads: int = 1,
    sprt: str | Sprt | None = None,
    watch: Watcher | None = None,
    save: str | Path | None = None,
) -> Match:
    """Play games between two agents in pairs, and judge them from A's side.

    Pair p starts from a position drawn from seed and p alone; A is Red first, then Blue. The
    same seed gives the same games for any number of threads, each of which makes agents of its
    own (if they draw from the stream they are given, and keep nothing from game to game). An
    odd number of games is rounded up. With `sprt` (as in "0,20") the match ends as soon as the
    sequential test has an answer. With `save` every game becomes a line of that file; if it has
    games of the same match already, the match goes on where it ended. Ctrl-C ends early and
    judges the pairs finished by then (`interrupted` tells).
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    names, played, interrupted = _play(
        [a, b], game, games, seed, threads, watch, save, _Score(1, test),
        {"kind": "match", "sprt": [float(test.elo0), float(test.elo1)] if test else None},
    )  # fmt: skip
    played = played[: len(played) // 2 * 2]
    if not played:
        raise KeyboardInterrupt
    return Match(names[0], names[1], game, seed, _even(games), played, test, interrupted)


def tournament(
    agents: Sequence[Spec],
    game: str = "ewn-6x7",
    *,
    games: int = 200,
    seed: int = 0,
    threads: int = 1,
    watch: Watcher | None = None,
    save: str | Path | None = None,
) -> Tournament:
    """Let everybody play `games` games, in pairs, against everybody else, and rate them all.

    A pair of every pairing is played, then another of every pairing: whenever it ends, all have
    played about as often. Everything else is as in `match`.
    """
    named = [spec for spec in agents if isinstance(spec, str)]
    twice = [spec for spec in named if named.count(spec) > 1]
    if twice:
        raise ValueError(f"{twice[0]} is in the tournament twice")
    if not 2 <= len(agents) <= 64:
        raise ValueError(f"a tournament has 2 to 64 agents, not {len(agents)}")
    pairings = len(agents) * (len(agents) - 1) // 2
    names, played, interrupted = _play(
        agents, game, games, seed, threads, watch, save, _Score(pairings), {"kind": "tournament"}
    )
    result = Tournament.of(names, game, seed, _even(games), played, interrupted)
    if not result.matches:
        raise KeyboardInterrupt
    return result


class _Score:
    """The score while games come in; a sequential test decides after pairs, in their order.

    That makes the end of a match independent of the number of threads.
    """

    def __init__(self, pairings: int, test: Sprt | None = None) -> None:
        self.pairings, self.test = pairings, test
        self.games = self.wins = 0
        self.pairs = [0, 0, 0]  # lost, split, won
        self.won_first = False

    def add(self, played: Played) -> bool:
        """Count a game; returns whether there were enough."""
        self.games += 1
        self.wins += played.a_won
        if self.games % 2:
            self.won_first = played.a_won
            return False
        self.pairs[self.won_first + played.a_won] += 1
        return self.test is not None and self.test.decide(self.test.llr(*self.pairs)) is not None

    def __str__(self) -> str:
        if self.pairings > 1:
            return ""
        ratio = f"  LLR {self.test.llr(*self.pairs):.2f}" if self.test and sum(self.pairs) else ""
        return f"{self.wins:,}-{self.games - self.wins:,}{ratio}"


def _even(games: int) -> int:
    return games + games % 2


def _play(
    specs: Sequence[Spec],
    game: str,
    games: int,
    seed: int,
    threads: int,
    watch: Watcher | None,
    save: str | Path | None,
    score: _Score,
    more: dict[str, Any],
) -> tuple[list[str], list[Played], bool]:
    """Play what is not in the file yet: the agents' names, all games, and whether Ctrl-C came.

    `more` are settings to keep in the file with the others.
    """
    family(game)
    if not 1 <= games <= MOST_GAMES:
        raise ValueError(f"the games of a {more['kind']} are 1 to {MOST_GAMES:,}, not {games}")
    if not 1 <= threads <= 256:
        raise ValueError(f"threads are 1 to 256, not {threads}")
    start, pairings = as_seed(seed), score.pairings
    # Every pairing of a tournament has starts of its own, of streams that no pair has.
    seeds = [start, *(np.uint64(stream(~start, np.uint64(k))) for k in range(1, pairings))]
    total = _even(games) * pairings
    played: list[Played] = []
    moves, enough = 0, False
    with ExitStack() as stack:
        desks = [_Desk(specs, game, seeds, stack)]
        names = [desks[0].label(seat) for seat in range(len(specs))]
        file = None
        if save is not None:
            settings = {
                "tuplet": tuplet.__version__, **more, "game": game, "agents": names,
                "seed": seed, "games": games,
            }  # fmt: skip
            file = stack.enter_context(GameFile(Path(save), settings))
            for each in file.played[:total]:
                played.append(each)
                enough = score.add(each)
                if enough:
                    break
        if enough or len(played) == total:
            return names, played, False
        for _ in range(min(threads, total - len(played)) - 1):
            desks.append(_Desk(specs, game, seeds, stack))

        def take(number: int, record: Record) -> bool:
            nonlocal moves
            if file is not None:
                file.add(number, record)
            played.append(Played.of(record, place_of(number, pairings).game))
            moves += len(record.moves)
            return score.add(played[-1])

        def look() -> None:
            if watch is not None:
                watch(len(played), moves, str(score))

        interrupted = play_in_order(
            range(len(played), total), [desk.play for desk in desks], take, look
        )
    return names, played, interrupted


__all__ = ["Match", "Tournament", "match", "name_of", "play_game", "tournament"]
