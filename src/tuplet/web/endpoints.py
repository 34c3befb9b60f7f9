"""The calls over HTTP: functions of plain values that return plain values.

They call the public functions with the text of an untrusted client, within the limits of `ServerContext`.
"""

from __future__ import annotations

import secrets
import time as clock
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from tuplet.agents.agent import configured
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.listing import list_agents, list_games
from tuplet.agents.placing import RECOMMENDED, arranged
from tuplet.arena import analyze as analyzing, evaluate as evaluating, review as reviewing
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.formats import read as read_text, write as write_text
from tuplet.games.game import Position
from tuplet.games.record import Record
from tuplet.kernel import as_seed, stream
from tuplet.learn import self_play_steps as self_play, steps as showing
from tuplet.search import steps as searching
from tuplet.system.progress import ProgressOption
from tuplet.system.stop import Stop, Stopped
from tuplet.values.downgrade import downgrade_board
from tuplet.values.game_network import encoding_of, parse_tuples as game_tuples
from tuplet.values.patterns import parse as parse_tuples
from tuplet.values.tables import stage_size
from tuplet.web import limits, responses
from tuplet.web.context import ServerContext, check_budget, turn_of
from tuplet.web.homework import list_functions
from tuplet.web.schema import example

START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
EPISODE = "me:random@0|0121#D31#L[4]72|@0"
BOARD = "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120"

Json = dict[str, Any]
Watch = Callable[[Analysis], object] | None


def games(context: ServerContext) -> Annotated[Json, responses.Games]:
    """List the games: 2048, the EWN family by examples, and the games of serve --game."""
    return list_games(context.games).as_json()


def agents(context: ServerContext, *, game: str = "2048") -> Annotated[Json, responses.Agents]:
    """List the agents of a game and their settings.

    game: the game, such as ewn or 2048:board=3x3.
    """
    return list_agents(context.game(game), context.runs).as_json()


def runs(context: ServerContext) -> Annotated[Json, responses.Runs]:
    """List the training runs in the server's folder, with their last metrics."""
    training = context.training
    return {"folder": context.runs.name, "train": training.train, "runs": training.rows()}


@example(name="first")
def run(context: ServerContext, *, name: str, points: int = 400) -> Annotated[Json, responses.RunAndCurve]:
    """Describe a training run, which may be going on: its settings, the command that repeats it, its curve, and after
    how many seconds to look again.

    name: the run's name.
    points: the most points of the curve; neighbouring blocks of games are joined.
    """
    if not 1 <= points <= limits.MAX_POINTS:
        raise UserError(f"points must be 1 to {limits.MAX_POINTS} (got {points})")
    return context.training.read(name, points)


@example(settings={"net": "5x4", "games": 20000}, name="first")
def start_run(
    context: ServerContext, *, settings: dict[str, Any], name: str | None = None, stop: Stop | None = None
) -> Annotated[Json, responses.OneRun]:
    """Start a training run, which goes on when the page is closed and when the server ends. Needs serve --train.

    settings: by the names of tuplet train's options: net, learner, alpha, games, budget, seed, recipe, ...
    name: the run's name; by default one that is free.
    """
    return {"run": context.training.start(settings, name, stop or Stop()).describe()}


@example(name="first")
def stop_run(context: ServerContext, *, name: str, stop: Stop | None = None) -> Annotated[Json, responses.OneRun]:
    """Stop a training run, and wait until it is saved. Needs serve --train.

    name: the run's name.
    """
    return {"run": context.training.stop(name, stop or Stop()).describe()}


@example(name="first", settings={"games": 40000})
def resume_run(
    context: ServerContext, *, name: str, settings: dict[str, Any] | None = None, stop: Stop | None = None
) -> Annotated[Json, responses.OneRun]:
    """Continue a training run. Needs serve --train.

    name: the run's name.
    settings: games or budget, totals that include what is done, for a run that is to be longer.
    """
    return {"run": context.training.resume(name, settings or {}, stop or Stop()).describe()}


@example(name="first", settings={"alpha": 0.1})
def change_run(
    context: ServerContext, *, name: str, settings: dict[str, Any], stop: Stop | None = None
) -> Annotated[Json, responses.OneRun]:
    """Change a training run, which is stopped, saved and continued. Needs serve --train.

    name: the run's name.
    settings: alpha, and for 2048 spawn4 and net, which are tuples to add.
    """
    return {"run": context.training.change(name, settings, stop or Stop()).describe()}


