"""The socket: what changes while one looks. A search grows, an agent plays, a game is reviewed.

A job belongs to the socket that asked for it and ends with it. At most one frame of a job is on its
way: the next is sent when the client says `more`, and has all that happened meanwhile, so nothing
queues up however slow somebody looks.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from time import monotonic as time_now
from typing import NamedTuple

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from tuplet.errors import UserError
from tuplet.games.analysis import Analysis
from tuplet.kernel import compiling
from tuplet.system.progress import Progress
from tuplet.system.stop import Stopped
from tuplet.system.text import in_one_line
from tuplet.web import endpoints
from tuplet.web.context import Busy, ServerContext
from tuplet.web.jobs import AgentGame, Frame, Job, asked_of_play
from tuplet.web.schema import checked

MOST_SOCKETS = 128
MOST_JOBS = 4  # of a socket
MOST_MESSAGE = 16 * 1024  # bytes
MOST_TEXT = 1 << 20  # bytes, of a game that comes in pieces
PER_SECOND, AT_ONCE = 200, 400  # messages
MOST_WAITING = 1000  # frames for a client that does not read
LONGEST = 600.0  # seconds of a job, but for one that plays
IDLE = 3600.0  # seconds after which a silent socket is closed


class Session:
    """A socket and its jobs."""

    def __init__(self, context: ServerContext, socket: WebSocket) -> None:
        self.context, self.socket = context, socket
        self.jobs: dict[int, Job] = {}
        self.texts: dict[int, list[str]] = {}
        self._outgoing: asyncio.Queue[Frame] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self.client = socket.client.host if socket.client else ""
        self._allowance, self._then = float(AT_ONCE), time_now()

    @property
    def heard(self) -> float:
        """When it last said something."""
        return self._then

    @property
    def idle(self) -> bool:
        """Whether none of its jobs goes on."""
        return all(job.stalled for job in [*self.jobs.values()])

    def send(self, frame: Frame) -> None:
        """From any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._outgoing.put_nowait, frame)

    async def run(self) -> None:
        """Until the client leaves, is silent for too long, or sends what is no message."""
        writer = asyncio.create_task(self._write())
        try:
            while (message := await self._next())["type"] != "websocket.disconnect":
                self._count()
                self._take(message.get("text"))
        except ProtocolError as rubbish:
            await self._close(rubbish.code, str(rubbish))
        finally:
            for job in self.jobs.values():
                job.cancel()
            writer.cancel()

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout(IDLE):
                return await self.socket.receive()
        except TimeoutError:
            raise ProtocolError(1001, "closed: nothing was asked for an hour") from None

    async def leave(self) -> None:
        """Make room for others; a page that is still there comes back when it needs to."""
        await self._close(1013, "too many connections: this one was not used for longest")

    async def _close(self, code: int, why: str) -> None:
        with suppress(RuntimeError):  # it is closed already
            await self.socket.close(code, why[:120])

    async def _write(self) -> None:
        try:
            while True:
                frame = await self._outgoing.get()
                if frame.get("done"):  # before it is told: there is room for the next at once
                    self.jobs.pop(frame["id"], None)
                await self.socket.send_text(json.dumps(frame, separators=(",", ":")))
        except (WebSocketDisconnect, RuntimeError, OSError):
            for job in self.jobs.values():
                job.cancel()

    def _count(self) -> None:
        """So many messages a second."""
        now = time_now()
        self._allowance = min(self._allowance + (now - self._then) * PER_SECOND, AT_ONCE)
        self._then = now
        self._allowance -= 1
        if self._allowance < 0 or self._outgoing.qsize() > MOST_WAITING:
            raise ProtocolError(1008, "too many messages")

    def _take(self, text: str | None) -> None:
        if text is None:
            raise ProtocolError(1003, "a message is text, not bytes")
        if len(text) > MOST_MESSAGE:
            raise ProtocolError(1009, "a message has 16 KiB at most")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise ProtocolError(1003, "a message is a JSON object") from None
        number = given.pop("id", None) if isinstance(given, dict) else None
        if type(number) is not int or not 0 <= number < 2**53:
            raise ProtocolError(1003, "a message is a JSON object with the number of a job, id")
        do = given.pop("do", None)
        job = self.jobs.get(number)
        if do in ("more", "stop", "pace"):
            if job is not None:
                self._steer(job, do, given)
        elif do == "text":
            self._gather(number, given.get("text"))
        elif not isinstance(do, str) or do not in HANDLERS:
            known = ", ".join([*HANDLERS, "text", "more", "stop", "pace"])
            self.send({"id": number, "error": f"what to do is one of {known}", "done": True})
        elif job is not None:
            self.send({"id": number, "error": f"job {number} is under way", "done": False})
        elif len(self.jobs) >= MOST_JOBS:
            why = f"a socket has {MOST_JOBS} jobs at most: stop one"
            self.send({"id": number, "error": why, "done": True})
        else:
            self._begin(number, do, given)

    def _steer(self, job: Job, do: str, given: Frame) -> None:
        if do == "more":
            job.more()
        elif do == "stop":
            job.cancel()
        else:
            try:
                job.pace = _pace(given.get("pace", 0))
            except ValueError as error:
                raise ProtocolError(1003, str(error)) from None

    def _gather(self, number: int, text: object) -> None:
        """A piece of a long text."""
        if not isinstance(text, str):
            raise ProtocolError(1003, "a text is a text")
        if number not in self.texts and len(self.texts) >= MOST_JOBS:
            self.texts.pop(next(iter(self.texts)))
        pieces = self.texts.setdefault(number, [])
        pieces.append(text)
        if sum(map(len, pieces)) > MOST_TEXT:
            del self.texts[number]
            self.send({"id": number, "error": "a game has 1 MiB at most", "done": True})

    def _begin(self, number: int, do: str, given: Frame) -> None:
        job = self.jobs[number] = Job(number, self.send)
        pieces = "".join(self.texts.pop(number, []))

        def work() -> None:
            try:
                with self.context.job(job.stop, self.client):
                    done = threading.Event()
                    threading.Thread(target=_watch_over, args=(job, do, done), daemon=True).start()
                    try:
                        last = HANDLERS[do].work(self.context, job, self._asked(job, do, given, pieces))
                    finally:
                        done.set()
                job.end(last)
            except Stopped:
                job.end({})
            except (ValueError, OSError, Busy) as error:
                job.end({"error": in_one_line(str(error))})
            except MemoryError:
                job.end({"error": "there is not enough memory for this"})
            except Exception as error:  # whatever it is, the others go on
                job.end({"error": f"this failed: {type(error).__name__}"})

        run = copy_context().run  # a thread would not know that it works for a stranger
        threading.Thread(target=run, args=(work,), daemon=True, name=f"tuplet-{do}").start()

    def _asked(self, job: Job, do: str, given: Frame, pieces: str) -> Frame:
        """What a message gave, checked as HTTP checks it."""
        kind, given = HANDLERS[do], dict(given)
        if do == "play":
            job.pace = _pace(given.pop("pace", 0))
        if pieces and kind.pieces is not None:
            given = {kind.pieces: _joined(kind.pieces, pieces), **given}
        return checked(kind.takes, given)


