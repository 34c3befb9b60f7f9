"""`new`: writes a commented file of a user's own agent, game or program, which works at once."""

from __future__ import annotations

import ast
import keyword
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.agents.listing import list_agents
from tuplet.errors import UserError
from tuplet.system.files import atomic_write
from tuplet.system.tables import Displayable, TextTable
from tuplet.system.user_code import is_library
from tuplet.values.players import ABOUT

TEMPLATES = Path(__file__).parent.parent / "templates"
LANGUAGES = {"python": ".py", "c": ".c", "cpp": ".cpp"}  # and the ends of their files' names
COMPILE = {"c": "cc -O2 -o {built} {file}", "cpp": "c++ -std=c++17 -O2 -o {built} {file}"}

# What each kind is, and commands to try it.
KINDS = {
    "player": (
        "a player of 2048",
        "tuplet eval {file}:{Class} --games 20",
        "tuplet eval {file}:{Class},empty=3 --games 20 --threads 2",
    ),
    "agent": (
        "an agent of games for two",
        "tuplet match {file}:{Class} easy --games 20",
        "tuplet match {file}:{Class},depth=1 easy --game ewn --games 20",
    ),
    "environment": (
        "an environment of 2048",
        "tuplet eval greedy --environment {file}:{Class} --games 10",
        "tuplet eval small --environment {file}:{Class},tile=4 --games 2",
    ),
    "game": (
        "a game for two",
        "tuplet match mcts:sims=500 alphabeta:depth=3 --game {file}:{NAME} --games 20",
        "tuplet play {file}:{NAME}",
    ),
    "program": (
        "a program that plays ewn-6x7",
        "tuplet check {program}",
        "tuplet match exec:{program} easy --games 20 --out {name}.jsonl",
    ),
}


@dataclass(frozen=True)
class NewFile(Displayable):
    """A file that was written, and commands to try it."""

    kind: str
    name: str
    path: Path
    commands: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {"kind": self.kind, "name": self.name, "path": str(self.path), "commands": list(self.commands)}

    def text_tables(self) -> list[TextTable]:
        """Its path, and the commands."""
        title = f"{self.path}: {KINDS[self.kind][0]}. Try"
        return [TextTable(title, notes=[f"  {command}" for command in self.commands])]


def new(kind: str, name: str, *, lang: str = "python", out: str | Path | None = None, force: bool = False) -> NewFile:
    """Write a commented file to start from, which works at once.

    `kind` is player, agent, environment, game, or program (which speaks the protocol of ewn-6x7). A program may also be
    written in C or C++: `lang` is python, c or cpp. The file is NAME.py (NAME.c, NAME.cpp) in the current folder, or
    `out`, a folder or a path. An existing file is replaced only with `force`.
    """
    if kind not in KINDS:
        raise UserError(f"kind must be one of {', '.join(KINDS)} (got {kind!r})")
    if lang not in LANGUAGES:
        raise UserError(f"lang must be one of {', '.join(LANGUAGES)} (got {lang!r})")
    if lang != "python" and kind != "program":
        raise UserError(f"only a program may be written in {lang}: tuplet runs {KINDS[kind][0]} in Python")
    suffix = LANGUAGES[lang]
    path = Path(f"{name}{suffix}") if out is None else Path(out)
    if out is not None and path.suffix != suffix:
        path = path / f"{name}{suffix}"
    _check_name(name)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: add --force to replace it, or choose another name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    _check_name(path.stem)
    text = (TEMPLATES / f"{kind}{suffix}").read_text(encoding="utf-8")
    if path.stem != name:
        text = text.replace(f"template{suffix}", path.name)
    class_ = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    names = {"Template": class_, "TEMPLATE": name.upper(), "template": name}
    if lang == "python":
        used = {getattr(node, "id", getattr(node, "name", "")) for node in ast.walk(ast.parse(text))}
        for word in {class_, name.upper()} & used:
            raise UserError(f"{word} means something else in the file: choose another name than {name}")
    text = re.sub("template", lambda match: names[match[0]], text, flags=re.IGNORECASE)
    with atomic_write(path) as file:
        file.write(text.encode())
    if kind == "program" and lang == "python":
        path.chmod(path.stat().st_mode | 0o111)
    built = path if lang == "python" else path.with_suffix("")
    program = built if built.is_absolute() or built.parent != Path() else f"./{built}"
    words = {
        "file": shlex.quote(str(path)),
        "Class": class_,
        "NAME": name.upper(),
        "name": name,
        "program": shlex.quote(str(program)),
        "built": shlex.quote(str(built)),
    }
    lines = (*([COMPILE[lang]] if lang in COMPILE else []), *KINDS[kind][1:])
    return NewFile(kind, name, path, tuple(line.format(**words) for line in lines))


def _check_name(name: str) -> None:
    """Refuse a name that cannot be a module and a class, or would hide another module."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name.lower()):
        raise UserError(f"{name!r} is not a name in Python: use letters, digits and _, as in my_idea")
    if name.lower() in taken_names():
        raise UserError(f"{name} is a name that tuplet uses: choose another, such as my_{name.lower()}")
    if is_library(name):
        raise UserError(f"{name}.py would hide the module {name}: choose another name")


def taken_names() -> set[str]:
    """Names of agents, games and protocols, which mean something else in front of a colon."""
    agents = {row["agent"] for game in ("2048", "ewn-6x7") for row in list_agents(game).rows}
    return {*agents, *ABOUT, "exec", "ewn", "openspiel", "tuplet"}