@example(name="first", seed=1)
def run_game(
    context: ServerContext, *, name: str, seed: int | None = None, stop: Stop | None = None
) -> Annotated[Json, responses.RunGame]:
    """Let a training run's last checkpoint play a game, for both sides if there are two. With serve --train, a run
    that goes on is asked for a new checkpoint if the last one is old.

    name: the run's name.
    seed: random seed; by default a new one each time.
    """
    found, stop = context.training.find(name), stop or Stop()
    if context.training.train:
        found.save(stop)
    game = found.played_game()
    agent = context.agent(f"./{name}", game, stop)
    state, start = game.initial_position(rng_from(None, seed))
    record = Record((name,) * len(game.sides), start)
    with context.taking(stop, agent, turn="short"):
        for side in game.sides:
            agent_hooks.begin(agent, start, side, state)
        while not record.over:
            if stop.is_set():
                raise Stopped("the game was stopped before its end")
            if record.position.is_chance:
                state, outcome = record.position.random_outcome(state)
                record.apply_outcome(outcome)
            else:
                record.play(str(agent.choose(record.position)))
    tiles = getattr(record.position, "tiles", None)
    return {
        "record": record.line,
        "score": record.score if game.players == 1 else None,
        "tile": None if tiles is None else max(tiles),
        "winner": record.winner,
        "learned": found.saved()[0],
    }


@example(name="first", confirm="first")
def delete_run(context: ServerContext, *, name: str, confirm: str) -> Annotated[Json, responses.Deleted]:
    """Delete a training run that is not going on. Needs serve --train.

    name: the run's name.
    confirm: the same name again.
    """
    context.training.delete(name, confirm)
    return {"deleted": name}


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
) -> Annotated[Json, responses.NewPosition]:
    """Describe a position, or make a starting position, and the random state to play on with.

    game: the game, such as ewn or 2048:board=3x3.
    position: its notation; for 2048 also the tiles alone.
    seed: random seed of the starting position and of what follows; by default a new one each time.
    red: EWN: the numbers of red's cubes, in the order of the starting squares; ewn: or recommended.
    blue: EWN: the numbers of blue's cubes, or recommended.
    die: EWN with a known die: its numbers.
    roll: apply chance, if it is chance's turn.
    """
    played, state = context.game(game), rng_from(None, seed)
    if position is not None:
        first = played.parse(position)
    elif red is not None or blue is not None or die is not None:
        state, dealt = played.initial_position(state)
        if not hasattr(played, "setup"):
            raise UserError(f"red, blue and die are for EWN (got the game {played.name})")
        known = "".join(map(str, dealt.known_die)) if die is None else die
        orders = {side: order for side, order in (("red", red), ("blue", blue)) if order is not None}
        if not all(text.isdecimal() for text in (*orders.values(), known or "0") if text != RECOMMENDED):
            raise UserError("red, blue and die must be digits, such as 123456")
        first = arranged(played.setup(die=known), orders, state)
    else:
        state, first = played.initial_position(state)
    if roll:
        state, first, _ = apply_chance(first, None, state)
    return {"position": position_json(first), "rng": rng_text(state)}


def position_json(position: Any) -> Json:
    """A position as plain values, with its drawing for games that have no page."""
    drawing = {"svg": position._repr_svg_()} if type(position) is Position else {}
    return {**position.as_json(), **drawing}


def rng_from(text: str | None, seed: int | None = None) -> np.uint64:
    """The state of a random stream: of a text that `rng_text` gave, of a seed, or a new one."""
    if text is not None:
        try:
            return np.uint64(int(text, 16))
        except (ValueError, OverflowError):
            raise UserError(f"rng must be sixteen hexadecimal digits, as the server sent them (got {text!r})") from None
    return np.uint64(stream(as_seed(secrets.randbits(63) if seed is None else seed), np.uint64(0)))


def rng_text(state: np.uint64) -> str:
    """The state of a random stream as text."""
    return f"{int(state):016x}"


def apply_move(position: Any, move: str) -> tuple[Any, int]:
    """The position after a move, and the reward."""
    after = position.play(move)
    return after, getattr(after, "score", 0) - getattr(position, "score", 0)


