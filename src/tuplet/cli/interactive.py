"""A game at the terminal: a person against an agent, or agents to watch, whatever the game."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any

from tuplet.cli.draw_board import View
from tuplet.cli.game_session import GameSession, choose, choose_and_analyze
from tuplet.cli.screen import ESCAPE, FASTER, SLOWER, Screen, changed, print_picture, screen
from tuplet.kernel import compiling
from tuplet.system.stop import Stop

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
COMPILES = "compiling: about ten seconds, the first time only"
TICK = 0.08  # seconds between two looks at an agent that thinks
PARTING = 0.1  # seconds for an agent to stop
FRAME = 0.02  # seconds: a terminal need not be drawn more often
LINGER = 30  # seconds that a game which was watched to its end stays on the screen


class InteractiveGame(GameSession):
    """Games at a terminal: the board is drawn anew as it changes, and keys are moves and commands."""

    screen: Screen
    message = ""
    chosen = 0  # the move that Enter makes
    thinking = False  # whether an agent does, perhaps one that was left behind
    shows_analysis = False
    _confirming = False  # whether n was pressed once in an unfinished game

    def open(self) -> None:
        """Begin a game."""
        super().open()
        self.thinking, self.chosen, self.message = False, 0, ""

    def close(self) -> None:
        """Close the agents; one that is still thinking is left behind."""
        if not self.thinking:
            super().close()
        self.helper = None

    def move(self, move: str) -> None:
        """Make a move, and let chance act before the next."""
        super().move(move)
        self.chosen, self.message = 0, ""

    def run(self, speed: int) -> bool:
        """Play or watch until the person leaves; True if it was interrupted."""
        interrupted = False
        with screen() as self.screen:
            try:
                if self.other:
                    self._watch(speed)
                else:
                    self._take_turns()
            except KeyboardInterrupt:
                interrupted = True
        self.message, self.shows_analysis = "", False
        last = replace(self.view(), choices=[], keys=[], message="")
        print_picture(lambda columns, lines: self.renderer.picture(last, columns, lines))
        print(self.summary())
        return interrupted

    def redraw(self, again: bool = False) -> None:
        """Draw the game as it is now."""
        self.screen.draw(lambda columns, lines: self.renderer.picture(self.view(), columns, lines), again=again)

    def view(self) -> View:
        """What is shown now, in a window of any size."""
        position, over = self.record.position, self.record.over
        persons = position.turn not in self.agents and not over
        analysis = ["t analysis"] if self.renderer.shows_analysis else []
        keys = [*analysis, "n new game", "q ends"]
        if persons and not self.thinking:
            back = "p placement" if self.can_place() else "u back"
            keys = [self.renderer.keys, "h hint", *analysis, back, "n new", "q ends"]
        elif persons:
            keys = ["Esc stops the hint", "q ends"]
        elif over and not self.other:
            keys = ["u takes back", *keys]
        elif self.other and not over:
            keys = ["space pauses", "+ - speed", *keys]
        return View(
            position,
            self.names,
            self.renderer,
            position.legal_moves() if persons else [],
            self.chosen,
            self.last_squares() if self.renderer.shows_analysis else [],
            self.analysis_text() if self.shows_analysis else None,
            self.message,
            keys,
            len(self.record.moves),
        )

    def think(self, agent: Any, ask: Callable[[], Any], name: str, ends: tuple[str, ...]) -> tuple[Any, str | None]:
        """An agent's answer, or None and the key that ended the wait.

        The agent thinks in a thread, and is told to stop when the wait ends; one that does not
        listen is left behind.
        """
        answer: list[Any] = []
        stop = _hand_stop(agent)
        thread = Thread(target=lambda: answer.append(ask()), daemon=True)
        began, first = time.perf_counter(), True
        self.thinking = True
        thread.start()
        thread.join(TICK)  # most need no longer, and nothing need be drawn
        try:
            while thread.is_alive():
                seconds = time.perf_counter() - began
                spin = SPINNER[int(seconds / TICK) % len(SPINNER)]
                doing = COMPILES if compiling() else f"{name} thinks"
                self.message = f"{spin} {doing}   {seconds:.1f} s"
                self.redraw(again=not first)
                first = False
                key = self.screen.wait(TICK)
                if key in ends:
                    stop.set()
                    thread.join(PARTING)
                    self.thinking, self.message = thread.is_alive(), ""
                    return None, key
                if key == "t":
                    self.shows_analysis = not self.shows_analysis
        except KeyboardInterrupt:
            stop.set()
            raise
        self.thinking, self.message = False, ""
        return answer[0], None

    def _ask(self, agent: Any, analyze: bool) -> Callable[[], Any]:
        position = self.record.position
        return lambda: choose_and_analyze(agent, position) if analyze else (choose(agent, position), None)

    def _watch(self, speed: int) -> None:
        paused, drawn, pauses = False, 0.0, self.renderer.pauses
        while True:
            if self.record.over:
                if not self._linger():
                    return
                continue
            self.message = "paused" if paused else f"speed {speed + 1} of {len(pauses)}"
            if paused or pauses[speed] >= FRAME or time.perf_counter() - drawn >= FRAME:
                self.redraw()
                drawn = time.perf_counter()
            key = self.screen.wait(None if paused else pauses[speed])
            if key == "q":
                return
            if key == "n":
                self.open()
            elif key == "t":
                self.shows_analysis = not self.shows_analysis
            elif key == " ":
                paused = not paused
            elif key is not None and key in FASTER + SLOWER:
                speed = changed(speed, key, len(pauses))
            elif key is None and not self._let_agent_move():
                return

    def _linger(self) -> bool:
        """Show the end of a watched game for a while; whether another one has begun."""
        for left in range(LINGER, 0, -1):
            self.message = f"{self.summary()}   (ends by itself in {left} s)"
            self.redraw(again=left < LINGER)
            key = self.screen.wait(1.0)
            if key == "t":
                self.shows_analysis = not self.shows_analysis
            elif key == "n":
                self.open()
                return True
            elif key == "q":
                return False
        return False

    def _let_agent_move(self) -> bool:
        """False if the person left meanwhile."""
        side, position = self.record.position.turn, self.record.position
        agent = self.agents[side]
        ask = self._ask(agent, self.renderer.shows_analysis)
        answer, key = self.think(agent, ask, self.names[side], ("q", "n"))
        if answer is not None:
            move, analysis = answer
            if analysis is not None:
                self.analyses[side] = position, analysis
            self.agent_moves(move)
        elif key == "n":
            self.open()
        return key != "q"

    def _take_turns(self) -> None:
        while True:
            over = self.record.over
            if self.record.position.turn in self.agents and not over:
                self.redraw()
                if not self._let_agent_move():
                    return
                continue
            if over:
                self.message = self.message or f"{self.how_you_did()}: {self.summary()}"
            self.redraw()
            key = self.screen.wait()
            self.message, confirmed, self._confirming = "", self._confirming, False
            if key == "q":
                return
            if key == "n" and (over or confirmed or not self.record.moves):
                self.open()
            elif key == "n":
                self.message, self._confirming = "n again leaves this game for a new one", True
            elif key == "t" and self.renderer.shows_analysis:
                self.shows_analysis = not self.shows_analysis
            elif key == "u":
                self.message, self.chosen = self.take_back(), 0
            elif key == "p" and self.game.family == "ewn":
                self.message = self.place()
            elif over or key is None:
                continue
            elif key == "h":
                if not self._hint():
                    return
            else:
                self._press(key)

    def _press(self, key: str) -> None:
        """Choose or make a move."""
        moves = self.record.position.legal_moves()
        if key in self.renderer.moves_by_key:
            if key in moves:
                self._person_moves(key)
            else:
                self.message = f"{key} changes nothing here"
        elif self.renderer.moves_by_key:
            return
        elif key in ("up", "left"):
            self.chosen = (self.chosen - 1) % len(moves)
        elif key in ("down", "right", "\t"):
            self.chosen = (self.chosen + 1) % len(moves)
        elif key in ("\n", "\r", " "):
            self._person_moves(moves[self.chosen])
        elif key in "123456789":
            if int(key) > len(moves):
                self.message = f"there is no move {key}"
            else:
                self._person_moves(moves[int(key) - 1])

    def _person_moves(self, move: str) -> None:
        self.past.append(self.record.copy())
        self.move(move)

    def _hint(self) -> bool:
        """Ask another agent like the opponent, which does not share what it has learned of the game.

        False if the person left meanwhile.
        """
        position = self.record.position
        if self.helper is None:
            self.helper = self.make(self.agent, self.record.start, position.turn)
        answer, key = self.think(self.helper, self._ask(self.helper, True), "the helper", ("q", ESCAPE))
        if answer is None:
            if self.thinking:  # it does not listen: another one gives the next hint
                self.helper, self.thinking = None, False
            return key != "q"
        move, analysis = answer
        moves = position.legal_moves()
        if move not in moves:
            self.message = f"no hint: {f'{type(move).__name__}: ' if isinstance(move, Exception) else ''}{move}"
            return True
        self.chosen = moves.index(move)
        self.message = self.renderer.hint(position, move, analysis)
        return True


def _hand_stop(agent: Any) -> Stop:
    """Something that stops an agent's search, given to it if it has a place for one."""
    stop = Stop()
    if isinstance(getattr(agent, "stop", None), Stop | None):  # it may have a method of that name
        with suppress(AttributeError, TypeError):
            agent.stop = stop
    return stop
