"""A game under way: its record, the agents that play, and the games before it."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import make_agent
from tuplet.agents.placing import RECOMMENDED, arranged, arrangement, is_recommended
from tuplet.agents.protocol.subprocess_agent import SubprocessAgent
from tuplet.cli.draw_2048 import Renderer2048
from tuplet.cli.draw_board import BoardRenderer, Square, analysis_lines, changed_squares
from tuplet.cli.draw_ewn import EwnRenderer
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.game import Game
from tuplet.games.record import Forfeit, Record
from tuplet.kernel import as_seed, stream
from tuplet.system.tables import plural
from tuplet.system.text import sanitize

RENDERERS: dict[str, type[BoardRenderer]] = {"2048": Renderer2048, "ewn": EwnRenderer}


class GameSession:
    """Games one after another between agents, or an agent and a person (`other` is None).

    In a game for one player the agent of a person gives hints. `made` is that agent, if it was made
    before. `placement` is how the cubes of EWN are placed: at random if it is "", else each side arranges its own, the
    person by these digits, everyone else as recommended, if that is known.
    """

    record: Record

    def __init__(
        self, game: Game, agent: str, other: str | None, side: str, seed: int, made: Any = None, placement: str = ""
    ) -> None:
        self.game, self.agent, self.other = game, agent, other
        self.sides = game.sides
        if side not in (*self.sides, "first", "second", "random"):
            raise UserError(f"{side!r} is not a side of {game.name}: {', '.join([*self.sides, 'random'])}")
        self.renderer = RENDERERS.get(game.family, BoardRenderer)(game)
        self.side, self.seed, self.number, self._made = side, seed, 0, made
        self.placement = self._checked(placement)
        self.names: dict[str, str] = {}
        self.agents: dict[str, Any] = {}
        self.helper: Any = None  # gives hints; made when it is first asked
        self.past: list[Record] = []  # before each of the person's moves, for taking back
        self.finished: list[Record] = []  # games left for a new one
        self.analyses: dict[str, tuple[Any, Analysis]] = {}
        self.open()

    def open(self) -> None:
        """Begin a game: start, chance and the agents' random streams follow from the seed and its number."""
        if self.number:
            self.finished.append(self.record)
        self.number += 1
        self.stream = np.uint64(stream(as_seed(self.seed), np.uint64(self.number)))
        _, start = self.game.initial_position(self.stream)
        if self.side == "random":
            first = random.Random(int(self.stream)).randrange(2)
        else:
            first = (*self.sides, "first", "second").index(self.side)
        own = self.sides[first % len(self.sides)]
        if self.placement:
            others = RECOMMENDED if is_recommended(self.game) else ""
            orders = dict.fromkeys(self.sides, others) | {own: self.placement if self.other is None else others}
            start = arranged(start, {side: order for side, order in orders.items() if order}, self.stream)
        specs = dict.fromkeys(self.sides, self.other or self.agent) | {own: self.agent if self.other else None}
        self.close()
        self.agents = {side: self.make(spec, start, side) for side, spec in specs.items() if spec is not None}
        self.names = {side: spec or "you" for side, spec in specs.items()}
        self.past, self.analyses = [], {}
        self.record = Record(tuple(self.names.values()), start)
        self._roll()

    def _checked(self, placement: str) -> str:
        """A placement that the game has; UserError if it has not."""
        if not placement:
            return ""
        game: Any = self.game
        if game.family != "ewn":
            raise UserError(f"cubes are placed in EWN (got {game.name})")
        numbers = range(game.first_cube, game.first_cube + game.cubes)
        if placement != RECOMMENDED and sorted(placement) != [str(n) for n in numbers]:
            some = f"{numbers[0]} to {numbers[-1]} in some order"
            raise UserError(f"--placement must be random, {RECOMMENDED}, or {some} (got {placement!r})")
        if placement == RECOMMENDED and not is_recommended(game):
            raise UserError(f"arrangements are recommended for ewn only (got {game.name})")
        return placement

    def place(self) -> str:
        """Begin the same game with both sides' cubes placed as recommended; returns a message."""
        if not is_recommended(self.game):
            return f"no arrangement is recommended for {self.game.name}"
        if self.record.moves:
            return "cubes can be placed before the first move only"
        self.placement = RECOMMENDED
        self.number -= 1
        self.open()
        you = next(side for side in self.sides if side not in self.agents)
        return f"both sides are placed as recommended, yours {arrangement(self.record.start, you)}"

    def can_place(self) -> bool:
        """Whether arrangements are recommended for this game, and no move was made yet."""
        return self.game.family == "ewn" and is_recommended(self.game) and not self.record.moves

    def make(self, spec: str, start: Any, side: str) -> Any:
        """An agent that plays a side, with a random stream of its own."""
        if self._made is not None and spec == self.agent:
            agent = self._made.fresh() if hasattr(self._made, "fresh") else self._made
        else:
            agent = make_agent(spec, self.game)
        own = stream(self.stream, np.uint64(self.sides.index(side)))
        agent_hooks.begin(agent, start, side, np.uint64(own))
        return agent

    def close(self) -> None:
        """Close the agents."""
        for agent in (*self.agents.values(), *([self.helper] if self.helper else [])):
            if hasattr(agent, "close"):
                agent.close()
        self.helper = None

    def save(self, path: Path) -> int:
        """Append the games, finished or not, to a file; returns how many."""
        played = [record for record in (*self.finished, self.record) if record.moves]
        if played:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{self.renderer.line(record)}\n" for record in played)
        return len(played)

    def _roll(self) -> None:
        """Let chance act; the same again for a move that was taken back."""
        state = np.uint64(stream(self.stream, np.uint64(2 + len(self.record.moves))))
        while self.record.position.is_chance:
            state, outcome = self.record.position.random_outcome(state)
            self.record.apply_outcome(outcome)

    def move(self, move: str) -> None:
        """Make a move, and let chance act before the next."""
        self.record.play(move)
        self._roll()

    def agent_moves(self, choice: str | Exception) -> None:
        """Make an agent's move; one that is illegal, or an exception, loses the game."""
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

    def play_through(self) -> None:
        """Play to the end without a terminal, and print it."""
        while not self.record.over:
            agent = self.agents[self.record.position.turn]
            self.agent_moves(choose(agent, self.record.position))
        print(self.record.position)
        print(self.summary())

    def summary(self) -> str:
        """The players, and how the game went."""
        record, moves = self.record, plural(len(self.record.moves), "move")
        players = ", ".join(f"{side} {name}" for side, name in self.names.items())
        if len(self.sides) == 1:
            players = self.names[self.sides[0]]
        if not record.over:
            return f"{players}: unfinished after {moves}"
        reason = f", {sanitize(record.reason)}" if record.reason else ""
        return f"{players}: {self.renderer.result(record)} after {moves} ({record.termination}{reason})"

    def how_you_did(self) -> str:
        """The result for the person, in a word or two."""
        you = next(side for side in self.sides if side not in self.agents)
        if self.record.winner is None:
            return "A draw" if len(self.sides) > 1 else "The game is over"
        return "You have won" if self.record.winner == you else "You have lost"

    def last_squares(self) -> list[Square]:
        """The squares that the last move changed; choosing a die changes none."""
        after = self.record.position
        for before, _ in reversed(list(self.record.replay())):
            if changed := changed_squares(before, after):
                return changed
            after = before
        return []

    def analysis_text(self) -> list[str]:
        """The agents' last analyses, as lines of text."""
        lines: list[str] = []
        for side, agent in self.agents.items():
            name, room = self.names[side], 8 if len(self.agents) == 1 else 4
            if side in self.analyses:
                lines += analysis_lines(name, *self.analyses[side], self.renderer, room)
            else:
                can = agent_hooks.has(agent, "analyze")
                lines.append(f"{name}: no analysis yet" if can else f"{name} gives no analysis")
        return lines

    def take_back(self) -> str:
        """Undo the person's last move and the answer to it; returns a message."""
        if not self.past:
            return "there is nothing to take back"
        if any(isinstance(agent, SubprocessAgent) for agent in self.agents.values()):
            return "a program that plays by the protocol cannot take back"
        self.record = self.past.pop()
        self.analyses = {}
        return "taken back"


def choose(agent: Any, position: Any) -> str | Exception:
    """The move an agent chooses, or the exception it raises."""
    try:
        return str(agent.choose(position))
    except Exception as error:
        return error


def choose_and_analyze(agent: Any, position: Any) -> tuple[str | Exception, Analysis | None]:
    """The same, with the agent's analysis of the position if it gives one."""
    move = choose(agent, position)
    with suppress(Exception):
        if not isinstance(move, Exception) and agent_hooks.has(agent, "analyze"):
            return move, agent_hooks.analysis_of(agent, position, move)
    return move, None
