"""The kernels that the static page runs as WebAssembly, and the values it passes to them.

The page loads a module when it first needs one of its kernels. A module has memory of its own. In `exports` a line is a
kernel and arguments of the types it is compiled for; in `values` a line is a value that JavaScript finds by its name.
To export another kernel, add a line; each module may have 60 KB, compressed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.games import protocol
from tuplet.games.ewn import rules as ewn
from tuplet.games.g2048 import rules as g2048
from tuplet.games.g2048.statistics import make_results
from tuplet.games.registry import find_game
from tuplet.kernel import draw, stream
from tuplet.kernel.wasm import Exports
from tuplet.learn import game_play, step_kernels, td
from tuplet.learn.learners import LEARNERS
from tuplet.learn.steps import placed_cells
from tuplet.search import expectimax, g2048 as search_2048, mcts, proofs, steps, transpositions, tree as trees
from tuplet.search.bandits import BANDITS
from tuplet.values import downgrade, game_network, levels, tables
from tuplet.values.game_network import GameNetwork, make_scratch
from tuplet.values.network import Network
from tuplet.values.packed import packed_head
from tuplet.values.patterns import Tuple, add_tuples, parse
from tuplet.values.players import DEFAULT_PLAYER, VALUES, bundled_values
from tuplet.web import limits

U, F = np.uint64, np.float32
WORDS = (U(0), U(0))  # a position
NODES = 1000  # of a tree that stands for those of any size
TABLE_BITS = 2  # of a table of positions that stands for those of any size: 4 entries
RESULTS = 100  # games whose results are kept
SHOWN = ("5x4", "0123 4567")  # networks that learn step by step
LEARNED = ("5x4", "4x5", "4x6")  # networks that the page trains
SELECTED = ("tuned", "ucb1", "puct")  # bandits: each takes 9 KB of the module, compressed; the first has learned values


class Module(NamedTuple):
    """The kernels of a module by the names that JavaScript calls them by, and the values beside it."""

    exports: Callable[[], Exports]
    values: Callable[[], dict[str, Any]]
    vectors: bool = True  # whether its kernels use vector instructions, where there are some


def levels_exports() -> Exports:
    """Unpacking of weights."""
    model, data = levels.make_model(), np.zeros(1, np.uint8)
    return {
        "begin_levels": (levels.begin_decoding, (model, data)),
        "unpack_levels": (levels.code_table, (model, data, np.zeros(1, np.int16), 1, True)),
    }


def random_exports() -> Exports:
    """Random streams."""
    return {"stream": (stream, (U(0), U(0))), "draw": (draw, (U(0),))}


def rules_2048_exports() -> Exports:
    """The rules of 2048, and the value of a board."""
    rules, known = g2048.rules_for(4, 4, 0.1), Network("4x5").tables
    indices = np.zeros(Network("4x5").m, U)
    return {
        "fill_table": (g2048._fill_table, (rules.across, 4)),
        "opening": (g2048.opening, (rules, U(0))),
        "slide": (g2048.slide, (rules, U(0), U(0), 0)),
        "spawn": (g2048.spawn, (rules, U(0), U(0), U(0))),
        "motion": (g2048.motion, (4, 4, U(0), U(0), 0, np.zeros(16, np.uint8))),
        "legal_bits": (g2048.legal_bits, (rules.cells, U(0), U(0))),
        "view": (g2048.view, (U(0), U(0))),
        "value": (tables.value, (known, U(0))),
        "locate": (tables.locate, (U(0), known.plan, known.marks, known.stride, indices, U(0))),
    }


def rules_ewn_exports() -> Exports:
    """The rules of EWN."""
    one, moves = find_game("ewn").rules, np.zeros(protocol.MOST_MOVES, np.uint8)
    return {
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
    }


def tree_exports(game: Any, bandits: tuple[str, ...]) -> Exports:
    """Tree search of EWN; `game` is its rules, or these with learned values."""
    one, tree = find_game("ewn").rules, trees.make_tree(NODES)

    def of(bandit: str) -> mcts.Options:
        return mcts.Options(BANDITS[bandit]())

    return {
        "reset": (trees.reset, (one, tree, WORDS)),
        "reroot": (trees.reroot, (tree, WORDS)),
        "obvious_move": (mcts.obvious_move, (one, WORDS)),
        **{f"search_{name}": (mcts.search, (game, tree, of(name), 0, 0.0, U(0))) for name in bandits},
        **{f"choose_{name}": (mcts.choose, (tree, of(name), 0, 0.0, U(0))) for name in bandits},
    }


def play_exports() -> Exports:
    """Both games, expectimax of 2048 and tree search of EWN."""
    rules, network = g2048.rules_for(4, 4, 0.1), Network("4x5")
    leaves, looking = search_2048.leaf_values(network), search_2048.make_workspace(network.m)
    return {
        **random_exports(),
        **levels_exports(),
        **rules_2048_exports(),
        "downgrade": (downgrade._downgrade, (U(0), U(0), U(0))),
        "search_root": (search_2048.search_root, (rules, leaves, U(0), U(0), np.int64(1), 0.0, looking)),
        "chance_value": (search_2048.chance_value, (rules, leaves, U(0), U(0), np.int64(1), looking)),
        **rules_ewn_exports(),
        **tree_exports(find_game("ewn").rules, SELECTED),
        **steps_exports(),
    }


def steps_exports() -> Exports:
    """Tree search step by step."""
    one, tree, moves = find_game("ewn").rules, trees.make_tree(NODES), np.zeros(protocol.MOST_MOVES, np.uint8)

    def of(bandit: str) -> mcts.Options:
        return mcts.Options(BANDITS[bandit]())

    return {
        **{f"descend_{name}": (steps.descend, (one, tree, of(name), U(0))) for name in SELECTED},
        **{f"terms_{name}": (steps.bandit_terms, (tree, of(name), 0, np.zeros((1, 1)))) for name in SELECTED},
        "set_priors": (mcts.set_priors, (one, tree, of("puct"), 0)),
        "spread": (steps.spread, (BANDITS["tuned"](), 0.0, 0.0)),
        "record_playout": (steps.record_playout, (one, WORDS, U(0), True, moves, np.zeros((1, 2), np.int32))),
    }


def play_values() -> dict[str, Any]:
    """The network of 2048 without its weights, which the worker fills in; an empty tree; the rules of EWN."""
    name, network = DEFAULT_PLAYER, Network.load(DEFAULT_PLAYER)
    leaves, zeros = search_2048.leaf_values(network), np.zeros_like(network.weights)
    return {
        f"leaves {name}": leaves._replace(tables=leaves.tables._replace(weights=zeros)),
        f"work {name}": search_2048.make_workspace(network.m),
        "levels": levels.make_model(),
        "tree": trees.make_tree(NODES),
        **rules_ewn_values(),
    }


def rules_ewn_values() -> dict[str, Any]:
    """The rules of EWN's games."""
    from tuplet.agents.listing import GAMES  # not above: the modules do not depend on agents

    return {f"rules {game}": find_game(game).rules for game in GAMES if find_game(game).family == "ewn"}


