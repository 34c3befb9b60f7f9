"""Games of self-play, to learn from or to measure a network: the kernels of `td`, called for some games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import Rules2048, rules_for
from tuplet.games.g2048.statistics import Results, make_results
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
from tuplet.system.blocks import Worker
from tuplet.values.network import Network
from tuplet.values.tables import Tables, index_type

CHUNK = 25  # games that a thread plays before it looks at the clock


class DivergedError(Exception):
    """Weights diverged (inf or NaN)."""


class Chunk(NamedTuple):
    """Games that were played and learned from."""

    first: int  # game number
    results: Results
    moves: int  # including those of restarted games
    rule: Any  # the learner's rule that updated the weights


def learn_chunk(
    net: Network, tables: Tables, hyper: Hyperparameters, seed: int, first: int, games: int, worker: Worker
) -> Chunk:
    """Play some games and learn from them."""
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
