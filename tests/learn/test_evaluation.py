"""Fresh games during training, and what a run that is given more will do."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tuplet import Run, Stop, resume, train
from tuplet.learn.recorder import describe_plan
from tuplet.learn.run import PICTURES
from tuplet.learn.settings import Method, RunOptions
from tuplet.learn.training import Training

NET = "0123 4567"


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "draw", lambda _: None)


def fresh(run: Run) -> list[dict[str, object]]:
    told = [each for m in run.metrics for each in m.get("evaluations", ())]
    return [{k: v for k, v in each.items() if k != "elapsed_s"} for each in told]


def test_fresh_games_are_kept_with_the_block_they_follow_and_are_those_of_the_seed() -> None:
    settings = {"games": 220, "block": 100, "evaluate": "20@100", "progress": False}
    one, two = (train(NET, threads=1, **settings) for _ in range(2))
    assert [m["games"] for m in one.metrics] == [100, 200, 220]
    assert [m["evaluations"][0]["learned"] for m in one.metrics] == [100, 200, 220]
    assert fresh(one) == fresh(two)
    told = one.metrics[0]["evaluations"][0]
    assert set(told) >= {"games", "mean_score", "ci95", "max_score", "reached", "ended"}
    assert told["games"] == 20 and told["ci95"][0] < told["mean_score"] < told["ci95"][1]
    for m in one.metrics:  # what others read is there as before
        assert {"games", "elapsed_s", "mean_score", "max_score", "moves_per_s", "reached"} <= set(m)
    assert "evaluations" not in train(NET, games=50, progress=False).metrics[0]


def test_an_interrupted_run_with_fresh_games_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    settings = {"games": 300, "block": 100, "evaluate": "20@75", "progress": False}
    whole = train(NET, out=tmp_path / "whole", **settings)
    for number, moment in enumerate(("block", "fresh", "last")):
        stop = Stop()

        def look(event: object, stop: Stop = stop, moment: str = moment) -> None:
            learned = event.what == "games" and event.done  # type: ignore[attr-defined]
            now = event.what == "fresh games"  # type: ignore[attr-defined]
            if (moment == "fresh" and now) or (moment == "block" and learned >= 100):
                stop.set()

        def last(told: dict[str, object], stop: Stop = stop, moment: str = moment) -> None:
            if moment == "last" and told["learned"] == 225:
                stop.set()

        out = tmp_path / str(number)
        run = train(
            NET, out=out, **{**settings, "progress": look}, stop=stop, loggers=[SimpleNamespace(on_evaluation=last)]
        )
        assert run.interrupted and run.games < 300
        run = resume(out, progress=False)
        assert fresh(run) == fresh(whole) and not run.interrupted
        same = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", out)]
        assert same[0] == same[1]


def test_a_run_stopped_in_its_last_fresh_games_plays_them_when_resumed(tmp_path: Path) -> None:
    stop = Stop()

    def look(event: object) -> None:
        if event.what == "fresh games":  # type: ignore[attr-defined]
            stop.set()

    out = tmp_path / "run"
    run = train(NET, games=60, evaluate="500@100", out=out, stop=stop, progress=look)
    assert run.interrupted and run.games == 60 and not run.metrics
    run = resume(out, progress=False)
    assert not run.interrupted and [m["games"] for m in run.metrics] == [60]
    assert fresh(run)[0]["games"] == 500
    for name in PICTURES:  # as if they were drawn
        (out / name).touch()
    with pytest.raises(ValueError, match=r"is finished .* which are totals"):
        resume(out, progress=False)


def test_fresh_games_by_time_do_not_count_as_training(tmp_path: Path) -> None:
    run = train(NET, budget=1.0, evaluate="300@0.3s", block=50, threads=1, out=tmp_path / "r", progress=False)
    told = [each for m in run.metrics for each in m.get("evaluations", ())]
    assert 2 <= len(told) <= 4 and told[-1]["learned"] == run.games
    assert 1.0 <= run.elapsed_s < 10
    lines = (tmp_path / "r" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == run.metrics


@pytest.mark.parametrize("wrong", ["1000", "@10m", "x@10m", "1000@", "1000@0", "1@10m", "1000@10x", "1e3@5", "-5@5"])
def test_what_is_no_evaluation_is_one_line(wrong: str, tuplet) -> None:
    done = tuplet("train", "--games", 5, f"--evaluate={wrong}")
    assert done.returncode == 2 and "1000@10m" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_rate_of_learning_is_the_one_that_was_said(tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings = {"schedule": "0.9:0.1", "alpha": 0.5, "learner": "td", "progress": False}
    said = train(NET, games=100, out=out, **settings).description
    assert said == "100 games; α 0.5 until game 90, then 0.05"

    def rates(training: Training) -> list[float]:
        return [round(float(training.hyperparameters(n).alpha), 3) for n in (100, 125, 175, 225)]

    # So little more that all of it is within the last tenth: nothing changes.
    training = Training.load(out, options={"games": 110})
    assert training.run.description == "100 of 110 games done; α 0.05"
    assert rates(training)[:1] == [0.05]
    training = Training.load(out, options={"games": 250})
    assert training.run.description == (
        "100 of 250 games done; α back to 0.5 until game 225, then 0.05; means may dip until it settles again"
    )
    assert rates(training) == [0.5, 0.5, 0.5, 0.05]


def test_outlooks_of_other_runs() -> None:
    method = Method(net="5x4", schedule="0.5:0.1 0.9:0.01")
    assert describe_plan(method, RunOptions(budget=600.0), 0, 0.0) == (
        "10:00; α 1 until 5:00, then 0.1, until 9:00, then 0.01"
    )
    before, now = RunOptions(budget=600.0), RunOptions(budget=1200.0)
    assert describe_plan(method, now, 12_775, 600.0, before).startswith(
        "10:00 of 20:00 done (12,775 games); α back to 0.1 until 18:00, then 0.01;"
    )
    assert describe_plan(method, now, 12_775, 300.0, now) == (
        "5:00 of 20:00 done (12,775 games); α 1 until 10:00, then 0.1, until 18:00, then 0.01"
    )
    linear = describe_plan(Method(schedule="linear"), RunOptions(games=200), 100, 1.0, RunOptions(games=100))
    assert linear.startswith("100 of 200 games done; α back to 0.5, falling to 0 (linear)")
    assert describe_plan(Method(), RunOptions(games=10), 0, 0.0) == "10 games; α 1"


def test_the_command_says_first_what_it_will_do_and_prints_fresh_games(tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--schedule", "0.9:0.1", "--evaluate", "10@50", "--out", out]
    done = tuplet("train", "--net", NET, "--games", 50, *words)
    assert done.stderr.splitlines()[0].endswith("50 games; α 1 until game 45, then 0.1.")
    assert done.stdout.startswith("50\tfresh games: avg = ")
    done = tuplet("train", "--resume", out, "--games", 200, "--json")
    first = done.stderr.splitlines()[0]
    assert "50 of 200 games done; α back to 1 until game 180, then 0.1; means may dip" in first
    assert json.loads(done.stdout)["evaluations"][-1]["learned"] == 200
