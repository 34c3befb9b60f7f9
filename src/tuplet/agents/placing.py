"""Recommended arrangements of the cubes at the start of EWN.

They are the mixed strategies that `tuplet analyze ewn --placement` finds, which takes half a minute. So the package has
them in a file, `players/ewn-placement.json`, which `make players` writes.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.games.game import Game
from tuplet.kernel import draw, stream

RECOMMENDED = "recommended"


@cache
def _strategies(game: str) -> dict[str, list[tuple[str, float]]]:
    """The arrangements of each side and their probabilities; nothing where none are known."""
    from tuplet.values.players import PLAYERS  # a match of two searches loads no networks

    file = PLAYERS / f"{game}-placement.json"
    if ":" in game or not file.is_file():
        return {}
    found = json.loads(file.read_bytes())
    return {side: [(each["cubes"], each["probability"]) for each in found[side]] for side in ("red", "blue")}


def is_recommended(game: Game) -> bool:
    """Whether there are recommended arrangements of a game."""
    return bool(_strategies(game.name))


def recommended(game: EwnGame, side: str, state: np.uint64) -> str:
    """An arrangement of a side as `EwnGame.setup` takes it, drawn by the random bits of a stream's state."""
    known = _strategies(game.name)
    if not known:
        raise UserError(f"arrangements are recommended for ewn only (got {game.name})")
    arrangements = known[side]
    state, bits = draw(np.uint64(state))
    place = (int(bits) >> 11) * 2.0**-53 * sum(share for _, share in arrangements)
    cubes = arrangements[-1][0]
    for text, share in arrangements:
        if place < share:
            cubes = text
            break
        place -= share
    _, bits = draw(np.uint64(state))
    if int(bits) & 1:  # renumbered, it is equally good
        cubes = "".join(str(game.cubes + 1 - int(n)) for n in cubes)
    return cubes


def arranged(start: EwnPosition, orders: dict[str, str], state: np.uint64) -> EwnPosition:
    """A first position with the cubes of some sides in another order: digits, or `recommended`."""
    game = start.game
    given = {"red": arrangement(start, "red"), "blue": arrangement(start, "blue")}
    for n, (side, order) in enumerate(sorted(orders.items())):
        if order == RECOMMENDED:
            order = recommended(game, side, np.uint64(stream(state, np.uint64(n))))
        given[side] = order
    return game.setup(red=given["red"], blue=given["blue"], die=start.known_die)


def is_unmoved(position: EwnPosition) -> bool:
    """Whether all cubes are on their starting squares."""
    game, cubes = position.game, position.cubes
    home = {("red", square) for square in game.red} | {("blue", square) for square in game.blue}
    return {(side, square) for (side, _), square in cubes.items()} == home


def arrangement(start: EwnPosition, side: str) -> str:
    """The cubes' numbers of a side, in the order of its starting squares."""
    numbers = {square: number for (own, number), square in start.cubes.items() if own == side}
    return "".join(str(numbers[square]) for square in (start.game.red if side == "red" else start.game.blue))
