"""Settings that change during training: from a game on, and the same whether they were planned or typed then."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tuplet import Run, Stop, UserError, resume, train
from tuplet.learn.curves import describe_method
from tuplet.learn.run_command import train_command
from tuplet.learn.settings import Method, changes_of

WEIGHTS = "weights.safetensors"


@pytest.mark.parametrize(
    ("settings", "first", "change", "second", "again"),
    [
        ({"net": "5x4"}, 300, {"alpha": 0.25}, 500, {"spawn4": 0.3, "net": "0156 4x5"}),
        ({"net": "0123 4567", "learner": "td"}, 310, {"net": "5x4"}, 500, {"alpha": 0.01}),
        ({"net": "5x4", "target": "state"}, 50, {"spawn4": 0.5}, 75, {"alpha": 0.5}),
        ({"net": "5x4", "schedule": "0.9:0.1", "restart": True}, 300, {"alpha": 0.5}, 625, {"net": "0156"}),
        ({"game": "ewn", "net": "2x2", "evaluate": ""}, 1000, {"alpha": 0.1}, 1500, {"alpha": 0.2}),
    ],
)
def test_a_run_that_was_stopped_and_changed_equals_one_that_planned_it(
    settings: dict[str, Any], first: int, change: dict[str, Any], second: int, again: dict[str, Any], tmp_path: Path
) -> None:
    total = {"games": 2 * second, "seed": 7, "progress": False}
    out, whole = tmp_path / "changed", tmp_path / "planned"
    # Stopped by hand: a run's length plays a part in its schedule.
    train(**settings, **total, out=out, block=25, **stop_at(first))
    stopped = Run.load(out).games
    resume(out, **change, progress=False, **stop_at(second))
    resumed = Run.load(out).games
    done = resume(out, **again, progress=False)
    assert not done.interrupted and first <= stopped < resumed < done.games == 2 * second
    assert [each.games for each in done.method.changes()] == [stopped, resumed]
    assert done.method.changes()[0].settings == change and done.method.changes()[1].settings == again
    train(**settings, **total, out=whole, block=25, change=done.method.change)
    assert (whole / WEIGHTS).read_bytes() == (out / WEIGHTS).read_bytes()
    train(**settings, **total, out=tmp_path / "plain", block=25)
    assert (tmp_path / "plain" / WEIGHTS).read_bytes() != (out / WEIGHTS).read_bytes()


def stop_at(games: int) -> dict[str, Any]:
    """What stops a run after this many games, as Ctrl-C would."""
    stop = Stop()
    return {"stop": stop, "loggers": [SimpleNamespace(on_block=lambda now, _: stop.set() if now >= games else None)]}


def test_the_run_records_its_changes_and_the_command_repeats_them(tuplet: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert tuplet("train", "--net", "5x4", "--games", 100, "--seed", 2, "--out", out).returncode == 0
    done = tuplet("resume", out, "--games", 200, "--alpha", 0.3, "--net", "0156 4x5")
    assert done.returncode == 0, done.stderr
    run = Run.load(out)
    assert run.method.change == "100:alpha=0.3,net=0156 4x5"
    assert "α 0.3, also 0156 4x5 from game 100 on" in " ".join(describe_method(run.method))
    command = train_command(run.method, run.options)
    assert shlex.join(command) == ("tuplet train --net=5x4 '--change=100:alpha=0.3,net=0156 4x5' --games=200 --seed=2")
    assert tuplet(*command[1:], "--out", tmp_path / "again").returncode == 0
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == (out / WEIGHTS).read_bytes()
    resume(out, games=225, progress=False)  # with what has changed
    assert Run.load(out).method.change == run.method.change


def test_a_second_change_at_the_same_game_joins_the_first() -> None:
    method = Method(net="5x4").with_change(300, {"alpha": 0.5}).with_change(300, {"spawn4": 0.2, "net": "0156"})
    assert method.change == "300:alpha=0.5,spawn4=0.2,net=0156"
    assert method.with_change(300, {"alpha": 0.1, "net": "4x5"}).change == "300:alpha=0.1,spawn4=0.2,net=0156 4x5"
    assert method.with_change(100, {"alpha": 0.7}).change == f"100:alpha=0.7 {method.change}"
    assert (method.at(299).alpha, method.at(300).alpha, method.at(300).spawn4) == (1.0, 0.5, 0.2)
    assert changes_of(method.change) == method.changes()


@pytest.mark.parametrize(
    ("settings", "change", "why"),
    [
        ({}, {"lam": 0.5}, "lam cannot change during training: alpha, spawn4, net can"),
        ({}, {"alpha": 1.0}, "nothing changes: the run has alpha 1.0 already"),
        ({}, {"alpha": 7.0}, "alpha must be a number above 0, at most 1"),
        ({}, {"alpha": "0.1 900:net=8g"}, "alpha must be a number"),
        ({}, {"spawn4": 2.0}, "must be"),
        ({}, {"net": "0123"}, "adds no tuple"),
        ({}, {"net": "900:net=8g"}, "net must be tuples to add"),
        ({}, {"net": "nonsense"}, "nonsense"),
        ({"grow": "0.5:0156"}, {"net": "4x5"}, "with --grow"),
        ({"game": "ewn", "net": None}, {"spawn4": 0.2}, "only alpha can"),
    ],
)
def test_what_cannot_change_is_refused_in_one_line(settings: dict[str, Any], change: dict[str, Any], why: str) -> None:
    method = Method(**{"net": "5x4", **settings})
    with pytest.raises(UserError, match=why) as error:
        method.with_change(300, change)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["alpha=0.1", "x:alpha=0.1", "5:", "5:lam=1", "5:alpha", "5:alpha=x", "9:alpha=0.1 5:alpha=0.2", "-1:alpha=0.1"],
)
def test_a_text_that_is_no_change_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="change must be numbers of games in rising order"):
        Method(net="5x4", change=text)


def test_tasks_do_not_change() -> None:
    with pytest.raises(UserError, match="--change and --tasks"):
        train("5x4", games=100, tasks=2, change="50:alpha=0.1", progress=False)
