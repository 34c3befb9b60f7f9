"""Each room imports only from rooms above it, in functions too; the offender is named."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tuplet"


def lint(source: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the package in a folder."""
    code = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", code, "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    environment = {"PYTHONPATH": str(source), "PATH": "", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


def test_rooms_import_only_from_rooms_above() -> None:
    done = lint(ROOT / "src", ROOT)
    assert done.returncode == 0, done.stdout
    assert "2 kept, 0 broken" in done.stdout


def test_an_import_from_below_is_found_and_named_also_in_a_function(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "tuplet")
    offender = tmp_path / "tuplet" / "values" / "layout.py"
    offender.write_text(offender.read_text() + "\n\ndef upwards():\n    from tuplet.arena.match import match\n")
    done = lint(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "tuplet.values.layout -> tuplet.arena.match" in done.stdout


def test_a_circle_inside_a_room_is_found(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "tuplet")
    offender = tmp_path / "tuplet" / "arena" / "intervals.py"
    offender.write_text(offender.read_text() + "\nfrom tuplet.arena.results import Match\n")
    done = lint(tmp_path, tmp_path)
    assert done.returncode != 0 and "No cycles are allowed in tuplet.arena" in done.stdout


def test_every_room_is_in_the_picture_of_the_house() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rooms = layers["contracts"][0]["layers"]
    page = (ROOT / "docs" / "architecture.md").read_text()
    drawn = (ROOT / "docs" / "architecture.svg").read_text()
    for room in rooms:
        assert f"`{room}/`" in page and f">{room}<" in drawn, room
        assert (SOURCE / room / "__init__.py").is_file()


def called(path: Path) -> set[str]:
    """The names of everything that a module calls, raises or imports."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    raised = {f"raise {ast.unparse(n.exc)}" for n in nodes if isinstance(n, ast.Raise) and n.exc}
    return calls | raised


def test_nothing_but_the_command_line_prints_reads_keys_or_catches_signals() -> None:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(("cli/", "templates/")):  # those are users' files
            continue
        found = called(path)
        assert not {"input", "raise KeyboardInterrupt", "sys.stdin.read"} & found, path
        assert "print" not in found, path
        # Processes of our own leave Ctrl-C to whoever started them.
        assert "signal.signal" not in found or name == "system/blocks.py", path


def test_the_tests_mirror_the_rooms() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert rooms <= tested and tested - rooms <= {"data", "__pycache__"}
