"""A folder of programs, one for each student: what is run, under which name, and what is skipped.

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
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tuplet.agents.protocol.subprocess_agent import LIMIT, ProgramCommand, parse_memory
from tuplet.errors import UserError

FIRST = ("run", "agent")
SCRIPTS = ("run.py", "agent.py", "main.py")


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
    limit = LIMIT if time is None else time
    return [
        ProgramCommand(name, _command(file), file.parent.resolve(), limit, memory) for name, file in programs.items()
    ], skipped


def _command(file: Path) -> tuple[str, ...]:
    path = str(file.resolve())
    if os.access(file, os.X_OK) and _starts(file):
        return (path,)
    return (sys.executable, path) if file.suffix == ".py" else (path,)


def _starts(file: Path) -> bool:
    """Whether the system can start it: a Python script needs a #! line."""
    if file.suffix != ".py":
        return True
    with file.open("rb") as opened:
        return opened.read(2) == b"#!"


def _of_file(path: Path) -> tuple[Path | None, str]:
    if not path.is_file():
        return None, "it is neither a file nor a folder"
    if path.suffix == ".py" or os.access(path, os.X_OK):
        return path, ""
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
