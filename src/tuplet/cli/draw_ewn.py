"""A game of EWN in the terminal: the board in colours, and what is to be known beside it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import itemgetter
from textwrap import wrap

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tuplet.games.analysis import Analysis
from tuplet.games.ewn import SIDES, Position, Side
from tuplet.games.ewn.drawing import COLOURS, GOALS
from tuplet.games.ewn.variant import Square

PANEL = 28  # columns of text beside the board
LINE = 12  # moves of a main line that are told
ODD, EVEN = "#f3ead9", "#e7dac1"  # squares, as on a chequered board
LAST, TARGET, CHOSEN = "#ead889", "#c9e0ad", "#86c05a"  # squares with a meaning
BRIGHT = {"red": "#f0523d", "blue": "#3f80ea"}  # cubes that may move
ARROWS = {"red": "→↓↘↗", "blue": "←↑↖↙"}
FACES = "⚀⚁⚂⚃⚄⚅"


@dataclass
class View:
    """What is to be seen of a game."""

    position: Position
    names: dict[Side, str]
    choices: list[str] = field(default_factory=list)  # the moves a person may make
    chosen: int = 0  # the one that Enter makes
    last: tuple[Square, Square] | None = None  # from where to where a cube went
    thoughts: list[str] | None = None  # instead of the list of moves
    message: str = ""
    keys: str = ""


def picture(view: View) -> RenderableType:
    """The board, the panel beside it, and below what happens and what keys do."""
    columns, lines = shutil.get_terminal_size()
    rows, across = view.position.variant.rows, view.position.variant.columns
    height = next((h for h in (3, 2) if h * rows + 4 <= lines), 1)
    width = 7 if 7 * across + 2 + PANEL <= columns else 5
    grid = Table.grid(padding=(0, 2, 0, 0))
    board = _board(view, width, height)
    beside = columns - width * across - 2
    if beside < PANEL:
        parts: list[RenderableType] = [board, *_panel(view)[:2]]
    else:
        panel = Text("\n").join(_panel(view)[: max(height * rows, 6)])
        panel.no_wrap, panel.overflow = True, "ellipsis"
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, max_width=beside)
        grid.add_row(board, panel)
        parts = [grid]
    if view.message or view.keys:
        parts += [Text(view.message, style="bold", no_wrap=True, overflow="ellipsis"),
                  Text(view.keys, style="dim", no_wrap=True, overflow="ellipsis")]  # fmt: skip
    return Group(*parts)


def spelled(position: Position, move: str, side: Side | None = None) -> str:
    """A move for people: `32` of Red is 3 ↘."""
    if move[0] == "=":
        return f"die {move[1:]}"
    return f"{move[:-1]} {ARROWS[side or position.turn][int(move[-1])]}"


@cache
def _style(front: str, back: str, bold: bool = False) -> Style:
    return Style(color=front, bgcolor=back, bold=bold)


def _board(view: View, width: int, height: int) -> Text:
    """The squares, each of `width` by `height` characters."""
    variant, position = view.position.variant, view.position
    at = {square: cube for cube, square in position.cubes.items()}
    targets: dict[Square, list[int]] = {}
    for number, move in enumerate(view.choices):
        target = position.target(move)
        if target is not None:
            targets.setdefault(target, []).append(number)
    movable = {int(m[:-1]) for m in view.choices if m[0] != "="}
    lines: list[Text] = []
    for row in range(variant.rows):
        strips = [Text() for _ in range(height)]
        for column in range(variant.columns):
            square = (row, column)
            cube = at.get(square)
            numbers = targets.get(square, [])
            may_move = cube is not None and cube[0] == position.turn and cube[1] in movable
            back = _ground(view, square, numbers)
            for strip, part in zip(strips, _square(cube, may_move, width, height), strict=True):
                styles = [_paint(cube, may_move, back, *char) for char in part]
                chars = zip(styles, (char for char, _ in part), strict=True)
                for style, run in groupby(chars, key=itemgetter(0)):
                    strip.append("".join(char for _, char in run), style)
            _label(strips, width, numbers, back, cube is None)
        lines += strips
    return Text("\n").join(lines)


def _ground(view: View, square: Square, numbers: list[int]) -> str:
    """The colour of a square."""
    variant = view.position.variant
    if view.chosen in numbers:
        return CHOSEN
    if numbers:
        return TARGET
    if view.last and square in view.last:
        return LAST
    corners = {(variant.rows - 1, variant.columns - 1): GOALS["red"], (0, 0): GOALS["blue"]}
    return corners.get(square, ODD if sum(square) % 2 else EVEN)


def _square(
    cube: tuple[Side, int] | None, may_move: bool, width: int, height: int
) -> list[list[tuple[str, bool]]]:
    """The characters of a square's lines, and which of them are on the cube."""
    empty = [(" ", False)] * width
    if cube is None:
        return [empty] * height
    number = str(cube[1]) if _coloured() else f"{cube[0][0]}{cube[1]}"
    face = f"‹{number}›" if may_move else number
    middle = [(" ", False), *((c, True) for c in f"{face:^{width - 2}}"), (" ", False)]
    edge = [
        [(" ", False), *((c, False) for c in half * (width - 2)), (" ", False)] for half in "▄▀"
    ]
    return {1: [middle], 2: [middle, edge[1]], 3: [edge[0], middle, edge[1]]}[height]


