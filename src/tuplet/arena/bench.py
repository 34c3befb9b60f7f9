"""`bench`: how fast does this machine learn, play and search?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tuplet.arena.evaluate import evaluate
from tuplet.games.game import Game
from tuplet.games.registry import game as game_of
from tuplet.kernel import as_seed, stream
from tuplet.learn.learners import learner_named
from tuplet.learn.run import Run
from tuplet.learn.settings import Method, RunOptions
from tuplet.learn.training import Training
from tuplet.search import expectimax, mcts, tree as trees
from tuplet.search.bandits import UCB1, Report
from tuplet.system.blocks import Worker, as_threads, ordered_map
from tuplet.system.progress import Progress, ProgressOption, Watcher, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.values.network import Target

WARM_UP, MEASURED = 10_000, 3_000  # games of 2048
PLAYOUTS, ROUNDS = 100_000, 10
SIMS = 290_000  # per move, in the course report
SECONDS = 2.0
OPEN_SPIEL_SIMS = 100_000
AS_REPORTED = mcts.Options(Report(), rich=True)
# As OpenSpiel's bot: one random game per simulation, a leaf is expanded at its second visit.
ONE_BY_ONE = mcts.Options(UCB1(2.0), batch=1, expand=1, shortcuts=False, solver=False)


@dataclass(frozen=True)
class Bench(Displayable):
    """Measured speeds."""

    title: str
    report: dict[str, Any]
    rows: list[tuple[str, str, str]]  # name, key, unit

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return self.report

    def text_tables(self) -> list[TextTable]:
        """A row for each speed."""
        rows = []
        for name, key, unit in self.rows:
            speed = self.report[key]
            rows.append([name, "not installed", ""] if speed is None else [name, f"{speed:,}", unit])
        return [TextTable(self.title, (), rows, words=(0, 2))]


def bench(
    game: str | Game = "2048",
    *,
    threads: int = 1,
    net: str = "4x6",
    learner: str = "td",
    target: Target = "afterstate",
    seed: int = 0,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Bench:
    """Measure how fast this machine learns, plays and searches.

    2048: TD(0) or TC (lambda 0.5) from the end of each game: 10,000 games to warm up, then 3,000
    games of training and 3,000 of greedy play are timed.
    ewn: random games, Monte-Carlo tree search and alpha-beta on ewn-6x7 from the start, and tree
    search on ewn beside OpenSpiel's, where that is installed.
    Another game: random games, tree search and alpha-beta from its start.
    """
    as_threads(threads)
    with watching(progress) as watch:
        if game == "2048":
            return _bench_2048(threads, net, learner, target, seed, watch, stop or Stop())
        if game == "ewn":
            rolled, known = (_start(each, seed) for each in ("ewn", "ewn-6x7"))
            return _bench_searches("EWN", known, rolled, threads, watch, stop or Stop())
        chosen = game_of(game)
        return _bench_searches(chosen.name, _start(chosen, seed), None, threads, watch, stop or Stop())


def _bench_2048(threads: int, net: str, learner: str, target: Target, seed: int, watch: Watcher, stop: Stop) -> Bench:
    learner = learner_named(learner, trusted=True).name
    method = Method(net=net, learner=learner, target=target)
    network = method.network()

    def learn(first: int, last: int) -> float:
        """Train from one number of games to another; returns moves per second."""
        run = Run(method, RunOptions(games=last, threads=threads, seed=seed), network)
        run.games = first
        training = Training(run, stop=stop, watch=watch)
        if training.train().interrupted:
            raise Stopped("stopped before the speed was measured")
        return training.recorder.moves / run.elapsed_s

    learn(0, WARM_UP)
    speed = learn(WARM_UP, WARM_UP + MEASURED)
    result = evaluate(network, games=MEASURED, threads=threads, seed=seed + 1, progress=watch, stop=stop)
    report = {
        "train_moves_per_s": round(speed),
        "eval_moves_per_s": round(result.moves_per_s),
        "net": net,
        "learner": learner,
        "target": target,
        "threads": threads,
        "mean_score": result.summary.mean_score,
    }
    title = f"{net}, {method.name} on {target} values, {plural(threads, 'thread')}"
    rows = [("training", "train_moves_per_s", "moves/s"), ("play", "eval_moves_per_s", "moves/s")]
    return Bench(title, report, rows)


def _bench_searches(name: str, start: Any, rolled: Any, threads: int, watch: Watcher, stop: Stop) -> Bench:
    """Searches from `start`; from `rolled`, of ewn, also one that OpenSpiel's is compared with."""
    game = start.game.name
    works: list[tuple[str, str, str, Callable[..., tuple[int, float]], tuple[Any, ...]]] = [
        (f"{game}, random games", "playouts_per_s", "games/s", _playouts, (start,)),
        (f"{game}, tree search", "sims_per_s", "simulations/s", _simulations, (start, AS_REPORTED)),
        (f"{game}, alpha-beta", "nodes_per_s", "nodes/s", _nodes, (start,)),
    ]
    if rolled is not None:
        works.append(("ewn, search one by one", "ewn_sims_per_s", "simulations/s", _simulations, (rolled, ONE_BY_ONE)))
    report: dict[str, Any] = {}
    steps = len(works) + (rolled is not None)
    for number, (what, key, _, work, block) in enumerate(works):
        watch(Progress(what, number, steps))
        # The sum over all threads, each of which does the same.
        done = list(ordered_map(work, [block] * threads, threads=threads, stop=stop))
        if len(done) < threads or stop.is_set():
            raise Stopped("stopped before the speed was measured")
        report[key] = round(sum(count / seconds for count, seconds in done))
    rows = [each[:3] for each in works]
    if rolled is not None:
        what, key = "ewn, OpenSpiel (C++)", "open_spiel_sims_per_s"
        watch(Progress(what, len(works), steps))
        try:
            report[key] = import_module("tuplet.adapters.openspiel_bots").mcts_speed(OPEN_SPIEL_SIMS)
        except ImportError:
            report[key] = None
        rows.append((what, key, "simulations/s, one thread"))
    report["threads"] = threads
    return Bench(f"{name}, {plural(threads, 'thread')}", report, rows)


