"""Each library is an extra: nothing imports one unasked, and what is missing is said in a line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tuplet.adapters import missing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIBRARIES = {"gym": "gymnasium", "pettingzoo": "pettingzoo", "openspiel": "pyspiel", "tensorboard": "tensorboardX"}
OTHERS = {"open_spiel", "optuna", "IPython", "nbclient", "matplotlib", "distributed", "torch"}
BLOCKED = """
import sys
class Nothing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_importing_tuplet_imports_none_of_them() -> None:
    """All public names, the page, a training, a match: nothing of other libraries is looked for."""
    done = run(
        "import sys, tuplet\n"
        "for name in tuplet.__all__: getattr(tuplet, name)\n"
        "import tuplet.adapters, tuplet.cli, tuplet.web.app\n"
        "tuplet.train('01', games=20, progress=False)\n"
        "tuplet.match('easy', 'easy', 'ewn', games=2, progress=False)\n"
        f"print(sorted(set(sys.modules) & {OTHERS | {*LIBRARIES.values()}!r}))"
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        *((extra, f"import tuplet.adapters.{extra}") for extra in LIBRARIES),
        ("openspiel", "import tuplet.adapters.openspiel_bots"),
        ("tensorboard", "from tuplet.cli import run\n    run('train --tensorboard'.split())"),
        ("openspiel", "from tuplet.cli import run\n    run('match easy openspiel'.split())"),
    ],
)
def test_a_missing_one_is_answered_in_a_line(extra: str, code: str) -> None:
    """From Python an error, on the command line just the line."""
    library = LIBRARIES[extra]
    caught = f"try:\n    {code}\nexcept ImportError as error: print(error)"
    done = run(BLOCKED.format(name=library) + caught)
    told = (done.stdout + done.stderr).strip().removeprefix("tuplet: ")
    assert told == f"this needs {library}: install it with  pip install 'tuplet[{extra}]'"


def test_a_library_that_lacks_something_itself_says_so() -> None:
    error = ModuleNotFoundError("No module named 'other'", name="other")
    assert missing(error, "gymnasium", "gym") is error
    inside = ModuleNotFoundError("No module named 'gymnasium.new'", name="gymnasium.new")
    assert "pip install 'tuplet[gym]'" in str(missing(inside, "gymnasium", "gym"))  # too old a one


def test_every_extra_is_declared_and_tested() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras, groups = content["project"]["optional-dependencies"], content["dependency-groups"]
    wanted, waiting = set(), ["test-all"]
    while waiting:
        for each in groups[waiting.pop()]:
            if isinstance(each, dict):
                waiting.append(each["include-group"])
            elif found := re.match(r"tuplet\[([\w,]+)\]", each):
                wanted |= set(found[1].split(","))
    assert wanted == {*extras}
    for extra, library in LIBRARIES.items():
        named = "open_spiel" if library == "pyspiel" else library
        assert extras[extra][0].startswith(named)
