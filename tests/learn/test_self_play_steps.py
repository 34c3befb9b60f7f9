"""The steps of a game of self-play that are shown are those of the learner."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tuplet import UserError, self_play_steps, train
from tuplet.games.registry import game
from tuplet.learn import game_play
from tuplet.learn.learners import LEARNERS
from tuplet.learn.self_play_steps import _copy, prepare
from tuplet.learn.settings import Method
from tuplet.system.worker import Worker
from tuplet.values.game_network import GameNetwork

NET, GAMES, SEED = "2x2", 120, 8
METHODS: list[dict[str, Any]] = [
    {"learner": learner, **more} for learner in ("td", "tc") for more in ({}, {"lam": 0.5, "alpha": 0.3})
]


def learn_by_training(settings: dict[str, Any]) -> tuple[GameNetwork, Any]:
    """What training makes of the same game."""
    net = _copy(prepare(game("ewn"), NET, settings["learner"], GAMES))
    known = LEARNERS[settings["learner"]]
    hyper = Method(game="ewn", net=NET, **settings).hyperparameters_at(0.0)
    tables = net.tables_with_memory(known.memory, known.memory_per_weight)
    return net, game_play.learn_chunk(net, tables, hyper, SEED, GAMES, 1, Worker())


@pytest.mark.parametrize("settings", METHODS, ids=str)
def test_every_weight_is_that_of_training(settings: dict[str, Any]) -> None:
    shown = self_play_steps("ewn", NET, games=GAMES, seed=SEED, **settings)
    trained, results = learn_by_training(settings)
    assert len(shown.steps) == results.lengths[0]
    assert (shown.end.winner == "red") == (results.points[0] == 1)
    assert shown.network.weights.tobytes() == trained.weights.tobytes()
    if trained.memory is not None:
        assert shown.network.memory is not None
        assert shown.network.memory.values.tobytes() == trained.memory.values.tobytes()
    errors = np.mean([np.float64(step.error) ** 2 for step in shown.steps])
    assert errors == pytest.approx(results.errors[0], rel=1e-5)


@pytest.mark.parametrize("settings", METHODS, ids=str)
def test_positions_rolls_and_targets_belong_together(settings: dict[str, Any]) -> None:
    shown = self_play_steps("ewn", NET, games=GAMES, seed=SEED, **settings)
    net, lam = prepare(game("ewn"), NET, settings["learner"], GAMES), shown.method.lam
    assert lam is not None and any(step.random for step in shown.steps)
    for step, later in pairwise([*shown.steps, None]):
        assert step is not None
        after = step.position.apply_outcome(step.outcome).play(step.move)
        assert after == (shown.end if later is None else later.position)
        rolls = shown.rolls(step)
        for roll in rolls:
            moves = net.moves(step.position.apply_outcome(roll.outcome))
            assert (roll.best, roll.value) == max(((m.move, m.value) for m in moves), key=lambda each: each[1])
        assert step.expected == pytest.approx(sum(roll.probability * roll.value for roll in rolls), abs=1e-6)
        assert step.rest == pytest.approx(1.0 if later is None else 1 - later.target, abs=1e-6)
        mixed = step.expected if step.random else (1 - lam) * step.expected + lam * step.rest
        assert step.target == pytest.approx(mixed, abs=1e-6)
        chosen = next(roll for roll in rolls if roll.outcome == step.outcome)
        assert step.random == (chosen.best != step.move)
        parts = shown.parts(step)
        for when, value in ("before", step.before), ("after", step.updated):
            log_odds = sum(getattr(part, when) for part in parts)
            assert 1 / (1 + np.exp(-log_odds)) == pytest.approx(value, abs=1e-5)
    last = shown.steps[-1]
    for each in net.explain(last.position):
        own = sum(part.before for part in shown.parts(last) if part.name == each.cells)
        assert own == pytest.approx(each.value, abs=1e-5)


def test_the_network_has_learned_what_train_would_have_taught_it() -> None:
    run = train(NET, game="ewn", games=GAMES, learner="tc", progress=False, evaluate="")
    assert prepare(game("ewn"), NET, "tc", GAMES).weights.tobytes() == run.network.weights.tobytes()


def test_the_result_is_plain_values_and_text() -> None:
    shown = self_play_steps(learner="tc")
    whole, last = shown.as_json(), shown.as_json(-1)
    assert all("rolls" in step for step in whole["steps"])
    assert [step["number"] for step in last["steps"] if "rolls" in step] == [len(shown.path) - 1]
    assert len(last["steps"][-1]["rolls"]) == 6 and "TC(0)" in str(shown)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"learner": "mine"}, "learner must be td or tc"),
        ({"game": "2048"}, "the game must be ewn"),
        ({"games": -1}, "games must be 0 to"),
        ({"net": "9x9"}, "does not fit"),
        ({"alpha": 2.0}, "alpha"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        self_play_steps(**settings)
