"""Training in rounds on a real Dask cluster: the weights of threads, whoever dies meanwhile."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tuplet
from tuplet.cli import run
from tuplet.learn.parallel import rounds
from tuplet.learn.parallel.merge import memory_of
from tuplet.learn.run import ROUNDS
from tuplet.system.cluster import Cluster, cluster

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
SETTINGS: dict[str, Any] = {
    "net": "0123 4567",
    "games": 1500,
    "seed": 2,
    "tasks": 3,
    "grow": "0.7:0145",
    "learner": "tc",
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds from the first games on, and short ones."""
    monkeypatch.setattr(rounds, "ALONE", 100)


@pytest.fixture(scope="module")
def two() -> Iterator[Cluster]:
    with cluster("local:2") as workers:
        yield workers


@pytest.fixture(scope="module")
def alone() -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "ALONE", 100)
        return weights_of(tuplet.train(**SETTINGS))


def weights_of(run: tuplet.Run) -> bytes:
    return run.network.weights.tobytes() + memory_of(run.network).tobytes()


def test_weights_are_those_of_threads(two: Cluster, alone: bytes, tmp_path: Path) -> None:
    found = tuplet.train(**SETTINGS, executor=two, out=tmp_path / "run")
    assert weights_of(found) == alone
    assert {line["tasks"] for line in found.rounds} == {2, 3}
    assert not (tmp_path / "run" / "rounds").exists()


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.long)])
def test_workers_that_are_killed_cost_no_game(two: Cluster, alone: bytes, tmp_path: Path, kills: int) -> None:
    done, luck, dead = threading.Event(), random.Random(kills), []

    def kill() -> None:
        while len(dead) < kills and not done.wait(0.1 + 0.5 * luck.random()):
            pids = two.client.run(os.getpid, on_error="ignore")
            if pids:
                dead.append(luck.choice(sorted(pids.values())))
                with suppress(ProcessLookupError):
                    os.kill(dead[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        for number in range(10 * kills):
            found = tuplet.train(**SETTINGS, executor=two, out=tmp_path / f"run-{number}")
            assert weights_of(found) == alone
            if len(dead) >= kills:
                break
    finally:
        done.set()
        killer.join()
    assert len(dead) == kills


def test_the_command_line_trains_on_a_cluster_and_goes_on_without(
    two: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--cluster", two.client.scheduler.address]
    words = ["train", "--net", "0123 4567", "--seed", "2", "--out", str(tmp_path / "run")]
    assert run([*words, "--games", "600", *where]) == 0
    assert tuplet.Run.load(tmp_path / "run").options.tasks == 2  # as many as it has threads
    assert run(["train", "--resume", str(tmp_path / "run"), "--games", "900"]) == 0
    assert tuplet.Run.load(tmp_path / "run").games == 900
    plain = tmp_path / "plain"
    assert run([*words[:-1], str(plain), "--games", "200"]) == 0
    assert run(["train", "--resume", str(plain), "--games", "900", *where]) == 0  # goes on there
    assert (plain / ROUNDS).exists()
    assert run(["population", *words[1:-1], str(tmp_path / "pop"), "--games", "100", "--seeds", "2", *where]) == 0
    assert "the average of all" in capsys.readouterr().out


def test_a_cluster_that_is_gone_costs_the_round_under_way(alone: bytes, tmp_path: Path) -> None:
    with cluster("local:1") as workers:

        def leave(games: int, _: Any) -> None:
            if games == 1000:
                workers.client.loop.add_callback(workers.client.close)

        logger = SimpleNamespace(on_block=leave)
        with pytest.warns(UserWarning, match=r"is gone.*tuplet resume"):
            found = tuplet.train(**SETTINGS, executor=workers, out=tmp_path / "run", loggers=[logger])
    assert found.interrupted
    assert 1000 <= found.games < 1500
    assert tuplet.Run.load(tmp_path / "run").options.tasks == 3
    assert weights_of(tuplet.resume(tmp_path / "run")) == alone
