"""A class's programs: whatever they do, the tournament ends with the right table and its page."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tuplet as package
from tuplet.agents.protocol.subprocess_agent import parse_memory, submissions
from tuplet.arena.match import TIMEOUTS_TO_DROP, TimeoutDropout
from tuplet.arena.match_file import SavedMatch, load
from tuplet.arena.results import GameResult, Tournament, slot_of
from tuplet.games.record import Record

GOOD = (Path(__file__).parents[2] / "examples" / "ewn_program.py").read_text()
GOOD = GOOD.replace("#!/usr/bin/env python3", f"#!{Path(sys.executable).resolve()} -IS")
CHOICE, SENDS = "return min(moves, key=left)", "    sys.stdout.write(move)\n"


def put(folder: Path, name: str, old: str = "", new: str = "") -> None:
    assert old in GOOD
    (folder / name).write_text(GOOD.replace(old, new))
    (folder / name).chmod(0o755)


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tournament, Path]:
    """Twelve programs, of which five misbehave, and everything that is written of them."""
    folder = tmp_path_factory.mktemp("class")
    programs = folder / "submissions"
    programs.mkdir()
    put(programs, "nearest.py")
    put(programs, "<script>alert(1)<&'\"", CHOICE, "return max(moves, key=left)")
    put(programs, "first", CHOICE, "return moves[0]")
    put(programs, "last", CHOICE, "return moves[-1]")
    put(programs, "=1+1", CHOICE, "return moves[len(moves) // 2]")
    for name, file in (("carol", "run"), ("dave", "main.py")):
        (programs / name).mkdir()
        put(programs / name, file, CHOICE, f"return sorted(moves)[{len(name) % 2} - 1]")
    put(programs, "crashes", SENDS, "    assert move == '', 'out of cheese'\n")
    put(programs, "talks", SENDS, "    sys.stdout.write('move ' + move)\n")
    put(programs, "hangs", SENDS, "    import time; time.sleep(60)\n")
    eats = "    import time; kept = bytearray(b'x') * 150_000_000; time.sleep(1)\n"
    put(programs, "eats", SENDS, eats + SENDS)
    (programs / "broken").write_bytes(b"\0\1 no program")
    (programs / "broken").chmod(0o755)
    (programs / "notes.txt").write_text("no program")
    (programs / "__pycache__").mkdir()
    result = package.tournament(
        folder=programs,
        games=2,
        threads=2,
        memory="100MB",
        out=folder / "games.jsonl",
        html=folder / "page.html",
        csv=folder / "table.csv",
        progress=False,
    )
    return result, folder


@pytest.mark.slow
def test_twelve_programs_of_which_five_misbehave_end_with_the_right_table(twelve) -> None:
    result, _ = twelve
    assert len(result.agents) == 12 and result.games == 132 and not result.interrupted
    bad = {"crashes": "crashed", "talks": "illegal", "hangs": "late", "eats": "memory", "broken": "crashed"}
    seats = {name: seat for seat, name in enumerate(result.agents)}
    totals = {each.number: each.total for each in result.standings}
    for name, seat in seats.items():
        forfeits = {kind: count for kind, count in result.forfeits_of(seat).items() if count}
        if name not in bad:
            assert not forfeits, name
            continue
        assert list(forfeits) == [bad[name]]
        assert forfeits[bad[name]] == totals[seat][2]  # it loses no game otherwise
        for other, place in seats.items():
            if other not in bad:
                assert result.score(seat, place) == (0, 0, 2), (name, other)
    assert {result.agents[seat] for seat in result.ranking[7:]} == set(bad)
    assert [name for name, _ in result.skipped] == ["notes.txt"]
    notes = " ".join(result.text_tables()[0].notes)
    assert "hangs forfeited 22 games (late)" in notes and "not played" in notes
    assert "notes.txt does not play" in notes and "out of cheese" in notes


def test_a_program_that_never_answers_is_asked_four_times(twelve) -> None:
    _, folder = twelve
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()[1:]]
    late = [line for line in lines if line["kind"] == "late"]
    planned = [line for line in late if "transcript" in line]
    assert len(planned) == TIMEOUTS_TO_DROP
    assert all("was disqualified" in line["reason"] for line in late[TIMEOUTS_TO_DROP:])
    for line in lines:
        assert Record.parse(json.dumps(line)).over
        assert ("transcript" in line) <= (line["kind"] in ("late", "illegal", "crashed", "memory"))


def test_dropouts_are_decided_by_games_in_schedule_order() -> None:
    dropout = TimeoutDropout([1, 2])

    def lose(number: int, place: int, kind: str, plies: int) -> None:
        at = slot_of(number, 3)
        first = float(place == 1)
        dropout.add(at, GameResult(1 - first if at.game else first, first, kind, plies, ""))

    for number in (0, 1, 6, 7):  # 0 against 1, who is second, first, second, first
        lose(number, 1 - slot_of(number, 3).game, "late", 1 - slot_of(number, 3).game)
    assert dropout.dropped == {1}
    lose(2, 1, "late", 3)  # 2 has moved before: it may be late as often as it likes
    for number in (3, 8, 9, 14):
        lose(number, 1 - slot_of(number, 3).game, "late", 1)
    assert dropout.dropped == {1}


class Reader(HTMLParser):
    """What a page asks for, and what it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.requested: list[str] = []
        self.tags: list[str] = []
        self.policy = self.data = ""
        self._in = ""

    def handle_starttag(self, tag: str, attrs) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        self.requested += [told[name] for name in ("src", "href", "action", "data", "style") if name in told]
        assert not any(name.startswith("on") for name in told)
        self._in = told.get("id", "") if tag == "script" else ""
        if told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"]

    def handle_data(self, data: str) -> None:
        if self._in == "data":
            self.data += data


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text())
    return reader


