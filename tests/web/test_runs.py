"""Training runs over HTTP: looked at by anybody, trained with `serve --train` only."""

from __future__ import annotations

import gzip
import heapq
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from browsing import Looking, Server, serving
from tuplet import Network, game as game_of, make_agent, train
from tuplet.learn.run import locked
from tuplet.system.process_lock import lock_state
from tuplet.web.runs import Pace, Runs


@pytest.fixture
def runs(tmp_path: Path, trained_run: Path) -> Path:
    """A folder with a run of 3,000 games."""
    shutil.copytree(trained_run, tmp_path / "runs" / "done")
    return tmp_path / "runs"


@pytest.fixture
def watched(runs: Path) -> Iterator[Server]:
    """A server whose clients may look only."""
    with serving(runs=runs) as server:
        yield server


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Server]:
    """A server whose clients may train; no process is left behind."""
    with serving(runs=tmp_path / "runs", train=True) as server:
        yield server
        for name in [run["run"] for run in ask(server, "/api/runs")["runs"]]:
            server.ask("/api/run/stop", {"name": name})
    assert processes(tmp_path) == []


def processes(folder: Path) -> list[str]:
    """The commands of all processes that name a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [words] if str(folder) in words and "tuplet" in words else []
    return found


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait for a condition; its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "that took too long"
        time.sleep(0.05)
    return value


def games_of(server: Server, name: str) -> int:
    """How many games a run has, as the page sees it."""
    return int(ask(server, "/api/run", name=name)["run"]["games"])


def ask(server: Server, path: str, **body: Any) -> Any:
    """The answer to a call, which must be right."""
    status, answer = server.ask(path, body or None)
    assert status == 200, answer
    return answer


def test_a_run_is_listed_and_described_with_its_curve_and_its_command(watched: Server) -> None:
    listed = ask(watched, "/api/runs")
    assert listed["train"] is False
    assert [(run["run"], run["state"], run["games"]) for run in listed["runs"]] == [("done", "finished", 3000)]
    answer = ask(watched, "/api/run", name="done", points=2)
    run, curve = answer["run"], answer["curve"]
    assert run["commands"] == ["tuplet train --net=5x4 --games=3000 --seed=1"]
    assert (run["state"], run["games"], run["error"], run["changes"]) == ("finished", 3000, None, [])
    assert run["settings"]["net"] == "5x4" and run["settings"]["lambda"] == 0.5
    assert curve["games"] == [1000, 3000]
    for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True):
        assert low < mean < high
    assert len(ask(watched, "/api/run", name="done")["curve"]["games"]) == 3


def test_the_state_of_a_run_is_found_from_its_folder_alone(watched: Server, runs: Path) -> None:
    def state() -> tuple[str, str | None]:
        run = ask(watched, "/api/run", name="done")["run"]
        return run["state"], run["error"]

    with locked(runs / "done"):
        assert state() == ("running", None)
    assert state() == ("finished", None)
    config = runs / "done" / "config.toml"
    config.write_text(config.read_text().replace("games = 3000", "games = 9000"))
    assert state() == ("stopped", None)
    with suppress(ValueError), locked(runs / "done") as begin:
        begin()
        raise ValueError("the weights diverged")
    assert state() == ("failed", "the weights diverged")


def test_all_who_look_get_one_answer_until_there_is_something_new(runs: Path) -> None:
    """It is encoded once, and after that looking costs next to nothing."""
    found = Runs(runs).find("done")
    first = found.read(400)
    assert first is found.read(400) and first.body is found.read(400).body
    assert json.loads(gzip.decompress(first.compressed)) == json.loads(first.body) == first
    assert found.read(2) is not first
    line = (runs / "done" / "metrics.jsonl").read_text().splitlines()[-1].replace('"games": 3000', '"games": 4000')
    with (runs / "done" / "metrics.jsonl").open("a") as file:
        file.write(line + "\n")
    assert found.read(400)["curve"]["games"] == [1000, 2000, 3000, 4000]
    with locked(runs / "done"):
        assert found.read(400)["run"]["state"] == "running"


@pytest.mark.parametrize(("viewers", "poll"), [(1, 1), (10, 1), (50, 5), (1000, 20)])
def test_many_viewers_are_told_to_look_less_often(viewers: int, poll: int) -> None:
    """And look as often as before when the others have left."""
    pace = Pace()
    due = [(viewer / viewers, viewer) for viewer in range(viewers)]
    heapq.heapify(due)
    told = 1
    while due[0][0] < 120:
        now, viewer = heapq.heappop(due)
        told = pace.look(now)
        heapq.heappush(due, (now + told, viewer))
    assert told == poll
    for now in range(121, 200):
        told = pace.look(now)
    assert told == 1


@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "done/../../outside", "/etc", "link", "no", "x\0"])
def test_no_name_leads_outside_of_the_folder_of_runs(name: str, watched: Server, runs: Path, trained_run: Path) -> None:
    shutil.copytree(trained_run, runs.parent / "outside")
    (runs / "link").symlink_to(runs.parent / "outside")
    status, answer = watched.ask("/api/run", {"name": name})
    assert status == 400 and ("name must be" in answer["error"] or "there is no run" in answer["error"])
    assert [run["run"] for run in ask(watched, "/api/runs")["runs"]] == ["done"]


def test_a_run_grows_and_outlives_its_server(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "tuplet", "serve", "--train", "--runs", runs, "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        first = Server(process.stdout.readline().split()[2])
        started = ask(first, "/api/run/start", settings={"net": "5x4", "games": 10**9, "seed": 3}, name="long")["run"]
        assert (started["state"], started["name"]) == ("running", "long")
        before = until(lambda: games_of(first, "long"))
        process.send_signal(signal.SIGINT)  # as Ctrl-C in its terminal
        process.wait(60)
    finally:
        process.kill()
        process.communicate()
    with serving(runs=runs, train=True) as second:
        until(lambda: games_of(second, "long") > before)
        answer = ask(second, "/api/run", name="long")
        assert answer["run"]["state"] == "running" and answer["curve"]["games"][0] == 1000
        assert ask(second, "/api/run/stop", name="long")["run"]["state"] == "stopped"
    assert processes(tmp_path) == []


@pytest.mark.slow
def test_the_curve_on_the_page_survives_a_restart_of_the_server_and_a_reload(chromium: Any, tmp_path: Path) -> None:
    """Then the page stops and resumes the run, which learns what an uninterrupted one does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def serve() -> subprocess.Popen[str]:
        words = ["serve", "--train", "--runs", str(tmp_path / "runs"), "--port", str(port), "--no-open"]
        process = subprocess.Popen([sys.executable, "-m", "tuplet", *words], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline().startswith("The page: ")
        return process

    process, server = serve(), Server(f"http://127.0.0.1:{port}")
    try:
        ask(server, "/api/run/start", settings={"net": "5x4", "games": 10**9, "seed": 4}, name="long")
        looking = Looking(chromium, server)
        page = looking.open("/learn?runs=long")
        page.wait_for_selector(".curves path.line")
        process.send_signal(signal.SIGINT)
        process.wait(60)
        before = page.get_attribute(".curves path.line", "d")
        process = serve()
        grown = "was => document.querySelector('.curves path.line').getAttribute('d') !== was"
        page.wait_for_function(grown, arg=before)
        looking.errors.clear()  # there was no server for a while
        page.reload()
        page.wait_for_selector(".curves path.line")
        for _ in range(2):
            page.click("#start:has-text('Stop')")
            page.wait_for_selector(".learn-card[data-state=stopped]")
            games = games_of(server, "long")
            page.click("#start:has-text('Resume')")
            until(lambda: games_of(server, "long") > games)  # noqa: B023
        page.click("#start:has-text('Stop')")
        page.wait_for_selector(".learn-card[data-state=stopped]")
        looking.close()
        whole = train("5x4", games=games_of(server, "long"), seed=4, progress=False)
        assert (Network.load(tmp_path / "runs" / "long").weights == whole.network.weights).all()
    finally:
        server.ask("/api/run/stop", {"name": "long"})
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert processes(tmp_path) == []


def test_stopped_and_resumed_runs_equal_an_uninterrupted_one_to_the_byte(trainer: Server, tmp_path: Path) -> None:
    settings = {"net": "5x4", "games": 4000, "seed": 5, "lambda": 0.25}
    ask(trainer, "/api/run/start", settings=settings, name="pieces")
    until(lambda: games_of(trainer, "pieces") > 1000)
    stopped = ask(trainer, "/api/run/stop", name="pieces")["run"]
    assert stopped["state"] == "stopped" and 1000 < stopped["games"] < 4000
    assert ask(trainer, "/api/run/resume", name="pieces")["run"]["state"] in ("running", "finished")
    done = until(lambda: (run := ask(trainer, "/api/run", name="pieces")["run"])["state"] == "finished" and run)
    assert done["commands"] == ["tuplet train --net=5x4 --lambda=0.25 --games=4000 --seed=5"]
    train("5x4", games=4000, seed=5, lam=0.25, out=tmp_path / "whole", progress=False)
    weights = (tmp_path / "whole" / "weights.safetensors").read_bytes()
    assert (tmp_path / "runs" / "pieces" / "weights.safetensors").read_bytes() == weights
    status, answer = trainer.ask("/api/run/resume", {"name": "pieces"})
    assert status == 400 and "is finished" in answer["error"] and str(tmp_path) not in answer["error"]


@pytest.mark.slow
def test_a_run_of_a_terminal_is_watched_and_stopped_like_any_other(trainer: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tuplet", "train", "--net", "5x4", "--games", "1000000000"]
    process = subprocess.Popen([*command, "--out", tmp_path / "runs" / "mine"], stderr=subprocess.DEVNULL)
    try:
        until(lambda: [run["state"] for run in ask(trainer, "/api/runs")["runs"]] == ["running"])
        for path, body in (("delete", {"confirm": "mine"}), ("resume", {})):
            status, answer = trainer.ask(f"/api/run/{path}", {"name": "mine", **body})
            assert status == 400 and "is being trained" in answer["error"]
        with ThreadPoolExecutor(4) as pool:  # in haste: a second interrupt would end it without saving
            states = pool.map(lambda _: ask(trainer, "/api/run/stop", name="mine")["run"]["state"], range(4))
        assert set(states) == {"stopped"} and process.wait(60) == 130
    finally:
        process.kill()
        process.communicate()
    assert ask(trainer, "/api/run/delete", name="mine", confirm="mine") == {"deleted": "mine"}
    assert [*(tmp_path / "runs").iterdir()] == []
    assert trainer.ask("/api/run/delete", {"name": "mine", "confirm": "mine"})[0] == 400


@pytest.mark.slow
def test_a_run_that_was_killed_has_failed_and_can_be_resumed(trainer: Server, tmp_path: Path) -> None:
    ask(trainer, "/api/run/start", settings={"net": "5x4", "games": 10**9}, name="killed")
    os.kill(lock_state(tmp_path / "runs" / "killed" / ".lock").pid or 0, signal.SIGKILL)
    run = until(lambda: (now := ask(trainer, "/api/run", name="killed")["run"])["state"] != "running" and now)
    assert run["state"] == "failed" and "killed" in run["error"]
    assert ask(trainer, "/api/run/resume", name="killed")["run"]["state"] == "running"


@pytest.mark.slow
def test_a_change_takes_effect_at_once_and_its_command_repeats_the_run(
    trainer: Server, tmp_path: Path, tuplet: Any
) -> None:
    ask(trainer, "/api/run/start", settings={"net": "5x4", "games": 3000, "seed": 9}, name="changed")
    for settings, why in (
        ({"lambda": 0.5}, "unknown setting 'lambda'"),
        ({"net": "0123"}, "adds no tuple"),
        ({"alpha": 9}, "alpha must be"),
        ({}, "settings must have"),
    ):
        status, answer = trainer.ask("/api/run/change", {"name": "changed", "settings": settings})
        assert status == 400 and why in answer["error"], answer
    assert ask(trainer, "/api/run", name="changed")["run"]["state"] == "running"  # and was not interrupted
    run = ask(trainer, "/api/run/change", name="changed", settings={"alpha": 0.25, "net": "0156"})["run"]
    assert run["state"] in ("running", "finished")
    done = until(lambda: (run := ask(trainer, "/api/run", name="changed")["run"])["state"] == "finished" and run)
    (change,) = done["changes"]
    assert change == {"game": change["game"], "alpha": 0.25, "net": "0156"} and change["game"] < 3000
    (command,) = done["commands"]
    assert f" --change={change['game']}:alpha=0.25,net=0156 " in command
    assert tuplet(*shlex.split(command)[1:], "--out", tmp_path / "again").returncode == 0
    weights = [(tmp_path / each / "weights.safetensors").read_bytes() for each in ("again", "runs/changed")]
    assert weights[0] == weights[1]
    ask(trainer, "/api/run/resume", name="changed", settings={"games": 3100})  # longer
    until(lambda: games_of(trainer, "changed") == 3100)


def test_a_run_plays_a_game_of_its_last_checkpoint(watched: Server, runs: Path) -> None:
    game = ask(watched, "/api/run/game", name="done", seed=4)
    assert game == ask(watched, "/api/run/game", name="done", seed=4)
    assert game != ask(watched, "/api/run/game", name="done")
    read = ask(watched, "/api/read", text=game["record"])
    assert read["position"]["over"] and read["position"]["score"] == game["score"] > 0
    assert max(read["position"]["tiles"]) == game["tile"] and game["learned"] == 3000
    train(game="ewn", net="2x2", games=500, evaluate="", out=runs / "ewn", progress=False)
    start = game_of("ewn").setup().apply_outcome(1)
    make_agent(str(runs / "ewn"), "ewn").choose(start)  # which may compile, longer than a request waits
    record = ask(watched, "/api/run/game", name="ewn", seed=4)
    assert record["winner"] in ("red", "blue") and record["tile"] is None and record["learned"] == 500
    assert ask(watched, "/api/read", text=record["record"])["position"]["winner"] == record["winner"]
    train("0123", board="2x2", games=100, spawn4=0.5, out=runs / "little", progress=False)
    assert ask(watched, "/api/run/game", name="little")["tile"] <= 32


def test_a_run_that_goes_on_is_asked_for_its_current_player(
    trainer: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.web.limits.CHECKPOINT", 0.1)
    ask(trainer, "/api/run/start", settings={"net": "0123", "games": 10**9}, name="long")
    learned = until(lambda: ask(trainer, "/api/run/game", name="long")["learned"])
    until(lambda: ask(trainer, "/api/run/game", name="long")["learned"] > learned)
    assert ask(trainer, "/api/run/stop", name="long")["run"]["state"] == "stopped"
    assert not (tmp_path / "runs" / "long" / ".save").exists()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"net": "99x9"}, "network"),
        ({"alpha": 7}, "alpha must be"),
        ({"games": "many"}, "games must be"),
        ({"alpha": float("1e12")}, "alpha must be"),
        ({"threads": 4096}, "threads must be"),
        ({"tasks": 3}, "unknown setting 'tasks'"),
        ({"out": "/tmp/x"}, "unknown setting 'out'"),
        ({"cluster": "tcp://x:1"}, "unknown setting 'cluster'"),
        ({"block": 1}, "unknown setting 'block'"),
        ({"learner": "evil.py:LEARNER"}, "learner"),
        ({"game": "evil.py:GAME"}, "not loaded"),
        ({"game": 3}, "game must be"),
        ({"net": ["0123"]}, "net must be"),
        ({"budget": -5}, "budget must be"),
        ({"restart": 1}, "restart must be"),
        ({"recipe": "none"}, "recipe must be"),
        ({"net": "--out=x"}, "out"),
        ({"net": "2x8"}, "needs 10.* GB of memory"),
    ],
)
def test_settings_that_train_would_refuse_start_nothing(
    settings: dict[str, Any], why: str, trainer: Server, tmp_path: Path
) -> None:
    status, answer = trainer.ask("/api/run/start", {"settings": settings, "name": "wrong"})
    assert status == 400 and re.search(why, answer["error"]), answer
    assert not (tmp_path / "runs" / "wrong").exists() and processes(tmp_path) == []


