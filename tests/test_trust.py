"""Text from outside names no code, no program and no file: whatever route it takes.

Outside is all but what a person types at a shell or in Python: HTTP, the socket, files, and what is
pasted. Every route of the server, every kind of job and every text in every file is given names of
code, programs and paths; nothing of that may be run or read. Routes, jobs and fields are found by
asking the server, so a new one is walked, too.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
import tomli_w

import tuplet
from browsing import awaited
from tuplet.agents.listing import list_runs
from tuplet.arena.match_file import load, load_game
from tuplet.games.formats import read_game
from tuplet.learn.run_command import option_name
from tuplet.system import user_code
from tuplet.web.app import application
from tuplet.web.context import ServerContext
from tuplet.web.guard import Guard
from tuplet.web.limits import MAX_MESSAGE
from tuplet.web.runs import SETTINGS
from tuplet.web.schema import arguments_of
from tuplet.web.websocket import HANDLERS

EVIL = """
from pathlib import Path
Path(__file__).with_name("executed").touch()
class Class: ...
GAME = LEARNER = Class()
"""
RECORD = '{"player": "me", "start": "2048:board=2x2 2,0/0,2 0", "moves": ["left"], "rolls": ["2@1"]}'
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
TOKEN = "a-token-of-one-test-only"
ALLOWED = (b"authorization", f"Bearer {TOKEN}".encode())
SOURCE = Path(tuplet.__file__).parent
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork")
READS = ("open", "os.listdir", "os.scandir", "import", "exec")  # events that Python tells of


class Trap:
    """A folder outside of what is served, and a note of all that happens to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs, self.set = folder, folder.parent / "runs", False
        self.caught: list[str] = []
        self.path = list(sys.path)

    @property
    def names(self) -> list[str]:
        """What nobody outside may name: code, programs, paths."""
        evil, up = f"{self.folder}/evil.py", "../outside"
        code = [
            f"2048/../..{evil}:GAME",
            "2048/../evil.py:GAME",
            "ewn/../evil.py:GAME",
            f"{evil}:GAME",
            "./evil.py:GAME",
            "evil:GAME",
            f"{evil}:Class",
            f"{up}/evil.py:GAME",
            "evil:Class,seed=1",
            f"mcts:ucb={evil}:Class",
            "mcts:ucb=evil:Class",
            f"best:ucb={evil}:Class",
        ]
        programs = [f"exec:touch {self.folder}/executed", "exec[time=1]:./program", "openspiel"]
        paths = [
            "/etc/passwd",
            f"{self.folder}/net.safetensors",
            f"{up}/net.safetensors",
            "net.safetensors",
            f"expectimax:values={self.folder}/net.safetensors",
            f"expectimax:depth=1,values={up}/net.safetensors",
            "run/../../outside/net",
            f"{self.folder}/games.txt",
            "file:///etc/passwd",
        ]
        return [*code, *programs, *paths]

    @property
    def texts(self) -> list[str]:
        """The names alone, and where a text may hide them; and what is no text at all."""
        hidden = [
            form
            for name in self.names[:6]
            for form in (
                f"{name} 0,2/2,0",
                f"{name} 2,0/0,2 0",
                json.dumps({"notation": f"{name} 0"}),
                json.dumps({"start": f"{name} 2,0/0,2 0", "player": name, "moves": []}),
            )
        ]
        return [*self.names, *hidden, "", "\ud800", "\0", "x\0y", "{}", "[]", 70 * "../" + "etc/passwd"]

    def hear(self, event: str, what: tuple[Any, ...]) -> None:
        """An event of Python's: a file that is opened, a program that starts, a module."""
        if not self.set:
            return
        told = " ".join(map(str, what))
        if event == "open" and isinstance(what[0], str | bytes):
            told = str(Path(os.fsdecode(what[0])).resolve())
        marks = str(self.folder), "/etc/passwd", "evil"
        if event in STARTS or (event in READS and any(mark in told for mark in marks)):
            self.caught.append(f"{event}: {told}")

    def check(self, where: str) -> None:
        """Nothing was run, started or read."""
        assert not self.caught, f"{where}: {self.caught}"
        assert not (self.folder / "executed").exists(), where
        assert sys.path == self.path, where
        assert "evil" not in sys.modules, where


