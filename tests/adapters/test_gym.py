"""`tuplet/2048-v1`, one board: Gymnasium's own checker, and the game behind it."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import os
import pickle
import pty
import subprocess
import sys
import time
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from both_ways import in_both_ways
from tuplet import Board
from tuplet.adapters.boards import ILLEGAL, OBSERVATIONS, REWARDS
from tuplet.adapters.gym import ID, Env2048
from tuplet.games.g2048 import MOVES, rules_for
from tuplet.kernel import stream

SIZES = [f"{rows}x{columns}" for rows in (2, 3, 4) for columns in (2, 3, 4)]


def board_of(observation: np.ndarray) -> Board:
    return Board([[1 << e if e else 0 for e in row] for row in observation.tolist()])


@pytest.mark.parametrize("board", SIZES)
def test_gymnasiums_checker_accepts_the_environment(board: str) -> None:
    """Every observation and reward; the checker makes illegal moves, so that "error" is left out."""
    for observation, reward, illegal in itertools.product(OBSERVATIONS, REWARDS, ("ignore", "end")):
        share = {"points": 0.1, "log": 0.0, "merges": 1.0}[reward]
        env = gymnasium.make(ID, board=board, spawn4=share, observation=observation, reward=reward, illegal=illegal)
        assert env is env.unwrapped  # no wrapper that takes time
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env)


def test_it_is_registered_by_its_module_in_the_name() -> None:
    env = gymnasium.make(f"tuplet.adapters.gym:{ID}", board="3x4", max_episode_steps=3)
    assert isinstance(env.unwrapped, Env2048)
    env.reset(seed=1)
    assert [env.step(env.action_space.sample())[3] for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("board", ["2x3", "4x4"])
def test_a_game_is_the_boards_game(board: str) -> None:
    """Points, tiles, masks and the end are those of `Board`, with the stream of `tuplet eval`."""
    env = gymnasium.make(ID, board=board, spawn4=0.2)
    source, size = np.random.default_rng(2), tuple(map(int, board.split("x")))
    for game in range(8):
        observation, info = env.reset(seed=5) if game == 0 else env.reset()
        state, score = np.uint64(stream(np.uint64(5), np.uint64(game))), 0
        held = Board(rows=size[0], columns=size[1])
        for _ in range(2):
            state, held = held.spawn(state, 0.2)
        over = False
        while not over:
            legal = held.legal_moves()
            assert board_of(observation) == held == env.board
            assert [MOVES[m] for m in np.flatnonzero(info["action_mask"])] == legal
            assert info["score"] == score
            move = legal[source.integers(len(legal))]
            after, points = held.move(move)
            state, held = after.spawn(state, 0.2)
            score += points
            observation, reward, over, cut, info = env.step(MOVES.index(move))
            assert (reward, cut, over) == (points, False, held.over)
        assert not info["action_mask"].any() and board_of(observation) == held


def test_observations_and_rewards_of_all_kinds_tell_of_the_same_game() -> None:
    envs = {
        kind: gymnasium.make(ID, board="3x3", observation=kind, reward=reward)
        for kind, reward in zip(OBSERVATIONS, REWARDS, strict=True)
    }
    seen = {kind: env.reset(seed=3) for kind, env in envs.items()}
    source, over = np.random.default_rng(1), False
    while not over:
        (board, info), (planes, _), (after, more) = seen.values()
        held = board_of(board)
        assert planes.shape == (11, 3, 3) and (planes.sum(0) == 1).all()
        assert (planes.argmax(0) == board).all()
        for move in range(4):
            slid, points = held.move(move)
            assert board_of(after[move]) == slid
            merged = len(slid.empty) - len(held.empty)
            assert more["rewards"][move] == merged and (points > 0) == (merged > 0)
        move = source.choice(np.flatnonzero(info["action_mask"]))
        done = {kind: env.step(move) for kind, env in envs.items()}
        points, log, merges = (done[kind][1] for kind in OBSERVATIONS)
        assert points == held.move(int(move))[1] and merges == more["rewards"][move]
        assert log == (math.log2(points) if points else 0.0)
        assert type(points) is type(log) is type(merges) is float
        seen = {kind: (each[0], each[4]) for kind, each in done.items()}
        over = done["exponents"][2]
        assert type(over) is bool and {each[2] for each in done.values()} == {over}


def stuck_at(env: Env2048) -> int:
    """A move that is not legal, on the first board that has one."""
    for seed in itertools.count():
        _, info = env.reset(seed=seed)
        if not info["action_mask"].all():
            return int(info["action_mask"].argmin())
    raise AssertionError


def test_an_illegal_move_does_nothing_or_ends_the_episode_or_is_an_error() -> None:
    env = Env2048()
    move, before = stuck_at(env), env.board
    observation, reward, over, _, info = env.step(move)
    assert (env.board, reward, over) == (before, 0.0, False) and info["action_mask"].any()
    env = Env2048(illegal="end")
    move, before = stuck_at(env), env.board
    observation, reward, over, _, info = env.step(move)
    assert (env.board, reward, over) == (before, 0.0, True) and not info["action_mask"].any()
    assert board_of(observation) == before
    env = Env2048(illegal="error")
    move, before = stuck_at(env), env.board
    with pytest.raises(ValueError, match=f"{MOVES[move]} changes nothing here") as caught:
        env.step(move)
    assert all(move in str(caught.value) for move in before.legal_moves())
    assert env.board == before and env.step(MOVES.index(before.legal_moves()[0]))[2] is False


def test_the_action_mask_samples_legal_moves_only() -> None:
    env = Env2048("2x2", illegal="error")
    for seed in range(30):
        _, info = env.reset(seed=seed)
        env.action_space.seed(seed + 1)
        over = False
        while not over:
            _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))


def test_wrong_calls_are_one_line_errors() -> None:
    env = Env2048("2x2")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    env.reset(seed=1)
    for move in (-1, 4, 1 << 40):
        with pytest.raises(ValueError, match=r"must be 0 \(up"):
            env.step(move)
    with pytest.raises(TypeError):
        env.step(1.7)
    for wrong, complaint in (
        ({"board": "5x5"}, "2x2 to 4x4"),
        ({"spawn4": 2}, "spawn4 must be 0 to 1"),
        ({"observation": "pixels"}, "exponents, onehot, afterstates"),
        ({"reward": "score"}, "points, log, merges"),
        ({"illegal": "no"}, "ignore, end, error"),
        ({"render_mode": "svg"}, "human, ansi, rgb_array"),
    ):
        with pytest.raises(ValueError, match=complaint) as caught:
            Env2048(**wrong)
        assert "\n" not in str(caught.value)


def test_tiles_beyond_32768_are_seen_and_played() -> None:
    tiles = [32768, 32768, 65536, 131072, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
    for kind in OBSERVATIONS:
        env = Env2048(observation=kind)
        env.reset(seed=1)
        env._games[0, :2] = Board(tiles).packed
        env._games[0, 7] = 0b1010
        observation, reward, _, _, info = env.step(MOVES.index("left"))
        slid, points = Board(tiles).move("left")
        assert reward == points == 65536 == info["score"]
        after = [*slid.tiles[:3], *slid.tiles[4:]]
        assert [*env.board.tiles[:3], *env.board.tiles[4:]] == after
        assert observation in env.observation_space
        if kind == "afterstates":
            assert board_of(observation[0]) == env.board.move("up")[0]
        else:
            assert board_of(observation.argmax(0) if kind == "onehot" else observation) == env.board


def test_seeds_are_gymnasiums() -> None:
    env, twin = Env2048(), Env2048()
    first, _ = env.reset(seed=1 << 200)
    assert (twin.reset(seed=1 << 200)[0] == first).all()
    assert env.np_random_seed == 1 << 200
    boards = {Env2048().reset()[0].tobytes() for _ in range(20)}
    assert len(boards) > 10  # none was asked for: each has one of its own
    assert len({env.reset()[0].tobytes() for _ in range(20)}) > 10
    for each in (env, twin):
        each.np_random = np.random.default_rng(7)
    assert (env.reset()[0] == twin.reset()[0]).all() and env.np_random_seed == -1


def test_observations_are_not_reused() -> None:
    env = Env2048()
    kept = [env.reset(seed=1)] + [env.step(n % 4)[::4] for n in range(20)]
    copies = copy.deepcopy(kept)
    for n in range(20):
        env.step(n % 4)
    for (one, info), (other, same) in zip(kept, copies, strict=True):
        assert (one == other).all() and (info["action_mask"] == same["action_mask"]).all()


def test_a_copy_plays_the_same_game() -> None:
    env = Env2048(illegal="error")
    _, info = env.reset(seed=1)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(20):
        move = env.action_space.sample(info["action_mask"])
        board, *_, info = env.step(move)
        for twin in twins:
            assert (twin.step(move)[0] == board).all()


def test_pictures_show_the_tiles() -> None:
    env = Env2048("2x3", render_mode="rgb_array")
    env.reset(seed=1)
    empty, image = env.board.empty[0], env.render()
    assert image.shape == (2 * 52 + 4, 3 * 52 + 4, 3) and image.dtype == np.uint8
    assert image[0, 0].tolist() == [0xBB, 0xAD, 0xA0]

    def cell(image: np.ndarray, number: int) -> np.ndarray:
        row, column = divmod(number, 3)
        return image[4 + 52 * row : 52 + 52 * row, 4 + 52 * column : 52 + 52 * column]

    assert (cell(image, empty) == cell(image, empty)[0, 0]).all()  # nothing but its ground
    looks = set()
    for exponent in range(1, 18):
        env._games[0, 0], env._games[0, 1] = exponent & 15, exponent >> 4
        looks.add(cell(env.render(), 0).tobytes())
    assert len(looks) == 17
    env = Env2048(render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == f"{env.board}\n0 points\n" and Env2048().render() is None


def test_people_see_frames_in_a_file_and_a_window_in_the_terminal(capsys) -> None:
    env = Env2048(render_mode="human")
    env.reset(seed=1)
    env.step(env.board.legal_moves() and MOVES.index(env.board.legal_moves()[0]))
    out = capsys.readouterr().out
    assert out.count("points") == 2 and "\x1b" not in out  # a frame for each, without asking
    assert env.render() is None
    env.close()
    env.close()


LOOP = f"""
import gymnasium
env = gymnasium.make("tuplet.adapters.gym:{ID}", board="2x2", render_mode="human")
env.reset(seed=1)
for move in (0, 1, 2): env.step(move)
print("said in between")
env.step(3)
"""


@pytest.mark.slow
def test_the_window_stays_where_it_is_and_the_cursor_comes_back() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen([sys.executable, "-c", LOOP], stdout=theirs, env=environment)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # it has ended
        while more := os.read(ours, 4096):
            written += more
    os.close(ours)
    assert process.wait() == 0
    text = written.decode()
    assert text.count("points") >= 5 and "said in between" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # hidden, and shown again
    assert "\x1b[1A" in text and "48;" in text  # drawn over the last frame, in colours


SCRIPT = """
import sys
import numpy as np
from tuplet.adapters.boards import EnvConfig, new_games, reset_games, step_games, step_one
for line in sys.stdin:
    board, observation, reward, illegal, resets, limit = line.split()
    config = EnvConfig.of(board, 0.3, observation, reward, illegal)
    rules, setup = config.rules, config.setup(int(resets), int(limit))
    games, n, size = new_games(5), 5, int(np.prod(config.shape))
    games[:, 3] = range(7, 12)
    def room():
        return (np.zeros(n * size, np.uint8), np.zeros(4 * n), np.zeros(4 * n, np.int8),
                np.zeros(n, np.int64))
    seen, last, ends = room(), room(), (np.uint64(0), np.uint64(n))
    tables, every = (rules.across, rules.down, setup), np.ones(n, bool)
    print(reset_games(*tables, games, every, *seen, *ends), *seen)
    rewards, over, cut = np.zeros(n), np.zeros(n, bool), np.zeros(n, bool)
    source = np.random.default_rng(1)
    for step in range(12):
        if step == 6:
            games[0, :2] = 0x76543210000008FF, 0x1000000000000000  # tiles beyond 32768, soon
            games[0, 7] = 15
        moves = source.integers(0, 4, n)
        ended = step_games(*tables, games, moves, *seen, rewards, over, cut, *last, *ends)
        print(ended, games.tolist(), *seen, rewards, over, cut, *last)
    one = new_games(1)
    reset_games(*tables, one, np.ones(1, bool), *seen, np.uint64(0), np.uint64(1))
    for move in (0, 1, 2, 3, 4, 0, 1):
        print(*map(float, step_one(*tables, one, move, *seen)), one.tolist(), *seen)
"""


def test_compiled_and_interpreted_environments_agree() -> None:
    ways = itertools.product(("2x2", "4x4"), OBSERVATIONS, REWARDS, ILLEGAL)
    lines = [" ".join((*way, str(n // 3 % 3), str(n % 2 * 3))) for n, way in enumerate(ways)]
    compiled, interpreted = in_both_ways(SCRIPT, lines[::7])
    assert compiled.count("\n") > 150 and compiled == interpreted


def test_a_step_takes_microseconds() -> None:
    """Five at most; some 2.5 on a core of 2021."""
    env = gymnasium.make(ID)
    env.reset(seed=1)
    moves = np.random.default_rng(1).integers(0, 4, 1000)
    best = math.inf
    for _ in range(10):
        began = time.thread_time()
        for move in moves:
            if env.step(move)[2]:
                env.reset()
        best = min(best, (time.thread_time() - began) / len(moves))
    assert best < 5e-6


def test_rules_are_shared() -> None:
    assert Env2048()._arrays[0] is Env2048("4x3", spawn4=0.3)._arrays[1] is rules_for().across
