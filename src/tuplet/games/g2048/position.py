"""2048 as a game that people hold, and a board in the middle of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, as_move, as_size
from tuplet.games.g2048.game import LOWEST, OVER, TILE_DUE, Game2048, position_of
from tuplet.games.g2048.rules import LARGEST_SUM, as_share, rules_for
from tuplet.games.game import ONGOING, Words, chance
from tuplet.games.position import AnyPosition, Game
from tuplet.kernel import pdep


class Standing(Board, AnyPosition):
    """A board in a game: the points so far, and whether a tile is about to appear.

    >>> standing = GameOf2048().start(seed=1)
    >>> after = standing.play("left")
    >>> after.is_chance, after.legal_moves()
    (True, [])
    >>> next(iter(after.outcomes()))  # a 2 on cell 1, numbered row by row from 0
    '2@1'
    """

    __slots__ = ("held", "score", "tile_due")

    held: GameOf2048
    score: int
    tile_due: bool
    sides = ("player",)

    def __init__(self, held: GameOf2048, board: Board, score: int = 0, tile_due: bool = False) -> None:
        super().__init__(board)
        if (board.rows, board.columns) != (held.rows, held.columns):
            raise UserError(f"{held.name} has a board of {held.rows}x{held.columns}, not {board.rows}x{board.columns}")
        if (total := sum(board.tiles)) > LARGEST_SUM:
            raise UserError(
                f"the tiles of a board add up to {LARGEST_SUM:,} at most, which no game exceeds (got {total:,})"
            )
        self.held, self.score, self.tile_due = held, score, tile_due

    @property
    def rules(self) -> Game2048:
        """As kernels take them."""
        return self.held.rules

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.held.name

    def as_words(self) -> Words:
        """The position as searches take it, with no points yet."""
        low, high = position_of(self)
        return low, high | TILE_DUE if self.tile_due else high

    def at(self, words: Words) -> Standing:
        """Another position of the same game; points that the words have come on top."""
        low, high = int(words[0]), pdep(np.uint64(words[1]) & np.uint64(0xFFFF), LOWEST)
        board = Board.from_words(low, int(high), self.rows, self.columns)
        tile_due = bool(np.uint64(words[1]) & TILE_DUE)
        return Standing(self.held, board, self.score + (int(words[1]) >> 32), tile_due)

    @property
    def over(self) -> bool:
        """Whether no move is legal, and no tile is about to appear."""
        return not self.tile_due and super().over

    @property
    def ending(self) -> int:
        """ONGOING or OVER."""
        return OVER if self.over else ONGOING

    @property
    def is_chance(self) -> bool:
        """Whether a tile is about to appear."""
        return self.tile_due

    @property
    def turn(self) -> str:
        """There is one player."""
        return self.sides[0]

    @property
    def winner(self) -> None:
        """Nobody: the player has points."""
        return

    @property
    def kind(self) -> str | None:
        """How the game ended."""
        return "stuck" if self.over else None

    @property
    def outcome(self) -> float | None:
        """The points, once the game is over."""
        return float(self.score) if self.over else None

    def codes(self) -> list[int]:
        """The legal moves as kernels number them."""
        return [MOVES.index(move) for move in self.legal_moves()]

    def legal_moves(self) -> list[str]:  # type: ignore[override]
        """The moves that change the board; none where a tile is about to appear."""
        return [] if self.tile_due else [*super().legal_moves()]

    def text_of(self, code: int) -> str:
        """A move's name."""
        return MOVES[code]

    def play(self, move: object) -> Standing:
        """The board after a legal move, before a tile appears."""
        name = as_move(move)
        if self.tile_due:
            raise UserError(f"{self.needed()} first")
        after, reward = self.move(name)
        if after.exponents == self.exponents:
            raise UserError(f"{name} changes nothing on this board")
        return Standing(self.held, after, self.score + reward, tile_due=True)

    def after(self, code: int) -> Standing:
        """The same, of a move given by its number."""
        return self.play(MOVES[code])

    def outcomes(self) -> dict[str, float]:
        """Every tile that can appear, as `2@5`, a 2 on cell 5, and how likely each is."""
        if not self.tile_due:
            return {}
        spawn4, empty = self.held.spawn4, self.empty
        shares = ((2, 1 - spawn4), (4, spawn4))
        return {f"{t}@{c}": p / len(empty) for c in empty for t, p in shares if p > 0}

    def happen(self, outcome: object) -> Standing:
        """The board with a tile placed; ValueError if it cannot be."""
        if str(outcome) not in self.outcomes():
            raise UserError(f"{outcome!r} cannot happen: a tile is 2@CELL or 4@CELL, cells from 0")
        tile, _, cell = str(outcome).partition("@")
        return Standing(self.held, self.place(int(cell), int(tile)), self.score)

    def outcome_text(self, outcome: int) -> str:
        """A tile that appears, given by its number."""
        after = self.at(chance(self.rules, self.as_words(), outcome))
        cell = next(c for c in self.empty if after.tiles[c])
        return f"{after.tiles[cell]}@{cell}"

    def random_outcome(self, state: np.uint64) -> tuple[np.uint64, str]:
        """The random stream's next state, and a tile, as compiled games draw it."""
        cell, tile, state = self.random_spawn(state, self.held.spawn4)
        return state, f"{tile}@{cell}"

    def needed(self) -> str:
        """What must be done where chance acts."""
        return "a tile must appear"

    def as_json(self) -> dict[str, Any]:
        """As plain values; `tiles` stand row by row."""
        more = {"score": self.score, "tiles": self.tiles, "spawn4": self.held.spawn4}
        return super().as_json() | more

    def caption(self) -> str:
        """The points, and what is next."""
        ended = "game over" if any(self.tiles) else "an empty board"
        state = self.needed() if self.tile_due else ended if self.over else "to move"
        return f"{self.score:,} points, {state}"

    @property
    def cells(self) -> list[list[str]]:
        """The board as rows of texts, "" for an empty cell."""
        texts, width = [str(tile or "") for tile in self.tiles], self.columns
        return [texts[at : at + width] for at in range(0, len(texts), width)]

    @property
    def notation(self) -> str:
        """One line: game, tiles row by row, points, and `?` where a tile is about to appear."""
        rows = "/".join(",".join(tile or "0" for tile in row) for row in self.cells)
        return f"{self.game} {rows} {self.score}{' ?' if self.tile_due else ''}"

    def __eq__(self, other: object) -> bool:
        """The same tiles and points in the same game; a board alone is no position of a game."""
        return isinstance(other, Standing) and self.notation == other.notation

    __hash__ = Board.__hash__

    def __repr__(self) -> str:
        return f"<{self.notation}>"