def learn_exports() -> Exports:
    """Learning 2048, and one game of it step by step."""
    rules, network = g2048.rules_for(4, 4, 0.1), Network("4x5")
    learning, results = td.make_workspace(network.m), make_results(RESULTS)
    record = step_kernels.make_recording(2, placed_cells(network))

    def prepared(name: str) -> tuple[Any, ...]:
        learner = LEARNERS[name]
        with_memory = network.tables._replace(memory=np.zeros(max(learner.memory_per_weight, 1), F))
        return rules, with_memory, td.Hyperparameters(learner.rule, F(0), F(1))

    def learn(name: str, play: Any) -> tuple[Any, tuple[Any, ...]]:
        return play, (*prepared(name), learning, U(0), 0, 0, results, 0)

    def learn_steps(name: str) -> tuple[Any, tuple[Any, ...]]:
        return step_kernels.record_game, (*prepared(name), False, 0, U(0), U(0), U(0), 0, record)

    return {
        **random_exports(),
        **rules_2048_exports(),
        "move_values": (
            tables.move_values,
            (rules, network.tables, False, F(1), U(0), U(0), np.zeros(4, U), np.zeros(4, F)),
        ),
        **{f"learn_{name}": learn(name, td.play_afterstates) for name in ("td", "tc")},
        **{f"learn_{name}_states": learn(name, td.play_states) for name in ("td", "tc")},
        **{f"steps_{name}": learn_steps(name) for name in ("td", "tc")},
    }


def learned_networks() -> dict[str, list[Tuple]]:
    """The tuples of the networks that the page can train, and of those that grow from one by the tuples of another."""
    grown = {f"{net}+{more}": add_tuples(parse(net), more) for net in LEARNED for more in LEARNED if net != more}
    return {net: parse(net) for net in LEARNED} | grown


