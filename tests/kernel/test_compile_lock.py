"""One process compiles a kernel, and others that need it wait for the code."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("fcntl")

from tuplet.kernel import compile_lock
from tuplet.kernel.compile_lock import acquire, release

pytestmark = pytest.mark.slow

WAITS = """
import sys
from pathlib import Path
from tuplet.kernel.compile_lock import acquire
print("here", flush=True)
acquire(Path(sys.argv[1]), sys.argv[2])
print("mine", flush=True)
sys.stdin.read()
"""
COMPILES = """
import os, sys, time
from numba.core import event
import tuplet

class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("tuplet."):
            print(function.__module__, function.__name__, event.data["args"])
    def on_end(self, event): pass

event.register("numba:compile", Listener())
open(sys.argv[1] + f".{os.getpid()}", "w").close()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.001)
print(tuplet.game("ewn").setup(red=(1, 2, 3, 4, 5, 6)).roll(2).legal_moves(), file=sys.stderr)
print(tuplet.Board([2, 2] + 14 * [0]).move("left"), file=sys.stderr)
"""
FAILS = """
import sys
from tuplet import Board
from tuplet.kernel import kernel
import broken
try:
    broken.broken(1)
except Exception as error:
    print(type(error).__name__, flush=True)
sys.stdin.read()
"""


def begun(code: str, *words: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, **environment},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("killed", [True, False])
def test_a_turn_is_waited_for_until_it_is_left_or_its_process_dies(killed: bool, tmp_path: Path) -> None:
    first, other = begun(WAITS, tmp_path, "a"), begun(WAITS, tmp_path, "b")
    for each in (first, other):
        assert each.stdout is not None
        assert each.stdout.readline() + each.stdout.readline() == "here\nmine\n"
    second = begun(WAITS, tmp_path, "a")
    try:
        assert second.stdout is not None and second.stdout.readline() == "here\n"
        assert not select.select([second.stdout], [], [], 0.3)[0]  # it waits
        first.kill() if killed else first.communicate()
        assert second.stdout.readline() == "mine\n"
    finally:
        for each in (first, second, other):
            each.kill()
            each.wait()
    acquire(tmp_path, "a")
    release(tmp_path, "a")


def test_a_process_that_was_stopped_in_its_turn_is_waited_for_once_and_not_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_lock, "LONGEST", 0.1)
    holder = begun(WAITS, tmp_path, "a")
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() + holder.stdout.readline() == "here\nmine\n"
        holder.send_signal(signal.SIGSTOP)
        with pytest.warns(UserWarning, match="this one compiles for itself"):
            acquire(tmp_path, "a")
        monkeypatch.setattr(compile_lock, "LONGEST", 1e9)
        acquire(tmp_path, "a")  # and it is waited for no more
        release(tmp_path, "a")
    finally:
        holder.kill()
        holder.wait()


def test_two_processes_compile_everything_once(tmp_path: Path) -> None:
    def told(folder: Path, count: int) -> list[str]:
        folder.mkdir()
        go, home = folder / "go", {"NUMBA_CACHE_DIR": str(folder / "cache")}
        processes = [begun(COMPILES, go, **home) for _ in range(count)]
        while len([*folder.glob("go.*")]) < count:
            time.sleep(0.01)
        go.touch()
        done = [each.communicate() for each in processes]
        assert len({err for _, err in done}) == 1 and "'2" in done[0][1]
        return sorted(line for out, _ in done for line in out.splitlines())

    alone = told(tmp_path / "alone", 1)
    assert len(alone) > 3 and told(tmp_path / "both", 2) == alone


def test_a_kernel_that_fails_to_compile_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "from tuplet.kernel import kernel\n\n\n@kernel\ndef broken(x):\n    return x.nothing\n"
    )
    os.utime(tmp_path / "broken.py", (1, 1))
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    first, second = (begun(FAILS, **where) for _ in range(2))
    try:
        for each in (first, second):
            assert each.stdout is not None and each.stdout.readline() == "TypingError\n"
    finally:
        for each in (first, second):
            each.kill()
            each.wait()
