"""A lock tells who holds it, and how the last one ended; it can be looked at without being disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tuplet import UserError
from tuplet.system.process_lock import interrupt, is_held, lock_state, process_lock

HOLD = """
import sys, time
from pathlib import Path
from tuplet.system.process_lock import process_lock
with process_lock(Path(sys.argv[1]), "busy"):
    print("held", flush=True)
    time.sleep(600)
"""


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds a lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_a_lock_names_its_process_until_it_ends_and_is_never_held_after(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    assert not lock_state(path).held
    process = hold(path)
    try:
        state = lock_state(path)
        assert state.held and state.pid == process.pid and not state.killed
        with pytest.raises(UserError, match="busy"), process_lock(path, "busy"):
            pass
    finally:
        process.kill()
        process.communicate()
    state = lock_state(path)
    assert not state.held and state.killed and state.pid == process.pid
    with process_lock(path, "busy"):
        assert lock_state(path).pid == os.getpid()
    assert lock_state(path)[:2] == (False, None)


def test_an_interrupt_reaches_only_the_process_that_took_the_lock(tmp_path: Path) -> None:
    """Not a later one that has its number."""
    path = tmp_path / ".lock"
    process = hold(path)
    try:
        state = lock_state(path)
        interrupt(state._replace(started="at another time"))
        for wrong, why in (
            (state._replace(host="elsewhere"), "another machine"),
            (state._replace(pid=None), "machine"),
        ):
            with pytest.raises(UserError, match=why):
                interrupt(wrong)
        with pytest.raises(UserError, match="itself"):
            interrupt(state._replace(pid=os.getpid()))
        assert process.poll() is None and is_held(path)
        interrupt(state)
        assert process.wait(60) == -signal.SIGINT or process.returncode == 1
    finally:
        process.kill()
        process.communicate()
    interrupt(state)  # nothing happens
    assert lock_state(path)[:2] == (False, None)  # a KeyboardInterrupt is no failure


def test_an_error_is_kept_in_one_line_and_any_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with suppress(ValueError), process_lock(path, "busy") as begin:
        begin()
        raise ValueError("the weights\ndiverged " + 9999 * "ü")
    with pytest.raises(ValueError, match="refused"), process_lock(path, "busy"):
        raise ValueError("refused before it began")
    assert lock_state(path).error.startswith("the weights diverged ü")
    for text in ("", "{", "[1]", json.dumps({"pid": "x", "error": 3}), json.dumps({"pid": -1}), 99 * "[", "\0"):
        path.write_text(text)
        assert lock_state(path).pid is None


def test_a_folder_that_was_deleted_meanwhile_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setattr("tuplet.system.process_lock.lock_file", lambda *_: folder.rename(tmp_path / "gone"))
    with pytest.raises(UserError, match="deleted"), process_lock(folder / ".lock", "busy"):
        pass
