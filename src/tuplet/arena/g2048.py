"""The loop of 2048, in which a player and an environment take turns."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.agents.g2048 import Environment, Player
from tuplet.agents.specs import name_of
from tuplet.games import life
from tuplet.games.g2048 import Board, Episode
from tuplet.system.stop import Stop


def play_episode(
    player: Player,
    environment: Environment,
    stop: Stop | None = None,
    *,
    streams: tuple[np.uint64, np.uint64] | None = None,
) -> Episode:
    """Let a player and an environment take turns until no move is legal.

    `streams` are random streams of theirs for this game; without them, those who need one use
    their own. Raises ValueError, naming the culprit, for an illegal move or placement. If `stop` is
    set meanwhile, the game is returned unfinished.
    """
    episode = Episode(name_of(player), name_of(environment))
    open_episode(player, environment, streams)
    for _ in range(2):
        place(environment, episode)
    while not episode.board.over:
        if stop is not None and stop.is_set():
            return episode
        slide(player, episode)
        place(environment, episode)
    episode.close()
    for side in (player, environment):
        _ask(side, "end", life.end, side, episode.board, episode)
    return episode


def open_episode(
    player: object,
    environment: object,
    streams: tuple[np.uint64, np.uint64] | None = None,
    start: Board | None = None,
) -> None:
    """Tell a player and an environment, if they want to know, that a game begins."""
    for who, role, state in zip(
        (player, environment), ("player", "environment"), streams or (None, None), strict=True
    ):
        _ask(who, "open", life.begin, who, Board() if start is None else start, role, state)


def slide(player: Player, episode: Episode) -> None:
    """Let the player make a move."""
    began = time.perf_counter()
    move = _ask(player, "choose", player.choose, episode.board)
    try:
        episode.slide(move, _since(began))
    except ValueError as error:
        raise ValueError(f"player {episode.slider}: {error}: {episode.board!r}") from None


def place(environment: Environment, episode: Episode) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = _ask(environment, "place", environment.place, episode.board)
    try:
        cell, tile = placed
        episode.place(int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"environment {episode.placer} placed {placed!r}, not (empty cell, tile): {error}"
        ) from None


def _ask(side: object, what: str, method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method of anybody's class; what goes wrong in there is said in one line."""
    try:
        return method(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        error_ = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise ValueError(f"{what} of {name_of(side)} failed with {error_} ({where})") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))
