"""`tuplet new`: each template is right as it is written, and what it says to type next works."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tuplet as package
from tuplet.agents.registry import AGENTS
from tuplet.testing import check_agent
from tuplet.testing.scaffold import KINDS, taken_names
from tuplet.values.players import ABOUT

pytestmark = pytest.mark.slow

FEW = {"20": "2", "10": "1"}  # games


def settle(path: Path) -> Path:
    """Let a file look older than this process, so that what is compiled of it is kept."""
    os.utime(path, (1, 1))
    return path


def run_line(tuplet, line: str, folder: Path) -> None:
    """A command as it was printed, with fewer games."""
    words = shlex.split(line)[1:]
    if "--games" in words:
        at = words.index("--games") + 1
        words[at] = FEW.get(words[at], words[at])
    more = ["--watch", "--speed", "7"] if words[0] == "play" else []  # nobody sits there
    done = tuplet(*words, *more, cwd=folder, process=words[0] == "play", input="")
    assert done.returncode == 0, (line, done.stderr)


@pytest.mark.parametrize("kind", KINDS)
def test_the_suggested_commands_work(kind: str, tuplet, tmp_path: Path) -> None:
    name = f"my_{kind}"
    done = tuplet("new", kind, name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first.startswith(f"{name}.py: ") and len(lines) == 2
    settle(tmp_path / f"{name}.py")
    for line in lines:
        run_line(tuplet, line, tmp_path)
    text = (tmp_path / f"{name}.py").read_text(encoding="utf-8")
    assert "emplate" not in text and "TEMPLATE" not in text
    if kind == "program":  # it needs nothing, and answers at once
        imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.M))
        assert imported <= set(sys.stdlib_module_names)
        assert os.access(tmp_path / f"{name}.py", os.X_OK)


@pytest.mark.parametrize(("lang", "compiler"), [("c", "cc"), ("cpp", "c++")])
def test_a_program_in_c_compiles_without_warnings_and_follows_the_protocol(
    lang: str, compiler: str, tuplet, tmp_path: Path
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    done = tuplet("new", "program", "racer", "--lang", lang, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, compile_line, *lines = done.stdout.splitlines()
    assert first.startswith(f"racer.{lang}: ") and len(lines) == 2
    words = shlex.split(compile_line)
    assert words[0] == compiler
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    built = subprocess.run([*words, *warnings], cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    report = json.loads(tuplet("check", "./racer", "--json", cwd=tmp_path).stdout)
    assert report["ok"] and not report["findings"]
    for line in lines:
        run_line(tuplet, line, tmp_path)
    # The three programs have the same idea: none is stronger.
    package.new("program", "same", out=tmp_path)
    names = (f"exec:{tmp_path / 'racer'}", f"exec:{tmp_path / 'same.py'}")
    assert 6 <= package.match(*names, games=40, seed=1, progress=False).wins <= 34


def test_the_templates_are_right(tmp_path: Path) -> None:
    """By the checks that are there for everybody's; the file says so itself when it is run."""
    for kind in ("player", "agent", "game"):
        settle(package.new(kind, f"my_{kind}", out=tmp_path).path)
    check_agent(f"{tmp_path / 'my_player.py'}:MyPlayer", "2048", games=1)
    for game in ("ewn-6x7", "ewn"):
        check_agent(f"{tmp_path / 'my_agent.py'}:MyAgent,depth=1", game, games=1)
    for name, told in (("my_game", "MY_GAME"), ("my_player", "MyPlayer")):
        done = subprocess.run([sys.executable, f"{name}.py"], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout == f"{told} is right.\n", done.stderr
    for name in ("my_player", "my_agent"):
        sys.modules.pop(name)


def test_the_game_finds_a_line_in_every_direction_and_none_around_a_corner(tmp_path: Path) -> None:
    settle(package.new("game", "my_game", out=tmp_path).path)
    game = package.game(f"{tmp_path / 'my_game.py'}:MY_GAME")
    for board, won in (
        ("oooo./xxx../...../...../.....", "o"),
        ("o.x../o.x../o.x../o..../.....", "o"),
        ("...o./..o../.o.../o.xxx/.....", "o"),
        ("o..xx/.o.x./..o../...o./.....", "o"),
        ("..ooo/o.xxx/...../...../.....", None),
        ("xx.../ooo.x/..x../.x.oo/.....", None),
        ("ooxoo/xxoxx/ooxox/xxoxx/ooxoo", None),
    ):
        assert game.parse(board).winner == won, board
    assert game.parse("ooxoo/xxoxx/ooxox/xxoxx/ooxoo").termination == "full"
    found = package.analyze(game, "...../oxxx./.oo../...../.....", "alphabeta:depth=3")
    assert found.best == "e2"  # or x wins
    lost = package.analyze(game, "...../.xxx./.oo../...../.o...", "alphabeta:depth=3")
    assert all(move.proven and move.value == 0 for move in lost.moves)  # x has two ways to win
    sys.modules.pop("my_game")


def test_json_is_what_the_function_returns(tuplet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = package.new("player", "one", out="sub.py").as_json()
    (tmp_path / "sub.py").unlink()
    done = tuplet("new", "player", "one", "--out", "sub.py", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == found
    assert found["commands"][0] == "tuplet eval sub.py:One --games 20"
    assert package.new("game", "Two")._repr_html_().startswith("<p><b>Two.py: a game")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["player", "there"], "there.py exists: add --force"),
        (["player", "rich"], "would hide the module rich"),
        (["player", "json"], "would hide the module json"),
        (["agent", "easy"], "a name that tuplet uses"),
        (["player", "class"], "is not a name in Python"),
        (["player", "my-idea"], "is not a name in Python"),
        (["player", "../x"], "is not a name in Python"),
        (["player", "_"], "is not a name in Python"),
        (["game", "one"], "ONE means something else"),
        (["game", "rules"], "Rules means something else"),
        (["player", "x", "--out", "nowhere"], "no folder nowhere"),
        (["player", "x", "--out", "numpy.py"], "would hide the module numpy"),
        (["novel", "x"], "novel"),
        (["agent", "x", "--lang", "c"], "only a program may be written in c"),
        (["program", "x", "--lang", "rust"], "rust"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(
    words: list[str], complaint: str, tuplet, tmp_path: Path
) -> None:
    (tmp_path / "there.py").write_text("mine")
    done = tuplet("new", *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and complaint in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there.py"]
    assert (tmp_path / "there.py").read_text() == "mine"


def test_force_replaces_a_file(tuplet, tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("mine")
    assert tuplet("new", "player", "there", "--force", cwd=tmp_path).returncode == 0
    assert "class There" in (tmp_path / "there.py").read_text()


def test_names_that_tuplet_uses_are_refused() -> None:
    listed = {row["agent"] for game in ("2048", "ewn") for row in package.list_agents(game).rows}
    assert listed | {*(entry.name for entry in AGENTS), *ABOUT} <= taken_names()
