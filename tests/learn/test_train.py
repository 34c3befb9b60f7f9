"""Training runs: files, resuming, interruptions, threads."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tuplet import Network, Run, resume, train
from tuplet.learn.checkpoints import Checkpoint
from tuplet.learn.run import locked
from tuplet.learn.settings import Method, RunOptions, split
from tuplet.learn.training import Training
from tuplet.system.settings import parse_duration
from tuplet.values.weights import read_weights

CLOCKS = ("elapsed_s", "moves_per_s")


def same_metrics(a: Path, b: Path) -> bool:
    def lines(folder: Path) -> list[dict[str, object]]:
        text = (folder / "metrics.jsonl").read_text()
        return [{k: v for k, v in json.loads(x).items() if k not in CLOCKS} for x in text.splitlines()]

    return lines(a) == lines(b)


def same_weights(a: Path, b: Path) -> bool:
    one, two = Network.load(a), Network.load(b)
    return one.weights.tobytes() == two.weights.tobytes()


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tuplet", "train", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_folder_holds_settings_metrics_weights_and_a_curve(tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = tuplet("train", "--net", "5x4", "--games", 2500, "--out", out, "--seed", 4)
    assert done.returncode == 0, done.stderr
    config = tomllib.loads((out / "config.toml").read_text())
    assert config["net"] == "5x4" and config["seed"] == 4 and config["games"] == 2500
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [m["games"] for m in lines] == [1000, 2000, 2500]
    for m in lines:
        assert {"elapsed_s", "mean_score", "max_score", "moves_per_s", "reached"} <= set(m)
        assert max(m["reached"].values()) == 1.0
    assert done.stdout.startswith("1000\tavg = ")
    assert f"\n2000\tavg = {lines[1]['mean_score']:.1f}\tmax = {lines[1]['max_score']}\n" in done.stdout
    assert (out / "curve.svg").read_text().startswith("<?xml")
    assert (out / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_files_hold_what_was_visited(tmp_path: Path) -> None:
    run = train("4x6", games=50, out=tmp_path / "run", progress=False)
    visited = int(np.count_nonzero(run.network.weights))
    size = (tmp_path / "run" / "weights.safetensors").stat().st_size
    assert size < 16 * visited + 8192  # where, weight, E and A
    loaded = Network.load(tmp_path / "run")
    assert loaded.weights.tobytes() == run.network.weights.tobytes()


@pytest.mark.parametrize("tuples", ["0123 01245 5", "01234 45678"])
def test_weight_files_round_trip_with_every_meaning(tuples: str, tmp_path: Path) -> None:
    net = Network(tuples, initial=320, target="state", gamma=0.5, spawn4=0.25)
    count = len(net.weights)
    net.weights[::3] = np.random.default_rng(1).normal(size=count)[::3]
    again = Network.load(net.save(tmp_path / "net.safetensors"))
    assert again.weights.tobytes() == net.weights.tobytes()
    assert (again.tuples, again.initial, again.target) == (net.tuples, 320, "state")
    assert (again.gamma, again.spawn4) == (0.5, 0.25)


def test_a_weight_files_index_has_the_first_cell_lowest(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    net = Network("01234")
    net.update([2, 4, 8, 16] + [32] + [0] * 11, 8, 1.0)
    arrays = load_file(net.save(tmp_path / "n.safetensors"))
    assert 1 | 2 << 4 | 3 << 8 | 4 << 12 | 5 << 16 in arrays["0.where"]
    assert (np.diff(arrays["0.where"].astype(int)) > 0).all()


@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_resumed_run_equals_an_uninterrupted_one(target: str, tmp_path: Path) -> None:
    settings = {"target": target, "seed": 8, "block": 100, "progress": False}
    train("5x4", games=450, out=tmp_path / "whole", **settings)
    train("5x4", games=225, out=tmp_path / "parts", **settings)
    assert resume(tmp_path / "parts", games=450, progress=False).games == 450
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("kind", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_an_interrupted_run_saves_says_where_and_resumes_bit_for_bit(
    kind: signal.Signals, tuplet, tmp_path: Path
) -> None:
    process = start("--net", "5x4", "--games", 6000, "--seed", 3, "--out", tmp_path / "parts")
    deadline = time.time() + 120
    while time.time() < deadline:
        lines = tmp_path / "parts" / "metrics.jsonl"
        if lines.exists() and lines.stat().st_size:
            break
        time.sleep(0.02)
    process.send_signal(kind)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped after" in errors and f"tuplet resume {tmp_path / 'parts'}" in errors
    stopped = int(read_weights(tmp_path / "parts").notes["games"])
    assert 1000 <= stopped < 6000
    done = tuplet("train", "--resume", tmp_path / "parts", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 6000
    whole = tuplet("train", "--net", "5x4", "--games", 6000, "--seed", 3, "--out", tmp_path / "whole")
    assert whole.returncode == 0
    assert same_weights(tmp_path / "whole", tmp_path / "parts")
    assert same_metrics(tmp_path / "whole", tmp_path / "parts")


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that a process does."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def checkpoint(folder: Path) -> int:
    """The games of the last checkpoint."""
    return int(read_weights(folder).notes.get("games", 0))


@pytest.mark.slow
def test_kill_at_any_moment_leaves_a_loadable_checkpoint(tmp_path: Path) -> None:
    random.seed(2)
    out = tmp_path / "run"
    process = start("--net", "5x4", "--games", 10**7, "--checkpoint", "0.01s", "--out", out)
    until((out / "config.toml").exists, process)
    for _ in range(4):
        before = checkpoint(out)
        until(lambda before=before: checkpoint(out) > before + random.randrange(200), process)
        process.kill()
        process.communicate()
        assert checkpoint(out) > before
        assert all(m["games"] > 0 for m in Run.load(out).metrics)
        process = start("--resume", out)
    process.kill()
    process.communicate()
    (out / ".weights.safetensors.123.part").write_text("half of it")
    with locked(out):
        assert not list(out.glob(".*.part"))


@pytest.mark.parametrize(
    "made",
    [
        "",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("weights.safetensors", "metrics.jsonl", "config.toml")
        ),
    ],
)
def test_kill_before_training_has_begun_leaves_a_folder_to_use_again(made: str, tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start("--net", "5x4", "--games", 10**7, "--out", out)
    until((out / made).exists, process)
    process.kill()
    process.communicate()
    begun = (out / "config.toml").exists()
    way = ["--resume", out] if begun else ["--out", out, "--net", "5x4"]
    done = tuplet("train", *way, "--games", 30)
    assert done.returncode == 0 or "give it more" in done.stderr, done.stderr


def test_refused_resumes_change_nothing(tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("5x4", games=100, out=out, progress=False)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert tuplet("train", "--resume", out, "--games", 50).returncode == 2
    for wrong in ({"lam": 0.75}, {"seed": 3}, {"block": 10}):
        with pytest.raises(ValueError, match="keeps its settings"):
            resume(out, **wrong)
    for name, text in (
        ("metrics.jsonl", '{"games": "x"}\n{}\n'),
        ("config.toml", "threads = 1.5"),
        ("config.toml", 'net = "4x6"\ngames = 200'),
    ):
        (out / name).write_text(text)
        done = tuplet("train", "--resume", out, "--games", 200)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (name, done.stderr)
        (out / name).write_bytes(before[name])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    # A run that ended by its games can be given time, and the other way round.
    assert tuplet("train", "--resume", out, "--budget", "1s").returncode == 0
    games = Run.load(out).games
    assert tuplet("train", "--resume", out, "--games", games + 50).returncode == 0


def test_a_stop_in_the_middle_of_a_checkpoint_is_an_interruption(tmp_path: Path) -> None:
    out = tmp_path / "run"
    train("5x4", games=25, out=out, progress=False)
    training = Training.load(out, options={"games": 10**7, "checkpoint": 0.2})
    save, saves = training.saver.save, []

    def interrupted_save(now: Checkpoint) -> None:
        saves.append(training.run.games)
        training.stop.set()
        save(now)

    training.saver.save = interrupted_save  # type: ignore[method-assign]
    run = training.train()
    assert run.interrupted and len(saves) == 2
    assert int(read_weights(out).notes["games"]) == training.run.games


def test_a_display_that_fails_stops_the_threads() -> None:
    run = Run(Method(net="5x4"), RunOptions(games=10**7, threads=2), Network("5x4"))

    def fail(_: object) -> None:
        raise BrokenPipeError

    before = threading.active_count()
    with pytest.raises(BrokenPipeError):
        Training(run, watch=fail).train()
    assert threading.active_count() == before


def test_two_processes_never_train_into_one_folder(tuplet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = start("--net", "5x4", "--games", 10**7, "--out", out)
    try:
        while not (out / "weights.safetensors").exists():
            time.sleep(0.02)
        second = tuplet("train", "--resume", out)
        assert second.returncode == 2
        assert second.stderr.strip().count("\n") == 0 and "another process" in second.stderr
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
    assert first.returncode == 130


def test_several_threads_play_every_game_once() -> None:
    # A learner that learns nothing plays the same games, whoever plays which.
    runs = [train("5x4", games=3100, alpha=1e-50, threads=n, progress=False) for n in (1, 3)]
    for run in runs:
        assert [m["games"] for m in run.metrics] == [1000, 2000, 3000, 3100]
    for one, three in zip(runs[0].metrics, runs[1].metrics, strict=True):
        assert one["mean_score"] == three["mean_score"] and one["ended"] == three["ended"]
    assert runs[0].metrics[0]["mean_score"] != runs[0].metrics[1]["mean_score"]


def test_several_threads_learn() -> None:
    run = train("5x4", games=3000, threads=3, progress=False)
    assert run.metrics[2]["mean_score"] > 1.3 * run.metrics[0]["mean_score"]


def test_a_budget_of_time_is_kept() -> None:
    run = train("5x4", budget=1.5, progress=False)
    assert 1.5 <= run.elapsed_s < 60
    assert run.games == run.metrics[-1]["games"] > 100


def test_a_network_goes_on_learning_but_not_other_values() -> None:
    net = Network("5x4")
    train(net, games=50, progress=False)
    train(net, games=50, seed=1, progress=False)
    with pytest.raises(ValueError, match="start with a new network"):
        train(net, games=50, target="state", progress=False)


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's own account of memory")
@pytest.mark.long
def test_memory_stays_within_200_mb_of_the_weights(tmp_path: Path) -> None:
    code = """
