"""The steps that are shown are those of the learner: every weight to the bit, every number where it belongs."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tuplet
from tuplet import Network, Record, UserError, learn_from, learning_steps, train
from tuplet.games.g2048 import rules_for
from tuplet.games.g2048.statistics import make_results
from tuplet.learn.learners import LEARNERS
from tuplet.learn.settings import Method
from tuplet.learn.steps import LearningSteps, prepare
from tuplet.learn.td import make_workspace, play_afterstates, play_states

NET = "0123 4567 0145"
BOARD = "2,4,8,16/32,64,2,8/4,2,16,4/0,8,2,0"
GAMES, SEED = 12, 3
HOMEWORK = Path(__file__).parents[2] / "examples" / "homework.py"
METHODS: list[dict[str, Any]] = [
    {"learner": learner, "target": target, **more}
    for learner in ("td", "tc")
    for target in ("afterstate", "state")
    for more in ({"lam": 0.0}, {"order": "forward"}, {"lam": 0.5, "alpha": 0.3})
]


def learn_by_training(settings: dict[str, Any]) -> tuple[Network, int]:
    """What training's own kernel makes of the same game: the network, and the score."""
    net = prepare(NET, settings["learner"], settings["target"], 0.1, GAMES)
    learner = LEARNERS[settings["learner"]]
    hyper = Method(net=NET, **settings).hyperparameters_at(0.0)
    tables = net.tables_with_memory(learner.memory, learner.memory_per_weight)
    play = play_states if settings["target"] == "state" else play_afterstates
    results = make_results(1)
    play(rules_for(4, 4, 0.1), tables, hyper, make_workspace(net.m), np.uint64(SEED), GAMES, 1, results, 0)
    return net, int(results.scores[0])


@pytest.mark.parametrize("settings", METHODS, ids=str)
def test_every_weight_is_that_of_the_trainings_kernel(settings: dict[str, Any]) -> None:
    for last in (7, 1000):  # a part of the game, and all of it
        shown = learning_steps(NET, games=GAMES, seed=SEED, last=last, **settings)
        trained, score = learn_by_training(settings)
        assert shown.score == score and len(shown.steps) == min(last, len(shown.played))
        assert shown.network.weights.tobytes() == trained.weights.tobytes()
        if trained.memory is not None:
            assert shown.network.memory is not None
            assert shown.network.memory.values.tobytes() == trained.memory.values.tobytes()
    before = prepare(NET, settings["learner"], settings["target"], 0.1, GAMES)
    assert (before.weights != trained.weights).sum() > 100


@pytest.mark.parametrize("settings", [each for each in METHODS if "order" not in each], ids=str)
def test_each_step_is_the_state_of_the_weights_between_two_updates(settings: dict[str, Any]) -> None:
    """`learn_from` knows nothing of steps: it learns from the last boards of the game alone."""
    shown = learning_steps(NET, games=GAMES, seed=SEED, board=BOARD, last=1000, **settings)
    game = Record(("me",), tuplet.game("2048").position(BOARD))
    for step in shown.steps:
        assert game.position.board == step.board
        game.play(step.move)
        game.apply_outcome(step.outcome)
    assert game.over and game.position.board == shown.end and game.position.score == shown.score
    for number, step in enumerate(shown.steps):
        net = prepare(NET, settings["learner"], settings["target"], 0.1, GAMES)
        tail = Record(("me",), tuplet.game("2048").position(step.board))
        for each in shown.steps[number:]:
            tail.play(each.move)
            tail.apply_outcome(each.outcome)
        learn_from(net, tail, **{k: v for k, v in settings.items() if k != "target"})
        board = step.board if settings["target"] == "state" else step.after
        assert net.value(board) == step.updated
        parts = [weight for part in net.explain(board) for _, weight in part.placements]
        assert parts == [each.after for each in shown.look_ups(step)]


