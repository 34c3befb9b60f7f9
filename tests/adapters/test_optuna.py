"""The recipe for Optuna: it prunes by learning curve and by sequential test."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("optuna")

import optuna
from optuna.trial import TrialState

from pages import DOCS, blocks

pytestmark = pytest.mark.slow

SMALL = [
    ("n_trials=20", "n_trials=2"),
    ("games=20_000", "games=3_000"),
    ("games=1000)", "games=50)"),
    ("games=1000,", "games=100,"),
    ("sims=300", "sims=50"),
]


def recipe(rival: str = "mcts:sims=50") -> dict[str, Any]:
    """What the page's code leaves behind, at a small scale; agents are tried against a rival."""
    (code,) = (b for b in blocks("python", (DOCS / "tools.md").read_text()) if "optuna" in b)
    for long, short in SMALL:
        assert long in code
        code = code.replace(long, short)
    code = code.replace('"mcts:sims=50", "ewn"', f'"{rival}", "ewn"')
    assert f'"{rival}", "ewn"' in code
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names: dict[str, Any] = {}
    exec(code if rival == "mcts:sims=50" else code.partition("pruner =")[0], names)
    return names


def test_the_recipe_runs_as_written() -> None:
    names = recipe()
    for study in ("learners", "agents"):
        states = [trial.state for trial in names[study].trials]
        assert len(states) == 2 and set(states) <= {TrialState.COMPLETE, TrialState.PRUNED}


def test_a_learner_whose_curve_is_low_is_pruned() -> None:
    pruner = optuna.pruners.MedianPruner(n_startup_trials=1)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    for alpha, lam in ((1.0, 0.5), (0.02, 0.0)):
        study.enqueue_trial({"alpha": alpha, "lam": lam})
    study.optimize(recipe("easy")["learner"], n_trials=2)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE, TrialState.PRUNED]
    assert study.trials[1].intermediate_values.keys() < study.trials[0].intermediate_values.keys()


def test_an_agent_is_pruned_if_the_sequential_test_says_that_it_is_not_better() -> None:
    trial = optuna.trial.FixedTrial({"c": 0.6, "batch": 25})
    assert recipe("easy")["agent"](trial) > 0.6  # H1, or no answer yet
    with pytest.raises(optuna.TrialPruned):
        recipe("alphabeta:depth=3")["agent"](trial)
