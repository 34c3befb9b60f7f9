"""`tuplet check`: good programs pass; of others it says what is wrong, and why."""

from __future__ import annotations

import json
import random
import shlex
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import tuplet as package
from tuplet.agents.protocol import fallback_rules
from tuplet.system.stop import Stop, Stopped
from tuplet.testing import diagnoses, programs, referee
from tuplet.testing.programs import Check

GOOD = (Path(__file__).parents[2] / "examples" / "ewn_program.py").read_text()
LOOP = 'while True:\n    game()\n    if receive(1) != "y":\n        break\n'
SEND = "    sys.stdout.write(move)\n    sys.stdout.flush()\n"
CHILD = """import os, subprocess
subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
"""

# Each is the good program with something changed: old, new; what is said, and the likely cause.
# Most things are seen in the first trial, others in those named below.
ZOO = {
    "crashes at its third move": (
        SEND,
        "    sent.append(move)\n    assert len(sent) < 3, 'tired'\n" + SEND + "sent = []\n",
        "ended with code 1: AssertionError: tired",
        "last words",
    ),
    "sends an illegal direction": (
        'send(f"{cube}{direction}")',
        'send(f"{cube}{direction + 4}")',
        "not one of",
        "there is no direction",
    ),
    "prints debug text": (SEND, SEND.replace("(move)", '("thinking... " + move)'), "it sent 'thinking", "standard"),
    "prints lines": (SEND, "    print(move, flush=True)\n", "ends of lines", "as print()"),
    "greets": (LOOP, 'print("hello", flush=True)\n' + LOOP, "'hello", "standard"),
    "boasts after the game": (
        "    game()\n",
        "    game()\n    print('I won', flush=True)\n",
        "'I won' after the game was over",
        "something else than moves",
    ),
    "buffers its output": (
        SEND,
        "    sent.append(move)\nimport atexit\nsent = []\natexit.register(lambda: print(*sent, sep=''))\n",
        "no move within",
        "in a buffer",
    ),
    "reads lines": (
        "    text = sys.stdin.read(count)\n",
        "    sys.left = getattr(sys, 'left', '')\n    while len(sys.left) < count:\n"
        "        sys.left += input()\n"
        "    text, sys.left = sys.left[:count], sys.left[count:]\n",
        "no move within",
        "end of a line",
    ),
    "never ends on n": ('if receive(1) != "y":\n        break', "receive(1)", "does not end at the n", "character"),
    "spins at the end of its input": (
        "        sys.exit(0)\n",
        "        while True: pass\n",
        "does not end at the end of its input",
        "end of its input",
    ),
    "hangs": (
        "    return min(moves",
        "    import time\n    time.sleep(60)\n    return min(moves",
        "no move within",
        "for input that does not come",
    ),
    "thinks for ever": (
        "    return min(moves",
        "    while True: pass\n    return min(moves",
        "no move within",
        "thinks for too long",
    ),
    "leaves a child": (LOOP, CHILD + LOOP, "leaves 1 process behind", "starts other processes"),
    "eats memory": (
        SEND,
        "    global sent\n    sent += bytes(100_000_000)\n" + SEND + "sent = bytearray()\n",
        "250 MB are allowed",
        "grows",
    ),
    "floods": (SEND, "    while True: print(move * 1000)\n", "it sent", "sends a move twice"),
    "moves for both": (SEND, SEND + "    import time\n    time.sleep(0.02)\n" + SEND, "opponent's turn", "twice"),
    "exchanges the sides": ('own = 0 if role == "f"', 'own = 0 if role == "s"', "not one of", "sides are exchanged"),
    "mirrors": ("((red, blue), STARTS", "((blue, red), STARTS", "not one of", "so that only cube"),
    "plays one game": ('if receive(1) != "y":\n        break', "break", "it ended with code 0", "one game only"),
    "keeps the ply": ("    ply = 0\n", "    global ply\n", "", "game before"),
    "takes the lowest cube": (
        "([max(lower)] if lower else [])",
        "([min(lower)] if lower else [])",
        "not one of",
        "nearest cubes wrongly",
    ),
    "reads the die one off": ("die[ply % 21]", "die[(ply + 1) % 21]", "not one of", "the die one off"),
    "ends with a code": (LOOP, LOOP + "sys.exit(3)\n", "ends with code 3", "on the way out"),
}


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "agent.py") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


LATER = {
    "reads lines": "first",
    "never ends on n": "first",
    "spins at the end of its input": "cut",
    "plays one game": "many",
    "keeps the ply": "many",
    "takes the lowest cube": "many",
    "mirrors": "second",
    "exchanges the sides": "second",
}


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch):
    """Looks at a program in one trial or in all; impatiently, where it is known to hang."""
    whole = programs._plan

    def look(path: str, trial: str = "", hangs: float = 0, **more) -> Check:
        if hangs:
            for name, share in (("START_UP", 1.0), ("END", 1.5), ("LATER", 0.5)):
                monkeypatch.setattr(referee, name, hangs * share)
            more["time"] = hangs
        monkeypatch.setattr(programs, "_plan", lambda games: [t for t in whole(games) if trial in ("", t[0])])
        words = [sys.executable, "-S", path]
        return package.check(words, **{"time": 20, "games": 2, "progress": False, **more})

    return look


