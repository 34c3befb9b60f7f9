"""Searches with learned values: `alphabeta:values=RUN` and `mcts:values=RUN`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tuplet
from positions import random_positions
from tuplet.agents.agent import agent_from, make_agent, settings_of
from tuplet.agents.searchers import AlphaBeta, Mcts
from tuplet.agents.specs import Spec
from tuplet.values.game_network import GameNetwork

sys.path.append(str(Path(__file__).parents[2] / "examples"))
connect4 = importlib.import_module("connect4")

SMALL = "ewn:board=3x3,cubes=3"


def network_of(name: Any, spread: float = 0.3) -> GameNetwork:
    """A network that was never trained: its weights are random, so that no two positions are alike."""
    network = GameNetwork(tuplet.game(name))
    network.weights[:] = np.random.default_rng(1).normal(0, spread, len(network.weights))
    return network


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[GameNetwork, Path]:
    network = network_of(SMALL)
    return network, network.save(tmp_path_factory.mktemp("values") / "small.safetensors")


def expected(network: GameNetwork, position: Any, depth: int) -> float:
    """The probability that the side that moves next wins, by looking at everything; leaves by the network."""
    if depth == 0:
        return min(max(network.value(position), 0.00005), 0.99995)
    if position.is_chance:
        shares = position.chance_outcomes()
        return sum(share * expected(network, position.apply_outcome(o), depth) for o, share in shares.items())
    return max(value_of(network, position, code, depth) for code in position.legal_actions())


def value_of(network: GameNetwork, position: Any, code: int, depth: int) -> float:
    """The same after a move, for the side that makes it."""
    after = position.after(code)
    return float(after.winner == position.turn) if after.over else 1 - expected(network, after, depth - 1)


def test_expectimax_looks_ahead_to_learned_values(small: tuple[GameNetwork, Path]) -> None:
    network, file = small
    for number, (_, _, position) in enumerate(random_positions(SMALL, 12)):
        depth = 1 + number % 3
        values = {position.move_text(c): value_of(network, position, c, depth) for c in position.legal_actions()}
        analysis = tuplet.analyze(position.game, position, f"alphabeta:values={file},depth={depth}")
        assert values[analysis.best] == pytest.approx(max(values.values()), abs=1e-6)
        if len(values) > 1 and 0 < max(values.values()) < 1:  # else it stops early
            found = {move.move: move.value for move in analysis.moves}
            assert found == pytest.approx(values, abs=1e-6), position.notation


def test_tree_search_without_random_games_begins_with_learned_values(small: tuple[GameNetwork, Path]) -> None:
    network, file = small
    agent = make_agent(f"mcts:values={file},sims=1,shortcuts=no", SMALL)
    assert settings_of(agent)["cutoff"] == 0 and settings_of(agent)["values"] == str(file)
    for _, _, position in random_positions(SMALL, 12):
        agent.open(position, "red", np.uint64(1))
        found = {move.move: move.value for move in agent.analyze(position).moves}
        for code in position.legal_actions():
            assert found[position.move_text(code)] == pytest.approx(value_of(network, position, code, 1), abs=1e-4)


def test_tree_search_finds_what_expectimax_finds(small: tuple[GameNetwork, Path]) -> None:
    _, file = small
    agree = 0
    for _, _, position in random_positions(SMALL, 12):
        deep = tuplet.analyze(position.game, position, f"alphabeta:values={file},depth=12")
        tree = tuplet.analyze(position.game, position, f"mcts:values={file},sims=20000,ucb=ucb1")
        value = {move.move: move.value for move in deep.moves}
        agree += value[tree.best] > value[deep.best] - 0.02
    assert agree >= 11


def test_values_may_be_a_network_and_threads_share_it(small: tuple[GameNetwork, Path]) -> None:
    network, _ = small
    for search in (AlphaBeta(depth=2, values=network), Mcts(sims=50, values=network)):
        agent = agent_from(search, SMALL)
        copy = agent.fresh()
        assert agent.search.network is copy.search.network is network and agent.search is not copy.search
        _, _, position = random_positions(SMALL, 1)[0]
        agent.open(position, "red", np.uint64(1))
        copy.open(position, "red", np.uint64(1))
        assert agent.choose(position) == copy.choose(position)


def test_other_known_dice_have_the_same_values() -> None:
    """The rules of ewn-6x7 are those of one game: a search keeps its network, not its rules."""
    network = network_of("ewn-6x7", 0.1)
    agent = agent_from(AlphaBeta(depth=2, values=network), "ewn-6x7")
    for seed in (1, 2, 1):
        position = tuplet.game("ewn-6x7").start(seed)
        values = {
            m.move: m.value for m in agent_from(AlphaBeta(depth=2, values=network), "ewn-6x7").analyze(position).moves
        }
        assert {m.move: m.value for m in agent.analyze(position).moves} == values


def test_a_game_of_ones_own_is_searched_with_its_values() -> None:
    game = connect4.CONNECT4
    network = network_of(game)
    for search in (AlphaBeta(depth=1, values=network), Mcts(sims=1, values=network)):
        assert agent_from(search, game).choose(game.start()) == network.best_move(game.start())


@pytest.mark.parametrize("agent", ["alphabeta", "mcts"])
def test_values_that_do_not_fit_are_refused_in_one_line(agent: str, small: tuple[GameNetwork, Path]) -> None:
    _, file = small
    with pytest.raises(ValueError, match=f"holds values of {SMALL}, not of ewn"):
        make_agent(f"{agent}:values={file}", "ewn")
    with pytest.raises(ValueError, match="holds values of 2048, not of ewn"):
        make_agent(f"{agent}:values=small", "ewn")
    with pytest.raises((ValueError, FileNotFoundError), match="no-such-run"):
        make_agent(f"{agent}:values=no-such-run", "ewn")
    with pytest.raises(ValueError, match="cannot be named from here"):
        make_agent(Spec(f"{agent}:values={file}"), SMALL)
    with pytest.raises(ValueError, match="expectimax:values=RUN"):
        make_agent("mcts:values=small", "2048")
