from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tuplet import Network, train

# The first call of a kernel may compile it.
hypothesis.settings.register_profile("tuplet", deadline=None, derandomize=True)
hypothesis.settings.load_profile("tuplet")

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def tuplet() -> Command:
    """Runs the command line in a process of its own, as a user would."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **options.pop("env", {})}
        return subprocess.run(
            [sys.executable, "-m", "tuplet", *map(str, arguments)],
            capture_output=True, text=True, timeout=300, env=environment, **options,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small network's run of 3,000 games."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    train("5x4", games=3000, seed=1, out=folder, progress=False)
    return folder


@pytest.fixture(scope="session")
def trained(trained_run: Path) -> Network:
    return Network.load(trained_run)
