"""`analyze`: what is each move worth in my position, and why?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from tuplet.agents.agent import agent_from, settings_of
from tuplet.agents.registry import default_agent
from tuplet.agents.specs import name_of, trusted
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis
from tuplet.games.g2048 import Board
from tuplet.games.game import Game, Position
from tuplet.games.registry import find_game
from tuplet.games.search_history import SearchHistory
from tuplet.kernel import as_seed, stream
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop, Stopped

DEPTH = 3  # of a tree, by default


def analyze(
    game: str | Game,
    position: Any = None,
    agent: Any = None,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    tree: int | bool | None = None,
    share: float | None = None,
    growth: bool = False,
    seed: int = 0,
    watch: Callable[[Analysis], object] | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Analysis:
    """What an agent thinks of a position: the value of every move, the best, and why.

    2048: `position` is a board, or its tiles row by row ("2,0,0,4, ..."); `agent` a run folder, a
    weight file, the table of an exact solution, a search (mcts:sims=1000), or any player;
    `depth`, `time` (seconds) and `downgrade` are of players with values. Other games: `position` is
    a notation, and `agent` any agent (mcts:sims=20000, alphabeta, hard, ...). An agent may also be
    a class or an object. Without a position it is the seed's first one.

    Of `mcts` and `mcs`, `tree` is how many moves deep the result's `tree` is shown (True: 3), and
    `share` the part of the visits that its nodes have at least; `growth=True` keeps how visits and
    values grew. `watch` is called with what is thought so far, as a tree grows or a search goes
    deeper, in the thread of the search. `stop`, or Ctrl-C, ends a search with what it has by then
    (`interrupted` tells).
    """
    rules: Any = find_game(game, trusted=trusted(agent))
    agent = default_agent(rules) if agent is None else agent
    options = {"depth": depth, "time": time, "downgrade": downgrade}
    if rules.players == 2 and any(value is not None for value in options.values()):
        raise UserError(f"depth, time and downgrade are of 2048; for {rules.name} say mcts:time=2")
    if game != "2048" and rules.family == "2048":
        options["spawn4"] = rules.spawn4  # else the agent expects the tiles that it learned with
    made: Any = agent_from(agent, rules, seed, **options)
    try:
        position = _first(rules, seed) if position is None else _position(rules, position, made, named=game != "2048")
        if position.over and rules.players == 2:
            return Analysis(position=position)
        if (tree is not None or share is not None or growth) and not hasattr(getattr(made, "search", None), "growth"):
            raise UserError(f"{name_of(made)} grows no tree: mcts and mcs do")
        tree_depth = DEPTH if tree is True or (tree is None and share is not None) else tree
        name = agent if isinstance(agent, str) else name_of(made)
        at = position if rules.players == 2 else None

        def complete(analysis: Analysis) -> Analysis:
            shown = (
                made.tree(tree_depth, share or 0.0) if tree_depth is not None and analysis.best is not None else None
            )
            return replace(analysis, agent=name, settings=settings_of(made, at), tree=shown)

        with ExitStack() as restore:  # an agent of the caller's is left as it was
            if watch is not None and hasattr(made, "on_update"):
                restore.callback(setattr, made, "on_update", made.on_update)
                made.on_update = lambda analysis: watch(complete(analysis))
            if growth:
                restore.callback(setattr, made.search, "growth", made.search.growth)
                made.search.growth = SearchHistory()
            analysis = _in_thread(made, position, seed, progress, stop)
        if analysis.growth is not None:
            analysis.growth.title = name
        return complete(analysis)
    finally:
        if agent_hooks.has(made, "close") and made is not agent:
            made.close()


def _first(game: Game, seed: int) -> Any:
    """The seed's first position in which a player moves."""
    state, position = game.initial_position(np.uint64(stream(as_seed(seed), np.uint64(0))))
    while position.is_chance:
        state, outcome = position.random_outcome(state)
        position = position.apply_outcome(outcome)
    return position


def _position(game: Any, position: Any, agent: Any, named: bool) -> Any:
    """A position of this game in which a player moves.

    A board of 2048 has the size that the agent knows, unless a size was `named`.
    """
    if game.family == "2048" and not isinstance(position, Position):
        if isinstance(position, str) and (named or "/" in position):
            position = game.parse(position)
        else:
            as_board = getattr(agent, "as_board", Board)
            board = position if isinstance(position, Board) and as_board is Board else as_board(position)
            position = type(game)((board.rows, board.columns), game.spawn4).position(board)
        if not any(position.board):
            raise UserError("the board is empty: a game begins with two tiles")
    elif not isinstance(position, Position):
        position = game.parse(str(position))
    elif position.game.name != game.name and (named or game.family != "2048"):
        raise UserError(f"this is a position of {position.game.name}, not of {game.name}")
    if position.is_chance:
        how = ": write what happened in place of ?" if "?" in position.notation else ""
        raise UserError(f"{position.chance_prompt()} first{how if game.players == 2 else ''}")
    return position


def _in_thread(agent: Any, position: Any, seed: int, progress: ProgressOption, stop: Stop | None) -> Analysis:
    """Let an agent think in a thread, so that its progress can be shown and it can be stopped."""
    with watching(progress) as watch:

        def on_tick(_: Worker) -> None:
            if agent_hooks.has(agent, "progress"):
                watch(agent.progress())

        for analysis in ordered_map(_think, [(agent, position, seed)], stop=stop, on_tick=on_tick):
            return analysis
    raise Stopped("stopped before the analysis began")


def _think(agent: Any, position: Any, seed: int, worker: Worker) -> Analysis:
    single, start = position.game.players == 1, as_seed(seed)
    with agent_hooks.listening(worker.stop, agent):
        agent_hooks.begin(agent, position, position.turn, start if single else np.uint64(stream(start, as_seed(0))))
        if single and (position.over or agent_hooks.has(agent, "analyze")):
            if agent_hooks.has(agent, "analyze"):
                return agent.analyze(position)  # type: ignore[no-any-return]
            return Analysis(position.all_moves([]), points=True, position=position)
        move = agent.choose(position)
        try:
            best = position.move_text(position.action_of(move))
        except ValueError:
            raise UserError(f"{name_of(agent)} chose {move!r}, which is not legal here") from None
        return agent_hooks.analysis_of(agent, position, best)
