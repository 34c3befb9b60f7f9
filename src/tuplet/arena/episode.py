"""The loop of 2048, in which a player and an environment take turns."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.environments import Environment, environment_from
from tuplet.agents.specs import name_of
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.g2048 import Board, Episode
from tuplet.games.g2048.game import Game2048
from tuplet.kernel import as_seed, stream
from tuplet.system.stop import Stop

Streams = tuple[np.uint64, np.uint64]  # a player's and an environment's


def play_episode(
    player: Any,
    environment: Any = "random",
    stop: Stop | None = None,
    *,
    seed: int = 0,
    streams: Streams | None = None,
    spawn4: float | None = None,
) -> Episode:
    """Let a player and an environment take turns until no move is legal.

    Either is an object, a class, or a name. `streams` are random streams of theirs for this game,
    the first ones of `seed` if there are none. (A `RandomEnvironment` has its own.) Raises ValueError, naming the culprit, for an illegal move or placement. If `stop`
    is set meanwhile, the game is returned unfinished: a player that has a `stop` hears of it while
    it thinks, and what it chooses then does not count.
    """
    player, environment = agent_from(player, "2048", seed), environment_from(environment, seed)
    episode = Episode(name_of(player), name_of(environment))
    game = Game2048(spawn4=getattr(environment, "spawn4", 0.1) if spawn4 is None else spawn4)
    open_episode(player, environment, game, streams or streams_of(seed, 0))
    for _ in range(2):
        place(environment, episode)
    with agent_hooks.listening(stop, player):
        while not episode.board.over:
            if agent_hooks.told(stop) or not slide(player, episode, game, stop):
                return episode
            place(environment, episode)
    episode.close()
    for side in (player, environment):
        ask(side, "end", agent_hooks.end, side, game.position(episode.board, episode.score), episode)
    return episode


def streams_of(seed: int, number: int) -> Streams:
    """The random streams of a player and an environment in game `number`."""
    start, game = as_seed(seed), np.uint64(number)
    return np.uint64(stream(~start, game)), np.uint64(stream(start, game))


def open_episode(player: object, environment: object, game: Game2048, streams: Streams) -> None:
    """Begin a game: call the `open` hooks of a player and an environment."""
    start = game.position(Board(rows=game.rows, columns=game.columns))
    for who, role, state in zip((player, environment), ("player", "environment"), streams, strict=True):
        ask(who, "open", agent_hooks.begin, who, start, role, state)


def slide(player: Any, episode: Episode, game: Game2048, stop: Stop | None = None) -> bool:
    """Let the player make a move; False if it was told to stop, and has made none."""
    began = time.perf_counter()
    try:
        move = ask(player, "choose", player.choose, game.position(episode.board, episode.score))
    except ValueError:
        if agent_hooks.told(stop):  # whoever is cut short is not to blame
            return False
        raise
    if agent_hooks.told(stop):
        return False
    try:
        episode.slide(move, _since(began))
    except ValueError as error:
        raise UserError(f"player {episode.slider}: {error}: {episode.board!r}") from None
    return True


def place(environment: Environment, episode: Episode) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = ask(environment, "place", environment.place, episode.board)
    try:
        cell, tile = placed
        episode.place(int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        raise UserError(f"environment {episode.placer} placed {placed!r}, not (empty cell, tile): {error}") from None


def ask(side: object, what: str, method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method of anybody's class; what goes wrong in there is said in one line."""
    try:
        return method(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        error_ = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise UserError(f"{what} of {name_of(side)} failed with {error_} ({where})") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))