def learn_values() -> dict[str, Any]:
    """The room for a game that is learned from, and for results; rules without tables; networks without weights, and
    recordings of their steps.
    """
    shown, learned = {net: Network(net) for net in SHOWN}, learned_networks()
    table, none = np.zeros(1 << 16, U), np.zeros(0, F)
    most = max(*(net.m for net in shown.values()), *(8 * len(tuples) for tuples in learned.values()))
    return {
        "rules": g2048.rules_for(4, 4, 0.1)._replace(across=table, down=table),
        "learning": td.make_workspace(most),
        "results": make_results(RESULTS),
        **{f"net {name}": tables.make_tables(tuples, none) for name, tuples in learned.items()},
        **{f"tables {name}": net.tables._replace(weights=none) for name, net in shown.items()},
        **{
            f"recording {name}": step_kernels.make_recording(limits.MAX_SHOWN, placed_cells(net))
            for name, net in shown.items()
        },
    }


def ewn_exports() -> Exports:
    """Searches of EWN: alpha-beta and expectimax, with learned values or without; proofs; tree search with them."""
    one, valued = find_game("ewn").rules, _valued("ewn")
    work, size = expectimax.make_workspace(TABLE_BITS), protocol.MOST_MOVES
    codes, values, proven = np.zeros(size, np.uint8), np.zeros(size), np.zeros(size, np.bool_)
    searches: dict[str, Any] = {}
    for kind, game in {"": one, "_valued": valued}.items():
        searches[f"deepen{kind}"] = expectimax.iterative_deepening, (game, WORDS, 1, 0.0, 1, work)
        searches[f"move_values{kind}"] = expectimax.move_values, (game, WORDS, 1, work, codes, values, proven)
    return {
        **levels_exports(),
        "fill_arrival": (ewn.fill_arrival, (one.arrival, one.movable, one.cycle, 1, 6)),
        "meets_chance": (protocol.meets_chance, (one, WORDS)),
        "value": (game_network.value, (one, valued.tables, WORDS, valued.scratch)),
        **searches,
        "main_line": (transpositions.main_line, (one, WORDS, 0, work.table, codes)),
        "moves_to_win": (proofs.moves_to_win, (one, WORDS, np.int64(0), np.int64(0), work)),
        "baseline_move": (baseline_move, (one, WORDS, 1)),
        **tree_exports(valued, SELECTED[:1]),
    }


def ewn_values() -> dict[str, Any]:
    """The networks of EWN without their weights, which the worker fills in; an empty tree; rules; working memory."""
    return {
        **rules_ewn_values(),
        "levels": levels.make_model(),
        "tree": trees.make_tree(NODES),
        "work": expectimax.make_workspace(TABLE_BITS),
        **{f"values {name}": _valued(name)._replace(rules=()) for name in VALUES},
    }


def _valued(name: str) -> game_network.ValuedGame:
    """A game with a network like that of its player, whose values are all 0."""
    played, file = find_game(name), bundled_values(name)
    tuples = None if file is None else packed_head(file)["tuples"]
    return game_network.valued_game(played.rules, game_network.GameNetwork(played, tuples))


def learn_ewn_exports() -> Exports:
    """Learning EWN by self-play, and matches that evaluate what was learned."""
    values = learn_ewn_values()
    rules, known, work, scratch, results = (values[name] for name in ("rules", "tables", "work", "scratch", "results"))

    def learn(name: str) -> tuple[Any, tuple[Any, ...]]:
        numbers = (F(0), F(1), F(0), np.int64(1), np.float64(0), np.int64(0))
        hyper = game_play.GameHyperparameters(LEARNERS[name].rule, *numbers)
        return game_play.play_games, (rules, WORDS, known, hyper, False, work, scratch, U(0), 0, 0, results, 0)

    match = (rules, WORDS, known, F(1), False, 0, work, scratch, U(0), 0, 0, results.points)
    return {
        **random_exports(),
        **rules_ewn_exports(),
        **{f"learn_{name}": learn(name) for name in ("td", "tc")},
        "play_match": (game_play.play_match, match),
    }


def learn_ewn_values() -> dict[str, Any]:
    """The rules of EWN, its network without weights, and the room for games."""
    game = find_game("ewn")
    network = GameNetwork(game)
    return {
        "rules": game.rules,
        "tables": network.tables._replace(weights=np.zeros(0, F)),
        "work": game_play.make_workspace(),
        "scratch": make_scratch(network.m),
        "results": game_play.make_results(RESULTS),
    }


MODULES = {
    "play": Module(play_exports, play_values),
    "learn": Module(learn_exports, learn_values),
    "ewn": Module(ewn_exports, ewn_values, vectors=False),
    "learn-ewn": Module(learn_ewn_exports, learn_ewn_values, vectors=False),
}
