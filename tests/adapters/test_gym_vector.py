"""`tuplet/2048-v1`, many boards: step by step what single environments do, infos included."""

from __future__ import annotations

import itertools
import os
import pickle
import select
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tuplet.adapters.boards import OBSERVATIONS, REWARDS
from tuplet.adapters.gym import ID, Vector2048
from tuplet.games.g2048 import MOVES

MODES = list(AutoresetMode)


def pair(count: int, mode: AutoresetMode, limit: int | None = None, **more: Any) -> Any:
    """The vector environment, and Gymnasium's own of single ones."""
    made = gymnasium.make_vec(ID, count, autoreset_mode=mode, max_episode_steps=limit, **more)
    assert isinstance(made, Vector2048) and made.metadata["autoreset_mode"] is mode
    single = lambda: gymnasium.make(ID, max_episode_steps=limit or -1, **more)  # noqa: E731
    return made, SyncVectorEnv([single] * count, autoreset_mode=mode)


def same(one: Any, other: Any) -> None:
    """That both returned the same, to the type and the last bit."""
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert data_equivalence(mine, theirs, exact=True), (mine, theirs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("illegal", ["ignore", "end", "error"])
def test_every_step_is_that_of_single_environments_of_the_same_seeds(mode, illegal) -> None:
    sizes = itertools.cycle(["2x2", "2x3", "3x2"])
    for observation, reward in itertools.product(OBSERVATIONS, REWARDS):
        limit = 9 if reward == "log" else None
        ours, theirs = pair(
            5, mode, limit, board=next(sizes), spawn4=0.3, illegal=illegal, observation=observation, reward=reward
        )
        assert ours.single_observation_space == theirs.single_observation_space
        assert ours.observation_space == theirs.observation_space
        assert ours.action_space == theirs.action_space
        seen = theirs.reset(seed=11)
        same(ours.reset(seed=11), seen)
        source, ended, masks = np.random.default_rng(4), np.zeros(5, bool), seen[1]["action_mask"]
        ends = 0
        for _ in range(60):
            if mode is AutoresetMode.DISABLED and ended.any():
                seen = theirs.reset(options={"reset_mask": ended})
                same(ours.reset(options={"reset_mask": ended}), seen)
                masks[ended] = seen[1]["action_mask"][ended]
            moves = source.integers(0, 4, 5)
            if illegal == "error":  # which single environments would be stopped by
                moves = np.array([source.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks])
            seen = theirs.step(moves)
            same(ours.step(moves), seen)
            ended, masks = seen[2] | seen[3], seen[4]["action_mask"]
            ends += ended.sum()
        assert ends > 5


def test_the_largest_board_agrees_as_well_and_seeds_go_on() -> None:
    ours, theirs = pair(3, AutoresetMode.SAME_STEP)
    moves = np.random.default_rng(1).integers(0, 4, (500, 3))
    for seed in (0, [5, None, 1 << 100], None, [7, 8, 9]):
        same(ours.reset(seed=seed), theirs.reset(seed=seed))
        for move in moves:
            same(ours.step(move), theirs.step(move))


def test_some_boards_are_reset_and_others_left_alone() -> None:
    for mode in MODES:
        ours, theirs = pair(4, mode, board="2x2")
        same(ours.reset(seed=1), theirs.reset(seed=1))
        for seed in (None, 9):
            same(ours.step(np.array([0, 1, 2, 3])), theirs.step(np.array([0, 1, 2, 3])))
            chosen = np.array([True, False, True, False])
            asked = {"seed": seed, "options": {"reset_mask": chosen}}
            mine = ours.reset(**asked)
            same(mine, theirs.reset(seed=seed, options={"reset_mask": chosen}))


def test_threads_change_nothing() -> None:
    runs = []
    for threads in (1, 2, 3):
        envs = gymnasium.make_vec(ID, 9000, threads=threads, board="3x3", autoreset_mode="SameStep")
        envs.reset(seed=1)
        envs.action_space.seed(1)
        runs.append([envs.step(envs.action_space.sample()) for _ in range(30)])
        assert len(envs._shares) == min(threads, 4)
        envs.close()
        envs.close()
    for other in runs[1:]:
        for one, two in zip(runs[0], other, strict=True):
            same(one, two)
    assert sum(step[2].sum() for step in runs[0]) > 100


def test_a_copy_and_a_forked_process_have_threads_of_their_own() -> None:
    envs = gymnasium.make_vec(ID, 9000, threads=2)
    envs.reset(seed=1)
    moves = np.arange(9000) % 4
    envs.step(moves)
    twin = pickle.loads(pickle.dumps(envs))
    same(envs.step(moves), twin.step(moves))
    here, there = os.pipe()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.write(there, envs.step(moves)[1].sum().tobytes())
            code = 0
        finally:
            os._exit(code)
    try:
        ready, _, _ = select.select([here], [], [], 30)
        assert ready and os.read(here, 8) == twin.step(moves)[1].sum().tobytes()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    envs.close()
    twin.close()


def test_a_reset_that_is_refused_changes_nothing() -> None:
    envs, twin = (gymnasium.make_vec(ID, 4) for _ in range(2))
    same(envs.reset(seed=5), twin.reset(seed=5))
    for wrong in (
        {"seed": [1, 2, 3]},
        {"seed": [1, 2, 3, -4]},
        {"seed": 9, "options": {"reset_mask": np.array([True])}},
    ):
        with pytest.raises(ValueError, match=r"boards|seed must be 0 or more"):
            envs.reset(**wrong)
        same(envs.reset(), twin.reset())


def test_no_seed_is_a_seed_of_its_own_for_every_board() -> None:
    envs = gymnasium.make_vec(ID, 64)
    boards = envs.reset()[0]
    assert len({board.tobytes() for board in boards}) > 40
    twin = gymnasium.make_vec(ID, 64)
    same(twin.reset(seed=envs.np_random_seed), envs.reset(seed=envs.np_random_seed))
    assert (twin.reset(seed=envs.np_random_seed)[0] == boards).all()
    for each in (envs, twin):
        each.np_random = np.random.default_rng(5)
    same(envs.reset(), twin.reset())


def test_returned_arrays_are_not_reused() -> None:
    envs = gymnasium.make_vec(ID, 8, board="2x2", observation="afterstates", autoreset_mode="SameStep")
    envs.reset(seed=1)
    kept = [envs.step(np.full(8, n % 4)) for n in range(30)]
    told = [info for step in kept for info in (step[4], step[4].get("final_info", {}))]
    assert sum("final_info" in info for info in told) > 5
    found = [a for step in kept for a in step[:4]] + [a for info in told for a in info.values()]
    found += [a for info in told for a in info.get("final_obs", ()) if a is not None]
    arrays = [array for array in found if isinstance(array, np.ndarray) and array.dtype != object]
    for one, other in itertools.combinations(arrays, 2):
        assert not np.shares_memory(one, other)


def test_gymnasiums_own_wrappers_and_makers_take_it_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(f"tuplet.adapters.gym:{ID}", 4, board="2x2")
        again = gymnasium.make_vec(envs.spec)
        assert again.num_envs == 4 and again.config == envs.config
        wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
        wrapped.reset(seed=1)
        found: list[float] = []
        for _ in range(60):
            *_, infos = wrapped.step(wrapped.action_space.sample())
            found += infos["episode"]["r"][infos["_episode"]].tolist() if "episode" in infos else []
        assert found and all(score % 4 == 0 for score in found)
        listed = gymnasium.wrappers.vector.DictInfoToList(again)
        _, infos = listed.reset(seed=1)
        assert len(infos) == 4 and infos[0]["action_mask"].shape == (4,)
        wrapped.close()


def test_pictures_of_all_boards() -> None:
    texts = gymnasium.make_vec(ID, 3, render_mode="ansi")
    texts.reset(seed=1)
    assert [*texts.render()] == [f"{board}\n0 points\n" for board in texts.boards]
    images = gymnasium.make_vec(ID, 3, board="2x3", render_mode="rgb_array")
    images.reset(seed=1)
    assert {image.shape for image in images.render()} == {(108, 160, 3)}
    assert gymnasium.make_vec(ID, 3).render() is None


def test_wrong_calls_are_one_line_errors() -> None:
    envs = gymnasium.make_vec(ID, 2, illegal="error", autoreset_mode="Disabled", board="2x2")
    with pytest.raises(ResetNeeded):
        envs.step([0, 0])
    _, infos = envs.reset(seed=[1, 2])
    before = [str(board) for board in envs.boards]
    for wrong in ([0], [0, 4], [-1, 0], [[0], [1]], 0, [0.9, 1.0], [1 << 70, 0], ["up", "left"]):
        with pytest.raises(ValueError, match=r"2 moves, each 0 \(up"):
            envs.step(wrong)
    while (infos["action_mask"][1] == 1).all():
        _, infos = envs.reset()
        before = [str(board) for board in envs.boards]
    legal, illegal = infos["action_mask"][0].argmax(), infos["action_mask"][1].argmin()
    with pytest.raises(ValueError, match=f"{MOVES[illegal]} changes nothing on board 1"):
        envs.step([legal, illegal])
    assert [str(board) for board in envs.boards] == before  # of neither board
    ended = np.zeros(2, bool)
    while not ended.any():
        _, _, ended, _, infos = envs.step(infos["action_mask"].argmax(1))
    with pytest.raises(ResetNeeded):
        envs.step([0, 0])
    for mask in ([True], [1, 0], [False, False]):
        with pytest.raises(ValueError, match="a bool for each of 2 boards"):
            envs.reset(options={"reset_mask": np.array(mask)})
    with pytest.raises(ValueError, match="one value for each of 2 boards"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="seed must be 0 or more \\(got -1\\)"):
        envs.reset(seed=[-1, 2])
    for wrong, complaint in (
        ({"render_mode": "human"}, "ansi, rgb_array"),
        ({"num_envs": 0}, "1 or more"),
        ({"max_episode_steps": 0}, "1 or more"),
        ({"threads": 1000}, "threads must be 1 to 256"),
        ({"threads": 0}, "threads must be 1 to 256"),
        ({"max_episode_steps": -2}, "1 or more"),
        ({"autoreset_mode": "never"}, "never"),
    ):
        with pytest.raises(ValueError, match=complaint):
            Vector2048(**wrong)
