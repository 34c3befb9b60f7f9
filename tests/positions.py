"""Random positions of EWN, in the plain version and in tuplet's."""

from __future__ import annotations

import random

import naive_ewn as naive
from tuplet.games.ewn import EwnPosition


def random_positions(name: str, count: int) -> list[tuple[naive.Game, naive.Position, EwnPosition]]:
    """Positions in which somebody has to move, in both versions, each with a die of its own."""
    source, found = random.Random(name), []
    while len(found) < count:
        game = naive.MEMBERS.get(name) or naive.named(name, source)
        plain = naive.random_position(game, source)
        if not naive.must_roll(game, plain):
            found.append((game, plain, EwnPosition.parse(naive.notation(name, plain, game))))
    return found
