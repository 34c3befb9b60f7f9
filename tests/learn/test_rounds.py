"""Rounds: tasks that learn apart and are merged give the same weights, wherever they are done."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tuplet
from tuplet.learn import training
from tuplet.learn.learners import TC, TD
from tuplet.learn.parallel import rounds, worker
from tuplet.learn.parallel.merge import Changes, apply, changes_between, load_changes, memory_of, merge, save_changes
from tuplet.learn.parallel.rounds import RoundPlan, plan_round
from tuplet.learn.parallel.worker import _runs
from tuplet.learn.run import ROUNDS
from tuplet.values.network import Network

NET = "0123 4567"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds from the first games on."""
    monkeypatch.setattr(rounds, "ALONE", 100)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


def weights_of(run: tuplet.Run) -> tuple[bytes, bytes]:
    return run.network.weights.tobytes(), memory_of(run.network).tobytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"learner": "tc"},
        {"learner": "td"},
        {"learner": "tc", "restart": True, "grow": "0.5:0145", "schedule": "0.7:0.1"},
        {"learner": "tc", "stages": "64", "initial": 500.0},
        {"learner": "tc", "delay": 0.5},
    ],
)
def test_one_task_learns_what_one_thread_does(settings: dict[str, Any]) -> None:
    plain = tuplet.train(NET, games=700, seed=3, **settings)
    worker = tuplet.train(NET, games=700, seed=3, tasks=1, **settings)
    assert worker.rounds
    assert weights_of(worker) == weights_of(plain)
    assert [m["mean_score"] for m in worker.metrics] == [m["mean_score"] for m in plain.metrics]


def test_tasks_give_the_same_weights_wherever_they_are_done(processes: ProcessPoolExecutor, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": 900, "seed": 5, "tasks": 3, "grow": "0.6:0145", "block": 200}
    one = tuplet.train(NET, threads=1, **settings)
    two = tuplet.train(NET, threads=2, **settings)
    away = tuplet.train(NET, executor=processes, out=tmp_path / "away", **settings)
    assert weights_of(one) == weights_of(two) == weights_of(away)
    assert weights_of(one) != weights_of(tuplet.train(NET, threads=1, **{**settings, "tasks": 2}))
    scores = [[m["mean_score"] for m in run.metrics] for run in (one, two, away)]
    assert scores[0] == scores[1] == scores[2]
    assert [m["games"] for m in away.metrics] == [200, 400, 600, 800, 900]
    assert all(m["moves_per_s"] < 1e8 for m in away.metrics)
    lines = [json.loads(line) for line in (tmp_path / "away" / ROUNDS).open()]
    assert lines == away.rounds
    assert [line["tasks"] for line in lines][-1] == 3
    assert not (tmp_path / "away" / "rounds").exists()  # what tasks began with is gone
    assert not _runs


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"seed": 1, "tasks": 2, "games": 800, "block": 100}
    whole = tuplet.train(NET, **settings)
    stop = tuplet.Stop()
    part = tuplet.train(
        NET,
        out=tmp_path / "run",
        stop=stop,
        **settings,
        loggers=[SimpleNamespace(on_block=lambda games, _: stop.set() if games >= 400 else None)],
    )
    assert part.interrupted
    assert 400 <= part.games < 800
    resumed = tuplet.resume(tmp_path / "run", threads=2)
    assert weights_of(resumed) == weights_of(whole)
    assert resumed.options.tasks == 2
    games = [json.loads(line)["games"] for line in (tmp_path / "run" / ROUNDS).open()]
    assert games == sorted(set(games))
    assert games[-1] == 800


def test_rounds_begin_late_become_longer_and_have_more_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert plan_round(rounds.ALONE - 1, 8) is None
    assert plan_round(rounds.ALONE, 8) is None
    assert plan_round(rounds.ALONE, 1) == RoundPlan(1, 1000)
    plans = [plan_round(games, 8) for games in range(2 * rounds.ALONE, 40 * rounds.ALONE, 5000)]
    assert [p.tasks for p in plans if p] == sorted(p.tasks for p in plans if p)
    assert {p.tasks for p in plans if p} == {2, 3, 4, 5, 6, 7, 8}
    total = [p.tasks * p.games for p in plans if p]
    assert total[-1] > 10 * total[0]


