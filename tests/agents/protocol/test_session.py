"""`tuplet agent` as a referee meets it: always a legal move, always in time, always a clean end."""

from __future__ import annotations

import functools
import itertools
import json
import os
import random
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tuplet.agents.agent import RandomAgent
from tuplet.agents.protocol import fallback_rules, session
from tuplet.agents.protocol.session import converse
from tuplet.cli.compete import agent
from tuplet.games.ewn import SIDES, EwnGame, EwnPosition

GAMES = Path(__file__).parents[2] / "data" / "ewn"
SETUP = "203541135204145110431455221232514"
PATIENCE = 100  # seconds until a test gives up; no promise is measured by it


class Referee:
    """The other end of the pipes."""

    def __init__(self, *arguments: object, cwd: Path | None = None, **environment: str) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tuplet", "agent", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=cwd,
        )

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def receive(self, within: float = PATIENCE) -> str:
        """The next move; "" at the end of output."""
        assert self.process.stdout is not None
        text = b""
        until = time.monotonic() + within
        while len(text) < 2:
            left = until - time.monotonic()
            assert select.select([self.process.stdout], [], [], max(left, 0))[0], "late"
            data = os.read(self.process.stdout.fileno(), 2 - len(text))
            if not data:
                return text.decode()
            text += data
        return text.decode()

    def end(self) -> tuple[int, str, str]:
        """Close the pipes: exit code, output not yet read, standard error."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def referee() -> Iterator[type[Referee]]:
    made: list[Referee] = []

    class Kept(Referee):
        def __init__(self, *arguments: object, **options: object) -> None:
            made.append(self)
            super().__init__(*arguments, **options)  # type: ignore[arg-type]

    yield Kept
    for one in made:
        one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture(scope="module", autouse=True)
def _warm_cache() -> None:
    """Compile what the programs below load, in a process that is given the time."""
    one = Referee("hard", "--time", 100)
    position = fallback_rules.start(SETUP[:6], SETUP[6:12], SETUP[12:])
    one.send(SETUP + "f")
    position = fallback_rules.play(position, one.receive())
    one.send(fallback_rules.legal_moves(position)[0])
    one.receive()
    one.end()
    start = EwnGame("ewn-6x7").setup(die=SETUP[12:])  # and in this process
    RandomAgent().choose(start.play(start.legal_moves()[0]))


class Near(Referee):
    """The same with the program in a thread of ours, and agents of any kind."""

    def __init__(self, patch: pytest.MonkeyPatch, agent: object, limit: float = 1.8) -> None:
        self.began = time.monotonic()
        self.patch, self.agent, self.limit = patch, agent, limit
        self.error: Exception | None = None
        patch.setattr("tuplet.agents.protocol.session.process_start", lambda: self.began)
        self.input, self.output = os.pipe(), os.pipe()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def make(self) -> object:
        return self.agent

    def run(self) -> None:
        try:
            converse(
                self.make,
                "agent",
                self.limit,
                1,
                self.input[0],
                self.output[1],
                functools.cache(lambda text: print(text, file=sys.stderr)),
            )
        except Exception as error:
            self.error = error
        os.close(self.output[1])

    def send(self, text: str) -> None:
        os.write(self.input[1], text.encode("latin-1"))

    def receive(self, within: float = PATIENCE) -> str:
        text = b""
        until = time.monotonic() + within
        while len(text) < 2:
            left = until - time.monotonic()
            assert select.select([self.output[0]], [], [], max(left, 0))[0], "late"
            data = os.read(self.output[0], 2 - len(text))
            if not data:
                break
            text += data
        return text.decode()

    def close(self) -> None:
        os.close(self.input[1])
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        os.close(self.input[0])
        os.close(self.output[0])


def random_setup(luck: random.Random) -> tuple[str, str, str]:
    red, blue = ("".join(luck.sample("012345", 6)) for _ in range(2))
    return red, blue, "".join(luck.choices("012345", k=21))


def play_out(one: Referee, setup: str, side: int, luck: random.Random) -> int:
    """A game of the program against random moves: who won."""
    position = fallback_rules.start(setup[:6], setup[6:12], setup[12:33])
    one.send(setup + "fs"[side])
    while fallback_rules.winner(position) is None:
        if position.turn == side:
            move = one.receive()
        else:
            move = luck.choice(fallback_rules.legal_moves(position))
            one.send(move)
        position = fallback_rules.play(position, move)
    winner = fallback_rules.winner(position)
    assert winner is not None
    return winner


def test_plain_rules_are_the_kernels_rules() -> None:
    luck = random.Random(4)
    plies = 0
    for _ in range(60):
        red, blue, die = random_setup(luck)
        ours = fallback_rules.start(red, blue, die)
        theirs = EwnGame("ewn-6x7").setup(red=red, blue=blue, die=die)
        while True:
            squares = {
                (SIDES[side], cube): divmod(square, fallback_rules.COLUMNS)
                for side in (0, 1)
                for cube, square in enumerate(ours.cubes[side])
                if square != fallback_rules.GONE
            }
            assert squares == theirs.cubes
            assert SIDES[ours.turn] == theirs.turn
            assert fallback_rules.legal_moves(ours) == theirs.legal_moves()
            winner = fallback_rules.winner(ours)
            assert (None if winner is None else SIDES[winner]) == theirs.winner
            if winner is not None:
                break
            assert fallback_rules.choose(ours, 0.0) in theirs.legal_moves()
            move = luck.choice(fallback_rules.legal_moves(ours))
            ours, theirs = fallback_rules.play(ours, move), theirs.play(move)
            plies += 1
    assert plies > 1500


def test_plain_search_sees_wins_and_threats_and_keeps_its_time(monkeypatch) -> None:
    clock = itertools.count()  # a tick each time it is read, whatever the machine does
    monkeypatch.setattr(fallback_rules.time, "monotonic", lambda: next(clock))
    luck = random.Random(5)
    wins = 0
    for game in range(10):
        position = fallback_rules.start(*random_setup(luck))
        while fallback_rules.winner(position) is None:
            moves = fallback_rules.legal_moves(position)
            if position.turn == game % 2:
                until = next(clock) + 500
                move = fallback_rules.choose(position, until)
                assert next(clock) <= until + 100
                winning = [m for m in moves if fallback_rules.winner(fallback_rules.play(position, m)) is not None]
                assert not winning or move in winning or len(moves) == 1
            else:
                move = luck.choice(moves)
            position = fallback_rules.play(position, move)
        wins += fallback_rules.winner(position) == game % 2
    assert wins >= 7
    with pytest.raises(ValueError, match="99 is not legal"):
        fallback_rules.play(fallback_rules.start("012345", "012345", 21 * "0"), "99")


@pytest.mark.parametrize("name", ["normal", "hard"])
def test_recorded_games_are_played_again_move_for_move(referee, name: str) -> None:
    """Forty games of the original programs, in one process of ours."""
    games = [json.loads(line) for line in (GAMES / f"{name}.jsonl").open()]
    assert len(games) == 40
    one = referee(name, "--time", 20)  # the agent's moves, however busy the machine is
    for number, game in enumerate(games):
        one.send("y" * (number > 0) + game["init"])
        for ply, move in enumerate(game["moves"]):
            if SIDES[ply % 2] == game["program"]:
                assert one.receive() == move, (number, ply)
            else:
                one.send(move)
    assert one.end() == (0, "", "")


@pytest.mark.slow
def test_an_agent_is_ready_within_two_seconds_of_processor_time(referee) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    one = referee("hard")
    one.send(SETUP + "f")
    assert one.receive() == "10"
    assert one.end()[:2] == (0, "")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime < 2


def test_plain_python_moves_while_an_empty_compile_cache_is_filled(referee, tmp_path: Path) -> None:
    one = referee("hard", NUMBA_CACHE_DIR=str(tmp_path))
    position = fallback_rules.start(SETUP[:6], SETUP[6:12], SETUP[12:])
    one.send(SETUP + "f")
    position = fallback_rules.play(position, one.receive())
    move = fallback_rules.legal_moves(position)[0]
    position = fallback_rules.play(position, move)
    one.send(move)
    position = fallback_rules.play(position, one.receive())
    code, out, complaints = one.end()  # in the middle of compiling
    assert (code, out) == (0, "")
    assert "fallback" in complaints
    one = referee("hard", NUMBA_CACHE_DIR=str(tmp_path / "other"))
    while not (tmp_path / "other").exists():  # it has begun to load
        time.sleep(0.01)
    one.process.terminate()
    assert one.end() == (130, "", "\ntuplet: interrupted\n")


def test_the_limit_comes_before_an_agents_own_time(referee) -> None:
    one = referee("alphabeta:time=1000", "--time", "0.1")
    luck = random.Random(6)
    for game in range(2):
        if game:
            one.send("y")
        play_out(one, "".join(random_setup(luck)), game % 2, luck)
    assert one.end()[:2] == (0, "")


class Slow:
    """Does not answer until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def choose(self, position: EwnPosition) -> str:
        self.over.wait(PATIENCE)
        return position.legal_moves()[0]


