"""Games of self-play: chunks to learn from, and fresh games that evaluate a network without learning.

Evaluations are not part of the training: it learns the same with and without them, and its clock stops
meanwhile. Their seed depends on the run's seed and on how many games it has learned from.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048 import statistics
from tuplet.games.g2048.rules import Rules2048, rules_for
from tuplet.games.g2048.statistics import Results, account, make_results, score_interval
from tuplet.kernel import stream
from tuplet.learn import game_play
from tuplet.learn.learners import LEARNERS, TD
from tuplet.learn.td import (
    DIVERGED,
    RESTART_MOVES,
    Hyperparameters,
    Workspace,
    make_workspace,
    play_afterstates,
    play_states,
)
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.progress import Progress, Watcher
from tuplet.system.settings import parse_duration
from tuplet.system.stop import Stop
from tuplet.values.network import Network
from tuplet.values.packed import AnyNetwork
from tuplet.values.tables import index_type

CHUNK = 25  # games that a thread plays before it looks at the clock
MOST_EVALUATION_GAMES = 10**7


class DivergedError(Exception):
    """Weights diverged (inf or NaN)."""


class Chunk(NamedTuple):
    """Games that were played and learned from."""

    first: int  # game number
    results: Any  # of the network's kind: see `statistics_of`
    moves: int  # including those of restarted games
    rule: Any  # the learner's rule that updated the weights


def statistics_of(net: AnyNetwork) -> Any:
    """The module with the results of a network's games: `make_results`, `summarise` and `account`."""
    return statistics if isinstance(net, Network) else game_play


def chunk_of(net: AnyNetwork) -> int:
    """How many games a thread plays before it looks at the clock."""
    return CHUNK if isinstance(net, Network) else game_play.CHUNK


def learn_chunk(net: AnyNetwork, tables: Any, hyper: Any, seed: int, first: int, games: int, worker: Worker) -> Chunk:
    """Play some games and learn from them."""
    if not isinstance(net, Network):
        played = game_play.learn_chunk(net, tables, hyper, seed, first, games, worker)
        if not np.isfinite(played.errors).all():
            raise DivergedError
        return Chunk(first, played, int(played.lengths.sum()), hyper.rule)
    results, work = make_results(games), _workspace(net, worker)
    work.tally[:] = 0
    rules = rules_for(*net.size, net.spawn4)
    _play(net)(rules, tables, hyper, work, np.uint64(seed), first, games, results, 0)
    if work.tally[DIVERGED]:
        raise DivergedError
    return Chunk(first, results, int(results.lengths.sum() + work.tally[RESTART_MOVES]), hyper.rule)


def play_greedily(net: Network, rules: Rules2048, seed: np.uint64, first: int, games: int, worker: Worker) -> Results:
    """Play a block of games without learning; no games if the worker is stopped."""
    if worker.stop.is_set():
        return make_results(0)
    # The kernel of the learner that trained it is compiled already, and plays as well.
    learner = next((each for each in LEARNERS.values() if net.has_learner_memory(each.memory)), TD)
    hyper, results = Hyperparameters(learner.rule, np.float32(0), np.float32(net.gamma)), make_results(games)
    _play(net)(rules, net.tables, hyper, _workspace(net, worker), seed, first, games, results, 0)
    return results


def _play(net: Network) -> Any:
    return play_states if net.target == "state" else play_afterstates


def _workspace(net: Network, worker: Worker) -> Workspace:
    m, index = net.m, index_type(net.weights)
    return worker.keep(("workspace", m, index), lambda: make_workspace(m, index))


class EvaluationPlan(NamedTuple):
    """How many games an evaluation has, and how often there is one."""

    games: int
    every: float
    timed: bool  # `every` is in seconds, not in games

    def due_by(self, games: int, elapsed_s: float) -> int:
        """How many evaluations are due by then."""
        return int((elapsed_s if self.timed else games) // self.every)


def parse_evaluate(text: str) -> EvaluationPlan | None:
    """The plan that `--evaluate` describes; None for an empty text.

    >>> parse_evaluate("1000@10m")
    EvaluationPlan(games=1000, every=600.0, timed=True)
    >>> parse_evaluate("200@5000")
    EvaluationPlan(games=200, every=5000.0, timed=False)
    """
    if not text:
        return None
    many, _, often = (part.strip().replace("_", "") for part in text.partition("@"))
    timed = not often.isdecimal()
    try:
        every = parse_duration(often) if timed else float(often)
        if 2 <= int(many) <= MOST_EVALUATION_GAMES and 0 < every < math.inf:
            return EvaluationPlan(int(many), every, timed)
    except ValueError:
        pass
    raise UserError(
        "evaluate must be GAMES@TIME or GAMES@GAMES, as in 1000@10m (1,000 games every ten minutes) or 200@5000 "
        f"(200 games every 5,000) (got {text!r})"
    )


def fresh_games(
    net: AnyNetwork,
    games: int,
    *,
    opponent: str = "random",
    seed: int,
    learned: int,
    threads: int,
    stop: Stop,
    watch: Watcher,
) -> dict[str, Any] | None:
    """Evaluate a network that has learned from `learned` games of a run; None if stopped before the last game.

    Returns the evaluation of a line of metrics: games, mean score with its 95 % interval, and for 2048 the best
    score, and shares by tile; for games for two the score is the share of points against `opponent`.
    """
    own_seed = np.uint64(stream(~np.uint64(seed), np.uint64(learned)))  # not that of training
    if not isinstance(net, Network):
        return game_play.evaluate_match(net, games, opponent, own_seed, threads=threads, stop=stop, watch=watch)
    return greedy_statistics(net, games, own_seed, threads=threads, stop=stop, watch=watch)


def greedy_statistics(
    net: Network, games: int, seed: np.uint64, *, threads: int, stop: Stop, watch: Watcher
) -> dict[str, Any] | None:
    """The same for games of this seed: those that `evaluate` plays with it."""
    rules = rules_for(*net.size, net.spawn4)
    unread = np.isnan(net.weights) if net.stages else None
    blocks = ((net, rules, seed, n, min(CHUNK, games - n)) for n in range(0, games, CHUNK))
    parts: list[Results] = []

    def report(_: object) -> None:
        watch(Progress("fresh games", sum(len(part.scores) for part in parts), games))

    for part in ordered_map(play_greedily, blocks, threads=threads, stop=stop, on_tick=report):
        parts.append(part)
    if unread is not None:
        net.weights[unread] = np.nan  # reading a stage initialises its weights: too early
    if sum(len(part.scores) for part in parts) < games:
        return None
    results = Results(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    ci95 = score_interval([float(score) for score in results.scores])
    return {"games": games, **account(results), "ci95": list(ci95)}