class Clock:
    """A clock that games move, a millisecond each."""

    def __init__(self) -> None:
        self.now, self._lock = 0.0, threading.Lock()

    def perf_counter(self) -> float:
        return self.now

    thread_time = perf_counter

    def play(self, method: Any, games_of: Callable[..., int]) -> Any:
        def played(*arguments: Any) -> Any:
            found = method(*arguments)
            with self._lock:
                self.now += 0.001 * games_of(*arguments)
            return found

        return played


def test_a_budget_ends_rounds_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    for module in (training, rounds, worker):
        monkeypatch.setattr(module, "time", clock)
    play, learn = training.Training._play, worker.learn_task
    monkeypatch.setattr(training.Training, "_play", clock.play(play, lambda *words: words[2]))
    monkeypatch.setattr(worker, "learn_task", clock.play(learn, lambda _, task, __: task.games))
    run = tuplet.train(NET, budget=2, learner="tc", threads=1, tasks=2)
    assert 2 <= run.elapsed_s < 2 * (1 + rounds.BUDGET)
    assert len(run.rounds) > 10


def test_lines_of_rounds_that_a_full_disk_refuses_are_told_of_and_come_later(tmp_path: Path) -> None:
    file = tmp_path / "run" / ROUNDS

    def on_block(games: int, _: Any) -> None:
        if games == 300:
            file.rename(tmp_path / "before")
            file.symlink_to("/dev/full")
        if games == 600:
            file.unlink()

    with pytest.warns(UserWarning, match=r"rounds.jsonl of run cannot be written .*No space left"):
        found = tuplet.train(
            NET, games=800, tasks=2, block=100, out=tmp_path / "run", loggers=[SimpleNamespace(on_block=on_block)]
        )
    assert [json.loads(line) for line in file.open()] == found.rounds
    assert len((tmp_path / "before").read_text().splitlines()) < len(found.rounds)


def test_a_run_is_resumed_though_its_last_line_of_rounds_is_half_there(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"seed": 1, "tasks": 2, "block": 100}
    whole = tuplet.train(NET, games=800, **settings)
    tuplet.train(NET, games=600, out=tmp_path / "run", **settings)
    file = tmp_path / "run" / ROUNDS
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines)[:-30])
    resumed = tuplet.resume(tmp_path / "run", games=800)
    assert weights_of(resumed) == weights_of(whole)
    games = [json.loads(line)["games"] for line in file.open()]
    assert games == [line["games"] for line in resumed.rounds] == sorted(set(games))
    assert len(games) == len(whole.rounds) - 1  # but for the one that was cut


@pytest.mark.parametrize("wrong", ["5", '{"a": 1}', '{"games": "9", "tasks": 2}', '{"games": '])
def test_what_is_no_line_of_rounds_is_told_with_its_file(wrong: str, tmp_path: Path) -> None:
    tuplet.train(NET, games=300, tasks=2, out=tmp_path / "run")
    file = tmp_path / "run" / ROUNDS
    file.write_text(f"{file.read_text()}{wrong}\n")
    count = len(file.read_text().splitlines())
    with pytest.raises(ValueError, match=rf"rounds\.jsonl: line {count} is not a round"):
        tuplet.resume(tmp_path / "run", games=400)


def test_what_cannot_be_written_for_those_elsewhere_ends_the_run_which_is_saved(
    processes: ProcessPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"games": 600, "seed": 5, "tasks": 2}
    whole, saved = tuplet.train(NET, **settings), []

    def full(path: Path, changes: Changes) -> None:
        saved.append(path)
        if len(saved) == 3:
            raise OSError(28, "No space left on device", str(path))
        save_changes(path, changes)

    monkeypatch.setattr(rounds, "save_changes", full)
    with pytest.warns(UserWarning, match=r"safetensors: No space left on device: continue with"):
        part = tuplet.train(NET, executor=processes, out=tmp_path / "run", **settings)
    assert part.interrupted and len(part.rounds) == 3
    assert weights_of(tuplet.resume(tmp_path / "run")) == weights_of(whole)


