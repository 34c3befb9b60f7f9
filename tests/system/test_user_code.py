"""Code of one's own is found without getting in the way of anything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tuplet.system.user_code import find

SHADOW = "raise SystemExit('this is not the library')\n"
PLAYER = """\
from helper import MOVES  # a file beside it

class Corner:
    def choose(self, board):
        return next(m for m in MOVES if m in board.legal_moves())
"""
USE = """\
import sys
from tuplet.system.user_code import find
for name in sys.argv[1:]:
    try:
        print(find(name, trusted=True).__name__)
    except ValueError as error:
        print(error)
import rich.table, statistics
print(rich.__file__ is not None and statistics.mean([1, 3]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A player, what it imports, and files that are called like libraries."""
    (tmp_path / "mine.py").write_text(PLAYER)
    (tmp_path / "helper.py").write_text('MOVES = ("left", "down", "right", "up")\n')
    (tmp_path / "test.py").write_text("class Mine: pass\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "inner.py").write_text("class Inner: pass\n")
    for name in ("rich.py", "statistics.py", "matplotlib.py", "json.py"):
        (tmp_path / name).write_text(SHADOW)
    return tmp_path


def test_libraries_are_found_whatever_files_are_in_the_folder(folder: Path) -> None:
    names = ["mine:Corner", "package.inner:Inner", "test:Mine", "rich:Text", "./matplotlib.py:X"]
    (folder / "use").mkdir()
    (folder / "use" / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, folder / "use" / "use.py", *names], cwd=folder, capture_output=True, text=True, check=False
    )
    *found, rich, other, end = done.stdout.splitlines() or [done.stderr] * 3
    assert (found, end) == (["Corner", "Inner", "Mine"], "2")
    assert "there is another module called rich: rename the file rich.py" in rich
    assert "there is another module called matplotlib" in other


def test_the_command_works_beside_files_that_are_called_like_libraries(folder: Path) -> None:
    words = [sys.executable, "-m", "tuplet", "eval", "mine:Corner", "--games", "2"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 games" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\ny = nothing\n", r"NameError: .* \(broken\.py, line 2\)"),
        ("import json\n\njson.loads('{')\n", r"JSONDecodeError: .* \(broken\.py, line 3\)"),
        ("x = 1\ndef f(:\n", r"SyntaxError: .* \(broken\.py, line 2\)"),
        ("import no_such_module\n", r"No module named 'no_such_module' \(broken\.py, line 1\)"),
    ],
)
def test_an_error_in_a_users_file_names_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(ValueError, match=rf"cannot import .*broken\.py: .*{complaint}$"):
        find(f"{tmp_path / 'broken.py'}:Mine", trusted=True)


def test_the_error_of_a_missing_module_has_no_line_number() -> None:
    with pytest.raises(ValueError, match=r"No module named 'no_such_module'$"):
        find("no_such_module:Mine", trusted=True)
