"""Agents that are other programs, in any language, speaking the protocol of `ewn-6x7`.

    exec:./my_agent
    exec:python3 my_agent.py --level 3
    exec[time=1]:./my_agent                one second per move instead of two
    exec[time=1,memory=500MB]:./my_agent   and a memory limit for all its processes
    exec[protocol=ntu]:./my_agent          the protocol of another tournament, for `ewn`: see `ntu`
    exec[protocol=ntu,places=yes]:...      and it places its own cubes

A program that is late, exits, uses too much memory, or answers anything but a legal move forfeits the
game: it is killed, with all it has started, and the next game starts it again. Otherwise it plays
game after game. The clock of a move starts when the program can read the opponent's move; its first
move has at least 2 s from the program's start, because starting takes time.

A folder of programs has one for each student:

    submissions/alice.py          a script of Python                            alice
    submissions/bob               a file that can be executed                   bob
    submissions/carol/run         of a folder: `run`, else `agent`, else the    carol
    submissions/dave/dave_ewn     only file in it that can be executed, else
    submissions/eve/main.py       `run.py`, `agent.py`, `main.py`, or its only  eve
                                  script of Python

Each is run in the folder of its file. Names that begin with a dot or an underscore are ignored;
other entries that fit nowhere are skipped and reported with the reason.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tuplet.agents.protocol.program import GRACE, Program
from tuplet.errors import UserError
from tuplet.games.ewn import SIDES, EwnPosition, Side
from tuplet.games.record import Forfeit
from tuplet.system.settings import parse_size, split_settings

GAME = "ewn-6x7"
LIMIT = 2.0  # seconds per move, by the protocol
START_UP = 2.0  # seconds that the first move has at least, from the program's start
SOURCES = (".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".go", ".java")
FIRST = ("run", "agent")  # of a folder: the files that are its program
SCRIPTS = ("run.py", "agent.py", "main.py")
PROTOCOLS = ("course", "ntu")
_FORM = (
    "a program is exec:COMMAND, or exec[time=1.5,memory=1GB,protocol=ntu]:COMMAND with any of these settings; "
    "protocols are course and ntu, and ntu also has places=yes or no"
)


@dataclass(frozen=True)
class ProgramCommand:
    """A program's command, folder, and limits (seconds per move, bytes of memory).

    Calling it makes an agent; it can be sent to other processes.
    """

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    limit: float = LIMIT
    memory: int | None = None
    protocol: str = "course"  # one of PROTOCOLS
    places: bool = False  # whether it places its own cubes

    def __post_init__(self) -> None:
        if not 0 < self.limit <= 86400:
            raise UserError(f"{self.name}: time must be more than 0 and at most 86400 seconds (got {self.limit:g})")

    @classmethod
    def parse(cls, spec: str) -> ProgramCommand:
        """Read exec[...]:COMMAND."""
        parts = re.fullmatch(r"exec(?:\[([^\]]*)\])?:(.*)", spec, re.DOTALL)
        limits = split_settings(parts[1] or "", spec) if parts else {}
        good = re.fullmatch(r"\d+\.?\d*|\.\d+", limits.get("time", "1"))
        protocol, places = limits.get("protocol", "course"), limits.get("places", "no")
        known = {"time", "memory", "protocol", *(["places"] if protocol == "ntu" else [])}
        if parts is None or not good or set(limits) - known or protocol not in PROTOCOLS or places not in ("yes", "no"):
            raise UserError(f"{spec!r}: {_FORM}")
        memory = parse_memory(limits["memory"]) if "memory" in limits else None
        limit = float(limits.get("time", LIMIT))
        return cls(spec, _command(spec, parts[2]), None, limit, memory, protocol, places == "yes")

    def check(self) -> None:
        """UserError if the program does not exist: it may have been named on another machine."""
        file = "" if self.folder is None else self.command[-1]
        for each in filter(None, (self.command[0], file)):
            if shutil.which(each) is None and not Path(each).is_file():
                raise UserError(f"{self.name}: {each} does not exist")

    def __call__(self) -> SubprocessAgent:
        """A new agent."""
        return SubprocessAgent(self)


def parse_memory(text: str) -> int:
    """A memory limit: 1GB, 512MB, 1.5GiB."""
    return parse_size(text, least=10**6)


class SubprocessAgent:
    """A program as an agent."""

    def __init__(self, spec: str | ProgramCommand, game: str = GAME) -> None:
        if game != GAME:
            raise UserError(f"{spec}: the protocol of programs exists for {GAME} only, not {game}")
        self.running = spec if isinstance(spec, ProgramCommand) else ProgramCommand.parse(spec)
        self.name = self.running.name
        self._program: Program | None = None
        self._known: EwnPosition | None = None  # the last position that the program was sent
        self._forfeit: Forfeit | None = None  # raised when a move is asked for

    def open(self, start: EwnPosition, side: Side, state: np.uint64) -> None:  # noqa: ARG002
        """Send the program a new game, starting it if it does not run."""
        setup = setup_text(start, side)
        self._forfeit = None
        # The protocol cannot end a game early, so a program within one is started again.
        ended = self._known is not None and self._known.over
        if self._program is not None and ended and self._program.is_idle():
            self._program.send("y" + setup)
        else:
            self._stop(gently=False)
            try:
                how = self.running
                self._program = Program(how.command, how.folder, how.memory)
            except (OSError, ValueError) as error:  # ValueError: a name with a NUL
                reason = f"cannot be started: {getattr(error, 'strerror', None) or error}"
                self._forfeit = Forfeit("crashed", f"{self.name}: {reason}")
                return
            self._program.send(setup)
        self._known = start

    def choose(self, position: EwnPosition) -> str:
        """The program's move; Forfeit if there is none."""
        if self._forfeit is not None:
            raise self._forfeit
        program = self._program
        if program is None:
            raise UserError(f"{self.name} plays whole games: open first")
        legal = position.legal_moves()
        try:
            if position != self._known:
                program.expect_silence()
                self._send_move(position)
            due = time.monotonic() + self.running.limit
            if not program.answers:
                due = max(due, program.started + START_UP)
            move = program.receive(due, legal)
        except Forfeit as forfeit:
            transcript = program.transcript()
            self._stop(gently=False)
            self._forfeit = Forfeit(forfeit.kind, f"{self.name}: {forfeit.reason}", transcript)
            raise self._forfeit from None
        self._known = position.play(move)
        return move

    def end(self, last: EwnPosition) -> None:
        """Send the last move, so that the program is ready for another game."""
        if last.over:
            self._send_move(last)

    def close(self) -> None:
        """Stop the program and all it has started."""
        self._stop(gently=True)

    def _send_move(self, position: EwnPosition) -> None:
        """Send the opponent's move that led to a position."""
        known = self._known
        if self._program is None or known is None or position == known:
            return
        for move in known.legal_moves():
            if known.play(move) == position:
                self._program.send(move)
                self._known = position
                return
        raise UserError(f"{self.name}: the position does not follow from the one before")

    def _stop(self, gently: bool) -> None:
        if self._program is not None:
            self._program.stop(GRACE if gently else 0.0)
        self._program = self._known = None


