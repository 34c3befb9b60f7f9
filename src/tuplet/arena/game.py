"""One game between two agents."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import Agent, Named, agent_from
from tuplet.agents.placing import RECOMMENDED, arranged, arrangement, is_recommended, is_unmoved
from tuplet.agents.specs import label_of
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.record import FORFEITS, Forfeit, Record
from tuplet.kernel import describe_error
from tuplet.system.stop import Stop

_STREAMS = np.uint64(0), np.uint64(1), np.uint64(2)
_REASON = 200  # characters of a forfeit's reason that are kept


def play_game(
    first: Named,
    second: Named,
    start: Any,
    *,
    rolls: np.uint64 = _STREAMS[0],
    streams: tuple[np.uint64, np.uint64] = _STREAMS[1:],
    time_limit: float | None = None,
    stop: Stop | None = None,
) -> Record:
    """Let two agents play from `start` on; `first` has the side that moves first.

    An agent is an object, a class, or a name. `rolls` is the random stream of chance, `streams` are those of the
    agents. An agent that raises an exception, chooses an illegal move, or takes longer than `time_limit` seconds
    for a move loses by forfeit. If `stop` is set, the game is returned unfinished: agents with a `stop` attribute
    see it while they think, and their last choice does not count. Where an agent places its own cubes (`place`), one
    that does not has them placed as recommended.
    """
    if len(start.sides) != 2:
        raise UserError(f"{start.game.name} has one player: use play_episode")
    if start.over:
        raise UserError("the game is over: there is nothing to play")
    made = [agent_from(first, start.game), agent_from(second, start.game)]
    agents: dict[str, Agent] = dict(zip(start.sides, made, strict=True))
    record = Record((label_of(first, made[0]), label_of(second, made[1])), start)
    side: str
    try:
        with agent_hooks.listening(stop, *made):
            if start.game.family == "ewn" and any(agent_hooks.has(agent, "place") for agent in made):
                orders = {}
                for side in start.sides:
                    orders[side] = _place(agents[side], start, side)
                start = _arranged(start, orders, streams[0])
                record = Record(record.names, start)
            for side, state in zip(start.sides, streams, strict=True):
                _ask(agent_hooks.begin, agents[side], start, side, state)
            while not record.over and not agent_hooks.is_stopped(stop):
                if record.position.is_chance:
                    rolls, outcome = record.position.random_outcome(rolls)
                    record.apply_outcome(outcome)
                    continue
                side = record.position.turn
                _move(agents[side], record, time_limit, stop)
    except Forfeit as forfeit:
        if not agent_hooks.is_stopped(stop):  # an agent that was interrupted is not to blame
            record.forfeit(side, forfeit.kind, _in_one_line(forfeit.reason), forfeit.transcript)
    if record.over and record.termination not in FORFEITS:
        for agent in made:  # one of them has not seen the last move yet
            with suppress(Forfeit):  # too late to lose
                _ask(agent_hooks.end, agent, record.position)
    for agent, named in zip(made, (first, second), strict=True):
        if agent is not named and agent_hooks.has(agent, "close"):
            with suppress(Forfeit):
                _ask(agent.close)
    return record


def _place(agent: Any, start: Any, side: str) -> str:
    """How an agent arranges its cubes, "" if it does not; what is no arrangement loses the game."""
    order = _ask(agent.place, start, side) if agent_hooks.has(agent, "place") and is_unmoved(start) else ""
    numbers = sorted(arrangement(start, side)) if order else []
    if order and (not isinstance(order, str) or sorted(order) != numbers):
        raise Forfeit("illegal", f"it placed its cubes as {order!r}")
    return str(order)


def _arranged(start: Any, orders: dict[str, str], state: np.uint64) -> Any:
    """The start with these arrangements; if one side has placed its cubes, the other's are recommended ones."""
    if not any(orders.values()):
        return start
    if is_recommended(start.game):
        orders = {side: order or RECOMMENDED for side, order in orders.items()}
    return arranged(start, {side: order for side, order in orders.items() if order}, state)


def _move(agent: Agent, record: Record, time_limit: float | None, stop: Stop | None) -> None:
    began = time.perf_counter()
    move = _ask(agent.choose, record.position)
    took = time.perf_counter() - began
    if agent_hooks.is_stopped(stop):
        return
    if time_limit is not None and took > time_limit:
        raise Forfeit("late", f"{took:.2f} s for a move, {time_limit:g} s are allowed")
    if not isinstance(move, str):
        raise Forfeit("illegal", f"a move must be a text (got a {type(move).__name__})")
    try:
        record.play(move)
    except ValueError as error:
        raise Forfeit("illegal", str(error)) from None


def _ask(method: Callable[..., Any], *arguments: object) -> Any:
    """Call a user's code; an exception loses the game."""
    try:
        return method(*arguments)
    except Forfeit:
        raise
    except (Exception, SystemExit) as error:
        raise Forfeit("crashed", crash_text(error)) from None


def crash_text(error: BaseException) -> str:
    """An exception of a user's code and where it was raised, in one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{describe_error(error)} ({Path(last.filename).name}, line {last.lineno})"


def _in_one_line(text: object) -> str:
    line = " ".join(str(text).split())
    line = "".join(each if each.isprintable() else "?" for each in line)
    return line if len(line) <= _REASON else line[: _REASON - 3] + "..."