_traps: list[Trap] = []
sys.addaudithook(lambda event, what: _traps[-1].hear(event, what) if _traps else None)


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """We stand in the folder that must not be touched."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (tmp_path / "runs").mkdir()
    (folder / "evil.py").write_text(EVIL)
    (folder / "games.txt").write_text(RECORD)
    (folder / "program").write_text("#!/bin/sh\ntouch executed\n")
    (folder / "program").chmod(0o755)
    tuplet.Network("0123").save(folder / "net.safetensors")
    monkeypatch.chdir(folder)
    made = Trap(folder)
    _traps.append(made)
    made.set = True
    yield made
    _traps.remove(made)


def test_the_trap_works(trap: Trap) -> None:
    """What a person types is trusted: code is run, programs start, files are read."""
    with suppress(ValueError):  # it is no game
        tuplet.game("evil.py:GAME")
    sys.modules.pop("evil", None)
    sys.path[:] = trap.path
    assert trap.caught and (trap.folder / "executed").exists()
    for do in (
        lambda: tuplet.make_agent("net.safetensors", "2048"),
        lambda: tuplet.make_agent(f"{trap.folder}/net.safetensors", "2048"),
        lambda: subprocess.run(["true"]),
    ):
        trap.caught.clear()
        do()
        assert trap.caught


# Over HTTP


async def ask(app: Guard, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """A request to the application; the status and the answer."""
    data = b"" if body is None else json.dumps(body).encode()
    address, _, query = path.partition("?")  # in ASCII, as over the network
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), ALLOWED]
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": data, "more_body": False}])

    async def receive() -> Any:
        message = next(messages, None)
        if message is None:  # who asks waits for the answer
            await asyncio.Event().wait()
        return message

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": unquote(address),
        "raw_path": address.encode(),
        "query_string": query.encode(),
        "headers": headers,
        "server": ("127.0.0.1", 2048),
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }
    await app(scope, receive, send)
    answer = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], answer


def wrapped(kind: str, text: str) -> Iterator[Any]:
    """A text as a value of a JSON type."""
    yield text
    if kind == "array":
        yield from ([text], [[text, text]])
    if kind == "object":
        yield from ({"player": text}, {"red": text}, {text: "random"})


def questions(trap: Trap, fields: dict[str, str], usual: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A question with each of its fields replaced by each text."""
    for name, kind in fields.items():
        for text in trap.texts:
            for value in wrapped(kind, text):
                yield {**usual, name: value}


