"""Recipes, schedules, stages, restarts, threads: what a training run promises beyond TD(0)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tuplet import Network, evaluate, resume, train
from tuplet.games.g2048 import Board
from tuplet.games.g2048.statistics import make_results
from tuplet.kernel import kernel
from tuplet.learn.learners import LEARNERS, TC, TD, Learner, register_learner
from tuplet.learn.recipes import BUDGETS, RECIPES, choose, for_budget
from tuplet.learn.settings import Method, schedule_of, split
from tuplet.learn.td import Hyperparameters, make_workspace, play_afterstates
from tuplet.learn.training import Training
from tuplet.values.tables import stage_of


@pytest.mark.parametrize("target", ["afterstate", pytest.param("state", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stages": "512 128"},
        {"restart": True},
        {"schedule": "linear", "learner": "td"},
        {"delay": 0.4, "initial": 20000.0},
        {"steps": 4, "order": "forward"},
        {"grow": "0.2:5x4 0.8:01234", "stages": "256", "initial": 5000.0},
    ],
    ids=str,
)
def test_every_learner_resumes_bit_for_bit(settings: dict[str, Any], target: str, tmp_path: Path) -> None:
    settings = {"target": target, "seed": 8, "net": "0123 4567 0145", "games": 300} | settings
    grows = "grow" in settings
    Training(_run(tmp_path / "whole", settings)).train()
    first = Training(_run(tmp_path / "parts", settings))
    first.recorder.add = _stopping_after(first, 150)  # type: ignore[method-assign]
    stopped = first.train()
    assert stopped.interrupted and 150 <= stopped.games < 300
    second = Training.load(tmp_path / "parts")
    assert second.run.games == stopped.games
    assert len(second.net.tuples) == (5 if grows else 3)
    second.train()
    whole, parts = Network.load(tmp_path / "whole"), Network.load(tmp_path / "parts")
    assert whole.weights.tobytes() == parts.weights.tobytes()
    assert (
        (whole.original_tuples, len(whole.tuples))
        == (parts.original_tuples, len(parts.tuples))
        == (3, 6 if grows else 3)
    )
    if settings.get("learner") != "td":
        assert whole.memory is not None and parts.memory is not None
        assert whole.memory.values.tobytes() == parts.memory.values.tobytes()


def _run(folder: Path, settings: dict[str, Any]) -> Any:
    from tuplet.learn.run import Run

    folder.mkdir()
    method, options = split(settings)
    return Run(method, options, method.network(), folder)


def _stopping_after(training: Training, games: int) -> Any:
    """Adds a chunk to the record, and stops the training once there are enough games."""
    add = training.recorder.add

    def recorded(*arguments: Any) -> None:
        add(*arguments)
        if training.run.games >= games:
            training.stop.set()

    return recorded


def test_a_learning_rate_follows_its_schedule() -> None:
    assert [schedule_of("linear")(done) for done in (0, 0.25, 1)] == [1, 0.75, 0.001]
    assert schedule_of("cosine")(0.5) == pytest.approx(0.5)
    steps = schedule_of("0.5:0.1, 0.9:0.01")
    assert [steps(done) for done in (0, 0.49, 0.5, 0.89, 0.95)] == [1, 1, 0.1, 0.1, 0.01]
    for wrong in ("fast", "", "0.5", "2:0.1", "0.5:0", "a:b"):
        with pytest.raises(ValueError, match="schedule must be"):
            schedule_of(wrong)
    method = Method(learner="td", alpha=0.4, schedule="linear")
    assert method.hyperparameters_at(0.5).alpha == np.float32(0.2)


def test_a_delayed_run_learns_by_td_first_and_by_tc_then() -> None:
    method = Method(delay=0.9, lam=0.0)
    early, late = method.hyperparameters_at(0.5), method.hyperparameters_at(0.9)
    assert (type(early.rule), early.alpha) == (type(TD.rule), np.float32(0.1))
    assert (type(late.rule), late.alpha) == (type(TC.rule), np.float32(1.0))
    net = Network("5x4")
    train(net, games=400, delay=0.9, progress=False)
    assert net.memory is not None
    assert 0 < np.count_nonzero(net.memory.values[:, 1]) < np.count_nonzero(net.weights)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"learner": "sarsa"}, "learner must be tc, td"),
        ({"lam": 1.5}, "lam must be a number from 0 to 1"),
        ({"lam": 0.5, "steps": 3}, "leave out one of them"),
        ({"lam": 0.5, "order": "forward"}, "needs backward updates"),
        ({"restart": True, "order": "forward"}, "--restart needs backward updates"),
        ({"steps": 0}, "from 1 to 1,000"),
        ({"delay": 0.5, "learner": "td"}, "use --learner tc"),
        ({"delay": 1.0}, "delay must be less than 1"),
        ({"stages": "1000"}, "different tiles"),
        ({"stages": "8 16 32 64 128 256"}, "64 stages"),
        ({"stages": "2"}, "from 8"),
        ({"board": "5x5"}, "2x2 to 4x4"),
        ({"board": "3x4"}, "name tuples"),
        ({"board": "2x3", "net": "4x6"}, "for the 4x4 board"),
        ({"board": "2x3", "net": "0126"}, "cells are 0 to 5"),
        ({"grow": "8g"}, "grow must be steps"),
        ({"grow": "0.5:8g 0.2:0156ab"}, "in rising order"),
        ({"grow": "1.5:8g"}, "grow must be steps"),
        ({"grow": "0.2:4x6"}, "adds no tuple"),
        ({"grow": "0.2:8h"}, "neither a network"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Method(**settings).network()


def test_recipes_are_sound_and_a_budget_picks_one() -> None:
    for name, recipe in RECIPES.items():
        Method(**recipe.settings)
        assert name and recipe.when.endswith(".")
    assert [for_budget(s) for s in (60, 180, 600)] == ["grown", "grown", "strong"]
    assert list(BUDGETS) == sorted(BUDGETS)
    assert choose(None, {"budget": "10m"})["net"] == RECIPES["strong"].settings["net"]
    assert choose(None, {"budget": 600, "net": "5x4"})["net"] == "5x4"
    assert "net" not in choose(None, {})
    assert "grow" not in choose("quick", {"net": "5x4"})
    assert choose("small", {"budget": 600, "alpha": 0.5})["alpha"] == 0.5
    with pytest.raises(ValueError, match="must be one of homework, quick"):
        choose("nope", {})


def test_a_board_is_in_the_stage_its_large_tiles_say() -> None:
    marks = np.array([14, 13, 12], np.uint64)
    for tiles, stage in [
        ([2048, 1024], 0),
        ([4096, 2], 1),
        ([8192], 2),
        ([4096, 8192], 3),
        ([16384], 4),
        ([16384, 8192, 4096], 7),
        ([32768], 4),
        ([32768, 16384, 4096], 5),
        ([65536], 4),
    ]:
        board = Board(tiles + [0] * (16 - len(tiles)))
        low, high = board.packed
        from tuplet.games.g2048.rules import view

        assert stage_of(np.uint64(view(low, high)), marks) == stage


def test_a_new_stages_weights_start_from_the_stage_before(tmp_path: Path) -> None:
    net = Network("0123 4567", stages="64")
    early, late = Board([2, 4, 8] + [0] * 13), Board([2, 4, 8] + [0] * 12 + [64])
    net.update(early, 100, 1.0)
    shared = net.value(late)
    assert shared > 0  # row 0 is known from before
    net.update(early, 500, 1.0)
    assert net.value(late) == shared  # read already: on its own from now on
    again = Network.load(net.save(tmp_path / "staged.safetensors"))
    assert again.stages == (64,) and again.value(late) == shared
    assert again.weights.tobytes() == net.weights.tobytes()


def test_restarted_games_teach_more_and_count_once() -> None:
    plain = train("5x4", games=600, progress=False)
    again = train("5x4", games=600, restart=True, progress=False)
    assert again.games == 600
    # The first game is played before anything is learned from a restart.
    assert again.metrics[0]["games"] == plain.metrics[0]["games"] == 600
    net = Network("5x4")
    train(net, games=3000, progress=False)
    learner = Hyperparameters(TD.rule, np.float32(0.1), np.float32(1), restart=True)
    from tuplet.games.g2048 import rules_for

    work, results = make_workspace(net.m), make_results(20)
    play_afterstates(rules_for(), net.tables, learner, work, np.uint64(3), 0, 20, results, 0)
    assert (results.lengths > 0).all()
    assert results.lengths.sum() / 4 < work.tally[0] < 2 * results.lengths.sum()


@pytest.mark.parametrize("threads", [1, 2])
def test_tc_does_not_collapse(threads: int) -> None:
    run = train("5x4", games=4000, threads=threads, progress=False)
    assert run.metrics[-1]["mean_score"] > 22_000
    assert np.isfinite(run.network.weights).all()


def test_a_second_thread_waits_for_the_serial_start() -> None:
    training = Training(_memory_run(threads=2, games=400, serial=300))
    under_way, together = set(), set()
    play = training._play

    def noted(first: int, games: int, until: float, worker: Any) -> Any:
        under_way.add(first)
        if len(under_way) > 1:
            together.update(under_way)
        try:
            return play(first, games, until, worker)
        finally:
            under_way.discard(first)

    training._play = noted  # type: ignore[method-assign]
    assert training.train().games == 400
    assert all(first >= 300 for first in together)


def _memory_run(**settings: Any) -> Any:
    from tuplet.learn.run import Run

    method, options = split({"net": "5x4", **settings})
    return Run(method, options, method.network())


def test_weights_that_are_no_numbers_stop_the_run_and_keep_the_checkpoint(tmp_path: Path) -> None:
    run = train("5x4", games=100, out=tmp_path / "run", progress=False)
    good = (tmp_path / "run" / "weights.safetensors").read_bytes()
    training = Training.load(tmp_path / "run", options={"games": 10_000})
    training.net.weights[:1000] = np.inf
    with pytest.raises(ValueError, match=r"diverged .* smaller alpha.* of game 100"):
        training.train()
    assert (tmp_path / "run" / "weights.safetensors").read_bytes() == good
    assert Training.load(tmp_path / "run", options={"games": 200}).run.games == run.games == 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "optimum", "settings"),
    [
        ("2x2", 66.964149, {"games": 30_000}),
        ("2x2", 66.964149, {"games": 30_000, "target": "state", "learner": "td"}),
        pytest.param(
            "2x3", 480.258272, {"games": 400_000, "alpha": 0.3, "lam": 0.0, "initial": 500.0}, marks=pytest.mark.long
        ),
    ],
)
def test_a_learner_on_a_small_board_comes_within_1_percent_of_the_optimum(
    board: str, optimum: float, settings: dict[str, Any]
) -> None:
    run = train(board=board, progress=False, **settings)
    result = evaluate(run.network, games=60_000, seed=4)
    assert result.summary.mean_score > 0.99 * optimum
    assert result.ci95[0] < optimum


@pytest.mark.parametrize("size", ["2x2", "2x3", "3x2", "3x3"])
def test_a_small_boards_values_know_its_symmetries(size: str) -> None:
    net = Network(board=size)
    rows, columns = net.size
    rng = np.random.default_rng(5)
    net.weights[:] = rng.normal(size=len(net.weights))
    grid = 2 ** rng.integers(1, 8, (rows, columns))
    values = {round(net.value(Board(g.tolist())), 3) for g in (grid, grid[::-1], grid[:, ::-1])}
    if rows == columns:
        values.add(round(net.value(Board(grid.T.tolist())), 3))
    assert len(values) == 1
    error = net.update(Board(grid.tolist()), 1000.0, 1.0)
    assert net.value(Board(grid.tolist())) == pytest.approx(1000, abs=1e-2)
    assert error != 0
    same = Board(np.full((rows, columns), 8).tolist())  # all placements find one weight
    net.update(same, 50.0, 1.0)
    assert net.value(same) == pytest.approx(50, abs=1e-2)


def test_tc_that_has_begun_goes_on_when_a_run_is_given_more(tmp_path: Path) -> None:
    train("5x4", games=100, delay=0.5, out=tmp_path / "run", progress=False)
    training = Training.load(tmp_path / "run", options={"games": 1000})
    assert training.options.progress(100, training.clock.elapsed_s) < 0.5
    assert isinstance(training.hyperparameters(100).rule, type(TC.rule))


def test_memory_that_tc_will_need_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.values.network.available_memory", lambda: 2_000_000)
    with pytest.raises(ValueError, match=r"needs 3.9 MB|needs 0.0 GB"):
        train("5x4", games=10, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    train("5x4", games=10, learner="td", out=tmp_path / "run", progress=False)


class Halving(NamedTuple):
    """A learner of the test's own: a weight moves less each time it is found."""


