"""`Board`: a 2048 position that people hold, print, draw, and play on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, cast

import numpy as np

from tuplet.errors import UserError
from tuplet.games.analysis import MoveValue
from tuplet.games.g2048.board_text import numbers
from tuplet.games.g2048.drawing import board_svg
from tuplet.games.g2048.rules import LARGEST, motion, slide_line
from tuplet.games.protocol import Array
from tuplet.kernel import draw

Move = Literal["up", "right", "down", "left"]
#: The four moves, in the order in which kernels number them.
MOVES: tuple[Move, ...] = ("up", "right", "down", "left")

Row = Sequence[int]
Size = tuple[int, int]  # rows and columns


def as_size(board: str | Size) -> Size:
    """A board's rows and columns, from "2x3" or (2, 3)."""
    text = board if isinstance(board, str) else "x".join(str(n) for n in board)
    rows, _, columns = text.lower().partition("x")
    if not (rows in ("2", "3", "4") and columns in ("2", "3", "4")):
        raise UserError(f"board must be 2x2 to 4x4 (got {text!r})")
    return int(rows), int(columns)


def as_move(move: object) -> Move:
    """A move from its name, its first letter, or its number (0 up, 1 right, 2 down, 3 left)."""
    if isinstance(move, str):
        for name in MOVES:
            if move and name.startswith(move.lower()):
                return name
    elif isinstance(move, int | np.integer) and 0 <= move < 4:
        return MOVES[int(move)]
    raise UserError(f"{move!r} is not a move: up, right, down or left (or 0, 1, 2, 3)")


def slide_values(rewards: Array, values: Array) -> list[MoveValue]:
    """What kernels say of up, right, down, left; a move whose value is no number is illegal."""
    return [
        MoveValue(move, None, legal=False) if np.isnan(v) else MoveValue(move, float(v), True, int(r))
        for move, r, v in zip(MOVES, rewards, values, strict=True)
    ]


