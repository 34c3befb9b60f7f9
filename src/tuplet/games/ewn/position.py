"""`EwnPosition`: a position of EWN to print, draw and play on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn.drawing import position_svg
from tuplet.games.ewn.formats import write_position
from tuplet.games.ewn.rules import CHOICE, GONE, MOST_CUBES, SIDES, UNKNOWN, EwnRules, Side
from tuplet.games.position import Position
from tuplet.games.protocol import Words
from tuplet.kernel import draw

if TYPE_CHECKING:
    from tuplet.games.ewn.game import EwnGame

Square = tuple[int, int]  # row, column

AHEAD = 12  # plies of a known die in the JSON of a position


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
        return write_position(self)

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self.known_die

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return position_svg(self)