class Busy(Slow):
    """Holds the interpreter all the while."""

    def choose(self, position: EwnPosition) -> str:
        while not self.over.is_set():
            pass
        return position.legal_moves()[0]


class Wrong:
    def choose(self, position: EwnPosition) -> str:
        return "99"


class Broken:
    def choose(self, position: EwnPosition) -> str:
        raise RuntimeError("boom")


class Leaving:
    def choose(self, position: EwnPosition) -> str:
        sys.exit(5)


class Timed:
    """Notes how much time it has."""

    def __init__(self, own: float | None) -> None:
        self.time = own
        self.given: list[float] = []
        self.opened: list[str] = []
        self.closed = False

    def open(self, start: EwnPosition, side: str, state: np.uint64) -> None:
        self.opened.append(f"{side} {int(state)}")

    def choose(self, position: EwnPosition) -> str:
        assert self.time is not None
        self.given.append(self.time)
        return position.legal_moves()[-1]

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("agent", "complaint"),
    [(Slow, "in time"), (Busy, "in time"), (Wrong, "'99' is not legal"), (Broken, "boom"), (Leaving, "exit")],
)
def test_whatever_the_agent_does_a_legal_move_is_sent(monkeypatch, capfd, agent: type, complaint: str) -> None:
    player = agent()
    one = Near(monkeypatch, player, 0.4)
    position = fallback_rules.start(SETUP[:6], SETUP[6:12], SETUP[12:])
    one.send(SETUP + "f")
    position = fallback_rules.play(position, one.receive())
    complaints = ""
    for _ in range(6):  # on a busy machine it may not be ready for the first one
        move = fallback_rules.legal_moves(position)[0]
        position = fallback_rules.play(position, move)
        one.send(move)
        position = fallback_rules.play(position, one.receive())
        complaints += capfd.readouterr().err
        if complaint in complaints:
            break
    if isinstance(player, Slow):
        player.over.set()
    one.close()
    assert one.error is None
    assert complaint in complaints
    assert "Traceback" not in complaints


