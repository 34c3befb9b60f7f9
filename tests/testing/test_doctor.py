"""`doctor`: what is installed, what is missing, and what to do about it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from tuplet import Diagnosis, doctor
from tuplet.testing.doctor import EXTRAS, Extra
from tuplet.values import players

ROOT = Path(__file__).parents[2]


def test_it_knows_every_extra_that_the_package_declares() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert [*EXTRAS] == [*extras]
    for name, (_, package, _) in EXTRAS.items():
        assert extras[name][0].startswith(package)


def test_it_reports_what_is_there() -> None:
    report = doctor().as_json()
    assert report["versions"]["numba"] == version("numba") and report["cores"] >= 1
    assert report["players"]["small"] == str(players.PLAYERS / "small.xz")
    (gym,) = (each for each in report["extras"] if each["extra"] == "gym")
    assert gym["version"] == version("gymnasium") and gym["install"] == "pip install 'tuplet[gym]'"


def test_an_unwritable_cache_and_a_missing_library_are_answered_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code = (
        "import sys, importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'matplotlib' else find(name)\n"
        "from tuplet.cli import run\n"
        "sys.exit(run(['doctor', *sys.argv[1:]]))"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "file"), "XDG_DATA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    def run(*arguments: str) -> str:
        words = [sys.executable, "-c", code, *arguments]
        return subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout

    assert "set NUMBA_CACHE_DIR" in run() and "pip install 'tuplet[pictures]'" in run()
    report = json.loads(run("--json"))
    assert report["cache"] == {"folder": str(tmp_path / "file" / "tuplet"), "bytes": 0, "writable": False}
    assert next(each for each in report["extras"] if each["extra"] == "pictures")["version"] is None


def test_a_missing_player_is_shown_with_what_installs_it() -> None:
    extra = Extra("gym", "gymnasium", "1.1", "environments", "pip install 'tuplet[gym]'")
    own = Diagnosis({"tuplet": "1"}, "Linux", 2, 10**9, Path("cache"), 0, True, {"strong": None}, [extra])
    assert "strong is not installed: `make strong` trains it" in str(own)
