"""What can be asked over HTTP: each a function of plain values that returns plain values.

They are the public functions, asked by somebody who is not trusted: `ServerContext` sees to that.
"""

from __future__ import annotations

import secrets
import time as clock
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from tuplet.agents.g2048 import adapted
from tuplet.agents.learned import LearnedPlayer
from tuplet.agents.listing import list_agents, list_games, list_runs
from tuplet.arena.analyze import analyze as analyzed
from tuplet.arena.evaluate import evaluate as evaluated
from tuplet.arena.review import review as reviewed
from tuplet.errors import UserError
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.position import Position
from tuplet.games.g2048.position import GameOf2048, Standing
from tuplet.games.position import GamePosition
from tuplet.games.reading import read as readable, written
from tuplet.kernel import as_seed, stream
from tuplet.system.progress import ProgressOption
from tuplet.system.stop import Stop
from tuplet.values.downgrade import downgrade_board
from tuplet.web import responses
from tuplet.web.context import MOST_GAMES, ServerContext, check_budget, turn_of
from tuplet.web.schema import example

MOST_TREE = 12  # moves that a tree is shown deep
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
EPISODE = "me:random@0|0121#D31#L[4]72|@0"
BOARD = "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120"

Json = dict[str, Any]
Watch = Callable[[Analysis], object] | None


def games(context: ServerContext) -> Annotated[Json, responses.Games]:
    """The games there are, EWN's family by examples, and those of `serve --game`."""
    return list_games(context.own).as_json()


def agents(context: ServerContext, *, game: str = "2048") -> Annotated[Json, responses.Agents]:
    """Who plays a game, and what can be set.

    game: which game, as in ewn or 2048:board=3x3.
    """
    return list_agents(context.game(game), context.runs).as_json()


def runs(context: ServerContext) -> Annotated[Json, responses.Runs]:
    """The training runs in the server's folder, with their last figures."""
    return list_runs(context.runs).as_json() | {"folder": context.runs.name}


@example(game="2048", seed=1)
def position(
    context: ServerContext,
    *,
    game: str,
    position: str | None = None,
    seed: int | None = None,
    red: str | None = None,
    blue: str | None = None,
    die: str | None = None,
    roll: bool = False,
) -> Annotated[Json, responses.Dealt]:
    """A position: the one that is described, or a first one, and a stream of luck to go on with.

    game: which game, as in ewn or 2048:board=3x3.
    position: its notation; of 2048 also the tiles alone.
    seed: of the first position and the luck; a different one each time if it is left out.
    red: EWN: the numbers of red's cubes in the order of the starting squares.
    blue: EWN: the numbers of blue's cubes.
    die: EWN with a known die: its values.
    roll: let chance act, if it is to.
    """
    held, state = context.game(game), rng_from(None, seed)
    if position is not None:
        found = context.position(held, position)
    elif red is not None or blue is not None or die is not None:
        state, dealt = held.deal(state)
        if not isinstance(dealt, Position):
            raise UserError(f"cubes are placed in EWN, not in {held.name}")
        known = "".join(map(str, dealt.known_die)) if die is None else die
        if not all(text is None or text.isdecimal() for text in (red, blue, known or None)):
            raise UserError("cubes and dice are numbers, as in 123456")
        found = Position.start(held.name, red=red or "", blue=blue or "", die=known)
    else:
        state, found = held.deal(state)
    if roll:
        state, found, _ = apply_chance(found, None, state)
    return {"position": shown(found), "luck": rng_text(state)}


def shown(position: Any) -> Json:
    """A position as plain values; one of a game of somebody's own with its drawing."""
    drawing = {"svg": position._repr_svg_()} if isinstance(position, GamePosition) else {}
    return {**position.as_json(), **drawing}


def rng_from(luck: str | None, seed: int | None = None) -> np.uint64:
    """A stream of luck: one that goes on, the seed's, or a new one."""
    if luck is not None:
        try:
            return np.uint64(int(luck, 16))
        except (ValueError, OverflowError):
            raise UserError("luck is sixteen hexadecimal digits, as they were given") from None
    seed = secrets.randbits(63) if seed is None else seed
    return np.uint64(stream(as_seed(seed), np.uint64(0)))


def rng_text(state: np.uint64) -> str:
    """A stream as text."""
    return f"{int(state):016x}"


