"""`Game2048`: 2048 on boards from 2x2 to 4x4."""

from __future__ import annotations

import numpy as np

from tuplet.errors import UserError
from tuplet.games.drawing import Cells
from tuplet.games.g2048.board import MOVES, Board, as_size
from tuplet.games.g2048.formats import FORMATS
from tuplet.games.g2048.position import Position2048, words_of
from tuplet.games.g2048.rules import LARGEST_SUM, Rules2048, as_share, rules_for
from tuplet.games.game import Game
from tuplet.games.protocol import Words
from tuplet.system.settings import split_settings


class Game2048(Game):
    """What `2048` and `2048:board=3x3,spawn4=0.2` name.

    With `any_tile`, tiles other than 2 and 4 may appear, as a user's environment or a line of the 2048-Framework
    places them; the share of fours is then not known.
    """

    sides = ("player",)
    terminations = ("stuck",)
    actions = len(MOVES)
    players, has_draws, family = 1, False, "2048"
    formats = FORMATS

    def __init__(self, board: str | tuple[int, int] = "4x4", spawn4: float = 0.1, any_tile: bool = False) -> None:
        self.rows, self.columns = as_size(board)
        self.spawn4, self.any_tile = as_share(spawn4), any_tile
        settings = [f"board={self.rows}x{self.columns}"] if (self.rows, self.columns) != (4, 4) else []
        settings += [f"spawn4={self.spawn4}"] if self.spawn4 != 0.1 else []
        self.name = "2048" + (":" + ",".join(settings) if settings else "")

    @property
    def rules(self) -> Rules2048:
        """The rules as kernels take them."""
        return rules_for(self.rows, self.columns, self.spawn4)

    @classmethod
    def from_spec(cls, spec: str = "2048", board: str | None = None, spawn4: float | None = None) -> Game2048:
        """From `2048:board=3x3,spawn4=0.2`; `board` and `spawn4` are short forms of these."""
        name, _, settings = spec.partition(":")
        if name != "2048":
            raise UserError(f"{spec!r} is not 2048, nor 2048:board=3x3,spawn4=0.2")
        given = split_settings(settings, spec)
        for short, value in (("board", board), ("spawn4", spawn4)):
            if value is not None and given.setdefault(short, str(value)) != str(value):
                raise UserError(f"{spec} says {short}={given[short]}: leave --{short} out")
        board, share = given.pop("board", "4x4"), given.pop("spawn4", "0.1")
        if given:
            raise UserError(f"2048: no setting is called {', '.join(given)}: board or spawn4")
        try:
            return cls(board, float(share))
        except ValueError as error:
            raise UserError(f"{spec}: {error}") from None

    def with_board(self, rows: int, columns: int) -> Game2048:
        """The same game on a board of another size."""
        return Game2048((rows, columns), self.spawn4, self.any_tile)

    def cells(self, words: Words) -> Cells:
        """The board as rows of texts, "" for an empty cell."""
        tiles = [str(tile or "") for tile in Position2048(self, words).board]
        return [tiles[at : at + self.columns] for at in range(0, len(tiles), self.columns)]

    def move_text(self, words: Words, action: int) -> str:  # noqa: ARG002
        """A move's name."""
        return MOVES[action]

    def outcome_text(self, words: Words, outcome: int) -> str:
        """A tile that appears: outcome 2n is a 2 on empty cell n, 2n + 1 a 4."""
        return f"{2 << (outcome & 1)}@{Position2048(self, words).board.empty[outcome >> 1]}"

    def initial_position(self, state: np.uint64) -> tuple[np.uint64, Position2048]:
        """The random stream's next state, and a board with two tiles."""
        board = Board(rows=self.rows, columns=self.columns)
        for _ in range(2):
            state, board = board.spawn(state, self.spawn4)
        return state, self.position(board)

    def position(self, board: object, score: int = 0, tile_due: bool = False) -> Position2048:
        """A board, or what `Board` takes, as a position of this game."""
        if isinstance(board, Position2048):
            return board
        if not isinstance(board, Board):
            board = Board(board, rows=self.rows, columns=self.columns)  # type: ignore[arg-type]
        if (board.rows, board.columns) != (self.rows, self.columns):
            raise UserError(f"{self.name} has a board of {self.rows}x{self.columns}, not {board.rows}x{board.columns}")
        if (total := sum(board)) > LARGEST_SUM:
            raise UserError(
                f"the tiles of a board add up to {LARGEST_SUM:,} at most, which no game exceeds (got {total:,})"
            )
        return Position2048(self, words_of(board, tile_due), score)

    def parse(self, text: str) -> Position2048:
        """Read a notation, or a board alone, tiles row by row; UserError says what is wrong."""
        words = text.split()
        if len(words) > 1 and words[0].startswith("2048") and "/" in words[1]:
            if Game2048.from_spec(words[0]).name != self.name:
                raise UserError(f"this is a position of {words[0]}, not of {self.name}")
            del words[0]
        if not words or "/" not in words[0]:
            return self.position(text)
        tile_due = words[-1] == "?"
        points = words[1:-1] if tile_due else words[1:]
        if len(points) > 1 or not all(word.isdecimal() for word in points):
            raise UserError("a board is 2,0,0,4/0,0,8,2/..., then the points, then ? before a tile")
        rows = [row.split(",") for row in words[0].split("/")]
        board = Board([[_number(tile) for tile in row] for row in rows])
        return self.position(board, int(points[0]) if points else 0, tile_due)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UserError(f"{text!r} is not a tile")
    return int(text)