def apply_chance(position: Any, outcome: str | None, state: Any) -> tuple[Any, Any, str | None]:
    """Apply an outcome, or draw one: the random state, the position and the outcome.

    Nothing happens if it is not chance's turn, or if neither an outcome nor a state is given.
    """
    if not position.is_chance or (outcome is None and state is None):
        return state, position, None
    if outcome is None:
        state, outcome = position.random_outcome(state)
    return state, position.apply_outcome(outcome), outcome


@example(game="2048", position=BOARD, move="left", rng="00000000000004d2")
def play(
    context: ServerContext,
    *,
    game: str,
    position: str,
    move: str | None = None,
    outcome: str | None = None,
    rng: str | None = None,
) -> Annotated[Json, responses.Played]:
    """Play a move and apply chance.

    game: the game.
    position: its notation.
    move: a legal move; without one, only chance is applied.
    outcome: the outcome of chance, such as 4@15 or 6.
    rng: the random state to draw the outcome from. With neither, chance is not applied.
    """
    before = context.game(game).parse(position)
    state = None if rng is None else rng_from(rng)
    after, reward = (before, 0) if move is None else apply_move(before, move)
    state, then, drawn = apply_chance(after, outcome, state)
    answer: Json = {
        "position": position_json(then),
        "after": None if drawn is None else position_json(after),
        "outcome": drawn,
        "reward": reward,
        "rng": None if state is None else rng_text(state),
    }
    if hasattr(before, "motion"):
        answer["motion"] = [] if move is None else motion(before, move)
    return answer


def motion(position: Any, move: str) -> list[Json]:
    """Where each tile goes in a move."""
    return [{"from": a, "to": b, "merged": merged} for a, b, merged in position.motion(move)]


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
    """Analyze a position: the value of every move, the best one, and why.

    game: the game.
    position: its notation; by default the starting position of the seed.
    agent: the agent, such as small or mcts:ucb=tuned,sims=20000.
    depth: moves to look ahead, for learned values.
    time: seconds per move, for learned values.
    downgrade: from this tile on, large tiles are valued as if they were half as large.
    tree: for mcts and mcs: the depth of the tree to return, in moves.
    share: leave out nodes with a smaller share of the visits.
    growth: for mcts and mcs: return how visits and values grew.
    seed: random seed.
    """
    played = context.game(game)
    searcher = with_lookahead(context.agent(agent, played, stop), depth, time, downgrade)
    if tree is not None and not 1 <= tree <= limits.MAX_TREE_DEPTH:
        raise UserError(f"tree must be 1 to {limits.MAX_TREE_DEPTH} (got {tree})")
    root = None if position is None else played.parse(position)
    with context.taking(stop, searcher, turn=turn_of(searcher)):
        began = clock.perf_counter()
        analysis = analyzing.analyze(
            played.name,
            root,
            searcher,
            tree=tree,
            share=share,
            growth=growth,
            seed=seed,
            watch=watch,
            progress=False,
            stop=stop,
        )
        return analysis.as_json() | {"seconds": clock.perf_counter() - began}


def with_lookahead(agent: Any, depth: int | None, time: float | None, downgrade: int | None = None) -> Any:
    """An agent with another depth or time, within its budget."""
    if depth is time is downgrade is None:
        return agent
    changed: Any = configured(agent, depth=depth, time=time, downgrade=downgrade)
    check_budget(changed)
    return changed


@example(game="2048", position=BOARD, move="left")
def explain(
    context: ServerContext, *, game: str, position: str, move: str, agent: str | None = None, stop: Stop | None = None
) -> Annotated[Json, responses.Explained]:
    """Split the value of the board after a move into its tuples, each in its eight placements.

    game: 2048.
    position: its notation.
    move: a legal move.
    agent: an agent with learned values.
    """
    played = context.game(game)
    player = context.agent(agent, played, stop)
    if not isinstance(player, LearnedAgent):
        raise UserError("explain needs an agent with learned values of 2048: use small, or a run")
    after, reward = apply_move(played.parse(position), move)
    network = player.network
    parts = network.explain(downgrade_board(network.as_board(after), player.downgrade))
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


def _cells(digits: str) -> list[int]:
    return [int(digit, 16) for digit in digits]


