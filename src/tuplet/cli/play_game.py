"""`tuplet play`: a person against an agent, or agents before one's eyes, whatever the game."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from tuplet.agents.listing import default_agent
from tuplet.cli.common import INTERRUPTED
from tuplet.cli.draw_board import View
from tuplet.cli.draw_game import picture
from tuplet.cli.keys import ESCAPE, FASTER, SLOWER, changed
from tuplet.cli.layout import MOVES_KEYS
from tuplet.cli.screen import print_picture, screen
from tuplet.cli.sitting import Sitting, tell_saved
from tuplet.cli.table import Table, choice_and_thoughts
from tuplet.errors import UserError
from tuplet.games.registry import game as game_of
from tuplet.kernel import as_seed
from tuplet.system.progress import show_progress

PAUSES = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.0)  # seconds a move, from slow to fast


def play_game(
    game: str, agent: str | None, against: str | None, watch: bool, side: str, speed: int, seed: int, save: Path | None
) -> int:
    """Play, or watch; returns the exit code."""
    held = game_of(game)
    if against is not None and not watch:
        raise UserError("--against names the second of two agents: add --watch")
    if not 1 <= speed <= len(PAUSES):
        raise UserError(f"--speed must be 1 to {len(PAUSES)} (got {speed})")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise UserError("playing needs a terminal; to let agents play, use --agent and --watch")
    as_seed(seed)
    agent = agent or default_agent(held)
    other = (against or agent) if watch else None
    with show_progress():  # it may have to be compiled
        table = TerminalGame(game, agent, other, side, seed)
    interrupted = False
    try:
        if on_terminal:
            interrupted = table.at_terminal(speed - 1)
        else:
            table.run_through()
    finally:
        table.close()
        if save is not None:
            tell_saved(table.save(save), save)
    return INTERRUPTED if interrupted else 0


class TerminalGame(Sitting, Table):
    """A game that somebody plays or watches at a terminal."""

    chosen = 0  # the move that Enter makes
    shows_thoughts = False

    def open(self) -> None:
        """Begin a game."""
        super().open()
        self.thinking, self.chosen, self.message = False, 0, ""

    def close(self) -> None:
        """Let the agents go; one that is still thinking is left to it."""
        if not self.thinking:
            super().close()
        self.helper = None

    def move(self, move: str) -> None:
        """Make a move, and let chance act before the next."""
        super().move(move)
        self.chosen, self.message = 0, ""

    def at_terminal(self, speed: int) -> bool:
        """With a terminal: draw the board and take keys; True if it was interrupted."""
        interrupted = False
        with screen() as self.screen:
            try:
                if self.other:
                    self._watch(speed)
                else:
                    self._take_turns()
            except KeyboardInterrupt:
                interrupted = True
        self.message, self.shows_thoughts = "", False
        last = replace(self.view(), choices=[], keys=[], message="")
        print_picture(lambda columns, lines: picture(last, columns, lines))
        print(self.summary())
        return interrupted

    def picture(self, columns: int, lines: int) -> RenderableType:
        """What is to be seen now."""
        return picture(self.view(), columns, lines)

    def view(self) -> View:
        """What is to be seen now, in whatever window."""
        position = self.record.position
        persons = position.turn not in self.agents and not self.record.over
        keys = ["t thoughts", "n new game", "q ends"]
        if self.record.over and not self.other:
            keys = ["u takes back", *keys]
        elif persons and not self.thinking:
            keys = [MOVES_KEYS, "h hint", "t thoughts", "u back", "n new", "q ends"]
        elif persons:
            keys = ["Esc stops the hint", *keys]
        elif self.other and not self.record.over:
            keys = ["space pauses", "+ - speed", *keys]
        return View(
            position,
            self.names,
            self.look,
            position.legal_moves() if persons else [],
            self.chosen,
            self.last_squares(),
            self.told_thoughts() if self.shows_thoughts else None,
            self.message,
            keys,
        )

    def meanwhile(self, key: str) -> None:
        """A key that counts while an agent thinks."""
        if key == "t":
            self.shows_thoughts = not self.shows_thoughts

    def _watch(self, speed: int) -> None:
        paused = False
        while True:
            over = self.record.over
            state = "paused" if paused else f"speed {speed + 1} of {len(PAUSES)}"
            self.message = self.summary() if over else state
            self.redraw()
            key = self.screen.wait(None if paused or over else PAUSES[speed])
            if key == "q":
                return
            if key == "n":
                self.open()
            elif key == "t":
                self.meanwhile(key)
            elif over:
                continue
            elif key == " ":
                paused = not paused
            elif key is not None and key in FASTER + SLOWER:
                speed = changed(speed, key, len(PAUSES))
            elif key is None and not self._let_agent_move():
                return

    def _let_agent_move(self) -> bool:
        """False if the person left meanwhile."""
        side, position = self.record.position.turn, self.record.position
        agent = self.agents[side]
        answer, key = self.think(agent, lambda: choice_and_thoughts(agent, position), self.names[side], ("q", "n"))
        if answer is not None:
            chosen, thoughts = answer
            self.remember(side, position, thoughts)
            self.agent_moves(chosen)
        elif key == "n":
            self.open()
        return key != "q"

    def _take_turns(self) -> None:
        while True:
            position = self.record.position
            if position.turn in self.agents and not self.record.over:
                self.redraw()
                if not self._let_agent_move():
                    return
                continue
            if self.record.over:
                self.message = self.message or f"{self.how_you_did()}: {self.summary()}"
            self.redraw()
            key = self.screen.wait()
            self.message = ""
            if key == "q":
                return
            if key == "n":
                self.open()
            elif key == "t":
                self.meanwhile(key)
            elif key == "u":
                self.message, self.chosen = self.take_back(), 0
            elif self.record.over or key is None:
                continue
            elif key == "h":
                if not self._hint():
                    return
            else:
                self._person_does(key)

    def _person_does(self, key: str) -> None:
        """Choose or make a move."""
        moves = self.record.position.legal_moves()
        if key in ("up", "left"):
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
        """Ask another agent of the same kind, so that the opponent keeps its thoughts to itself.

        False if the person left meanwhile.
        """
        position = self.record.position
        if self.helper is None:
            self.helper = self.seated(self.agent, self.record.start, position.turn)
        helper: Any = self.helper
        answer, key = self.think(
            helper, lambda: choice_and_thoughts(helper, position), "the helper", ("q", "n", ESCAPE)
        )
        if answer is None:
            if self.thinking:  # it does not listen: another one gives the next hint
                self.helper, self.thinking = None, False
            if key == "n":
                self.open()
            return key != "q"
        chosen, thoughts = answer
        moves = position.legal_moves()
        if isinstance(chosen, Exception) or chosen not in moves:
            self.message = f"no hint: {chosen}"
            return True
        self.chosen = moves.index(chosen)
        worth = {t.move: t.value for t in thoughts.moves}.get(chosen) if thoughts else None
        value = "" if worth is None else f", value {worth:.2f}"
        spelled = self.look.spelled(position, chosen)
        self.message = f"hint: {self.chosen + 1}, that is {spelled}{value}"
        return True
