"""A real Dask cluster of separate processes: the same results, whoever dies, and nothing lost."""

from __future__ import annotations

import json
import logging.handlers
import os
import random
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tuplet
from browsing import awaited
from cluster_work import failing, network_of, slow_square, unsendable
from tuplet import check_cluster
from tuplet.agents.distribution import AgentSource
from tuplet.agents.specs import Spec
from tuplet.cli import run
from tuplet.system import cluster_members
from tuplet.system.blocks import ordered_map
from tuplet.system.cluster import Cluster, cluster, connect
from tuplet.system.worker_calls import file_digest

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
SOURCES, TESTS = Path(tuplet.__file__).parents[1], Path(__file__).parents[1]
PATIENCE = 100  # seconds; on a quiet machine nothing takes three


class Machines:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, *options: str, path: Path = SOURCES) -> None:
        self.folder, self.options = folder, options
        self.file = folder / "scheduler.json"
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--idle-timeout", "600", path=path)
        until(lambda: self.file.exists() and self.file.stat().st_size > 0)  # is written

    def _start(
        self, what: str, *words: str, path: Path = SOURCES, before: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        command = [
            *before,
            sys.executable,
            "-m",
            f"distributed.cli.{what}",
            *words,
            "--host",
            "127.0.0.1",
            "--scheduler-file",
            str(self.file),
            "--no-dashboard",
            *self.options,
        ]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{TESTS}"},
            )

    def add(self, name: str, threads: int = 1, **how: Any) -> None:
        words = ("--nthreads", str(threads), "--no-nanny", "--name", name, "--death-timeout", "60")
        self.workers[name] = self._start("dask_worker", *words, **how)

    def kill(self, name: str) -> None:
        process = self.workers.pop(name)
        process.kill()
        process.wait()

    def clear(self) -> None:
        for name in [*self.workers]:
            self.kill(name)

    def close(self) -> None:
        self.clear()
        self.scheduler.kill()
        self.scheduler.wait()


@pytest.fixture(scope="module")
def one_scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    made = Machines(tmp_path_factory.mktemp("machines"))
    yield made
    made.close()


@pytest.fixture
def machines(one_scheduler: Machines) -> Iterator[Machines]:
    """Without any workers."""
    yield one_scheduler
    one_scheduler.clear()


@pytest.fixture(scope="module")
def two() -> Iterator[Cluster]:
    with cluster("local:2") as workers:
        yield workers


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def names(workers: Cluster) -> list[str]:
    return sorted(each.name for each in workers.members.workers.values())


def squares(count: int, seconds: float, workers: Any, **how: Any) -> Iterator[tuple[int, int]]:
    return ordered_map(slow_square, ((n, seconds) for n in range(count)), executor=workers, **how)


def test_results_are_those_of_threads(two: Cluster, trained_run: Path, tmp_path: Path) -> None:
    """To the byte, from the command line; two workers do them, which are processes."""
    where = ["--cluster", two.client.scheduler.address]
    for number, (words, option, file) in enumerate(
        (
            (["eval", str(trained_run), "--games", "60"], "--csv", ""),
            (["match", "mcts:sims=50", "easy", "--games", "20"], "--out", ""),
            (["tournament", "mcts:sims=50", "easy", "hard", "--games", "4"], "--out", ""),
            (["sweep", "match", "{easy,normal}", "easy", "--games", "4"], "--csv", ""),
            (
                [
                    "sweep",
                    "train",
                    "--net",
                    "5x4",
                    "--alpha",
                    "0.1,0.2",
                    "--games",
                    "25",
                    "--seeds",
                    "1",
                    "--evaluate-games",
                    "5",
                ],
                "--out",
                "results.jsonl",
            ),  # runs that workers write
            (["reproduce", "ewn-c", "--sims", "40", "--scale", "0.002"], "--out", "report.json"),
        )
    ):
        written = []
        for how in ([], where):
            path = tmp_path / f"{number}{len(how)}"
            assert run([*words, option, str(path), "--seed", "2", *how]) == 0
            written.append((path / file if file else path).read_bytes())
        assert written[0] == written[1], words
    pids = {pid for _, pid in squares(20, 0.05, two)}
    assert len(pids) == 2 and os.getpid() not in pids


