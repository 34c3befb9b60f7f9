"""The architecture: a package imports only from the layers below it, without cycles, and only the command line
prints.
"""

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
    """Run import-linter on the package in a folder."""
    code = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", code, "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    environment = {"PYTHONPATH": str(source), "PATH": "", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


def test_a_package_imports_only_from_layers_below_it() -> None:
    done = lint(ROOT / "src", ROOT)
    assert done.returncode == 0, done.stdout
    assert "2 kept, 0 broken" in done.stdout


def test_an_import_from_a_higher_layer_is_reported_even_inside_a_function(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "tuplet")
    offender = tmp_path / "tuplet" / "values" / "layout.py"
    offender.write_text(offender.read_text() + "\n\ndef upward():\n    from tuplet.arena.match import match\n")
    done = lint(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "tuplet.values.layout -> tuplet.arena.match" in done.stdout


def test_an_import_cycle_inside_a_package_is_reported(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "tuplet")
    offender = tmp_path / "tuplet" / "arena" / "statistics.py"
    offender.write_text(offender.read_text() + "\nfrom tuplet.arena.results import Match\n")
    done = lint(tmp_path, tmp_path)
    assert done.returncode != 0 and "No cycles are allowed in tuplet.arena" in done.stdout


def test_every_layer_is_in_the_architecture_page_and_its_picture() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    names = layers["contracts"][0]["layers"]
    page = (ROOT / "docs" / "architecture.md").read_text()
    drawn = (ROOT / "docs" / "architecture.svg").read_text()
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages == {layer for layer in names if not (SOURCE / f"{layer}.py").is_file()}
    for layer in packages:
        assert f"`{layer}/`" in page and f">{layer}<" in drawn, layer


def called(path: Path) -> set[str]:
    """Everything that a module calls or raises, as source text."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    raised = {f"raise {ast.unparse(n.exc)}" for n in nodes if isinstance(n, ast.Raise) and n.exc}
    return calls | raised


def test_only_the_command_line_prints_reads_input_or_handles_signals() -> None:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(("cli/", "templates/")):  # those are users' files
            continue
        calls = called(path)
        assert not {"input", "raise KeyboardInterrupt", "sys.stdin.read"} & calls, path
        # The progress display writes to standard error.
        assert "print" not in calls or name == "system/progress.py", path
        # Worker processes ignore Ctrl-C: their parent handles it.
        assert "signal.signal" not in calls or name == "system/blocks.py", path


def test_the_tests_mirror_the_packages() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert packages <= tested and tested - packages <= {"data", "__pycache__"}