import sys, tuplet
from pathlib import Path
games, out = int(sys.argv[1]), Path(sys.argv[2])
if out.exists():
    run = tuplet.resume(out, games=games, progress=False)
else:
    run = tuplet.train('4x6', games=games, out=out, progress=False)
run.plot(run.folder / 'curve.png')
status = open('/proc/self/status').read()
print(int(status.split('VmHWM:')[1].split()[0]) * 1024 // 10**6)
"""
    for games, name in ((1, "warm-up"), (6000, "run"), (6100, "run")):  # compile, train, resume
        done = subprocess.run(
            [sys.executable, "-c", code, str(games), str(tmp_path / name)], capture_output=True, text=True, check=True
        )
        assert name == "warm-up" or 200 < int(done.stdout) < 3 * 268 + 200  # with E and A


def test_weights_that_are_not_finite_never_replace_a_checkpoint(tmp_path: Path) -> None:
    net = Network("5x4")
    net.update([2] * 16, 100)
    path = net.save(tmp_path / "net.safetensors")
    good = path.read_bytes()
    net.weights[7] = np.inf
    with pytest.raises(ValueError, match="smaller alpha"):
        net.save(path)
    assert path.read_bytes() == good
    assert list(tmp_path.iterdir()) == [path]


def test_times_and_settings() -> None:
    assert [parse_duration(t) for t in ("90", "90s", "10m", "1.5h", "1h30m")] == [90, 90, 600, 5400, 5400]
    for text in ("", "x", "-5s", "5 parsecs", "0", "1e"):
        with pytest.raises(ValueError, match="must be a time"):
            parse_duration(text)
    for wrong in (
        {"alpha": 0},
        {"alpha": float("nan")},
        {"alpha": 5},
        {"games": 0},
        {"threads": 0},
        {"spawn4": 2},
        {"gamma": -1},
        {"seed": -1},
        {"order": "sideways"},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            split({"games": 5, **wrong})
    with pytest.raises(ValueError, match="unknown setting 'frobnicate'"):
        split({"frobnicate": 1})
    assert RunOptions().games == 100_000 and RunOptions(budget="10m").games is None
