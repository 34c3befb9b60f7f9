"""Nothing that a terminal would obey gets from somebody's file to the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tuplet as library
from tuplet.system.text import in_one_line, sanitize

EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\x7f\u2066"  # clipboard, clear, C1, direction
EPISODE = "01(1)11(1)#L[4](1)21"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with such names and reasons, and files that complaints are about."""
    folder = tmp_path_factory.mktemp("evil")
    library.match("easy", "random", "ewn", games=2, out=folder / "match", progress=False)
    header, *games = map(json.loads, (folder / "match").read_text().splitlines())
    header["agents"] = [f"a{EVIL}", f"b{EVIL}"]
    for game in games:
        game |= {"red": f"a{EVIL}", "blue": f"b{EVIL}"}
    short = {"moves": games[0]["moves"][:2], "rolls": games[0]["rolls"][:2]}
    games[0] |= short | {"kind": "crashed", "winner": "red", "reason": f"because{EVIL}\nand more"}

    def write(name: str, *lines: Any) -> None:
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")

    write("match", header, *games)
    write("tournament", header | {"kind": "tournament"}, *games)
    write("game", games[0])
    write("odd", header | {"game": f"ewn{EVIL}"}, *games)
    write("wrong", header, games[0] | {"start": f"ewn {EVIL}"})
    write("episodes", f"me{EVIL}:you{EVIL}@1|{EPISODE}|you{EVIL}@2")
    write("cut", f"me:you@1|{EPISODE}{EVIL}|you@2")
    (folder / "run").mkdir()
    (folder / "run" / "config.toml").write_text(f"'{EVIL}' = 1\n".replace("\x7f", ""))
    (folder / f"name{EVIL}").mkdir()
    return folder


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("show match", "a?]52;c;"),
        ("show match --json", ""),
        ("show match --number 1", "because?]52"),
        ("show match --number 1 --json", "because\\u001b"),
        ("show match --number 1 --ply 1", "r1"),
        ("show tournament", "because?]52"),
        ("show game --number 1", "(red) - b?]52"),
        ("show odd", "is not a game"),
        ("show wrong --number 1", "wrong: game 1"),
        ("review episodes --depth 1", "me?]52"),
        ("review episodes --depth 1 --json", "me\\u001b"),
        ("review cut", "no move can be read"),
        ("plot run", "run/config.toml"),
        ("plot NAME", "name?]52"),
        ("eval NAME", "name?]52"),
        ("show NAME", "name?]52"),
        ("convert NAME out.w", "name?]52"),
        ("show missing EVIL", "Unused Tokens"),
        ("match easy random EVIL", "Unused Tokens"),
    ],
)
def test_no_escape_sequence_is_printed(tuplet: Any, folder: Path, words: str, shown: str) -> None:
    named = [word.replace("NAME", f"name{EVIL}").replace("EVIL", EVIL) for word in words.split()]
    done = tuplet(*named, cwd=folder)
    printed = done.stdout + done.stderr
    assert shown in printed
    assert sanitize(printed) == printed
    if done.returncode:
        assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_complaints_are_one_line_that_is_not_endless() -> None:
    assert in_one_line("a\n  b\r\nc") == "a b c"
    assert len(in_one_line("x" * 10**6)) == 2000
