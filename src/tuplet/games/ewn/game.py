"""EWN and its family as games that people hold."""

from __future__ import annotations

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn.position import SIDES, Position
from tuplet.games.ewn.rules import CHOICE, Ewn
from tuplet.games.ewn.variant import variant
from tuplet.games.position import Game


class GameOfEwn(Game):
    """What `ewn`, `ewn-6x7` and `ewn:board=4x4,cubes=3` name."""

    sides = SIDES
    kinds = ("corner", "elimination")

    def __init__(self, spec: str = "ewn") -> None:
        self.variant = variant(spec)
        self.name = self.variant.name

    @property
    def rules(self) -> Ewn:
        """As kernels take them; a known die's values are its position's."""
        return self.variant.rules([0] * self.variant.cycle)

    @property
    def actions(self) -> int:
        """The numbers of all moves, choices of the die included, are below it."""
        cubes = self.variant.cubes
        return CHOICE + cubes if self.variant.die == "chosen" else cubes << 3

    players, has_draws = 2, False  # known without a look at the rules: agents start in a hurry

    def deal(self, state: np.uint64) -> tuple[np.uint64, Position]:
        """A random stream's next state, and a first position: placements and known die."""
        return Position.random(self.variant.name, state)

    def parse(self, text: str) -> Position:
        """Read a notation, with or without the game's name; ValueError says what is wrong."""
        words = text.split()
        position = Position.parse(" ".join(words if len(words) == 4 else [self.name, *words]))
        if position.game != self.name:
            raise UserError(f"this is a position of {position.game}, not of {self.name}")
        return position