def test_a_dask_client_is_an_executor(two: Cluster) -> None:
    from distributed import Client

    with Client(two.client.scheduler.address) as client:
        assert [square for square, _ in squares(6, 0, client)] == [0, 1, 4, 9, 16, 25]
    with pytest.raises(ConnectionError, match="scheduler is gone"):
        list(squares(1, 0, client))  # it was closed
    with pytest.raises(ValueError, match="or a Dask client"):
        list(squares(1, 0, "nonsense"))


def test_running_blocks_give_their_results_after_a_stop(two: Cluster) -> None:
    stop = tuplet.Stop()
    began = time.monotonic()
    threading.Timer(1, stop.set).start()
    found = [square for square, _ in squares(100, PATIENCE, two, stop=stop)]
    assert found in ([0], [0, 1]) and time.monotonic() - began < PATIENCE
    assert [square for square, _ in squares(4, 0, two)] == [0, 1, 4, 9]  # which nobody stopped


def test_closing_the_iterator_does_not_wait_for_blocks(two: Cluster) -> None:
    began = time.monotonic()
    blocks = ((n, PATIENCE if n else 0) for n in range(100))
    results = ordered_map(slow_square, blocks, executor=two)
    assert next(results)[0] == 0
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < PATIENCE
    until(lambda: not two._blocks)


def test_a_block_that_fails_says_where(two: Cluster) -> None:
    for kind, raised in ((tuplet.UserError, ValueError), (ImportError, ValueError), (OSError, OSError)):
        with pytest.raises(raised, match=r"no such thing \(on worker [01], .+\)"):
            list(ordered_map(failing, [(kind,)], executor=two))
    with pytest.raises(ZeroDivisionError) as caught:
        list(ordered_map(failing, [(ZeroDivisionError,)], executor=two))
    assert "on worker" in caught.value.__notes__[0] and "cluster_work.py" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="SystemExit: there is no such thing"):
        list(ordered_map(failing, [(SystemExit,)], executor=two))
    with pytest.raises(AttributeError, match="lambda"):
        list(ordered_map(unsendable, [()], executor=two))


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.long)])
def test_blocks_cost_little_and_leave_nothing_behind(two: Cluster, count: int) -> None:
    import psutil

    pids = {pid for _, pid in squares(200, 0, two)}
    everybody = [psutil.Process(pid) for pid in (os.getpid(), *pids)]
    before = [each.memory_info().rss for each in everybody]
    began = time.process_time()
    found = [square for square, _ in squares(count, 0, two)]
    took = time.process_time() - began  # of this process, which is the scheduler's as well
    assert found == [n * n for n in range(count)]
    assert took / count < 0.005 * (1 if count == 10_000 else 3)  # a crowded machine is slower
    grown = [each.memory_info().rss - old for each, old in zip(everybody, before, strict=True)]
    assert max(grown) < 30 << 20, grown
    until(lambda: not two._blocks and not two.client.futures)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.long)])
def test_workers_that_are_killed_lose_no_block(machines: Machines, kills: int) -> None:
    source, count = random.Random(kills), 40 * kills
    machines.add("a")
    machines.add("b")
    with cluster(str(machines.file)) as workers:
        until(lambda: len(workers.members.workers) == 2)
        results, found = squares(count, 0.03, workers), []
        for kill in range(kills):
            for _ in range(source.randint(1, 20)):
                found.append(next(results)[0])
            time.sleep(0.05 * source.random())
            machines.kill(source.choice([*machines.workers]))
            machines.add(f"next-{kill}")
        machines.clear()  # and now all of them at once
        machines.add("last")
        found += [square for square, _ in results]
        assert names(workers) == ["last"]
    assert found == [n * n for n in range(count)]


class Heard:
    """Stands in for a Dask client whose scheduler has heard of workers."""

    def __init__(self, *workers: str) -> None:
        self.seen, self.now, self.scheduler = dict.fromkeys(workers, 0.0), 0.0, self

    async def identity(self, n_workers: int) -> dict[str, Any]:
        about = {"local_directory": "/tmp", "nthreads": 1}
        return {"workers": {each: {**about, "last_seen": t, "name": each} for each, t in self.seen.items()}}

    async def run(self, function: Callable[..., Any], *words: Any, workers: list[str]) -> Any:
        return {each: function(*words) for each in workers}

    def clock(self) -> float:
        return self.now


