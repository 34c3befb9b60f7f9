"""The protocol of `ewn-6x7`: one of our agents behind standard input and output.

    we receive   6 digits   Red's cubes on its starting squares
                 6 digits   Blue's
                 21 digits  the die
                 f or s     we are Red and move first, or Blue
    both send    2 digits   a move: cube, direction
    we receive   y          after a game: another follows; anything else: stop

A late or illegal move loses, so two threads share the work. The session reads, writes and watches
the clock; it knows the rules in plain Python. The agent has its own thread, which imports, compiles
and thinks. When the agent has no legal move in time, the session makes one.

This module imports nothing that takes time: the agent's thread must start as early as possible.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from tuplet.agents.protocol import fallback_rules
from tuplet.errors import UserError

if TYPE_CHECKING:
    from tuplet.games.ewn import EwnPosition

GAME = "ewn-6x7"
START_UP = 1.0  # seconds from the process's start that the first move may take at least
MARGIN = 0.03  # seconds before the limit at which a move is sent
SIGNAL = 0.05  # seconds for an agent to notice that time is up: a line of a trap is played on
RESERVE = 0.25  # seconds kept for the search in plain Python
PAUSE = 0.02  # seconds between two checks of the input while the agent is being made
STACK = 64 << 20  # bytes; compiling needs more than a thread has on some systems

_imported = time.monotonic()


def converse(
    make: Callable[[], Any], name: str, limit: float, seed: int, source: int, sink: int, warn: Callable[[str], None]
) -> None:
    """Let an agent play on two file descriptors until the other side ends.

    `make` makes the agent, in its own thread; `limit` is the seconds a move may take; `warn` is
    called with problems. Input that breaks the protocol raises UserError.
    """
    if not 0.1 <= limit <= 86400:
        raise UserError(f"time must be 0.1 to 86400 seconds (got {limit:g})")
    agent = AgentThread(make, name, seed, warn)
    try:
        agent.made.wait(process_start() + max(limit, START_UP) - RESERVE - time.monotonic())
        while os.name == "posix" and not (agent.made.wait(PAUSE) or ready([source], [])):
            pass  # no move is asked for yet (Windows cannot tell)
        agent.check()
        session = Session(agent, limit, source, sink)
        session.run()
        if not session.answered:  # the input ended, perhaps before the agent was made
            agent.made.wait(limit)
            agent.check()
    finally:
        agent.close()


def process_start() -> float:
    """When this process was started, on the clock of `time.monotonic`.

    Where the system does not say, or the process waited before Python started, it is the time of
    this module's import.
    """
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, IndexError, ValueError):  # not Linux
        return _imported
    start = time.monotonic() - age
    return start if 0 <= _imported - start < 5 else _imported


class Question(NamedTuple):
    """A request for a move. Games are numbered from 0."""

    game: int
    setup: tuple[str, str, str]  # Red's cubes, Blue's, the die
    side: int
    moves: Sequence[str]  # so far
    until: float  # on the clock of time.monotonic


class AgentThread:
    """An agent in its own thread.

    `made` is set once the agent exists (or `failure` says why not), `free` when it is idle.
    """

    def __init__(self, make: Callable[[], Any], name: str, seed: int, warn: Callable[[str], None]) -> None:
        self.name, self._make, self._seed, self.warn = name, make, seed, warn
        self.made, self.free = threading.Event(), threading.Event()
        self.failure: Exception | None = None
        self._agent: Any = None
        self._own_time: float | None = None  # the limit in the agent's settings
        self._game = -1
        self._position: EwnPosition
        self._played = 0
        self._questions: SimpleQueue[Question] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Question, str | Exception]] = SimpleQueue()
        usual = threading.stack_size(STACK)
        threading.Thread(target=self._run, name="agent", daemon=True).start()
        threading.stack_size(usual)

    def ask(self, question: Question, until: float) -> str | Exception | None:
        """The agent's move, what it raised, or None if it has not answered by `until`."""
        self.free.clear()
        self._questions.put(question)
        while True:
            try:
                answered, answer = self._answers.get(timeout=max(until - time.monotonic(), 0.0))
            except Empty:
                return None
            if answered is question:  # not an earlier one that was late
                return answer

    def check(self) -> None:
        """Raise the error if the agent cannot be made because of its name or files."""
        if isinstance(self.failure, (ValueError, OSError)):
            raise self.failure

    def close(self) -> None:
        """Close the agent."""
        close: Callable[[], None] | None = getattr(self._agent, "close", None)
        if close is not None:
            with suppress(Exception):  # ignore errors from close()
                close()

    def _run(self) -> None:
        try:
            self._agent = self._make()
            from tuplet.kernel import as_seed

            as_seed(self._seed)  # refuse a bad seed now, not in the first game
            self._own_time = getattr(self._agent, "time", None)
        except Exception as error:
            self.failure = error
            return
        finally:
            self.made.set()
        try:
            self._warm_up()
        except Exception as error:
            self.warn(f"{self.name}: {type(error).__name__}: {error}")
        while True:
            self.free.set()
            question = self._questions.get()
            try:
                answer: str | Exception = self._answer(self._agent, question)
            except (Exception, SystemExit) as error:
                answer = error if isinstance(error, Exception) else RuntimeError("it called sys.exit")
            self._answers.put((question, answer))

    def _warm_up(self) -> None:
        """Load or compile what the first move needs. Users' agents are not called."""
        from tuplet.games.ewn import EwnGame

        start = EwnGame(GAME).setup(die="012345012345012345012")
        if hasattr(self._agent, "warm_up"):
            self._agent.warm_up(start)
        elif type(self._agent).__module__ in ("tuplet.agents.agent", "tuplet.agents.baselines"):
            self._agent.choose(start)

    def _answer(self, agent: Any, question: Question) -> str:
        import numpy as np

        from tuplet.games import agent_hooks
        from tuplet.games.ewn import SIDES, EwnGame
        from tuplet.kernel import as_seed, stream

        if question.game != self._game:
            red, blue, die = question.setup
            self._position = EwnGame(GAME).setup(red=red, blue=blue, die=die)
            self._game, self._played = question.game, 0
            state = np.uint64(stream(as_seed(self._seed), np.uint64(question.game)))
            agent_hooks.begin(agent, self._position, SIDES[question.side], state)
        for move in question.moves[self._played :]:
            self._position = self._position.play(move)
        self._played = len(question.moves)
        if hasattr(agent, "time"):
            left = max(question.until - time.monotonic(), 0.01)
            agent.time = left if self._own_time is None else min(left, self._own_time)
        return str(agent.choose(self._position))


