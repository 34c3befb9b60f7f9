"""A game in the terminal: the board, and what belongs beside or below it.

A `BoardRenderer` draws any game; a game may have its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, product
from operator import itemgetter
from textwrap import wrap
from typing import Any, NamedTuple

from rich.color import Color
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tuplet.games.analysis import Analysis
from tuplet.games.drawing import colours_of
from tuplet.games.record import Record
from tuplet.system.text import flow

ODD, EVEN = "#f3ead9", "#e7dac1"  # squares, as on a chequered board
LAST, TARGET, CHOSEN = "#ead889", "#c9e0ad", "#86c05a"  # squares with a meaning
RED, BLUE = "#f0523d", "#3f80ea"  # pieces that may move

_NEAREST = {  # of 256 colours, and of 16
    ODD: (255, 15),
    EVEN: (252, 7),
    LAST: (222, 11),
    TARGET: (151, 10),
    CHOSEN: (71, 2),
    RED: (203, 9),
    BLUE: (33, 12),
    "#c8402f": (124, 1),
    "#2f62b5": (25, 4),
    "#f0c9bf": (217, 7),
    "#c6d4ee": (189, 7),
    "#1d3b0a": (22, 0),
    "#ffffff": (231, 15),
    "#3f8f4f": (29, 2),
    "#c8912f": (136, 3),
    "#7a4fa3": (97, 5),
    "#4d4d4d": (239, 8),
}


@cache
def colour_system() -> str | None:
    """How many colours there are: "truecolor", "256", "standard" (16), or None."""
    console = Console()
    return None if console.no_color else console.color_system


def coloured() -> bool:
    """Whether the terminal has colours, and they are wanted."""
    return colour_system() is not None


@cache
def shade(colour: str) -> Color:
    """A colour as this terminal shows it best."""
    column = {"256": 0, "standard": 1}.get(colour_system() or "")
    if column is None or colour not in _NEAREST:
        return Color.parse(colour)
    return Color.from_ansi(_NEAREST[colour][column])


MOVES_KEYS = "1-9 or arrows, Enter: move"
_BRIEF = {MOVES_KEYS: "1-9 move", "u takes back": "u back", "n new game": "n new"}


def abbreviate(keys: Sequence[str], columns: int, lines: int) -> list[str]:
    """What keys do, in fewer words where there is hardly room."""
    return [_BRIEF.get(key, key) if columns < 40 or lines < 12 else key for key in keys]


def footer(message: str, keys: Sequence[str], columns: int, lines: int) -> list[RenderableType]:
    """A message, and what keys do, for the last lines of a window."""
    key_lines = flow(keys, columns)
    room = max(1, lines - len(key_lines))
    text_lines = wrap(message, columns)[:room] or [""]
    return [*(_line(text, "bold") for text in text_lines), *(_line(text, "dim") for text in key_lines)]


def footer_lines(keys: Sequence[str], columns: int) -> int:
    """How many lines a foot needs."""
    return 1 + len(flow(keys, columns))


def scrolled(lines: list[Text], at: int, room: int) -> list[Text]:
    """As many of the lines as there is room for, with the one at `at`, and how many others."""
    if len(lines) <= room:
        return lines
    if room <= 2:
        return lines[at : at + room] if at + room <= len(lines) else lines[-room:][:room]
    first = min(max(0, at - room // 2), len(lines) - room)
    shown = lines[first : first + room]
    if first:
        shown[0] = Text(f"  ↑ {first + 1} more", style="dim")
    if first + room < len(lines):
        shown[-1] = Text(f"  ↓ {len(lines) - first - room + 1} more", style="dim")
    return shown


def too_small(what: str, fits: Callable[[int, int], bool], columns: int, lines: int) -> Group:
    """Instead of a picture that does not fit: how large the window must at least be.

    What fits in some lines fits in more of them, and in more columns. So the fewest lines are
    looked for one column after another, from where the last one had them.
    """
    fitting, more = [], 49
    for wider in range(120):
        while more >= 0 and fits(columns + wider, lines + more):
            fitting.append((columns + wider, lines + more))
            more -= 1
    needed = min(fitting, key=lambda size: size[0] + 2 * size[1], default=None)
    size = f"{needed[0]}x{needed[1]}" if needed else "another shape"
    text = f"{what} needs a window of {size} or more; this one is {columns}x{lines}. Make it larger, or press q to end."
    return Group(*(_line(line, "") for line in wrap(text, max(columns, 1))[:lines]))


def _line(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


Square = tuple[int, int]  # row, column
PANEL, NARROW = 28, 11  # columns of text beside the board: enough for all, and the fewest
LINE = 12  # moves of a main line that are shown
WIDTHS, HEIGHTS = (11, 7, 5, 4, 3), (5, 3, 2, 1)  # of a square, in characters


class BoardRenderer:
    """Draws a game: its pieces, moves and sides, and what belongs around the board."""

    pauses = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.0)  # seconds a move, from slow to fast
    speed = 3  # the usual one of these, from 1
    shows_analysis = True
    keys = MOVES_KEYS
    moves_by_key: frozenset[str] = frozenset()  # keys that are moves; else moves have numbers

    def __init__(self, game: Any) -> None:
        self.game = game

    def picture(self, view: View, columns: int, lines: int) -> RenderableType:
        """The view in a window of this size."""
        return picture(view, columns, lines)

    def result(self, record: Record) -> str:
        """How a finished game ended."""
        if record.winner is None and record.position.result is not None and len(record.sides) == 1:
            return f"{record.position.result:,.0f} points"
        return f"{record.winner} won" if record.winner else "drawn"

    def hint(self, position: Any, chosen: str, analysis: Analysis | None) -> str:
        """An agent's advice."""
        value = next((m.value for m in analysis.moves if m.move == chosen), None) if analysis else None
        number = position.legal_moves().index(chosen) + 1
        return f"hint: {number}, that is {self.spelled(position, chosen)}" + (
            "" if value is None else f", value {value:.2f}"
        )

    def line(self, record: Record) -> str:
        """A game as a line of a file."""
        return record.line

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
    """What is shown of a game."""

    position: Any
    names: dict[str, str]  # by side
    renderer: BoardRenderer
    choices: list[str] = field(default_factory=list)  # the moves a person may make
    chosen: int = 0  # the one that Enter makes
    last: list[Square] = field(default_factory=list)  # squares that the last move changed
    analysis: list[str] | None = None  # lines below the list of moves
    message: str = ""
    keys: list[str] = field(default_factory=list)  # what they do
    moves: int = 0  # made so far


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
    position, renderer = view.position, view.renderer
    colours = renderer.colours(position)
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
            colour = renderer.bright(cell, position) if may_move else colours.get(cell, "")
            for strip, part in zip(strips, _square(renderer, cell, may_move, width, height), strict=True):
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
    return view.renderer.ground(square, view.position) or (ODD if sum(square) % 2 else EVEN)


