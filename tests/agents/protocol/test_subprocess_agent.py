"""Programs as agents: whatever they do, the game goes on or is lost, and nothing is left behind."""

from __future__ import annotations

import os
import select
import shlex
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import lazy_loader
import numpy as np
import pytest

from tuplet.agents.agent import make_agent
from tuplet.agents.protocol.subprocess_agent import SubprocessAgent, program_command
from tuplet.arena.game import play_game
from tuplet.games.ewn import EwnGame, EwnPosition, Side
from tuplet.games.record import Forfeit, Record

START = EwnGame("ewn-6x7").setup(red="203541", blue="135204", die="145110431455221232514")

GOOD = """
import sys
sys.path[:0] = {source!r}
from tuplet.agents.protocol import fallback_rules

def take(count):
    text = ""
    while len(text) < count:
        character = sys.stdin.read(1)
        if not character:
            sys.exit(0)
        text += character.strip()
    return text

def game(answer):
    red, blue, die, side = take(6), take(6), take(21), "fs".index(take(1))
    position = fallback_rules.start(red, blue, die)
    while fallback_rules.winner(position) is None:
        if position.turn == side:
            move = fallback_rules.choose(position, 0)
            answer(move)
        else:
            move = take(2)
        position = fallback_rules.play(position, move)
    return take(1) == "y"
"""
USUAL = "sys.stdout.write(move); sys.stdout.flush()"
PYTHON = Path(sys.executable).resolve()  # not in .venv, whose folder may have a space in its name


