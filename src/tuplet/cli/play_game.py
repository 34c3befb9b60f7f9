"""`tuplet play`: a person against an agent, or agents before one's eyes, whatever the game."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from rich.console import Console
from rich.live import Live

from tuplet.agents.agent import make_agent
from tuplet.agents.protocol.external import External
from tuplet.arena.analyze import default_agent
from tuplet.cli.draw_ewn import EwnLook
from tuplet.cli.draw_game import Look, Square, View, changed_squares, picture, thoughts_lines
from tuplet.cli.keys import FASTER, SLOWER, Keys, changed, pressed_keys
from tuplet.cli.working import tell_if_compiling
from tuplet.games import life
from tuplet.games.analysis import Analysis
from tuplet.games.catalogue import game as game_of
from tuplet.games.ewn.game import GameOfEwn
from tuplet.games.record import Forfeit, Record
from tuplet.kernel import as_seed, stream
from tuplet.system.sheet import counted

PAUSES = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.0)  # seconds a move, from slow to fast
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK = 0.08  # seconds between two looks at somebody who thinks

Redraw = Callable[[], None]


def play_game(
    game: str, agent: str | None, against: str | None, watch: bool, side: str, speed: int,
    seed: int, save: Path | None,
) -> int:  # fmt: skip
    """Play, or watch; returns the exit code."""
    held = game_of(game)
    if against is not None and not watch:
        raise ValueError("--against names the second of two agents: add --watch")
    if not 1 <= speed <= len(PAUSES):
        raise ValueError(f"the speed is 1 to {len(PAUSES)}, not {speed}")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise ValueError("playing needs a terminal; to let agents play, use --agent and --watch")
    as_seed(seed)
    tell_if_compiling()
    agent = agent or default_agent(held)
    other = (against or agent) if watch else None
    table = TerminalGame(game, agent, other, side, seed)
    try:
        if on_terminal:
            table.at_terminal(speed - 1)
        else:
            table.run_through()
    finally:
        table.close()
        if save is not None:
            table.save(save)
    return 0


class TerminalGame:
    """A game on the table, those who sit there, and what they did before."""

    record: Record

    def __init__(self, game: str, agent: str, other: str | None, side: str, seed: int) -> None:
        self.game, self.agent, self.other = game_of(game), agent, other
        self.sides = self.game.sides
        if side not in (*self.sides, "first", "second", "random"):
            known = ", ".join([*self.sides, "random"])
            raise ValueError(f"{side!r} is not a side of {self.game.name}: {known}")
        self.look = EwnLook(self.game) if isinstance(self.game, GameOfEwn) else Look(self.game)
        self.asked_side, self.seed, self.number = side, seed, 0
        self.names: dict[str, str] = {}
        self.agents: dict[str, Any] = {}
        self.helper: Any = None  # who gives hints; made when first asked
        self.past: list[Record] = []  # before each of the person's moves, for taking back
        self.finished: list[Record] = []  # games left for a new one
        self.thoughts: dict[str, tuple[Any, Analysis]] = {}
        self.shows_thoughts = self.thinking = False
        self.chosen, self.message = 0, ""
        self.open()

    def open(self) -> None:
        """Begin a game: start, chance and agents' luck follow from the seed and its number."""
        if self.number:
            self.finished.append(self.record)
        self.number += 1
        self.stream = np.uint64(stream(as_seed(self.seed), np.uint64(self.number)))
        _, start = self.game.deal(self.stream)
        count = len(self.sides)
        if self.asked_side == "random":
            own = random.Random(int(self.stream)).randrange(2) % count
        else:
            own = (*self.sides, "first", "second").index(self.asked_side) % count
        mine = self.agent if self.other else None  # None: a person
        seats = dict.fromkeys(self.sides, self.other or self.agent) | {self.sides[own]: mine}
        self.close()
        self.agents, self.thinking = {}, False
        for side, spec in seats.items():
            if spec is not None:
                self.agents[side] = self._seated(spec, start, side)
        self.names = {side: seats[side] or "you" for side in self.sides}
        self.past, self.thoughts, self.chosen, self.message = [], {}, 0, ""
        self.record = Record(tuple(self.names.values()), start)
        self._roll()

    def _seated(self, spec: str, start: Any, side: str) -> Any:
        agent = make_agent(spec, self.game)
        own = stream(self.stream, np.uint64(self.sides.index(side)))
        life.begin(agent, start, side, np.uint64(own))
        return agent

    def close(self) -> None:
        """Let the agents go; one that is still thinking is left to it."""
        for agent in (*self.agents.values(), *([self.helper] if self.helper else [])):
            if hasattr(agent, "close") and not self.thinking:
                agent.close()
        self.helper = None

    def save(self, path: Path) -> None:
        """Append the games, finished or not, to a file."""
        with path.open("a", encoding="utf-8") as file:
            for record in (*self.finished, self.record):
                if record.moves:
                    file.write(f"{record.line}\n")

    def _roll(self) -> None:
        """Let chance act, roll the die; the same again for a move taken back."""
        state = np.uint64(stream(self.stream, np.uint64(2 + len(self.record.moves))))
        while self.record.position.is_chance:
            state, outcome = self.record.position.random_outcome(state)
            self.record.roll(outcome)

    def move(self, move: str) -> None:
        """Make a move, and let chance act before the next."""
        self.record.play(move)
        self.chosen, self.message = 0, ""
        self._roll()

    def _agent_moves(self, choice: str | Exception) -> None:
        """Make an agent's move; who breaks the rules, or breaks down, loses."""
        side, position = self.record.position.turn, self.record.position
        if isinstance(choice, Forfeit):
            self.record.forfeit(side, choice.kind, choice.reason)
        elif isinstance(choice, Exception):
            reason = " ".join(f"{type(choice).__name__}: {choice}".split())
            self.record.forfeit(side, "crashed", reason)
        elif choice not in position.legal_moves():
            self.record.forfeit(side, "illegal", f"{choice!r} is not legal")
        else:
            thoughts = _thoughts(self.agents[side], position, choice)
            if thoughts is not None:
                self.thoughts[side] = position, thoughts
            self.move(choice)

    def run_through(self) -> None:
        """Without a terminal: play to the end, and print it."""
        while not self.record.over:
            agent = self.agents[self.record.position.turn]
            self._agent_moves(_choice(agent, self.record.position))
        print(self.record.position)
        print(self.summary())

    def summary(self) -> str:
        """Who played whom, and how it went."""
        record, many = self.record, counted(len(self.record.moves), "move")
        players = ", ".join(f"{side} {name}" for side, name in self.names.items()) + ": "
        if not record.over:
            return f"{players}broken off after {many}"
        reason = f", {record.reason}" if record.reason else ""
        ended = f"{record.winner} won" if record.winner else "drawn"
        if len(self.sides) == 1 and record.position.outcome is not None:
            ended = f"{record.position.outcome:,.0f} points"
        return f"{players}{ended} after {many} ({record.kind}{reason})"

    def at_terminal(self, speed: int) -> None:
        """With a terminal: draw the board and take keys."""
        with pressed_keys() as keys, Live("", screen=True, auto_refresh=False) as live:

            def redraw() -> None:
                live.update(picture(self.view()), refresh=True)

            with suppress(KeyboardInterrupt):
                if self.other:
                    self._watch(keys, redraw, speed)
                else:
                    self._take_turns(keys, redraw)
        self.message, self.shows_thoughts = "", False
        console = Console()
        console.print(picture(replace(self.view(), choices=[], keys="", message="")))
        console.print(self.summary(), highlight=False)

    def view(self) -> View:
        """What is to be seen now."""
        position = self.record.position
        persons = position.turn not in self.agents and not self.record.over
        keys = "t thoughts   n new game   q ends"
        if self.record.over and not self.other:
            keys = f"u takes back   {keys}"
        elif persons and not self.thinking:
            keys = "1-9 or arrows, Enter: move   h hint   t thoughts   u back   n new   q ends"
        elif self.other:
            keys = "space pauses   + - speed   t thoughts   n new game   q ends"
        return View(
            position, self.names, self.look, position.legal_moves() if persons else [],
            self.chosen, self._last(), self._told_thoughts() if self.shows_thoughts else None,
            self.message, keys,
        )  # fmt: skip

    def _last(self) -> list[Square]:
        """The squares that the last move changed; who chose a die has changed none."""
        after = self.record.position
        for before, _ in reversed(list(self.record.replay())):
            changed = changed_squares(before, after)
            if changed:
                return changed
            after = before
        return []

    def _told_thoughts(self) -> list[str]:
        lines: list[str] = []
        for side in self.agents:
            name, room = self.names[side], 8 if len(self.agents) == 1 else 4
            if side in self.thoughts:
                lines += thoughts_lines(name, *self.thoughts[side], self.look, room)
            elif life.tells(self.agents[side]):
                lines.append(f"{name}: no thoughts yet")
            else:
                lines.append(f"{name} keeps its thoughts")
        return lines

    def _think(
        self, agent: Any, position: Any, keys: Keys, redraw: Redraw, who: str
    ) -> tuple[str | Exception | None, str | None]:
        """An agent's choice, or None and the key (q or n) that somebody would not wait for."""
        found: list[str | Exception] = []
        thread = Thread(target=lambda: found.append(_choice(agent, position)), daemon=True)
        began = time.perf_counter()
        self.thinking = True
        thread.start()
        thread.join(TICK)  # most need no longer, and nothing need be drawn
        while thread.is_alive():
            seconds = time.perf_counter() - began
            spin = SPINNER[int(seconds / TICK) % len(SPINNER)]
            self.message = f"{spin} {who} thinks   {seconds:.1f} s"
            redraw()
            key = keys.wait(TICK)
            if key in ("q", "n"):
                return None, key
            if key == "t":
                self.shows_thoughts = not self.shows_thoughts
        self.thinking, self.message = False, ""
        return found[0], None

    def _watch(self, keys: Keys, redraw: Redraw, speed: int) -> None:
        paused = False
        while True:
            over = self.record.over
            state = "paused" if paused else f"speed {speed + 1} of {len(PAUSES)}"
            self.message = f"{self.summary()}   (any key ends)" if over else state
            redraw()
            key = keys.wait(None if paused or over else PAUSES[speed])
            if key == "n":
                self.open()
            elif key == "t":
                self.shows_thoughts = not self.shows_thoughts
            elif key == "q" or over:
                return
            elif key == " ":
                paused = not paused
            elif key in FASTER + SLOWER:
                speed = changed(speed, key, len(PAUSES))
            elif not paused and not self._let_agent_move(keys, redraw):
                return

    def _let_agent_move(self, keys: Keys, redraw: Redraw) -> bool:
        """False if the person left meanwhile."""
        side, position = self.record.position.turn, self.record.position
        choice, key = self._think(self.agents[side], position, keys, redraw, self.names[side])
        if choice is not None:
            self._agent_moves(choice)
        elif key == "n":
            self.open()
        return key != "q"

    def _take_turns(self, keys: Keys, redraw: Redraw) -> None:
        while True:
            position = self.record.position
            if position.turn in self.agents and not self.record.over:
                redraw()
                if not self._let_agent_move(keys, redraw):
                    return
                continue
            if self.record.over:
                self.message = self.message or f"{self._how_you_did()}: {self.summary()}"
            redraw()
            key = keys.wait()
            self.message = ""
            if key == "q":
                return
            if key == "n":
                self.open()
            elif key == "t":
                self.shows_thoughts = not self.shows_thoughts
            elif key == "u":
                self._take_back()
            elif self.record.over or key is None:
                continue
            elif key == "h":
                if not self._hint(keys, redraw):
                    return
            else:
                self._person_does(key)

    def _how_you_did(self) -> str:
        you = next(side for side in self.sides if side not in self.agents)
        if self.record.winner is None:
            return "Nobody has won" if len(self.sides) > 1 else "The game is over"
        return "You have won" if self.record.winner == you else "You have lost"

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

    def _take_back(self) -> None:
        if not self.past:
            self.message = "there is nothing to take back"
            return
        if any(isinstance(agent, External) for agent in self.agents.values()):
            self.message = "a program that plays by the protocol cannot take back"
            return
        self.record, self.chosen = self.past.pop(), 0
        self.thoughts = {}  # of moves that were not made
        self.message = "taken back"

    def _hint(self, keys: Keys, redraw: Redraw) -> bool:
        """Ask another agent of the same kind, so that the opponent keeps its thoughts to itself.

        False if the person left meanwhile.
        """
        position = self.record.position
        if self.helper is None:
            self.helper = self._seated(self.agent, self.record.start, position.turn)
        choice, key = self._think(self.helper, position, keys, redraw, "the helper")
        if choice is None:
            if key == "n":
                self.open()
            return key != "q"
        moves = position.legal_moves()
        if isinstance(choice, Exception) or choice not in moves:
            self.message = f"no hint: {choice}"
            return True
        self.chosen = moves.index(choice)
        thoughts = _thoughts(self.helper, position, choice)
        worth = {t.move: t.value for t in thoughts.moves}.get(choice) if thoughts else None
        value = "" if worth is None else f", value {worth:.2f}"
        spelled = self.look.spelled(position, choice)
        self.message = f"hint: {self.chosen + 1}, that is {spelled}{value}"
        return True


def _choice(agent: Any, position: Any) -> str | Exception:
    """What an agent chooses; anybody's agent may fail, and the table stays standing."""
    try:
        return str(agent.choose(position))
    except Exception as error:
        return error


def _thoughts(agent: Any, position: Any, choice: str) -> Analysis | None:
    """What an agent tells of its last choice, if it can."""
    with suppress(Exception):
        return life.thoughts(agent, position, choice) if life.tells(agent) else None
    return None
