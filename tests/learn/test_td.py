"""TD updates of whole games against a learner written as plainly as possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from naive import NaiveNetwork, learn_game
from tuplet import Board, Network, RandomEnvironment, Record, evaluate, learn_from, train
from tuplet.games.formats import read_game
from tuplet.games.g2048 import rules_for
from tuplet.games.g2048.rules import view
from tuplet.games.g2048.statistics import make_results
from tuplet.kernel import kernel
from tuplet.learn.learners import TD, learner_named, update_weights
from tuplet.learn.td import Hyperparameters, make_workspace, play_afterstates, play_states
from tuplet.values.network import COHERENCE
from tuplet.values.tables import value, weight_indices

TUPLES = "0123 4567 01245 45689a"


def grid(board: Board) -> list[list[int]]:
    return [list(board.exponents[r : r + 4]) for r in range(0, 16, 4)]


def seen_in(game: Record, states: bool) -> tuple[list[list[list[int]]], list[int]]:
    """The boards that a game teaches the values of, and the reward behind each."""
    slides = [(position.board, *position.board.move(move)) for position, move in game.replay()]
    boards = [grid(board if states else after) for board, after, _ in slides]
    rewards = [reward for *_, reward in slides]
    return boards, rewards if states else [*rewards[1:], 0]


@pytest.fixture(scope="module")
def game(trained: Network) -> Record:
    games: list[Record] = []
    evaluate(trained, games=20, seed=12, on_episode=games.append)
    return min((game for game in games if len(game.moves) > 300), key=lambda g: len(g.moves))


LEARNERS: list[dict[str, Any]] = [
    {},
    {"order": "forward"},
    {"gamma": 0.9},
    {"gamma": 0.9, "order": "forward"},
    {"lam": 0.5},
    {"lam": 0.8, "gamma": 0.9},
    {"steps": 3},
    {"steps": 10, "gamma": 0.9},
    {"steps": 4, "order": "forward", "gamma": 0.9},
    {"steps": 1000},
    {"learner": "tc", "alpha": 1.0, "lam": 0.0},
    {"learner": "tc"},
    {"learner": "tc", "steps": 5},
    {"learner": "tc", "order": "forward"},
    {"learner": "tc", "stages": "512 256"},
    {"stages": "1024 64 32"},
    {"learner": "tc", "grow": "0145 012456"},
    {"learner": "tc", "grow": "0145", "stages": "512", "initial": 900.0},
]
SOME = (0, 5, 8, 14, 17)


@pytest.mark.parametrize(
    ("settings", "target"),
    [  # some with one kind of values; all with both in `make test-long`
        pytest.param(
            settings,
            target,
            id=f"{settings}-{target}",
            marks=[] if number in SOME and (number + other) % 2 == 0 else [pytest.mark.long],
        )
        for number, settings in enumerate(LEARNERS)
        for other, target in enumerate(("afterstate", "state"))
    ],
)
def test_each_learners_updates_equal_the_plain_ones(game: Record, target: str, settings: dict[str, Any]) -> None:
    settings = dict(settings)
    gamma, stages = settings.pop("gamma", 1.0), settings.pop("stages", "")
    grow, initial = settings.pop("grow", ""), settings.pop("initial", 0.0)
    tc = settings.get("learner") == "tc"
    alpha = settings.setdefault("alpha", 1.0 if tc else 0.25)
    net = Network(TUPLES, target=target, gamma=gamma, stages=stages, initial=initial)
    marks = tuple(int(tile).bit_length() - 1 for tile in stages.split())
    naive = NaiveNetwork(TUPLES.split(), initial, tc=tc, marks=marks)
    order, steps = settings.get("order", "backward"), settings.get("steps", 1)
    lam = settings.get("lam", 0.5 if tc and order == "backward" and steps == 1 else 0.0)
    boards, rewards = seen_in(game, target == "state")
    for turn in range(2):
        if turn and grow:  # twice as many look-ups, and the same values
            net.grow(grow)
            naive.grow(grow.split())
        learn_from(net, game, **settings)
        learn_game(naive, boards, rewards, alpha=alpha, gamma=gamma, lam=lam, steps=steps, order=order)
    for position, _ in list(game.replay())[::7]:
        board = position.board
        assert net.value(board) == pytest.approx(naive.value(grid(board)), rel=5e-4, abs=0.5)


def test_tcs_first_update_is_that_of_td_with_alpha_1() -> None:
    short = read_game("a:b@0|0151#R01|b@0")  # a game of one move: each weight is updated once
    tc, td = Network(TUPLES, target="state"), Network(TUPLES, target="state")
    for net in (tc, td):
        net.weights[:] = np.random.default_rng(3).normal(0, 50, len(net.weights))
    learn_from(tc, short, learner="tc")
    learn_from(td, short, alpha=1.0)
    assert (tc.weights == td.weights).all()
    changed = td.weights != np.random.default_rng(3).normal(0, 50, len(td.weights)).astype("f4")
    assert changed.sum() > 8
    sums = tc.learner_memory(COHERENCE, 2)
    assert sums.any() and (np.abs(sums[:, 0]) == sums[:, 1]).all()


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_lambda_1_learns_monte_carlo_returns(game: Record, target: str) -> None:
    """With lambda 1 values play no part in the targets: each is what the game went on to earn."""
    lam, plain = (Network(TUPLES, target=target) for _ in range(2))  # type: ignore[arg-type]
    learn_from(lam, game, alpha=0.3, lam=1.0)
    earned = 0
    for position, move in reversed([*game.replay()]):
        after, reward = position.board.move(move)
        if target == "state":
            earned += reward
            plain.update(position.board, earned, 0.3)
        else:
            plain.update(after, earned, 0.3)
            earned += reward
    assert np.allclose(lam.weights, plain.weights, rtol=1e-3, atol=0.05)


@kernel
def adjusted(by: Any, weights: Any, memory: Any, found: Any, start: Any, m: Any, by_much: Any) -> None:
    update_weights(by, weights, memory, found, start, m, by_much)


@pytest.mark.parametrize("learner", ["td", "tc"])
def test_lambda_0_moves_each_value_towards_the_next(game: Record, learner: str) -> None:
    nets = [Network(TUPLES) for _ in range(3)]
    learn_from(nets[0], game, learner=learner, alpha=0.5, lam=0.0)
    learn_from(nets[2], game, learner=learner, alpha=0.5, lam=0.25)
    following = 0.0
    by = learner_named(learner)
    tables = nets[1].tables_with_memory(by.memory, by.memory_per_weight)
    zero, m = np.uint64(0), np.uint64(nets[1].m)
    for position, move in reversed([*game.replay()]):
        slid, reward = position.board.move(move)
        after = view(*slid.packed)
        error = np.float32(following) - value(tables, after)
        found = weight_indices(tables, after)
        amount = np.float32(0.5) / np.float32(m) * error
        adjusted(by.rule, tables.weights, tables.memory, found, zero, m, amount)
        following = reward + float(value(tables, after))
    assert np.allclose(nets[0].weights, nets[1].weights, rtol=1e-4, atol=1e-3)
    assert not np.allclose(nets[0].weights, nets[2].weights, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("target", ["afterstate", "state"])
@pytest.mark.parametrize("order", ["backward", "forward"])
def test_a_played_game_teaches_what_its_record_teaches(target: str, order: str) -> None:
    """The loop that plays and learns does what `learn_from` does with the same game."""
    teacher = Network(TUPLES, target=target)  # type: ignore[arg-type]
    train(teacher, games=200, seed=3, learner="td", order=order, progress=False)
    before = Network(TUPLES, target=target)  # type: ignore[arg-type]
    before.weights[:] = teacher.weights
    play = play_states if target == "state" else play_afterstates
    learner = Hyperparameters(TD.rule, np.float32(0.1), np.float32(1), order == "forward")
    work, results = make_workspace(teacher.m), make_results(1)
    play(rules_for(), teacher.tables, learner, work, np.uint64(77), 0, 1, results, 0)
    if order == "backward":  # moves do not depend on what is learned meanwhile
        games: list[Record] = []
        evaluate(before, games=1, seed=77, on_episode=games.append)
        assert results.scores[0] == games[0].score
        learn_from(before, games[0], alpha=0.1, order="backward")
        assert (teacher.weights == before.weights).all()
    else:
        replayed = forward_by_hand(before.weights, target)
        assert (before.weights != teacher.weights).any()
        assert np.allclose(replayed.weights, teacher.weights, rtol=1e-3, atol=0.1)


def forward_by_hand(weights: np.ndarray, target: str) -> Network:
    """Game 0 of seed 77, played and learned forward by the public methods."""
    net = Network(TUPLES, target=target)  # type: ignore[arg-type]
    net.weights[:] = weights
    environment = RandomEnvironment(77)
    environment.open()
    board = Board()
    for _ in range(2):
        board = board.place(*environment.place(board))
    previous: tuple[Board, int] | None = None
    while not board.over:
        move = net.best_move(board)
        after, reward = board.move(move)
        if previous is not None:
            if target == "state":
                net.update(previous[0], previous[1] + net.value(board), 0.1)
            else:
                net.update(previous[0], reward + net.value(after), 0.1)
        previous = (board if target == "state" else after, reward)
        board = after.place(*environment.place(after))
    assert previous is not None
    net.update(previous[0], float(previous[1]) if target == "state" else 0.0, 0.1)
    return net


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_games_beyond_32768_are_played_by_the_exact_rules(target: str) -> None:
    """A game that begins with four 32768s, against the public methods move by move."""
    net = Network(TUPLES, target=target)  # type: ignore[arg-type]
    train(net, games=50, seed=3, progress=False)
    start = Board([32768, 32768, 2, 0, 32768, 32768, 4, 0] + [0] * 8)
    rules = rules_for()._replace(start=start.packed[0])
    play = play_states if target == "state" else play_afterstates
    results = make_results(5)
    greedy = Hyperparameters(TD.rule, np.float32(0), np.float32(1), False)
    play(rules, net.tables, greedy, make_workspace(net.m), np.uint64(9), 0, 5, results, 0)
    environment = RandomEnvironment(9)
    for game in range(5):
        environment.open()
        board, score, length = start, 0, 0
        for _ in range(2):
            board = board.place(*environment.place(board))
        while not board.over:
            board, reward = board.move(net.best_move(board))
            score, length = score + reward, length + 1
            board = board.place(*environment.place(board))
        assert board.largest == 131072
        assert results.scores[game] == score
        assert results.lengths[game] == length
        assert results.tiles[game] == 17


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_game_beyond_32768_is_learned_from_as_the_network_sees_it(target: str) -> None:
    net = Network(TUPLES, target=target)  # type: ignore[arg-type]
    train(net, games=50, seed=3, progress=False)
    plain = Network(TUPLES, target=target)  # type: ignore[arg-type]
    plain.weights[:] = net.weights
    start = Board([32768, 32768, 2, 0, 32768, 32768, 4, 0] + [0] * 8)
    rules = rules_for()._replace(start=start.packed[0])
    play = play_states if target == "state" else play_afterstates
    learner = Hyperparameters(TD.rule, np.float32(0.1), np.float32(1), False)
    play(rules, net.tables, learner, make_workspace(net.m), np.uint64(9), 0, 1, make_results(1), 0)

    environment = RandomEnvironment(9)
    environment.open()
    board, steps = start, []
    for _ in range(2):
        board = board.place(*environment.place(board))
    while not board.over:
        after, reward = board.move(plain.best_move(board))
        steps.append((board if target == "state" else after, reward))
        board = after.place(*environment.place(after))
    following = 0.0
    for seen, reward in reversed(steps):
        plain.update(seen, reward + following if target == "state" else following, 0.1)
        following = plain.value(seen) + (0 if target == "state" else reward)
    assert np.allclose(net.weights, plain.weights, rtol=1e-3, atol=0.5)


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_learning_improves_play(target: str) -> None:
    run = train("5x4", games=2000, target=target, seed=5, progress=False)
    first, last = run.metrics[0]["mean_score"], run.metrics[-1]["mean_score"]
    assert first > 3000 and last > first
    assert run.metrics[-1]["games"] == 2000


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train("5x4", games=150, seed=seed, out=tmp_path / name, progress=False)
    a, b, c = (load_file(tmp_path / n / "weights.safetensors") for n in "abc")
    assert a.keys() == b.keys()
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    assert any(a[name].tobytes() != c[name].tobytes() for name in a)
