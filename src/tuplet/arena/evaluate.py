"""How well does a player of 2048 play? Many games, and honest intervals."""

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
from tuplet.agents.specs import Pickled, Spec, as_pickled, label_of
from tuplet.arena.episode import play_episode, streams_of
from tuplet.arena.pictures_2048 import draw_evaluation
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.g2048 import Board, rules_for
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

GAMES, MANY, LONG = 10, 50, 1000  # of a block, where games are quick; if there are so many
MOST = 1000  # of a block, where they take microseconds
MOST_GAMES = 100_000_000


@dataclass(frozen=True, repr=False)
class Evaluation(Displayable):
    """How well a player did over some games."""

    player: str
    planned: int  # games
    summary: Summary
    ci95: Interval  # of the mean score
    reached_ci95: dict[int, Interval]
    mean_moves: float
    moves_per_s: float
    results: Results
    settings: Settings = field(default_factory=dict)  # the player's, all of them

    @property
    def interrupted(self) -> bool:
        """Whether it ended early."""
        return self.summary.games < self.planned

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        summary = self.summary
        # One game has no interval: JSON knows no infinity.
        ci95 = list(self.ci95) if math.isfinite(self.ci95[0]) else None
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
            f"best score  {summary.max_score:,}    {self.mean_moves:,.0f} moves a game    "
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
        """How scores are spread and tiles reached, as a figure; saved to `path` if given."""
        figure = draw_evaluation(self)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _repr_html_(self) -> str:
        """How notebooks show it: tables, and a picture where matplotlib is installed."""
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
    """Play games and judge them. The same seed gives the same games, whoever plays them.

    A player, or an environment, is named by a text as on the command line, or is a class, what
    makes one (a function, a `partial`), or an object; `depth`, `time` (seconds a
    move) and `downgrade` are of players with values. A network (or a `LearnedAgent`), `random`
    and `greedy` play compiled in the rules' environment; other pairs play in Python, as do all when
    `out` (a file that each game is appended to) or `on_episode` wants them. Games are played
    by threads, classes of one's own (and copies of their objects) by processes, or by `executor`.
    Who draws only from the stream that `open` is given, and keeps nothing, plays the same games on
    any number of them; what plays by time does not play the same game twice. (A class of one's own
    plays all games as one object on one core, and is made anew for every ten games on more.)
    `first` is the number of the first game: others of the same seed, where some were played.
    `stop`, or Ctrl-C, ends early and judges the games finished by then.
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
    simple = type(made) in (RandomAgent, GreedyAgent)  # not a class of one's own made of them
    compiled = isinstance(made, LearnedAgent) or simple
    compiled = compiled and environment is None and not recorded
    if isinstance(made, LearnedAgent) and not compiled:
        made.network.as_board(Board())  # games that are recorded are of 4x4
    names = [player] if environment is None else [player, environment]
    with (
        watching(progress) as watch,
        open(out or os.devnull, "a", encoding="utf-8") as file,  # noqa: PTH123
        choose_executor(names, threads, executor, copies=True) as (pool, threads),
        agent_source(player, made, seed, pool, threads > 1) as source,
    ):
        if compiled:
            size = (MOST if simple else MANY) if games >= LONG else GAMES
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
        played = _Played(games, watch)
        for results, finished in ordered_map(
            work, blocks, threads=threads, executor=pool, stop=stop, on_tick=played.look
        ):
            planned = min(size, games - played.games)
            played.add(results)
            for episode in finished:
                file.write(episode.text("episode") + "\n")
                file.flush()
                if on_episode is not None:
                    on_episode(episode)
            if len(results.scores) < planned:
                break  # what is judged is an unbroken beginning: games finished first were short
    if not played.games:
        raise Stopped("stopped before the first game was finished")
    name = label_of(player, made)
    return summarise_games(name, games, played.results(), played.rate, settings_of(made))


class _Played:
    """The games so far, while they come in."""

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

    def look(self, worker: Worker) -> None:
        """Tell how far it is; games under way count with the moves made so far."""
        moves = self.moves + sum(int(lengths.sum()) for lengths in worker.under_way)
        self.watch(Progress("games", self.games, self.planned, self._pace.rate(moves)))

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / max(self._ended - self._began, 1e-9)

    def results(self) -> Results:
        """All games, in their order."""
        return Results(*(np.concatenate(parts) for parts in zip(*self._parts, strict=True)))


def _play_compiled(
    source: AgentSource, spawn4: float, seed: int, first: int, games: int, worker: Worker
) -> tuple[Results, list[Record]]:
    """A block of compiled games; fewer if it was told to stop."""
    player, results, start = source.agent(worker, first), make_results(games), as_seed(seed)
    if isinstance(player, RandomAgent | GreedyAgent):
        greedy, room = isinstance(player, GreedyAgent), worker.keep("room", make_workspace)
        done = play_games(rules_for(spawn4=spawn4), greedy, ~start, start, first, results, room, worker.stop.flag)
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
    """A block of games in Python; fewer if it was told to stop."""
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