@example(games=10, last=5)
def learning_steps(
    context: ServerContext,
    *,
    net: str = "5x4",
    board: str | None = None,
    moves: str = "",
    last: int = showing.LAST,
    at: int = -1,
    games: int = 0,
    seed: int = 0,
    learner: str = "td",
    target: str = "afterstate",
    order: str = "backward",
    alpha: float | None = None,
    lam: float | None = None,
    spawn4: float = 0.1,
    stop: Stop | None = None,
) -> Annotated[Json, responses.LearningSteps]:
    """Play a game of 2048 and learn from it: every number of its last moves.

    net: the network, such as 5x4 or 0123 4567, with at most 524,288 weights.
    board: the board to start from; by default two tiles.
    moves: the moves to begin with, as first letters, such as uldr; then the best ones are played.
    last: how many of the last moves to return, at most 200.
    at: the number of the move that is returned with its choices and look-ups; -1, the default, is the last one.
    games: how many games the network has learned from before, at most 1000.
    seed: random seed.
    learner: td or tc.
    target: afterstate or state.
    order: backward or forward.
    alpha: the learning rate.
    lam: lambda of TD(lambda).
    spawn4: the probability that a new tile is a 4.
    """
    for name, value, most in ("games", games, limits.MAX_LEARNED), ("last", last, limits.MAX_SHOWN):
        if value > most:
            raise UserError(f"{name} must be at most {most:,} over the network (got {value:,})")
    if (size := stage_size(parse_tuples(net))) > limits.MAX_SHOWN_WEIGHTS:
        raise UserError(
            f"net must have at most {limits.MAX_SHOWN_WEIGHTS:,} weights over the network, such as 5x4 (got {size:,})"
        )
    start = None if board is None else context.game("2048").parse(board)
    with context.taking(stop, turn="instant" if games <= 10 else "short"):
        shown = showing.learning_steps(
            net,
            board=start,
            moves=moves,
            last=last,
            games=games,
            seed=seed,
            learner=learner,  # type: ignore[arg-type]  # it is checked there
            target=target,  # type: ignore[arg-type]
            order=order,  # type: ignore[arg-type]
            alpha=alpha,
            lam=lam,
            spawn4=spawn4,
        )
    return shown.as_json(at)


@example(game="ewn", position=START, ucb="tuned", last=20)
def search_steps(
    context: ServerContext,
    *,
    game: str,
    position: str,
    ucb: str = "tuned",
    c: float | None = None,
    c1: float | None = None,
    c2: float | None = None,
    k: float | None = None,
    batch: int = 1,
    expand: int = 4,
    solver: bool = True,
    shortcuts: bool = True,
    first: int = 0,
    last: int = 100,
    seed: int = 0,
    stop: Stop | None = None,
) -> Annotated[Json, responses.SearchSteps]:
    """Search a position of a game for two step by step: what each simulation selected, played and backed up.

    game: the game.
    position: its notation.
    ucb: the bandit: ucb1, tuned or puct.
    c: the bandit's constant of exploration.
    c1: tuned: the weight of the variance's uncertainty.
    c2: tuned: the largest variance.
    k: puct: how much priors follow the game's estimate.
    batch: random games of a simulation.
    expand: visits after which a leaf gets children.
    solver: prove wins and losses.
    shortcuts: random games play a move that wins at once.
    first: the number of the first step.
    last: the number of the step after the last one, at most 1000.
    seed: random seed.
    """
    root = context.game(game).parse(position)
    with context.taking(stop, turn="short"):
        return searching.search_steps(
            root,
            ucb,
            c=c,
            c1=c1,
            c2=c2,
            k=k,
            batch=batch,
            expand=expand,
            solver=solver,
            shortcuts=shortcuts,
            first=first,
            last=last,
            seed=seed,
            stop=stop,
        ).as_json()


@example(games=100)
def self_play_steps(
    context: ServerContext,
    *,
    game: str = "ewn",
    net: str = "2x2",
    at: int = -1,
    games: int = 0,
    seed: int = 0,
    learner: str = "td",
    alpha: float | None = None,
    lam: float | None = None,
    stop: Stop | None = None,
) -> Annotated[Json, responses.SelfPlaySteps]:
    """Let a network play EWN against itself and learn from it: every number of the game.

    game: ewn, or a variant with a rolled die.
    net: the network, such as 2x2, with at most 524,288 weights.
    at: the number of the move that is returned with its rolls and table entries; -1, the default, is the last one.
    games: how many games the network has learned from before, at most 1000.
    seed: random seed.
    learner: td or tc.
    alpha: the learning rate.
    lam: lambda of TD(lambda).
    """
    if games > limits.MAX_LEARNED:
        raise UserError(f"games must be at most {limits.MAX_LEARNED:,} over the network (got {games:,})")
    played = context.game(game)
    size = sum(each.size for each in game_tuples(encoding_of(played), net))
    if size > limits.MAX_SHOWN_WEIGHTS:
        raise UserError(
            f"net must have at most {limits.MAX_SHOWN_WEIGHTS:,} weights over the network, such as 2x2 (got {size:,})"
        )
    with context.taking(stop, turn="instant" if games <= 10 else "short"):
        shown = self_play.self_play_steps(
            played,
            net,
            games=games,
            seed=seed,
            learner=learner,  # type: ignore[arg-type]  # it is checked there
            alpha=alpha,
            lam=lam,
        )
    return shown.as_json(at)


