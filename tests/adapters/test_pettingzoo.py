"""Games for PettingZoo: its own checkers for every kind of game, and what agents are told."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import tuplet
from tuplet.adapters.pettingzoo import ID, GameEnv, env, raw_env

pytestmark = pytest.mark.slow

CONNECT4 = f"{Path(__file__).parents[2] / 'examples' / 'connect4.py'}:CONNECT4"
FAMILY = [
    "ewn:board=4x4,cubes=3",
    "ewn:board=7x9,directions=4",
    "ewn:die=chosen",
    "ewn:die=free,own=no",
    "ewn:board=3x3,cubes=1,cycle=5",
    "ewn:board=6x6,cubes=2,own=no",
]
GAMES = ["ewn", "ewn-6x7", *FAMILY, CONNECT4, "2048:board=2x3"]


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_checkers_accept_the_environment(game: str, capsys, caplog) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(env(game), num_cycles=60)
        api_test(raw_env(game), num_cycles=20)
        seed_test(partial(env, game), num_cycles=100)
        seed_test(partial(env, game), num_cycles=3)
        render_test(partial(env, game))
    assert not caplog.records
    assert "Passed API test" in capsys.readouterr().out


DICTIONARY = (
    "Observation is not a NumPy array",
    "probably should be gymnasium.spaces.box",
    "all zeros (no legal actions)",
)


@pytest.mark.parametrize("game", ["ewn", "ewn:die=chosen", CONNECT4])
def test_masks_may_be_in_the_observation(game: str) -> None:
    """As in PettingZoo's own games; of which its checker knows by name, and says so of others."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        api_test(env(game, masks="observation"), num_cycles=60)
        seed_test(partial(env, game, masks="observation"), num_cycles=60)
        render_test(partial(env, game, masks="observation"))
    assert all(any(known in str(each.message) for known in DICTIONARY) for each in told)
    one, other = GameEnv(game), GameEnv(game, masks="observation")
    for each in (one, other):
        each.reset(seed=1)
    seen, agent = other.observe(other.agent_selection), one.agent_selection
    assert (seen["observation"] == one.observe(agent)).all()
    assert (seen["action_mask"] == one.infos[agent]["action_mask"]).all()
    assert other.infos[agent] == {}


def played(made: GameEnv, seed: int) -> tuple[list[tuple[Any, int]], dict[str, float]]:
    """A random game: positions with what was played, and all rewards."""
    source, path, sums = np.random.default_rng(seed), [], dict.fromkeys(made.possible_agents, 0.0)
    made.reset(seed=seed)
    for agent in made.agent_iter():
        _, reward, over, _, info = made.last()
        sums[agent] += reward
        action = None if over else source.choice(np.flatnonzero(info["action_mask"]))
        if action is not None:
            assert made.position.sides.index(made.position.turn) == int(agent[-1])
            assert np.flatnonzero(info["action_mask"]).tolist() == sorted(made.position.legal_actions())
            path.append((made.position, int(action)))
        made.step(action)
    return path, sums


@pytest.mark.parametrize("game", GAMES[:-1])
def test_games_are_the_games_of_their_rules(game: str) -> None:
    made, winners = GameEnv(game), set()
    for seed in range(12):
        path, rewards = played(made, seed)
        assert path[0][0].game == made.game and len(path) > 1
        for (before, code), (after, _) in pairwise(path):
            next_one = before.after(code)
            if next_one.is_chance:
                rolled = [next_one.apply_outcome(outcome) for outcome in next_one.chance_outcomes()]
                assert after in rolled
            else:
                assert after == next_one
        last = path[-1][0].after(path[-1][1])
        assert last.over
        value = {None: 0.0, last.sides[0]: 1.0, last.sides[1]: -1.0}[last.winner]
        assert rewards == {"player_0": value, "player_1": -value}
        winners.add(last.winner)
    assert len(winners) > 1


def test_a_game_for_one_ends_with_its_points() -> None:
    made = GameEnv(GAMES[-1])
    for seed in range(3):
        path, rewards = played(made, seed)
        assert rewards == {"player_0": made.position.score} and made.position.score > 0
        assert path[-1][0].after(path[-1][1]).score == made.position.score
    made.reset(seed=1)
    made.step(next(n for n in range(4) if n not in made.position.legal_actions()))
    assert made.rewards == {"player_0": 0.0} and made.terminations == {"player_0": True}
    with pytest.raises(ValueError, match="no game has begun"):
        GameEnv(GAMES[-1], render_mode="ansi").render()