@pytest.mark.parametrize(("own", "least", "most"), [(None, 45, 50), (0.05, 0.05, 0.05)])
def test_an_agents_time_is_its_own_within_the_limit(monkeypatch, own: float | None, least: float, most: float) -> None:
    agent = Timed(own)
    one = Near(monkeypatch, agent, 50)
    for game in range(2):
        one.send("y" * game + SETUP + "f")
        position = fallback_rules.play(fallback_rules.start(SETUP[:6], SETUP[6:12], SETUP[12:]), one.receive())
        for _ in range(3):
            move = fallback_rules.legal_moves(position)[0]
            position = fallback_rules.play(position, move)
            one.send(move)
            position = fallback_rules.play(position, one.receive())
    one.close()
    assert len(agent.given) == 8
    assert all(least <= seconds <= most for seconds in agent.given), agent.given
    assert len(set(agent.opened)) == 2 and agent.closed


def test_the_end_of_input_is_a_clean_end_anywhere(monkeypatch, capfd, referee) -> None:
    whole = SETUP + "f"
    for text in ("2035", whole[:-1], whole, " \n", whole + "1"):
        one = Near(monkeypatch, RandomAgent())
        one.send(text)
        if text.startswith(whole):
            assert one.receive() in fallback_rules.legal_moves(fallback_rules.start(text[:6], text[6:12], text[12:33]))
        one.close()
        assert one.error is None
    assert capfd.readouterr().err == ""
    assert referee("easy").end() == (0, "", "")


