"""Games of 2048 and their statistics: `evaluate` and `play_episode`."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import Agent, RandomAgent, Settings, agent_from, settings_of
from tuplet.agents.distribution import AgentSource, agent_source, choose_executor
from tuplet.agents.environments import Environment, RandomEnvironment, environment_from
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.random_greedy import GreedyAgent, make_workspace, play_games
from tuplet.agents.searchers import Searcher
from tuplet.agents.specs import Pickled, Spec, as_pickled, label_of, name_of
from tuplet.arena.game import crash_text
from tuplet.arena.pictures_2048 import draw_evaluation
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.g2048 import Board, formats, rules_for
from tuplet.games.g2048.board import as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.statistics import Results, Summary, make_results, score_interval, summarise
from tuplet.games.record import Record
from tuplet.kernel import as_seed, stream
from tuplet.learn.self_play import play_greedily
from tuplet.search import g2048 as search_2048
from tuplet.system.blocks import Worker, as_threads, is_local, ordered_map
from tuplet.system.intervals import Interval, share_interval
from tuplet.system.pictures import inline_svg, save_figure
from tuplet.system.progress import COMPILING, Progress, ProgressOption, RateMeter, watching
from tuplet.system.settings import describe_settings
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, Table, TextTable, percent, plural
from tuplet.values.network import Network

MOST_GAMES = 100_000_000
GAMES = 10  # per block
GAMES_OF_MANY = 50  # per block, if there are MANY games
MANY = 1000
GAMES_OF_SIMPLE = 1000  # per block of random or greedy games, which take microseconds


@dataclass(frozen=True, repr=False)
class Evaluation(Displayable):
    """The scores and tiles of a player in some games."""

    player: str
    planned: int  # games
    summary: Summary
    ci95: Interval  # of the mean score
    reached_ci95: dict[int, Interval]
    mean_moves: float
    moves_per_s: float
    results: Results
    settings: Settings = field(default_factory=dict)  # all settings of the player

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.summary.games < self.planned

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        summary = self.summary
        ci95 = list(self.ci95) if math.isfinite(self.ci95[0]) else None  # one game has no interval
        return {
            "games": summary.games,
            "mean_score": summary.mean_score,
            "ci95": ci95,
            "max_score": summary.max_score,
            "mean_moves": self.mean_moves,
            "moves_per_s": round(self.moves_per_s),
            "reached": {str(t): s for t, s in summary.reached.items()},
            "reached_ci95": {str(t): list(ci) for t, ci in self.reached_ci95.items()},
            "ended": {str(t): s for t, s in summary.ended.items()},
            "settings": self.settings,
        }

    def table(self) -> Table:
        """A row for each game: score, largest tile, and moves."""
        rows = (
            (number, int(score), 1 << int(tile), int(length))
            for number, (score, tile, length) in enumerate(zip(*self.results, strict=True), 1)
        )
        return Table(("game", "score", "tile", "moves"), rows)

    def _mean(self) -> str:
        low, high = self.ci95
        interval = f"  (95 %: {low:,.0f} to {high:,.0f})" if math.isfinite(low) else ""
        return f"{self.summary.mean_score:,.1f}{interval}"

    def text_tables(self) -> list[TextTable]:
        """The mean score, and the tiles."""
        summary = self.summary
        facts = [
            f"mean score  {self._mean()}",
            f"best score  {summary.max_score:,}    {self.mean_moves:,.0f} moves per game    "
            f"{self.moves_per_s:,.0f} moves/s",
            *describe_settings(self.player, self.settings),
        ]
        rows = []
        for tile, share in summary.reached.items():
            low, high = self.reached_ci95[tile]
            interval = f"{100 * low:.1f} - {100 * high:.1f}"
            rows.append([str(tile), percent(share), interval, percent(summary.ended.get(tile, 0))])
        columns = ["tile", "reached", "95 %", "ended with"]
        title = f"{self.player}  {plural(summary.games, 'game')}"
        return [TextTable(title, notes=facts), TextTable("", columns, rows, words=())]

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure of the scores and the tiles; saved to `path` if given."""
        figure = draw_evaluation(self)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _repr_html_(self) -> str:
        """The tables and the figure."""
        return super()._repr_html_() + inline_svg(self.plot)

    def __repr__(self) -> str:
        games = plural(self.summary.games, "game")
        return f"<Evaluation of {self.player}, {games}: {self._mean()}>"


