"""The kernels that the static page runs as WebAssembly, and the values it passes to them.

A line of `exports` is a kernel and arguments of the types it is compiled for; a line of `values` is a value that
JavaScript finds by its name. To export another kernel, add a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games import protocol
from tuplet.games.ewn import rules as ewn
from tuplet.games.g2048 import rules as g2048
from tuplet.games.g2048.statistics import make_results
from tuplet.games.registry import find_game
from tuplet.kernel import draw, stream
from tuplet.kernel.wasm import Exports
from tuplet.learn import td
from tuplet.learn.learners import LEARNERS
from tuplet.search import g2048 as search_2048, mcts, tree as trees
from tuplet.search.bandits import BANDITS
from tuplet.values import downgrade, tables
from tuplet.values.network import Network

U, F = np.uint64, np.float32
WORDS = (U(0), U(0))  # a position
NODES = 1000  # of a tree that stands for those of any size
GAMES = 100  # whose results are kept
SELECTED = ("tuned", "ucb1", "puct")  # bandits: each takes 9 KB of the module, compressed


def exports() -> Exports:
    """The kernels by the names that JavaScript calls them by."""
    rules, network = g2048.rules_for(4, 4, 0.1), Network("4x5")
    known, leaves, m = network.tables, search_2048.leaf_values(network), network.m
    looking = search_2048.make_workspace(m)
    learning, results = td.make_workspace(m), make_results(GAMES)
    one, moves = find_game("ewn").rules, np.zeros(protocol.MOST_MOVES, np.uint8)
    tree = trees.make_tree(NODES)

    def of(bandit: str) -> mcts.Options:
        return mcts.Options(BANDITS[bandit]())

    def learn(name: str) -> tuple[Any, tuple[Any, ...]]:
        learner = LEARNERS[name]
        with_memory = known._replace(memory=np.zeros(max(learner.memory_per_weight, 1), F))
        hyper = td.Hyperparameters(learner.rule, F(0), F(1))
        return td.play_afterstates, (rules, with_memory, hyper, learning, U(0), 0, 0, results, 0)

    return {
        "stream": (stream, (U(0), U(0))),
        "draw": (draw, (U(0),)),
        # 2048
        "fill_table": (g2048._fill_table, (rules.across, 4)),
        "opening": (g2048.opening, (rules, U(0))),
        "slide": (g2048.slide, (rules, U(0), U(0), 0)),
        "spawn": (g2048.spawn, (rules, U(0), U(0), U(0))),
        "motion": (g2048.motion, (4, 4, U(0), U(0), 0, np.zeros(16, np.uint8))),
        "legal_bits": (g2048.legal_bits, (rules.cells, U(0), U(0))),
        "view": (g2048.view, (U(0), U(0))),
        "downgrade": (downgrade._downgrade, (U(0), U(0), U(0))),
        "value": (tables.value, (known, U(0))),
        "locate": (tables.locate, (U(0), known.plan, known.marks, known.stride, np.zeros(m, U), U(0))),
        "search_root": (search_2048.search_root, (rules, leaves, U(0), U(0), np.int64(1), 0.0, looking)),
        "learn_td": learn("td"),
        "learn_tc": learn("tc"),
        # EWN
        "fill_arrival": (ewn.fill_arrival, (one.arrival, one.movable, one.cycle, 1, 6)),
        "legal": (protocol.call_legal, (one, WORDS, moves)),
        "apply": (protocol.call_apply, (one, WORDS, 0)),
        "ending": (protocol.call_ending, (one, WORDS)),
        "side": (ewn.side, (one, WORDS)),
        "is_chance": (ewn.is_chance, (one, WORDS)),
        "winner": (ewn.winner, (one, 0)),
        "count_outcomes": (ewn.count_outcomes, (one, WORDS)),
        "probability": (ewn.probability, (one, WORDS, 0)),
        "apply_outcome": (ewn.apply_outcome, (one, WORDS, 0)),
        "reset": (trees.reset, (one, tree, WORDS)),
        "reroot": (trees.reroot, (tree, WORDS)),
        "obvious_move": (mcts.obvious_move, (one, WORDS)),
        **{f"search_{name}": (mcts.search, (one, tree, of(name), 0, 0.0, U(0))) for name in SELECTED},
        **{f"choose_{name}": (mcts.choose, (tree, of(name), 0, 0.0, U(0))) for name in SELECTED},
    }