def test_space_in_the_input_is_ignored_and_only_moves_are_sent(referee) -> None:
    one = referee("hard", "--time", 20)
    one.send(" 203541\n135204\r\n145110431455 221232514\tf\n")
    assert one.receive() == "10"
    one.send("4\n0 \n")
    assert one.receive() == "50"
    assert one.end() == (0, "", "")


def test_games_follow_each_other_until_a_stop(referee) -> None:
    luck = random.Random(8)
    one = referee("hard")
    winners = []
    for game in range(4):
        if game:
            one.send("y")
        winner = play_out(one, "".join(random_setup(luck)), game % 2, luck)
        winners.append(winner == game % 2)
    assert sum(winners) >= 3
    one.send("n")
    assert one.process.wait(5) == 0


def test_nobody_need_read_standard_error(referee, tmp_path: Path) -> None:
    one = referee("hard", NUMBA_CACHE_DIR=str(tmp_path))  # it will complain
    assert one.process.stderr is not None
    one.process.stderr.close()
    one.send(SETUP + "f")
    assert one.receive(2.0) == "10"
    assert one.process.stdin is not None
    one.process.stdin.close()
    assert one.process.wait(5) == 0


def test_a_game_may_end_in_the_middle(monkeypatch) -> None:
    """The opponent lost by being late; another game follows, or not."""
    one = Near(monkeypatch, RandomAgent())
    one.send(SETUP + "f")
    one.receive()
    one.send("y" + SETUP + "f")
    one.receive()
    one.send("n")
    assert one.receive() == ""
    one.close()
    assert one.error is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("hello", "'h'"),
        ("203542" + SETUP[6:], "203542"),
        (SETUP + "x", "'x'"),
        (SETUP + "s99", "'9'"),
        (SETUP + "s20", "20 is not legal"),
        (SETUP + "sz", "'z'"),
        ("\xff", "received"),
    ],
)
def test_what_is_not_of_the_protocol_is_refused_at_once(monkeypatch, text: str, word: str) -> None:
    one = Near(monkeypatch, RandomAgent())
    one.send(text)
    assert one.receive() == ""  # the end of output, before that of input
    one.close()
    assert isinstance(one.error, ValueError)
    assert word in str(one.error)


def test_refusing_is_one_line_and_exit_code_2(referee) -> None:
    one = referee("easy")
    one.send(SETUP + "s20")
    assert one.process.wait(60) == 2
    _, out, complaints = one.end()
    assert out == ""
    assert complaints.startswith("tuplet: ") and complaints.count("\n") == 1


def test_an_unknown_agent_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "converse", lambda *_: pytest.fail("it was asked for moves"))
    with pytest.raises(ValueError, match="'nobody' is not an agent; agents are "):
        agent("nobody")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nobody"], "nobody"),
        (["easy", "--time", "0"], "--time must be a time"),
        (["easy", "--time", "nan"], "--time must be a time"),
        (["easy", "--seed", "-1"], "seed"),
        (["easy", "--game", "ewn"], "ewn"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(referee, arguments, word) -> None:
    one = referee(*arguments)
    assert one.process.wait(60) == 2
    _, out, complaints = one.end()
    assert out == ""
    assert complaints.startswith("tuplet: ") and complaints.count("\n") == 1
    assert word in complaints


@pytest.mark.parametrize("ends", [False, True])
def test_an_agent_found_wrong_late_is_told_all_the_same(monkeypatch, ends) -> None:
    class Late(Near):
        def make(self) -> object:
            time.sleep(1.2)  # longer than the session waits before it listens
            raise ValueError("nobody")

    one = Late(monkeypatch, None, 0.5)
    if ends:
        one.close()  # the input
    one.thread.join(10)
    assert str(one.error) == "nobody"
    if not ends:
        one.close()


@pytest.mark.slow
def test_a_seed_plays_the_same_again(referee) -> None:
    games = []
    for _ in range(2):
        one = referee("easy", "--seed", 11, "--time", 20)
        luck = random.Random(9)
        games.append([play_out(one, SETUP, 0, luck)])
        one.send("y")
        games[-1].append(play_out(one, SETUP, 0, luck))
        games[-1].append(luck.random())  # as many moves as before
        assert one.end()[0] == 0
    assert games[0] == games[1]
