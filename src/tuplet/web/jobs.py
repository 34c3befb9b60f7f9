"""Jobs of the socket, and the one that takes longest: a game that agents play."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic as time_now
from typing import Any

from tuplet.errors import UserError
from tuplet.games import life
from tuplet.games.g2048.position import Standing
from tuplet.system.stop import Stop, Stopped
from tuplet.web import endpoints
from tuplet.web.context import ServerContext, turn_of

MOST_STEPS = 500  # in a frame: whoever plays faster waits for the one who looks
STALLED = 10.0  # seconds without an answer to a frame after which nobody looks
LONGEST_WAIT = 3600.0  # seconds for somebody who does not look

Frame = dict[str, Any]


class Job:
    """Something under way in a thread of its own, and the frames it has for its client."""

    def __init__(self, number: int, send: Callable[[Frame], None]) -> None:
        self.number, self.stop, self._send = number, Stop(), send
        self.serialize: Callable[[Frame], Frame] = dict  # a frame as it is sent
        self._lock = threading.Condition()
        self._ready = True  # the client has drawn the last frame
        self._sent = 0.0  # when that was sent
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
            rest = self.serialize(self._next) if self._next else {}
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

    @property
    def stalled(self) -> bool:
        """Whether the client has not drawn the last frame for long."""
        return not self._ready and time_now() - self._sent > STALLED

    def wait(self, seconds: float) -> None:
        """Wait, unless it is told to stop."""
        with self._lock:
            self._lock.wait_for(self.stop.is_set, seconds)

    def wait_for_client(self, seconds: float) -> bool:
        """Wait until the client looks, and few steps are on their way; whether it does by then."""

        def looks() -> bool:
            few = len(self._next.get("steps", ())) < MOST_STEPS
            return self.stop.is_set() or (few and not self.stalled)

        with self._lock:
            return self._lock.wait_for(looks, seconds)

    def _flush(self) -> None:
        if self._ready and self._next and not self.ended:
            self._send({"id": self.number, **self.serialize(self._next), "done": False})
            self._ready, self._next, self._sent = False, {}, time_now()


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


class AgentGame:
    """A game that agents play before somebody's eyes."""

    def __init__(
        self,
        context: ServerContext,
        job: Job,
        *,
        game: str,
        position: str,
        agents: dict[str, Any],
        luck: str | None = None,
        depth: int | None = None,
        time: float | None = None,
        moves: int | None = None,
        thoughts: bool = False,
    ) -> None:
        held = context.game(game)
        self.context, self.job, self.thoughts, self.left = context, job, thoughts, moves
        self.position, self.luck = context.position(held, position), endpoints.rng_from(luck)
        for side, text in agents.items():
            if side not in held.sides or not isinstance(text, str):
                sides = " and ".join(held.sides)
                raise UserError(f"agents are named by the sides of {held.name}: {sides}")

        def make(side: str) -> Any:
            made = context.agent(agents[side], held, job.stop)
            made = endpoints.looking(made, depth, time)
            if hasattr(made, "stop"):
                made.stop = job.stop
            return made

        self._sides, self._make = list(agents), make
        self._made, self._began = 0, time_now()
        job.serialize = self._dressed

    def run(self) -> Frame:
        """Play; the last frame has what was not sent yet.

        While nobody looks there are no agents: what they keep in memory is for others.
        """
        with suppress(Stopped):
            while not self._finished():
                if not self.job.wait_for_client(LONGEST_WAIT):
                    raise UserError("the game was given up: nobody looked at it for an hour")
        return self._at(self.position, self.luck)

    def _finished(self) -> bool:
        """Make agents and let them play; whether that was all, or nobody looks any longer."""
        agents = {side: self._make(side) for side in self._sides}
        with self.context.taking(self.job.stop, *agents.values()):
            for side, agent in agents.items():  # not before: an agent may take its memory now
                life.begin(agent, self.position, side, endpoints.rng_from(None))
            return self._play(agents)

    def _play(self, agents: dict[str, Any]) -> bool:
        """Play on; whether that was all. It is not when nobody looks any longer."""
        job = self.job
        while not self.position.over and not job.stop.is_set():
            began, before = time_now(), self.position
            if before.is_chance:
                self.luck, self.position, outcome = endpoints.apply_chance(before, None, self.luck)
                self._tell([None, outcome, 0, self.position.notation])
                continue
            if before.turn not in agents or self.left == 0:
                break
            agent = agents[before.turn]
            with self.context.taking(job.stop, turn=turn_of(agent), patience=LONGEST_WAIT):
                move = str(agent.choose(before))
                if job.stop.is_set():
                    break  # what it had by then is not its choice
                more: Frame = {"moved": (before, move)}
                if self.thoughts and life.tells(agent) and (job.ready or job.pace):
                    more["found"] = life.thoughts(agent, before, move)
            after, reward = endpoints.played(before, move)
            self.luck, self.position, outcome = endpoints.apply_chance(after, None, self.luck)
            self._tell([move, outcome, reward, self.position.notation], **more)
            self.left = None if self.left is None else self.left - 1
            job.wait(job.pace - (time_now() - began))
            if not job.wait_for_client(STALLED):
                return False
        return True

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
        if len(frame["steps"]) == 1 and "moved" in frame and isinstance(frame["moved"][0], Standing):
            told["motion"] = endpoints.motion(*frame["moved"])
        return told

    def _at(self, position: Any, luck: Any) -> Frame:
        return {"position": endpoints.shown(position), "luck": endpoints.rng_text(luck)}