def _start(game: str | Game, seed: int) -> Any:
    """A first position, or the first in which there is a choice."""
    state, position = game_of(game).initial_position(stream(as_seed(seed), np.uint64(0)))
    while position.is_chance or len(position.legal_moves()) == 1:
        if position.is_chance:
            state, outcome = position.random_outcome(state)
            position = position.apply_outcome(outcome)
        else:
            position = position.play(position.legal_moves()[0])
    return position


def _playouts(position: Any, worker: Worker) -> tuple[int, float]:
    mcts.mean_result(position.rules, position.words, 100, np.uint64(1))  # compiled, and warm
    began = time.perf_counter()
    for n in range(ROUNDS):
        if not worker.stop.is_set():
            mcts.mean_result(position.rules, position.words, PLAYOUTS, np.uint64(n))
    return ROUNDS * PLAYOUTS, time.perf_counter() - began


def _simulations(position: Any, options: mcts.Options, worker: Worker) -> tuple[int, float]:
    """Searches of 290,000 simulations, each from an empty tree, as for a first move."""
    game, tree, done = position.rules, trees.make_tree(), 0
    options = options._replace(stop=worker.stop.flag)
    trees.reset(game, tree, position.words)
    mcts.search(game, tree, options, 1000, np.inf, np.uint64(0))  # compiled, and warm
    began = time.perf_counter()
    for n in range(ROUNDS):
        trees.reset(game, tree, position.words)
        mcts.search(game, tree, options, SIMS, np.inf, np.uint64(n))
        done += int(tree.counters[trees.SIMULATIONS])
    return done, time.perf_counter() - began


def _nodes(position: Any, worker: Worker) -> tuple[int, float]:
    work = expectimax.make_workspace()._replace(stop=worker.stop.flag)
    for seconds in (0.01, SECONDS):
        began = time.perf_counter()
        expectimax.iterative_deepening(position.rules, position.words, expectimax.DEEPEST - 1, seconds, 1 << 62, work)
    return int(work.counters[expectimax.NODES]), time.perf_counter() - began