def test_the_first_game_of_a_seed_is_dealt_as_the_game_deals_it() -> None:
    made = GameEnv("ewn-6x7")
    made.reset(seed=3)
    assert made.position == tuplet.game("ewn-6x7").start(seed=3)
    first = made.position
    made.reset()
    assert made.position != first  # the seed's second game
    made.reset(seed=3)
    assert made.position == first


def test_dice_are_fair_and_differ_from_game_to_game() -> None:
    made, seen = GameEnv("ewn"), []
    made.reset(seed=1)
    for _ in range(600):
        seen.append(made.position.die)
        made.reset()
    counts = np.bincount(seen, minlength=7)[1:]
    assert counts.sum() == 600 and counts.min() > 60


def test_both_sides_of_ewn_see_the_board_as_if_it_were_theirs() -> None:
    made = GameEnv("ewn")
    made.reset(seed=1)
    made.position = tuplet.EwnPosition.parse("ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2")
    red, blue = made.observe("player_0"), made.observe("player_1")
    assert red.shape == (5, 5, 12 + 6 + 1)
    assert red[0, 0, 0] == red[0, 2, 2] == red[2, 4, 6 + 5] == 1 and red[:, :, :12].sum() == 12
    assert (red[:, :, :18] == blue[:, :, :18]).all()  # the position is symmetric
    assert red[:, :, 12:18].sum((0, 1)).tolist() == [0, 25, 0, 0, 0, 0]
    assert red[:, :, -1].all() and not blue[:, :, -1].any()
    made = GameEnv("ewn-6x7")
    made.reset(seed=1)
    seen = made.observe("player_0")
    assert seen.shape == (6, 7, 12 + 21 * 6 + 1)
    faces = seen[0, 0, 12:-1].reshape(21, 6)
    assert (faces.sum(1) == 1).all() and faces.argmax(1).tolist() == made.position.coming_die(21)


def test_other_games_are_seen_as_bits() -> None:
    made = GameEnv(CONNECT4)
    made.reset(seed=1)
    assert made.action_space("player_0").n == 7
    made.step(3)
    seen = made.observe("player_1")
    words = np.packbits(seen[:128], bitorder="little").view(np.uint64)
    assert tuple(words) == made.position.words and seen[128:].tolist() == [1, 1]
    assert made.observe("player_0")[128:].tolist() == [0, 0]


def test_an_illegal_move_loses() -> None:
    made = env("ewn")
    made.reset(seed=1)
    agent = made.agent_selection
    illegal = int(np.flatnonzero(made.infos[agent]["action_mask"] == 0)[0])
    made.step(illegal)
    assert made.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(made.terminations.values())
    for _ in range(2):
        assert not made.last()[4]["action_mask"].any()
        made.step(None)
    assert not made.agents
    made = raw_env("ewn")
    made.reset(seed=1)
    for action in (-1, 48, None):
        with pytest.raises(ValueError, match="0 to 47"):
            made.step(action)


def test_pictures() -> None:
    made = GameEnv("ewn", "rgb_array")
    made.reset(seed=1)
    image = made.render()
    assert image.shape == (5 * 52 + 4, 5 * 52 + 4, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) > 5
    made = GameEnv(CONNECT4, "rgb_array")
    made.reset(seed=1)
    before = made.render()
    made.step(3)
    changed = np.argwhere((made.render() != before).any(2))
    assert changed.min(0)[0] > 5 * 52 and 3 * 52 < changed.min(0)[1] < changed.max(0)[1] < 4 * 52 + 4
    made = GameEnv("ewn", "ansi")
    made.reset(seed=1)
    assert made.render() == f"{made.position}\n"


def test_it_can_be_sent_to_another_process() -> None:
    made = GameEnv("ewn-6x7")
    made.reset(seed=1)
    twin = pickle.loads(pickle.dumps(made))
    assert twin.position == made.position
    action = made.position.legal_actions()[0]
    made.step(action)
    twin.step(action)
    assert twin.position == made.position


def test_what_there_is_to_choose_from_is_said() -> None:
    for wrong, complaint in (
        ({"game": "chess"}, "is not a game"),
        ({"masks": "nowhere"}, "info, observation"),
        ({"render_mode": "svg"}, "human, ansi, rgb_array"),
    ):
        with pytest.raises(ValueError, match=complaint) as caught:
            GameEnv(**wrong)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="pettingzoo.make is new in 1.27")
def test_it_is_registered() -> None:
    made = pettingzoo.make("aec", ID, game="ewn-6x7")
    made.reset(seed=1)
    assert made.unwrapped.game.name == "ewn-6x7"