class ProtocolError(Exception):
    """Something that is no message: the socket is closed."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


def _watch_over(job: Job, do: str, done: threading.Event) -> None:
    """Say when something is compiled, and end what takes too long."""
    began = time_now()
    while not done.wait(0.3):
        if compiling():
            job.tell({"compiling": True})
        if do != "play" and time_now() - began > LONGEST:
            job.cancel()


def _pace(pace: object) -> float:
    if type(pace) not in (int, float) or not 0 <= pace <= 60:  # type: ignore[operator]
        raise UserError("the pace is 0 to 60 seconds a move")
    return float(pace)  # type: ignore[arg-type]


def _joined(name: str, pieces: str) -> object:
    """An argument that came in pieces: a text, or the JSON of the steps of a game."""
    if name != "steps":
        return pieces
    try:
        return json.loads(pieces)
    except (ValueError, RecursionError):
        raise UserError("the pieces of a game to be written are the JSON of its steps") from None


def _analyze(context: ServerContext, job: Job, asked: Frame) -> Frame:
    """A search as it grows."""

    def watch(found: Analysis) -> None:
        if job.ready:
            told = found.as_json()
            told.pop("growth", None)  # it comes with the last
            job.tell({"analysis": told})

    return {"analysis": endpoints.analyze(context, **asked, watch=watch, stop=job.stop)}


def _review(context: ServerContext, job: Job, asked: Frame) -> Frame:
    """A game gone through."""

    def progress(event: Progress) -> None:
        if job.ready:
            job.tell({"done_moves": int(event.done), "moves": int(event.total or 0)})

    return {"review": endpoints.review(context, **asked, progress=progress, stop=job.stop)}


def _read(context: ServerContext, _: Job, asked: Frame) -> Frame:
    """A long game that was pasted."""
    return {"read": endpoints.read(context, **asked)}


def _write(context: ServerContext, _: Job, asked: Frame) -> Frame:
    """A long game to be copied."""
    return {"write": endpoints.write(context, **asked)}


def _play(context: ServerContext, job: Job, asked: Frame) -> Frame:
    """Agents play, until the game is over or somebody else is to move."""
    return AgentGame(context, job, **asked).run()


class Kind(NamedTuple):
    """A kind of job: whose arguments it takes, what is done, and what may come in pieces."""

    takes: Callable[..., object]
    work: Callable[[ServerContext, Job, Frame], Frame]
    pieces: str | None = None


HANDLERS: dict[str, Kind] = {
    "analyze": Kind(endpoints.analyze, _analyze),
    "play": Kind(asked_of_play, _play),
    "review": Kind(endpoints.review, _review, "record"),
    "read": Kind(endpoints.read, _read, "text"),
    "write": Kind(endpoints.write, _write, "steps"),
}