def _square(
    renderer: BoardRenderer, cell: str, may_move: bool, width: int, height: int
) -> list[list[tuple[str, bool]]]:
    """The characters of a square's lines, and which of them are on the piece."""
    empty = [(" ", False)] * width
    if not cell and coloured():
        return [empty] * height
    if not cell:  # there is no ground to be seen
        lines = [empty] * height
        lines[(height - 1) // 2] = [(c, False) for c in f"{'·':>{width // 2 + 1}}".ljust(width)]
        return lines
    text = renderer.face(cell) if coloured() else cell
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


class Layout(NamedTuple):
    """How a window is divided."""

    width: int  # of a square
    height: int
    beside: int  # columns of the panel beside the board; 0: it stands below
    footer: int  # lines


def layouts(view: View, columns: int, lines: int) -> Iterator[Layout]:
    """Those that fit a window, the best first: room for the panel, then a large board."""
    cells = view.position.cells
    rows, across = len(cells), max(map(len, cells), default=0)
    footer, most = footer_lines(view.keys, columns), _widest(view) + 2
    sizes = [
        (w, h)
        for w, h in product(WIDTHS, HEIGHTS)
        if h <= (w + 1) // 2 and (w >= most or w == WIDTHS[1]) and (w, h > 3) != (WIDTHS[0], False)
    ]
    for least in (PANEL, 20, NARROW):
        for width, height in sizes:
            beside = columns - width * across - 2
            if beside >= least and height * rows + footer <= lines and lines - footer >= 5:
                yield Layout(width, height, beside, footer)
    for width, height in sizes:
        if width * across <= columns and height * rows + 1 + footer <= lines:
            yield Layout(width, height, 0, footer)


def _widest(view: View) -> int:
    """The longest text on a piece."""
    face = view.renderer.face if coloured() else str
    return max((len(face(cell)) for row in view.position.cells for cell in row if cell), default=1)


def picture(view: View, columns: int, lines: int) -> RenderableType:
    """The board, the panel beside or below it, and below it the message and what keys do."""
    view = replace(view, keys=abbreviate(view.keys, columns, lines))
    layout = next(layouts(view, columns, lines), None)
    if layout is None:

        def fits(columns: int, lines: int) -> bool:
            return next(layouts(view, columns, lines), None) is not None

        return too_small(view.position.game.name, fits, columns, lines)
    width, height, beside, _ = layout
    cells = view.position.cells
    drawn = board(view, width, height) if cells else Text(view.position.notation)
    room = lines - layout.footer
    if beside:
        panel = Text("\n").join(_panel(view, min(beside, 2 * PANEL), room))
        panel.no_wrap, panel.overflow = True, "ellipsis"
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, max_width=beside)
        grid.add_row(drawn, panel)
        parts: list[RenderableType] = [grid]
        used = max(height * len(cells), len(panel.plain.splitlines()))
    else:
        below = _below(view, columns, room - height * len(cells))
        parts = [drawn, *below]
        used = height * len(cells) + len(below)
    if view.message or view.keys:
        parts += footer(view.message, view.keys, columns, lines - used)
    return Group(*parts)