@pytest.mark.parametrize("settings", METHODS, ids=str)
def test_targets_errors_and_entries_follow_the_formulas(settings: dict[str, Any]) -> None:
    shown = learning_steps(NET, games=GAMES, seed=SEED, last=40, **settings)
    states, lam, alpha = settings["target"] == "state", shown.method.lam, shown.method.alpha
    assert lam is not None and alpha is not None
    for step, later in pairwise([*shown.steps, None]):
        assert step is not None
        assert step.error == pytest.approx(step.target - step.before, rel=1e-5, abs=1e-3)
        reward = step.reward if states else 0 if later is None else later.reward
        following = 0.0 if later is None else (1 - lam) * step.following + lam * later.target
        assert step.target == pytest.approx(reward + following, rel=1e-5, abs=1e-3)
        if later is not None and shown.method.order == "backward":
            assert step.following == later.updated
        found = shown.look_ups(step)
        assert sum(each.before for each in found) == pytest.approx(step.before, rel=1e-4, abs=1e-2)
        assert sum(each.after for each in found) == pytest.approx(step.updated, rel=1e-4, abs=1e-2)
        amount = alpha * step.error / len(found)
        for each in found:
            if each.times > 1:
                continue
            assert each.after - each.before == pytest.approx(amount * each.rate, rel=1e-3, abs=1e-2)
            if each.sums is not None:
                e, a, new_e, new_a = each.sums
                assert each.rate == pytest.approx(min(abs(e) / a, 1.0) if a else 1.0)
                assert (new_e - e, new_a - a) == pytest.approx((amount, abs(amount)), rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_choices_are_what_the_network_thinks_of_the_four_moves(target: Any) -> None:
    shown = learning_steps(NET, games=GAMES, seed=SEED, target=target, last=50)
    net = prepare(NET, "td", target, 0.1, GAMES)
    for step in shown.steps:
        known, choices = net.moves(step.board), shown.choices(step)
        assert [(each.move, each.legal, each.sum) for each in choices] == [(m.move, m.legal, m.value) for m in known]
        assert shown.best(step) == step.move == net.best_move(step.board)
        for each in filter(lambda choice: choice.legal, choices):
            assert (each.board, each.reward) == step.board.move(each.move)
            assert each.sum == pytest.approx(each.reward + (each.value or 0.0), rel=1e-5)
            if target == "state":
                assert sum(p for _, p, _ in each.outcomes) == pytest.approx(1)
                assert len(each.outcomes) == 2 * len(each.board.empty)
                expected = sum(p * v for _, p, v in each.outcomes)
                assert each.value == pytest.approx(expected, rel=1e-3, abs=1e-2)
            else:
                assert each.outcomes == [] and each.value == net.value(each.board)


def test_the_course_s_program_learns_the_same() -> None:
    """examples/homework.py, in plain Python, on the same game."""
    spec = importlib.util.spec_from_file_location("homework", HOMEWORK)
    assert spec is not None and spec.loader is not None
    homework = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(homework)
    for target, kind in ("state", homework.StateLearner), ("afterstate", homework.AfterstateLearner):
        shown = learning_steps(NET, seed=1, target=target, last=1000, alpha=0.2)
        plain = kind(tuple(NET.split()))
        path = [(list(step.board.exponents), list(step.after.exponents), step.reward) for step in shown.steps]
        plain.update_episode(path, 0.2)
        for step in shown.steps[::9]:
            board = step.board if target == "state" else step.after
            exponents = list(board.exponents)
            assert plain.estimate(exponents) == pytest.approx(shown.network.value(board), rel=1e-3, abs=0.05)
            for each in shown.look_ups(step):
                cells = plain.patterns[each.tuple].isomorphs
                assert each.index in {homework.indexof(placed, exponents) for placed in cells}
                assert each.cells in [list(placed) for placed in cells]
                assert homework.indexof(each.cells, exponents) == each.index


def test_the_network_has_learned_what_train_would_have_taught_it() -> None:
    for settings in ({"learner": "td", "target": "state"}, {"learner": "tc", "target": "afterstate"}):
        run = train(NET, games=30, progress=False, **settings)  # type: ignore[arg-type]
        net = prepare(NET, settings["learner"], settings["target"], 0.1, 30)  # type: ignore[arg-type]
        assert net.weights.tobytes() == run.network.weights.tobytes()


def same_game(one: LearningSteps, other: LearningSteps) -> bool:
    return [(s.board, s.move, s.outcome) for s in one.steps] == [(s.board, s.move, s.outcome) for s in other.steps]


def test_the_same_moves_make_the_same_game_for_both_kinds_of_values() -> None:
    one = learning_steps(NET, games=GAMES, target="afterstate", last=1000)
    other = learning_steps(NET, games=GAMES, target="state", moves=one.played, last=1000)
    assert same_game(one, other) and one.steps[0].before != other.steps[0].before
    alone = learning_steps(NET, games=GAMES, target="state", last=1000)
    assert not same_game(one, alone)
    letters = learning_steps(NET, games=GAMES, moves=one.as_json()["played"][:20], last=1000)
    assert letters.played[:20] == one.played[:20]


def test_a_network_is_copied_and_shows_its_own_weights() -> None:
    net = Network(NET, target="state", spawn4=0.2)
    net.weights[:] = np.random.default_rng(1).normal(0, 10, len(net.weights))
    weights = net.weights.copy()
    shown = learning_steps(net, learner="tc", last=3)
    assert (net.weights == weights).all() and net.memory is None
    assert shown.method.target == "state" and shown.method.spawn4 == 0.2
    assert shown.steps[-1].before == net.value(shown.steps[-1].board)


def test_the_result_is_plain_values_and_text() -> None:
    shown = learning_steps(NET, board=BOARD, target="state", learner="tc", last=4)
    whole, last = shown.as_json(), shown.as_json(-1)
    assert last == shown.as_json(shown.steps[-1].number)
    assert [("choices" in step) for step in whole["steps"]] == [True] * 4
    assert [("choices" in step) for step in last["steps"]] == [False, False, False, True]
    assert last["steps"][-1] == whole["steps"][-1]
    assert len(whole["steps"][-1]["look_ups"]) == 24 and len(whole["tuples"]) == 3
    assert str(shown).count("\n") == 5 and "TC(0.5)" in str(shown)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"learner": "mine"}, "learner must be td or tc"),
        ({"last": 0}, "last must be 1 to"),
        ({"games": -1}, "games must be 0 to"),
        ({"alpha": 2.0}, "alpha"),
        ({"order": "forward", "lam": 0.5}, "backward"),
        ({"board": "2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2"}, "the game is over"),
        ({"board": "0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0"}, "the board is empty"),
        ({"board": "0,0,0,0/0,0,0,0/0,0,0,0/2,0,0,0", "moves": "dl"}, r"move 1 \(down\) changes nothing"),
        ({"moves": "x"}, "not a move"),
        ({"net": Network(NET), "games": 5}, "leave out games"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        learning_steps(**{"net": NET, **settings})
