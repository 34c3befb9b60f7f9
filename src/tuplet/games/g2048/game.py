"""2048 on boards from 2x2 to 4x4: `Game2048`, and `Position2048`, a board in the middle of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.analysis import MoveValue
from tuplet.games.drawing import Cells
from tuplet.games.g2048.board import MOVES, Board, as_move, as_size
from tuplet.games.g2048.formats import FORMATS
from tuplet.games.g2048.rules import LARGEST_SUM, LOWEST, OVER, TILE_DUE, Rules2048, as_share, rules_for
from tuplet.games.game import Game, Position
from tuplet.games.protocol import ONGOING, Words
from tuplet.kernel import pdep, pext
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
            raise UserError(f"{spec}: {next(iter(given))} is not a setting; there are board, spawn4")
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
        if tile_due and not board.empty:
            raise UserError("no tile can appear on a full board: leave out the ?")
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


def words_of(board: Board, tile_due: bool = False) -> Words:
    """A board as searches take it, with no points yet."""
    low, high = board.packed
    second = np.uint64(pext(high, LOWEST))
    return low, second | TILE_DUE if tile_due else second


class Position2048(Position):
    """A board in a game: the points so far, and whether a tile is about to appear.

    What a `Board` can do, its position can do, too: `position.tiles` is `position.board.tiles`.

    >>> import tuplet
    >>> position = tuplet.game("2048").start(seed=1)
    >>> after = position.play("left")
    >>> after.is_chance, after.legal_moves()
    (True, [])
    >>> next(iter(after.chance_outcomes()))  # a 2 on cell 1, numbered row by row from 0
    '2@1'
    """

    __slots__ = ("board", "score")

    game: Game2048
    board: Board
    score: int  # the points so far; those in the words that it is made of are added

    def __init__(self, game: Game2048, words: Words, score: int = 0) -> None:
        low, second = int(words[0]), int(words[1])
        super().__init__(game, (np.uint64(low), np.uint64(second & 0x1FFFF)))
        self.score = score + (second >> 32)
        high = int(pdep(np.uint64(second & 0xFFFF), LOWEST))
        self.board = Board.from_packed(low, high, game.rows, game.columns)

    def at(self, words: Words) -> Position2048:
        """Another position of the same game; points in the words are added to the score."""
        return Position2048(self.game, words, self.score)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        return getattr(self.board, name)

    def __getitem__(self, cell: int | tuple[int, int]) -> int:
        return self.board[cell]

    def __iter__(self) -> Iterator[int]:
        return iter(self.board)

    @property
    def tile_due(self) -> bool:
        """Whether a tile is about to appear."""
        return bool(self.words[1] & TILE_DUE)

    is_chance = tile_due

    @property
    def ending(self) -> int:
        """OVER if no move is legal, and no tile is about to appear."""
        return OVER if not self.tile_due and self.board.over else ONGOING

    @property
    def result(self) -> float | None:
        """The points, once the game is over."""
        return float(self.score) if self.over else None

    def legal_actions(self) -> list[int]:
        """The legal moves as kernels number them."""
        return [MOVES.index(move) for move in self.legal_moves()]

    def legal_moves(self) -> list[str]:
        """The moves that change the board; none where a tile is about to appear."""
        return [] if self.tile_due else [*self.board.legal_moves()]

    def action_of(self, move: object) -> int:
        """The number of a legal move, given by its name, its first letter or its number."""
        name = as_move(move)
        return MOVES.index(name) if name in self.legal_moves() else super().action_of(name)

    def all_moves(self, values: Iterable[MoveValue]) -> list[MoveValue]:
        """All four moves in the order up, right, down, left, with rewards; illegal ones are marked."""
        known, after = {each.move: each for each in values}, self.board.after_states()
        return [
            known.get(move, MoveValue(move, None))._replace(reward=after[move][1])
            if move in after
            else MoveValue(move, None, legal=False)
            for move in MOVES
        ]

    def play(self, move: object) -> Position2048:
        """The board after a legal move, before a tile appears."""
        name = as_move(move)
        if self.tile_due:
            raise UserError(f"{self.chance_prompt()} first")
        after, reward = self.board.move(name)
        if after == self.board:
            raise UserError(f"{name} changes nothing on this board")
        return Position2048(self.game, words_of(after, tile_due=True), self.score + reward)

    def after(self, action: int) -> Position2048:
        """The board after a legal move, given by its number."""
        return self.play(MOVES[action])

    def chance_outcomes(self) -> dict[str, float]:
        """Every tile that can appear, as `2@5`, a 2 on cell 5, with its probability."""
        if not self.tile_due:
            return {}
        spawn4, empty = self.game.spawn4, self.board.empty
        shares = ((2, 1 - spawn4), (4, spawn4))
        return {f"{t}@{c}": p / len(empty) for c in empty for t, p in shares if p > 0}

    def apply_outcome(self, outcome: object) -> Position2048:
        """The board with a tile placed; UserError if it cannot be."""
        tile, _, cell = str(outcome).partition("@")
        game = self.game
        tiles = [text for text, share in (("2", 1 - game.spawn4), ("4", game.spawn4)) if share > 0]
        possible = tile in tiles or (game.any_tile and tile.isdecimal())
        if not (self.tile_due and possible and cell in map(str, self.board.empty)):
            raise UserError(f"{outcome!r} cannot happen: a tile is 2@CELL or 4@CELL, cells from 0")
        return Position2048(self.game, words_of(self.board.place(int(cell), int(tile))), self.score)

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a tile, as compiled games draw it."""
        cell, tile, state = self.board.random_spawn(state, self.game.spawn4)
        return state, f"{tile}@{cell}"

    def chance_prompt(self) -> str:
        """What must be done where chance acts."""
        return "a tile must appear"

    def as_json(self) -> dict[str, Any]:
        """As plain values; `tiles` are row by row."""
        more = {"score": self.score, "tiles": self.board.tiles, "spawn4": self.game.spawn4}
        return super().as_json() | more

    def caption(self) -> str:
        """The points, and what is next."""
        ended = "game over" if any(self.board) else "an empty board"
        state = self.chance_prompt() if self.tile_due else ended if self.over else "to move"
        return f"{self.score:,} points, {state}"

    @property
    def notation(self) -> str:
        """One line: game, tiles row by row, points, and `?` where a tile is about to appear."""
        rows = "/".join(",".join(tile or "0" for tile in row) for row in self.cells)
        return f"{self.game.name} {rows} {self.score}{' ?' if self.tile_due else ''}"

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self.score

    def __reduce__(self) -> Any:
        return Position2048, (self.game, self.words, self.score)  # a notation does not say `any_tile`

    def __str__(self) -> str:
        return str(self.board)

    def _repr_svg_(self) -> str:
        """How notebooks show a position."""
        return self.board._repr_svg_()
