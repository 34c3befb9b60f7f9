"""The board of a game in the terminal: squares of any size, pieces, and the keys of moves.

A `BoardRenderer` is how a game is seen; this one is that of any game, and a game may have its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.style import Style
from rich.text import Text

from tuplet.cli.colours import CHOSEN, EVEN, LAST, ODD, TARGET, coloured, shade
from tuplet.games.drawing import colours_of

Square = tuple[int, int]  # row, column


class BoardRenderer:
    """How a game's pieces, moves and sides are shown."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def colours(self, position: Any) -> dict[str, str]:
        """The colour of each text on the board."""
        return colours_of(position.cells, self.game.colours)

    def bright(self, cell: str, position: Any) -> str:
        """The colour of a piece that may move."""
        return self.colours(position)[cell]

    def face(self, cell: str) -> str:
        """What is written on a piece."""
        return cell

    def ground(self, square: Square, position: Any) -> str | None:
        """The colour of a square that is not like the others."""

    def side_style(self, side: str) -> str:
        """How a side's name is written."""
        return f"bold {self.game.colours.get(side, '')}".strip()

    def facts(self, position: Any) -> list[Text]:
        """What else is to be known of a position."""
        return [Text(position.caption(), style="bold" if position.over else "")]

    def spelled(self, position: Any, move: str, side: str | None = None) -> str:  # noqa: ARG002
        """A move for people."""
        return move

    def passes(self, move: str) -> bool:  # noqa: ARG002
        """Whether the other side is next after a move."""
        return True

    def taken(self, position: Any, square: Square) -> Text | None:  # noqa: ARG002
        """What a move takes that goes to a square."""
        return None


@dataclass
class View:
    """What is to be seen of a game."""

    position: Any
    names: dict[str, str]  # by side
    look: BoardRenderer
    choices: list[str] = field(default_factory=list)  # the moves a person may make
    chosen: int = 0  # the one that Enter makes
    last: list[Square] = field(default_factory=list)  # squares that the last move changed
    thoughts: list[str] | None = None  # below the list of moves
    message: str = ""
    keys: list[str] = field(default_factory=list)  # what they do


def changed_squares(before: Any, after: Any) -> list[Square]:
    """Where two boards differ."""
    return [
        (r, c)
        for r, (old, new) in enumerate(zip(before.cells, after.cells, strict=True))
        for c, (was, is_) in enumerate(zip(old, new, strict=True))
        if was != is_
    ]


def target(position: Any, move: str) -> Square | None:
    """The square where a move puts a piece, rather one that was empty; None if there is none."""
    after = position.play(move)
    put = [(r, c) for r, c in changed_squares(position, after) if after.cells[r][c]]
    return min(put, key=lambda s: bool(position.cells[s[0]][s[1]]), default=None)


@cache
def _style(front: str, back: str, bold: bool = False) -> Style:
    return Style.from_color(shade(front), shade(back)) + Style(bold=bold)


def board(view: View, width: int, height: int) -> Text:
    """The squares, each of `width` by `height` characters."""
    position, look = view.position, view.look
    colours = look.colours(position)
    targets: dict[Square, list[int]] = {}
    movable: set[Square] = set()  # squares of pieces that a move takes away from there
    for number, move in enumerate(view.choices):
        to = target(position, move)
        if to is not None:
            targets.setdefault(to, []).append(number)
            after = position.play(move).cells
            changed = changed_squares(position, position.play(move))
            movable |= {(r, c) for r, c in changed if not after[r][c]}
    lines: list[Text] = []
    for r, row in enumerate(position.cells):
        strips = [Text() for _ in range(height)]
        for c, cell in enumerate(row):
            numbers, may_move = targets.get((r, c), []), (r, c) in movable
            back = _ground(view, (r, c), numbers)
            colour = look.bright(cell, position) if may_move else colours.get(cell, "")
            for strip, part in zip(strips, _square(look, cell, may_move, width, height), strict=True):
                styles = [_paint(colour, back, *char) for char in part]
                chars = zip(styles, (char for char, _ in part), strict=True)
                for style, run in groupby(chars, key=itemgetter(0)):
                    strip.append("".join(char for _, char in run), style)
            _label(strips, width, numbers, back, not cell)
        lines += strips
    return Text("\n").join(lines)


def _ground(view: View, square: Square, numbers: list[int]) -> str:
    """The colour of a square."""
    if view.chosen in numbers:
        return CHOSEN
    if numbers:
        return TARGET
    if square in view.last:
        return LAST
    return view.look.ground(square, view.position) or (ODD if sum(square) % 2 else EVEN)


def _square(look: BoardRenderer, cell: str, may_move: bool, width: int, height: int) -> list[list[tuple[str, bool]]]:
    """The characters of a square's lines, and which of them are on the piece."""
    empty = [(" ", False)] * width
    if not cell and coloured():
        return [empty] * height
    if not cell:  # there is no ground to be seen
        lines = [empty] * height
        lines[(height - 1) // 2] = [(c, False) for c in f"{'·':>{width // 2 + 1}}".ljust(width)]
        return lines
    text = look.face(cell) if coloured() else cell
    face = f"‹{text}›" if may_move and width > len(text) + 3 else text

    def line(inner: str, on_piece: bool) -> list[tuple[str, bool]]:
        return [(" ", False), *((c, on_piece) for c in f"{inner:^{width - 2}}"), (" ", False)]

    middle, filled = line(face[: width - 2], True), line("", True)
    top, bottom = (line(half * (width - 2), False) for half in ("▄▀" if coloured() else "  "))
    if height < 3:
        return [middle, bottom][:height]
    around = [filled] * ((height - 3) // 2)
    return [top, *around, middle, *around, bottom]


def _paint(colour: str, back: str, char: str, on_piece: bool) -> Style:
    if not colour or (char == " " and not on_piece):
        return _style("black", back)
    return _style("#ffffff", colour, bold=True) if on_piece else _style(colour, back)


def _label(strips: list[Text], width: int, numbers: list[int], back: str, empty: bool) -> None:
    """Write the keys of the moves that lead to a square into it: in the middle, or at the sides."""
    start = len(strips[0]) - width
    if empty and len(numbers) == 1:
        places = [((len(strips) - 1) // 2, start + width // 2)]
    else:
        order = sorted(range(len(strips)), key=lambda line: abs(line - (len(strips) - 1) // 2))
        places = [(line, start + side) for line in order for side in (0, width - 1)]
    for number, (line, place) in zip(numbers, places, strict=False):
        label = Text(key_of(number), style=_style("#1d3b0a", back, bold=True))
        strip = strips[line]
        strips[line] = strip[:place] + label + strip[place + 1 :]


def key_of(number: int) -> str:
    """The key of a move; those beyond 9 are reached with the arrows."""
    return str(number + 1) if number < 9 else "·"
