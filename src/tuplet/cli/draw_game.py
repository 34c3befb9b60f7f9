"""A game in the terminal: the board in colours, and what is to be known beside it.

A `Look` is how a game is seen; this one is that of any game, and a game may have its own.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import itemgetter
from textwrap import wrap
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tuplet.games.analysis import Analysis
from tuplet.games.drawing import colours_of

PANEL = 28  # columns of text beside the board
LINE = 12  # moves of a main line that are told
ODD, EVEN = "#f3ead9", "#e7dac1"  # squares, as on a chequered board
LAST, TARGET, CHOSEN = "#ead889", "#c9e0ad", "#86c05a"  # squares with a meaning

Square = tuple[int, int]  # row, column


class Look:
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
    look: Look
    choices: list[str] = field(default_factory=list)  # the moves a person may make
    chosen: int = 0  # the one that Enter makes
    last: list[Square] = field(default_factory=list)  # squares that the last move changed
    thoughts: list[str] | None = None  # instead of the list of moves
    message: str = ""
    keys: str = ""


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


def picture(view: View) -> RenderableType:
    """The board, the panel beside it, and below what happens and what keys do."""
    columns, lines = shutil.get_terminal_size()
    cells = view.position.cells
    rows, across = len(cells), max(map(len, cells), default=0)
    height = next((h for h in (3, 2) if h * rows + 4 <= lines), 1)
    width = 7 if 7 * across + 2 + PANEL <= columns else 5
    grid = Table.grid(padding=(0, 2, 0, 0))
    board = _board(view, width, height) if cells else Text(view.position.notation)
    beside = columns - width * across - 2
    if beside < PANEL:
        parts: list[RenderableType] = [board, *_panel(view)[: len(view.names)]]
    else:
        panel = Text("\n").join(_panel(view)[: max(height * rows, lines - 3)])
        panel.no_wrap, panel.overflow = True, "ellipsis"
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, max_width=beside)
        grid.add_row(board, panel)
        parts = [grid]
    if view.message or view.keys:
        parts += [Text(view.message, style="bold", no_wrap=True, overflow="ellipsis"),
                  Text(view.keys, style="dim", no_wrap=True, overflow="ellipsis")]  # fmt: skip
    return Group(*parts)


@cache
def _style(front: str, back: str, bold: bool = False) -> Style:
    return Style(color=front, bgcolor=back, bold=bold)


def _board(view: View, width: int, height: int) -> Text:
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
            for strip, part in zip(strips, _square(look, cell, may_move, width, height),
                                   strict=True):  # fmt: skip
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


def _square(
    look: Look, cell: str, may_move: bool, width: int, height: int
) -> list[list[tuple[str, bool]]]:
    """The characters of a square's lines, and which of them are on the piece."""
    empty = [(" ", False)] * width
    if not cell:
        return [empty] * height
    text = look.face(cell) if coloured() else cell
    face = f"‹{text}›" if may_move else text
    middle = [(" ", False), *((c, True) for c in f"{face[: width - 2]:^{width - 2}}"), (" ", False)]
    edge = [
        [(" ", False), *((c, False) for c in half * (width - 2)), (" ", False)] for half in "▄▀"
    ]
    return {1: [middle], 2: [middle, edge[1]], 3: [edge[0], middle, edge[1]]}[height]


def _paint(colour: str, back: str, char: str, on_piece: bool) -> Style:
    if not colour or (char == " " and not on_piece):
        return _style("black", back)
    return _style("#ffffff", colour, bold=True) if on_piece else _style(colour, back)


def _label(strips: list[Text], width: int, numbers: list[int], back: str, empty: bool) -> None:
    """Write the keys of the moves that lead to a square into it: in the middle, or at the sides."""
    start = len(strips[0]) - width
    if empty and len(numbers) == 1:
        places = [(len(strips) // 2, start + width // 2)]
    else:
        order = sorted(range(len(strips)), key=lambda line: abs(line - len(strips) // 2))
        places = [(line, start + side) for line in order for side in (0, width - 1)]
    for number, (line, place) in zip(numbers, places, strict=False):
        label = Text(_key(number), style=_style("#1d3b0a", back, bold=True))
        strip = strips[line]
        strips[line] = strip[:place] + label + strip[place + 1 :]


def _key(number: int) -> str:
    """The key of a move; those beyond 9 are reached with the arrows."""
    return str(number + 1) if number < 9 else "·"


@cache
def coloured() -> bool:
    """Whether the terminal has colours."""
    return Console().color_system is not None


def _panel(view: View) -> list[Text]:
    """Who plays, what is to be known, and the moves or thoughts."""
    position, look = view.position, view.look
    wide = max(map(len, view.names))
    lines = []
    for side, name in view.names.items():
        mark = "▶ " if side == position.turn and not position.over else "  "
        lines.append(Text(mark) + Text(f"{side:{wide}}", style=look.side_style(side)))
        lines[-1].append(f"  {name}" if wide < 5 else f" {name}")
    lines += [Text(), *look.facts(position), Text()]
    if view.thoughts is not None:
        return lines + [Text(line) for line in view.thoughts]
    for number, move in enumerate(view.choices):
        line = Text(f"{'▸' if number == view.chosen else ' '}", style="bold")
        line.append(f"{_key(number)} ", style="bold green")
        line.append(f" {look.spelled(position, move)}")
        to = target(position, move)
        taken = look.taken(position, to) if to is not None else None
        if taken is not None:
            line.append("  takes ").append_text(taken)
        lines.append(line)
    return lines


def thoughts_lines(
    name: str, position: Any, thoughts: Analysis, look: Look, room: int = 8
) -> list[str]:
    """What an agent thought of a position, as lines of text; `room` for so many moves."""
    lines = [f"{name} thought of {position.turn}'s moves:"]
    for thought in thoughts.moves[:room]:
        value = "-" if thought.value is None else f"{thought.value:.3f}"
        value += " proven" if thought.proven else ""
        if thought.ci95 is not None and not thought.proven:
            value += f" ±{(thought.ci95[1] - thought.ci95[0]) / 2:.3f}"
        visits = "" if thought.visits is None else f"{thought.visits:>9,}"
        lines.append(f" {look.spelled(position, thought.move):5}{value}{visits}")
    if thoughts.line:
        side, words, sides = position.turn, [], list(position.sides)
        for move in thoughts.line[:LINE]:
            words.append(look.spelled(position, move, side).replace(" ", "\u00a0"))
            if look.passes(move):
                side = sides[(sides.index(side) + 1) % len(sides)]
        told = wrap(f"line: {', '.join(words)}", PANEL)  # a move stays in one line
        lines += [line.replace("\u00a0", " ") for line in told]
    return lines + wrap(thoughts.note, PANEL)
