"""`tuplet play ewn`: a person against an agent, or two agents before one's eyes."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
from rich.console import Console
from rich.live import Live

from tuplet.agents.ewn import Agent, make_agent
from tuplet.agents.protocol.external import External
from tuplet.cli.draw_ewn import View, picture, spelled, thoughts_lines
from tuplet.cli.keys import FASTER, SLOWER, Keys, changed, pressed_keys
from tuplet.cli.working import tell_if_compiling
from tuplet.games.analysis import Analysis
from tuplet.games.ewn import SIDES, Forfeit, Position, Record, Side
from tuplet.games.ewn.variant import Square
from tuplet.kernel import as_seed, stream

DEFAULT_AGENT = "best"
PAUSES = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.0)  # seconds a move, from slow to fast
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK = 0.08  # seconds between two looks at somebody who thinks

Redraw = Callable[[], None]


def play_ewn(
    game: str, agent: str | None, against: str | None, watch: bool, side: str, speed: int,
    seed: int, save: Path | None,
) -> int:  # fmt: skip
    """Play, or watch; returns the exit code."""
    if against is not None and not watch:
        raise ValueError("--against names the second of two agents: add --watch")
    if not 1 <= speed <= len(PAUSES):
        raise ValueError(f"the speed is 1 to {len(PAUSES)}, not {speed}")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise ValueError("playing needs a terminal; to let agents play, use --agent and --watch")
    as_seed(seed)
    tell_if_compiling()
    agent = agent or DEFAULT_AGENT
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
        self.game, self.agent, self.other = game, agent, other
        self.asked_side, self.seed, self.number = side, seed, 0
        self.names: dict[Side, str] = {}
        self.agents: dict[Side, Agent] = {}
        self.helper: Agent | None = None  # who gives hints; made when first asked
        self.past: list[Record] = []  # before each of the person's moves, for taking back
        self.finished: list[Record] = []  # games left for a new one
        self.thoughts: dict[Side, tuple[Position, Analysis]] = {}
        self.shows_thoughts = self.thinking = False
        self.chosen, self.message = 0, ""
        self.open()

    def open(self) -> None:
        """Begin a game: placement, dice and agents' luck follow from the seed and its number."""
        if self.number:
            self.finished.append(self.record)
        self.number += 1
        self.stream = np.uint64(stream(as_seed(self.seed), np.uint64(self.number)))
        _, start = Position.random(self.game, self.stream)
        if self.asked_side == "random":
            first = SIDES[random.Random(int(self.stream)).randrange(2)]
        else:
            first = SIDES[self.asked_side == "blue"]
        second = SIDES[first == "red"]
        seats = {first: self.agent, second: self.other} if self.other else {second: self.agent}
        self.close()
        self.agents, self.thinking = {}, False
        for side, spec in seats.items():
            assert spec is not None
            self.agents[side] = self._seated(spec, start, side)
        self.names = {side: seats.get(side) or "you" for side in SIDES}
        self.past, self.thoughts, self.chosen, self.message = [], {}, 0, ""
        self.record = Record(self.names["red"], self.names["blue"], start)
        self._roll()

    def _seated(self, spec: str, start: Position, side: Side) -> Agent:
        agent = make_agent(spec, self.game)
        if hasattr(agent, "open_game"):
            own = stream(self.stream, np.uint64(SIDES.index(side)))
            agent.open_game(start, side, np.uint64(own))
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
        """Roll the die; the same one again for a move taken back."""
        if self.record.position.needs_roll:
            ply = np.uint64(2 + len(self.record.moves))
            _, rolled = self.record.position.random_roll(np.uint64(stream(self.stream, ply)))
            assert rolled.die is not None
            self.record.roll(rolled.die)

    def move(self, move: str) -> None:
        """Make a move and roll the die for the next."""
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
            thoughts = _thoughts(self.agents[side])
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
        record, moves = self.record, len(self.record.moves)
        players = f"red {record.red}, blue {record.blue}: "
        if record.winner is None:
            return f"{players}broken off after {moves} moves"
        reason = f", {record.reason}" if record.reason else ""
        return f"{players}{record.winner} won after {moves} moves ({record.kind}{reason})"

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
            position, self.names, position.legal_moves() if persons else [], self.chosen,
            self._last(), self._told_thoughts() if self.shows_thoughts else None,
            self.message, keys,
        )  # fmt: skip

    def _last(self) -> tuple[Square, Square] | None:
        """From where to where the last cube went."""
        moves = [(at, move) for at, move in self.record.replay() if move[0] != "="]
        if not moves:
            return None
        at, move = moves[-1]
        target = at.target(move)
        assert target is not None
        return at.cubes[at.turn, int(move[:-1])], target

    def _told_thoughts(self) -> list[str]:
        lines: list[str] = []
        for side in self.agents:
            name, room = self.names[side], 8 if len(self.agents) == 1 else 4
            if side in self.thoughts:
                lines += thoughts_lines(name, *self.thoughts[side], room)
            elif hasattr(self.agents[side], "thoughts"):
                lines.append(f"{name}: no thoughts yet")
            else:
                lines.append(f"{name} keeps its thoughts")
        return lines

    def _think(
        self, agent: Agent, position: Position, keys: Keys, redraw: Redraw, who: str
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
                you = next(side for side in SIDES if side not in self.agents)
                won = "You have won" if self.record.winner == you else "You have lost"
                self.message = self.message or f"{won}: {self.summary()}"
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
        self.past.append(
            replace(self.record, moves=list(self.record.moves), rolls=list(self.record.rolls))
        )
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
        thoughts = _thoughts(self.helper)
        values = {t.move: t.value for t in thoughts.moves} if thoughts else {}
        value = f", value {values[choice]:.2f}" if choice in values else ""
        self.message = f"hint: {self.chosen + 1}, that is {spelled(position, choice)}{value}"
        return True


def _choice(agent: Agent, position: Position) -> str | Exception:
    """What an agent chooses; anybody's agent may fail, and the table stays standing."""
    try:
        return agent.choose(position)
    except Exception as error:
        return error


def _thoughts(agent: Agent) -> Analysis | None:
    """What an agent tells of its last choice, if it can."""
    try:
        thoughts = agent.thoughts() if hasattr(agent, "thoughts") else None
    except Exception:
        return None
    return thoughts if isinstance(thoughts, Analysis) else None
