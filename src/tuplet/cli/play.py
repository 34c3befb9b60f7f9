"""`tuplet play`: a game in the terminal, yours or the agent's."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tuplet.agents.looking import Looking
from tuplet.cli.options import with_settings


@with_settings(Looking)
def play(
    game: str,
    /,
    *,
    agent: str | None = None,
    watch: Annotated[bool, Parameter(negative="")] = False,
    against: str | None = None,
    side: str = "first",
    speed: int | None = None,
    board: str | None = None,
    spawn4: float | None = None,
    seed: int | None = None,
    save: Path | None = None,
    **looking: Any,
) -> int:
    """Play 2048 with the arrow keys, another game against an agent, or watch agents play.

    Keys of 2048: arrows (or w a s d) move, h asks the agent for a hint, u takes back, n begins a
    new game, q ends.
    Keys of other games: the number of a move makes it (or arrows and Enter), t shows what the agent
    thought, h asks for a hint, u takes back, n begins a new game, q ends.
    Watching: space pauses, + and - change the speed, q ends.

    Parameters
    ----------
    game
        2048, 2048:board=3x3,spawn4=0.2, ewn, ewn-6x7, another of EWN's family, as in
        ewn:board=4x4,cubes=3, or a game of your own: path/to/file.py:GAME.
    agent
        2048: who gives hints or plays: a run folder, a weight file, small or strong (players
        that come with tuplet), random, greedy, mcts:sims=100, expectimax:depth=2,values=RUN,
        module:Class. Other games: the opponent. [default: small, on smaller boards
        expectimax:depth=3; EWN best, else mcts]
    watch
        Let the agent play.
    against
        The second agent to watch. [default: the same as the first]
    side
        The side you have, or the first agent where two are watched: first, second, random, or
        the side's name (red and blue in EWN; red moves first).
    speed
        How fast agents play, from 1 (a move takes a second or two) to 8 (at once). [default: 5,
        games for two 3]
    board
        The board of 2048, from 2x2 to 4x4. [default: the agent's, else 4x4]
    spawn4
        The share of new tiles of 2048 that are fours. [default: as trained, else 0.1]
    seed
        Of the tiles that appear, or of placement, dice and agents. [default: different each time]
    save
        Append the games, a line of text each, to this file.

    """
    if save is not None:
        _check_can_be_written(save)
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    if game == "2048" or game.startswith("2048:"):
        if against is not None:
            raise ValueError("--against is of games for two, not of 2048")
        from tuplet.cli.play_2048 import play_2048

        speed = 5 if speed is None else speed
        return play_2048(game, board, agent, watch, speed, spawn4, seed, save, looking)
    from tuplet.cli.play_game import play_game

    for name, value in (("board", board), ("spawn4", spawn4), *looking.items()):
        if value is not None:
            raise ValueError(f"--{name} is of 2048, not of {game}")
    speed = 3 if speed is None else speed
    return play_game(game, agent, against, watch, side, speed, seed, save)


def _check_can_be_written(path: Path) -> None:
    """Before a game is played, not after."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save the game in")
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file to save the game in")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written: name another file to save the game in")
