"""The text protocol of NTU's tournament: our agents behind it, other programs through it, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tuplet
from tuplet import Forfeit, UserError
from tuplet.agents.placing import arrangement
from tuplet.agents.protocol.ntu import NtuAgent, read_get, write_get, write_move
from tuplet.agents.protocol.subprocess_agent import ProgramCommand
from tuplet.cli import run
from tuplet.values.players import PLAYERS

OURS = f"{sys.executable} -m tuplet agent easy --protocol ntu --seed 3"
SETUP = "E3 D4 E4 C5 D5 E5 A1 B1 C1 A2 B2 A3"

# A program as students write it: it answers each line, and plays the first step that stays on the board.
PROGRAM = """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    if word == "exit":
        break
    answer = {"name": "mine", "version": "1", "time_setting": "1", "board_setting": "1"}.get(word, "")
    if word == "ini":
        answer = "A1 B1 C1 A2 B2 A3" if rest[0] == "R" else "E3 D4 E4 C5 D5 E5"
    if word == "get":
        side, die, squares = rest[0], int(rest[1]), rest[2:]
        own = squares[6:] if side == "R" else squares[:6]
        left = [n for n in range(1, 7) if own[n - 1] != "0"]
        cube = die if die in left else max([n for n in left if n < die] or left[:1])
        column, row = "ABCDE".index(own[cube - 1][0]), int(own[cube - 1][1])
        step = 1 if side == "R" else -1
        column, row = (column + step, row) if 0 <= column + step < 5 else (column, row + step)
        answer = f"{own[cube - 1]} {'ABCDE'[column]}{row}"
    print(answer, flush=True)
"""


def program(folder: Path, text: str = PROGRAM, time: float = 5.0) -> str:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return f"exec[protocol=ntu,time={time:g}]:{sys.executable} {path}"


def answers(*lines: str, agent: str = OURS) -> tuple[list[str], str]:
    done = subprocess.run(agent.split(), input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1], done.stderr


def test_requests_and_moves_are_written_as_the_tournament_writes_them() -> None:
    start = tuplet.game("ewn").setup(blue="654321").roll(3)
    assert write_get(start) == f"get R 3 {SETUP}"
    assert [write_move(start, move) for move in start.legal_moves()] == ["C1 D1", "C1 C2", "C1 D2"]
    for seed in range(20):
        position = tuplet.game("ewn").start(seed).roll(1 + seed % 6)
        while not position.over:
            assert read_get(write_get(position)) == position
            position = position.play(position.legal_moves()[-1])
            position = position if position.over else position.roll(1 + seed % 6)


@pytest.mark.parametrize(
    "line",
    ["get", "get R 3", f"get X 3 {SETUP}", f"get R 7 {SETUP}", f"get R x {SETUP}", f"get R 3 {SETUP} A1"]
    + [f"get R 3 {SETUP.replace('A1', bad)}" for bad in ("F1", "A6", "B1", "E5", "a1", "00")],
)
def test_a_damaged_request_is_refused(line: str) -> None:
    with pytest.raises(UserError):
        read_get(line)


def test_our_agent_answers_every_request_and_survives_garbage() -> None:
    lines = ["name", "version", "time_setting 5", "board_setting 5 6", "ini R", "ini B", f"get R 3 {SETUP}", "garbage"]
    said, warned = answers(*lines, "get R", "time_setting x", "board_setting 9 9", f"get B 1 {SETUP}", "exit", "name")
    assert said[0] == "tuplet" and said[2:4] == ["1", "1"]
    assert sorted(said[4].split()) == sorted(["A1", "B1", "C1", "A2", "B2", "A3"])
    assert sorted(said[5].split()) == sorted(["E3", "D4", "E4", "C5", "D5", "E5"])
    assert said[6] in ("C1 D1", "C1 C2", "C1 D2")
    assert said[7:11] == ["", "", "", ""] and "'garbage' is not a request" in warned
    assert said[11] in ("E3 D3", "E3 E2", "E3 D2") and len(said) == 12  # nothing after exit


def test_our_agent_places_its_cubes_as_recommended() -> None:
    """From the first request on: squares of cubes 1 to 6, each game's by the seed."""
    game, said = tuplet.game("ewn"), answers("ini R", "ini B", "ini R", "ini R", "ini R")[0]
    for letter, answer in zip("RBRRR", said, strict=True):
        side = {"R": "red", "B": "blue"}[letter]
        squares = [("12345".index(square[1]), "ABCDE".index(square[0])) for square in answer.split()]
        own = game.red if side == "red" else game.blue
        cubes = "".join(str(1 + squares.index(square)) for square in own)
        best = {each["cubes"] for each in json.loads((PLAYERS / "ewn-placement.json").read_bytes())[side]}
        assert best & {cubes, "".join(str(7 - int(n)) for n in cubes)}
    assert len({*said}) > 2
    assert answers("ini R")[0] == said[:1]


def test_the_end_of_the_input_ends_our_agent() -> None:
    assert answers("name") == (["tuplet"], "")