@pytest.fixture
def program(tmp_path: Path):
    """Writes a program in Python, and makes an agent of it."""
    made: list[SubprocessAgent] = []

    def write(body: str, limit: float | None = None) -> SubprocessAgent:
        path = tmp_path / f"program{len(made)}.py"
        source = [str(Path(__file__).parents[3] / "src"), str(Path(lazy_loader.__file__).parents[1])]
        head = GOOD.format(source=source) if "game(" in body else "import os, signal, sys, time\n"
        path.write_text(f"#!{PYTHON} -S\n{head}{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        agent = SubprocessAgent(f"exec{f'[time={limit}]' if limit else ''}:{path}")
        made.append(agent)
        return agent

    yield write
    for agent in made:
        agent.close()


def good(answer: str = USUAL, head: str = "") -> str:
    return f"{head}\ndef answer(move):\n    {answer}\nwhile game(answer):\n    pass"


def play(agent: SubprocessAgent, side: Side, start: EwnPosition = START) -> EwnPosition:
    """A game against the first legal move; the last position."""
    agent.open(start, side, np.uint64(0))
    position = start
    while not position.over:
        own = position.turn == side
        position = position.play(agent.choose(position) if own else position.legal_moves()[0])
    agent.end(position)
    return position


def lost(agent: SubprocessAgent, side: Side = "red") -> Forfeit:
    with pytest.raises(Forfeit) as caught:
        play(agent, side)
    return caught.value


def pid_of(agent: SubprocessAgent) -> int:
    assert agent._program is not None
    return agent._program._process.pid


def gone(pid: int) -> bool:
    """Whether a process has ended, though nobody may have asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_program_plays_many_games_in_one_process(program) -> None:
    agent = program(good())
    pids = set()
    for game in range(6):
        assert play(agent, "red" if game % 2 else "blue").over
        pids.add(pid_of(agent))
    assert len(pids) == 1
    agent.close()
    assert gone(pids.pop())


def test_without_word_of_a_games_end_the_program_is_started_afresh(program) -> None:
    agent = program(good())
    agent.open(START, "red", np.uint64(0))
    agent.choose(START)
    first = pid_of(agent)
    assert play(agent, "red").over
    assert pid_of(agent) != first and gone(first)


ONCE = """
import os
whole, singles = take, []
def take(count):
    singles.extend([count] * (count == 1))
    if len(singles) == 2:  # the game is over
        os._exit(0)
    return whole(count)
"""


def test_a_program_may_end_after_its_game(program) -> None:
    agent = program(good(USUAL, ONCE))
    pids, winners = set(), set()
    for side in ("blue", "red", "blue", "red"):
        winners.add((side, play(agent, side).winner))
        pids.add(pid_of(agent))
        agent._program._process.wait(5)
    assert len(pids) == 4
    assert any(side == winner for side, winner in winners)  # it had the last word, and left


def test_space_between_characters_is_ignored(program) -> None:
    agent = program(good("print(move[0] + ' \\n', flush=True); print(' ' + move[1], flush=True)"))
    assert play(agent, "red").over


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        ("time.sleep(60)", "late", "time"),
        ("sys.stdin.read()", "late", "time"),
        ("while True: os.write(1, b' \\n' * 5000)", "late", "time"),
        ("os.write(1, b'1'); time.sleep(60)", "late", "time"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", "late", "time"),
        ("sys.exit('out of cheese')", "crashed", "code 1: out of cheese"),
        ("1 / 0", "crashed", "ZeroDivisionError"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "SIGSEGV"),
        ("os.close(1); time.sleep(60)", "crashed", "closed its output"),
        ("while True: os.write(1, b'move 10! ' * 10000)", "illegal", "'move 10!"),
        ("while True: os.write(1, b'10' * 10000)", "illegal", "1010"),
        ("print('99'); sys.stdout.flush(); time.sleep(60)", "illegal", "'99'"),
        ("print('10 good luck', flush=True); time.sleep(60)", "illegal", "good luck"),
        ("os.write(1, bytes(range(256))); time.sleep(60)", "illegal", "sent"),
    ],
)
def test_a_program_that_does_not_play_forfeits(program, body, kind, reason) -> None:
    agent = program(body, limit=0.3)
    agent.open(START, "red", np.uint64(0))
    assert agent._program is not None
    if kind == "late":
        agent._program.started -= 2  # without the allowance for starting
    else:
        select.select([agent._program._out], [], [], 60)  # however long it takes to start
    pid, began = pid_of(agent), time.monotonic()
    with pytest.raises(Forfeit) as caught:
        agent.choose(START)
    assert time.monotonic() - began < 50  # not the minute that it would take
    assert caught.value.kind == kind, caught.value.reason
    assert reason in caught.value.reason
    assert len(caught.value.reason) < 600 and "\n" not in caught.value.reason
    assert gone(pid)
    with pytest.raises(Forfeit):  # and stays lost
        agent.choose(START)


def test_megabytes_of_complaints_hold_nobody_up(program) -> None:
    agent = program(good(f"os.write(2, b'thinking... ' * 100000); {USUAL}", "import os"))
    assert play(agent, "blue").over
    assert len(agent._program._stderr) <= 4096


def test_a_program_that_dies_in_the_middle_is_started_afresh(program, tmp_path: Path) -> None:
    once = tmp_path / "once"
    head = f"import os\nfrom pathlib import Path\nonce = Path({str(once)!r})\ncount = []"
    agent = program(
        good(
            f"""count.append(1)
    if len(count) == 3 and not once.exists():
        once.touch()
        sys.exit("tired")
    {USUAL}""",
            head,
        )
    )
    forfeit = lost(agent)
    assert forfeit.kind == "crashed" and "tired" in forfeit.reason
    assert play(agent, "blue").over


def test_a_move_that_is_late_by_a_little_is_late(program) -> None:
    head = "import time\ncount = []"
    agent = program(good(f"count.append(1); time.sleep(0.45 * (len(count) == 2)); {USUAL}", head), limit=0.3)
    began = time.monotonic()
    assert lost(agent).kind == "late"
    assert time.monotonic() - began < 50
    in_time = program(good(f"time.sleep(0.03); {USUAL}", head), limit=30)
    assert play(in_time, "red").over


def test_talking_out_of_turn_is_illegal(program) -> None:
    agent = program(good(f"{USUAL}; time.sleep(0.05); {USUAL}", "import time"))
    agent.open(START, "red", np.uint64(0))
    position = START.play(agent.choose(START))
    select.select([agent._program._out], [], [], 60)
    with pytest.raises(Forfeit, match="without being asked") as caught:
        agent.choose(position.play(position.legal_moves()[0]))
    assert caught.value.kind == "illegal"


def test_children_of_a_program_end_with_it(program, tmp_path: Path) -> None:
    note = tmp_path / "child"
    head = f"""import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    time.sleep(60)
open({str(note)!r}, "w").write(str(child))"""
    agent = program(good(USUAL, head))
    assert play(agent, "red").over
    child = int(note.read_text())
    assert not gone(child)
    agent.close()
    deadline = time.monotonic() + 60
    while not gone(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert gone(child)


def test_a_forgotten_program_ends_with_its_agent(program) -> None:
    agent = SubprocessAgent(program(good()).name)
    play(agent, "red")
    pid = pid_of(agent)
    del agent
    assert gone(pid)


def test_a_program_that_never_reads_does_not_hold_us_up(program) -> None:
    agent = program("time.sleep(60)", limit=0.2)
    agent.open(START, "red", np.uint64(0))
    began = time.monotonic()
    for _ in range(100):  # more than a pipe holds
        agent._program.send("y" * 1000)
    agent._program.started -= 2
    assert lost_now(agent).kind == "late"
    assert time.monotonic() - began < 50


def lost_now(agent: SubprocessAgent) -> Forfeit:
    with pytest.raises(Forfeit) as caught:
        agent.choose(START)
    return caught.value


def test_a_program_of_this_folder_is_named_as_a_shell_would(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(f"#!{PYTHON}\n")
    (tmp_path / "mine.py").chmod(0o755)
    with pytest.raises(ValueError, match=r"write \./mine\.py"):
        make_agent("exec:mine.py")
    make_agent("exec:./mine.py")
    assert program_command("mine.py").command == ("./mine.py",)  # as people say it to `tuplet check`


def test_what_cannot_be_a_program_is_refused_at_once(tmp_path: Path) -> None:
    plain_file = tmp_path / "notes.txt"
    plain_file.write_text("no program")
    for spec, word in (
        ("exec:./nothing_here", "does not exist"),
        (f"exec:{plain_file}", "not executable"),
        ("exec:", "no program"),
        ("exec:'unfinished", "quotation"),
        ("exec[time=0]:python3", "more than 0"),
        ("exec[time=soon]:python3", "COMMAND"),
        ("exec[depth=1]:python3", "COMMAND"),
    ):
        with pytest.raises(ValueError, match=word) as caught:
            make_agent(spec)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="ewn-6x7 only"):
        make_agent("exec:python3", "ewn")
    unclear = tmp_path / "unclear"
    unclear.write_bytes(b"\x00\x01 neither machine code nor script")
    unclear.chmod(0o755)
    forfeit = lost(SubprocessAgent(f"exec:{unclear}"))
    assert forfeit.kind == "crashed" and "cannot be started" in forfeit.reason


def test_only_whole_games_can_be_played(program) -> None:
    agent = program(good())
    with pytest.raises(ValueError, match="open first"):
        agent.choose(START)
    with pytest.raises(ValueError, match="first position"):
        agent.open(START.play(START.legal_moves()[0]), "blue", np.uint64(0))
    agent.open(START, "blue", np.uint64(0))
    position = START
    for _ in range(3):
        position = position.play(position.legal_moves()[0])
    with pytest.raises(ValueError, match="does not follow"):
        agent.choose(position)


def test_our_own_agent_is_a_program_too() -> None:
    """`tuplet agent hard` behind pipes plays what `hard` plays here, game after game."""
    outside = make_agent(f"exec[time=60]:{shlex.quote(sys.executable)} -m tuplet agent hard --time 50")
    inside = make_agent("hard")
    assert isinstance(outside, SubprocessAgent)
    state, pids = np.uint64(5), set()
    for game in range(4):
        state, start = EwnGame("ewn-6x7").initial_position(state)
        side: Side = "red" if game % 2 else "blue"
        outside.open(start, side, np.uint64(0))
        position = start
        while not position.over:
            move = position.legal_moves()[-1]
            if position.turn == side:
                move = outside.choose(position)
                assert move == inside.choose(position)
            position = position.play(move)
        outside.end(position)
        pids.add(pid_of(outside))
    outside.close()
    assert len(pids) == 1 and gone(pids.pop())


def test_many_programs_run_side_by_side(program) -> None:
    agents = [program(good()) for _ in range(4)]
    play(agents[0], "red")  # the keeper of programs stays
    agents[0].close()
    ended = []
    threads = [threading.Thread(target=lambda a=agent: ended.append(play(a, "red").over)) for agent in agents]
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [True] * 4
    for agent in agents:
        agent.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def until(happened, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.01)
    return happened()


LEAVES = """import os, time
if os.fork() == 0:
    os.setsid()
    open({note!r}, "w").write(str(os.getpid()))
    time.sleep(100)
while not os.path.exists({note!r}) or not open({note!r}).read():
    time.sleep(0.001)"""


@pytest.mark.parametrize("hides", [False, True])
def test_a_child_that_holds_standard_error_costs_nothing(program, tmp_path, hides: bool) -> None:
    note = tmp_path / "child"
    head = LEAVES.format(note=str(note))
    if hides:  # out of the group, and without a mark
        head = head.replace("time.sleep(100)", "os.execve('/bin/sleep', ['sleep', '100'], {})")
    agent = program(good(USUAL, head))
    counts, children = [], []
    for _ in range(4):
        assert play(agent, "red").over
        agent.close()
        counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))  # noqa: PTH208
        children.append(int(note.read_text()))
        note.unlink()
    assert len(set(counts)) == 1
    for child in children:
        if hides:
            os.kill(child, signal.SIGKILL)
        assert until(lambda pid=child: gone(pid))


MATCH = """
import sys, time
import numpy as np
from pathlib import Path
from tuplet.agents.protocol.subprocess_agent import SubprocessAgent
from tuplet.agents.protocol.subprocess_agent import program_command
from tuplet.arena.game import play_game
from tuplet.games.ewn import EwnGame
start = EwnGame("ewn-6x7").setup(red="203541", blue="135204", die="145110431455221232514")
agent = SubprocessAgent("exec:" + sys.argv[1])
agent.open(start, "red", np.uint64(0))
agent.choose(start)
print(agent._program._process.pid, flush=True)
time.sleep(100)
"""


def test_programs_end_with_a_match_that_is_killed(program, tmp_path: Path) -> None:
    """kill -9: nothing of ours runs any more, and all that it started ends all the same."""
    note = tmp_path / "child"
    path = program(good(USUAL, LEAVES.format(note=str(note)))).name.removeprefix("exec:")
    match = subprocess.Popen([sys.executable, "-c", MATCH, path], stdout=subprocess.PIPE, text=True)
    assert match.stdout is not None
    pid = int(match.stdout.readline())
    child = int(note.read_text())
    assert not gone(pid) and not gone(child)
    match.kill()
    match.wait()
    match.stdout.close()
    assert until(lambda: gone(pid) and gone(child), 20)


def test_memory_is_that_of_all_processes_of_a_program(program) -> None:
    head = """import os, time
size = 0
def eat():
    if os.fork() == 0:
        kept = bytearray(70_000_000)
        time.sleep(100)
"""
    agent = program(good(f"eat(); time.sleep(0.3); {USUAL}", head))
    path = agent.name.removeprefix("exec:")
    limited = SubprocessAgent(f"exec[time=20,memory=200MB]:{path}")
    forfeit = lost(limited)
    assert forfeit.kind == "memory", forfeit.reason
    assert "200 MB are allowed" in forfeit.reason
    limited.close()
    with pytest.raises(ValueError, match="is not a size of at least 1 MB"):
        SubprocessAgent(f"exec[memory=lots]:{path}")


def test_a_forfeit_tells_what_both_sides_said(program) -> None:
    head = "import os\ncount = []\ncomplain = lambda: os.write(2, b'hmm\\n')"
    agent = program(good(f"count.append(1); complain(); move = [move, '99'][len(count) == 2]; {USUAL}", head))
    forfeit = lost(agent)
    said = [line.split(" ", 1)[1] for line in forfeit.transcript if not line.startswith("!")]
    assert said[0] == "> 203541135204145110431455221232514f"
    assert said[1].startswith("< ") and said[2].startswith("> ") and said[3] == "< 99"
    assert forfeit.transcript[-1] == "! hmm"
    record = play_game(agent, make_agent("easy"), START)
    assert record.termination == "illegal" and len(record.transcript) > 4
    again = Record.parse(record.line)
    assert again == record and again.transcript == record.transcript