def setup_text(start: EwnPosition, side: Side) -> str:
    """A first position as the protocol writes it."""
    at = {(of, square): str(number) for (of, number), square in start.cubes.items()}
    placed = [
        "".join(at.get((of, square), "") for square in squares)
        for of, squares in zip(SIDES, (start.game.red, start.game.blue), strict=True)
    ]
    if start.ply or any(len(numbers) != start.game.cubes for numbers in placed):
        raise UserError("programs can only play games from the first position")
    return "".join([*placed, *map(str, start.known_die), "fs"[SIDES.index(side)]])


def _command(spec: str, text: str) -> tuple[str, ...]:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise UserError(f"{spec}: {error}") from None
    if not command:
        raise UserError(f"{spec}: no program is named: exec:COMMAND")
    if shutil.which(command[0]) is None:
        problem = "is not executable" if Path(command[0]).is_file() else "does not exist"
        if Path(command[0]).is_dir():
            problem = "is a folder: name the program in it"
        if shutil.which(f"./{command[0]}") is not None:  # as in shells
            problem = f"is in this folder: write ./{command[0]}"
        raise UserError(f"{spec}: {command[0]} {problem}")
    return tuple(command)


class Skipped(NamedTuple):
    """An entry of a folder that does not play."""

    name: str
    why: str


