"""EWN positions as text.

A notation is one line: game, board row by row, side to move, and die. The die is a number, `?` before the
roll, `*` where any cube may move, or ply and values of a known one.

    ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn.rules import EMPTY, GONE, SIDES, UNKNOWN
from tuplet.games.protocol import Words

if TYPE_CHECKING:
    from tuplet.games.ewn.game import EwnGame, EwnPosition


def write_position(position: EwnPosition) -> str:
    """A position's notation."""
    board = "/".join("".join(cell or "." for cell in row) for row in position.cells)
    if position.game.die == "cycle":
        die = f"{position.ply}:{''.join(map(str, position.known_die))}"
    elif position.die is None:
        die = "?" if int(position.words[1]) >> 56 == UNKNOWN else "*"
    else:
        die = str(position.die)
    return f"{position.game.name} {board} {SIDES[position.ply & 1]} {die}"


def read_position(game: EwnGame, words: Sequence[str]) -> tuple[Words, list[int]]:
    """A position and its known die, from the notation's words after the game's name."""
    if len(words) != 3:
        raise UserError("a position is four words: game, board, side to move, die")
    board, turn, die = words
    if turn not in SIDES:
        raise UserError(f"{turn!r} is not a side: red or blue")
    cubes = _read_board(game, board)
    ply, values = SIDES.index(turn), []
    if game.die == "cycle":
        known = re.fullmatch(r"(\d{1,3}):(\d+)", die)
        if known is None:
            raise UserError(f"the die of {game.name} is a ply and its values, as in 0:1205...")
        ply, values = int(known[1]), read_die(game, known[2])
        if ply >= game.rules_for(values).period or ply & 1 != SIDES.index(turn):
            raise UserError(f"at ply {ply} it is not {turn}'s turn")
    faces = [str(n) for n in range(game.first_cube, game.first_cube + game.cubes)]
    dice = {"cycle": [die], "free": ["*"], "rolled": [*faces, "?"], "chosen": [*faces, "?"]}[game.die]
    if die not in dice:
        raise UserError(f"{die!r} is not a die of {game.name}")
    face = int(die) - game.first_cube if die in faces else int(game.rules_for(values).cycle[ply])
    return (np.uint64(cubes[0] | ply << 56), np.uint64(cubes[1] | face << 56)), values


def read_die(game: EwnGame, die: str | Sequence[int]) -> list[int]:
    """The values of a known die, in numbers from 0; empty for a game without one."""
    values = [int(v) - game.first_cube for v in die]
    if len(values) != game.cycle:
        raise UserError(f"the known die of {game.name} has {game.cycle} values, not {len(values)}")
    if any(not 0 <= v < game.cubes for v in values):
        raise UserError(f"the die shows {game.first_cube} to {game.first_cube + game.cubes - 1}")
    return values


def _read_board(game: EwnGame, text: str) -> list[int]:
    """The cubes of both sides, as the words of a position have them."""
    words = [EMPTY, EMPTY]
    cells = [re.findall(r"\.|[rb]\d|.", row) for row in text.split("/")]
    if len(cells) != game.rows or any(len(row) != game.columns for row in cells):
        raise UserError(f"a board of {game.name} has {game.rows} rows of {game.columns} squares")
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            if cell == ".":
                continue
            cube = int(cell[1:] or -1) - game.first_cube
            side = "rb".find(cell[0])
            if side < 0 or not 0 <= cube < game.cubes:
                raise UserError(f"{cell!r} is not a cube of {game.name}: r1 is red's, b1 blue's")
            if (r, c) == game.hole:
                raise UserError(f"{cell} is in the black hole: no cube can stand there")
            if words[side] >> 8 * cube & 0xFF != GONE:
                raise UserError(f"{cell} is on the board twice")
            words[side] ^= (int(GONE) ^ game.square(r, c)) << 8 * cube
    if words == [EMPTY, EMPTY]:
        raise UserError("the board has no cubes")
    return words