def summarise_games(
    player: str, planned: int, results: Results, rate: float, settings: Settings | None = None
) -> Evaluation:
    """Means, shares and intervals of finished games."""
    summary = summarise(results)
    games = summary.games
    return Evaluation(
        player,
        planned,
        summary,
        score_interval([float(s) for s in results.scores]),
        {t: share_interval(round(share * games), games) for t, share in summary.reached.items()},
        float(results.lengths.mean()),
        rate,
        results,
        settings or {},
    )


def evaluate(
    player: Network | Agent | str | Spec | Callable[..., Agent],
    environment: Environment | str | Spec | Callable[..., Environment] | None = None,
    *,
    games: int = 1000,
    first: int = 0,
    threads: int = 1,
    seed: int = 0,
    spawn4: float | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    out: str | Path | None = None,
    on_episode: Callable[[Record], None] | None = None,
    executor: Executor | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Evaluation:
    """Play games of 2048 and summarise them. The same seed gives the same games.

    A player, or an environment, is named by a text as on the command line, or is a class, a function that makes
    one, or an object. `depth`, `time` (seconds per move) and `downgrade` are settings of players with values.
    A network (or a `LearnedAgent`), `random` and `greedy` play compiled games in the usual environment. Other
    players and environments play in Python, and so do all if `out` (a file that games are appended to) or
    `on_episode` is given.

    Games are played by threads, by processes (your own classes, and copies of objects), or by `executor`. The
    result does not depend on them if a player draws only from the stream that `open` gets, and remembers nothing
    from game to game; a player with a time limit never plays the same game twice. On one core an object of your
    class plays all games; on more, it is made anew for every ten games. `first` is the number of the first game.
    `stop`, or Ctrl-C, ends early; the result has the games finished by then.
    """
    if not 1 <= games <= MOST_GAMES:
        raise UserError(f"games must be 1 to {MOST_GAMES:,} (got {games})")
    as_threads(threads)
    as_seed(seed)
    made = agent_from(player, "2048", seed, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
    if spawn4 is None:
        spawn4 = made.spawn4 if isinstance(made, LearnedAgent) else None
    spawn4 = 0.1 if spawn4 is None else spawn4
    if getattr(environment, "text", environment) == "random":
        environment = None
    if environment is not None:
        environment_from(environment, seed)  # refuses it now, not in a thread
    recorded = out is not None or on_episode is not None
    simple = type(made) in (RandomAgent, GreedyAgent)  # not a subclass
    compiled = isinstance(made, LearnedAgent) or simple
    compiled = compiled and environment is None and not recorded
    if isinstance(made, LearnedAgent) and not compiled:
        made.network.as_board(Board())  # recorded games are played on 4x4
    names = [player] if environment is None else [player, environment]
    with (
        watching(progress) as watch,
        open(out or os.devnull, "a", encoding="utf-8") as file,  # noqa: PTH123
        choose_executor(names, threads, executor, copies=True) as (pool, threads),
        agent_source(player, made, seed, pool, threads > 1) as source,
    ):
        if compiled:
            size = (GAMES_OF_SIMPLE if simple else GAMES_OF_MANY) if games >= MANY else GAMES
            if isinstance(made, LearnedAgent) and not made.greedy:
                size = 1
            work: Callable[..., Any] = _play_compiled
            more: tuple[Any, ...] = ()
            if is_local(pool):
                watch(Progress(COMPILING))
                _play_compiled(source, spawn4, seed, 0, 0, Worker())
        else:
            size, work = GAMES if threads > 1 else 1, _play_in_python
            placer = environment if is_local(pool) else as_pickled(environment)
            more = (placer, threads > 1, recorded)
            if isinstance(made, Searcher) and is_local(pool):
                watch(Progress(COMPILING))
                position = Game2048(spawn4=spawn4).start()
                made.search.load(position.rules, position.words)
        blocks = (
            (source, spawn4, seed, first + done, min(size, games - done), *more) for done in range(0, games, size)
        )
        played = _Progress(games, watch)
        for results, finished in ordered_map(
            work, blocks, threads=threads, executor=pool, stop=stop, on_tick=played.report
        ):
            planned = min(size, games - played.games)
            played.add(results)
            for episode in finished:
                file.write(episode.text("episode") + "\n")
                file.flush()
                if on_episode is not None:
                    on_episode(episode)
            if len(results.scores) < planned:
                break  # keep the first games: those that finish first are short
    if not played.games:
        raise Stopped("stopped before the first game was finished")
    name = label_of(player, made)
    return summarise_games(name, games, played.results(), played.rate, settings_of(made))


class _Progress:
    """The games so far."""

    def __init__(self, planned: int, watch: Callable[[Progress], object]) -> None:
        self.planned, self.watch = planned, watch
        self.games = self.moves = 0
        self._parts: list[Results] = []
        self._pace, self._began = RateMeter(), time.perf_counter()
        self._ended = self._began

    def add(self, results: Results) -> None:
        """Count a block's games."""
        self._parts.append(results)
        self.games += len(results.scores)
        self.moves += int(results.lengths.sum())
        self._ended = time.perf_counter()

    def report(self, worker: Worker) -> None:
        """Report progress; unfinished games count with the moves made so far."""
        moves = self.moves + sum(int(lengths.sum()) for lengths in worker.under_way)
        self.watch(Progress("games", self.games, self.planned, self._pace.rate(moves)))

    @property
    def rate(self) -> float:
        """Moves per second."""
        return self.moves / max(self._ended - self._began, 1e-9)

    def results(self) -> Results:
        """All games, in their order."""
        return Results(*(np.concatenate(parts) for parts in zip(*self._parts, strict=True)))


def _play_compiled(
    source: AgentSource, spawn4: float, seed: int, first: int, games: int, worker: Worker
) -> tuple[Results, list[Record]]:
    """A block of compiled games; fewer if it was stopped."""
    player, results, start = source.agent(worker, first), make_results(games), as_seed(seed)
    if isinstance(player, RandomAgent | GreedyAgent):
        greedy, work = isinstance(player, GreedyAgent), worker.keep("workspace", make_workspace)
        done = play_games(rules_for(spawn4=spawn4), greedy, ~start, start, first, results, work, worker.stop.flag)
        return Results(*(part[:done] for part in results)), []
    assert isinstance(player, LearnedAgent)
    net = player.network
    rules = rules_for(*net.size, spawn4)
    if player.greedy:
        return play_greedily(net, rules, start, first, games, worker), []
    with worker.showing(results.lengths), agent_hooks.listening(worker.stop, player):
        done = search_2048.play_games(rules, *player.search, player.workspace, start, first, games, results)
    return Results(*(part[:done] for part in results)), []


def _play_in_python(
    source: AgentSource,
    spawn4: float,
    seed: int,
    first: int,
    games: int,
    environment: Any,
    several: bool,
    recorded: bool,
    worker: Worker,
) -> tuple[Results, list[Record]]:
    """A block of games in Python; fewer if it was stopped."""
    player = source.agent(worker, first)
    if isinstance(environment, Pickled):
        environment = environment.unpickle()
    if environment is None or isinstance(environment, RandomEnvironment):
        placer: Any = RandomEnvironment(seed, spawn4) if environment is None else environment.fresh()
        placer.next_game = first
    elif several:
        placer = environment_from(environment, int(stream(as_seed(seed), np.uint64(first))) >> 1)
    else:
        placer = worker.keep("environment", lambda: environment_from(environment, seed))
    results = make_results(games)
    episodes: list[Record] = []
    for n in range(games):
        streams = streams_of(seed, first + n)
        episode = play_episode(player, placer, worker.stop, streams=streams, spawn4=spawn4)
        if not episode.over:
            return Results(*(part[:n] for part in results)), episodes
        results.scores[n] = episode.score
        results.tiles[n] = max(episode.position.exponents)
        results.lengths[n] = len(episode.moves)
        episodes += [episode] if recorded else []
    return results, episodes


Streams = tuple[np.uint64, np.uint64]  # a player's and an environment's


def play_episode(
    player: Any,
    environment: Any = "random",
    stop: Stop | None = None,
    *,
    seed: int = 0,
    streams: Streams | None = None,
    spawn4: float | None = None,
) -> Record:
    """Let a player and an environment take turns until no move is legal.

    Either is an object, a class, or a name. `streams` are their random streams for this game, by default
    the first ones of `seed`. (A `RandomEnvironment` has its own.) An illegal move or placement
    is a UserError that names its author. If `stop` is set meanwhile, the game is returned unfinished, without
    the move under way: a player that has a `stop` ends its search early.
    """
    player, environment = agent_from(player, "2048", seed), environment_from(environment, seed)
    share = getattr(environment, "spawn4", 0.1) if spawn4 is None else spawn4
    game = Game2048(spawn4=share, any_tile=not isinstance(environment, RandomEnvironment))
    record = open_episode(player, environment, game, streams or streams_of(seed, 0))
    with agent_hooks.listening(stop, player):
        while not record.over:
            if agent_hooks.is_stopped(stop) or not slide(player, record, stop):
                return record
            place(environment, record)
    record.info["closed_ms"] = formats.now_ms()
    for side in (player, environment):
        ask(side, "end", agent_hooks.end, side, record.position)
    return record


def streams_of(seed: int, number: int) -> Streams:
    """The random streams of a player and an environment in game `number`."""
    start, game = as_seed(seed), np.uint64(number)
    return np.uint64(stream(~start, game)), np.uint64(stream(start, game))


def open_episode(player: object, environment: Any, game: Game2048, streams: Streams, name: str = "") -> Record:
    """Begin a game: call the `open` hooks of a player and an environment, and place two tiles."""
    now = formats.now_ms()
    names = [formats.plain_name(each) for each in (name or name_of(player), name_of(environment))]
    record = formats.new_record(game, names[0], placer=names[1], opened_ms=now, closed_ms=now)
    for who, role, state in zip((player, environment), ("player", "environment"), streams, strict=True):
        ask(who, "open", agent_hooks.begin, who, record.start, role, state)
    for _ in range(2):
        place(environment, record)
    return record


def slide(player: Any, record: Record, stop: Stop | None = None) -> bool:
    """Let the player make a move; False if `stop` is set, and no move was made."""
    began = time.perf_counter()
    try:
        move = ask(player, "choose", player.choose, record.position)
    except ValueError:
        if agent_hooks.is_stopped(stop):  # a player that is interrupted is not to blame
            return False
        raise
    if agent_hooks.is_stopped(stop):
        return False
    try:
        record.play(as_move(move))
    except ValueError as error:
        raise UserError(f"player {record.names[0]}: {error}: {record.position.board!r}") from None
    record.info["times"].append(_since(began))
    return True


def place(environment: Environment, record: Record) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = ask(environment, "place", environment.place, record.position.board)
    try:
        cell, tile = placed
        formats.place(record, int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        placer = record.info["placer"]
        raise UserError(f"environment {placer} placed {placed!r}, not (empty cell, tile): {error}") from None


def ask(side: object, what: str, method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method of a user's class; an error in it becomes a UserError of one line."""
    try:
        return method(*arguments)
    except Exception as error:
        raise UserError(f"{what} of {name_of(side)} failed with {crash_text(error)}") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))