def test_a_late_or_failing_agent_of_ours_still_moves_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n\n\nclass Slow:\n    def choose(self, position):\n        time.sleep(60)\n\n\n"
        "class Broken:\n    def choose(self, position):\n        return 1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    for name, reason in (("Slow", "no move in time"), ("Broken", "division by zero")):
        agent = f"{sys.executable} -m tuplet agent slow.py:{name} --protocol ntu --time 0.3"
        said, warned = answers(f"get R 3 {SETUP}", agent=agent)
        assert said == ["C1 D2"] and reason in warned


def test_our_agent_plays_against_our_referee_through_a_real_process() -> None:
    result = tuplet.match(f"exec[protocol=ntu,time=20]:{OURS}", "easy", "ewn", games=4, progress=False)
    assert {each.kind for each in result.results} <= {"corner", "elimination"}


def test_another_program_plays_whole_matches(tmp_path: Path) -> None:
    result = tuplet.match(program(tmp_path), "easy", "ewn", games=6, progress=False)
    assert {each.kind for each in result.results} <= {"corner", "elimination"}


def test_a_program_places_its_own_cubes_and_its_opponent_as_recommended(tmp_path: Path) -> None:
    """In both games of a pair; the games saved are those that were played."""
    text = PROGRAM.replace('"A1 B1 C1 A2 B2 A3"', '"B1 A1 C1 A2 B2 A3"')
    agent = program(tmp_path, text).replace("protocol=ntu", "protocol=ntu,places=yes")
    first, second = tuplet.match(agent, "easy", "ewn", games=2, progress=False, out=tmp_path / "m.jsonl").results
    records = [tuplet.Record.parse(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()[1:3]]
    assert {each.kind for each in (first, second)} <= {"corner", "elimination"}
    plan = json.loads((PLAYERS / "ewn-placement.json").read_bytes())
    for record, own, other in zip(records, ("red", "blue"), ("blue", "red"), strict=True):
        assert arrangement(record.start, own) == {"red": "213456", "blue": "654321"}[own]
        cubes = arrangement(record.start, other)
        assert {each["cubes"] for each in plan[other]} & {cubes, "".join(str(7 - int(n)) for n in cubes)}


def test_an_arrangement_of_an_agent_that_is_none_forfeits() -> None:
    class Places:
        def __init__(self, cubes: object) -> None:
            self.cubes = cubes

        def place(self, start, side):
            return self.cubes

        def choose(self, position):
            return position.legal_moves()[0]

    start = tuplet.game("ewn").start(1)
    for cubes in ("123", "112345", 123456, ["1"]):
        record = tuplet.play_game("easy", Places(cubes), start)
        assert (record.winner, record.termination) == ("red", "illegal") and "it placed its cubes as" in record.reason
    played = tuplet.play_game(Places("654321"), Places(""), start)
    assert arrangement(played.start, "red") == "654321" and played.winner
    assert tuplet.play_game(Places(""), Places(""), start).start == start


@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        (("print(answer", "print('A1 A1' if word == 'get' else answer"), "illegal", "it sent 'A1 A1', not one of"),
        (("print(answer", "print('' if word == 'get' else answer"), "illegal", "it sent ''"),
        (('answer = "A1 B1 C1 A2 B2 A3"', 'answer = "A1 A1 A1 A1 A1 A1"'), "illegal", "it placed its cubes on"),
        (
            ('if word == "get":', 'if word == "get":\n        print("x" * 9000, end="")'),
            "illegal",
            "no end of the line",
        ),
        (('if word == "get":', 'if word == "get":\n        sys.exit("out of ideas")'), "crashed", "out of ideas"),
        (('if word == "get":', 'if word == "get":\n        import time; time.sleep(60)'), "late", "no move in time"),
    ],
)
def test_what_breaks_the_protocol_forfeits(tmp_path: Path, change: tuple[str, str], kind: str, reason: str) -> None:
    agent = NtuAgent(program(tmp_path, PROGRAM.replace(*change), time=0.5 if kind == "late" else 10))
    start = tuplet.game("ewn").setup()
    try:
        agent.open(start, "red", 0)
        with pytest.raises(Forfeit) as raised:
            agent.choose(start.roll(1))
        assert raised.value.kind == kind and reason in raised.value.reason
        assert any("> ini R" in line for line in raised.value.transcript)
    finally:
        agent.close()


def test_each_protocol_has_its_game(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="protocol=ntu is for ewn only"):
        tuplet.make_agent(f"exec[protocol=ntu]:{sys.executable}", "ewn-6x7")
    for settings in ("protocol=gtp", "places=yes", "protocol=ntu,places=maybe"):
        with pytest.raises(UserError, match="protocols are course and ntu"):
            ProgramCommand.parse(f"exec[{settings}]:true")
    assert run(["agent", "easy", "--protocol", "ntu", "--game", "ewn-6x7"]) == 2
    assert "--protocol ntu is for ewn" in capsys.readouterr().err
