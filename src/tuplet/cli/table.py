"""A game on the table, whoever sits there: its record, agents, and games that went before."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import make_agent
from tuplet.agents.protocol.subprocess_agent import SubprocessAgent
from tuplet.cli.draw_board import BoardRenderer, Square, changed_squares
from tuplet.cli.draw_ewn import EwnRenderer
from tuplet.cli.draw_game import thoughts_lines
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.game import EwnGame
from tuplet.games.record import Forfeit, Record
from tuplet.games.registry import game as game_of
from tuplet.kernel import as_seed, stream
from tuplet.system.tables import plural
from tuplet.system.text import sanitize


class Table:
    """A game, those who play it, and what they thought; `other` is None where a person plays."""

    record: Record

    def __init__(self, game: str, agent: str, other: str | None, side: str, seed: int) -> None:
        self.game, self.agent, self.other = game_of(game), agent, other
        self.sides = self.game.sides
        if side not in (*self.sides, "first", "second", "random"):
            known = ", ".join([*self.sides, "random"])
            raise UserError(f"{side!r} is not a side of {self.game.name}: {known}")
        self.look = EwnRenderer(self.game) if isinstance(self.game, EwnGame) else BoardRenderer(self.game)
        self.asked_side, self.seed, self.number = side, seed, 0
        self.names: dict[str, str] = {}
        self.agents: dict[str, Any] = {}
        self.helper: Any = None  # who gives hints; made when first asked
        self.past: list[Record] = []  # before each of the person's moves, for taking back
        self.finished: list[Record] = []  # games left for a new one
        self.thoughts: dict[str, tuple[Any, Analysis]] = {}
        self.open()

    def open(self) -> None:
        """Begin a game: start, chance and agents' luck follow from the seed and its number."""
        if self.number:
            self.finished.append(self.record)
        self.number += 1
        self.stream = np.uint64(stream(as_seed(self.seed), np.uint64(self.number)))
        _, start = self.game.initial_position(self.stream)
        count = len(self.sides)
        if self.asked_side == "random":
            own = random.Random(int(self.stream)).randrange(2) % count
        else:
            own = (*self.sides, "first", "second").index(self.asked_side) % count
        mine = self.agent if self.other else None  # None: a person
        seats = dict.fromkeys(self.sides, self.other or self.agent) | {self.sides[own]: mine}
        self.close()
        self.agents = {}
        for side, spec in seats.items():
            if spec is not None:
                self.agents[side] = self.seated(spec, start, side)
        self.names = {side: seats[side] or "you" for side in self.sides}
        self.past, self.thoughts = [], {}
        self.record = Record(tuple(self.names.values()), start)
        self._roll()

    def seated(self, spec: str, start: Any, side: str) -> Any:
        """An agent that knows which side it has."""
        agent = make_agent(spec, self.game)
        own = stream(self.stream, np.uint64(self.sides.index(side)))
        agent_hooks.begin(agent, start, side, np.uint64(own))
        return agent

    def close(self) -> None:
        """Let the agents go."""
        for agent in (*self.agents.values(), *([self.helper] if self.helper else [])):
            if hasattr(agent, "close"):
                agent.close()
        self.helper = None

    def save(self, path: Path) -> int:
        """Append the games, finished or not, to a file; returns how many."""
        played = [record for record in (*self.finished, self.record) if record.moves]
        if played:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{record.line}\n" for record in played)
        return len(played)

    def _roll(self) -> None:
        """Let chance act, roll the die; the same again for a move taken back."""
        state = np.uint64(stream(self.stream, np.uint64(2 + len(self.record.moves))))
        while self.record.position.is_chance:
            state, outcome = self.record.position.random_outcome(state)
            self.record.roll(outcome)

    def move(self, move: str) -> None:
        """Make a move, and let chance act before the next."""
        self.record.play(move)
        self._roll()

    def agent_moves(self, choice: str | Exception) -> None:
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
            self.move(choice)

    def remember(self, side: str, position: Any, thoughts: Analysis | None) -> None:
        """Keep what an agent thought of a position."""
        if thoughts is not None:
            self.thoughts[side] = position, thoughts

    def run_through(self) -> None:
        """Without a terminal: play to the end, and print it."""
        while not self.record.over:
            agent = self.agents[self.record.position.turn]
            self.agent_moves(choice(agent, self.record.position))
        print(self.record.position)
        print(self.summary())

    def summary(self) -> str:
        """Who played whom, and how it went."""
        record, many = self.record, plural(len(self.record.moves), "move")
        players = ", ".join(f"{side} {name}" for side, name in self.names.items()) + ": "
        if not record.over:
            return f"{players}unfinished after {many}"
        reason = f", {sanitize(record.reason)}" if record.reason else ""
        ended = f"{record.winner} won" if record.winner else "drawn"
        if len(self.sides) == 1 and record.position.result is not None:
            ended = f"{record.position.result:,.0f} points"
        return f"{players}{ended} after {many} ({record.termination}{reason})"

    def how_you_did(self) -> str:
        """In a word or two."""
        you = next(side for side in self.sides if side not in self.agents)
        if self.record.winner is None:
            return "Nobody has won" if len(self.sides) > 1 else "The game is over"
        return "You have won" if self.record.winner == you else "You have lost"

    def last_squares(self) -> list[Square]:
        """The squares that the last move changed; who chose a die has changed none."""
        after = self.record.position
        for before, _ in reversed(list(self.record.replay())):
            changed = changed_squares(before, after)
            if changed:
                return changed
            after = before
        return []

    def told_thoughts(self) -> list[str]:
        """What the agents thought, as lines of text."""
        lines: list[str] = []
        for side in self.agents:
            name, room = self.names[side], 8 if len(self.agents) == 1 else 4
            if side in self.thoughts:
                lines += thoughts_lines(name, *self.thoughts[side], self.look, room)
            elif agent_hooks.tells(self.agents[side]):
                lines.append(f"{name}: no analysis yet")
            else:
                lines.append(f"{name} gives no analysis")
        return lines

    def take_back(self) -> str:
        """Undo the person's last move and the answer to it; returns what happened."""
        if not self.past:
            return "there is nothing to take back"
        if any(isinstance(agent, SubprocessAgent) for agent in self.agents.values()):
            return "a program that plays by the protocol cannot take back"
        self.record = self.past.pop()
        self.thoughts = {}  # of moves that were not made
        return "taken back"


def choice(agent: Any, position: Any) -> str | Exception:
    """What an agent chooses; anybody's agent may fail, and the table stays standing."""
    try:
        return str(agent.choose(position))
    except Exception as error:
        return error


def choice_and_thoughts(agent: Any, position: Any) -> tuple[str | Exception, Analysis | None]:
    """The same, and what an agent tells of its choice, if it can."""
    chosen = choice(agent, position)
    with suppress(Exception):
        if not isinstance(chosen, Exception) and agent_hooks.tells(agent):
            return chosen, agent_hooks.thoughts(agent, position, chosen)
    return chosen, None
