"""The loop of 2048, in which a player and an environment take turns."""

from __future__ import annotations

import time
import traceback
from pathlib import Path
from typing import Any

from tuplet.agents.g2048 import Environment, Player
from tuplet.agents.specs import name_of
from tuplet.games.g2048 import Episode
from tuplet.system.stop import Stop


def play_episode(player: Player, environment: Environment, stop: Stop | None = None) -> Episode:
    """Let a player and an environment take turns until no move is legal.

    Raises ValueError, naming the culprit, for an illegal move or placement. If `stop` is set
    meanwhile, the game is returned unfinished.
    """
    episode = Episode(name_of(player), name_of(environment))
    open_episode(player, environment)
    for _ in range(2):
        place(environment, episode)
    while not episode.board.over:
        if stop is not None and stop.is_set():
            return episode
        slide(player, episode)
        place(environment, episode)
    episode.close()
    for side in (player, environment):
        if callable(getattr(side, "close_episode", None)):
            _ask(side, "close_episode", episode)
    return episode


def open_episode(*sides: object) -> None:
    """Tell players and environments, if they want to know, that a game begins."""
    for side in sides:
        if callable(getattr(side, "open_episode", None)):
            _ask(side, "open_episode")


def slide(player: Player, episode: Episode) -> None:
    """Let the player make a move."""
    began = time.perf_counter()
    move = _ask(player, "choose", episode.board)
    try:
        episode.slide(move, _since(began))
    except ValueError as error:
        raise ValueError(f"player {episode.slider}: {error}: {episode.board!r}") from None


def place(environment: Environment, episode: Episode) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = _ask(environment, "place", episode.board)
    try:
        cell, tile = placed
        episode.place(int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"environment {episode.placer} placed {placed!r}, not (empty cell, tile): {error}"
        ) from None


def _ask(side: object, method: str, *arguments: object) -> Any:
    """Call a method of anybody's class; what goes wrong in there is said in one line."""
    try:
        return getattr(side, method)(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        what = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise ValueError(f"{method} of {name_of(side)} failed with {what} ({where})") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))
