"""Endgame tables of EWN: the exact probability of winning for every position with few cubes.

A move never adds a cube, and cubes only go forward, so a position's value follows from positions that are nearer to the
end. A table has all positions of up to N cubes in all, for games whose die is rolled. The value of a position is the
probability that the side to move wins, before the die is rolled:

    V(position) = mean over the die of the best move's 1 - V(position after the move)

Both sides have one table: a position is seen from the side to move, whose goal is the last square. Two more symmetries
make it smaller. The numbers of a side's cubes may be reversed (1 for 6, 2 for 5, ...), because the die is fair. On
square boards with three directions the board may be mirrored at its diagonal; the first cube of the side to move then
stands on or above it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.exact.table_files import map_arrays, read_header, write_table
from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.ewn.game import EwnGame, EwnPosition
from tuplet.games.ewn.rules import (
    BLUE,
    EMPTY,
    GONE,
    MOST_CUBES,
    RED,
    UNKNOWN,
    EwnRules,
    apply,
    cube_moves,
    ending,
    gone,
    stands_on,
    winner,
)
from tuplet.games.game import Game
from tuplet.games.protocol import MOST_MOVES, ONGOING, Array, Int, Words
from tuplet.games.registry import find_game
from tuplet.kernel import as_seed, draw, inlined, kernel, stream
from tuplet.system import progress as progress_module
from tuplet.system.blocks import Worker, as_threads, ordered_map
from tuplet.system.intervals import Interval, mean_interval
from tuplet.system.memory import available_memory
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable

FORMAT = "tuplet-endgames-1"
MOST_DEFAULT = 1 << 25  # values of a table whose number of cubes is not said: 134 MB
MOST = 1 << 28  # values of any table: 1.1 GB
PART = 1 << 16  # values that are computed at a time
NOT_KNOWN = np.float32(-1.0)  # also of numbers that are no position: two cubes on one square
_TOP, _ONE, _SEVEN, _BYTE = np.uint64(56), np.uint64(1), np.uint64(7), np.uint64(0xFF)


class Numbering(NamedTuple):
    """How positions are numbered. Squares are seen from a side whose goal is the last one."""

    cubes: int  # of each side, at the start
    squares: int  # on which a cube can stand: all but its goal
    seen: Array  # uint8[2 * 128]: a side's view of a square
    mirror: Array  # uint8[128]: the square mirrored at the diagonal, or itself
    ranks: Array  # int32[128]: numbers of squares, the goal left out
    first_ranks: Array  # int32[128]: those of the first cube, or -1 where the board is mirrored
    firsts: int  # how many there are
    squares_by_rank: Array  # uint64: the square of each number
    squares_by_first_rank: Array
    groups: Array  # int32[64]: the group of the cubes that are gone, among those of the same number
    reverses: Array  # bool[64]: whether that group has the cubes' numbers reversed
    sizes: Array  # int64[7]: how many groups there are, by cubes left
    starts: Array  # int64[7 * 7]: the first number, by cubes left of both sides; -1 if not in the table


def numbering_of(game: EwnGame, cubes: int) -> tuple[Numbering, int]:
    """The numbering of a game's positions with up to `cubes` cubes, and how many numbers there are."""
    cells = game.rows * game.columns
    seen = np.zeros((2, 128), np.uint8)
    seen[0, :cells], seen[1, :cells] = np.arange(cells), np.arange(cells)[::-1]
    mirrored = game.rows == game.columns and game.directions == 3
    mirror, ranks, first_ranks = np.arange(128, dtype=np.uint8), np.full(128, -1, np.int32), np.full(128, -1, np.int32)
    hole = game.hole and game.square(*game.hole)
    squares = [square for square in range(cells) if square not in (cells - 1, hole)]
    firsts = [square for square in squares if not mirrored or square % game.columns >= square // game.columns]
    ranks[squares], first_ranks[firsts] = range(len(squares)), range(len(firsts))
    if mirrored:
        mirror[:cells] = np.arange(cells).reshape(game.rows, game.columns).T.ravel()
    groups, reverses = np.zeros(64, np.int32), np.zeros(64, np.bool_)
    sizes, starts = np.zeros(7, np.int64), np.full(49, -1, np.int64)
    known: dict[tuple[int, int], int] = {}
    for left in range(1, 1 << game.cubes):
        number = left.bit_count()
        reverse = int(f"{left:0{game.cubes}b}"[::-1], 2)
        key = number, min(left, reverse) if number > 1 else 0  # a single cube moves whatever is rolled
        if key not in known:
            known[key] = int(sizes[number])
            sizes[number] += 1
        groups[63 ^ left], reverses[63 ^ left] = known[key], number > 1 and reverse < left
    total = 0
    for own in range(1, game.cubes + 1):
        for other in range(1, min(game.cubes, cubes - own) + 1):
            starts[own * 7 + other] = total
            total += int(sizes[own] * sizes[other]) * len(firsts) * len(squares) ** (own + other - 1)
    numbering = Numbering(
        cubes=game.cubes,
        squares=len(squares),
        seen=seen.ravel(),
        mirror=mirror,
        ranks=ranks,
        first_ranks=first_ranks,
        firsts=len(firsts),
        squares_by_rank=np.array(squares, np.uint64),
        squares_by_first_rank=np.array(firsts, np.uint64),
        groups=groups,
        reverses=reverses,
        sizes=sizes,
        starts=starts,
    )
    return numbering, total


@inlined
def number_of(numbering: Numbering, position: Words) -> Int:
    """The number of a position that is not over, whatever the die shows; -1 if it has too many cubes."""
    mover = (position[0] >> _TOP) & _ONE
    own, other = (position[0], position[1]) if mover == np.uint64(0) else (position[1], position[0])
    lost, other_lost = np.int64(gone(own)), np.int64(gone(other))
    mine: Int = 0
    theirs: Int = 0
    for cube in range(numbering.cubes):
        mine += 1 - (lost >> cube & 1)
        theirs += 1 - (other_lost >> cube & 1)
    start = numbering.starts[mine * 7 + theirs]
    if start < 0:
        return np.int64(-1)
    number = np.int64(numbering.groups[lost]) * numbering.sizes[theirs] + np.int64(numbering.groups[other_lost])
    is_first, mirrored = True, False
    view = mover << _SEVEN
    for turn in range(2):
        reverse = numbering.reverses[lost]
        for k in range(numbering.cubes):
            cube = numbering.cubes - 1 - k if reverse else k
            if lost >> cube & 1:
                continue
            square = numbering.seen[view | (own >> np.uint64(8 * cube)) & _BYTE]
            if is_first:
                is_first = False
                mirrored = numbering.first_ranks[square] < 0
                square = numbering.mirror[square] if mirrored else square
                number = number * numbering.firsts + numbering.first_ranks[square]
            else:
                square = numbering.mirror[square] if mirrored else square
                number = number * numbering.squares + numbering.ranks[square]
        if turn == 0:
            own, lost = other, other_lost
            view ^= np.uint64(128)
    return np.int64(start + number)


@kernel
def _look_up(numbering: Numbering, values: Array, position: Words) -> float:
    number = number_of(numbering, position)
    return np.float64(values[number]) if number >= 0 else -1.0


@kernel
def _value(
    game: EwnRules, numbering: Numbering, values: Array, position: Words, best: Array, moves: Array, level: Int
) -> float:
    """The value of a position, computed with all that may follow it unless it is known.

    `best` (float64[levels, 2, 8]) and `moves` (uint8[levels, MOST_MOVES]) are the memory of the recursion.
    """
    number = number_of(numbering, position)
    if values[number] >= 0.0:
        return np.float64(values[number])
    mover = (position[0] >> _TOP) & _ONE
    own, other = (position[0], position[1]) if mover == np.uint64(0) else (position[1], position[0])
    # Of each cube, the best move: without captures of own cubes where they are forbidden (0), and with them (1).
    for own_too in range(1 if game.own_captures else 0, 2):
        for cube in range(game.cubes):
            top = -1.0
            for i in range(cube_moves(game, own, other, mover, np.uint64(cube), own_too == 1, moves[level], 0)):
                after = apply(game, position, np.int64(moves[level, i]))
                ended = ending(game, after)
                if ended != ONGOING:
                    value = 1.0 if winner(game, ended) == np.int64(mover) else 0.0
                else:
                    value = 1.0 - _value(game, numbering, values, after, best, moves, level + 1)
                top = max(top, value)
            best[level, own_too, cube] = top
    total = 0.0
    lost = gone(own)
    for die in range(game.cubes):
        pair = np.uint64(game.movable[(lost << np.uint64(3)) | np.uint64(die)])
        lower, higher = np.int64(pair & np.uint64(0xF)), np.int64(pair >> np.uint64(4))
        top = max(best[level, 0, lower], best[level, 0, higher])
        if top < 0.0:
            top = max(best[level, 1, lower], best[level, 1, higher])
        total += top
    values[number] = np.float32(total / game.cubes)
    return np.float64(values[number])  # rounded, so that the order of positions does not matter


@kernel
def _fill(
    game: EwnRules,
    numbering: Numbering,
    values: Array,
    cubes: Array,
    empty: Words,
    first: int,
    last: int,
    squares: Array,
    best: Array,
    moves: Array,
) -> tuple[int, float]:
    """Compute the values of positions `first` to `last` of a group; returns how many there are, and their sum.

    `cubes` (int64[cubes, 2]) has the side and number of each cube that is left, in the order of the numbering;
    `squares` (uint64[cubes]), `best` and `moves` are working memory.
    """
    count, total = 0, 0.0
    for number in range(first, last):
        rest = number
        for i in range(len(cubes) - 1, 0, -1):
            squares[i] = numbering.squares_by_rank[rest % numbering.squares]
            rest //= numbering.squares
        squares[0] = numbering.squares_by_first_rank[rest]
        red, blue, apart = empty[0], empty[1], True
        for i in range(len(cubes)):
            side, shift = cubes[i, 0], np.uint64(8 * cubes[i, 1])
            square = squares[i] if side == RED else game.red_goal - squares[i]
            apart = apart and not stands_on(red, square) and not stands_on(blue, square)
            step = (GONE ^ square) << shift
            red, blue = (red ^ step, blue) if side == RED else (red, blue ^ step)
        if apart:
            count += 1
            total += _value(game, numbering, values, (red, blue), best, moves, np.int64(0))
    return count, total


class Block(NamedTuple):
    """The positions in which these cubes are left."""

    start: int  # the first of their numbers
    size: int  # how many numbers they have
    own: list[int]  # cubes of the side to move, in the order of the numbering
    other: list[int]

    @property
    def cubes(self) -> list[tuple[int, int]]:
        """Side and number of each cube, where Red is to move."""
        return [(RED, cube) for cube in self.own] + [(BLUE, cube) for cube in self.other]


def _blocks(numbering: Numbering, most: int) -> list[Block]:
    """All blocks of a numbering for up to `most` cubes, those of few cubes first."""
    members: dict[int, list[list[int]]] = {}
    for left in range(1, 1 << numbering.cubes):
        cubes = [cube for cube in range(numbering.cubes) if left >> cube & 1]
        of_number = members.setdefault(len(cubes), [])
        if int(numbering.groups[63 ^ left]) == len(of_number) and not numbering.reverses[63 ^ left]:
            of_number.append(cubes)
    blocks = []
    for total in range(2, most + 1):
        for mine in range(1, total):
            start = int(numbering.starts[mine * 7 + total - mine]) if max(mine, total - mine) <= MOST_CUBES else -1
            count = numbering.firsts * numbering.squares ** (total - 1)
            for own in members[mine] if start >= 0 else ():
                for other in members[total - mine]:
                    blocks.append(Block(start, count, own, other))
                    start += count
    return blocks


def solve_endgames(
    game: str | Game = "ewn",
    cubes: int | None = None,
    *,
    threads: int = 1,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> EndgameTable:
    """The exact value of every position of a game of the EWN family with up to `cubes` cubes in all.

    By default as many cubes as make a table of 134 MB at most: 4 in `ewn`. The die must be rolled.
    """
    game = solvable_game(game)
    most = 2 * game.cubes
    if cubes is None:
        cubes = max((n for n in range(2, most + 1) if numbering_of(game, n)[1] <= MOST_DEFAULT), default=2)
    if not 2 <= cubes <= most:
        raise UserError(f"--cubes must be 2 to {most}, those of both sides (got {cubes})")
    numbering, size = numbering_of(game, cubes)
    if size > MOST or 4 * size > available_memory():
        limit = f"more than {4 * MOST / 1e9:.1f} GB" if size > MOST else "more than there is memory"
        raise UserError(
            f"the table of {game.name} with {cubes} cubes would have {4 * size / 1e9:,.1f} GB, {limit}: take fewer"
        )
    with watching(progress) as watch, ThreadPoolExecutor(as_threads(threads)) as pool:
        watch(Progress(progress_module.COMPILING))
        values, rules, meter = np.full(size, NOT_KNOWN, np.float32), game.rules, RateMeter()
        blocks = _blocks(numbering, cubes)
        levels = (
            2 * cubes * game.rows * game.columns + 2
        )  # a cube can be moved once on each square, and captures follow
        empty = np.uint64(EMPTY & ~(0xFF << 56)), np.uint64(EMPTY & ~(0xFF << 56) | UNKNOWN << 56)

        def fill(block: Block, first: int, last: int, _: Worker) -> tuple[Block, int, float]:
            best, moves = np.full((levels, 2, 8), -1.0), np.zeros((levels, MOST_MOVES), np.uint8)
            pairs, squares = np.array(block.cubes, np.int64), np.zeros(len(block.cubes), np.uint64)
            count, total = _fill(rules, numbering, values, pairs, empty, first, last, squares, best, moves)
            return block, count, total

        parts = (
            (block, first, min(first + PART, block.size)) for block in blocks for first in range(0, block.size, PART)
        )
        sums: dict[tuple[int, int], list[float]] = {}
        done = 0
        for block, count, total in ordered_map(fill, parts, executor=pool, stop=stop):
            entry = sums.setdefault((len(block.own), len(block.other)), [0, 0.0])
            entry[0], entry[1] = entry[0] + count, entry[1] + total
            done += count
            watch(Progress("positions", done, None, meter.rate(done), "positions/s"))
        if stop is not None and stop.is_set():
            raise Stopped("stopped before the table was complete")
    endings = [Ending(*key, int(count), total / max(count, 1)) for key, (count, total) in sums.items()]
    return EndgameTable(game, cubes, values, endings)


def solvable_game(game: str | Game) -> EwnGame:
    """A game whose endings can be solved; UserError for any other."""
    found = find_game(game)
    if not isinstance(found, EwnGame):
        raise UserError(f"{found.name} has no endgame tables: ewn and its family have, where dice are rolled")
    if found.die != "rolled":
        what = {"cycle": "known in advance", "chosen": "chosen by the opponent", "free": "not used"}[found.die]
        raise UserError(f"the endings of {found.name} cannot be solved: its die is {what}, and must be rolled")
    return found


class Ending(NamedTuple):
    """The positions with `own` cubes of the side to move and `other` of its opponent."""

    own: int  # cubes of the side to move
    other: int
    positions: int
    mean: float  # the mean of their values


class EndgameTable(Displayable):
    """The exact values of a game's endings. It is an agent where they are known.

    >>> import tuplet
    >>> table = tuplet.solve("ewn", cubes=3)
    >>> position = tuplet.Position.parse("ewn ...../..r1../...../.b1.b6./..... red 2")
    >>> table.best_move(position), round(table.value(position), 6)
    ('10', 0.305556)
    """

    def __init__(self, game: EwnGame, cubes: int, values: Array, endings: list[Ending], name: str = "endgames") -> None:
        self.name = name  # as an agent
        self.game, self.cubes = game, cubes  # cubes: the most of both sides together
        self.values = values  # float32, by number; NOT_KNOWN where a number is no position
        self.endings = endings
        self.numbering, size = numbering_of(game, cubes)
        if len(values) != size:
            raise UserError(f"a table of {game.name} with {cubes} cubes has {size:,} values, not {len(values):,}")

    @property
    def positions(self) -> int:
        """The number of positions, without their mirror images."""
        return sum(ending.positions for ending in self.endings)

    def knows(self, position: Any) -> bool:
        """Whether the table has this position: of the same game, and with few enough cubes."""
        return isinstance(position, EwnPosition) and position.game == self.game and len(position.cubes) <= self.cubes

    def value(self, position: EwnPosition) -> float:
        """The probability that the side to move wins, if both sides play perfectly."""
        self._check(position)
        if position.over:
            return float(position.winner == position.turn)
        if position.is_chance:
            value = float(_look_up(self.numbering, self.values, position.words))
            if not 0 <= value <= 1:
                raise UserError("this is not a position that the table knows: the table is not valid")
            return value
        return max(value for _, value in self._moves(position))

    def moves(self, position: EwnPosition) -> list[MoveValue]:
        """The legal moves with their exact values, the best first."""
        self._check(position)
        values = [MoveValue(move, value, proven=True) for move, value in self._moves(position)]
        return sorted(values, key=lambda move: -(move.value or 0.0))

    def _moves(self, position: EwnPosition) -> Iterator[tuple[str, float]]:
        for move in position.legal_moves():
            after = position.play(move)
            yield move, float(after.winner == position.turn) if after.over else 1.0 - self.value(after)

    def best_move(self, position: EwnPosition) -> str | None:
        """The move of the highest value, None if the game is over."""
        return best_of(self.moves(position))

    def choose(self, position: EwnPosition) -> str:
        """The best move."""
        move = self.best_move(position)
        if move is None:
            raise UserError("the game is over" if position.over else f"{position.chance_prompt()} first")
        return move

    def analyze(self, position: EwnPosition) -> Analysis:
        """All moves with their exact values."""
        moves = self.moves(position)
        best = best_of(moves)
        note = "Exact: the probability of winning if both sides play perfectly."
        return Analysis(moves, best, [best] if best else [], note, position=position)

    def fresh(self) -> EndgameTable:
        """Itself: threads may share it."""
        return self

    def sample(self, count: int, seed: int = 0, *, cubes: int | None = None, first: int = 0) -> list[EwnPosition]:
        """Positions before the die is rolled, all equally likely; either side is to move.

        Position number n, counted from `first`, depends on the seed and n alone. `cubes` limits the positions to so
        many cubes or fewer.
        """
        blocks = self.blocks(cubes)
        ends, found = np.cumsum([block.size for block in blocks]), []
        for number in range(first, first + count):
            state, position = np.uint64(stream(as_seed(seed), np.uint64(number))), None
            while position is None:
                state, bits = draw(np.uint64(state))
                chosen = (int(bits) >> 1) % int(ends[-1])
                at = int(np.searchsorted(ends, chosen, "right"))
                position = self.position(blocks[at], chosen - int(ends[at]) + blocks[at].size, bool(int(bits) & 1))
            found.append(position)
        return found

    def blocks(self, cubes: int | None = None) -> list[Block]:
        """Which cubes can be left, by how many there are, for up to `cubes` cubes."""
        most = self.cubes if cubes is None else cubes
        if not 2 <= most <= self.cubes:
            raise UserError(f"--cubes must be 2 to {self.cubes}, as in the table (got {most})")
        return _blocks(self.numbering, most)

    def position(self, block: Block, number: int, turned: bool = False) -> EwnPosition | None:
        """A position of a block, with Blue to move if it is `turned`; None if two cubes share a square.

        `number` counts from the first number of the block.
        """
        numbering, digits = self.numbering, []
        for _ in block.cubes[1:]:
            number, rank = divmod(number, numbering.squares)
            digits.append(int(numbering.squares_by_rank[rank]))
        squares = [int(numbering.squares_by_first_rank[number]), *reversed(digits)]
        last, words, taken = self.game.rows * self.game.columns - 1, [EMPTY & ~(0xFF << 56)] * 2, set()
        for (side, cube), square in zip(block.cubes, squares, strict=True):
            side = side ^ turned
            square = square if side == RED else last - square
            taken.add(square)
            words[side] ^= (int(GONE) ^ square) << 8 * cube
        if len(taken) < len(squares):
            return None
        words[0] |= int(turned) << 56
        words[1] |= UNKNOWN << 56
        return EwnPosition(self.game, (np.uint64(words[0]), np.uint64(words[1])), self.game.rules)

    def _check(self, position: Any) -> None:
        if not isinstance(position, EwnPosition) or position.game != self.game:
            name = getattr(getattr(position, "game", None), "name", type(position).__name__)
            raise UserError(f"the table is of {self.game.name}, not of {name}")
        if (cubes := len(position.cubes)) > self.cubes:
            raise UserError(f"the table has positions of up to {self.cubes} cubes, and this one has {cubes}")

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "game": self.game.name,
            "cubes": self.cubes,
            "positions": self.positions,
            "bytes": int(self.values.nbytes),
            "endings": [ending._asdict() for ending in self.endings],
        }

    def text_tables(self) -> list[TextTable]:
        """The number of positions and the mean of their values, by cubes left."""
        title = (
            f"{self.game.name}, up to {self.cubes} cubes: {self.positions:,} positions (mirror images counted once), "
            f"{self.values.nbytes / 1e6:,.1f} MB"
        )
        rows = [[f"{e.own} against {e.other}", f"{e.positions:,}", f"{e.mean:.6f}"] for e in self.endings]
        return [TextTable(title, ["cubes of the side to move", "positions", "mean probability of winning"], rows)]

    def save(self, path: str | Path) -> Path:
        """Write the table beside `path` and rename it into place: 4 bytes per position."""
        notes = {"format": FORMAT, "endgames": json.dumps(self.as_json())}
        return write_table(path, notes, {"values": np.ascontiguousarray(self.values, "<f4")})

    @staticmethod
    def load(path: str | Path) -> EndgameTable:
        """Open a table; it is memory-mapped. Raises UserError if it is not valid."""
        path = Path(path)
        header = read_header(path, FORMAT)
        if header is None:
            raise UserError(f"{path} is not a table of endgames")
        try:
            notes = json.loads(header["__metadata__"]["endgames"])
            game, cubes = solvable_game(EwnGame(notes["game"])), int(notes["cubes"])
            if not 2 <= cubes <= 2 * game.cubes:
                raise UserError(f"{cubes} cubes")
            endings = [
                Ending(int(e["own"]), int(e["other"]), int(e["positions"]), float(e["mean"])) for e in notes["endings"]
            ]
            return EndgameTable(game, cubes, map_arrays(path, header, {"values": "<f4"})["values"], endings)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UserError(f"{path} is not a valid table of endgames: {error}") from None

    def __repr__(self) -> str:
        return f"<EndgameTable of {self.game.name}: {self.positions:,} positions of up to {self.cubes} cubes>"


def value_error(
    table: EndgameTable,
    value: Callable[[EwnPosition], float],
    *,
    positions: int = 10_000,
    seed: int = 0,
    cubes: int | None = None,
) -> tuple[float, Interval]:
    """The mean of |value(position) - exact value| over sampled positions, and its 95 % interval.

    `value` is what is judged: the probability that the side to move wins, before the die is rolled.
    """
    errors = [abs(value(each) - table.value(each)) for each in table.sample(positions, seed, cubes=cubes)]
    return math.fsum(errors) / len(errors), mean_interval(errors)


def is_endgame_table(path: str | Path) -> bool:
    """Whether a file is a table of endgames, judged by its contents."""
    path = Path(path)
    return path.is_file() and read_header(path, FORMAT) is not None
