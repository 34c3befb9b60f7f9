"""The life of an agent, of whatever game. It needs one method, `choose`; the others are optional:

    open(start, side, state)   a game begins at `start`; the agent has `side` ("red"), and a random
                               stream of the game's own: who draws from it alone plays the same
                               game again
    choose(position)           a legal move, as text
    analyze(position)          an `Analysis`: what it thinks of a position
    end(last)                  the game ended there, and nobody forfeited
    close()                    nobody needs the agent any more
    stop                       None, until somebody lets it listen to a `Stop`: a search that looks
                               at `stop.is_set()` ends early, and chooses with what it has
    progress()                 how far the move under way is, a `Progress`; asked from other threads

Older names are understood: `open_game`, `close_game` and `thoughts()` of EWN, and `open_episode()`
and `close_episode(episode)` of 2048.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tuplet.games.analysis import Analysis, MoveValue
from tuplet.system.stop import Stop


def has(agent: object, method: str) -> bool:
    """Whether it wants to know."""
    return callable(getattr(agent, method, None))


def begin(agent: Any, start: Any, side: str, state: Any) -> None:
    """Tell an agent that a game begins."""
    if has(agent, "open"):
        agent.open(start, side, state)
    elif has(agent, "open_game"):
        agent.open_game(start, side, state)
    elif has(agent, "open_episode"):
        agent.open_episode()


@contextmanager
def listening(stop: Stop | None, *agents: Any) -> Iterator[None]:
    """Let agents that have a `stop` listen to this one while they think."""
    able = [each for each in agents if isinstance(getattr(each, "stop", ...), Stop | None)]
    before = [each.stop for each in able]
    try:
        for each in able if stop is not None else ():
            each.stop = stop
        yield
    finally:
        for each, own in zip(able, before, strict=True):
            each.stop = own


def told(stop: Stop | None) -> bool:
    """Whether somebody asked to stop."""
    return stop is not None and stop.is_set()


def end(agent: Any, last: Any, episode: Any = None) -> None:
    """Tell an agent that a game has ended."""
    if has(agent, "end"):
        agent.end(last)
    elif has(agent, "close_game"):
        agent.close_game(last)
    elif has(agent, "close_episode") and episode is not None:
        agent.close_episode(episode)


def tells(agent: object) -> bool:
    """Whether an agent says what it thinks."""
    return has(agent, "analyze") or has(agent, "thoughts")


def thoughts(agent: Any, position: Any, chosen: str) -> Analysis:
    """What an agent thinks of a position in which it has chosen a move.

    Of one that does not tell, nothing but the move.
    """
    found = None
    if has(agent, "analyze"):
        found = agent.analyze(position)
    elif has(agent, "thoughts"):
        found = agent.thoughts()
    if not isinstance(found, Analysis) or chosen not in (move.move for move in found.moves):
        others = [move for move in position.legal_moves() if move != chosen]
        name = getattr(agent, "name", type(agent).__name__)
        found = Analysis(
            position.all_moves([MoveValue(move, None) for move in (chosen, *others)]),
            note=f"{name} says only what it would play.",
            points=len(position.sides) == 1,
        )
    return replace(found, best=chosen, position=position)
