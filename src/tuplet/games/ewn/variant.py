"""The family of games: boards, cubes, directions and dice, and how a variant of it is set up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn import estimate, rules
from tuplet.games.ewn.rules import ANY, BLUE, GONE, MOST_CUBES, RED, STRIDE, UNKNOWN, Ewn
from tuplet.games.game import register_game

Array = np.ndarray[Any, Any]
Square = tuple[int, int]  # row, column

DICE = ("cycle", "rolled", "chosen", "free")
DIRECTIONS = {3: ((0, 1), (1, 0), (1, 1)), 4: ((0, 1), (1, 0), (1, 1), (-1, 1))}  # Red's steps

register_game(
    Ewn,
    MOST_CUBES * 4,
    has_draws=rules.has_draws,
    side=rules.side,
    is_chance=rules.is_chance,
    legal=rules.legal,
    apply=rules.apply,
    outcomes=rules.outcomes,
    likelihood=rules.likelihood,
    chance=rules.chance,
    ending=rules.ending,
    winner=rules.winner,
    payoff=rules.payoff,
    playout=rules.playout,
    estimate=estimate.estimate,
    value_range=estimate.value_range,
    move_priority=estimate.move_priority,
)


@dataclass(frozen=True)
class Variant:
    """One game of the variant: what `ewn`, `ewn-6x7` and `ewn:board=4x4,cubes=3` name.

    `red` and `blue` are the starting squares; the cubes are placed on them in any order.
    """

    name: str
    rows: int
    columns: int
    cubes: int
    die: str  # one of DICE
    directions: int  # 3, or 4 with right-up for Red and left-down for Blue
    own_captures: bool
    first: int  # the number on the first cube
    red: tuple[Square, ...]
    blue: tuple[Square, ...]
    cycle: int = 0  # how many values a known die has

    def square(self, row: int, column: int) -> int:
        """The number of a square."""
        return row * self.columns + column

    def rules(self, values: Sequence[int] = ()) -> Ewn:
        """The rules as kernels take them; `values` is the known die, in numbers from 0."""
        if (self.die == "cycle") != bool(values):
            raise UserError(f"{self.name} has {'a' if self.cycle else 'no'} known die")
        return _rules(self, tuple(values))


def _triangle(cubes: int) -> list[Square]:
    """The squares nearest to the top left corner, row by row."""
    near = sorted(((r, c) for r in range(3) for c in range(3 - r)), key=lambda s: (sum(s), s))
    return sorted(near[:cubes])


@lru_cache(maxsize=256)
def variant(spec: str = "ewn") -> Variant:
    """The game a text names: ewn, ewn-6x7, or `ewn:` with settings of its own.

    The settings of `ewn:board=5x5,cubes=6,die=rolled,directions=3,own=yes` are those of `ewn`;
    any may be left out. Dice are rolled, chosen (by the opponent), free (any cube may move), or
    cycle (21 known values, or as many as in `cycle=12`).
    """
    corner = _triangle(6)
    if spec == "ewn-6x7":
        far = ((3, 6), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6))
        return Variant(spec, 6, 7, 6, "cycle", 4, True, 0, tuple(corner), far, 21)
    spec = "".join(spec.split())  # a notation's words are told apart by spaces
    name, _, after = spec.partition(":")
    if name != "ewn":
        raise UserError(f"{spec!r} is not a game: ewn, ewn-6x7, or ewn:board=4x4,cubes=3,...")
    given = dict(_pairs(after, spec))
    board = re.fullmatch(r"([3-9])x([3-9])", given.pop("board", "5x5"))
    cubes = given.pop("cubes", "6")
    die = given.pop("die", "cycle" if "cycle" in given else "rolled")
    directions, own = given.pop("directions", "3"), given.pop("own", "yes")
    cycle = given.pop("cycle", "21" if die == "cycle" else "0")
    for what, good in (
        ("a board is 3x3 to 9x9", board is not None),
        ("a side has 1 to 6 cubes", cubes in tuple("123456")),
        (f"the die is one of {', '.join(DICE)}", die in DICE),
        ("directions are 3 or 4", directions in ("3", "4")),
        ("own captures are own=yes or own=no", own in ("yes", "no")),
        ("a known cycle has 1 to 60 values", cycle.isdecimal() and (0 < int(cycle) <= 60) == (die == "cycle")),
        (f"no setting is called {', '.join(given)}", not given),
    ):
        if not good:
            raise UserError(f"{spec}: {what}")
    assert board is not None
    rows, columns = int(board[1]), int(board[2])
    red = tuple(_triangle(int(cubes)))
    blue = tuple((rows - 1 - r, columns - 1 - c) for r, c in red)
    if set(red) & set(blue):
        raise UserError(f"{spec}: so many cubes do not fit on so small a board")
    # One name for each game, however it was typed: what is usual is left out.
    length = str(int(cycle))
    settings = (
        ("board", f"{rows}x{columns}", "5x5"),
        ("cubes", cubes, "6"),
        ("cycle", length, "0") if length not in ("0", "21") else ("die", die, "rolled"),
        ("directions", directions, "3"),
        ("own", own, "yes"),
    )
    unusual = ",".join(f"{key}={value}" for key, value, usual in settings if value != usual)
    name = f"ewn:{unusual}" if unusual else "ewn"
    return Variant(name, rows, columns, int(cubes), die, int(directions), own == "yes", 1, red, blue, int(cycle))


def _pairs(settings: str, spec: str) -> list[tuple[str, str]]:
    pairs = [word.partition("=") for word in settings.split(",") if word]
    if any(not equals for _, equals, _ in pairs):
        raise UserError(f"{spec}: settings look like board=4x4,cubes=3")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise UserError(f"{spec}: a setting is named twice")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


@lru_cache(maxsize=64)  # each known die has tables of its own
def _rules(variant: Variant, values: tuple[int, ...]) -> Ewn:
    tables = _tables(variant)
    period = 2 * len(values) if values else 2
    at_ply = {"rolled": UNKNOWN, "chosen": UNKNOWN, "free": ANY}
    cycle = np.array(2 * (values or (at_ply[variant.die],)), np.uint8)
    turns = len(values) or 1
    arrival = np.zeros(64 * turns * MOST_CUBES * STRIDE, np.uint8)
    estimate.fill_arrival(arrival, tables["movable"], cycle, turns, variant.cubes)
    last = np.uint64(variant.rows * variant.columns - 1)
    return Ewn(
        variant.rows,
        variant.columns,
        variant.cubes,
        DICE.index(variant.die),
        variant.own_captures,
        red_goal=last,
        blue_goal=np.uint64(0),
        period=np.uint64(period),
        cycle=cycle,
        arrival=arrival,
        turns=np.uint64(turns),
        **tables,
    )


@lru_cache(maxsize=256)
def _tables(variant: Variant) -> dict[str, Array]:
    """The tables that do not depend on the known die."""
    gone = int(GONE)
    targets = np.full((2, 128, 8), gone, np.uint8)
    steps = np.full((2, 128, 8), gone, np.uint8)
    ways = np.zeros((2, 128), np.uint8)
    distance = np.zeros((2, 128), np.uint8)
    for side, goal in ((RED, (variant.rows - 1, variant.columns - 1)), (BLUE, (0, 0))):
        for square in range(variant.rows * variant.columns):
            row, column = divmod(square, variant.columns)
            if (row, column) == goal:
                continue
            distance[side, square] = max(abs(goal[0] - row), abs(goal[1] - column))
            for direction, (down, right) in enumerate(DIRECTIONS[variant.directions]):
                r = row + (down if side == RED else -down)
                c = column + (right if side == RED else -right)
                if 0 <= r < variant.rows and 0 <= c < variant.columns:
                    targets[side, square, direction] = variant.square(r, c)
                    steps[side, square, ways[side, square] & 7] = variant.square(r, c)
                    ways[side, square] += 1
                    if (r, c) == goal:
                        ways[side, square] |= 0x80
    movable = np.full((64, 8), 0x66, np.uint8)
    for lost in range(64):
        left = [cube for cube in range(MOST_CUBES) if not lost >> cube & 1]
        for die in range(MOST_CUBES):
            lower = max((cube for cube in left if cube <= die), default=MOST_CUBES)
            higher = min((cube for cube in left if cube >= die), default=MOST_CUBES)
            higher = MOST_CUBES if higher == lower else higher
            if lower == MOST_CUBES:
                lower, higher = higher, lower
            movable[lost, die] = lower | higher << 4
    return {
        "targets": targets.ravel(),
        "steps": steps.ravel(),
        "ways": ways.ravel(),
        "movable": movable.ravel(),
        "distance": distance.ravel(),
    }


__all__ = ["DICE", "DIRECTIONS", "Square", "Variant", "variant"]
