"""The installed completion, in bash."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

COMPLETE = """\
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_tuplet
printf '%s\\n' "${COMPREPLY[@]}"
complete -p tuplet
"""


@pytest.fixture(scope="module")
def script(tuplet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    done = tuplet("--install-completion", env={"HOME": str(home), "SHELL": "/bin/bash"})
    assert done.returncode == 0 and str(home) in done.stdout
    return home / ".local/share/bash-completion/completions/tuplet"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tr", ["train"]),
        ("sweep ev", ["eval"]),
        ("bench --target ", ["afterstate", "state"]),
        ("play 2048 --wa", ["--watch"]),
        ("list ", ["games", "agents", "runs"]),
    ],
)
def test_bash_completes_commands_options_and_choices(script: Path, line: str, expected: list[str]) -> None:
    words = ["tuplet", *line.split(" ")]
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", script, *words], capture_output=True, text=True, check=True)
    *found, definition = done.stdout.splitlines()
    assert found == expected
    assert "-o default" in definition  # files, where nothing else fits


def test_an_unknown_shell_is_one_line(tuplet, tmp_path: Path) -> None:
    done = tuplet("--install-completion", env={"HOME": str(tmp_path), "SHELL": "/bin/other"})
    assert done.returncode == 2 and "shell" in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
