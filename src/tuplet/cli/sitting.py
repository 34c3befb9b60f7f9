"""Somebody sits at the terminal: what is drawn and which keys count while an agent thinks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from rich.console import RenderableType

from tuplet.cli.screen import Screen
from tuplet.kernel import compiling
from tuplet.system.stop import Stop
from tuplet.system.tables import plural

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
COMPILES = "compiling, about ten seconds (the first time)"
TICK = 0.08  # seconds between two looks at somebody who thinks
PARTING = 0.1  # seconds for somebody who is told to stop


class Sitting:
    """A table with a screen; whoever inherits says what is to be seen."""

    screen: Screen
    message = ""  # what happens
    thinking = False  # whether an agent does, perhaps one that was left to it

    def picture(self, columns: int, lines: int) -> RenderableType:
        """What is to be seen in a window of this size."""
        raise NotImplementedError

    def redraw(self, again: bool = False) -> None:
        """Show it."""
        self.screen.draw(self.picture, again=again)

    def meanwhile(self, key: str) -> None:
        """A key was pressed that does not end the thinking."""

    def think(self, agent: Any, ask: Callable[[], Any], who: str, ends: tuple[str, ...]) -> tuple[Any, str | None]:
        """What an agent answers, perhaps an exception, or None and the key that ended the wait.

        The agent thinks in a thread, and is told to stop when nobody waits any longer; one that
        does not listen is left to it.
        """
        found: list[Any] = []
        stop = hand_stop(agent)
        thread = Thread(target=lambda: found.append(_answer(ask)), daemon=True)
        began = time.perf_counter()
        self.thinking = True
        thread.start()
        thread.join(TICK)  # most need no longer, and nothing need be drawn
        first = True
        try:
            while thread.is_alive():
                seconds = time.perf_counter() - began
                spin = SPINNER[int(seconds / TICK) % len(SPINNER)]
                doing = COMPILES if compiling() else f"{who} thinks"
                self.message = f"{spin} {doing}   {seconds:.1f} s"
                self.redraw(again=not first)
                first = False
                key = self.screen.wait(TICK)
                if key in ends:
                    stop.set()
                    thread.join(PARTING)
                    self.thinking, self.message = thread.is_alive(), ""
                    return None, key
                if key is not None:
                    self.meanwhile(key)
        except KeyboardInterrupt:
            stop.set()
            raise
        self.thinking, self.message = False, ""
        return found[0], None


def hand_stop(agent: Any) -> Stop:
    """A way to stop an agent's search, given to it if it has a place for one."""
    stop = Stop()
    if isinstance(getattr(agent, "stop", None), Stop | None):  # it may have a method of that name
        with suppress(AttributeError, TypeError):
            agent.stop = stop
    return stop


def _answer(ask: Callable[[], Any]) -> Any:
    """What is answered; anybody's agent may fail, and the table stays standing."""
    try:
        return ask()
    except Exception as error:
        return error


def tell_saved(games: int, path: Path) -> None:
    """Say where the games are."""
    if games > 1:
        print(f"Saved in {path}: {plural(games, 'game')}.", file=sys.stderr)
    else:
        said = f"Saved in {path}." if games else "Nothing is saved: no move was made."
        print(said, file=sys.stderr)