def test_a_worker_is_silent_after_some_seconds_and_joins_again_when_it_answers() -> None:
    async def scene() -> list[tuple[float, list[str]]]:
        client, there = Heard("a", "b"), []
        them = cluster_members.ClusterMembers(client, client.clock)
        for look in range(80):
            client.now += 0.5 if look != 60 else 3600  # an hour in which we were asleep
            client.seen["b"] = client.now
            if look >= 50:  # until then `a` is frozen
                client.seen["a"] = client.now - (client.now if look == 60 else 0)
            await them.settle()
            there.append((client.now, sorted(them.workers)))
        return there

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        there = awaited(scene())
    alone = [now for now, who in there if who == ["b"]]
    assert alone[0] == cluster_members.SILENT + 0.5 and alone[-1] == 25.0  # it answers at 25.5
    assert {tuple(who) for now, who in there if now > 25.0} == {("a", "b")}
    assert [str(each.message) for each in told] == [
        "worker a (a) has not answered for 10 s: others do its work",
        "worker a (a) answers again",
    ]


def test_a_frozen_workers_block_runs_on_another_worker(two: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_members, "SILENT", 1.0)
    until(lambda: len(two.members.workers) == 2)
    pids = [*two.client.run(os.getpid).values()]
    results, stop = squares(40, 0.05, two), tuplet.Stop()
    found = [next(results) for _ in range(4)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            os.kill(pids[0], signal.SIGSTOP)
            found += list(results)
            os.kill(pids[1], signal.SIGSTOP)
            threading.Timer(0.2, stop.set).start()
            assert not list(squares(5, 0, two, stop=stop))  # and nobody is waited for
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            until(lambda: len(two.members.workers) == 2)
    assert [square for square, _ in found] == [n * n for n in range(40)]
    said = [str(each.message).split(") ")[1] for each in told]
    assert said.count("has not answered for 1 s: others do its work") >= 2
    assert said.count("answers again") >= 2
    assert [square for square, _ in squares(4, 0, two)] == [0, 1, 4, 9]


def test_a_missing_local_folder_is_not_blamed_on_workers(two: Cluster, tmp_path: Path) -> None:
    until(lambda: len(two.members.workers) == 2)
    with pytest.raises(FileNotFoundError), two.share(tmp_path / "nowhere"):
        pass
    assert len(two.members.workers) == 2 and not two.members.writes
    wrong = two.client.sync(two.members._check_folder, "a", "a", tmp_path / "nowhere")
    assert wrong.why.endswith("nowhere: No such file or directory")


def test_finished_blocks_survive_the_death_of_the_scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.system.cluster._CONNECT", 2.0)
    logged = logging.handlers.BufferingHandler(1000)
    monkeypatch.setattr(logging.getLogger("distributed.client"), "handlers", [logged])
    machines, saved = Machines(tmp_path), tmp_path / "match.jsonl"
    words = ["match", "mcts:sims=300", "mcts:sims=290", "--games", "40", "--out", str(saved)]

    def kill() -> None:
        until(lambda: saved.exists() and len(saved.read_bytes().splitlines()) > 5)
        machines.scheduler.kill()

    try:
        machines.add("a")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(kill)
            assert run([*words, "--cluster", str(machines.file)]) == 2
        assert "scheduler is gone" in capsys.readouterr().err
        assert not logged.buffer  # what Dask says of it is not shown
        games = saved.read_bytes().splitlines()
        assert 5 < len(games) < 41
        until(lambda: machines.workers["a"].poll() is not None)  # a worker without one leaves
    finally:
        machines.close()
    assert run([*words, "--threads", "2", "--json"]) == 0
    assert saved.read_bytes().splitlines()[: len(games)] == games
    whole = tuplet.match("mcts:sims=300", "mcts:sims=290", games=40, threads=2)
    assert json.loads(capsys.readouterr().out)["wins"] == whole.wins


def test_a_scheduler_without_tuplet_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tuplet").mkdir()
    (tmp_path / "tuplet" / "__init__.py").touch()
    machines = Machines(tmp_path, path=tmp_path)
    try:
        with pytest.raises(ValueError, match="the scheduler has no tuplet"):
            check_cluster(str(machines.file))
    finally:
        machines.close()


def test_a_late_worker_joins_and_a_worker_that_left_is_not_waited_for(machines: Machines) -> None:
    with cluster(str(machines.file)) as workers:
        stop = tuplet.Stop()
        threading.Timer(0.3, stop.set).start()
        assert not list(squares(5, 0, workers, stop=stop))  # nobody was there
        results = squares(10_000, 0.03, workers)
        machines.add("early")
        pids = {next(results)[1]}
        machines.add("late")
        until(lambda: pids.add(next(results)[1]) or len(pids) == 2)
        machines.clear()
        began = time.monotonic()
        results.close()  # type: ignore[attr-defined]
        assert time.monotonic() - began < PATIENCE


def test_another_version_is_refused_by_name(
    machines: Machines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other" / "tuplet"
    shutil.copytree(SOURCES / "tuplet", other, ignore=shutil.ignore_patterns("*.xz", "__pycache__"))
    version = other / "system" / "version.py"
    version.write_text(version.read_text().replace(tuplet.__version__, "0.0.1"))
    (tmp_path / "empty" / "tuplet").mkdir(parents=True)
    (tmp_path / "empty" / "tuplet" / "__init__.py").touch()
    check = ["cluster", "check", str(machines.file), "--runs", str(tmp_path)]
    assert run(check) == 1 and "0 workers of 0 can work" in capsys.readouterr().out
    machines.add("old", path=other.parent)
    machines.add("empty", path=tmp_path / "empty")
    with pytest.warns(UserWarning, match=r"worker old .* has tuplet 0.0.1, not"):
        until(lambda: str(check_cluster(str(machines.file), tmp_path).as_json()).count("has ") == 2)
    words = ["match", "easy", "normal", "--games", "2", "--cluster", str(machines.file)]
    assert run(words) == 2 and "no worker of the cluster can do this" in capsys.readouterr().err
    assert run(check) == 1 and "0 workers of 2 can work" in capsys.readouterr().out
    machines.add("new")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with connect(str(machines.file)) as workers:
            until(lambda: names(workers) == ["new"])
            assert {pid for _, pid in squares(10, 0, workers)} == {machines.workers["new"].pid}
    capsys.readouterr()
    assert run([*check, "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["workers"]}
    assert found["old"]["wrong"] == f"has tuplet 0.0.1, not {tuplet.__version__}"
    assert found["empty"]["wrong"] == f"has no tuplet {tuplet.__version__}"
    assert not found["new"]["wrong"] and found["new"]["sees_runs"] and found["new"]["memory"] > 0
    assert found["new"]["moves_per_s"] > 1000 and not found["old"]["moves_per_s"]
    assert run(check) == 0
    out = capsys.readouterr().out
    assert f"old ({found['old']['address']}) has tuplet 0.0.1" in out
    assert "1 worker of 3 can work" in out and max(map(len, out.splitlines())) <= 130


def program(path: Path) -> None:
    path.write_text("#!/bin/sh\nread line\n")
    path.chmod(0o755)


@pytest.fixture
def blind(machines: Machines, tmp_path: Path) -> Path:
    """A folder that worker `blind` does not see, and worker `sees` does."""
    folder = tmp_path / "hidden"
    folder.mkdir()
    hiding = ("unshare", "--map-root-user", "--mount", "sh", "-c", f'mount -t tmpfs none {folder} && exec "$@"', "sh")
    if subprocess.run([*hiding, "true"], capture_output=True).returncode:
        pytest.skip("this system has no namespaces for everybody to hide a folder in")
    machines.add("blind", before=hiding)
    machines.add("sees")
    return folder


def test_weights_that_a_worker_does_not_see_are_sent_once(machines: Machines, blind: Path) -> None:
    net, path = tuplet.Network("5x4"), str(blind / "net.safetensors")
    net.save(path)
    alone = tuplet.evaluate(path, games=30).results.scores.tolist()
    with cluster(str(machines.file)) as workers:
        until(lambda: names(workers) == ["blind", "sees"])
        known = {address: here.name for address, here in workers.members.workers.items()}
        for _ in range(2):
            found = tuplet.evaluate(path, games=30, executor=workers)
            assert found.results.scores.tolist() == alone
        assert [known[address] for _, address in workers.members.sent] == ["blind"]
        with pytest.warns(UserWarning, match="worker blind .* does not see"), workers.share(blind):
            assert names(workers) == ["sees"]
        until(lambda: names(workers) == ["blind", "sees"])
        net.update([2] * 16, 100)
        net.save(path)  # other weights under the same name
        alone = tuplet.evaluate(path, games=30).results.scores.tolist()
        found = tuplet.evaluate(path, games=30, executor=workers)
        assert found.results.scores.tolist() == alone
        assert [known[address] for _, address in workers.members.sent] == ["blind", "blind"]
        assert tuplet.evaluate(net, games=30, executor=workers).results.scores.tolist() == alone


def test_a_worker_that_dies_while_a_file_is_sent_to_it_stops_no_other(
    machines: Machines, blind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_members, "PIECE", 2000)
    file = blind / "file"
    file.write_bytes(random.Random(1).randbytes(10_000_000))
    with cluster(str(machines.file)) as workers, ThreadPoolExecutor(1) as pool:
        until(lambda: names(workers) == ["blind", "sees"])
        there = workers.client.scheduler_info(n_workers=-1)["workers"].values()
        (home,) = (Path(each["local_directory"]) for each in there if each["name"] == "blind")
        provided = pool.submit(workers.provide, file, file_digest(file))
        until(lambda: any((home / "tuplet").glob("*-*")))
        machines.kill("blind")
        provided.result(PATIENCE)
        assert names(workers) == ["sees"] and not workers.members.sent
        assert len(list(squares(10, 0, workers))) == 10


def test_threads_of_a_worker_share_the_tables_of_a_network(machines: Machines, tmp_path: Path) -> None:
    machines.add("a", threads=2)
    path = tuplet.Network("5x4").save(tmp_path / "net.safetensors")
    source = AgentSource(Spec(str(path), trusted=True), digest=file_digest(path))
    with cluster(str(machines.file)) as workers:
        until(lambda: workers.members.workers)
        assert workers.workers == 2
        found = list(ordered_map(network_of, ((source, n) for n in range(12)), executor=workers))
    threads, tables = zip(*found, strict=True)
    assert len(set(threads)) == 2 and len(set(tables)) == 1


def test_an_error_names_the_worker_and_what_it_lacks(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_mine.py").write_text(
        "class First:\n    def choose(self, board):\n        return board.legal_moves()[0]\n"
    )
    program(tmp_path / "agent")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    import of_mine  # type: ignore[import-not-found]

    machines.add("a")
    with cluster(str(machines.file)) as workers:
        until(lambda: workers.members.workers)
        for player in ("of_mine:First", "of_mine.py:First", of_mine.First, of_mine.First()):
            with pytest.raises(ValueError, match=r"of_mine.*\(on worker a, .+\)"):
                tuplet.evaluate(player, games=2, executor=workers)
        with pytest.raises(ValueError, match=r"\./agent does not exist \(on worker a, .+\)"):
            tuplet.match("exec:./agent", "easy", games=2, executor=workers)


def test_programs_that_a_worker_lacks_are_an_error_and_not_a_loss(machines: Machines, blind: Path) -> None:
    program(blind / "alice")
    machines.kill("sees")
    with cluster(str(machines.file)) as workers:
        until(lambda: names(workers) == ["blind"])
        with pytest.raises(ValueError, match=r"alice does not exist \(on worker blind, .+\)"):
            tuplet.tournament(["easy"], folder=blind, games=2, executor=workers)


def certified(folder: Path) -> Path:
    """A folder with a certificate, its key, and who has signed it."""
    folder.mkdir()
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj"
    for words in (
        f"req -x509 {key} /CN=authority -keyout ca-key.pem -out ca.pem -days 2",
        f"req {key} /CN=machine -keyout key.pem -out asked.pem",
        "x509 -req -in asked.pem -CA ca.pem -CAkey ca-key.pem -set_serial 1 -out cert.pem -days 2",
    ):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make certificates with")
def test_tls_is_used_when_requested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, others = certified(tmp_path / "ours"), certified(tmp_path / "others")
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    options = [word for option, file in files.items() for word in (option, str(ours / file))]
    machines = Machines(tmp_path, "--protocol", "tls", *options)
    try:
        machines.add("a")
        address = json.loads(machines.file.read_text())["address"]
        host, port = address.removeprefix("tls://").split(":")
        shown = ssl.get_server_certificate((host, int(port)))
        assert shown.split() == (ours / "cert.pem").read_text().split()
        words = ["eval", "random", "--games", "4", "--json", "--cluster", str(machines.file)]
        assert run([*words, "--tls", str(ours)]) == 0
        alone = tuplet.evaluate("random", games=4).as_json()["mean_score"]
        assert json.loads(capsys.readouterr().out)["mean_score"] == alone
        for wrong in ([], ["--tls", str(others)]):
            assert run([*words, *wrong]) == 2
            err = capsys.readouterr().err
            assert "there is no cluster at" in err and len(err.strip().splitlines()) == 1
    finally:
        machines.close()


def left_of(processes: list[Any]) -> list[Any]:
    import psutil

    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def test_ctrl_c_saves_says_where_and_leaves_no_worker(tmp_path: Path) -> None:
    import psutil

    saved = tmp_path / "games.jsonl"
    words = ["match", "mcts:sims=2000", "mcts:sims=1900", "--games", "4000", "--out", str(saved)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tuplet", *words, "--cluster", "local:2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: saved.exists() and len(saved.read_bytes().splitlines()) > 3)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len([each for each in children if "dask_worker" in " ".join(each.cmdline())]) == 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    games = len(saved.read_bytes().splitlines()) - 1
    assert f"Saved in {saved}; the same command resumes it." in err
    assert "Traceback" not in err and f"Stopped after {games - games % 2} of" in err, err
    assert str(games - games % 2) in out
    until(lambda: not left_of(children))


def test_a_script_without_a_guard_has_workers_that_only_this_machine_reaches(tmp_path: Path) -> None:
    """And that end with it, even if it is killed."""
    import psutil

    script = tmp_path / "script.py"
    script.write_text(
        "import sys, tuplet\nprint('once', flush=True)\n"
        "with tuplet.cluster('local:2') as workers:\n"
        "    found = tuplet.evaluate('random', games=20, executor=workers, progress=False)\n"
        "    print(found.summary.games, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline().strip() for _ in range(2)] == ["once", "20"]
        own = psutil.Process(process.pid)
        children = own.children(recursive=True)
        heard = [
            each.laddr.ip
            for one in (own, *children)
            for each in one.net_connections("inet")
            if each.status == psutil.CONN_LISTEN
        ]
        assert len(heard) >= 3 and set(heard) == {"127.0.0.1"}
        process.kill()
    until(lambda: not left_of(children))


def test_a_worker_of_this_machine_that_dies_is_started_again(two: Cluster) -> None:
    first = two.client.run(os.getpid)
    os.kill(next(iter(first.values())), signal.SIGKILL)
    assert len(list(squares(20, 0.02, two))) == 20
    until(lambda: len(two.members.workers) == 2 and not two.members.workers.keys() <= first.keys())


def test_dask_is_imported_only_where_it_is_needed() -> None:
    code = (
        "import sys, tuplet, tuplet.cli, tuplet.system.cluster\n"
        "assert not {'dask', 'distributed', 'tornado'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "local:0"], "1 to 256 workers"),
        (["--cluster", "local:many"], "1 to 256 workers"),
        (["--cluster", f"local:{'9' * 5000}"], "1 to 256 workers"),
        (["--cluster", "local:2", "--tls", "nowhere"], "takes no TLS"),
        (["--cluster", "tcp://127.0.0.1:1"], "no cluster at tcp://127.0.0.1:1"),
        (["--cluster", "carrier://pigeon:1"], "no cluster at carrier://pigeon:1"),
        (["--cluster", "nowhere.json"], "no cluster at nowhere.json"),
        (["--cluster", "README.md"], "not a scheduler file"),
        (["--cluster", ""], "no cluster at"),
        (["--tls", "nowhere"], "--tls is for a cluster"),
        (["--cluster", "tls://127.0.0.1:1", "--tls", "nowhere"], "ca.pem"),
    ],
)
def test_a_missing_cluster_is_a_one_line_error(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tuplet.system.cluster._CONNECT", 1.0)
    Path("README.md").write_text("{}")
    assert run(["eval", "random", "--games", "2", *words]) == 2
    err = capsys.readouterr().err
    assert said in err and len(err.strip().splitlines()) == 1