def test_a_good_program_passes_and_its_speed_is_reported(write, tuplet) -> None:
    path = write(GOOD)
    began = time.monotonic()
    done = tuplet("check", path, "--json")
    assert time.monotonic() - began < 20
    assert done.returncode == 0, done.stdout
    report = json.loads(done.stdout)
    assert report["ok"] and report["findings"] == [] and report["games"] == 12
    assert all(trial["ok"] for trial in report["trials"])
    met = report["situations"]
    for situation in (
        "the die's cube is gone, two may move",
        "it wins",
        "it loses",
        "the die's cube is gone, one may move",
        "a winning move at hand",
    ):
        assert met[situation] > 0, situation
    times = report["times_s"]
    assert 0 < times["fastest"] <= times["median"] <= times["slowest"] < 2 and times["first"] < 2
    assert report["memory_bytes"] > 1_000_000


@pytest.mark.parametrize("name", ZOO)
def test_a_problem_is_reported_with_its_cause_and_the_transcript(write, look, name: str) -> None:
    old, new, what, cause = ZOO[name]
    assert old in GOOD
    text = GOOD.replace(old, new)
    if name == "keeps the ply":
        text = text.replace("def game():", "ply = 0\n\n\ndef game():")
    more: dict[str, object] = {"memory": "250MB"} if "memory" in name else {}
    more["games"] = 8 if "cube" in name else 2
    hangs = 0.5 if "no move" in what or "not end" in what else 0
    found = look(write(text), LATER.get(name, "first"), hangs, **more)
    told = [(each.what, each.cause, each.transcript) for each, _ in found.findings]
    assert any(what in said and cause in why for said, why, _ in told), told
    assert found.ok == (name == "prints lines")
    if not found.ok:
        said = next(words for one, why, words in told if what in one and cause in why)
        assert name == "greets" or any(" > " in line for line in said)
    shown = "\n".join(note for sheet in found.text_tables() for note in (sheet.title, *sheet.notes))
    assert "likely cause" in shown and "what to do" in shown


def test_hopeless_programs_are_not_tried_for_ever(write, look) -> None:
    began = time.monotonic()
    path = write(GOOD.replace(SEND, "    import time\n    time.sleep(60)\n"))
    found = look(path, hangs=0.1)
    assert time.monotonic() - began < 40
    assert [trial.ok for trial in found.trials] == [False] * 3 + [None] * 3


def test_exit_codes_distinguish_wrong_programs_from_wrong_arguments(write, tuplet) -> None:
    path = write(GOOD.replace('f"{cube}{direction}"', 'f"{direction}{cube}"'))
    done = tuplet("check", f"{shlex.quote(sys.executable)} {path}", "--time", 0.5, "--games", 2)
    assert done.returncode == 1 and "likely cause" in done.stdout and " > " in done.stdout
    for words, complaint in (
        (["./nothing"], "does not exist"),
        ([""], "no program"),
        ([path, "--time", 0], "--time must be a time"),
        ([path, "--games", 1], "--games must be 2 to 10,000 (got 1)"),
        ([path, "--memory", "much"], "is not a size of at least 1 MB"),
    ):
        wrong = tuplet("check", *words)
        assert wrong.returncode == 2 and complaint in wrong.stderr, wrong.stderr
        assert wrong.stderr.count("\n") == 1
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        package.check(path, stop=stop)


@pytest.mark.long
@pytest.mark.parametrize("agent", ["hard", "best", "mcts:sims=500"])
def test_our_own_agents_pass(agent: str) -> None:
    words = [sys.executable, "-m", "tuplet", "agent", agent]
    found = package.check(words, games=2, progress=False)
    assert found.ok, found.findings


def test_advice_fits_the_move() -> None:
    position = fallback_rules.start("012345", "012345", "2" + 20 * "1")
    assert "only cube 2" in diagnoses.diagnose_move(position, "50", None).cause
    assert "one off" in diagnoses.diagnose_move(position, "10", None).cause
    assert "off the board" in diagnoses.diagnose_move(position, "23", None).cause
    assert "no cube 9" in diagnoses.diagnose_move(position, "90", None).cause
    assert diagnoses.diagnose_move(position, "mo", None) == diagnoses.CHATTER


class Prompt:
    """A program that answers at once; its clock stands still but for the referee's pauses."""

    now = 0.0
    runs, mark, group, spaces = True, "", 0, 0

    def __init__(self, *_: object) -> None:
        self.started, self.answers, self.asked = Prompt.now, 0, False

    def send(self, text: str) -> None:
        self.asked = True

    def listen(self, seconds: float) -> str:
        if not self.asked:
            Prompt.now += seconds
        return "a move" if self.asked else ""

    def receive(self, due: float, legal: list[str]) -> str:
        self.answers, self.asked = self.answers + 1, False
        return legal[0]

    def expect_silence(self) -> None:
        pass


def test_the_referees_pauses_do_not_count_as_the_programs_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        Prompt.now += seconds

    clock = SimpleNamespace(monotonic=lambda: Prompt.now, sleep=sleep)
    monkeypatch.setattr(referee, "time", clock)
    monkeypatch.setattr(referee, "Program", Prompt)
    monkeypatch.setattr(referee.watchdog, "memory_of", lambda groups: dict.fromkeys(groups, 0))
    seen = referee.Coverage()
    running = SimpleNamespace(command=[], folder=None, memory=None, limit=2.0)
    one = referee.Referee(running, seen, Stop())
    one.program.listen(0.1)
    setup = ("012345", "012345", "0" * 21)
    manner = referee.SendStyle(bytewise=True)
    one.play(setup, 0, referee.races, random.Random(0), manner, plies=4)
    assert Prompt.now > 0.5 and seen.first_times == [0.0] and seen.times == [0.0]
