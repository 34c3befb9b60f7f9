"""The package as others get it: the wheel, the README's examples."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pages import arguments_of, blocks

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def clean_environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL", "NUMBA"))}
    return {**kept, **more}


@pytest.mark.long
def test_the_wheel_works_in_a_clean_environment_read_only(tmp_path: Path) -> None:
    """Built from a copy, installed outside the repository, not writable, without a home."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "src", "examples"):
        path = ROOT / name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, source / name)
    (source / "src" / "tuplet" / "players" / "strong.xz").write_bytes(b"of 36 MB, once")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True, env=clean_environment())
    wheel = next(tmp_path.glob("*.whl"))
    assert wheel.stat().st_size < 5_000_000
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, capture_output=True)
    package = next((tmp_path / "venv").rglob("site-packages")) / "tuplet"
    assert (package / "py.typed").exists()
    assert (package / "web" / "static" / "2048.html").exists()
    assert (package / "examples" / "homework.py").read_text() == (ROOT / "examples" / "homework.py").read_text()
    assert [path.name for path in package.glob("players/*.xz")] == ["small.xz"]
    for path in [package, *package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    files = {path: path.stat().st_mtime_ns for path in package.rglob("*") if path.is_file()}
    home = tmp_path / "home"
    home.write_text("a home that is no folder")
    command = tmp_path / "venv" / "bin" / "tuplet"
    environment = clean_environment(HOME=str(home))
    environment.pop("XDG_CACHE_HOME", None)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment)

    done = run("train", "--net", "0123 4567", "--games", "1000", "--out", "run", "--json")
    assert done.returncode == 0, done.stderr
    assert "pip install" in done.stderr  # pictures are an extra, and it says so
    done = run("eval", "run", "--games", "20", "--json")
    assert done.returncode == 0 and '"games": 20' in done.stdout
    done = run("play", "2048", "--watch", "--seed", "1")
    assert done.returncode == 0, done.stderr
    done = run("match", "easy", "normal", "--games", "2", "--json")
    assert done.returncode == 0 and '"games": 2' in done.stdout
    done = run("eval", "strong", "--games", "1")
    assert done.returncode == 2 and "tuplet train --recipe strong" in done.stderr
    # Root may write anywhere: nothing was written all the same.
    assert {p: p.stat().st_mtime_ns for p in package.rglob("*") if p.is_file()} == files


def test_the_citation_names_this_version() -> None:
    import tuplet

    assert f"\nversion: {tuplet.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_front_door_shows_public_names_only() -> None:
    import tuplet

    assert dir(tuplet) == sorted(tuplet.__all__)
    loaded = {name for name, value in vars(tuplet).items() if not inspect.ismodule(value)}
    assert {name for name in loaded if name[0] != "_"} <= set(tuplet.__all__)
    assert not hasattr(tuplet, "re") and not hasattr(tuplet, "Path")


LEARNING = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")


def test_the_readmes_python_runs_as_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pieces = blocks("python", README)
    assert len(pieces) >= 2
    names: dict[str, object] = {}
    for piece in pieces:
        # As written, but for the number of games: minutes become seconds.
        for long, short in (("games=20_000", "games=200"), ('"4x6"', '"5x4"'), ("=20)", "=2)")):
            piece = piece.replace(long, short)
        exec(piece, names)


def test_the_python_and_positions_of_the_docs_are_true() -> None:
    from tuplet import EwnPosition

    text = (ROOT / "docs" / "ewn.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    pieces = blocks("python", text)
    assert len(pieces) >= 2
    for piece in pieces:
        exec(piece, names)
    notation = next(line for line in text.splitlines() if line.startswith("ewn r1"))
    assert EwnPosition.parse(notation).notation == notation
    assert names["Diagonal"]().choose(EwnPosition.parse(notation)) == "22"


def test_the_python_of_the_page_on_exact_solutions_is_true(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
    result = doctest.DocTestRunner().run(
        doctest.DocTestParser().get_doctest("\n".join(blocks("python", text)), {}, "exact.md", None, 0)
    )
    assert result.attempted > 3 and result.failed == 0


def test_the_python_of_the_page_on_learning_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    piece, steps = blocks("python", LEARNING)
    for long, short in (("2_000", "150"), ("100@1000", "5@100"), ("games=100", "games=5")):
        assert long in piece
        piece = piece.replace(long, short)
    names: dict[str, object] = {}
    exec(piece, names)
    exec(steps, names)
    assert (tmp_path / "metrics.csv").exists() and (tmp_path / "games.csv").exists()


def test_the_readmes_commands_run_as_written(tuplet, tmp_path: Path) -> None:
    """Every `tuplet` line of README and docs/learning.md, with fewer games and simulations."""
    run_commands(blocks("sh", README) + blocks("sh", LEARNING), tuplet, tmp_path)


def test_the_commands_and_the_python_of_the_page_on_every_game_run(tuplet, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "games.md").read_text(encoding="utf-8")
    run_commands(blocks("sh", text), tuplet, tmp_path)
    (piece,) = blocks("python", text)
    exec(piece.replace("games=2000", "games=200"), {})


def run_commands(shown: list[str], tuplet, tmp_path: Path) -> None:
    lines = [x for block in shown for x in block.splitlines() if x.startswith("tuplet ")]
    assert len(lines) >= 8
    (tmp_path / "mine.py").write_text(next(b for b in blocks("python", README) if "def choose" in b))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in lines:
        words = arguments_of(line)
        if words[0] in ("bench", "serve") or (words[0] == "play" and "--watch" not in words):
            continue  # the first takes its time, the others a person
        words = [re.sub(r"sims=\d{4,}", "sims=300", word) for word in words]
        first = words[1] if len(words) > 1 else ""
        in_python = "--out" in words or first.startswith("mine:")
        searched = "mcts" in first or "--depth" in words
        slow = words[0] in ("match", "tournament", "sweep") or searched or in_python
        budget = "2s" if words[0] == "resume" else "1s"
        words += ["--sims", "60"] if first.startswith("ewn-t") else []
        for option, value in (("--games", "2" if slow else "300"), ("--budget", budget), ("--scale", "0.002")):
            if option in words:
                words[words.index(option) + 1] = value
        if words[0] == "train" and "--net" not in words:
            words += ["--net", "5x4" if first.startswith("--") else "2x2"]
        done = tuplet(*words, cwd=tmp_path, input="", process=words[0] == "agent")
        assert done.returncode == 0, (line, done.stderr)


@pytest.mark.parametrize(
    "module",
    [
        "tuplet",
        "tuplet.games.g2048.board",
        "tuplet.games.g2048.statistics",
        "tuplet.learn.settings",
        "tuplet.arena.statistics",
        "tuplet.games.ewn.game",
        "tuplet.games.record",
        "tuplet.games.g2048.game",
        "tuplet.exact.solution",
        "tuplet.learn.self_play",
        "tuplet.system.intervals",
        "tuplet.games.formats",
        "tuplet.system.progress",
        "tuplet.system.tables",
    ],
)
def test_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted > 0 and result.failed == 0


def test_public_names_exist_and_others_do_not() -> None:
    import tuplet

    for name in tuplet.__all__:
        assert getattr(tuplet, name) is not None
    assert set(tuplet.__all__) <= set(dir(tuplet))
    with pytest.raises(AttributeError, match="nothing_like_this"):
        tuplet.nothing_like_this  # noqa: B018
