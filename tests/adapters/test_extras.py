"""Each library is an extra: nothing imports one unasked, and what is missing is said in a line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tuplet.adapters import missing

ROOT = Path(__file__).parents[2]
LIBRARIES = {"gym": "gymnasium", "pettingzoo": "pettingzoo"}


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def test_importing_tuplet_imports_none_of_them() -> None:
    done = run(
        "import sys, tuplet\n"
        "for name in tuplet.__all__: getattr(tuplet, name)\n"
        "import tuplet.adapters, tuplet.cli, tuplet.web.app\n"
        f"print(sorted(set(sys.modules) & {set(LIBRARIES.values())!r}))"
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(("extra", "library"), LIBRARIES.items())
def test_a_missing_library_is_answered_with_what_to_install(extra: str, library: str) -> None:
    done = run(f"import sys; sys.modules[{library!r}] = None\nimport tuplet.adapters.{extra}")
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and f"pip install 'tuplet[{extra}]'" in last and library in last
    assert "During handling" not in done.stderr and "direct cause" not in done.stderr


def test_a_library_that_lacks_something_itself_says_so() -> None:
    error = ModuleNotFoundError("No module named 'other'", name="other")
    assert missing(error, "gymnasium", "gym") is error
    inside = ModuleNotFoundError("No module named 'gymnasium.new'", name="gymnasium.new")
    assert "pip install 'tuplet[gym]'" in str(missing(inside, "gymnasium", "gym"))  # too old a one


def test_every_extra_is_declared_and_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted, waiting = set(), ["test"]
    while waiting:
        for each in extras[waiting.pop()]:
            if found := re.match(r"tuplet\[([\w,]+)\]", each):
                waiting += found[1].split(",")
                wanted |= set(found[1].split(","))
    for extra, library in LIBRARIES.items():
        assert extra in wanted and extras[extra][0].startswith(library)
