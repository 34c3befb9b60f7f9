"""An episode: one game of 2048 as it was played, as a line of text, and played again.

The text is the 2048-Framework's: `SLIDER:PLACER@TIME|MOVES|WINNER@TIME`, times in milliseconds.
A placement is the cell as an upper-case hexadecimal digit and the tile's exponent (lower case is
read, too: we once wrote it), a slide is `#U`, `#R`, `#D` or `#L`; behind it the reward in square
brackets and the time taken in round ones, where they are not zero:

    learned:random@1700000000000|0151#L21#U[4](1)E1...|random@1700000000123

Names that we give have none of `|`, `@` and `:`, because the Framework takes the first of them for
the end of the name. Names in other people's files are kept as they are.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, Move, as_move
from tuplet.system.tables import Table, Tabular, plural

_DIGITS = "0123456789ABCDEFGHI"  # an exponent is at most 17
_MOVE = re.compile(
    r"(?:#(?P<slide>[URDL])|(?P<cell>[0-9A-Fa-f])(?P<tile>[1-9A-Ha-h]))"
    r"(?:\[(?P<reward>[0-9]{1,18})\])?(?:\((?P<time>-?[0-9]{1,18})\))?"
)


class Slide(NamedTuple):
    """A player's move."""

    move: Move
    reward: int
    time_ms: int = 0


class Placement(NamedTuple):
    """An environment's move: `tile` put on `cell`, numbered row by row on a 4x4 board."""

    cell: int
    tile: int
    time_ms: int = 0


class Episode(Tabular):
    """A game in the making or finished: every placement and slide, and the board they led to.

    `start` is an empty board, of 4x4 where nothing else is said; the text is of 4x4 alone.
    """

    def __init__(self, slider: str = "player", placer: str = "environment", start: Board | None = None) -> None:
        self.slider, self.placer = _plain(slider), _plain(placer)
        self.actions: list[Slide | Placement] = []
        self.start = self.board = Board(start)
        self.score = 0
        self.winner = self.placer
        self.opened_ms = self.closed_ms = _now()

    def place(self, cell: int, tile: int, time_ms: int = 0) -> None:
        """Record a placement. Raises ValueError if the cell is taken or not on the board."""
        self.board = self.board.place(cell, tile)
        self.actions.append(Placement(cell, tile, time_ms))

    def slide(self, move: object, time_ms: int = 0) -> int:
        """Record a move and return its reward. Raises ValueError if it is illegal."""
        name = as_move(move)
        after, reward = self.board.move(name)
        if after == self.board:
            raise UserError(f"{name} changes nothing on this board")
        self.board = after
        self.score += reward
        self.actions.append(Slide(name, reward, time_ms))
        return reward

    def close(self) -> None:
        """Note the time and who moved last."""
        self.closed_ms = _now()
        if self.actions and isinstance(self.actions[-1], Slide):
            self.winner = self.slider

    @property
    def slides(self) -> list[Slide]:
        """The player's moves."""
        return [a for a in self.actions if isinstance(a, Slide)]

    def replay(self) -> Iterator[tuple[Board, Slide | Placement]]:
        """Each board and what was done on it, from the empty board on."""
        board = self.start
        for action in self.actions:
            yield board, action
            if isinstance(action, Slide):
                board, _ = board.move(action.move)
            else:
                board = board.place(action.cell, action.tile)

    def table(self) -> Table:
        """A row for each move: the board it was made on, and what it brought."""
        rows: list[tuple[object, ...]] = []
        score = 0
        for board, action in self.replay():
            if isinstance(action, Slide):
                score += action.reward
                rows.append((len(rows) + 1, board.tiles, action.move, action.reward, score))
        return Table(("number", "tiles", "move", "reward", "score"), rows)

    def _repr_html_(self) -> str:
        """How notebooks show it: who played, the points, and the last board."""
        told = f"{self.slider}: {self.score:,} points, {plural(len(self.slides), 'move')}"
        return f"<p><b>{escape(told)}</b></p>{self.board._repr_svg_()}"

    def __str__(self) -> str:
        def text(action: Slide | Placement) -> str:
            if isinstance(action, Slide):
                body = "#" + action.move[0].upper()
                body += f"[{action.reward}]" if action.reward else ""
            else:
                body = f"{action.cell:X}{_DIGITS[action.tile.bit_length() - 1]}"
            return body + (f"({action.time_ms})" if action.time_ms else "")

        moves = "".join(text(action) for action in self.actions)
        names = f"{self.slider}:{self.placer}@{self.opened_ms}"
        return f"{names}|{moves}|{self.winner}@{self.closed_ms}"

    @staticmethod
    def parse(line: str) -> Episode:
        """Read a line of text, playing it as it goes: what is not legal raises ValueError."""
        parts = line.rstrip().removeprefix("\ufeff").split("|")
        opened, closed = _stamped(parts[0]), _stamped(parts[-1])
        if len(parts) != 3 or opened is None or closed is None:
            raise UserError("a game's record looks like SLIDER:PLACER@TIME|MOVES|WINNER@TIME")
        episode = Episode()
        if ":" in opened[0]:
            episode.slider, _, episode.placer = opened[0].partition(":")
        else:
            episode.slider = opened[0]
        at = 0
        while at < len(parts[1]):
            found = _MOVE.match(parts[1], at)
            if found is None:
                raise UserError(f"no move can be read at ...{parts[1][at : at + 8]!r}")
            at = found.end()
            took = int(found["time"] or 0)
            number = len(episode.actions)
            if bool(found["slide"]) != (number >= 2 and number % 2 == 0):
                raise UserError("a game is two placements, then a slide and a placement in turns")
            if found["slide"]:
                move = next(m for m in MOVES if m[0].upper() == found["slide"])
                reward = episode.slide(move, took)
                if reward != int(found["reward"] or 0):
                    raise UserError(f"move {number + 1} ({move}) earns {reward}, not {found['reward'] or 0}")
            else:
                tile = 1 << _DIGITS.index(found["tile"].upper())
                episode.place(int(found["cell"], 16), tile, took)
        episode.opened_ms = opened[1]
        episode.winner, episode.closed_ms = closed
        return episode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Episode) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def copy(self) -> Episode:
        """The episode as it stands now."""
        twin = Episode(self.slider, self.placer)
        twin.__dict__.update(self.__dict__, actions=list(self.actions))
        return twin

    def __repr__(self) -> str:
        return f"<Episode of {plural(len(self.slides), 'move')}, score {self.score:,}>"


def _plain(name: str) -> str:
    """A name that can stand in a line, and that a terminal and any encoding can show."""
    words = re.sub(r"[|@:\s]+", " ", name).strip()
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def _stamped(text: str) -> tuple[str, int] | None:
    """A name and the time behind it."""
    name, at, when = text.rpartition("@")
    sound = at and "\n" not in text and when.isascii() and when.isdecimal() and len(when) <= 18
    return (name, int(when)) if sound else None


def _now() -> int:
    return time.time_ns() // 1_000_000
