"""EinStein würfelt nicht! and its family: `EwnGame` (boards, cubes, directions, dice) and `EwnPosition`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.drawing import Cells, grid_svg
from tuplet.games.encoding import Encoding
from tuplet.games.ewn import formats
from tuplet.games.ewn.encoding import make_encoding
from tuplet.games.ewn.rules import (
    ANY,
    BLUE,
    BLUE_ALL,
    CHOICE,
    EMPTY,
    GONE,
    MOST_CUBES,
    RED,
    RED_ALL,
    SIDES,
    STRIDE,
    UNKNOWN,
    EwnRules,
    Side,
    fill_arrival,
)
from tuplet.games.game import Game, Position
from tuplet.games.protocol import Array, Words
from tuplet.kernel import draw
from tuplet.system.settings import split_settings

DICE = ("cycle", "rolled", "chosen", "free")
SETTINGS = {  # of `ewn:...`: the default, a pattern for what is allowed, and that in words
    "board": ("5x5", "[3-9]x[3-9]", "3x3 to 9x9"),
    "cubes": ("6", "[1-6]", "1 to 6"),
    "die": ("rolled", "|".join(DICE), "cycle, rolled, chosen or free"),
    "cycle": ("0", "0*([1-9]|[1-5][0-9]|60)", "1 to 60"),
    "directions": ("3", "[34]", "3 or 4"),
    "own": ("yes", "yes|no", "yes or no"),
    "hole": ("no", "yes|no", "yes or no"),
    "backward": ("no", "yes|no", "yes or no"),
}
Square = tuple[int, int]  # row, column

AHEAD = 12  # plies of a known die in the JSON of a position
DIRECTIONS = {3: ((0, 1), (1, 0), (1, 1)), 4: ((0, 1), (1, 0), (1, 1), (-1, 1))}  # Red's steps


class EwnGame(Game):
    """What `ewn`, `ewn-6x7` and `ewn:board=4x4,cubes=3` name.

    The settings of `ewn:board=5x5,cubes=6,die=rolled,directions=3,own=yes,hole=no,backward=no` are those of `ewn`;
    any may be left out. The die is rolled, chosen (by the opponent), free (any cube may move), or cycle (21 known
    values, or as many as in `cycle=12`). With `hole=yes`, a cube that enters the middle square is lost; with
    `backward=yes`, cubes may also capture backwards.
    """

    sides = SIDES
    terminations = ("corner", "elimination")
    players, has_draws, family = 2, False, "ewn"  # constants, so that agents start fast

    rows: int
    columns: int
    cubes: int  # of each side
    die: str  # one of DICE
    directions: int  # 3, or 4 with right-up for Red and left-down for Blue
    own_captures: bool
    backward: bool = False  # whether cubes may capture backwards
    hole: Square | None = None  # the square that swallows cubes
    first_cube: int  # the number on the first cube: 1, or 0
    red: tuple[Square, ...]  # the starting squares; cubes are placed on them in any order
    blue: tuple[Square, ...]
    cycle: int  # how many values a known die has, or 0

    def __init__(self, spec: str = "ewn") -> None:
        if spec == "ewn-6x7":
            self.name, self.rows, self.columns, self.cubes, self.die, self.cycle = spec, 6, 7, 6, "cycle", 21
            self.directions, self.own_captures, self.first_cube = 4, True, 0
            self.red, self.blue = tuple(_triangle(6)), ((3, 6), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6))
            return
        spec = "".join(spec.split())  # spaces separate the words of a notation
        name, _, text = spec.partition(":")
        if name != "ewn":
            raise UserError(f"{spec!r} is not a game: ewn, ewn-6x7, or ewn:board=4x4,cubes=3,...")
        given = split_settings(text, spec)
        if "cycle" in given:
            given.setdefault("die", "cycle")
        for name, value in given.items():
            if name not in SETTINGS:
                raise UserError(f"{spec}: {name} is not a setting; there are {', '.join(SETTINGS)}")
            _, pattern, what = SETTINGS[name]
            if not re.fullmatch(pattern, value):
                raise UserError(f"{spec}: {name} must be {what} (got {value!r})")
        values = {name: default for name, (default, _, _) in SETTINGS.items()} | given
        self.rows, self.columns, self.cubes = int(values["board"][0]), int(values["board"][2]), int(values["cubes"])
        self.directions, self.own_captures, self.first_cube = int(values["directions"]), values["own"] == "yes", 1
        self.die, self.cycle = values["die"], int(values["cycle"])
        if self.cycle and self.die != "cycle":
            raise UserError(f"{spec}: cycle is a setting of die=cycle (got die={self.die})")
        self.backward = values["backward"] == "yes"
        self.red = tuple(_triangle(self.cubes))
        self.blue = tuple((self.rows - 1 - r, self.columns - 1 - c) for r, c in self.red)
        if set(self.red) & set(self.blue):
            raise UserError(f"{spec}: {self.cubes} cubes do not fit on this board")
        if values["hole"] == "yes":
            self.hole = self.rows // 2, self.columns // 2
            if not self.rows % 2 or not self.columns % 2 or self.hole in (*self.red, *self.blue):
                raise UserError(f"{spec}: a hole needs a free square in the middle: an odd number of rows and columns")
        # One name for each game, however it was typed: defaults are left out.
        if self.die == "cycle":
            self.cycle = self.cycle or 21
            values["cycle"] = str(self.cycle)
            del values["cycle" if self.cycle == 21 else "die"]
        unusual = ",".join(f"{name}={value}" for name, value in values.items() if value != SETTINGS[name][0])
        self.name = f"ewn:{unusual}" if unusual else "ewn"

    @property
    def rules(self) -> EwnRules:
        """The rules as kernels take them; those of a position have the values of its known die."""
        return self.rules_for([0] * self.cycle)

    def rules_for(self, die: Sequence[int] = ()) -> EwnRules:
        """The rules with a known die, in numbers from 0."""
        if len(die) != self.cycle:
            raise UserError(f"the known die of {self.name} has {self.cycle} values, not {len(die)}")
        return _rules(self, tuple(die))

    @property
    def actions(self) -> int:
        """The numbers of all moves, choices of the die included, are below it."""
        return CHOICE + self.cubes if self.die == "chosen" else self.cubes << 3

    @property
    def encoding(self) -> Encoding:
        """How a position looks to a network."""
        return _encoding(self)

    @property
    def self_play_varies(self) -> bool:  # type: ignore[override]
        """Whether games differ by a known die."""
        return bool(self.cycle)

    def self_play_start(self, state: np.uint64) -> tuple[EwnRules, Words]:
        """Rules with a random known die, if the game has one, and a first position."""
        position = self.initial_position(state)[1]
        return position.rules, position.words

    def square(self, row: int, column: int) -> int:
        """The number of a square."""
        return row * self.columns + column

    def cells(self, words: Words) -> Cells:
        """The board as rows of texts: r1 is Red's cube 1, "" an empty square."""
        rows = [[""] * self.columns for _ in range(self.rows)]
        for (side, number), (row, column) in cubes_of(self, words).items():
            rows[row][column] = f"{side[0]}{number}"
        return rows

    def move_text(self, words: Words, action: int) -> str:  # noqa: ARG002
        """The cube's number and the direction's, or `=3`, the die chosen for the opponent."""
        if action >= CHOICE:
            return f"={action - CHOICE + self.first_cube}"
        return f"{(action >> 3) + self.first_cube}{action & 7}"

    def outcome_text(self, words: Words, outcome: int) -> str:  # noqa: ARG002
        """A number on the die."""
        return str(outcome + self.first_cube)

    def termination_of(self, ending: int) -> str:
        """How a game was won: corner or elimination."""
        return self.terminations[ending in (RED_ALL, BLUE_ALL)]

    def setup(
        self,
        *,
        red: str | Sequence[int] = "",
        blue: str | Sequence[int] = "",
        die: str | Sequence[int] = "",
        first: Side = "red",
    ) -> EwnPosition:
        """A first position: the cubes' numbers on the starting squares, in the order of the squares.

        By default the cubes are in the order of their numbers. `die` is the known die of games that have one.
        """
        numbers = range(self.first_cube, self.first_cube + self.cubes)
        words = [EMPTY, EMPTY]
        for side, order, squares in ((0, red, self.red), (1, blue, self.blue)):
            cubes = [int(n) for n in order] if order else list(numbers)
            if sorted(cubes) != list(numbers):
                raise UserError(
                    f"{SIDES[side]}'s cubes are {numbers[0]} to {numbers[-1]} in some order, "
                    f"not {''.join(map(str, cubes))}"
                )
            for square, number in zip(squares, cubes, strict=True):
                words[side] ^= (int(GONE) ^ self.square(*square)) << 8 * (number - self.first_cube)
        rules, ply = self.rules_for(formats.read_die(self, die)), SIDES.index(first)
        if ply and self.cycle:
            raise UserError(f"in {self.name} red moves first")
        words[0] |= ply << 56
        words[1] |= int(rules.cycle[ply]) << 56
        return EwnPosition(self, (np.uint64(words[0]), np.uint64(words[1])), rules)

    def initial_position(self, state: np.uint64) -> tuple[np.uint64, EwnPosition]:
        """The random stream's next state, and a first position: placements and known die."""
        state, red = self._shuffled(state)
        state, blue = self._shuffled(state)
        die: list[int] = []
        for _ in range(self.cycle):
            state, bits = draw(np.uint64(state))
            die.append(((int(bits) >> 32) * self.cubes >> 32) + self.first_cube)
        return np.uint64(state), self.setup(red=red, blue=blue, die=die)

    def _shuffled(self, state: np.uint64) -> tuple[np.uint64, list[int]]:
        """A random order of the cubes' numbers (Fisher & Yates)."""
        numbers = list(range(self.first_cube, self.first_cube + self.cubes))
        for last in range(len(numbers) - 1, 0, -1):
            state, bits = draw(np.uint64(state))
            other = (int(bits) >> 32) * (last + 1) >> 32
            numbers[last], numbers[other] = numbers[other], numbers[last]
        return np.uint64(state), numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EwnGame) and self.name == other.name

    __hash__ = Game.__hash__

    def parse(self, text: str) -> EwnPosition:
        """Read a notation, with or without the game's name; UserError says what is wrong."""
        words = text.split()
        if len(words) == 4 and (name := EwnGame(words.pop(0)).name) != self.name:
            raise UserError(f"this is a position of {name}, not of {self.name}")
        position, die = formats.read_position(self, words)
        return EwnPosition(self, position, self.rules_for(die))


