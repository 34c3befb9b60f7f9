from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tuplet import Network, train

# The first call of a kernel may compile it.
hypothesis.settings.register_profile("tuplet", deadline=None, derandomize=True)
hypothesis.settings.load_profile("tuplet")

Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fixtures that many tests share are not made in the checkout either."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in an empty folder of its own, so that no file of the checkout matters."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def tuplet() -> Command:
    """Runs a command as a user would: here, which is quick, or in a process of its own.

    `process=True` for commands whose standard input or output must be real; an environment needs a
    process, too.
    """

    def run(*arguments: object, process: bool = False, **options: Any) -> Done:
        words = [*map(str, arguments)]
        if process or "env" in options:
            environment = {**os.environ, **options.pop("env", {})}
            return subprocess.run(
                [sys.executable, "-m", "tuplet", *words],
                capture_output=True,
                text=True,
                timeout=300,
                env=environment,
                **options,
            )
        return _run_here(words, **options)

    return run


def _run_here(words: list[str], cwd: Path | None = None, input: str = "") -> Done:
    """What `python -m tuplet` would do, printed to texts; what it leaves behind is cleaned up."""
    from tuplet.cli import run

    out, err, loaded, path = StringIO(), StringIO(), set(sys.modules), [*sys.path]
    before, stdin = Path.cwd(), sys.stdin
    sys.stdin = StringIO(input)
    try:
        os.chdir(cwd or before)
        with redirect_stdout(out), redirect_stderr(err):
            code = run(words)
    finally:
        os.chdir(before)
        sys.stdin, sys.path[:] = stdin, path
        for name in set(sys.modules) - loaded:  # somebody's own, of this folder alone
            where = getattr(sys.modules[name], "__file__", None)
            if where is None or not Path(where).is_absolute() or str(cwd) in where:
                del sys.modules[name]
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small network's run of 3,000 games."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    train("5x4", games=3000, seed=1, out=folder, progress=False)
    return folder


@pytest.fixture(scope="session")
def trained(trained_run: Path) -> Network:
    return Network.load(trained_run)
