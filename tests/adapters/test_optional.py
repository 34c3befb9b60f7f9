"""Libraries of others are extras: without them tuplet works, and says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

EXTRAS = ("pyspiel", "open_spiel", "tensorboardX", "optuna", "IPython", "nbclient", "matplotlib")
BLOCKED = """
import sys
class Nothing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_importing_tuplet_imports_none_of_them() -> None:
    """All public names, a training, a match: nothing of other libraries is looked for."""
    run(
        "import sys, tuplet\n"
        "for name in tuplet.__all__: getattr(tuplet, name)\n"
        "tuplet.train('01', games=20, progress=False)\n"
        "tuplet.match('easy', 'easy', 'ewn', games=2, progress=False)\n"
        f"found = [name for name in {EXTRAS} if name in sys.modules]\n"
        "assert not found, found"
    )


@pytest.mark.parametrize(
    ("library", "code", "extra"),
    [
        ("tensorboardX", "import tuplet.adapters.tensorboard", "tensorboard"),
        (
            "tensorboardX",
            "from tuplet.cli import run; run('train --net 01 --games 9 --tensorboard'.split())",
            "tensorboard",
        ),
        ("pyspiel", "import tuplet.adapters.openspiel", "openspiel"),
        ("pyspiel", "import tuplet.adapters.openspiel_bots", "openspiel"),
        (
            "pyspiel",
            "from tuplet.cli import run; run('match openspiel:sims=9 easy --game ewn'.split())",
            "openspiel",
        ),
    ],
)
def test_a_missing_one_is_answered_in_a_line(library: str, code: str, extra: str) -> None:
    """From Python an error, on the command line just the line."""
    blocked = BLOCKED.format(names=(library,))
    told = run(f"{blocked}\ntry:\n    {code}\nexcept ImportError as error: print(error)")
    told = told.strip().removeprefix("tuplet: ")
    assert told == f"this needs {library}: install it with  pip install 'tuplet[{extra}]'"
