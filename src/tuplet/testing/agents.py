"""`check_agent`: lets an agent play and reports what is wrong with it, with the likely cause."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from tuplet.agents.agent import agent_from, make_agent
from tuplet.agents.specs import name_of
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.g2048.board import as_move
from tuplet.games.game import Game
from tuplet.games.protocol import LONGEST, has_chance
from tuplet.games.registry import game as game_of
from tuplet.kernel import describe_error, stream

MOST_PROBLEMS = 10  # problems that an error lists


class CheckFailed(AssertionError):  # noqa: N818
    """What is wrong, a line each."""

    def __init__(self, name: str, problems: list[str]) -> None:
        self.problems = problems
        lines = [f"- {problem}" for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            lines.append(f"... and {len(problems) - MOST_PROBLEMS} more")
        super().__init__("\n".join([f"{name} is not right:", *lines]))


class Problems:
    """The problems of what has this name; the same problem is listed once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.where: object = ""  # the position that is being checked
        self.list: dict[str, str] = {}

    def require(self, good: object, what: str, cause: str) -> bool:
        """Add a problem unless `good` is true; returns whether it is."""
        if not good and what not in self.list:
            at = f" (at {self.where})" if self.where else ""
            self.list[what] = f"{what}{at}. Likely cause: {cause}."
        return bool(good)

    @contextmanager
    def catch(self, what: str, cause: str) -> Iterator[None]:
        """Add a problem if something raises."""
        try:
            yield
        except Exception as error:
            line = describe_error(error)
            if isinstance(error, NumbaError):
                cause = "np.uint64 mixed with other numbers, or something that cannot be compiled"
            elif not isinstance(error, CheckFailed):
                last = extract_tb(error.__traceback__)[-1]
                line += f" in {Path(last.filename).name}, line {last.lineno}"
            self.require(False, f"{what} raises {line}", cause)

    def raise_any(self) -> None:
        """Raise CheckFailed if there are problems."""
        if self.list:
            raise CheckFailed(self.name, list(self.list.values()))


def check_agent(agent: Any, game: str | Game = "ewn-6x7", *, games: int = 2, seed: int = 0) -> None:
    """Let an agent play whole games on every side and check everything it returns; raises CheckFailed.

    `agent` is a name (`mine:Class`), a class, a function that makes one, or an agent.
    """
    game = game_of(game)
    name = agent if isinstance(agent, str) else getattr(agent, "__name__", None) or name_of(agent)
    problems, agents = Problems(f"agent {name}"), list[Any]()

    def new() -> Any:
        agents.append(agent_from(agent, game, seed))
        return agents[-1]

    try:
        for number in range(games):
            for side in range(game.players):
                played = [_play(new(), game, side, number, seed, problems) for _ in range(2)]
                problems.raise_any()
                timed = getattr(agents[-1], "time", None) is not None or agents[-1] is agent
                problems.where = game.name
                problems.require(
                    timed or played[0] == played[1],
                    "the same game is played differently",
                    "it draws random numbers from elsewhere than the stream that open(start, side, state) gives it",
                )
    finally:
        for each in agents:
            if each is not agent and agent_hooks.has(each, "close"):
                with problems.catch("close()", "see there"):
                    each.close()
    problems.raise_any()


def _play(agent: Any, game: Game, side: int, number: int, seed: int, problems: Problems) -> list[str]:
    """Play a game against random moves; the agent's moves."""
    state = np.uint64(stream(np.uint64(seed), np.uint64(2 * number + side)))
    state, position = game.opening(state)
    own, other, moves = position.sides[side], make_agent("easy", "ewn"), []
    with problems.catch("open(start, side, state)", "see there"):
        agent_hooks.begin(agent, position, own, np.uint64(state))
    other.open(position, "", np.uint64(~state))
    for _ in range(LONGEST if game.players == 2 else 40):
        if position.over or problems.list:
            break
        if position.is_chance:
            state, outcome = position.random_outcome(state)
            position = position.apply_outcome(outcome)
        elif position.turn != own:
            position = position.play(other.choose(position))
        else:
            move = _choose(agent, position, problems)
            if move is None:
                break
            moves.append(move)
            position = position.play(move)
    if position.over:
        with problems.catch("end(last)", "see there"):
            agent_hooks.end(agent, position)
    return moves


def _choose(agent: Any, position: Any, problems: Problems) -> str | None:
    """The agent's move and analysis, checked; None if it has no legal move."""
    problems.where, legal = position.notation, position.legal_moves()
    move: str | None = None
    with problems.catch("choose(position)", "see there"):
        move = agent.choose(position)
        if position.game.family == "2048":
            move = as_move(move)  # a letter or a number will do
        is_legal = isinstance(move, str) and move in legal
        if not problems.require(is_legal, f"it chose {move!r}", f"a move is one of legal_moves(): {', '.join(legal)}"):
            return None
        same = position.notation == problems.where
        problems.require(same, "the position has changed", "choose() writes into the position it is given")
    if move is not None and agent_hooks.has(agent, "analyze"):
        with problems.catch("analyze(position)", "see there"):
            _check_analysis(agent.analyze(position), position, legal, problems)
    return move


def _check_analysis(analysis: Any, position: Any, legal: list[str], problems: Problems) -> None:
    require = problems.require
    what = f"analyze() returns {type(analysis).__name__}"
    if not require(isinstance(analysis, Analysis), what, "it returns a tuplet.Analysis"):
        return
    moves = [move for move in analysis.moves if move.legal]
    cause = "moves are written as by legal_moves()"
    require({move.move for move in moves} <= set(legal), "analyze() lists illegal moves", cause)
    require(analysis.best is None or analysis.best in legal, f"best is {analysis.best!r}", "it is a legal move")
    values = [move.value for move in moves if move.value is not None]
    require(all(map(math.isfinite, values)), "a value is not finite", "a division by 0?")
    if len(position.sides) == 2:
        what = f"values go from {min(values, default=0):g} to {max(values, default=0):g}"
        cause = "a value is the expected result of the side to move: 0 lost, 1/2 drawn, 1 won"
        require(all(0 <= value <= 1 for value in values), what, cause)
        for move in moves:
            bad = move.proven and move.value not in (0.0, 0.5, 1.0) and not has_chance(position.rules)
            require(not bad, f"{move.move} is proven to be worth {move.value}", "a proven value is 0, 1/2 or 1")
            low, high = move.ci95 or (0.0, 1.0)
            require(move.value is None or low <= move.value <= high, "a value is outside its interval", "ci95")
    with problems.catch("the main line", "its moves are not legal one after the other"):
        for move in analysis.line:
            if position.is_chance or position.over:
                break
            position = position.play(move)
    with problems.catch("as_json()", "it holds something that is not a plain value"):
        json.dumps(analysis.as_json())
        analysis.text_tables()
