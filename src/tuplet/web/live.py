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
from time import monotonic as time_now
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from tuplet.games import life
from tuplet.games.analysis import Analysis
from tuplet.games.g2048.position import Standing
from tuplet.kernel import compiling
from tuplet.system.harmless import in_one_line
from tuplet.system.progress import Progress
from tuplet.system.stop import Stop, Stopped
from tuplet.web import answers
from tuplet.web.calls import checked
from tuplet.web.desk import Busy, Desk

MOST_SOCKETS = 128
MOST_JOBS = 4  # of a socket
MOST_MESSAGE = 16 * 1024  # bytes
MOST_TEXT = 1 << 20  # bytes, of a game that comes in pieces
MOST_STEPS = 500  # in a frame: whoever plays faster waits for the one who looks
PER_SECOND, AT_ONCE = 200, 400  # messages
LONGEST = 600.0  # seconds of a job, but for one that plays
IDLE = 3600.0  # seconds after which a silent socket is closed

Frame = dict[str, Any]


class Job:
    """Something under way in a thread of its own, and the frames it has for its client."""

    def __init__(self, number: int, send: Callable[[Frame], None]) -> None:
        self.number, self.stop, self._send = number, Stop(), send
        self.dressed: Callable[[Frame], Frame] = dict  # a frame as it is sent
        self._lock = threading.Condition()
        self._ready = True  # the client has drawn the last frame
        self._next: Frame = {}
        self.pace = 0.0  # seconds a move at least
        self.ended = False

    def tell(self, news: Frame) -> None:
        """Send something, or put it to what waits to be sent: lists grow, the rest is replaced."""
        with self._lock:
            self._next.pop("compiling", None)
            for name, value in news.items():
                if isinstance(value, list) and name in self._next:
                    self._next[name] += value
                else:
                    self._next[name] = value
            self._flush()

    def end(self, news: Frame) -> None:
        """The last frame, whoever is ready."""
        with self._lock:
            self.ended = True
            more = {"stopped": True} if self.stop.is_set() and "error" not in news else {}
            self._next.pop("compiling", None)
            rest = self.dressed(self._next) if self._next else {}
            self._send({"id": self.number, **rest, **news, **more, "done": True})
            self._lock.notify_all()

    def more(self) -> None:
        """The client has drawn what it was sent."""
        with self._lock:
            self._ready = True
            self._flush()
            self._lock.notify_all()

    def cancel(self) -> None:
        """End it."""
        self.stop.set()
        with self._lock:
            self._lock.notify_all()

    @property
    def ready(self) -> bool:
        """Whether the client would see what is told now."""
        return self._ready and not self.ended

    def wait(self, seconds: float, least: int = 0) -> None:
        """Wait, unless it is told to stop; or until fewer than so many steps wait to be sent."""
        with self._lock:
            self._lock.wait_for(
                lambda: self.stop.is_set() or len(self._next.get("steps", ())) < least, seconds
            )

    def _flush(self) -> None:
        if self._ready and self._next and not self.ended:
            self._send({"id": self.number, **self.dressed(self._next), "done": False})
            self._ready, self._next = False, {}


