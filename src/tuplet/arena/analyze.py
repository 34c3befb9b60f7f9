"""`analyze`: what is each move worth in my position, and why?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.g2048 import adapted, player_from
from tuplet.agents.listing import default_agent
from tuplet.agents.settings import settings_of
from tuplet.agents.specs import name_of, trusted
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.g2048 import MOVES, Board, as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.games.position import Position
from tuplet.games.registry import find_game
from tuplet.games.search_history import SearchHistory
from tuplet.kernel import as_seed, stream
from tuplet.system.blocks import Worker, ordered_map
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.values.players import DEFAULT_PLAYER

DEPTH = 3  # of a tree that is asked for by nothing else


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
    held = find_game(game, trusted=trusted(agent))
    position = _first(held, seed) if position is None else position
    if isinstance(held, Game2048):
        if isinstance(position, str) and (game != "2048" or "/" in position):
            position = held.parse(position)
        player = player_from(DEFAULT_PLAYER if agent is None else agent, seed)
        spawn4 = None if game == "2048" else held.spawn4
        made: Any = adapted(player, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
        if getattr(position, "is_chance", False):
            raise UserError(f"{position.chance_prompt()} first")
    else:
        if not depth is time is downgrade is None:
            raise UserError(f"depth, time and downgrade are of 2048; for {held.name} say mcts:time=2")
        position = _position(held, position)
        if position.over:
            return Analysis(position=position)
        agent = default_agent(held) if agent is None else agent
        made = agent_from(agent, held)
    try:
        if tree is not None or share is not None or growth:
            _check_grows(made)
        deep = DEPTH if tree is True or (tree is None and share is not None) else tree
        name = agent if isinstance(agent, str) else DEFAULT_PLAYER if agent is None else name_of(made)
        at = None if isinstance(held, Game2048) else position

        def whole(found: Analysis) -> Analysis:
            if deep is not None and found.best is not None:
                found = replace(found, tree=made.tree(deep, share or 0.0))
            return replace(found, agent=name, settings=settings_of(made, at))

        think = _think_2048 if isinstance(held, Game2048) else _think
        with ExitStack() as for_now:  # an agent of the caller's is left as it was
            if watch is not None and hasattr(made, "look"):
                for_now.callback(setattr, made, "look", made.look)
                made.look = lambda found: watch(whole(found))
            if growth:
                for_now.callback(setattr, made.search, "growth", made.search.growth)
                made.search.growth = SearchHistory()
            found = _thought(think, made, position, seed, progress, stop)
        if isinstance(found.position, Board) and not any(found.position.tiles):
            raise UserError("the board is empty: a game begins with two tiles")
        if found.growth is not None:
            found.growth.title = name
        return whole(found)
    finally:
        if agent_hooks.has(made, "close") and made is not agent:
            made.close()


def _first(held: Game, seed: int) -> Any:
    """The seed's first position in which somebody moves."""
    state, position = held.initial_position(np.uint64(stream(as_seed(seed), np.uint64(0))))
    while position.is_chance:
        state, outcome = position.random_outcome(state)
        position = position.apply_outcome(outcome)
    return position


def _position(game: Game, position: Any) -> Any:
    """A position of this game in which somebody moves."""
    if not isinstance(position, Position):
        position = game.parse(str(position))
    elif position.game.name != game.name:
        raise UserError(f"this is a position of {position.game.name}, not of {game.name}")
    if position.is_chance:
        how = ": write what happened in place of ?" if "?" in position.notation else ""
        raise UserError(f"{position.chance_prompt()} first{how}")
    return position


def _check_grows(made: Any) -> None:
    if not hasattr(getattr(made, "search", None), "growth"):
        raise UserError(f"{name_of(made)} grows no tree: mcts and mcs do")


def _thought(
    think: Callable[..., Analysis], made: Any, position: Any, seed: int, progress: ProgressOption, stop: Stop | None
) -> Analysis:
    """Let an agent think, in a thread, so that its progress can be seen and it can be stopped."""
    with watching(progress) as watch:

        def look(_: Worker) -> None:
            if agent_hooks.has(made, "progress"):
                watch(made.progress())

        for found in ordered_map(think, [(made, position, seed)], stop=stop, on_tick=look):
            return found
    raise Stopped("stopped before there was anything to tell")


def _think_2048(player: Any, position: Any, seed: int, worker: Worker) -> Analysis:
    with agent_hooks.listening(worker.stop, player):
        agent_hooks.begin(player, position, "player", np.uint64(stream(~as_seed(seed), as_seed(0))))
        if agent_hooks.has(player, "analyze"):
            return player.analyze(position)  # type: ignore[no-any-return]
        board = position if isinstance(position, Board) else Board(position)
        after, best = board.after_states(), None
        if after:
            best = as_move(player.choose(board))
    if after and best not in after:
        raise UserError(f"{name_of(player)} chose {best}, which changes nothing here")
    moves = [MoveValue(m, None, m in after, after[m][1] if m in after else 0) for m in MOVES]
    return Analysis(moves, best, note=f"{name_of(player)} says only what it would play.", points=True, position=board)


def _think(agent: Any, position: Any, seed: int, worker: Worker) -> Analysis:
    with agent_hooks.listening(worker.stop, agent):
        agent_hooks.begin(agent, position, position.turn, np.uint64(stream(as_seed(seed), as_seed(0))))
        best = agent.choose(position)
        if best not in position.legal_moves():
            raise UserError(f"{name_of(agent)} chose {best!r}, which is not legal here")
        return agent_hooks.thoughts(agent, position, best)