def apply_chance(position: Any, outcome: str | None, state: Any) -> tuple[Any, Any, str | None]:
    """Let chance act where it is to: the stream, the position, and what happened."""
    if not position.is_chance or (outcome is None and state is None):
        return state, position, None
    if outcome is None:
        state, outcome = position.random_outcome(state)
    return state, position.happen(outcome), outcome


@example(game="2048", position=BOARD, move="left", luck="00000000000004d2")
def play(
    context: ServerContext,
    *,
    game: str,
    position: str,
    move: str | None = None,
    outcome: str | None = None,
    luck: str | None = None,
) -> Annotated[Json, responses.Played]:
    """Play a move, and let chance act.

    game: which game.
    position: its notation.
    move: a legal move; without one chance alone acts.
    outcome: what chance does, as in 4@15 or 6.
    luck: a stream of luck to draw it from; with neither, chance does not act yet.
    """
    held = context.game(game)
    before = context.position(held, position)
    state = None if luck is None else rng_from(luck)
    after, reward = (before, 0) if move is None else played(before, move)
    state, found, what = apply_chance(after, outcome, state)
    answer: Json = {
        "position": shown(found),
        "after": None if what is None else shown(after),
        "happened": what,
        "reward": reward,
        "luck": None if state is None else rng_text(state),
    }
    if isinstance(before, Standing):
        answer["motion"] = [] if move is None else motion(before, move)
    return answer


def played(position: Any, move: str) -> tuple[Any, int]:
    """The position after a move, and its reward."""
    after = position.play(move)
    return after, after.score - position.score if isinstance(after, Standing) else 0


def motion(board: Standing, move: str) -> list[Json]:
    """Where each tile goes."""
    return [{"from": a, "to": b, "merged": merged} for a, b, merged in board.motion(move)]


@example(game="ewn", position=START, agent="mcts:sims=20000")
def analyze(
    context: ServerContext,
    *,
    game: str,
    position: str | None = None,
    agent: str | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    tree: int | None = None,
    share: float | None = None,
    growth: bool = False,
    seed: int = 0,
    watch: Watch = None,
    stop: Stop | None = None,
) -> Annotated[Json, responses.Analyzed]:
    """What an agent thinks of a position: the value of every move, the best, and why.

    game: which game.
    position: its notation; the seed's first one if it is left out.
    agent: who is asked, as in small or mcts:ucb=tuned,sims=20000.
    depth: moves ahead, of learned values.
    time: seconds a move, of learned values.
    downgrade: from this tile on, large tiles are seen as half of what they are.
    tree: of mcts and mcs: show the tree so many moves deep.
    share: the part of the visits that its nodes have at least.
    growth: of mcts and mcs: how visits and values grew.
    seed: of the agent's random choices.
    """
    held = context.game(game)
    asked = looking(context.agent(agent, held, stop), depth, time, downgrade)
    if tree is not None and not 1 <= tree <= MOST_TREE:
        raise UserError(f"tree must be 1 to {MOST_TREE} (got {tree})")
    given = None if position is None else context.position(held, position)
    with context.taking(stop, asked, turn=turn_of(asked)):
        began = clock.perf_counter()
        found = analyzed(
            held.name,
            given,
            asked,
            tree=tree,
            share=share,
            growth=growth,
            seed=seed,
            watch=watch,
            progress=False,
            stop=stop,
        )
        return found.as_json() | {"seconds": clock.perf_counter() - began}


def looking(agent: Any, depth: int | None, time: float | None, downgrade: int | None = None) -> Any:
    """An agent that looks so far ahead, within its budget."""
    if depth is time is downgrade is None:
        return agent
    made: Any = adapted(agent, depth=depth, time=time, downgrade=downgrade)
    check_budget(made)
    return made


