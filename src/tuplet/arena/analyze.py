"""`analyze`: what is each move worth in my position, and why?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.g2048 import adapted, player_from
from tuplet.agents.specs import name_of, trusted
from tuplet.games import life
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.catalogue import game as game_of
from tuplet.games.ewn.game import GameOfEwn
from tuplet.games.g2048 import MOVES, Board, as_move
from tuplet.games.g2048.position import GameOf2048
from tuplet.games.position import AnyPosition, Game
from tuplet.kernel import as_seed, stream
from tuplet.values.weights import SHIPPED


def analyze(
    game: str | Game,
    position: Any = None,
    agent: Any = None,
    *,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    seed: int = 0,
) -> Analysis:
    """What an agent thinks of a position: the value of every move, the best, and why.

    2048: `position` is a board, or its tiles row by row ("2,0,0,4, ..."); `agent` a run folder, a
    weight file, the table of an exact solution, a search (mcts:sims=1000), or any player;
    `depth`, `time` (seconds) and `downgrade` are of players with values. Other games: `position` is
    a notation, and `agent` any agent (mcts:sims=20000, alphabeta, hard, ...). Without a position it
    is the seed's first one.
    """
    held = game_of(game, trusted=trusted(agent))
    position = held.start(seed) if position is None else position
    if isinstance(held, GameOf2048):
        if isinstance(position, str) and (game != "2048" or "/" in position):
            position = held.parse(position)
        player = player_from(SHIPPED if agent is None else agent, seed)
        spawn4 = None if game == "2048" else held.spawn4
        made = adapted(player, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4)
        return _analyze_2048(made, position)
    if not depth is time is downgrade is None:
        raise ValueError(f"depth, time and downgrade are of 2048; for {held.name} say mcts:time=2")
    return _analyze(held, position, default_agent(held) if agent is None else agent, seed)


def default_agent(game: Game) -> str:
    """Who is asked where nobody is named."""
    return "best" if isinstance(game, GameOfEwn) else "mcts"


def _analyze_2048(player: Any, position: Any) -> Analysis:
    if getattr(position, "is_chance", False):
        raise ValueError(f"{position.needed()} first")
    if life.has(player, "analyze"):
        return player.analyze(position)  # type: ignore[no-any-return]
    board = position if isinstance(position, Board) else Board(position)
    after, best = board.after_states(), None
    if after:
        best = as_move(player.choose(board))
        if best not in after:
            raise ValueError(f"{name_of(player)} chose {best}, which changes nothing here")
    moves = [MoveValue(m, None, m in after, after[m][1] if m in after else 0) for m in MOVES]
    return Analysis(
        moves, best, note=f"{name_of(player)} says only what it would play.", points=True,
        position=board,
    )  # fmt: skip


def _analyze(game: Game, position: Any, agent: Any, seed: int) -> Analysis:
    if not isinstance(position, AnyPosition):
        position = game.parse(str(position))
    elif position.game != game.name:
        raise ValueError(f"this is a position of {position.game}, not of {game.name}")
    if position.is_chance:
        how = ": write what happened in place of ?" if "?" in position.notation else ""
        raise ValueError(f"{position.needed()} first{how}")
    if position.over:
        return Analysis(position=position)
    made = agent_from(agent, game)
    try:
        life.begin(made, position, position.turn, np.uint64(stream(as_seed(seed), as_seed(0))))
        best = made.choose(position)
        if best not in position.legal_moves():
            raise ValueError(f"{name_of(made)} chose {best!r}, which is not legal here")
        return life.thoughts(made, position, best)
    finally:
        if life.has(made, "close") and made is not agent:
            made.close()