def cubes_of(game: EwnGame, words: Words) -> dict[tuple[Side, int], Square]:
    """The square of each cube, by side and number."""
    return {
        (side, cube + game.first_cube): divmod(square, game.columns)
        for side, word in zip(SIDES, words, strict=True)
        for cube in range(MOST_CUBES)
        if (square := int(word) >> 8 * cube & 0xFF) != GONE
    }


class EwnPosition(Position):
    """Cubes on a board, the side to move, and the die. It never changes: a move gives a new one.

    Moves are texts: the cube's number and the direction's, 0 horizontal, 1 vertical, 2 diagonal
    forward, 3 the fourth direction of `ewn-6x7`.

    >>> import tuplet
    >>> position = tuplet.game("ewn").setup(red="123456", blue="123456").roll(2)
    >>> print(position)
     r1 r2 r3  .  .
     r4 r5  .  .  .
     r6  .  .  . b6
      .  .  . b5 b4
      .  . b3 b2 b1
    red to move, die 2
    >>> position.legal_moves()
    ['20', '21', '22']
    >>> tuplet.Position.parse(position.notation) == position
    True
    """

    __slots__ = ("_rules",)

    game: EwnGame

    def __init__(self, game: EwnGame, words: Words, rules: EwnRules) -> None:
        super().__init__(game, words)
        self._rules = rules

    @property
    def rules(self) -> EwnRules:
        """The rules as kernels take them, with the values of the known die."""
        return self._rules

    def at(self, words: Words) -> EwnPosition:
        """Another position of the same game, with the same known die."""
        return EwnPosition(self.game, words, self._rules)

    @property
    def turn(self) -> Side:
        """The side that moves next (or chooses the opponent's die, where that is the rule)."""
        return SIDES[self.ply & 1 ^ self.chooses_die]

    @property
    def chooses_die(self) -> bool:
        """Whether the next move is to choose the opponent's die."""
        return self.game.die == "chosen" and self._face == UNKNOWN

    @property
    def is_chance(self) -> bool:
        """Whether the die must be rolled before the next move."""
        return self.game.die == "rolled" and self._face == UNKNOWN and not self.over

    @property
    def die(self) -> int | None:
        """The number on the die; None if there is none, or not yet."""
        return self._face + self.game.first_cube if self._face < MOST_CUBES else None

    @property
    def _face(self) -> int:
        return int(self.words[1]) >> 56

    @property
    def ply(self) -> int:
        """The moves made so far, modulo the period of the known die (2 without one)."""
        return int(self.words[0]) >> 56

    @property
    def known_die(self) -> list[int]:
        """The values of the known die from its beginning; empty for other dice."""
        return [int(v) + self.game.first_cube for v in self.rules.cycle[: self.game.cycle]]

    def coming_die(self, plies: int) -> list[int]:
        """The known die of the next plies, this one first."""
        known = self.known_die
        return [known[(self.ply + i) % len(known)] for i in range(plies if known else 0)]

    @property
    def cubes(self) -> dict[tuple[Side, int], Square]:
        """The square of each cube, by side and number."""
        return cubes_of(self.game, self.words)

    def target(self, move: str) -> Square | None:
        """The square that a move leads to; None for a choice of the die."""
        action = self.action_of(move)
        if action >= CHOICE:
            return None
        cube = self.cubes[self.turn, (action >> 3) + self.game.first_cube]
        at = (SIDES.index(self.turn) * 128 + self.game.square(*cube)) * 8 + (action & 7)
        return divmod(int(self.rules.targets[at]), self.game.columns)

    def roll(self, number: int) -> EwnPosition:
        """The position with a number rolled."""
        if not self.is_chance:
            raise UserError("there is nothing to roll here")
        face = number - self.game.first_cube
        if not 0 <= face < self.game.cubes:
            raise UserError(f"the die of {self.game.name} has no {number}")
        return self.at((self.words[0], np.uint64(int(self.words[1]) & ~(0xFF << 56) | face << 56)))

    def apply_outcome(self, outcome: object) -> EwnPosition:
        """The position with a number rolled."""
        if not str(outcome).isdecimal():
            raise UserError(f"{outcome!r} cannot happen: a number is rolled")
        return self.roll(int(str(outcome)))

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a number rolled."""
        state, bits = draw(np.uint64(state))
        return np.uint64(state), str(((int(bits) >> 32) * self.game.cubes >> 32) + self.game.first_cube)

    def chance_prompt(self) -> str:
        """What must be done where chance acts."""
        return "the die must be rolled"

    def caption(self) -> str:
        """The winner, or the side to move and the die."""
        if self.winner is not None:
            return f"{self.winner} has won ({self.termination})"
        if self.chooses_die:
            return f"{self.turn} to choose the die"
        if self.is_chance:
            return f"{self.turn} to roll"
        die = "any cube" if self.die is None else f"die {self.die}"
        coming = "".join(map(str, self.coming_die(8)[1:]))
        return f"{self.turn} to move, {die}" + (f", then {coming}..." if coming else "")

    def as_json(self) -> dict[str, Any]:
        """As plain values; squares are row and column, `targets` those that moves lead to."""
        game = self.game
        return super().as_json() | {
            "die": self.die,
            "die_rule": game.die,
            "known_die": self.known_die,
            "coming_die": self.coming_die(AHEAD),
            "chooses_die": self.chooses_die,
            "targets": {move: self.target(move) for move in self.legal_moves()},
            "cubes": {f"{side[0]}{number}": at for (side, number), at in self.cubes.items()},
            "goals": {"red": (game.rows - 1, game.columns - 1), "blue": (0, 0)},
            "first": game.first_cube,
            "count": game.cubes,
            "starts": {"red": game.red, "blue": game.blue},
        }

    @property
    def notation(self) -> str:
        """One line: game, board row by row, side to move, and die; see `formats`."""
        return formats.write_position(self)

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self.known_die

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return position_svg(self)


COLOURS = {"red": "#c8402f", "blue": "#2f62b5"}
GOALS = {"red": "#f0c9bf", "blue": "#c6d4ee"}  # the corner that each side must reach


def position_svg(position: Any, marked: tuple[int, int] | None = None) -> str:
    """A position as SVG; one square may be marked."""
    game, cells = position.game, position.cells
    colours = {cell: COLOURS["red" if cell[0] == "r" else "blue"] for row in cells for cell in row if cell}
    goals = {(game.rows - 1, game.columns - 1): GOALS["red"], (0, 0): GOALS["blue"]}
    return grid_svg(
        cells, colours, position.caption(), label=lambda cell: cell[1:], radius=7, fills=goals, marked=marked
    )


def _triangle(cubes: int) -> list[Square]:
    """The squares nearest to the top left corner, row by row."""
    near = sorted(((r, c) for r in range(3) for c in range(3 - r)), key=lambda s: (sum(s), s))
    return sorted(near[:cubes])


@lru_cache(maxsize=64)  # each known die has tables of its own
def _rules(game: EwnGame, die: tuple[int, ...]) -> EwnRules:
    tables = _tables(game)
    period = 2 * len(die) if die else 2
    at_ply = {"rolled": UNKNOWN, "chosen": UNKNOWN, "free": ANY}
    cycle = np.array(2 * (die or (at_ply[game.die],)), np.uint8)
    turns = len(die) or 1
    arrival = np.zeros(64 * turns * MOST_CUBES * STRIDE, np.uint8)
    fill_arrival(arrival, tables["movable"], cycle, turns, game.cubes)
    last = np.uint64(game.rows * game.columns - 1)
    return EwnRules(
        game.rows,
        game.columns,
        game.cubes,
        DICE.index(game.die),
        game.own_captures,
        game.backward,
        hole=GONE if game.hole is None else np.uint64(game.square(*game.hole)),
        red_goal=last,
        blue_goal=np.uint64(0),
        period=np.uint64(period),
        cycle=cycle,
        arrival=arrival,
        turns=np.uint64(turns),
        **tables,
    )


@lru_cache(maxsize=16)
def _encoding(game: EwnGame) -> Encoding:
    return make_encoding(game.rules)


@lru_cache(maxsize=256)
def _tables(game: EwnGame) -> dict[str, Array]:
    """The tables that do not depend on the known die."""
    gone = int(GONE)
    targets = np.full((2, 128, 8), gone, np.uint8)
    steps = np.full((2, 128, 8), gone, np.uint8)
    ways = np.zeros((2, 128), np.uint8)
    distance = np.zeros((2, 128), np.uint8)
    for side, goal in ((RED, (game.rows - 1, game.columns - 1)), (BLUE, (0, 0))):
        for square in range(game.rows * game.columns):
            row, column = divmod(square, game.columns)
            if (row, column) == goal:
                continue
            distance[side, square] = max(abs(goal[0] - row), abs(goal[1] - column))
            for direction, (down, right) in enumerate(DIRECTIONS[game.directions]):
                r = row + (down if side == RED else -down)
                c = column + (right if side == RED else -right)
                if 0 <= r < game.rows and 0 <= c < game.columns:
                    targets[side, square, direction] = game.square(r, c)
                    steps[side, square, ways[side, square] & 7] = game.square(r, c)
                    ways[side, square] += 1
                    if (r, c) == goal:
                        ways[side, square] |= 0x80
                r, c = 2 * row - r, 2 * column - c  # the same step backwards
                if game.backward and 0 <= r < game.rows and 0 <= c < game.columns:
                    targets[side, square, 4 + direction] = game.square(r, c)
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
