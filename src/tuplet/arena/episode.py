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
from tuplet.games.g2048 import formats
from tuplet.games.g2048.board import as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.record import Record
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
) -> Record:
    """Let a player and an environment take turns until no move is legal.

    Either is an object, a class, or a name. `streams` are their random streams for this game, by default
    the first ones of `seed`. (A `RandomEnvironment` has its own.) An illegal move or placement
    is a UserError that names its author. If `stop` is set meanwhile, the game is returned unfinished, without
    the move under way: a player that has a `stop` ends its search early.
    """
    player, environment = agent_from(player, "2048", seed), environment_from(environment, seed)
    game = Game2048(spawn4=getattr(environment, "spawn4", 0.1) if spawn4 is None else spawn4)
    record = open_episode(player, environment, game, streams or streams_of(seed, 0))
    with agent_hooks.listening(stop, player):
        while not record.over:
            if agent_hooks.is_stopped(stop) or not slide(player, record, stop):
                return record
            place(environment, record)
    record.info["closed_ms"] = formats.now_ms()
    for side in (player, environment):
        ask(side, "end", agent_hooks.end, side, record.position)
    return record


def streams_of(seed: int, number: int) -> Streams:
    """The random streams of a player and an environment in game `number`."""
    start, game = as_seed(seed), np.uint64(number)
    return np.uint64(stream(~start, game)), np.uint64(stream(start, game))


def open_episode(player: object, environment: Any, game: Game2048, streams: Streams, name: str = "") -> Record:
    """Begin a game: call the `open` hooks of a player and an environment, and place two tiles."""
    now = formats.now_ms()
    names = [formats.plain_name(each) for each in (name or name_of(player), name_of(environment))]
    record = formats.new_record(game, names[0], placer=names[1], opened_ms=now, closed_ms=now)
    for who, role, state in zip((player, environment), ("player", "environment"), streams, strict=True):
        ask(who, "open", agent_hooks.begin, who, record.start, role, state)
    for _ in range(2):
        place(environment, record)
    return record


def slide(player: Any, record: Record, stop: Stop | None = None) -> bool:
    """Let the player make a move; False if `stop` is set, and no move was made."""
    began = time.perf_counter()
    try:
        move = ask(player, "choose", player.choose, record.position)
    except ValueError:
        if agent_hooks.is_stopped(stop):  # a player that is interrupted is not to blame
            return False
        raise
    if agent_hooks.is_stopped(stop):
        return False
    try:
        record.play(as_move(move))
    except ValueError as error:
        raise UserError(f"player {record.names[0]}: {error}: {record.position.board!r}") from None
    record.info["times"].append(_since(began))
    return True


def place(environment: Environment, record: Record) -> None:
    """Let the environment place a tile."""
    began = time.perf_counter()
    placed: Any = ask(environment, "place", environment.place, record.position.board)
    try:
        cell, tile = placed
        formats.place(record, int(cell), int(tile), _since(began))
    except (TypeError, ValueError) as error:
        placer = record.info["placer"]
        raise UserError(f"environment {placer} placed {placed!r}, not (empty cell, tile): {error}") from None


def ask(side: object, what: str, method: Callable[..., Any], *arguments: object) -> Any:
    """Call a method of a user's class; an error in it becomes a UserError of one line."""
    try:
        return method(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        message = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise UserError(f"{what} of {name_of(side)} failed with {message} ({where})") from error


def _since(began: float) -> int:
    return int(1000 * (time.perf_counter() - began))