class Board:
    """A board of 2x2 to 4x4 cells; never changes: a move gives a new one.

    >>> board = Board([[2, 2, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 8]])
    >>> after, reward = board.move("left")
    >>> print(after)
       4   .   .   .
       4   .   .   .
       .   .   .   .
       8   .   .   .
    >>> reward
    4
    """

    __slots__ = ("columns", "exponents", "rows")

    exponents: tuple[int, ...]  # row by row: 0 empty, 1 for 2, 2 for 4, ...
    rows: int
    columns: int

    def __init__(
        self,
        tiles: Board | str | Iterable[int | Row] | None = None,
        *,
        rows: int | None = None,
        columns: int | None = None,
    ) -> None:
        """From a list of tiles (0 for empty) or of rows, or text "2,0,0,4,..."; empty for None.

        A flat list of 16, 9 or 4 tiles is a square board; other sizes name `rows`, `columns`,
        or give rows.
        """
        tiles = getattr(tiles, "board", tiles)  # a position's
        if isinstance(tiles, Board):
            self.exponents, self.rows, self.columns = tiles.exponents, tiles.rows, tiles.columns
            return
        is_text = isinstance(tiles, str)
        if isinstance(tiles, str):
            tiles = numbers(tiles)
        given = [] if tiles is None else list(tiles)
        if given and all(isinstance(row, Iterable) for row in given):
            grid = [list(cast(Row, row)) for row in given]
            if len({len(row) for row in grid}) > 1:
                raise UserError("the rows of a board are of one length")
            rows, columns = len(grid), len(grid[0])
            given = [tile for row in grid for tile in row]
        if rows is None or columns is None:
            side = {16: 4, 9: 3, 4: 2}.get(len(given) if given else (rows or columns or 4) ** 2)
            if side is None:
                raise UserError(
                    f"a board has 16 tiles, row by row, not {len(given)} "
                    "(0 or . is an empty cell; name rows and columns for other sizes)"
                )
            rows, columns = rows or side, columns or side
        if not (2 <= rows <= 4 and 2 <= columns <= 4):
            raise UserError(f"a board has 2 to 4 rows and columns, not {rows}x{columns}")
        if tiles is None:
            given = [0] * (rows * columns)
        if len(given) != rows * columns:
            raise UserError(
                f"a {rows}x{columns} board has {rows * columns} tiles, not {len(given)} (0 or . is an empty cell)"
            )
        hint = ""
        if is_text and all(isinstance(tile, int) and tile <= LARGEST for tile in given):
            hint = "; if these are exponents, write: exponents 1,0,0,2,..."
        self.exponents = tuple(_exponent(tile, divmod(cell, columns), hint) for cell, tile in enumerate(given))
        self.rows, self.columns = rows, columns

    @classmethod
    def _of(cls, exponents: tuple[int, ...], rows: int, columns: int) -> Board:
        board = object.__new__(cls)
        board.exponents, board.rows, board.columns = exponents, rows, columns
        return board

    @property
    def tiles(self) -> list[int]:
        """The tiles row by row, 0 for empty."""
        return [1 << e if e else 0 for e in self.exponents]

    @property
    def largest(self) -> int:
        """The largest tile, 0 on an empty board."""
        return max(self.tiles)

    @property
    def empty(self) -> list[int]:
        """The numbers of the empty cells, row by row from 0."""
        return [c for c, e in enumerate(self.exponents) if e == 0]

    @property
    def over(self) -> bool:
        """Whether no move is legal."""
        if 0 in self.exponents:  # a tile beside an empty cell can slide
            return not any(self.exponents)
        return not self.legal_moves()

    def move(self, move: object) -> tuple[Board, int]:
        """The after-state of a move and its reward; the board itself if the move is illegal."""
        name = as_move(move)
        backwards = name in ("right", "down")
        cells = list(self.exponents)
        reward = 0
        for line in self._lines(across=name in ("left", "right")):
            packed = sum(cells[c] << 8 * i for i, c in enumerate(line))
            slid, gained = slide_line(np.uint64(packed), len(line), backwards)
            reward += int(gained)
            for i, c in enumerate(line):
                cells[c] = int(slid) >> 8 * i & 0xFF
        return Board._of(tuple(cells), self.rows, self.columns), reward

    def motion(self, move: object) -> list[tuple[int, int, bool]]:
        """Where a move takes each tile: its cell, the cell it comes to, and whether two meet there.

        >>> Board([2, 0, 0, 2] + 12 * [0]).motion("left")
        [(0, 0, True), (3, 0, True)]
        """
        targets, number = np.zeros(16, np.uint8), MOVES.index(as_move(move))
        meeting = int(motion(self.rows, self.columns, *self.packed, number, targets))
        steps = []
        for i, exponent in enumerate(self.exponents):
            target = int(targets[4 * (i // self.columns) + i % self.columns])
            if exponent:
                to = target // 4 * self.columns + target % 4
                steps.append((i, to, bool(meeting >> 4 * target & 1)))
        return steps

    def _lines(self, across: bool) -> list[range]:
        size, width = self.rows * self.columns, self.columns
        if across:
            return [range(start, start + width) for start in range(0, size, width)]
        return [range(start, size, width) for start in range(width)]

    def after_states(self) -> dict[Move, tuple[Board, int]]:
        """The after-state and reward of each legal move."""
        slid = {name: self.move(name) for name in MOVES}
        return {n: pair for n, pair in slid.items() if pair[0].exponents != self.exponents}

    def legal_moves(self) -> list[Move]:
        """The moves that change the board, in the order up, right, down, left."""
        return list(self.after_states())

    def place(self, cell: int, tile: int) -> Board:
        """The board with `tile` put on an empty cell (numbered row by row from 0)."""
        if cell not in range(len(self.exponents)) or self.exponents[cell]:
            raise UserError(f"cell {cell} is not an empty cell of this board")
        if not tile:
            raise UserError("a placement puts a tile on the board, not 0")
        exponents = list(self.exponents)
        exponents[cell] = _exponent(tile)
        return Board._of(tuple(exponents), self.rows, self.columns)

    def spawns(self, spawn4: float = 0.1) -> list[tuple[Board, float]]:
        """Every board a spawn can make of this after-state, with its probability."""
        empty = self.empty
        shares = ((2, 1 - spawn4), (4, spawn4))
        return [(self.place(c, t), p / len(empty)) for c in empty for t, p in shares if p > 0]

    def spawn(self, state: np.uint64, spawn4: float = 0.1) -> tuple[np.uint64, Board]:
        """The random stream's next state and the board after one random spawn."""
        cell, tile, state = self.random_spawn(state, spawn4)
        return state, self.place(cell, tile)

    def random_spawn(self, state: np.uint64, spawn4: float = 0.1) -> tuple[int, int, np.uint64]:
        """Cell and tile of a random spawn, and the stream's next state.

        Uses the random bits as the compiled games do: a game's stream gives the same game.
        """
        empty = self.empty
        state, bits = draw(np.uint64(state))
        cell = empty[(int(bits) >> 32) * len(empty) >> 32]
        tile = 4 if int(bits) & 0xFFFFFFFF < round(spawn4 * 2**32) else 2
        return cell, tile, np.uint64(state)

    @property
    def packed(self) -> tuple[np.uint64, np.uint64]:
        """The board as kernels take it: a nibble per cell, and a bit per cell for tiles beyond 32768."""
        low = high = 0
        for i, exponent in enumerate(self.exponents):
            cell = 4 * (i // self.columns) + i % self.columns
            low |= (exponent & 15) << 4 * cell
            high |= (exponent >> 4) << 4 * cell
        return np.uint64(low), np.uint64(high)

    @classmethod
    def from_packed(cls, low: int, high: int = 0, rows: int = 4, columns: int = 4) -> Board:
        """The board that `packed` gives these numbers for."""
        cells = [4 * r + c for r in range(rows) for c in range(columns)]
        low, high = int(low), int(high)
        exponents = tuple((low >> 4 * c & 15) + 16 * (high >> 4 * c & 1) for c in cells)
        return cls._of(exponents, rows, columns)

    def __iter__(self) -> Iterator[int]:
        return iter(self.tiles)

    def __getitem__(self, cell: int | tuple[int, int]) -> int:
        """The tile on a cell, by its number or by row and column."""
        if isinstance(cell, tuple):
            row, column = cell
            return self.tiles[range(self.rows)[row] * self.columns + range(self.columns)[column]]
        return self.tiles[cell]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and ((self.exponents, self.columns) == (other.exponents, other.columns))

    def __hash__(self) -> int:
        return hash((self.exponents, self.columns))

    def __str__(self) -> str:
        width = max(3, len(str(self.largest)))
        texts = [f"{tile or '.':>{width}}" for tile in self.tiles]
        rows = range(0, len(texts), self.columns)
        return "\n".join(" " + " ".join(texts[r : r + self.columns]) for r in rows)

    def __repr__(self) -> str:
        grid = [self.tiles[r : r + self.columns] for r in range(0, len(self.exponents), self.columns)]
        return f"Board({grid})"

    def _repr_svg_(self) -> str:
        """How notebooks show a board."""
        return board_svg(self.tiles, self.columns)


def _exponent(tile: object, cell: tuple[int, int] | None = None, hint: str = "") -> int:
    if isinstance(tile, int | np.integer) and not isinstance(tile, bool):
        exponent = int(tile).bit_length() - 1
        if tile == 0:
            return 0
        if 1 <= exponent <= LARGEST and tile == 1 << exponent:
            return exponent
    where = f" (row {cell[0] + 1}, column {cell[1] + 1})" if cell else ""
    raise UserError(f"{tile!r} is not a tile{where}: tiles are 0 (empty), 2, 4, 8, ... {1 << LARGEST}{hint}")