@example(game="2048", position=BOARD, move="left")
def explain(
    context: ServerContext, *, game: str, position: str, move: str, agent: str | None = None, stop: Stop | None = None
) -> Annotated[Json, responses.Explained]:
    """Which tuples make the value of the board after a move, in each of their eight placements.

    game: 2048.
    position: its notation.
    move: a legal move.
    agent: somebody with learned values.
    """
    held = context.game(game)
    player = context.agent(agent, held, stop)
    if not isinstance(held, GameOf2048) or not isinstance(player, LearnedPlayer):
        raise UserError("only learned values of 2048 are made of tuples: take small, or a run")
    after, reward = played(context.position(held, position), move)
    net = player.network
    seen = downgrade_board(net.as_board(after), player.downgrade)
    parts = net.explain(seen)
    return {
        "move": move,
        "reward": reward,
        "value": sum(part.value for part in parts),
        "tuples": [
            {
                "cells": _cells(part.cells),
                "value": part.value,
                "placements": [{"cells": _cells(cells), "weight": weight} for cells, weight in part.placements],
            }
            for part in parts
        ],
    }


def _cells(spelled: str) -> list[int]:
    return [int(digit, 16) for digit in spelled]


@example(agent="small", games=10)
def evaluate(
    context: ServerContext,
    *,
    agent: str = "small",
    games: int = 10,
    depth: int | None = None,
    time: float | None = None,
    seed: int = 0,
    stop: Stop | None = None,
) -> Annotated[Json, responses.Evaluated]:
    """Let a player of 2048 play some games: mean score and tiles, with 95 % intervals.

    agent: who plays.
    games: how many, 100 at most.
    depth: moves ahead, of learned values.
    time: seconds a move, of learned values.
    seed: the same seed gives the same games.
    """
    if not 1 <= games <= MOST_GAMES:
        raise UserError(f"an evaluation over the network has 1 to {MOST_GAMES} games, not {games}")
    player = looking(context.agent(agent, context.game("2048"), stop), depth, time)
    with context.taking(stop, player, turn="long"):
        return evaluated(player, games=games, seed=seed, progress=False, stop=stop).as_json()


@example(record=EPISODE)
def review(
    context: ServerContext,
    *,
    record: str,
    agent: str | None = None,
    depth: int | None = None,
    time: float | None = None,
    progress: ProgressOption = False,
    stop: Stop | None = None,
) -> Annotated[Json, responses.Reviewed]:
    """Go through a game of 2048: what each move cost, and what was luck.

    record: the game, a line of text.
    agent: the judge, somebody with values.
    depth: moves ahead, of learned values.
    time: seconds a move, of learned values.
    """
    played = readable(record).record
    if played is None or not isinstance(played.start, Standing):
        raise UserError(f"a game of 2048 is a line of text, as in {EPISODE}")
    whole = len(played.start.tiles) == 16
    judge = context.agent(agent, played.start.held, stop) if agent is not None or whole else None
    judge = looking(judge, depth, time)
    with context.taking(stop, judge, turn="long"):
        return reviewed(played, judge, progress=progress, stop=stop).as_json()


@example(text="2 . . 4 / . 8 . . / . . . . / . . . .")
def read(context: ServerContext, *, text: str, game: str | None = None) -> Annotated[Json, responses.Read]:
    """What somebody pasted: a position, or a game with all its steps.

    text: a board in whatever dress, a notation, a record, the Framework's line, 2048verse's.
    game: which game is meant, where the text does not say.
    """
    return readable(text, None if game is None else context.game(game)).as_json()


@example(game="2048:board=2x2", start="2,0/0,2", steps=[["left", "2@1"], ["left", None]])
def write(
    context: ServerContext,
    *,
    game: str,
    start: str,
    steps: list[Any],
    format: str = "record",
    names: list[Any] | None = None,
) -> Annotated[Json, responses.Written]:
    """A game as text, to be pasted elsewhere.

    game: which game.
    start: the position it began with.
    steps: a move and what chance did after it, each.
    format: record (tuplet's), episode (the Framework's) or 2048verse.
    names: of the players, in the order of the sides.
    """
    return {"text": written(context.game(game).name, start, steps, format, names)}


CALLS: dict[tuple[str, str], Callable[..., Json]] = {
    ("GET", "/api/games"): games,
    ("GET", "/api/agents"): agents,
    ("GET", "/api/runs"): runs,
    ("POST", "/api/position"): position,
    ("POST", "/api/play"): play,
    ("POST", "/api/analyze"): analyze,
    ("POST", "/api/explain"): explain,
    ("POST", "/api/evaluate"): evaluate,
    ("POST", "/api/review"): review,
    ("POST", "/api/read"): read,
    ("POST", "/api/write"): write,
}
