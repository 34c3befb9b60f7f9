"""The loop in which a player and an environment take turns, and evaluation over many games."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents import Environment, LearnedPlayer, Player, RandomEnvironment, make_player
from tuplet.agents.g2048 import SearchPlayer
from tuplet.arena.intervals import Interval, mean_interval, wilson
from tuplet.games.g2048 import Board, Episode, rules_for
from tuplet.games.g2048.statistics import Summary, summarise
from tuplet.kernel import as_seed
from tuplet.learn.td import (
    Learner,
    Results,
    make_desk,
    make_results,
    play_afterstates,
    play_states,
)
from tuplet.search import expectimax2048
from tuplet.values.network import Network

CHUNK = 10  # games a thread plays before it reports
MOST_GAMES = 100_000_000
Watcher = Callable[[int, int], None]  # games finished, moves made


def play_episode(player: Player, environment: Environment) -> Episode:
    """Let a player and an environment take turns until no move is legal.

    Raises ValueError, naming the culprit, for an illegal move or placement.
    """
    episode = Episode(_name(player), _name(environment))
    open_episode(player, environment)
    for _ in range(2):
        place(environment, episode)
    while not episode.board.over:
        slide(player, episode)
        place(environment, episode)
    episode.close()
    for side in (player, environment):
        if callable(getattr(side, "close_episode", None)):
            _ask(side, "close_episode", episode)
    return episode


def open_episode(*sides: object) -> None:
    """Tell players and environments, if they want to know, that a game begins."""
    for side in sides:
        if callable(getattr(side, "open_episode", None)):
            _ask(side, "open_episode")


def slide(player: Player, episode: Episode) -> None:
    """Let the player make a move."""
    began = time.perf_counter()
    move = _ask(player, "choose", episode.board)
    try:
        episode.slide(move, _since(began))
    except ValueError as error:
        raise ValueError(f"player {episode.slider}: {error}: {episode.board!r}") from None


def place(environment: Environment, episode: Episode) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = _ask(environment, "place", episode.board)
    try:
        cell, tile = placed
        episode.place(int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"environment {episode.placer} placed {placed!r}, not (empty cell, tile): {error}"
        ) from None


def _ask(side: object, method: str, *arguments: object) -> Any:
    """Call a method of anybody's class; what goes wrong in there is said in one line."""
    try:
        return getattr(side, method)(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        what = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise ValueError(f"{method} of {_name(side)} failed with {what} ({where})") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))


def _name(side: object) -> str:
    return str(getattr(side, "name", type(side).__name__))


@dataclass(frozen=True)
class Evaluation:
    """How well a player did over some games."""

    summary: Summary
    ci95: Interval  # of the mean score
    reached_ci95: dict[int, Interval]
    mean_moves: float
    moves_per_s: float
    results: Results

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
        }


def judge(results: Results, seconds: float) -> Evaluation:
    """Means, shares and intervals of finished games."""
    summary = summarise(results.scores, results.tiles)
    games = summary.games
    return Evaluation(
        summary,
        mean_interval([float(s) for s in results.scores]),
        {t: wilson(round(share * games), games) for t, share in summary.reached.items()},
        float(results.lengths.mean()),
        float(results.lengths.sum()) / max(seconds, 1e-9),
        results,
    )


def evaluate(
    player: Network | Player | str,
    environment: Environment | None = None,
    *,
    games: int = 1000,
    threads: int = 1,
    seed: int = 0,
    spawn4: float | None = None,
    watch: Watcher | None = None,
    on_episode: Callable[[Episode], None] | None = None,
) -> Evaluation:
    """Play games and judge them. The same seed gives the same games for any number of threads.

    A text names a player as on the command line.
    A network (or a `LearnedPlayer`, which may look ahead) in the rules' environment plays
    compiled; other pairs play one game after the other in Python (as do all when `on_episode`
    wants each game). A player that thinks by time does not play the same game twice.
    Ctrl-C ends early and judges the games finished by then.
    """
    if not 1 <= games <= MOST_GAMES:
        raise ValueError(f"the games of an evaluation are 1 to {MOST_GAMES:,}, not {games}")
    if not 1 <= threads <= 256:
        raise ValueError(f"threads are 1 to 256, not {threads}")
    if isinstance(player, str):
        player = make_player(player, seed)
    if isinstance(player, Network):
        player = LearnedPlayer(player)
    if spawn4 is None:
        spawn4 = player.spawn4 if isinstance(player, LearnedPlayer | SearchPlayer) else None
    spawn4 = 0.1 if spawn4 is None else spawn4
    if isinstance(player, LearnedPlayer):
        player = replace(player, spawn4=spawn4)
        if environment is None and on_episode is None:
            return _compiled(player, games, threads, seed, spawn4, watch)
        player.network.as_board(Board())  # episodes are of 4x4
    environment = environment or RandomEnvironment(seed, spawn4)
    results = make_results(games)
    began, moves, done = time.perf_counter(), 0, 0
    try:
        for n in range(games):
            episode = play_episode(player, environment)
            results.scores[n] = episode.score
            results.tiles[n] = max(episode.board.exponents)
            results.lengths[n] = len(episode.slides)
            done, moves = n + 1, moves + len(episode.slides)
            if on_episode is not None:
                on_episode(episode)
            if watch is not None:
                watch(done, moves)
    except KeyboardInterrupt:
        if not done:
            raise
    return judge(Results(*(part[:done] for part in results)), time.perf_counter() - began)


def _compiled(
    player: LearnedPlayer, games: int, threads: int, seed: int, spawn4: float,
    watch: Watcher | None,
) -> Evaluation:  # fmt: skip
    net = player.network
    rules = rules_for(*net.size, spawn4)
    results, start, stop = make_results(games), as_seed(seed), np.zeros(1, np.bool_)
    chunk = CHUNK if player.greedy else 1

    def seat() -> Callable[[int, int], int]:
        """A thread's own desk; plays games from a number on, returns how many it finished."""
        if not player.greedy:
            own = expectimax2048.make_desk(net.m)
            return lambda first, count: expectimax2048.play_games(
                rules, *player.search, own, start, first, count, results, stop
            )
        desk, greedy = make_desk(net.m), Learner(np.float32(0), np.float32(net.gamma))
        play = play_states if net.target == "state" else play_afterstates

        def greedily(first: int, count: int) -> int:
            play(rules, net.tables, greedy, desk, start, first, count, results, first)
            return count

        return greedily

    seat()(0, 0)  # compiles
    chunks = iter(range(0, games, chunk))
    finished = np.zeros(len(range(0, games, chunk)), np.bool_)
    lock = threading.Lock()
    began = ended = time.perf_counter()

    def work() -> None:
        nonlocal ended
        play = seat()
        while not stop[0]:
            with lock:
                first = next(chunks, None)
            if first is None:
                return
            count = min(chunk, games - first)
            finished[first // chunk] = play(first, count) == count
            ended = time.perf_counter()

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work) for _ in range(threads)]
        try:
            while not all(future.done() for future in futures):
                time.sleep(0.02)
                if watch is not None:
                    done = min(int(finished.sum()) * chunk, games)
                    watch(done, int(results.lengths.sum()))
        except KeyboardInterrupt:
            stop[0] = True
    for future in futures:
        future.result()
    # What is judged is an unbroken beginning: games that were finished first were short.
    done = games if finished.all() else int(finished.argmin()) * chunk
    if not done:
        raise KeyboardInterrupt
    judged = Results(*(part[:done] for part in results))
    share = judged.lengths.sum() / max(int(results.lengths.sum()), 1)  # of the moves that were made
    return judge(judged, float(share) * (ended - began))
