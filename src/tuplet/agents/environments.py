"""Environments of 2048, which place the tiles: the random one of the rules, and users' classes.

    class Spiteful:
        def place(self, board):
            return board.empty[0], 2

`games/agent_hooks.py` lists what else one may have. A game begins with an empty board.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np

from tuplet.agents.specs import Pickled, Spec, as_spec, make_from_class
from tuplet.errors import UserError
from tuplet.games.g2048 import Board
from tuplet.games.g2048.rules import as_share
from tuplet.kernel import as_seed, stream


class Environment(Protocol):
    """Places tiles."""

    def place(self, board: Board) -> tuple[int, int]:
        """An empty cell of the board (numbered row by row from 0) and the tile to put there."""


class RandomEnvironment:
    """The environment of the rules: a 2 or a 4 on a random empty cell.

    Game n depends on the seed and n alone, and is the same as in compiled games.
    """

    name = "random"

    def __init__(self, seed: int = 0, spawn4: float = 0.1) -> None:
        self.seed, self.spawn4 = as_seed(seed), as_share(spawn4)
        self.next_game = 0  # the number of the game that `open` begins
        self._state = np.uint64(0)

    def fresh(self) -> RandomEnvironment:
        """A copy, for another thread or to return to."""
        return copy(self)

    def open(self, *_: object) -> None:
        """Begin the next game's random stream."""
        self._state = np.uint64(stream(self.seed, np.uint64(self.next_game)))
        self.next_game += 1

    def place(self, board: Board) -> tuple[int, int]:
        """A random spawn."""
        cell, tile, self._state = board.random_spawn(self._state, self.spawn4)
        return cell, tile


def environment_from(named: Any, seed: int = 0) -> Environment:
    """An environment from its name (random, or module:Class), its class, a function, or itself."""
    if isinstance(named, Pickled):
        named = named.unpickle()
    if not isinstance(named, str | Spec):
        name = getattr(named, "__name__", repr(named))
        return make_from_class(named, name, "place", "board", seed)  # type: ignore[no-any-return]
    spec = as_spec(named)
    if spec.text == "random":
        return RandomEnvironment(seed)
    if spec.is_class:
        return spec.make_user_class("place", "board", seed)  # type: ignore[no-any-return]
    raise UserError(f"{spec.text!r} is not an environment: take random, or module:Class")