def _names(view: View) -> list[Text]:
    """Who plays, and whose turn it is."""
    position, wide, lines = view.position, max(map(len, view.names)), []
    for side, name in view.names.items():
        mark = "▶ " if side == position.turn and not position.over else "  "
        lines.append(Text(mark) + Text(f"{side:{wide}}", style=view.renderer.side_style(side)))
        lines[-1].append(f"  {name}" if wide < 5 else f" {name}")
    return lines


def _panel(view: View, width: int, room: int) -> list[Text]:
    """Who plays, what is to be known, the moves and the analysis: all, or as much as fits."""
    names, facts = _names(view), view.renderer.facts(view.position)
    moves = [_move(view, number, width) for number in range(len(view.choices))]
    analysis = [Text(line) for line in view.analysis or []]
    gaps = [Text()] if len(names) + len(facts) + len(moves) + len(analysis) + 3 <= room else []
    head = [*names, *gaps, *facts, *gaps]
    left = max(0, room - len(head))
    if not analysis:
        return head + scrolled(moves, view.chosen, left)
    for_moves = min(len(moves), max(left - len(analysis) - len(gaps), min(3, left // 2)))
    shown = scrolled(moves, view.chosen, for_moves)
    between = gaps if shown else []
    shown_analysis = analysis[: left - len(shown) - len(between)]
    if len(shown_analysis) < len(analysis) and shown_analysis:
        shown_analysis[-1] = Text("…")
    return [*head, *shown, *between, *shown_analysis]


def _move(view: View, number: int, width: int) -> Text:
    """A move of the list: its key, and what it does."""
    position, renderer, move = view.position, view.renderer, view.choices[number]
    line = Text("▸" if number == view.chosen else " ", style="bold")
    line.append(f"{key_of(number)} ", style="bold green")
    line.append(f"{' ' if width >= PANEL else ''}{renderer.spelled(position, move)}")
    to = target(position, move)
    taken = renderer.taken(position, to) if to is not None else None
    if taken is not None and width >= 20:
        line.append("  takes ").append_text(taken)
    elif taken is not None:
        line.append(" takes" if width > NARROW else " x")
    return line


def _below(view: View, columns: int, room: int) -> list[RenderableType]:
    """The same in a few lines: whose turn it is, the facts, the moves, the analysis."""
    position, renderer = view.position, view.renderer
    names = [name.plain.strip() for name in _names(view)]
    names.sort(key=lambda name: not name.startswith("▶"))  # whose turn it is, first
    facts = [fact.plain for fact in renderer.facts(position)]
    head = flow([names[0], *facts, *names[1:]], columns)
    moves = [
        f"{'▸' if n == view.chosen else ''}{key_of(n)} {renderer.spelled(position, move)}"
        for n, move in enumerate(view.choices)
    ]
    listed = flow([*moves[view.chosen :], *moves[: view.chosen]], columns)
    analysis = view.analysis or []
    if analysis and len(head) + len(listed) >= room:  # a line each, at least
        head, listed = head[:1], listed[:1]
    lines = [*head, *listed, *analysis]
    return [Text(line, no_wrap=True, overflow="ellipsis") for line in lines[: max(room, 0)]]


def analysis_lines(name: str, position: Any, analysis: Analysis, renderer: BoardRenderer, room: int = 8) -> list[str]:
    """An agent's analysis of a position as lines of text, with at most `room` moves."""
    lines = [f"{name} on {position.turn}'s moves:"]
    for each in analysis.moves[:room]:
        value = "-" if each.value is None else f"{each.value:.3f}"
        value += f" {each.proof}" if each.proven else ""
        if each.ci95 is not None and not each.proven:
            value += f" ±{(each.ci95[1] - each.ci95[0]) / 2:.3f}"
        visits = "" if each.visits is None else f"{each.visits:>9,}"
        lines.append(f" {renderer.spelled(position, each.move):5}{value}{visits}")
    if analysis.line:
        side, words, sides = position.turn, [], list(position.sides)
        for move in analysis.line[:LINE]:
            words.append(renderer.spelled(position, move, side).replace(" ", "\u00a0"))
            if renderer.passes(move):
                side = sides[(sides.index(side) + 1) % len(sides)]
        wrapped = wrap(f"line: {', '.join(words)}", PANEL)  # a move stays in one line
        lines += [line.replace("\u00a0", " ") for line in wrapped]
    return lines + wrap(analysis.note, PANEL)