class Session:
    """One side of the protocol, for as many games as the other side wants."""

    def __init__(self, agent: AgentThread, limit: float, source: int, sink: int) -> None:
        self.agent, self.limit, self.source, self.sink = agent, limit, source, sink
        self.games = 0
        self._received = ""
        self.answered = False
        self._started = self._asked = process_start()

    def run(self) -> None:
        """Play until the other side stops, or the input ends."""
        try:
            while self._play():
                self.games += 1
        except (EOFError, BrokenPipeError):
            pass

    def _play(self) -> bool:
        """Play a game; returns whether another follows."""
        digits = "012345"
        setup = self._take(6, digits), self._take(6, digits), self._take(21, digits)
        position = fallback_rules.start(*setup)
        side = "fs".index(self._take(1, "fs"))
        moves: list[str] = []
        while fallback_rules.winner(position) is None:
            if position.turn == side:
                move = self._think(Question(self.games, setup, side, tuple(moves), 0.0), position)
                self._send(move)
            else:
                # After a game that ended by a late move, another may follow.
                cube = self._take(1, digits + "yn")
                if cube in "yn":
                    return cube == "y"
                move = cube + self._take(1, "0123")
                if move not in fallback_rules.legal_moves(position):
                    legal = ", ".join(fallback_rules.legal_moves(position))
                    raise UserError(f"the opponent's move {move} is not legal: {legal}")
            moves.append(move)
            position = fallback_rules.play(position, move)
        return self._take(1) == "y"

    def _think(self, question: Question, position: fallback_rules.FallbackPosition) -> str:
        """A legal move, in time."""
        due = self._asked + self.limit - MARGIN
        if not self.answered:
            due = max(due, self._started + START_UP - MARGIN)
        begin = due - RESERVE  # when the fallback search starts, if the agent is not free
        if self.agent.failure is not None:
            begin = 0.0
        if not self.agent.free.wait(max(begin - time.monotonic(), 0.0)):
            self.agent.warn(f"{self.agent.failure or 'not ready yet'}; playing a fallback move")
            return fallback_rules.choose(position, min(due, time.monotonic() + RESERVE))
        due = min(due, time.monotonic() + self.limit - MARGIN)
        answer = self.agent.ask(question._replace(until=due - SIGNAL), due)
        if isinstance(answer, str) and answer in fallback_rules.legal_moves(position):
            return answer
        if answer is None:
            problem = "no move in time"
        elif isinstance(answer, str):
            problem = f"its move {answer!r} is not legal"
        else:
            problem = f"{type(answer).__name__}: {answer}"
        self.agent.warn(f"{problem}; playing a fallback move")
        return fallback_rules.choose(position, due)

    def _take(self, count: int, allowed: str = "") -> str:
        """The next characters that are not whitespace; UserError if one is not allowed."""
        taken = ""
        while True:
            for at, character in enumerate(self._received):
                if character.isspace():
                    continue
                if allowed and character not in allowed:
                    raise UserError(f"{character!r} received where one of {allowed} is expected")
                taken += character
                if len(taken) == count:
                    self._received = self._received[at + 1 :]
                    return taken
            self._received = self._receive()

    def _receive(self) -> str:
        """Wait for input, and note when it arrived.

        Input that is there at once may have waited in the pipe while we were starting: its clock
        has been running since then.
        """
        waits = not ready([self.source], [])
        data = os.read(self.source, 4096)
        if not data:
            raise EOFError
        if waits:
            self._asked = time.monotonic()
        return data.decode("latin-1")

    def _send(self, move: str) -> None:
        os.write(self.sink, move.encode())  # two bytes: written at once, unbuffered
        self._asked, self.answered = time.monotonic(), True


def ready(read: list[int], write: list[int]) -> bool:
    """Whether a file descriptor can be used without waiting, as far as the system says."""
    try:
        return any(select.select(read, write, [], 0))
    except OSError:  # Windows: only sockets are supported
        return bool(write)
