"""Evaluations, matches, tournaments and regret: the same to the byte, whoever plays the games."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet import (
    LearnedAgent,
    Network,
    RandomAgent,
    RandomEnvironment,
    evaluate,
    make_agent,
    match,
    regret,
    tournament,
)

pytestmark = pytest.mark.slow

MINE = """
    import random

    class Corner:
        def choose(self, board):
            for move in ("left", "down", "right"):
                if move in board.legal_moves():
                    return move
            return "up"

    class Dice:
        def __init__(self, seed=0):
            self.random = random.Random(seed)

        def choose(self, board):
            return self.random.choice(board.legal_moves())

    class Spiteful:
        def place(self, board):
            return board.empty[0], 2

    class Diagonal:
        def choose(self, position):
            moves = position.legal_moves()
            return next((m for m in moves if m.endswith("2")), moves[0])
"""


@pytest.fixture(scope="module")
def pools() -> Iterator[list[Executor]]:
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        yield [threads, processes]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of somebody's own."""
    (tmp_path / "mine.py").write_text(textwrap.dedent(MINE))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import mine  # type: ignore[import-not-found]

    yield mine
    del sys.modules["mine"]


def same(one: Any, other: Any) -> bool:
    """Whether two evaluations have the same games."""
    return all((a == b).all() for a, b in zip(one.results, other.results, strict=True))


def test_an_evaluation_is_the_same_on_threads_and_processes(
    pools: list[Executor], trained_run: Path, trained: Network
) -> None:
    players = [
        str(trained_run),
        LearnedAgent(trained, depth=2),
        "random",
        "mcts:sims=10",
        f"expectimax:depth=2,values={trained_run}",
    ]
    for player in players:
        games = 4 if "=" in str(player) else 23
        alone = evaluate(player, games=games, seed=3)
        for pool in pools:
            assert same(alone, evaluate(player, games=games, seed=3, executor=pool)), player


def test_a_match_is_the_same_file_on_threads_and_processes(pools: list[Executor], tmp_path: Path) -> None:
    for game, agents in (("ewn", ["easy", "mcts:sims=100"]), ("ewn-6x7", ["normal", "alphabeta:depth=3"])):
        files = []
        for number, pool in enumerate([None, *pools]):
            path = tmp_path / f"{game}-{number}"
            match(*agents, game, games=10, seed=2, out=path, executor=pool)
            files.append(path.read_bytes())
        assert files[0] == files[1] == files[2]


def test_tournaments_and_regret_are_the_same(pools: list[Executor]) -> None:
    everybody = ["easy", "normal", "hard"]
    alone = tournament(everybody, games=4, seed=1).as_json()
    played = regret("greedy", board="2x2", games=35, seed=2).as_json()
    for pool in pools:
        assert tournament(everybody, games=4, seed=1, executor=pool).as_json() == alone
        assert regret("greedy", board="2x2", games=35, seed=2, executor=pool).as_json() == played


@pytest.mark.long  # a process takes seconds to begin, and here are seven
def test_classes_with_a_seed_play_the_same_on_any_number_of_cores(mine: Any, recwarn: Any) -> None:
    alone = evaluate("mine:Corner", games=25, seed=5)
    assert same(alone, evaluate(mine.Corner, games=25, seed=5, threads=2))
    dice = evaluate("mine:Dice", games=30, seed=5, threads=2)
    assert same(dice, evaluate(mine.Dice, games=30, seed=5, threads=3))
    assert len(set(dice.results.scores)) > 10  # each block has a seed of its own
    assert not recwarn.list


def test_classes_of_ones_own_play_on_several_cores(mine: Any, recwarn: Any) -> None:
    against = evaluate("greedy", "mine:Spiteful", games=12, threads=2)
    assert same(against, evaluate("greedy", mine.Spiteful, games=12))
    alone = match("mine:Diagonal", "easy", games=8, seed=3)
    assert match(mine.Diagonal, "easy", games=8, seed=3, threads=2).results == alone.results
    assert not recwarn.list


def test_local_classes_and_functions_play_in_processes(mine: Any, recwarn: Any) -> None:
    class Local:
        def choose(self, board: Any) -> str:
            return str(board.legal_moves()[0])

    for player in (Local, Local(), lambda: mine.Corner()):
        assert same(evaluate(player, games=3, threads=2), evaluate(player, games=3))
    kind = type("Here", (mine.Diagonal,), {})
    assert match(kind, "easy", games=2, threads=2).results == match(kind, "easy", games=2).results
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert same(evaluate(Local, games=3, executor=pool), evaluate(Local, games=3))
    assert not recwarn.list


def test_an_object_that_cannot_be_pickled_plays_on_one_core_with_a_warning(mine: Any) -> None:
    player = mine.Corner()
    player.lock = threading.Lock()
    with pytest.warns(UserWarning, match="Corner plays on one core, not 2"):
        evaluate(player, games=3, threads=2)
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(ValueError, match="cannot be sent"),
    ):
        evaluate(player, games=3, executor=pool)


def test_classes_and_objects_are_taken_everywhere(mine: Any) -> None:
    assert match(mine.Diagonal(), "easy", games=2).a == "Diagonal"
    assert match(mine.Diagonal, mine.Diagonal, games=2).games == 2
    assert evaluate(mine.Corner, games=2).player == "Corner"
    assert regret(mine.Corner, board="2x2").as_json()["score"] > 0


def test_weights_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    from tuplet.agents.distribution import AgentSource
    from tuplet.agents.specs import Spec
    from tuplet.system.blocks import Worker
    from tuplet.values.weights import digest

    net = Network("0123")
    path = str(net.save(tmp_path / "net.safetensors"))
    source = AgentSource(Spec(path, trusted=True), digest=digest(path))
    assert isinstance(source.agent(Worker(), 0), LearnedAgent)
    net.update([2] * 16, 100)
    net.save(path)
    with pytest.raises(ValueError, match="changed meanwhile"):
        source.agent(Worker(), 0)


def test_a_process_that_played_before_starts_afresh() -> None:
    """Working memory is kept from block to block, but not from one network to another."""
    rng = np.random.default_rng(1)
    nets = [Network("0123 4567"), Network("5x4"), Network("5x4")]
    for net in nets:
        net.weights[:] = rng.normal(0, 100, len(net.weights))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for net in nets:
            for depth in (1, 2):
                player = LearnedAgent(net, depth=depth)
                there = evaluate(player, games=3, seed=1, executor=pool)
                assert same(there, evaluate(player, games=3, seed=1))


def test_objects_are_not_shared_by_threads(mine: Any) -> None:
    with ThreadPoolExecutor(3) as pool:
        for player in (mine.Dice(), mine.Corner()):
            with pytest.warns(UserWarning, match="one core"):
                evaluate(player, games=4, executor=pool)
        with pytest.warns(UserWarning, match="one core"):
            match(make_agent("mcts:sims=50"), "easy", games=4, executor=pool)
        alone = evaluate(RandomAgent(), RandomEnvironment(3), games=23)
        assert same(alone, evaluate(RandomAgent(), RandomEnvironment(3), games=23, executor=pool))
        with pytest.warns(UserWarning, match="Spiteful plays on one core"):
            evaluate("greedy", mine.Spiteful(), games=4, executor=pool)
