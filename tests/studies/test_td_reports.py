"""Runs of the studies of learning: stopped, continued, taken over; and what is said of them."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tuplet import reproduce, train
from tuplet.studies.report_learner import LearnerVariant, name_of, run_program, settings_of
from tuplet.studies.td_reports import METHOD_80_20, change, mean_at, share_over_runs, widened_for_another_run
from tuplet.studies.verdicts import Estimate, share
from tuplet.system.blocks import Worker

NET = "012 456"


def timeless(found: dict[str, Any] | None) -> dict[str, Any]:
    """What a run came to, but for how long it took."""
    assert found is not None
    return {**found, "blocks": {k: v for k, v in found["blocks"].items() if k != "seconds"}}


def stopped_after(games: int, settings: dict[str, Any], path: Path) -> None:
    """Run it until so many games are done."""
    worker = Worker()

    def watch() -> None:
        while not worker.under_way or worker.under_way[0][0] < games:
            time.sleep(0.001)
        worker.stop.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert run_program(settings, str(path), worker) is None
    watcher.join()


@pytest.mark.parametrize(
    "way", [LearnerVariant(states=True), LearnerVariant(no_symmetry=True)], ids=["states", "no_symmetry"]
)
def test_a_run_stopped_twice_comes_to_the_same(way: LearnerVariant, tmp_path: Path) -> None:
    settings, path = settings_of(way, 1000, 5, net=NET, fresh=25), tmp_path / "run"
    whole = run_program(settings, str(tmp_path / "whole"), Worker())
    stopped_after(50, settings, path)
    before = path.read_bytes()
    stopped_after(300, settings, path)
    assert path.read_bytes() != before
    assert timeless(run_program(settings, str(path), Worker())) == timeless(whole)
    assert not list(tmp_path.iterdir())  # what is finished is small
    json.dumps(whole)


def test_a_run_reports_its_blocks_and_fresh_games(tmp_path: Path) -> None:
    settings = settings_of(LearnerVariant(), 1005, 5, net=NET, fresh=30)
    found = run_program(settings, str(tmp_path / "run"), Worker())
    assert found is not None and settings["block"] == 50
    blocks = found["blocks"]
    assert blocks["games"] == [*range(50, 1001, 50), 1005]
    assert {len(each) for each in blocks.values()} == {21}
    assert blocks["look_ups"] == sorted(blocks["look_ups"])
    assert found["last"]["mean_score"] == sum(found["last"]["scores"]) / 50
    assert found["last"]["max_score"] >= blocks["max_score"][-1]
    assert len(found["fresh"]["scores"]) == len(found["fresh"]["tiles"]) == 30
    assert blocks["mean_score"][-3] > blocks["mean_score"][0] and found["finite"]
    assert name_of(settings) == "afterstate-1005-seed5"


def test_a_checkpoint_that_is_damaged_or_of_another_run_is_refused(tmp_path: Path) -> None:
    settings, path = settings_of(LearnerVariant(), 2000, 5, net=NET), tmp_path / "run"
    stopped_after(25, settings, path)
    with pytest.raises(ValueError, match=r"run is not a sound checkpoint .*settings.*: delete it"):
        run_program({**settings, "seed": 6}, str(path), Worker())
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="run is not a sound checkpoint"):
        run_program(settings, str(path), Worker())


@pytest.mark.slow
def test_a_study_copies_the_runs_of_one_beside_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scale": 0.0002, "net": NET, "progress": False}
    reproduce("td-state", out=tmp_path / "td-state", **options)
    theirs = {path.name: path for path in (tmp_path / "td-state" / "parts").iterdir()}
    for path in theirs.values():  # as nobody would have computed it
        path.write_text(path.read_text().replace('"finite": true', '"finite": false'))
    for study, out, taken in (
        ("td-targets", tmp_path / "slips", True),
        ("td-targets", tmp_path / "elsewhere" / "slips", False),
        ("state-or-afterstate", tmp_path / "both", False),  # which compares seconds
    ):
        reproduce(study, out=out, **options)
        own = {path.name: path.read_bytes() for path in (out / "parts").iterdir()}
        assert set(theirs) < set(own)
        assert all((own[name] == path.read_bytes()) == taken for name, path in theirs.items())


def test_a_finished_run_of_train_is_used_by_its_study(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scale": 0.0002, "net": NET, "progress": False}
    whole = reproduce("td-state-80-20", out=tmp_path / "whole", **options)
    other = tmp_path / "other"
    other.mkdir()
    (other / "study.json").write_bytes((tmp_path / "whole" / "study.json").read_bytes())
    settings = {**METHOD_80_20, "net": NET, "games": 200, "block": 10, "threads": 1}
    train(**settings, out=other / "run-200", progress=False)
    metrics = (other / "run-200" / "metrics.jsonl").read_bytes()
    assert reproduce("td-state-80-20", out=other, **options).as_json() == whole.as_json()
    assert (other / "run-200" / "metrics.jsonl").read_bytes() == metrics
    for part in (other / "parts").iterdir():
        part.unlink()
    config = other / "run-200" / "config.toml"
    config.write_text(config.read_text().replace("spawn4 = 0.2", "spawn4 = 0.1"))
    with pytest.raises(ValueError, match=r"holds a run with spawn4 0\.1, not 0\.2"):
        reproduce("td-state-80-20", out=other, **options)


def test_the_error_of_a_mean_of_runs_includes_runs_and_games() -> None:
    """Blocks of means 10 and 30: 20 ± 12.706 · 10; alike ones: what their scores deviate."""
    found = mean_at([(10, 1, 100), (30, 1, 100)])
    assert (found.value, found.stderr, found.dof) == (20, 10, 1)
    assert found.ci95 == pytest.approx((0, 20 + 127.06), abs=0.1)  # no mean score is below 0
    assert mean_at([(20, 8, 4), (20, 8, 4)]).stderr == pytest.approx(math.sqrt(8))
    assert mean_at([(20, 8, 4)]) == Estimate(20, games=4)


def test_shares_of_runs_and_what_another_run_may_be() -> None:
    flags = [[True] * 60 + [False] * 40, [True] * 80 + [False] * 20]
    found = share_over_runs(flags)
    assert found.value == 0.7 and found.stderr == pytest.approx(0.1)  # √(0.02 / 2)
    assert found.ci95 == (0.0, 1.0)
    # Between the runs: 0.02 less what 100 games deviate, the mean of 0.0024 and 0.0016.
    assert widened_for_another_run(found, flags).stderr == pytest.approx(math.sqrt(0.01 + 0.018))
    alike = [[True] * 50 + [False] * 50] * 2
    assert widened_for_another_run(share_over_runs(alike), alike).stderr == share(100, 200).stderr
    assert share_over_runs(flags[:1]) == Estimate(0.6, games=100)


def test_a_change_is_a_share_with_an_interval() -> None:
    """90 of 100, each known to a percent: ln 0.9 ± 2.776 · √2 %."""
    found = change(Estimate(90, (88, 92), 0.9, 2), Estimate(100, (98, 102), 1.0, 2))
    assert found.value == pytest.approx(-0.1) and found.ci95 is not None
    half = 2.776445 * 0.01 * math.sqrt(2)
    assert found.ci95 == pytest.approx((0.9 * math.exp(-half) - 1, 0.9 * math.exp(half) - 1))
    assert change(Estimate(90), Estimate(100, (98, 102), 1.0, 2)).ci95 is None
