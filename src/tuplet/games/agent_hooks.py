"""The methods of an agent. It needs one, `choose`; the others are optional:

choose(position)           a legal move, as text
open(start, side, state)   a game begins at `start`; the agent plays `side` ("red"), and has a random
                           stream for this game: an agent that draws only from it repeats its games
place(start, side)         EWN: how it arranges its cubes in the game that will begin ("156243"; "": it does not)
analyze(position)          an `Analysis` of a position
end(last)                  the game ended with the position `last`, and not by a forfeit
close()                    the agent is not needed any more
stop                       None, or a `Stop`: a search that looks at `stop.is_set()` ends early, and
                           chooses with what it has
progress()                 the `Progress` of the move under way; called from other threads
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tuplet.games.analysis import Analysis, MoveValue
from tuplet.system.stop import Stop


def has(agent: object, method: str) -> bool:
    """Whether the agent defines this method."""
    return callable(getattr(agent, method, None))


def begin(agent: Any, start: Any, side: str, state: Any) -> None:
    """Call the agent's `open`, if it has one."""
    if has(agent, "open"):
        agent.open(start, side, state)


def end(agent: Any, last: Any) -> None:
    """Call the agent's `end`, if it has one."""
    if has(agent, "end"):
        agent.end(last)


@contextmanager
def listening(stop: Stop | None, *agents: Any) -> Iterator[None]:
    """Give `stop` to agents that have a `stop`, for the time of the context."""
    able = [each for each in agents if isinstance(getattr(each, "stop", ...), Stop | None)]
    before = [each.stop for each in able]
    try:
        for each in able if stop is not None else ():
            each.stop = stop
        yield
    finally:
        for each, own in zip(able, before, strict=True):
            each.stop = own


def is_stopped(stop: Stop | None) -> bool:
    """Whether `stop` is set."""
    return stop is not None and stop.is_set()


def analysis_of(agent: Any, position: Any, chosen: str) -> Analysis:
    """The agent's analysis of a position in which it has chosen a move; the move alone if it has none."""
    analysis = agent.analyze(position) if has(agent, "analyze") else None
    if not isinstance(analysis, Analysis) or chosen not in (move.move for move in analysis.moves):
        others = [move for move in position.legal_moves() if move != chosen]
        name = getattr(agent, "name", type(agent).__name__)
        analysis = Analysis(
            position.all_moves([MoveValue(move, None) for move in (chosen, *others)]),
            note=f"{name} says only what it would play.",
            points=len(position.sides) == 1,
        )
    return replace(analysis, best=chosen, position=position)