def test_the_page_loads_nothing_and_runs_only_its_own_script(twelve) -> None:
    result, folder = twelve
    reader = read(folder / "page.html")
    assert set(reader.requested) == {"#replay"}
    assert reader.policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in reader.policy
    assert reader.tags.count("script") == 2 and not {"link", "img", "iframe"} & set(reader.tags)
    text = (folder / "page.html").read_text()
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;&amp;" in text
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    for name in ("crashes", "talks", "hangs", "eats", "broken"):
        assert f"<details><summary><b>{name}</b>" in text
    assert "AssertionError: out of cheese" in text and "&gt; " in text and "&lt; move" in text
    assert "18 of them were not played" in text
    assert "no sandbox" in text and "notes.txt" in text
    assert len(result.agents) == text.count('<th class="name" title=')


def decode(game: list) -> list[list[str]]:
    """The boards of a game, as the script of the page makes them."""
    boards = [list(game[6])]
    for step in game[7]:
        cells = list(boards[-1])
        for at, text in zip(step[2::2], step[3::2], strict=True):
            cells[at] = text
        boards.append(cells)
    return boards


def test_the_games_to_replay_are_those_that_were_played(twelve) -> None:
    result, folder = twelve
    data = json.loads(read(folder / "page.html").data)
    assert data["agents"] == result.agents and len(data["games"]) == 132
    for game, line in zip(data["games"], SavedMatch.open(folder / "games.jsonl").lines(), strict=True):
        record = Record.parse(json.dumps(line))
        assert tuple(result.agents[seat] for seat in game[1:3]) == record.names
        assert (game[4], game[5]) == (record.termination, record.reason)
        assert record.sides[game[3]] == record.winner
        assert [step[0] for step in game[7]] == record.moves
        positions = [position for position, _ in record.replay()]
        assert [step[1] for step in game[7]] == [str(position.die) for position in positions]
        boards = [[cell for row in position.cells for cell in row] for position in (*positions, record.position)]
        assert decode(game) == boards
        assert {text for board in boards for text in board if text} <= set(data["pieces"])


