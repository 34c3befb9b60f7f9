"""docs/clusters.md: its commands and scripts are run, as far as one machine can."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tuplet as package
from pages import DOCS, arguments_of, blocks

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
SOURCES = Path(package.__file__).parents[1]
PAGE = (DOCS / "clusters.md").read_text(encoding="utf-8")
PATIENCE = 100  # seconds
# What takes long, or is not here.
FEWER = (
    ("--games 100 ", "--games 2 "),
    ("--games 200 ", "--games 4 "),
    ("=5000", "=50"),
    ("games=100,", "games=2,"),
    ("--nworkers 8", "--nworkers 1"),
    ("rsa:3072", "rsa:2048"),
)


def shown(kind: str, holds: str) -> str:
    """The one block of a language that holds a text, made quick."""
    (found,) = (each for each in blocks(kind, PAGE) if holds in each)
    for much, little in FEWER:
        found = found.replace(much, little)
    return found


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificates that the page makes."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("clusters")
    for line in shown("sh", "openssl").splitlines():
        subprocess.run(shlex.split(line), cwd=folder, check=True, capture_output=True)
    return folder


@contextmanager
def running(*commands: list[str], home: Path, **environment: str) -> Iterator[None]:
    """Programs that run until they are not needed any more, with all that they started."""
    own = {**os.environ, "PYTHONPATH": str(SOURCES), **environment}
    with (home / "log").open("ab") as log:
        started = [
            subprocess.Popen(words, cwd=home, env=own, stdout=log, stderr=log, start_new_session=True)
            for words in commands
        ]
    try:
        yield
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_the_commands_for_a_laptop_run(tuplet, tmp_path: Path) -> None:
    for line in shown("sh", "local:2").splitlines():
        done = tuplet(*arguments_of(line), cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
    table = next(each for each in blocks("text", PAGE) if "works" in each).splitlines()
    printed = done.stdout.splitlines()
    assert [*map(str.split, printed[:2])] == [*map(str.split, table[:2])]  # title and header
    assert printed[4:] == table[4:]


def test_the_commands_for_two_machines_run(tuplet, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one; without ssh."""
    where = f"127.0.0.1:{free_port()}"

    def here(text: str) -> str:
        port = where.partition(":")[2]
        return text.replace("one:8786", where).replace("--port 8786", f"--port {port}")

    programs = []
    for line in here(shown("sh", "ssh one")).splitlines():
        _, machine, program, *words = shlex.split(line)
        assert machine in ("one", "two") and program == "dask"
        programs.append([sys.executable, "-m", "dask", *words])
    monkeypatch.chdir(home)
    with running(*programs, home=home):
        check = arguments_of(f"tuplet cluster check tls://{where} --tls tls --json")
        until(lambda: tuplet(*check).stdout.count('"wrong": ""') == 2)
        for line in here(shown("sh", "tuplet tournament")).splitlines():
            done = tuplet(*arguments_of(line), cwd=home)
            assert done.returncode == 0, (line, done.stderr)
        assert tuplet("cluster", "check", f"tcp://{where}").returncode == 2  # without a key


def test_the_script_for_slurm_makes_workers_that_are_found_by_a_file(tuplet, home: Path) -> None:
    """With an `sbatch` that runs the job at once, and here."""
    pytest.importorskip("dask_jobqueue")
    programs = home / "programs"
    programs.mkdir()
    for name, text in {"sbatch": 'sh "$1" & echo Submitted batch job 1', "scancel": ":"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    script = shown("python", "SLURMCluster").replace("processes=16", "processes=1")
    script = script.replace("scale(jobs=4)", "scale(jobs=1)").replace("cores=16", "cores=1")
    (home / "slurm_workers.py").write_text(script)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with running([sys.executable, "slurm_workers.py"], home=home, PATH=path):
        until((home / "scheduler.json").exists)
        check = shown("sh", "slurm_workers.py").splitlines()[1]
        until(lambda: tuplet(*arguments_of(check), "--json", cwd=home).returncode == 0)
        found = json.loads(tuplet(*arguments_of(check), "--json", cwd=home).stdout)
        assert [each["threads"] for each in found["workers"]] == [1]


def test_the_containers_are_given_options_that_exist() -> None:
    import yaml
    from distributed.cli import dask_scheduler, dask_worker

    parts = [*yaml.safe_load_all(shown("yaml", "kind: Deployment"))]
    assert [part["kind"] for part in parts] == ["Service", "Deployment", "Deployment"]
    for part, program in zip(parts[1:], (dask_scheduler.main, dask_worker.main), strict=True):
        pod = part["spec"]["template"]
        assert pod["metadata"]["labels"] == part["spec"]["selector"]["matchLabels"]
        (container,) = pod["spec"]["containers"]
        dask, _, *words = container["command"]
        known = {each for option in program.params for each in (*option.opts, *option.secondary_opts)}
        assert dask == "dask" and {word for word in words if word.startswith("--")} <= known
        assert container["volumeMounts"][0]["name"] == pod["spec"]["volumes"][0]["name"]
    assert parts[0]["spec"]["selector"] == parts[1]["spec"]["selector"]["matchLabels"]


def test_the_python_of_the_page_runs() -> None:
    names: dict[str, Any] = {}
    first, second = shown("python", "tuplet.cluster("), shown("python", "import Client\n\nwith")
    with package.cluster("local:2") as workers:
        address = workers.client.scheduler.address
        first = first.replace('"local:2"', repr(address)).replace("games=1000", "games=20")
        exec(first, names)
        assert names["result"].summary.games == 20
        exec(second.replace('"tcp://one:8786"', repr(address)), names)
        assert names["match"].games == 2
