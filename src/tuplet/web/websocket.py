"""The websocket: a search as it grows, a game that agents play, a review and its progress.

A job belongs to the socket that started it and ends with it. At most one frame of a job is on its way: the next is
sent when the client acknowledges it (`ack`), and has everything since. So nothing queues up, however slow the client.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from time import monotonic as time_now
from typing import Any

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from tuplet.errors import UserError
from tuplet.games.analysis import Analysis
from tuplet.kernel import compiling
from tuplet.system.progress import Progress
from tuplet.system.stop import Stopped
from tuplet.system.text import in_one_line
from tuplet.web import endpoints, limits
from tuplet.web.context import ServerContext
from tuplet.web.jobs import AgentGame, Frame, Job, check_pace
from tuplet.web.limits import Busy
from tuplet.web.schema import check_arguments

_log = logging.getLogger(__name__)


class ProtocolError(Exception):
    """A message that breaks the protocol: the socket is closed."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Session:
    """A socket and its jobs."""

    def __init__(self, context: ServerContext, socket: WebSocket) -> None:
        self.context, self.socket = context, socket
        self.client = socket.client.host if socket.client else ""
        self.jobs: dict[int, Job] = {}
        self.last_message = time_now()
        self._allowance = float(limits.MESSAGE_BURST)
        self._outgoing: asyncio.Queue[Frame] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    @property
    def idle(self) -> bool:
        """Whether the client watches none of its jobs."""
        return all(job.stalled for job in [*self.jobs.values()])

    def send(self, frame: Frame) -> None:
        """Send a frame, from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._outgoing.put_nowait, frame)

    async def run(self) -> None:
        """Serve the socket until the client disconnects, is silent for too long, or breaks the protocol."""
        writer = asyncio.create_task(self._write())
        try:
            while (message := await self._receive())["type"] != "websocket.disconnect":
                self._handle(message.get("text"))
        except ProtocolError as error:
            await self.close(error.code, str(error))
        finally:
            for job in self.jobs.values():
                job.cancel()
            writer.cancel()

    async def close(self, code: int, reason: str) -> None:
        """Close the socket; a page that is still open connects again when it needs to."""
        if self.socket.application_state is WebSocketState.CONNECTED:
            with suppress(WebSocketDisconnect):
                await self.socket.close(code, reason[:120])

    async def _receive(self) -> Message:
        try:
            async with asyncio.timeout(limits.IDLE_TIMEOUT):
                return await self.socket.receive()
        except TimeoutError:
            raise ProtocolError(1001, "closed: no message for an hour") from None

    async def _write(self) -> None:
        with suppress(WebSocketDisconnect):
            while self.socket.application_state is WebSocketState.CONNECTED:
                frame = await self._outgoing.get()
                if frame.get("done"):  # first: the client may start the next job at once
                    self.jobs.pop(frame["id"], None)
                await self.socket.send_text(json.dumps(frame, separators=(",", ":")))
        for job in self.jobs.values():
            job.cancel()

    def _handle(self, text: str | None) -> None:
        if text is None:
            raise ProtocolError(1003, "a message must be text, not bytes")
        self._limit_rate(len(text))
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise ProtocolError(1003, "a message must be a JSON object") from None
        number = message.pop("id", None) if isinstance(message, dict) else None
        if type(number) is not int or not 0 <= number < 2**53:
            raise ProtocolError(1003, "a message must be a JSON object with the number of a job, id")
        kind, job = message.pop("type", None), self.jobs.get(number)
        if kind in ("ack", "stop", "pace"):
            if job is not None:
                self._steer(job, kind, message)
        elif not isinstance(kind, str) or kind not in HANDLERS:
            known = ", ".join([*HANDLERS, "ack", "stop", "pace"])
            self.send({"id": number, "error": f"type must be one of {known}", "done": True})
        elif job is not None:
            self.send({"id": number, "error": f"job {number} is still running", "done": False})
        elif len(self.jobs) >= limits.MAX_JOBS:
            error = f"at most {limits.MAX_JOBS} jobs can run on a socket: stop one first"
            self.send({"id": number, "error": error, "done": True})
        else:
            self.jobs[number] = job = Job(number, self.send)
            run = copy_context().run  # a new thread would not know that its input is not trusted
            threading.Thread(target=run, args=(self._work, job, kind, message), daemon=True).start()

    def _limit_rate(self, size: int) -> None:
        now = time_now()
        gained = (now - self.last_message) * limits.MESSAGE_RATE
        self._allowance = min(self._allowance + gained, limits.MESSAGE_BURST) - 1 - (size >> 14)
        self.last_message = now
        if self._allowance < 0 or self._outgoing.qsize() > limits.MAX_QUEUED_FRAMES:
            raise ProtocolError(1008, "too many messages")

    def _steer(self, job: Job, kind: str, message: Frame) -> None:
        if kind == "ack":
            job.ack()
        elif kind == "stop":
            job.cancel()
        else:
            try:
                job.pace = check_pace(message.get("pace", 0))
            except UserError as error:
                raise ProtocolError(1003, str(error)) from None

    def _work(self, job: Job, kind: str, message: Frame) -> None:
        """Run a job to its end, in a thread."""
        takes, run = HANDLERS[kind]
        done = threading.Event()
        threading.Thread(target=_supervise, args=(job, kind, done), daemon=True).start()
        try:
            with self.context.job(job.stop, self.client):
                last = run(self.context, job, **check_arguments(takes, message))
        except Stopped:
            last = {}
        except Exception as error:
            if not isinstance(error, UserError | Busy | MemoryError):
                _log.exception("Exception in a job (%s)", kind)
            last = {"error": in_one_line(error_text(error))}
        finally:
            done.set()
        job.finish(last)


def error_text(error: Exception) -> str:
    """The text that a client receives for an error."""
    if isinstance(error, MemoryError):
        return "not enough memory for this"
    if isinstance(error, UserError | Busy | Stopped):
        return str(error)
    return f"internal error ({type(error).__name__}): this is a bug; the server's terminal shows the traceback"


def _supervise(job: Job, kind: str, done: threading.Event) -> None:
    """Tell the client while something is compiled, and stop a job that takes too long."""
    began = time_now()
    while not done.wait(0.3):
        if compiling():
            job.update({"compiling": True})
        if kind != "play" and time_now() - began > limits.JOB_TIMEOUT:
            job.cancel()


def _analyze(context: ServerContext, job: Job, **arguments: Any) -> Frame:
    def watch(analysis: Analysis) -> None:
        if job.ready:
            frame = analysis.as_json()
            frame.pop("growth", None)  # the last frame has it
            job.update({"analysis": frame})

    return {"analysis": endpoints.analyze(context, **arguments, watch=watch, stop=job.stop)}


def _review(context: ServerContext, job: Job, **arguments: Any) -> Frame:
    def progress(event: Progress) -> None:
        if job.ready:
            job.update({"done_moves": int(event.done), "moves": int(event.total or 0)})

    return {"review": endpoints.review(context, **arguments, progress=progress, stop=job.stop)}


def _play(context: ServerContext, job: Job, **arguments: Any) -> Frame:
    return AgentGame(context, job, **arguments).run()


HANDLERS: dict[str, tuple[Callable[..., object], Callable[..., Frame]]] = {  # whose arguments they take
    "analyze": (endpoints.analyze, _analyze),
    "play": (AgentGame.__init__, _play),
    "review": (endpoints.review, _review),
}