def test_nothing_is_written_without_train(watched: Server, runs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    for path, body in (
        ("start", {"settings": {"games": 100}, "name": "new"}),
        ("stop", {"name": "done"}),
        ("resume", {"name": "done", "settings": {"games": 9999}}),
        ("change", {"name": "done", "settings": {"alpha": 0.5}}),
        ("delete", {"name": "done", "confirm": "done"}),
    ):
        status, answer = watched.ask(f"/api/run/{path}", body)
        assert status == 400 and "tuplet serve --train" in answer["error"]
    ask(watched, "/api/run", name="done")
    ask(watched, "/api/runs")
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


def test_deleting_needs_the_name_again_and_names_stay_in_the_folder(
    trainer: Server, tmp_path: Path, trained_run: Path
) -> None:
    shutil.copytree(trained_run, tmp_path / "runs" / "one")
    shutil.copytree(trained_run, tmp_path / "outside")
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "outside")
    for name in ("../outside", "link", str(tmp_path / "outside"), ".", "", "two"):
        for path in ("delete", "stop", "resume"):
            body = {"name": name, **({"confirm": name} if path == "delete" else {})}
            assert trainer.ask(f"/api/run/{path}", body)[0] == 400
    assert trainer.ask("/api/run/delete", {"name": "one", "confirm": "two"})[0] == 400
    for name in ("../new", "a/b", "small", ".hidden", "link", "one", "x" * 99, "new run"):
        assert trainer.ask("/api/run/start", {"settings": {"games": 25, "net": "5x4"}, "name": name})[0] == 400
    assert sorted(each.name for each in tmp_path.iterdir()) == ["outside", "runs"]
    ask(trainer, "/api/run/delete", name="one", confirm="one")
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["link"]
    assert (tmp_path / "outside" / "config.toml").exists()