def program_command(
    program: str | Sequence[str], time: float | None = None, memory: str | None = None
) -> ProgramCommand:
    """A program from a command, its words, or `exec:COMMAND`.

    A Python script need not be executable. UserError if it does not exist.
    """
    text = program if isinstance(program, str) else shlex.join(program)
    alone = Path(text)
    if alone.suffix == ".py" and alone.is_file() and not os.access(alone, os.X_OK):
        spec = f"exec:{shlex.join([sys.executable, text])}"
    elif alone.is_file():
        spec = f"exec:{shlex.quote(text if alone.is_absolute() else f'./{alone}')}"
    else:
        spec = text if text.startswith(("exec:", "exec[")) else f"exec:{text}"
    command = ProgramCommand.parse(spec)
    return ProgramCommand(
        text,
        command.command,
        None,
        command.limit if time is None else time,
        command.memory if memory is None else parse_memory(memory),
    )


def submissions(
    folder: str | Path, time: float | None = None, memory: int | None = None
) -> tuple[list[ProgramCommand], list[Skipped]]:
    """The programs of a folder in the order of their names, and the entries that were skipped."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder of programs")
    programs: dict[str, Path] = {}
    skipped = []
    for path in sorted(folder.iterdir(), key=lambda each: each.name):
        if path.name.startswith((".", "_")):
            continue
        file, why = _of_folder(path) if path.is_dir() else _of_file(path)
        name = path.stem if path.is_file() and path.suffix in (".py", ".sh") else path.name
        if file is None:
            skipped.append(Skipped(path.name, why))
        elif name in programs:
            skipped.append(Skipped(path.name, f"there is another program of that name, {programs[name].name}"))
        else:
            programs[name] = file
    # The source of a program that plays needs no explanation.
    skipped = [each for each in skipped if not (Path(each.name).suffix in SOURCES and Path(each.name).stem in programs)]
    limit = LIMIT if time is None else time
    return [
        ProgramCommand(name, _start_command(file), file.parent.resolve(), limit, memory)
        for name, file in programs.items()
    ], skipped


def _start_command(file: Path) -> tuple[str, ...]:
    """The command of a file: Python runs a script that is not executable, or has no #! line."""
    path = str(file.resolve())
    if file.suffix == ".py":
        with file.open("rb") as script:
            if not os.access(file, os.X_OK) or script.read(2) != b"#!":
                return sys.executable, path
    return (path,)


def _of_file(path: Path) -> tuple[Path | None, str]:
    if not path.is_file():
        return None, "it is neither a file nor a folder"
    if path.suffix == ".py" or os.access(path, os.X_OK):
        return path, ""
    if path.suffix in SOURCES:
        return None, "it is source code: compile it first"
    return None, "it is not executable (chmod +x), and no script of Python"


def _of_folder(path: Path) -> tuple[Path | None, str]:
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith((".", "_"))]
    can_run = [file for file in files if os.access(file, os.X_OK)]
    scripts = [file for file in files if file.suffix == ".py"]
    for names, among in ((FIRST, can_run), (SCRIPTS, scripts)):
        named = [file for name in names for file in among if file.name == name]
        rest = named or (among if len(among) == 1 else [])
        if rest:
            return rest[0], ""
    if not can_run and not scripts:
        return None, "nothing in it can be executed: chmod +x, or a script of Python"
    several = ", ".join(file.name for file in (can_run or scripts)[:4])
    return None, f"which one? {several}: call it run"