class Session:
    """A socket and its jobs."""

    def __init__(self, desk: Desk, socket: WebSocket) -> None:
        self.desk, self.socket = desk, socket
        self.jobs: dict[int, Job] = {}
        self.texts: dict[int, list[str]] = {}
        self._outgoing: asyncio.Queue[Frame] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._allowance, self._then = float(AT_ONCE), time_now()

    def send(self, frame: Frame) -> None:
        """From any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._outgoing.put_nowait, frame)

    async def run(self) -> None:
        """Until somebody leaves, or says something that is no message."""
        await self.socket.accept()
        writer = asyncio.create_task(self._write())
        try:
            while True:
                async with asyncio.timeout(IDLE):
                    text = await self.socket.receive_text()
                self._count()
                self._take(text)
        except (WebSocketDisconnect, TimeoutError, RuntimeError, KeyError):
            pass  # it has left, or sent bytes
        except _Rubbish as rubbish:
            await self._close(rubbish.code, str(rubbish))
        finally:
            for job in self.jobs.values():
                job.cancel()
            writer.cancel()

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
        if self._allowance < 0:
            raise _Rubbish(1008, "too many messages")

    def _take(self, text: str) -> None:
        if len(text) > MOST_MESSAGE:
            raise _Rubbish(1009, "a message has 16 KiB at most")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise _Rubbish(1003, "a message is a JSON object") from None
        number = given.pop("id", None) if isinstance(given, dict) else None
        if type(number) is not int or not 0 <= number < 2**53:
            raise _Rubbish(1003, "a message is a JSON object with the number of a job, id")
        do = given.pop("do", None)
        job = self.jobs.get(number)
        if do in ("more", "stop", "pace"):
            if job is not None:
                self._steer(job, do, given)
        elif do == "text":
            self._gather(number, given.get("text"))
        elif do not in DOES:
            known = ", ".join([*DOES, "text", "more", "stop", "pace"])
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
            job.pace = _pace(given.get("pace", 0))

    def _gather(self, number: int, text: object) -> None:
        """A piece of a long text."""
        if not isinstance(text, str):
            raise _Rubbish(1003, "a text is a text")
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
                with self.desk.job(job.stop):
                    done = threading.Event()
                    threading.Thread(target=_watch_over, args=(job, do, done), daemon=True).start()
                    try:
                        last = DOES[do](self.desk, job, given, pieces)
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

        threading.Thread(target=work, daemon=True, name=f"tuplet-{do}").start()


class _Rubbish(Exception):  # noqa: N818
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
        raise _Rubbish(1003, "the pace is 0 to 60 seconds a move")
    return float(pace)  # type: ignore[arg-type]


def _analyze(desk: Desk, job: Job, given: Frame, _: str) -> Frame:
    """A search as it grows."""

    def watch(found: Analysis) -> None:
        if job.ready:
            told = found.as_json()
            told.pop("growth", None)  # it comes with the last
            job.tell({"analysis": told})

    asked = checked(answers.analyze, given)
    return {"analysis": answers.analyze(desk, **asked, watch=watch, stop=job.stop)}


def _review(desk: Desk, job: Job, given: Frame, pieces: str) -> Frame:
    """A game gone through."""

    def progress(event: Progress) -> None:
        if job.ready:
            job.tell({"done_moves": int(event.done), "moves": int(event.total or 0)})

    asked = checked(answers.review, {"record": pieces, **given})
    return {"review": answers.review(desk, **asked, progress=progress, stop=job.stop)}


def _read(desk: Desk, _: Job, given: Frame, pieces: str) -> Frame:
    """A long game that was pasted."""
    return {"read": answers.read(desk, **checked(answers.read, {"text": pieces, **given}))}


def _write(desk: Desk, _: Job, given: Frame, pieces: str) -> Frame:
    """A long game to be copied; its steps come in pieces."""
    try:
        steps = json.loads(pieces) if pieces else None
    except (ValueError, RecursionError):
        raise ValueError("the pieces of a game to be written are the JSON of its steps") from None
    asked = {"steps": steps, **given} if pieces else given
    return {"write": answers.write(desk, **checked(answers.write, asked))}


def _play(desk: Desk, job: Job, given: Frame, _: str) -> Frame:
    """Agents play, until the game is over or somebody else is to move."""
    given = dict(given)
    job.pace = _pace(given.pop("pace", 0))
    return Playing(desk, job, **checked(asked_of_play, given)).run()


def asked_of_play(
    *,
    game: str,
    position: str,
    agents: dict[str, str],
    luck: str | None = None,
    depth: int | None = None,
    time: float | None = None,
    moves: int | None = None,
    thoughts: bool = False,
) -> None:
    """What `play` takes."""


class Playing:
    """A game that agents play before somebody's eyes."""

    def __init__(
        self, desk: Desk, job: Job, *, game: str, position: str, agents: dict[str, Any],
        luck: str | None = None, depth: int | None = None, time: float | None = None,
        moves: int | None = None, thoughts: bool = False,
    ) -> None:  # fmt: skip
        held = desk.game(game)
        self.job, self.thoughts, self.left = job, thoughts, moves
        self.position, self.luck = desk.position(held, position), answers.luck_of(luck)
        self.agents: dict[str, Any] = {}
        for side, text in agents.items():
            if side not in held.sides or not isinstance(text, str):
                sides = " and ".join(held.sides)
                raise ValueError(f"agents are named by the sides of {held.name}: {sides}")
            made = answers.looking(desk.agent(text, held), depth, time)
            life.begin(made, self.position, side, answers.luck_of(None))
            if hasattr(made, "stop"):
                made.stop = job.stop
            self.agents[side] = made
        self._made, self._began = 0, time_now()
        job.dressed = self._dressed

    def run(self) -> Frame:
        """Play; the last frame has what was not sent yet."""
        job = self.job
        while not self.position.over and not job.stop.is_set():
            began, before = time_now(), self.position
            if before.is_chance:
                self.luck, self.position, outcome = answers.happened(before, None, self.luck)
                self._tell([None, outcome, 0, self.position.notation])
                continue
            if before.turn not in self.agents or self.left == 0:
                break
            agent = self.agents[before.turn]
            move = str(agent.choose(before))
            if job.stop.is_set():
                break  # what it had by then is not its choice
            more: Frame = {"moved": (before, move)}
            if self.thoughts and life.tells(agent) and (job.ready or job.pace):
                more["found"] = life.thoughts(agent, before, move)
            after, reward = answers.played(before, move)
            self.luck, self.position, outcome = answers.happened(after, None, self.luck)
            self._tell([move, outcome, reward, self.position.notation], **more)
            self.left = None if self.left is None else self.left - 1
            job.wait(job.pace - (time_now() - began))
            job.wait(IDLE, MOST_STEPS)
        return self._at(self.position, self.luck)

    def _tell(self, step: list[Any], **more: Any) -> None:
        self._made += 1
        self.job.tell({"steps": [step], "at": (self.position, self.luck), **more})

    def _dressed(self, frame: Frame) -> Frame:
        """A frame as it is sent: plain values, of the last move alone what is of one move."""
        if "steps" not in frame:
            return frame
        told: Frame = {"steps": frame["steps"], **self._at(*frame["at"])}
        if (used := time_now() - self._began) > 0.5:
            told["moves_per_s"] = self._made / used
        if "found" in frame:
            told["analysis"] = frame["found"].as_json()
        if (
            len(frame["steps"]) == 1
            and "moved" in frame
            and isinstance(frame["moved"][0], Standing)
        ):
            told["motion"] = answers.motion(*frame["moved"])
        return told

    def _at(self, position: Any, luck: Any) -> Frame:
        return {"position": position.as_json(), "luck": answers.luck_text(luck)}


DOES: dict[str, Callable[[Desk, Job, Frame, str], Frame]] = {
    "analyze": _analyze,
    "play": _play,
    "review": _review,
    "read": _read,
    "write": _write,
}
