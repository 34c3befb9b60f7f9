"""`check_agent`: is an agent of mine right?"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from tuplet.agents.agent import agent_from, make_agent
from tuplet.agents.g2048 import player_from
from tuplet.agents.specs import name_of
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.g2048.board import as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.games.game import Game
from tuplet.games.protocol import LONGEST, has_chance
from tuplet.games.registry import game as game_of
from tuplet.kernel import stream
from tuplet.testing.problems import Problems


def check_agent(agent: Any, game: str | Game = "ewn-6x7", *, games: int = 2, seed: int = 0) -> None:
    """Let an agent play whole games, on every side, and look at all it says.

    `agent` is a name (`mine:Class`), a class, a function that makes one, or an agent.
    """
    held, problems = game_of(game), Problems()
    name = agent if isinstance(agent, str) else getattr(agent, "__name__", None) or name_of(agent)
    made: list[Any] = []

    def new() -> Any:
        one = isinstance(held, Game2048)
        made.append(player_from(agent, seed) if one else agent_from(agent, held))
        return made[-1]

    try:
        for number in range(games):
            for side in range(held.players):
                told = [_plays(new(), held, side, number, seed, problems) for _ in range(2)]
                problems.tell(f"agent {name}")
                timed = getattr(made[-1], "time", None) is not None or made[-1] is agent
                problems.unless(
                    timed or told[0] == told[1],
                    "the same game is played otherwise",
                    "it draws random numbers from elsewhere than the stream that open(start, side, state) gives it",
                    game,
                )
    finally:
        for each in made:
            if each is not agent and agent_hooks.has(each, "close"):
                with problems.during("close()", "see there"):
                    each.close()
    problems.tell(f"agent {name}")


def _plays(agent: Any, game: Game, side: int, number: int, seed: int, problems: Problems) -> list[str]:
    """A game against random moves; the agent's moves."""
    state = np.uint64(stream(np.uint64(seed), np.uint64(2 * number + side)))
    state, position = game.opening(state)
    own, other, moves = position.sides[side], make_agent("easy", "ewn"), []
    with problems.during("open(start, side, state)", "see there"):
        agent_hooks.begin(agent, position, own, np.uint64(state))
    other.open(position, "", np.uint64(~state))
    for _ in range(LONGEST if game.players == 2 else 40):
        if position.over or problems.found:
            break
        if position.is_chance:
            state, outcome = position.random_outcome(state)
            position = position.apply_outcome(outcome)
        elif position.turn != own:
            position = position.play(other.choose(position))
        else:
            move = _chooses(agent, position, problems)
            if move is None:
                break
            moves.append(move)
            position = position.play(move)
    if position.over:
        with problems.during("end(last)", "see there"):
            agent_hooks.end(agent, position)
    return moves


def _chooses(agent: Any, position: Any, problems: Problems) -> str | None:
    where, legal = position.notation, position.legal_moves()
    move: str | None = None
    with problems.during("choose(position)", "see there", where):
        move = agent.choose(position)
        if isinstance(position, Position2048):
            move = as_move(move)  # a letter or a number will do
        good = problems.unless(
            isinstance(move, str) and move in legal,
            f"it chose {move!r}",
            f"a move is one of legal_moves(): {', '.join(legal)}",
            where,
        )
        if not good:
            return None
        problems.unless(
            position.notation == where,
            "the position has changed",
            "choose() writes into the position it is given",
            where,
        )
    if move is not None and agent_hooks.has(agent, "analyze"):
        with problems.during("analyze(position)", "see there", where):
            _check_analysis(agent.analyze(position), position, legal, problems)
    return move


def _check_analysis(found: Any, position: Any, legal: list[str], problems: Problems) -> None:
    where = position.notation
    if not problems.unless(
        isinstance(found, Analysis), f"analyze() returns {type(found).__name__}", "it returns a tuplet.Analysis", where
    ):
        return
    told = [move for move in found.moves if move.legal]
    problems.unless(
        {move.move for move in told} <= set(legal),
        "analyze() tells of illegal moves",
        "moves are as legal_moves() writes them",
        where,
    )
    problems.unless(found.best is None or found.best in legal, f"best is {found.best!r}", "it is a legal move", where)
    values = [move.value for move in told if move.value is not None]
    problems.unless(all(map(math.isfinite, values)), "a value is no number", "a division by 0?")
    if len(position.sides) == 2:
        problems.unless(
            all(0 <= value <= 1 for value in values),
            f"values go from {min(values, default=0):g} to {max(values, default=0):g}",
            "a value is what the side to move may expect: 0 lost, 1/2 drawn, 1 won",
            where,
        )
        for move in told:
            bad = move.proven and move.value not in (0.0, 0.5, 1.0) and not has_chance(position.rules)
            problems.unless(
                not bad, f"{move.move} is proven to be worth {move.value}", "what is proven is 0, 1/2 or 1", where
            )
            low, high = move.ci95 or (0.0, 1.0)
            problems.unless(
                move.value is None or low <= move.value <= high, "a value is outside of its interval", "ci95", where
            )
    with problems.during("the main line", "its moves are not legal one after the other", where):
        for move in found.line:
            if position.is_chance or position.over:
                break
            position = position.play(move)
    with problems.during("as_json()", "something in it is no plain value", where):
        json.dumps(found.as_json())
        found.text_tables()