@pytest.mark.slow
def test_haste_leaves_no_process_and_no_half_folder(trainer: Server, tmp_path: Path) -> None:
    """Clients start, stop, continue and delete the same runs at once."""

    def client(number: int) -> None:
        rng = random.Random(number)
        for _ in range(10):
            name = rng.choice("ab")
            body: dict[str, Any] = {"name": name}
            path = rng.choice(("start", "start", "stop", "resume", "change", "delete"))
            body |= {"settings": {"net": "5x4", "games": 10**8}} if path == "start" else {}
            body |= {"settings": {"alpha": rng.choice((0.1, 0.2, 0.3))}} if path == "change" else {}
            body |= {"confirm": name} if path == "delete" else {}
            status, answer = trainer.ask(f"/api/run/{path}", body)
            assert status in (200, 400, 503), answer

    with ThreadPoolExecutor(4) as pool:
        [*pool.map(client, range(4))]
    runs = tmp_path / "runs"
    for name in "ab":
        trainer.ask("/api/run/stop", {"name": name})
    assert processes(tmp_path) == []
    left = {each.name for each in runs.iterdir()}
    assert left == {run["run"] for run in ask(trainer, "/api/runs")["runs"]} <= {"a", "b"}
    for name in left:
        assert not [*(runs / name).glob(".*.part"), *(runs / name).glob(".stop*")]
        ask(trainer, "/api/run/delete", name=name, confirm=name)
    assert [*runs.iterdir()] == []


def test_only_a_few_runs_are_under_way_at_once(trainer: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuplet.web.limits.MAX_RUNS", 1)
    first = ask(trainer, "/api/run/start", settings={"net": "5x4", "games": 10**9})["run"]["name"]
    assert first == "5x4-tc"
    status, answer = trainer.ask("/api/run/start", {"settings": {"net": "5x4", "games": 100}})
    assert status == 400 and "at once (5x4-tc): stop" in answer["error"]
