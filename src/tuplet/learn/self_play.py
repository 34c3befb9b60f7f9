"""Games that are played, and not learned from."""

from __future__ import annotations

import numpy as np

from tuplet.games.g2048.rules import Rules2048
from tuplet.games.g2048.statistics import Results, make_results
from tuplet.learn.learners import LEARNERS, TD
from tuplet.learn.td import Hyperparameters, Workspace, make_workspace, play_afterstates, play_states
from tuplet.system.blocks import Worker
from tuplet.values.network import Network
from tuplet.values.tables import index_type


def workspace_of(net: Network, worker: Worker) -> Workspace:
    """A thread's working memory for the games of a network."""
    m, index = net.m, index_type(net.weights)
    return worker.keep(("workspace", m, index), lambda: make_workspace(m, index))


def play_greedily(net: Network, rules: Rules2048, seed: np.uint64, first: int, games: int, worker: Worker) -> Results:
    """A block of games by the best of each board's moves; none if it was told to stop."""
    if worker.stop.is_set():
        return make_results(0)
    # The kernel that taught it is compiled already, and plays, too.
    learner = next((each for each in LEARNERS.values() if net.has_learner_memory(each.memory)), TD)
    work = workspace_of(net, worker)
    play = play_states if net.target == "state" else play_afterstates
    rule = Hyperparameters(learner.rule, np.float32(0), np.float32(net.gamma))
    results = make_results(games)
    play(rules, net.tables, rule, work, seed, first, games, results, 0)
    return results
