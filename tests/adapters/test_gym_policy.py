"""A network that plays an environment: the games are those of `tuplet eval`."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tuplet import LearnedAgent, Network, evaluate
from tuplet.adapters.boards import OBSERVATIONS
from tuplet.adapters.gym import ID, TuplePolicy
from tuplet.games.g2048 import MOVES


def network(target: str) -> Network:
    """A network of 3x3 that has opinions."""
    net = Network("012 345 034", board="3x3")
    net.target = target
    net.weights[:] = np.random.default_rng(1).normal(0, 30, len(net.weights))
    return net


@pytest.fixture(scope="module")
def small() -> Network:
    return network("afterstate")


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_greedy_games_are_those_of_an_evaluation(trained: Network, observation: str) -> None:
    """Score for score, game for game, one board at a time."""
    expected = evaluate(trained, games=3, seed=9, progress=False).results.scores
    env = gymnasium.make(ID, observation=observation, illegal="error")
    policy = TuplePolicy(trained, env)
    for game, score in enumerate(expected):
        seen, info = env.reset(seed=9) if game == 0 else env.reset()
        over = False
        while not over:
            seen, _, over, _, info = env.step(policy(seen, info))
        assert info["score"] == score


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("depth", [1, 2])
def test_many_boards_are_played_as_each_alone(small: Network, observation: str, depth: int) -> None:
    envs = gymnasium.make_vec(ID, 4, board="3x3", observation=observation, illegal="error")
    env = gymnasium.make(ID, board="3x3")
    policy, player = TuplePolicy(small, envs, depth=depth), LearnedAgent(small, depth=depth)
    seen, infos = envs.reset(seed=2)
    for _ in range(40):
        moves = policy(seen, infos)
        assert moves.shape == (4,) and moves.dtype == np.int64
        for board, move in zip(envs.boards, moves, strict=True):
            values = [each.value for each in player.moves(board)]
            if any(value is not None for value in values):
                best = max(value for value in values if value is not None)
                assert values[move] == pytest.approx(best, abs=1e-3)
        seen, *_, infos = envs.step(moves)
    listed = gymnasium.make_vec(ID, 4, vectorization_mode="sync", board="3x3", observation=observation)
    same_boards = TuplePolicy(small, listed, depth=depth)(*listed.reset(seed=2))
    assert (same_boards == policy(*envs.reset(seed=2))).all()
    if observation == "exponents":
        alone, _ = env.reset(seed=2)
        assert TuplePolicy(small, env, depth=depth)(alone) == policy(envs.reset(seed=2)[0])[0]


def test_values_of_states_are_played_by_as_well() -> None:
    net = network("state")
    env = gymnasium.make(ID, board="3x3", observation="afterstates", spawn4=0.1)
    policy = TuplePolicy(net, env)
    seen, info = env.reset(seed=1)
    for _ in range(20):
        move = policy(seen, info)
        assert MOVES[move] == net.best_move(env.board)
        seen, _, over, _, info = env.step(move)
        if over:
            break


def test_the_player_that_comes_along_plays_through_wrappers() -> None:
    env = gymnasium.make(ID, max_episode_steps=50)
    policy = TuplePolicy("small", env)
    seen, info = env.reset(seed=1)
    for _ in range(50):
        seen, _, over, cut, info = env.step(policy(seen, info))
        assert not over
    assert cut and info["score"] > 100


def test_what_the_policy_cannot_play_is_a_one_line_error(small: Network) -> None:
    env = gymnasium.make(ID)
    with pytest.raises(ValueError, match="looks at 3x3 boards, and the environment has 4x4"):
        TuplePolicy(small, env)
    with pytest.raises(ValueError, match=r"plays tuplet/2048-v1, not .*CartPole"):
        TuplePolicy(small, gymnasium.make("CartPole-v1"))
    env = gymnasium.make(ID, board="3x3", observation="afterstates")
    policy = TuplePolicy(small, env)
    seen, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match=r"policy\(observation, info\)"):
        policy(seen)
    with pytest.raises(ValueError, match=r"the shape \(4, 3, 3\)"):
        policy(seen[0])
