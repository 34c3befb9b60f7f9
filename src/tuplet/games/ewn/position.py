"""`Position`: a position of EWN that people hold, print, draw, and play on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn.drawing import caption, position_svg, position_text
from tuplet.games.ewn.rules import BLUE_ALL, CHOICE, GONE, MOST_CUBES, RED_ALL, UNKNOWN, Ewn
from tuplet.games.ewn.variant import Square, Variant, variant
from tuplet.games.game import Words
from tuplet.games.position import AnyPosition
from tuplet.kernel import draw

Side = Literal["red", "blue"]
SIDES: tuple[Side, Side] = ("red", "blue")

Array = np.ndarray[Any, Any]

AHEAD = 12  # plies of a known die that are told
_EMPTY = 0x7F7F7F7F7F7F7F  # a word without cubes


class Position(AnyPosition):
    """Cubes on a board, the side to move, and the die; never changes: a move gives a new one.

    Moves are texts: the cube's number and the direction's, 0 horizontal, 1 vertical, 2 diagonal
    forward, 3 the fourth direction of `ewn-6x7`.

    >>> position = Position.start("ewn", red="123456", blue="123456").roll(2)
    >>> print(position)
     r1 r2 r3  .  .
     r4 r5  .  .  .
     r6  .  .  . b6
      .  .  . b5 b4
      .  . b3 b2 b1
    red to move, die 2
    >>> position.legal_moves()
    ['20', '21', '22']
    >>> Position.parse(position.notation) == position
    True
    """

    __slots__ = ("rules", "variant", "words")

    variant: Variant
    rules: Ewn
    words: Words
    sides = SIDES

    def __init__(self, variant: Variant, rules: Ewn, words: Words) -> None:
        self.variant, self.rules, self.words = variant, rules, words

    @classmethod
    def start(
        cls,
        game: str = "ewn",
        *,
        red: str | Sequence[int] = "",
        blue: str | Sequence[int] = "",
        die: str | Sequence[int] = "",
        first: Side = "red",
    ) -> Position:
        """The first position: cubes' numbers on the starting squares, in the squares' order.

        `die` is the known die of games that have one. Without `red` and `blue` cubes are placed
        in the order of their numbers.
        """
        kind = variant(game)
        usual = range(kind.first, kind.first + kind.cubes)
        words = [_EMPTY, _EMPTY]
        for side, given, squares in ((0, red, kind.red), (1, blue, kind.blue)):
            numbers = [int(n) for n in given] if given else list(usual)
            if sorted(numbers) != list(usual):
                raise UserError(
                    f"{SIDES[side]}'s cubes are {usual[0]} to {usual[-1]} in some order, "
                    f"not {''.join(map(str, numbers))}"
                )
            for square, number in zip(squares, numbers, strict=True):
                cube = number - kind.first
                words[side] ^= (int(GONE) ^ kind.square(*square)) << 8 * cube
        values = _known_die(kind, die)
        rules = kind.rules(values)
        ply = SIDES.index(first)
        if ply and values:
            raise UserError(f"in {kind.name} red moves first")
        words[0] |= ply << 56
        words[1] |= int(rules.cycle[ply]) << 56
        return cls(kind, rules, (np.uint64(words[0]), np.uint64(words[1])))

    @classmethod
    def random(cls, game: str, state: np.uint64) -> tuple[np.uint64, Position]:
        """The random stream's next state and a first position: placements and known die."""
        kind = variant(game)
        state, red = _shuffled(kind, state)
        state, blue = _shuffled(kind, state)
        die: list[int] = []
        for _ in range(kind.cycle):
            state, bits = draw(np.uint64(state))
            die.append(((int(bits) >> 32) * kind.cubes >> 32) + kind.first)
        return np.uint64(state), cls.start(game, red=red, blue=blue, die=die)

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.variant.name

    def as_words(self) -> Words:
        """The position as kernels take it."""
        return self.words

    def at(self, words: Words) -> Position:
        """Another position of the same game, with the same known die."""
        return Position(self.variant, self.rules, words)

    @property
    def turn(self) -> Side:
        """Who moves next (or chooses the opponent's die, where that is the rule)."""
        return SIDES[self._ply & 1 ^ (self.chooses_die)]

    @property
    def chooses_die(self) -> bool:
        """Whether the next move is to choose the opponent's die."""
        return self.variant.die == "chosen" and self._die == UNKNOWN

    @property
    def needs_roll(self) -> bool:
        """Whether the die must be rolled before anybody can move."""
        return self.variant.die == "rolled" and self._die == UNKNOWN and not self.over

    @property
    def die(self) -> int | None:
        """The number on the die; None if there is none, or not yet."""
        return self._die + self.variant.first if self._die < MOST_CUBES else None

    @property
    def ply(self) -> int:
        """The moves made so far, modulo the period of the known die (2 without one)."""
        return self._ply

    @property
    def known_die(self) -> list[int]:
        """The values of the known die from its beginning; empty for other dice."""
        return [int(v) + self.variant.first for v in self.rules.cycle[: self.variant.cycle]]

    def coming_die(self, plies: int) -> list[int]:
        """The known die of the next plies, this one first."""
        known = self.known_die
        return [known[(self._ply + i) % len(known)] for i in range(plies if known else 0)]

    @property
    def cells(self) -> list[list[str]]:
        """The board as rows of texts: r1 is Red's cube 1, "" an empty square."""
        rows = [[""] * self.variant.columns for _ in range(self.variant.rows)]
        for (side, number), (row, column) in self.cubes.items():
            rows[row][column] = f"{side[0]}{number}"
        return rows

    @property
    def cubes(self) -> dict[tuple[Side, int], Square]:
        """Where each cube stands, by side and number."""
        return {
            (side, cube + self.variant.first): divmod(square, self.variant.columns)
            for side, word in zip(SIDES, self.words, strict=True)
            for cube in range(MOST_CUBES)
            if (square := int(word) >> 8 * cube & 0xFF) != GONE
        }

    @property
    def _ply(self) -> int:
        return int(self.words[0]) >> 56

    @property
    def _die(self) -> int:
        return int(self.words[1]) >> 56

    @property
    def is_chance(self) -> bool:
        """Whether the die must be rolled before anybody can move."""
        return self.needs_roll

    def kind_of(self, ending: int) -> Literal["corner", "elimination"]:
        """How a game was won that ended so."""
        return "elimination" if ending in (RED_ALL, BLUE_ALL) else "corner"

    def text_of(self, code: int) -> str:
        """A move as text."""
        if code >= CHOICE:
            return f"={code - CHOICE + self.variant.first}"
        return f"{(code >> 3) + self.variant.first}{code & 7}"

    def target(self, move: str) -> Square | None:
        """Where a move's cube goes; None for a choice of the die."""
        code = self.code_of(move)
        if code >= CHOICE:
            return None
        cube = self.cubes[self.turn, (code >> 3) + self.variant.first]
        at = (SIDES.index(self.turn) * 128 + self.variant.square(*cube)) * 8 + (code & 7)
        return divmod(int(self.rules.targets[at]), self.variant.columns)

    def roll(self, number: int) -> Position:
        """The position with a number rolled."""
        if not self.needs_roll:
            raise UserError("there is nothing to roll here")
        face = number - self.variant.first
        if not 0 <= face < self.variant.cubes:
            raise UserError(f"the die of {self.game} has no {number}")
        words = int(self.words[1]) & ~(0xFF << 56) | face << 56
        return Position(self.variant, self.rules, (self.words[0], np.uint64(words)))

    def random_roll(self, state: np.uint64) -> tuple[np.uint64, Position]:
        """The random stream's next state, and the position with the die rolled."""
        state, bits = draw(np.uint64(state))
        face = (int(bits) >> 32) * self.variant.cubes >> 32
        return np.uint64(state), self.roll(face + self.variant.first)

    def needed(self) -> str:
        """What must be done where chance acts."""
        return "the die must be rolled"

    def caption(self) -> str:
        """Who has won, or who is to move, and the die."""
        return caption(self)

    def as_json(self) -> dict[str, Any]:
        """As plain values; squares are row and column, `targets` those that moves lead to."""
        kind, moves = self.variant, self.legal_moves()
        last = (kind.rows - 1, kind.columns - 1)
        return super().as_json() | {
            "die": self.die,
            "die_rule": kind.die,
            "known_die": self.known_die,
            "coming_die": self.coming_die(AHEAD),
            "chooses_die": self.chooses_die,
            "targets": {m: self.target(m) for m in moves},
            "cubes": {f"{side[0]}{number}": at for (side, number), at in self.cubes.items()},
            "goals": {"red": last, "blue": (0, 0)},
            "first": kind.first,
            "count": kind.cubes,
            "starts": {"red": kind.red, "blue": kind.blue},
        }

    def happen(self, outcome: object) -> Position:
        """The position with a number rolled."""
        if not str(outcome).isdecimal():
            raise UserError(f"{outcome!r} cannot happen: a number is rolled")
        return self.roll(int(str(outcome)))

    def outcome_text(self, outcome: int) -> str:
        """A number on the die."""
        return str(outcome + self.variant.first)

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a number rolled."""
        state, rolled = self.random_roll(state)
        return state, str(rolled.die)

    @property
    def notation(self) -> str:
        """One line: game, board row by row, side to move, and die; `parse` undoes it.

        The die is a number, `?` before the roll, `*` where any cube may move, or ply and
        values of a known one.
        """
        board = "/".join("".join(cell or "." for cell in row) for row in self.cells)
        if self.variant.die == "cycle":
            die = f"{self._ply}:{''.join(map(str, self.known_die))}"
        else:
            die = {UNKNOWN: "?"}.get(self._die, str(self.die) if self.die is not None else "*")
        return f"{self.game} {board} {SIDES[self._ply & 1]} {die}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read a notation; ValueError says what is wrong with it."""
        words = text.split()
        if len(words) != 4:
            raise UserError("a position is four words: game, board, side to move, die")
        kind, turn, die = variant(words[0]), words[2], words[3]
        if turn not in SIDES:
            raise UserError(f"{turn!r} is not a side: red or blue")
        cubes = _board(kind, words[1])
        known = re.fullmatch(r"(\d{1,3}):(\d+)", die)
        if kind.die == "cycle":
            if known is None:
                raise UserError(f"the die of {kind.name} is a ply and its values, as in 0:1205...")
            rules, ply = kind.rules(_known_die(kind, known[2])), int(known[1])
            if ply >= rules.period or ply & 1 != SIDES.index(turn):
                raise UserError(f"at ply {ply} it is not {turn}'s turn")
            face = int(rules.cycle[ply])
        else:
            rules, ply = kind.rules(), SIDES.index(turn)
            faces = [str(n) for n in range(kind.first, kind.first + kind.cubes)]
            other = {"free": ["*"], "rolled": ["?"], "chosen": ["?"]}[kind.die]
            if die not in (other if kind.die == "free" else faces + other):
                raise UserError(f"{die!r} is not a die of {kind.name}")
            face = int(die) - kind.first if die in faces else int(rules.cycle[ply])
        red, blue = cubes[0] | ply << 56, cubes[1] | face << 56
        return cls(kind, rules, (np.uint64(red), np.uint64(blue)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and (
            (self.variant, self.words, self.known_die) == (other.variant, other.words, other.known_die)
        )

    def __hash__(self) -> int:
        return hash((self.variant, self.words))

    def __str__(self) -> str:
        return position_text(self)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Position.parse, (self.notation,)  # the tables of its rules stay at home

    def __repr__(self) -> str:
        return f"Position.parse({self.notation!r})"

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return position_svg(self)


def _known_die(kind: Variant, die: str | Sequence[int]) -> list[int]:
    values = [int(v) - kind.first for v in die]
    if len(values) != kind.cycle:
        raise UserError(f"the known die of {kind.name} has {kind.cycle} values, not {len(values)}")
    if any(not 0 <= v < kind.cubes for v in values):
        raise UserError(f"the die shows {kind.first} to {kind.first + kind.cubes - 1}")
    return values


def _shuffled(kind: Variant, state: np.uint64) -> tuple[np.uint64, list[int]]:
    """A random order of the cubes' numbers (Fisher & Yates)."""
    numbers = list(range(kind.first, kind.first + kind.cubes))
    for last in range(len(numbers) - 1, 0, -1):
        state, bits = draw(np.uint64(state))
        other = (int(bits) >> 32) * (last + 1) >> 32
        numbers[last], numbers[other] = numbers[other], numbers[last]
    return np.uint64(state), numbers


def _board(kind: Variant, text: str) -> list[int]:
    """The two words of cubes of a notation's board."""
    words = [_EMPTY, _EMPTY]
    rows = text.split("/")
    cells = [re.findall(r"\.|[rb]\d|.", row) for row in rows]
    if len(rows) != kind.rows or any(len(row) != kind.columns for row in cells):
        raise UserError(f"a board of {kind.name} has {kind.rows} rows of {kind.columns} squares")
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            if cell == ".":
                continue
            cube = int(cell[1:] or -1) - kind.first
            side = "rb".find(cell[0])
            if side < 0 or not 0 <= cube < kind.cubes:
                raise UserError(f"{cell!r} is not a cube of {kind.name}: r1 is red's, b1 blue's")
            if words[side] >> 8 * cube & 0xFF != GONE:
                raise UserError(f"{cell} stands on the board twice")
            words[side] ^= (int(GONE) ^ kind.square(r, c)) << 8 * cube
    if words == [_EMPTY, _EMPTY]:
        raise UserError("a board without cubes is no position")
    return words