def test_no_http_route_trusts_text(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuplet.web.limits.LOGIN_DELAY", 0.0)
    app = application(ServerContext(trap.runs), token=TOKEN)  # which has a route more

    async def walk() -> None:
        described = json.loads((await ask(app, "GET", "/api/openapi.json"))[1])["paths"]
        assert "/api/token" in described
        for route in app.app.routes:  # type: ignore[attr-defined]
            for method in sorted(getattr(route, "methods", None) or ()):
                told = described.get(route.path, {}).get(method.lower(), {})
                assert method != "POST" or "requestBody" in told, f"{route.path} is not described"
                for path, body in requests(trap, method, route.path, told):
                    status, answer = await ask(app, method, path, body)
                    assert status < 500, (method, path, body, answer)
                    assert b"root:" not in answer, (method, path, body)
                    trap.check(f"{method} {path} {body}")

    awaited(walk())


def test_no_setting_of_a_run_trusts_text(trap: Trap) -> None:
    """Where clients may train, a setting that names code, a program or a path starts nothing."""
    app = application(ServerContext(trap.runs, train=True), token=TOKEN)

    async def walk() -> None:
        for option in (*map(option_name, SETTINGS), "recipe", "resume", "out", "cluster", "tls", "csv"):
            for text in trap.names:
                for value in (text, [text], {text: text}):
                    body = {"settings": {option: value}, "name": "new"}
                    status, answer = await ask(app, "POST", "/api/run/start", body)
                    assert status == 400, (body, answer)
                    trap.check(str(body))

    awaited(walk())
    assert [*trap.runs.iterdir()] == []


def requests(trap: Trap, method: str, path: str, told: Any) -> Iterator[tuple[str, Any]]:
    """All that is asked of a route."""
    if method == "POST":
        content = told["requestBody"]["content"]["application/json"]
        fields = {name: field["type"] for name, field in content["schema"]["properties"].items()}
        for body in questions(trap, fields, content["example"]):
            yield path, body
        return
    for text in trap.texts:
        written = quote(text.encode(errors="surrogatepass"), safe="")
        names = [each["name"] for each in told.get("parameters", [])] or ["x"]
        if "{" in path:
            yield path[: path.index("{")] + written, None
            yield path[: path.index("{")] + written.replace("%2F", "/"), None
        for name in names:
            yield f"{path}?{name}={written}", None


# Over the socket


async def talk(app: Guard, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages over a socket, one after the other; all that was answered."""
    said: asyncio.Queue[Any] = asyncio.Queue()
    heard: list[Any] = []
    left = iter(messages)
    awaited = 0  # the job whose end is waited for

    def say(message: dict[str, Any]) -> None:
        said.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    async def send(message: Any) -> None:
        nonlocal awaited
        heard.append(json.loads(message["text"]) if "text" in message else message)
        job = {"id": 0, "done": True, **heard[-1]}
        if message["type"] != "websocket.close" and not (job["done"] and job["id"] == awaited):
            return
        following = next(left, None) if message["type"] != "websocket.close" else None
        if following is None:
            said.put_nowait({"type": "websocket.disconnect", "code": 1000})
            return
        awaited = 1 if following["type"] in HANDLERS else 2
        say({"id": 1, **following})
        if awaited == 2:  # it may have no answer of its own
            say({"id": 2, "type": "nothing"})

    said.put_nowait({"type": "websocket.connect"})
    scope = {
        "type": "websocket",
        "path": "/api/live",
        "raw_path": b"/api/live",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "server": ("127.0.0.1", 2048),
        "subprotocols": [],
        "client": ("127.0.0.1", 1),
        "scheme": "ws",
        "http_version": "1.1",
        "root_path": "",
    }
    await asyncio.wait_for(app(scope, said.get, send), 120)
    return heard


def jobs(trap: Trap) -> Iterator[dict[str, Any]]:
    """Every kind of job, with every text in each of its fields."""
    position = {"game": "2048:board=2x2", "position": "2,0/0,2", "agents": {"player": "random"}}
    kinds = {str: "string", list: "array", dict: "object"}
    for kind, (takes, _) in HANDLERS.items():
        usual = position if kind == "play" else getattr(takes, "example")  # noqa: B009
        fields = {name: kinds.get(type_, "other") for name, (type_, _) in arguments_of(takes).items()}
        for each in questions(trap, fields, usual):
            yield {"type": kind, **each}
    for text in trap.texts:
        for kind in ("ack", "stop", "", text):
            yield {"type": kind, "pace": text, "text": text, "game": text}


def test_no_job_trusts_text(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuplet.web.limits.MESSAGE_BURST", 10**9)
    asked = [each for each in jobs(trap) if len(json.dumps(each)) < MAX_MESSAGE - 100]
    frames = awaited(talk(application(ServerContext(trap.runs)), asked))
    assert {frame["type"] for frame in frames if "type" in frame} == {"websocket.accept"}
    assert sum(frame.get("done", False) for frame in frames) >= len(asked)
    assert not [frame for frame in frames if "internal error" in frame.get("error", "")]
    trap.check("the socket")


# Out of files, and of what is pasted


def test_no_pasted_text_is_trusted(trap: Trap) -> None:
    for text in trap.texts:
        for game in (None, "2048", "ewn", text):
            refused(tuplet.read, text, game)
        refused(tuplet.write, text, text, [], "record", [text])
        refused(tuplet.Record.parse, text)
        trap.check(text)


def refused(do: Callable[..., object], *given: object) -> None:
    """It works, or says why not."""
    with suppress(ValueError, OSError):
        do(*given)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, trained_run: Path) -> Path:
    """A file of each kind that has texts: games, a match, a tournament, a run, a model."""
    folder = tmp_path_factory.mktemp("files")
    tuplet.match("easy", "random", "ewn", games=2, out=folder / "match", progress=False)
    tuplet.tournament(["easy", "random"], "ewn", games=2, out=folder / "cup", progress=False)
    (folder / "games").write_text(RECORD + "\n")
    shutil.copytree(trained_run, folder / "run")
    return folder


def variants(file: Path, trap: Trap) -> Iterator[str]:
    """A file's text with each of its texts replaced by each name."""
    if file.suffix == ".toml":
        held = tomllib.loads(file.read_text())
        yield from (tomli_w.dumps(each) for each in replaced(held, trap.names[::4]))
        return
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines[:2]):
        for each in replaced(json.loads(line), trap.names[::4]):
            yield "\n".join([*lines[:number], json.dumps(each), *lines[number + 1 :]]) + "\n"


def replaced(held: Any, names: list[str]) -> Iterator[Any]:
    """Plain values with each text in them replaced, and each first word."""
    if isinstance(held, str):
        yield from names
        yield from (f"{name} {held.partition(' ')[2]}" for name in names if " " in held)
    elif isinstance(held, dict):
        for key, value in held.items():
            yield from ({**held, key: each} for each in replaced(value, names))
    elif isinstance(held, list) and held:
        yield from ([each, *held[1:]] for each in replaced(held[0], names))


READERS: tuple[Callable[[Path], object], ...] = (
    load,
    lambda file: load_game(file, 1),
    read_game,
    lambda file: tuplet.Run.load(file.parent),
    lambda file: list_runs(file.parent.parent),
)


def test_no_text_in_a_file_is_trusted(trap: Trap, files: Path) -> None:
    texts = [f for f in sorted(files.rglob("*")) if f.suffix in ("", ".toml", ".json", ".jsonl")]
    texts = [f for f in texts if f.is_file() and f.stat().st_size and not f.name.startswith(".")]
    assert {"match", "cup", "games", "config.toml", "metrics.jsonl"} <= {f.name for f in texts}
    for file in texts:
        here = trap.runs / "run" / file.name
        shutil.rmtree(here.parent, ignore_errors=True)
        shutil.copytree(files / "run", here.parent)
        for text in variants(file, trap):
            here.write_text(text)
            for reader in READERS:
                refused(reader, here)
            trap.check(f"{file.name}: {text}")


# Who may say that a text is trusted

DOORS = {  # what a person typed comes in here, and what other processes of theirs are sent
    "games/registry.py": "tuplet.game",
    "agents/agent.py": "a search made in Python, and its game",
    "agents/searchers.py": "Mcts(ucb=...) in Python",
    "agents/distribution.py": "weights that this program wrote, for its workers",
    "arena/match.py": "a match's game, for its workers",
    "arena/bench.py": "tuplet.bench",
    "arena/sweep.py": "tuplet.sweep_train",
    "learn/settings.py": "settings that were typed",
    "learn/train.py": "tuplet.train, resume and learn_from",
}
TYPED = {  # who takes a game's name as typed: public functions and commands
    "agents/listing.py",
    "arena/bench.py",
    "testing/agents.py",
    "testing/games.py",
    "web/serve.py",
    "adapters/openspiel.py",
    "adapters/pettingzoo.py",
    "cli/play.py",
    "cli/compete.py",
}


def test_text_is_trusted_only_in_listed_places() -> None:
    """A new place that trusts a text is put on the list above, or does not trust it."""
    trusting, typed = set(), set()
    for file in SOURCE.rglob("*.py"):
        name = file.relative_to(SOURCE).as_posix()
        text = file.read_text()
        if "trusted" not in text and "registry" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.keyword) and node.arg == "trusted":
                trusting |= {name} if getattr(node.value, "value", False) is True else set()
            if isinstance(node, ast.ImportFrom) and node.module == "tuplet.games.registry":
                typed |= {name for each in node.names if each.name == "game"}
    assert trusting == set(DOORS)
    assert typed == TYPED


def test_public_functions_trust_no_text_in_a_server(trap: Trap) -> None:
    """Public functions take a plain text as typed: not where a stranger's request is answered."""
    with user_code.untrusted_input():
        for do in (
            lambda: tuplet.game("evil.py:GAME"),
            lambda: tuplet.make_agent("evil.py:Class", "ewn"),
            lambda: tuplet.make_agent("exec:./program"),
            lambda: tuplet.make_agent("net.safetensors", "2048"),
            lambda: tuplet.match("exec:./program", "easy", games=2),
            lambda: tuplet.analyze("evil:GAME", START, "easy"),
            lambda: tuplet.make_agent("mcts:ucb=evil:Class", "ewn"),
            lambda: tuplet.train(learner="evil.py:LEARNER", games=1),
            lambda: user_code.find("evil.py:GAME", trusted=True),
        ):
            with pytest.raises(ValueError, match=r"from here|is not loaded"):
                do()
    trap.check("a server")
    assert user_code.may_trust()
