"""`analyze`: what is each move worth in my position, and why?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuplet.agents.ewn import agent_from
from tuplet.agents.g2048 import adapted, player_from
from tuplet.agents.specs import Spec, name_of
from tuplet.games.analysis import Analysis, MoveValue
from tuplet.games.ewn import Position, variant
from tuplet.games.g2048 import MOVES, Board, as_move
from tuplet.kernel import as_seed, stream
from tuplet.values.weights import SHIPPED

DEFAULT_AGENT = "best"  # of EWN


def analyze(
    game: str,
    position: Any,
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
    `depth`, `time` (seconds) and `downgrade` are of players with values. EWN: `position` is a
    notation, and `agent` any agent (mcts:sims=20000, hard, ...).
    """
    if game == "2048":
        player = player_from(SHIPPED if agent is None else agent, seed)
        return _analyze_2048(adapted(player, depth=depth, time=time, downgrade=downgrade), position)
    if not depth is time is downgrade is None:
        raise ValueError(f"depth, time and downgrade are of 2048: {game} has them in its agent")
    return _analyze_ewn(game, position, DEFAULT_AGENT if agent is None else agent, seed)


def _analyze_2048(player: Any, position: Any) -> Analysis:
    if hasattr(player, "analyze"):
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


def _analyze_ewn(game: str, position: Any, agent: str | Spec | Any, seed: int) -> Analysis:
    variant(game)  # refuses what is no game
    if not isinstance(position, Position):
        words = str(position).split()
        position = Position.parse(" ".join(words if len(words) == 4 else [game, *words]))
    if position.game != game:
        raise ValueError(f"this is a position of {position.game}, not of {game}")
    if position.needs_roll:
        raise ValueError("the die must be rolled first: write its number in place of ?")
    if position.over:
        return Analysis(position=position)
    made = agent_from(agent, game)
    try:
        if hasattr(made, "open_game"):
            state = stream(as_seed(seed), as_seed(0))
            made.open_game(position, position.turn, state)
        best = made.choose(position)
        if best not in position.legal_moves():
            raise ValueError(f"{name_of(made)} chose {best!r}, which is not legal here")
        thoughts = made.thoughts() if hasattr(made, "thoughts") else None
    finally:
        if hasattr(made, "close") and made is not agent:
            made.close()
    if not isinstance(thoughts, Analysis) or best not in (m.move for m in thoughts.moves):
        others = [move for move in position.legal_moves() if move != best]
        thoughts = Analysis(
            [MoveValue(move, None) for move in (best, *others)],
            note=f"{name_of(made)} says only what it would play.",
        )
    return replace(thoughts, best=best, position=position)