def _paint(
    cube: tuple[Side, int] | None, may_move: bool, back: str, char: str, on_cube: bool
) -> Style:
    if cube is None or (char == " " and not on_cube):
        return _style("black", back)
    colour = (BRIGHT if may_move else COLOURS)[cube[0]]
    return _style("#ffffff", colour, bold=True) if on_cube else _style(colour, back)


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
def _coloured() -> bool:
    return Console().color_system is not None


def _panel(view: View) -> list[Text]:
    """Who plays, the die, and the moves or thoughts."""
    position = view.position
    lines = []
    for side in SIDES:
        mark = "▶ " if side == position.turn and not position.over else "  "
        lines.append(Text(mark) + Text(f"{side:5}", style=f"bold {BRIGHT[side]}"))
        lines[-1].append(f" {view.names[side]}")
    lines += [Text(), _die(position)]
    if position.known_die and not position.over:
        lines.append(_coming(position))
    lines.append(Text())
    if view.thoughts is not None:
        return lines + [Text(line) for line in view.thoughts]
    at = {square: cube for cube, square in position.cubes.items()}
    for number, move in enumerate(view.choices):
        line = Text(f"{'▸' if number == view.chosen else ' '}", style="bold")
        line.append(f"{_key(number)} ", style="bold green")
        line.append(f" {spelled(position, move)}")
        target = position.target(move)
        if target in at:
            side, cube = at[target]
            line.append("  takes ").append(f"{side} {cube}", style=BRIGHT[side])
        lines.append(line)
    return lines


def _die(position: Position) -> Text:
    if position.over:
        return Text(f"{position.winner} has won ({position.kind})", style="bold")
    if position.chooses_die:
        return Text(f"{position.turn} chooses the die")
    if position.die is None:
        return Text("any cube may move" if position.variant.die == "free" else "the die is rolled")
    face = f" {FACES[position.die - 1]}" if position.variant.first else ""
    return Text("die ").append(f" {position.die}{face} ", style="bold reverse")


def _coming(position: Position) -> Text:
    """The known die of the next plies, each in the colour of who will move by it."""
    line = Text("then")
    for n, value in enumerate(position.coming_die(11)[1:], start=1):
        side = SIDES[(SIDES.index(position.turn) + n) % 2]
        line.append(f" {value}", style=f"bold {BRIGHT[side]}")
    return line.append(" …")


def thoughts_lines(name: str, position: Position, thoughts: Analysis, room: int = 8) -> list[str]:
    """What an agent thought of a position, as lines of text; `room` for so many moves."""
    lines = [f"{name} thought of {position.turn}'s moves:"]
    for thought in thoughts.moves[:room]:
        value = f"{thought.value:.3f}" + (" proven" if thought.proven else "")
        if thought.ci95 is not None and not thought.proven:
            value += f" ±{(thought.ci95[1] - thought.ci95[0]) / 2:.3f}"
        visits = "" if thought.visits is None else f"{thought.visits:>9,}"
        lines.append(f" {spelled(position, thought.move):5}{value}{visits}")
    if thoughts.line:
        side, words = position.turn, []
        for move in thoughts.line[:LINE]:
            words.append(spelled(position, move, side).replace(" ", "\u00a0"))
            if move[0] != "=":  # who chooses a die has not moved a cube
                side = SIDES[side == "red"]
        told = wrap(f"line: {', '.join(words)}", PANEL)  # a move stays in one line
        lines += [line.replace("\u00a0", " ") for line in told]
    return lines + wrap(thoughts.note, PANEL)