@pytest.mark.parametrize("tasks", [0, 2])
def test_an_error_of_a_watcher_is_not_taken_for_a_lost_cluster(tasks: int, tmp_path: Path) -> None:
    def on_block(games: int, _: Any) -> None:
        if games >= 300:
            raise FileNotFoundError(2, "No such file", "of-a-logger")

    with pytest.raises(FileNotFoundError, match="of-a-logger"):
        tuplet.train(
            NET, games=900, block=100, tasks=tasks, out=tmp_path / "r", loggers=[SimpleNamespace(on_block=on_block)]
        )
    assert not tuplet.resume(tmp_path / "r").interrupted


def naive_merge(net: Network, parts: list[Changes], merge_by: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Weight by weight, in plain Python."""
    weights, memory = net.weights.copy(), memory_of(net).copy()
    touched: dict[int, list[tuple[float, list[float]]]] = {}
    for part in parts:
        for where, w, numbers in zip(*(each.tolist() for each in part), strict=True):
            touched.setdefault(where, []).append((w, numbers))
    for where, all_of in touched.items():
        before = [float(number) for number in memory[where]]
        grown = [max(numbers[merge_by] - before[merge_by], 0) if merge_by is not None else 0 for _, numbers in all_of]
        if len(all_of) == 1 or sum(grown) == 0:
            weights[where] = sum(w for w, _ in all_of) / len(all_of)
        else:
            weights[where] = sum(w * g for (w, _), g in zip(all_of, grown, strict=True)) / sum(grown)
        for k in range(len(before)):
            memory[where, k] = before[k] + sum(numbers[k] - before[k] for _, numbers in all_of)
    return weights, memory


def learned_apart(learner: str, parts: int) -> tuple[Network, list[Changes]]:
    start = tuplet.train(NET, games=50, learner=learner).network
    found = []
    for seed in range(1, parts + 1):
        own = tuplet.train(NET, games=50, learner=learner).network
        tuplet.train(own, games=60, learner=learner, seed=seed)
        found.append(changes_between(start, own))
    return start, found


@pytest.mark.parametrize("learner", [TC, TD])
def test_merging_is_that_of_plain_python(learner: Any) -> None:
    net, parts = learned_apart(learner.name, 3)
    assert all(len(part.where) > 1000 for part in parts)
    weights, memory = naive_merge(net, parts, learner.merge_by)
    before = net.weights.copy()
    merged = merge(net, parts, learner.merge_by)
    np.testing.assert_array_equal(net.weights, weights)
    np.testing.assert_array_equal(memory_of(net), memory)
    assert merged.where.tolist() == sorted(set(np.concatenate([p.where for p in parts]).tolist()))
    assert (before != net.weights).sum() > 1000


@pytest.mark.slow
def test_changes_bring_one_network_to_the_other_and_survive_a_file(tmp_path: Path) -> None:
    net, (changes,) = learned_apart("tc", 1)
    save_changes(tmp_path / "one.safetensors", changes)
    save_changes(tmp_path / "two.safetensors", changes)
    assert (tmp_path / "one.safetensors").read_bytes() == (tmp_path / "two.safetensors").read_bytes()
    read = load_changes(tmp_path / "one.safetensors")
    apply(net, read)
    for part, same in zip(changes, read, strict=True):
        np.testing.assert_array_equal(part, same)
    np.testing.assert_array_equal(net.weights[changes.where], changes.weights)
    none = Changes(changes.where[:0], changes.weights[:0], changes.memory[:0])
    save_changes(tmp_path / "none.safetensors", none)
    assert len(load_changes(tmp_path / "none.safetensors").where) == 0


@pytest.mark.long
def test_a_network_of_8x6_with_tc_merges_within_24_gb() -> None:
    """Two learners of 1.6 GB each, what they begin with, and their changes."""
    program = (
        "import resource, tuplet; from tuplet.learn.parallel import rounds; rounds.ALONE = 100;"
        "run = tuplet.train('8x6', learner='tc', games=3000, tasks=4, threads=2, progress=False);"
        "print(len(run.rounds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, most = map(int, told.stdout.split())
    assert count > 10
    assert most < 12e9