def homework(context: ServerContext) -> Annotated[Json, responses.Homework]:  # noqa: ARG001  # as all calls
    """List the functions of examples/homework.py, the course's program in plain Python, with their lines."""
    return list_functions()


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
    """Let an agent play games of 2048: mean score and tiles reached, with 95 % intervals.

    agent: the agent.
    games: how many games, at most 100.
    depth: moves to look ahead, for learned values.
    time: seconds per move, for learned values.
    seed: random seed; the same seed gives the same games.
    """
    if not 1 <= games <= limits.MAX_GAMES:
        raise UserError(f"games must be 1 to {limits.MAX_GAMES} over the network (got {games})")
    player = with_lookahead(context.agent(agent, context.game("2048"), stop), depth, time)
    with context.taking(stop, player, turn="long"):
        return evaluating.evaluate(player, games=games, seed=seed, progress=False, stop=stop).as_json()


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
    """Review a game of 2048: what each move cost, and what was luck.

    record: the game, as one line of text.
    agent: the judge, an agent that values moves.
    depth: moves to look ahead, for learned values.
    time: seconds per move, for learned values.
    """
    played = read_text(record).record
    if played is None or not hasattr(played.start, "tiles"):
        raise UserError(f"record must be a game of 2048 in one line, such as {EPISODE}")
    full_size = len(played.start.tiles) == 16
    judge = context.agent(agent, played.start.game, stop) if agent is not None or full_size else None
    judge = with_lookahead(judge, depth, time)
    with context.taking(stop, judge, turn="long"):
        return reviewing.review(played, judge, progress=progress, stop=stop).as_json()


@example(text="2 . . 4 / . 8 . . / . . . . / . . . .")
def read(context: ServerContext, *, text: str, game: str | None = None) -> Annotated[Json, responses.Read]:
    """Read a pasted text: a position, or a game with all its steps.

    text: a board in almost any form, a notation, a record, a line of the 2048-Framework, or a game of 2048verse.
    game: the game, where the text does not say.
    """
    return read_text(text, None if game is None else context.game(game)).as_json()


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
    """Write a game as text, to paste it elsewhere.

    game: the game.
    start: the notation of its first position.
    steps: for each move, the move and the outcome of chance after it.
    format: record (tuplet's), episode (the 2048-Framework's) or 2048verse.
    names: the names of the players, in the order of the sides.
    """
    return {"text": write_text(context.game(game).name, start, steps, format, names)}


CALLS: dict[tuple[str, str], Callable[..., Json]] = {
    ("GET", "/api/games"): games,
    ("GET", "/api/agents"): agents,
    ("GET", "/api/runs"): runs,
    ("POST", "/api/run"): run,
    ("POST", "/api/run/start"): start_run,
    ("POST", "/api/run/stop"): stop_run,
    ("POST", "/api/run/resume"): resume_run,
    ("POST", "/api/run/change"): change_run,
    ("POST", "/api/run/game"): run_game,
    ("POST", "/api/run/delete"): delete_run,
    ("POST", "/api/position"): position,
    ("POST", "/api/play"): play,
    ("POST", "/api/analyze"): analyze,
    ("POST", "/api/explain"): explain,
    ("POST", "/api/learning-steps"): learning_steps,
    ("POST", "/api/self-play-steps"): self_play_steps,
    ("POST", "/api/search-steps"): search_steps,
    ("GET", "/api/homework"): homework,
    ("POST", "/api/evaluate"): evaluate,
    ("POST", "/api/review"): review,
    ("POST", "/api/read"): read,
    ("POST", "/api/write"): write,
}
