"""`tuplet play`: a game in the terminal, yours or the agent's."""

from __future__ import annotations

import random
from typing import Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import LOOKAHEAD, Out, check_writable
from tuplet.cli.options import with_settings
from tuplet.errors import UserError


@with_settings(LookaheadOptions, LOOKAHEAD)
def play(
    game: str,
    /,
    *,
    agent: str | None = None,
    watch: bool = False,
    against: str | None = None,
    side: str = "first",
    speed: int | None = None,
    board: str | None = None,
    spawn4: float | None = None,
    seed: int | None = None,
    out: Out = None,
    **lookahead: Any,
) -> int:
    """Play 2048, or another game against an agent, or watch agents play.

    - 2048: arrows (or w a s d) move, h gives a hint, u takes back, n starts a new game, q quits.
    - Other games: type a move's number, or use arrows and Enter; t shows the agent's analysis, h
      gives a hint, u takes back, n starts a new game, q quits.
    - Watching: space pauses, + and - change the speed, q quits.

    Parameters
    ----------
    game
        2048, 2048:board=3x3,spawn4=0.2, ewn, ewn-6x7, another variant of EWN such as
        ewn:board=4x4,cubes=3, or your own game: path/to/file.py:GAME.
    agent
        2048: the agent that gives hints or plays: a run folder, a weight file, small or strong (the
        players that come with tuplet), random, greedy, mcts:sims=100,
        expectimax:depth=2,values=RUN, module:Class. Other games: your opponent. [default: small for
        2048, expectimax:depth=3 on its smaller boards, best for EWN, mcts for other games]
    watch
        Watch the agent play.
    against
        Two-player games: the second agent to watch. [default: the same as the first]
    side
        Your side (when watching: the first agent's): first, second, random, or its name (red or
        blue in EWN; red moves first).
    speed
        How fast agents move, from 1 (a second or two per move) to 8 (no pause). [default: 5 for
        2048, 3 for other games]
    board
        2048: the board, from 2x2 to 4x4. [default: the agent's, otherwise 4x4]
    spawn4
        2048: the probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    seed
        Random seed. [default: different each time]
    out
        Add the games to this file, a line of text each.

    Examples
    --------
    tuplet play 2048
    tuplet play 2048 --agent small --watch
    tuplet play ewn --agent hard --side blue --out games.jsonl

    """
    check_writable(out, force=True)
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    if game == "2048" or game.startswith("2048:"):
        if against is not None:
            raise UserError("--against needs a two-player game (got 2048)")
        from tuplet.cli.play_2048 import play_2048

        speed = 5 if speed is None else speed
        return play_2048(game, board, agent, watch, speed, spawn4, seed, out, lookahead)
    from tuplet.cli.play_game import play_game

    for name, value in (("board", board), ("spawn4", spawn4), *lookahead.items()):
        if value is not None:
            raise UserError(f"--{name} is only for 2048 (got {game})")
    speed = 3 if speed is None else speed
    return play_game(game, agent, against, watch, side, speed, seed, out)
