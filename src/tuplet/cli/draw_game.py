"""A game in the terminal: the board, and what is to be known beside or below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from textwrap import wrap
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tuplet.cli.colours import coloured
from tuplet.cli.draw_board import BoardRenderer, View, board, key_of, target
from tuplet.cli.layout import abbreviate, footer, footer_lines, scrolled, too_small
from tuplet.games.analysis import Analysis
from tuplet.system.text import flow

PANEL, NARROW = 28, 11  # columns of text beside the board: enough for all, and the fewest
LINE = 12  # moves of a main line that are told
WIDTHS, HEIGHTS = (11, 7, 5, 4, 3), (5, 3, 2, 1)  # of a square, in characters


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
    face = view.look.face if coloured() else str
    return max((len(face(cell)) for row in view.position.cells for cell in row if cell), default=1)


def picture(view: View, columns: int, lines: int) -> RenderableType:
    """The board, the panel beside or below it, and below what happens and what keys do."""
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
        lines.append(Text(mark) + Text(f"{side:{wide}}", style=view.look.side_style(side)))
        lines[-1].append(f"  {name}" if wide < 5 else f" {name}")
    return lines


def _panel(view: View, width: int, room: int) -> list[Text]:
    """Who plays, what is to be known, the moves and the thoughts: all, or as much as fits."""
    names, facts = _names(view), view.look.facts(view.position)
    moves = [_move(view, number, width) for number in range(len(view.choices))]
    thoughts = [Text(line) for line in view.thoughts or []]
    gaps = [Text()] if len(names) + len(facts) + len(moves) + len(thoughts) + 3 <= room else []
    head = [*names, *gaps, *facts, *gaps]
    left = max(0, room - len(head))
    if not thoughts:
        return head + scrolled(moves, view.chosen, left)
    for_moves = min(len(moves), max(left - len(thoughts) - len(gaps), min(3, left // 2)))
    shown = scrolled(moves, view.chosen, for_moves)
    between = gaps if shown else []
    told = thoughts[: left - len(shown) - len(between)]
    if len(told) < len(thoughts) and told:
        told[-1] = Text("…")
    return [*head, *shown, *between, *told]


def _move(view: View, number: int, width: int) -> Text:
    """A move of the list: its key, and what it does."""
    position, look, move = view.position, view.look, view.choices[number]
    line = Text("▸" if number == view.chosen else " ", style="bold")
    line.append(f"{key_of(number)} ", style="bold green")
    line.append(f"{' ' if width >= PANEL else ''}{look.spelled(position, move)}")
    to = target(position, move)
    taken = look.taken(position, to) if to is not None else None
    if taken is not None and width >= 20:
        line.append("  takes ").append_text(taken)
    elif taken is not None:
        line.append(" takes" if width > NARROW else " x")
    return line


def _below(view: View, columns: int, room: int) -> list[RenderableType]:
    """The same in a few lines: whose turn it is, what is to be known, the moves, the thoughts."""
    position, look = view.position, view.look
    names = [name.plain.strip() for name in _names(view)]
    names.sort(key=lambda name: not name.startswith("▶"))  # whose turn it is, first
    facts = [fact.plain for fact in look.facts(position)]
    head = flow([names[0], *facts, *names[1:]], columns)
    moves = [
        f"{'▸' if n == view.chosen else ''}{key_of(n)} {look.spelled(position, move)}"
        for n, move in enumerate(view.choices)
    ]
    listed = flow([*moves[view.chosen :], *moves[: view.chosen]], columns)
    thoughts = view.thoughts or []
    if thoughts and len(head) + len(listed) >= room:  # a line each, at least
        head, listed = head[:1], listed[:1]
    lines = [*head, *listed, *thoughts]
    return [Text(line, no_wrap=True, overflow="ellipsis") for line in lines[: max(room, 0)]]


def thoughts_lines(name: str, position: Any, thoughts: Analysis, look: BoardRenderer, room: int = 8) -> list[str]:
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
