"""Jobs of the websocket, and the longest of them: a game that agents play while a client watches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic as time_now
from typing import Any

from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.system.stop import Stop, Stopped
from tuplet.web import endpoints, limits
from tuplet.web.context import ServerContext, turn_of

Frame = dict[str, Any]


class Job:
    """Work in a thread, and the frames that it sends to its client."""

    def __init__(self, number: int, send: Callable[[Frame], None]) -> None:
        self.number, self.stop, self._send = number, Stop(), send
        self.serialize: Callable[[Frame], Frame] = dict  # makes a frame plain values
        self.pace = 0.0  # seconds per move, at least
        self.done = False
        self._condition = threading.Condition()
        self._acknowledged = True  # the client has drawn the last frame
        self._sent = 0.0  # the time when it was sent
        self._next: Frame = {}

    def update(self, news: Frame) -> None:
        """Send a frame, or merge it into the one that waits: lists are extended, other values replaced."""
        with self._condition:
            self._next.pop("compiling", None)
            for name, value in news.items():
                if isinstance(value, list) and name in self._next:
                    self._next[name] += value
                else:
                    self._next[name] = value
            self._flush()

    def finish(self, last: Frame) -> None:
        """Send the last frame, whether or not the one before is acknowledged."""
        with self._condition:
            self.done = True
            stopped = {"stopped": True} if self.stop.is_set() and "error" not in last else {}
            self._next.pop("compiling", None)
            rest = self.serialize(self._next) if self._next else {}
            self._send({"id": self.number, **rest, **last, **stopped, "done": True})
            self._condition.notify_all()

    def ack(self) -> None:
        """The client has drawn the last frame."""
        with self._condition:
            self._acknowledged = True
            self._flush()
            self._condition.notify_all()

    def cancel(self) -> None:
        """Stop the job."""
        self.stop.set()
        with self._condition:
            self._condition.notify_all()

    @property
    def ready(self) -> bool:
        """Whether a frame would be sent at once."""
        return self._acknowledged and not self.done

    @property
    def stalled(self) -> bool:
        """Whether the client has not acknowledged the last frame for long."""
        return not self._acknowledged and time_now() - self._sent > limits.STALL_TIMEOUT

    def wait(self, seconds: float) -> None:
        """Sleep, or until the job is stopped."""
        with self._condition:
            self._condition.wait_for(self.stop.is_set, seconds)

    def wait_for_client(self, seconds: float) -> bool:
        """Wait until the client watches and few moves wait to be sent; False if it does not by then."""

        def watches() -> bool:
            few = len(self._next.get("steps", ())) < limits.MAX_STEPS
            return self.stop.is_set() or (few and not self.stalled)

        with self._condition:
            return self._condition.wait_for(watches, seconds)

    def _flush(self) -> None:
        if self.ready and self._next:
            self._send({"id": self.number, **self.serialize(self._next), "done": False})
            self._acknowledged, self._next, self._sent = False, {}, time_now()


def check_pace(pace: object) -> float:
    """Seconds per move. Raises UserError if that is not a number from 0 to 60."""
    if type(pace) not in (int, float) or not 0 <= pace <= 60:  # type: ignore[operator]
        raise UserError(f"pace must be 0 to 60 seconds per move (got {pace})")
    return float(pace)  # type: ignore[arg-type]


class AgentGame:
    """A game that agents play for some sides, until it is over or another side is to move."""

    def __init__(
        self,
        context: ServerContext,
        job: Job,
        *,
        game: str,
        position: str,
        agents: dict[str, Any],
        rng: str | None = None,
        depth: int | None = None,
        time: float | None = None,
        moves: int | None = None,
        pace: float = 0.0,
        analysis: bool = False,
    ) -> None:
        played = context.game(game)
        self.context, self.job, self.analysis, self.moves_left = context, job, analysis, moves
        self.position, self.rng = played.parse(position), endpoints.rng_from(rng)
        job.pace = check_pace(pace)
        job.serialize = self._serialize
        for side, text in agents.items():
            if side not in played.sides or not isinstance(text, str):
                raise UserError(f"agents must be named by the sides of {played.name}: {' and '.join(played.sides)}")

        def make(side: str) -> Any:
            agent = endpoints.with_lookahead(context.agent(agents[side], played, job.stop), depth, time)
            if hasattr(agent, "stop"):
                agent.stop = job.stop
            return agent

        self._sides, self._make = list(agents), make
        self._played, self._began = 0, time_now()

    def run(self) -> Frame:
        """Play; the last frame has the final position.

        While the client does not watch there are no agents: their memory is free for others.
        """
        with suppress(Stopped):
            while not self._play():
                if not self.job.wait_for_client(limits.IDLE_TIMEOUT):
                    raise UserError("the game was stopped: nobody watched it for an hour")
        return self._state(self.position, self.rng)

    def _play(self) -> bool:
        """Make the agents and let them play to the end; False if the client stops watching before."""
        agents = {side: self._make(side) for side in self._sides}
        with self.context.taking(self.job.stop, *agents.values()):
            for side, agent in agents.items():  # here, because an agent may allocate its memory now
                agent_hooks.begin(agent, self.position, side, endpoints.rng_from(None))
            while not self.position.over and not self.job.stop.is_set():
                if self.position.is_chance:
                    self.rng, self.position, outcome = endpoints.apply_chance(self.position, None, self.rng)
                    self._update([None, outcome, 0, self.position.notation])
                elif self.position.turn not in agents or self.moves_left == 0:
                    break
                elif not self._move(agents[self.position.turn]):
                    return False
        return True

    def _move(self, agent: Any) -> bool:
        """Play a move; False if the client does not watch any longer."""
        job, before, began = self.job, self.position, time_now()
        details: Frame = {}
        with self.context.taking(job.stop, turn=turn_of(agent), timeout=limits.IDLE_TIMEOUT):
            move = str(agent.choose(before))
            if job.stop.is_set():
                return True  # this may not be its choice: it was interrupted
            if self.analysis and agent_hooks.has(agent, "analyze") and (job.ready or job.pace):
                details["analysis"] = agent_hooks.analysis_of(agent, before, move)
        after, reward = endpoints.apply_move(before, move)
        self.rng, self.position, outcome = endpoints.apply_chance(after, None, self.rng)
        self._update([move, outcome, reward, self.position.notation], moved=(before, move), **details)
        self.moves_left = None if self.moves_left is None else self.moves_left - 1
        job.wait(job.pace - (time_now() - began))
        return job.wait_for_client(limits.STALL_TIMEOUT)

    def _update(self, step: list[Any], **details: Any) -> None:
        self._played += 1
        self.job.update({"steps": [step], "state": (self.position, self.rng), **details})

    def _serialize(self, frame: Frame) -> Frame:
        """A frame as plain values; what belongs to a single move is of the last one."""
        if "steps" not in frame:
            return frame
        plain: Frame = {"steps": frame["steps"], **self._state(*frame["state"])}
        if (seconds := time_now() - self._began) > 0.5:
            plain["moves_per_s"] = self._played / seconds
        if "analysis" in frame:
            plain["analysis"] = frame["analysis"].as_json()
        if len(frame["steps"]) == 1 and "moved" in frame and hasattr(frame["moved"][0], "motion"):
            plain["motion"] = endpoints.motion(*frame["moved"])
        return plain

    def _state(self, position: Any, rng: Any) -> Frame:
        return {"position": endpoints.position_json(position), "rng": endpoints.rng_text(rng)}