class GameOf2048(Game):
    """What `2048` and `2048:board=3x3,spawn4=0.2` name."""

    sides = Standing.sides
    kinds = ("stuck",)
    actions = len(MOVES)

    def __init__(self, board: str | tuple[int, int] = "4x4", spawn4: float = 0.1) -> None:
        self.rows, self.columns = as_size(board)
        self.spawn4 = as_share(spawn4)
        settings = [f"board={self.rows}x{self.columns}"] if (self.rows, self.columns) != (4, 4) else []
        settings += [f"spawn4={self.spawn4}"] if self.spawn4 != 0.1 else []
        self.name = "2048" + (":" + ",".join(settings) if settings else "")

    @property
    def rules(self) -> Game2048:
        """As kernels take them."""
        return Game2048(rules_for(self.rows, self.columns, self.spawn4))

    @classmethod
    def of(cls, spec: str = "2048", board: str | None = None, spawn4: float | None = None) -> GameOf2048:
        """From `2048:board=3x3,spawn4=0.2`; `board` and `spawn4` are short forms of these."""
        name, _, settings = spec.partition(":")
        if name != "2048":
            raise UserError(f"{spec!r} is not 2048, nor 2048:board=3x3,spawn4=0.2")
        given = dict(_pair(word) for word in settings.split(",") if word)
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

    def deal(self, state: np.uint64) -> tuple[np.uint64, Standing]:
        """A random stream's next state, and a board with two tiles."""
        standing = Standing(self, Board(rows=self.rows, columns=self.columns), 0, tile_due=True)
        for _ in range(2):
            state, tile = standing.random_outcome(state)
            standing = Standing(self, standing.happen(tile), 0, tile_due=True)
        return state, Standing(self, standing, 0)

    def standing(self, board: object) -> Standing:
        """A board as a position of this game; it is the player's turn."""
        if isinstance(board, Standing):
            return board
        if not isinstance(board, Board):
            board = Board(board, rows=self.rows, columns=self.columns)  # type: ignore[arg-type]
        return Standing(self, board)

    def parse(self, text: str) -> Standing:
        """Read a notation, or a board alone, tiles row by row; ValueError says what is wrong."""
        words = text.split()
        if len(words) > 1 and words[0].startswith("2048") and "/" in words[1]:
            if GameOf2048.of(words[0]).name != self.name:
                raise UserError(f"this is a position of {words[0]}, not of {self.name}")
            del words[0]
        if not words or "/" not in words[0]:
            return self.standing(text)
        tile_due = words[-1] == "?"
        points = words[1:-1] if tile_due else words[1:]
        if len(points) > 1 or not all(word.isdecimal() for word in points):
            raise UserError("a board is 2,0,0,4/0,0,8,2/..., then the points, then ? before a tile")
        rows = [row.split(",") for row in words[0].split("/")]
        board = Board([[_number(tile) for tile in row] for row in rows])
        return Standing(self, board, int(points[0]) if points else 0, tile_due)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in word.partition("="))
    if not equals:
        raise UserError(f"2048: settings look like board=3x3,spawn4=0.2, not {word!r}")
    return name, value


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UserError(f"{text!r} is not a tile")
    return int(text)
