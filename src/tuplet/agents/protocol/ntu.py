"""The text protocol of the EWN tournament at National Taiwan University, in both directions, for `ewn`.

A line is answered by a line. Squares are a column, A to E, and a row, 1 to 5; A1 is Red's corner.

    name                    a name
    version                 a version
    time_setting 5          1                   the seconds
    board_setting 5 6       1                   rows, and cubes of each side
    ini R                   A1 B1 C1 A2 B2 A3   the squares on which Red (or B, Blue) places its cubes 1 to 6;
                                                ours are drawn from the recommended ones (`placing`)
    get R 3 E3 0 ... A1     A1 B2               Red's move for a 3, from a square to a square
    exit                    (none)

`get` has the squares of Blue's cubes 1 to 6, then of Red's; 0 is a cube that is gone. A request tells everything, so
the answer does not depend on the requests before.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tuplet.agents.placing import recommended
from tuplet.agents.protocol.program import GRACE, Program
from tuplet.agents.protocol.subprocess_agent import START_UP, ProgramCommand
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.ewn import SIDES, EwnGame, EwnPosition, Side
from tuplet.games.record import Forfeit
from tuplet.kernel import as_seed, stream
from tuplet.system.version import __version__

GAME = "ewn"
MARGIN = 0.05  # seconds before the limit at which our own answer is sent
LONGEST = 4096  # characters of a line
_LETTERS = {"red": "R", "blue": "B"}


def square_name(row: int, column: int) -> str:
    """A square as the protocol writes it: A1 is row 0, column 0."""
    return f"{'ABCDE'[column]}{row + 1}"


def write_get(position: EwnPosition) -> str:
    """The request for a move."""
    cubes, numbers = position.cubes, range(1, position.game.cubes + 1)
    squares = [
        square_name(*cubes[side, number]) if (side, number) in cubes else "0"
        for side in ("blue", "red")
        for number in numbers
    ]
    return f"get {_LETTERS[position.turn]} {position.die} {' '.join(squares)}"


def read_get(line: str) -> EwnPosition:
    """The position of a request for a move; UserError says what is wrong."""
    words = line.split()
    if len(words) != 15 or words[0] != "get" or words[1] not in ("R", "B"):
        raise UserError(f"a request for a move is: get R|B DIE and twelve squares (got {line!r})")
    cells = [["."] * 5 for _ in range(5)]
    for i, word in enumerate(words[3:]):
        if word == "0":
            continue
        if len(word) != 2 or word[0] not in "ABCDE" or word[1] not in "12345":
            raise UserError(f"a square is A1 to E5, or 0 (got {word!r})")
        row, column = int(word[1]) - 1, "ABCDE".index(word[0])
        if cells[row][column] != ".":
            raise UserError(f"two cubes are on {word}")
        cells[row][column] = f"{'br'[i // 6]}{i % 6 + 1}"
    board = "/".join("".join(row) for row in cells)
    side = "red" if words[1] == "R" else "blue"
    position = EwnGame(GAME).parse(f"{board} {side} {words[2]}")
    if position.over or position.is_chance:
        raise UserError(f"there is no move to make: {position.caption()}")
    return position


def write_move(position: EwnPosition, move: str) -> str:
    """A move as the protocol writes it: from a square to a square."""
    start, target = position.cubes[position.turn, int(move[0])], position.target(move)
    assert target is not None  # no die is chosen in `ewn`
    return f"{square_name(*start)} {square_name(*target)}"


class NtuAgent:
    """A program that speaks this protocol, as an agent.

    Our arena places the cubes, so the placement that a program answers to `ini` is checked and not used, unless it
    was started with `places=yes`.
    """

    def __init__(self, command: str | ProgramCommand, game: str = GAME) -> None:
        if game != GAME:
            raise UserError(f"{command}: protocol=ntu is for {GAME} only, not {game}")
        self.running = command if isinstance(command, ProgramCommand) else ProgramCommand.parse(command)
        self.name = self.running.name
        self._program: Program | None = None
        self._forfeit: Forfeit | None = None  # raised when a move is asked for
        self._has_placed = False  # its cubes of the next game

    def place(self, start: EwnPosition, side: Side) -> str:
        """The program's arrangement of its cubes; "" if it places none, or forfeits."""
        if not self.running.places:
            return ""
        self._has_placed = True
        return self._begin(start, side)

    def open(self, start: EwnPosition, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Begin a game, starting the program if it does not run."""
        if not self._has_placed:
            self._begin(start, side)
        self._has_placed = False

    def _begin(self, start: EwnPosition, side: Side) -> str:
        """Ask for the program's arrangement: the numbers on its starting squares, or "" if it forfeits."""
        self._forfeit = None
        try:
            if self._program is None or not self._program.is_idle():
                self._stop(0.0)
                how = self.running
                try:
                    self._program = Program(how.command, how.folder, how.memory)
                except (OSError, ValueError) as error:  # ValueError: a name with a NUL
                    reason = f"cannot be started: {getattr(error, 'strerror', None) or error}"
                    raise Forfeit("crashed", reason) from None
                for request in ("name", "version", f"time_setting {how.limit:g}", "board_setting 5 6"):
                    self._ask(request)
            answer = self._ask(f"ini {_LETTERS[side]}").split()
            squares = [square_name(*square) for square in (start.game.red if side == "red" else start.game.blue)]
            if sorted(answer) != sorted(squares):
                raise Forfeit("illegal", f"it placed its cubes on {' '.join(answer)[:40]!r}")
        except Forfeit as forfeit:
            self._lose(forfeit)
            return ""
        return "".join(str(1 + answer.index(square)) for square in squares)

    def choose(self, position: EwnPosition) -> str:
        """The program's move; Forfeit if there is none."""
        if self._forfeit is not None:
            raise self._forfeit
        if self._program is None:
            raise UserError(f"{self.name} plays games: open first")
        moves = {write_move(position, move): move for move in position.legal_moves()}
        try:
            answer = " ".join(self._ask(write_get(position)).split())
            if answer not in moves:
                raise Forfeit("illegal", f"it sent {answer[:20]!r}, not one of {', '.join(moves)}")
        except Forfeit as forfeit:
            self._lose(forfeit)
            assert self._forfeit is not None
            raise self._forfeit from None
        return str(moves[answer])

    def close(self) -> None:
        """Stop the program and all it has started."""
        self._stop(GRACE)

    def _ask(self, request: str) -> str:
        """The answer to a request; Forfeit if it is late."""
        program = self._program
        assert program is not None
        program.expect_silence()
        program.send(f"{request}\n")
        due = time.monotonic() + self.running.limit
        if not program.answers:
            due = max(due, program.started + START_UP)
        answer = program.receive_line(due)
        program.answers += request.startswith("get")
        return answer

    def _lose(self, forfeit: Forfeit) -> None:
        transcript = self._program.transcript() if self._program is not None else ()
        self._stop(0.0)
        self._forfeit = Forfeit(forfeit.kind, f"{self.name}: {forfeit.reason}", transcript)

    def _stop(self, grace: float) -> None:
        if self._program is not None:
            if grace:
                self._program.send("exit\n")
            self._program.stop(grace)
        self._program = None


def converse_ntu(
    make: Callable[[], Any], limit: float, seed: int, source: int, sink: int, warn: Callable[[str], None]
) -> None:
    """Let an agent answer requests on two file descriptors until `exit`, or the input ends.

    `make` makes the agent; `limit` is the seconds a move may take, or less if `time_setting` says so; `warn` is called
    with problems. A line that is not understood is answered by an empty one, as the tournament's programs do.
    """
    if not 0.1 <= limit <= 86400:
        raise UserError(f"time must be 0.1 to 86400 seconds (got {limit:g})")
    agent = make()
    as_seed(seed)
    thinker, games = _Thinker(agent, seed), 0
    try:
        start = EwnGame(GAME).setup().roll(1)
        if hasattr(agent, "warm_up"):  # before the first request, whose clock may be running
            agent.warm_up(start)
        elif type(agent).__module__.startswith("tuplet."):  # users' agents are not called
            agent.choose(start)
        for line in _lines(source):
            words = line.split()
            if words[:1] == ["exit"]:
                return
            try:
                answer = ""
                if words[:1] == ["name"]:
                    answer = "tuplet"
                elif words[:1] == ["version"]:
                    answer = __version__
                elif words[:1] == ["time_setting"]:
                    limit, answer = min(limit, max(float(words[1]), 0.1)), "1"
                elif words[:1] == ["board_setting"]:
                    if words[1:] not in (["5", "6"], ["5"]):
                        raise UserError(f"only 5x5 boards with 6 cubes are played (got {line!r})")
                    answer = "1"
                elif words[:1] == ["ini"] and words[1:] in (["R"], ["B"]):
                    answer = _placement(words[1], seed, games)
                    games += 1
                elif words[:1] == ["get"]:
                    position = read_get(line)
                    answer = write_move(position, thinker.move(position, limit, warn))
                else:
                    raise UserError(f"{line[:40]!r} is not a request")
            except (ValueError, IndexError) as error:  # UserError is a ValueError
                warn(str(error))
            os.write(sink, f"{answer}\n".encode())
    except BrokenPipeError:
        pass
    finally:
        if agent_hooks.has(agent, "close"):
            agent.close()


class _Thinker:
    """An agent in a thread of its own, so that a late answer can be replaced."""

    def __init__(self, agent: Any, seed: int) -> None:
        self.agent, self.seed = agent, seed
        self._own_time = getattr(agent, "time", None)
        self._questions: queue.SimpleQueue[tuple[EwnPosition, float]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[EwnPosition, object]] = queue.SimpleQueue()
        self._asked = 0
        threading.Thread(target=self._run, name="agent", daemon=True).start()

    def move(self, position: EwnPosition, limit: float, warn: Callable[[str], None]) -> str:
        """A legal move in time: the agent's, or a step towards the goal if it has none."""
        due = time.monotonic() + limit - MARGIN
        self._questions.put((position, due - MARGIN))
        answer: object = "no move in time"
        try:
            answered = None
            while answered is not position:  # not a late answer to an earlier question
                answered, answer = self._answers.get(timeout=max(due - time.monotonic(), 0.0))
        except queue.Empty:
            answer = UserError("no move in time")
        legal = position.legal_moves()
        if isinstance(answer, str) and answer in legal:
            return answer
        problem = answer if isinstance(answer, Exception) else f"its move {answer!r} is not legal"
        warn(f"{problem}; playing a fallback move")
        return str(next((move for move in legal if move.endswith("2")), legal[0]))

    def _run(self) -> None:
        while True:
            position, until = self._questions.get()
            try:
                state = np.uint64(stream(as_seed(self.seed), np.uint64(self._asked)))
                self._asked += 1
                if hasattr(self.agent, "time"):
                    left = max(until - time.monotonic(), 0.01)
                    self.agent.time = left if self._own_time is None else min(left, self._own_time)
                agent_hooks.begin(self.agent, position, position.turn, state)
                answer: object = self.agent.choose(position)
            except (Exception, SystemExit) as error:
                answer = error if isinstance(error, Exception) else RuntimeError("it called sys.exit")
            self._answers.put((position, answer))


def _placement(letter: str, seed: int, number: int) -> str:
    """The squares of our cubes 1 to 6: the seed's next draw from the recommended arrangements."""
    game, side = EwnGame(GAME), SIDES["RB".index(letter)]
    cubes = recommended(game, side, np.uint64(stream(as_seed(seed), np.uint64(number))))
    start = game.setup(red=cubes) if side == "red" else game.setup(blue=cubes)
    return " ".join(square_name(*start.cubes[side, cube]) for cube in range(1, 7))


def _lines(source: int) -> Iterator[str]:
    """The lines of a file descriptor that are not blank; one that is too long ends the input."""
    received = b""
    while data := os.read(source, LONGEST):
        *lines, received = (received + data).split(b"\n")
        for line in lines:
            if text := line.decode("latin-1").strip():
                yield text
        if len(received) > LONGEST:
            raise UserError(f"a line is longer than {LONGEST} characters")