def test_tables_are_for_spreadsheets(twelve) -> None:
    result, folder = twelve
    with (folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"].removeprefix("'") for row in rows] == [result.agents[seat] for seat in result.ranking]
    assert "'=1+1" in {row["agent"] for row in rows}  # no formula
    assert [int(row["wins"]) for row in rows] == [each.total[0] for each in result.standings]
    hangs = next(row for row in rows if row["agent"] == "hangs")
    assert hangs["late"] == "22" and hangs["first"] == "0.0" and hangs["hangs"] == ""
    with (folder / "table-games.csv").open(newline="") as file:
        games = list(csv.DictReader(file))
    assert len(games) == 132 and sum(game["ended_by"] == "memory" for game in games) > 10


def test_a_saved_file_gives_the_same_page_and_can_be_continued(twelve, tuplet, tmp_path: Path) -> None:
    _, folder = twelve
    shown = tuplet("show", folder / "games.jsonl", "--html", tmp_path / "a.html", "--csv", tmp_path / "a.csv")
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "a.csv").read_bytes() == (folder / "table.csv").read_bytes()
    assert read(tmp_path / "a.html").data == read(folder / "page.html").data
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("first", "last"):
        shutil.copy(folder / "submissions" / name, programs / name)
    words = ["tournament", "easy", "--folder", programs, "--games", 2, "--out", tmp_path / "g"]
    done = tuplet(*words)
    assert done.returncode == 0 and "first" in done.stdout, done.stderr
    whole = (tmp_path / "g").read_bytes()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "g").write_bytes(b"".join(lines[:4]))
    assert tuplet(*words).stdout == done.stdout and (tmp_path / "g").read_bytes() == whole
    (programs / "last").write_text((programs / "last").read_text() + "# another\n")
    changed = tuplet(*words)
    assert changed.returncode == 2 and "its programs changed (last)" in changed.stderr
    assert isinstance(load(tmp_path / "g"), Tournament)


def test_folders_have_a_rule_and_what_is_skipped_is_said(tmp_path: Path) -> None:
    for name in (
        "a",
        "b/agent",
        "c/only",
        "d/main.py",
        "e/x.py",
        "f/one",
        "f/two",
        "g/readme",
        "_h",
        "i.py",
        "i",
        "j.sh",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o644 if path.suffix == ".py" or path.name == "readme" else 0o755)
    found, skipped = submissions(tmp_path)
    names = {each.name: each.command[-1] for each in found}
    assert list(names) == ["a", "b", "c", "d", "e", "i", "j"]
    assert names["b"].endswith("b/agent") and names["d"].endswith("d/main.py")
    assert next(each for each in found if each.name == "d").folder == tmp_path / "d"
    told = dict(skipped)
    assert "which one? one, two" in told["f"] and "nothing in it" in told["g"]
    assert "another program of that name" in told["i.py"]


def test_wrong_words_are_refused_in_one_line(tuplet, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, complaint in (
        (["--folder", tmp_path / "nothing"], "not a folder"),
        (["--folder", tmp_path / "empty"], "no program in"),
        (["easy", "hard", "--time", 1], "which folder?"),
        (["easy", "hard", "--html", tmp_path / "page.pdf"], "ends in .html"),
        (["easy", "hard", "--csv", tmp_path / "no" / "a.csv"], "no folder"),
    ):
        done = tuplet("tournament", *words)
        assert done.returncode == 2 and complaint in done.stderr, done.stderr
    assert parse_memory("1.5GiB") == 3 * 2**29 and parse_memory("512MB") == 512_000_000
    assert not os.listdir(tmp_path / "empty")  # noqa: PTH208


def test_any_match_has_a_page(tuplet, tmp_path: Path) -> None:
    package.match("easy", "easy", "ewn", games=4, out=tmp_path / "g", progress=False)
    done = tuplet("show", tmp_path / "g", "--html", tmp_path / "p.html")
    assert done.returncode == 0, done.stderr
    data = json.loads(read(tmp_path / "p.html").data)
    assert [game[1:3] for game in data["games"]] == [[0, 1], [1, 0]] * 2
    assert data["rows"] == data["columns"] == 5
