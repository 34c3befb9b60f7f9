"""EWN in the terminal: cubes in two colours, the corners they run to, and the die."""

from __future__ import annotations

from rich.text import Text

from tuplet.cli.draw_board import BLUE, RED, BoardRenderer, Square
from tuplet.games.ewn import SIDES, EwnPosition
from tuplet.games.ewn.game import COLOURS, GOALS

BRIGHT = {"red": RED, "blue": BLUE}  # cubes that may move
ARROWS = {"red": "→↓↘↗←↑↖↙", "blue": "←↑↖↙→↓↘↗"}  # the last four: backwards
FACES = "⚀⚁⚂⚃⚄⚅"


def _side(cell: str) -> str:
    return SIDES["rb".index(cell[0])]


class EwnRenderer(BoardRenderer):
    """Draws EWN."""

    def colours(self, position: EwnPosition) -> dict[str, str]:
        """A cube has its side's colour."""
        return {cell: COLOURS[_side(cell)] for row in position.cells for cell in row if cell}

    def bright(self, cell: str, position: EwnPosition) -> str:  # noqa: ARG002
        """The colour of a cube that may move."""
        return BRIGHT[_side(cell)]

    def face(self, cell: str) -> str:
        """The cube's number."""
        return cell[1:]

    def ground(self, square: Square, position: EwnPosition) -> str | None:
        """The corners are the goals."""
        last = (position.game.rows - 1, position.game.columns - 1)
        return {last: GOALS["red"], (0, 0): GOALS["blue"]}.get(square)

    def side_style(self, side: str) -> str:
        """A side's name in its colour."""
        return f"bold {BRIGHT[side]}"

    def facts(self, position: EwnPosition) -> list[Text]:
        """The die, now and, where it is known, later."""
        known = position.known_die and not position.over
        return [_die(position), *([_coming(position)] if known else [])]

    def spelled(self, position: EwnPosition, move: str, side: str | None = None) -> str:
        """A move for people: `32` of Red is 3 ↘."""
        if move[0] == "=":
            return f"die {move[1:]}"
        return f"{move[:-1]} {ARROWS[side or position.turn][int(move[-1])]}"

    def passes(self, move: str) -> bool:
        """Who chooses a die has not moved a cube."""
        return move[0] != "="

    def taken(self, position: EwnPosition, square: Square) -> Text | None:
        """The cube that stands there."""
        cell = position.cells[square[0]][square[1]]
        return Text(f"{_side(cell)} {cell[1:]}", style=BRIGHT[_side(cell)]) if cell else None


def _die(position: EwnPosition) -> Text:
    if position.over:
        return Text(f"{position.winner} has won ({position.termination})", style="bold")
    if position.chooses_die:
        return Text(f"{position.turn} chooses the die")
    if position.die is None:
        return Text("any cube may move" if position.game.die == "free" else "the die is rolled")
    face = f" {FACES[position.die - 1]}" if position.game.first_cube else ""
    return Text("die ").append(f" {position.die}{face} ", style="bold reverse")


def _coming(position: EwnPosition) -> Text:
    """The known die of the next plies, each in the colour of the side that moves by it."""
    line = Text("then")
    for n, value in enumerate(position.coming_die(11)[1:], start=1):
        side = SIDES[(SIDES.index(position.turn) + n) % 2]
        line.append(f" {value}", style=f"bold {BRIGHT[side]}")
    return line.append(" …")