@kernel
def halve(
    by: Halving,  # noqa: ARG001
    weights: Any,
    memory: Any,
    found: Any,
    start: Any,
    m: Any,
    amount: Any,
) -> None:
    for i in range(start, start + m):
        at = found[i]
        weights[at] += amount / (np.float32(1) + memory[at])
        memory[at] += np.float32(1)


def test_a_learner_is_registered_with_a_memory_of_its_own(tmp_path: Path) -> None:
    register_learner(Learner("halving", Halving(), "visits", 1, alpha=0.5), halve)
    try:
        run = train("5x4", games=300, learner="halving", out=tmp_path / "run", progress=False)
        assert run.method.alpha == 0.5 and run.method.name == "HALVING(0)"
        memory = run.network.memory
        assert memory is not None and memory.name == "visits" and memory.values.max() > 5
        again = Network.load(tmp_path / "run")
        assert again.memory is not None and again.memory.name == "visits"
        assert again.memory.values.tobytes() == memory.values.tobytes()
        assert again.weights.tobytes() == run.network.weights.tobytes()
        whole = train("5x4", games=400, learner="halving", progress=False)
        more = resume(tmp_path / "run", games=400, progress=False)
        assert more.network.weights.tobytes() == whole.network.weights.tobytes()
    finally:
        del LEARNERS["halving"]


def test_a_file_with_two_memories_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    net = Network("0123")
    net.learner_memory("coherence", 2)[:, 1] = 1
    path = net.save(tmp_path / "net.safetensors")
    arrays = load_file(path)
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])
    arrays["0.visits"] = arrays["0.weight"].copy()
    save_file(arrays, path, metadata=header["__metadata__"])
    with pytest.raises(ValueError, match="more than one learner's memory: coherence, visits"):
        Network.load(path)
