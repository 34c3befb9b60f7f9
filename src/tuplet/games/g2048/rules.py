"""The rules of 2048 on boards from 2x2 to 4x4, as kernels.

A board is sixteen exponents (0 empty, 1 a 2, 2 a 4, ...) of four bits, row by row from the top
left; cell c stands at bits 4c to 4c+3. A smaller board uses the first rows and columns:

    cells of 4x4     0  1  2  3        cells of 2x3     0  1  2  .
                     4  5  6  7                         4  5  6  .
                     8  9  a  b                         .  .  .  .
                     c  d  e  f                         .  .  .  .

Four bits end at 32768. The two tiles beyond, 65536 and 131072, carry a fifth bit in a second
word, `high` (bit 4c for cell c): exponent = nibble + 16 * high. A game is played on the first
word alone, with rows slid by table, until a slide makes a 65536; `slides` says so, and from
then on `wide_slides` plays it cell by cell.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.protocol import NO_WINNER, ONGOING, Int, Words, register_game
from tuplet.kernel import draw, inlined, kernel, local_array, pdep, pext, popcount

Array = np.ndarray[Any, Any]

UP, RIGHT, DOWN, LEFT = range(4)
LARGEST = 17  # the exponent of 131072
# Of all tiles together. A tile appears beside fifteen others at most, and fifteen different tiles
# add up to 2^18 - 8 at most: no game that begins within this limit exceeds it, or makes a 262144.
LARGEST_SUM = (1 << LARGEST + 1) - 4
LONGEST_GAME = 1 << 17  # moves: each spawn adds at least 2 to a sum that stays under 2^18

WIDE = np.uint64(5)  # the count `slides` returns when a 65536 appears
TOO_WIDE = np.uint64(1 << 30)  # a reward from the tables that says so: more than any four rows'

_NIBBLE = np.uint64(0xF)
_LINE = np.uint64(0xFFFF)
_SECOND_LINE = np.uint64(0xFFFF0000)
LOWEST = np.uint64(0x1111111111111111)
_ROW = np.uint64(0x000000000000FFFF)
_COLUMN = np.uint64(0x000F000F000F000F)
# The lowest bits of the cells that have another above, to the left, and to the right of them.
_BELOW = np.uint64(0x1111111111110000)
_RIGHT_OF = np.uint64(0x1110111011101110)
_LEFT_OF = np.uint64(0x0111011101110111)


class Rules2048(NamedTuple):
    """A board's size and the share of 4-tiles, with the tables that make slides fast.

    A table has an entry for each line of four exponents: the line slid towards its first cell
    (bits 0-15), slid towards its last (16-31), and the reward of either (from bit 32).
    """

    across: Array  # uint64[65536]: rows
    down: Array  # uint64[65536]: columns
    rows: int
    columns: int
    cells: np.uint64  # the lowest bit of each cell on the board
    fours: np.uint64  # probability of a 4, in units of 2^-32
    start: np.uint64 = np.uint64(0)  # what is on the board before the first two tiles


def as_share(spawn4: float) -> float:
    """The share of new tiles that are fours; UserError if it is not 0 to 1."""
    if not 0 <= spawn4 <= 1:
        raise UserError(f"spawn4 must be 0 to 1 (got {spawn4})")
    return spawn4


@lru_cache(maxsize=256)  # a share may be any number
def rules_for(rows: int = 4, columns: int = 4, spawn4: float = 0.1) -> Rules2048:
    """The rules for a board of this size where a share `spawn4` of new tiles are fours."""
    if not (2 <= rows <= 4 and 2 <= columns <= 4):
        raise UserError(f"a board has 2 to 4 rows and columns, not {rows}x{columns}")
    fours = np.uint64(round(as_share(spawn4) * 2**32))
    cells = sum(1 << 4 * (4 * r + c) for r in range(rows) for c in range(columns))
    return Rules2048(_table(columns), _table(rows), rows, columns, np.uint64(cells), fours)


@cache
def _table(length: int) -> Array:
    table = np.zeros(1 << 16, np.uint64)
    _fill_table(table, length)
    return table


@kernel
def slide_line(line: np.uint64, length: int, backwards: bool) -> tuple[np.uint64, np.uint64]:
    """One line slid towards its first cell (its last if `backwards`), and the reward.

    `line` has an exponent in each of its first `length` bytes; the result too.
    """
    out, reward, previous, at = np.uint64(0), np.uint64(0), np.uint64(0), -1
    for i in range(length):
        cell = length - 1 - i if backwards else i
        exponent = (line >> np.uint64(8 * cell)) & np.uint64(0xFF)
        if exponent == np.uint64(0):
            continue
        merges = exponent == previous
        if merges:
            exponent += np.uint64(1)
            reward += np.uint64(1) << exponent
            previous = np.uint64(0)
        else:
            at += 1
            previous = exponent
        to = np.uint64(8 * (length - 1 - at if backwards else at))
        out = (out & ~(np.uint64(0xFF) << to)) | (exponent << to)
    return out, reward


@kernel
def _fill_table(table: Array, length: int) -> None:
    for row in range(1 << (4 * length)):
        line = pdep(np.uint64(row), np.uint64(0x0F0F0F0F))
        first, reward = slide_line(line, length, False)
        last, _ = slide_line(line, length, True)
        if (first | last) & np.uint64(0x10101010) != np.uint64(0):
            reward = TOO_WIDE
        first, last = pext(first, np.uint64(0x0F0F0F0F)), pext(last, np.uint64(0x0F0F0F0F))
        table[row] = first | (last << np.uint64(16)) | (reward << np.uint64(32))


@inlined
def transpose(board: np.uint64) -> np.uint64:
    """Rows become columns."""
    a = (
        (board & np.uint64(0xF0F00F0FF0F00F0F))
        | ((board & np.uint64(0x0000F0F00000F0F0)) << np.uint64(12))
        | ((board & np.uint64(0x0F0F00000F0F0000)) >> np.uint64(12))
    )
    return (
        (a & np.uint64(0xFF00FF0000FF00FF))
        | ((a & np.uint64(0x00FF00FF00000000)) >> np.uint64(24))
        | ((a & np.uint64(0x00000000FF00FF00)) << np.uint64(24))
    )


@inlined
def slides(across: Array, down: Array, board: np.uint64, after: Array, rewards: Array, start: np.uint64) -> np.uint64:
    """The after-states that differ from `board`, in the order up, right, down, left.

    `across` and `down` are the rules' tables. Fills `after` and `rewards` (uint64) from `start`
    on without gaps and returns how many there are, or WIDE if a slide makes a 65536 (then what
    was written means nothing).
    """
    turned = transpose(board)
    d0, d1 = down[turned & _LINE], down[(turned >> np.uint64(16)) & _LINE]
    d2, d3 = down[(turned >> np.uint64(32)) & _LINE], down[turned >> np.uint64(48)]
    a0, a1 = across[board & _LINE], across[(board >> np.uint64(16)) & _LINE]
    a2, a3 = across[(board >> np.uint64(32)) & _LINE], across[board >> np.uint64(48)]
    half = np.uint64(32)
    gain_down = (d0 >> half) + (d1 >> half) + (d2 >> half) + (d3 >> half)
    gain_across = (a0 >> half) + (a1 >> half) + (a2 >> half) + (a3 >> half)
    if (gain_down | gain_across) >= TOO_WIDE:
        return WIDE

    # Every slide is written; a slide that changes nothing is written over by the next.
    n = start
    slid = transpose(_first(d0, d1, d2, d3))
    after[n] = slid
    rewards[n] = gain_down
    n += np.uint64(slid != board)
    slid = _last(a0, a1, a2, a3)
    after[n] = slid
    rewards[n] = gain_across
    n += np.uint64(slid != board)
    slid = transpose(_last(d0, d1, d2, d3))
    after[n] = slid
    rewards[n] = gain_down
    n += np.uint64(slid != board)
    slid = _first(a0, a1, a2, a3)
    after[n] = slid
    rewards[n] = gain_across
    return n + np.uint64(slid != board) - start


@kernel
def _first(e0: np.uint64, e1: np.uint64, e2: np.uint64, e3: np.uint64) -> np.uint64:
    """The board of four table entries' lines slid towards their first cells."""
    return (e0 & _LINE) | ((e1 & _LINE) << np.uint64(16)) | ((e2 & _LINE) << np.uint64(32)) | (e3 << np.uint64(48))


@kernel
def _last(e0: np.uint64, e1: np.uint64, e2: np.uint64, e3: np.uint64) -> np.uint64:
    """The same, towards their last cells."""
    return (
        ((e0 >> np.uint64(16)) & _LINE)
        | (e1 & _SECOND_LINE)
        | ((e2 & _SECOND_LINE) << np.uint64(16))
        | ((e3 & _SECOND_LINE) << np.uint64(32))
    )


@kernel
def slide(
    rules: Rules2048, board: np.uint64, high: np.uint64, move: int | np.signedinteger[Any]
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """The after-state (board, high) of one move and its reward, exact for every tile."""
    across = move in (LEFT, RIGHT)
    backwards = move in (RIGHT, DOWN)
    length = rules.columns if across else rules.rows
    out, out_high, reward = np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(4):
        mask = _ROW << np.uint64(16 * i) if across else _COLUMN << np.uint64(4 * i)
        line = pdep(pext(board, mask), np.uint64(0x0F0F0F0F))
        line |= pdep(pext(high, mask & LOWEST), np.uint64(0x10101010))
        line, gained = slide_line(line, length, backwards)
        out |= pdep(pext(line, np.uint64(0x0F0F0F0F)), mask)
        out_high |= pdep(pext(line, np.uint64(0x10101010)), mask & LOWEST)
        reward += gained
    return out, out_high, reward


@kernel
def motion(
    rows: int, columns: int, board: np.uint64, high: np.uint64, move: int | np.signedinteger[Any], targets: Array
) -> np.uint64:
    """Where a move takes each tile: `targets[cell]` is the cell it comes to.

    Returns the cells (bit 4c for cell c) in which two tiles meet.
    """
    across, backwards = move in (LEFT, RIGHT), move in (RIGHT, DOWN)
    lines, length = (rows, columns) if across else (columns, rows)
    meeting = np.uint64(0)
    for line in range(lines):
        previous, at = np.uint64(0), -1
        for i in range(length):
            step = length - 1 - i if backwards else i
            cell = 4 * line + step if across else 4 * step + line
            shift = np.uint64(4 * cell)
            exponent = ((board >> shift) & _NIBBLE) | (((high >> shift) & np.uint64(1)) << np.uint64(4))
            if exponent == np.uint64(0):
                continue
            merges = exponent == previous
            if not merges:
                at += 1
            previous = np.uint64(0) if merges else exponent
            place = length - 1 - at if backwards else at
            target = 4 * line + place if across else 4 * place + line
            targets[cell] = target
            if merges:
                meeting |= np.uint64(1) << np.uint64(4 * target)
    return meeting


@inlined
def quick_slide(
    across: Array, down: Array, board: np.uint64, move: int | np.signedinteger[Any]
) -> tuple[np.uint64, np.uint64]:
    """`slide` by the rules' tables; where the reward is TOO_WIDE, a 65536 appears: use `slide`."""
    if move & 1:  # right or left
        e0, e1 = across[board & _LINE], across[(board >> np.uint64(16)) & _LINE]
        e2, e3 = across[(board >> np.uint64(32)) & _LINE], across[board >> np.uint64(48)]
        slid = _last(e0, e1, e2, e3) if move == RIGHT else _first(e0, e1, e2, e3)
    else:
        turned = transpose(board)
        e0, e1 = down[turned & _LINE], down[(turned >> np.uint64(16)) & _LINE]
        e2, e3 = down[(turned >> np.uint64(32)) & _LINE], down[turned >> np.uint64(48)]
        slid = transpose(_last(e0, e1, e2, e3) if move == DOWN else _first(e0, e1, e2, e3))
    half = np.uint64(32)
    return slid, (e0 >> half) + (e1 >> half) + (e2 >> half) + (e3 >> half)


@inlined
def legal_bits(cells: np.uint64, board: np.uint64, high: np.uint64) -> np.uint64:
    """Which moves change the board: bit 0 is up, then right, down, left.

    A tile can go where its neighbour's cell is empty, or has its equal. No table is read, and all
    cells are looked at together.
    """
    filled = ~empty_cells(LOWEST, board, high) & LOWEST
    row, column = np.uint64(16), np.uint64(4)
    above = (board ^ (board << row)) | (high ^ (high << row))
    beside = (board ^ (board << column)) | (high ^ (high << column))
    above = empty_cells(_BELOW, above, np.uint64(0)) & filled  # equal to the one above
    beside = empty_cells(_RIGHT_OF, beside, np.uint64(0)) & filled  # to the one on the left
    up = above | (filled & ~(filled << row) & _BELOW)
    right = beside | (filled & ~(filled >> column) & (cells >> column) & _LEFT_OF)
    down = above | (filled & ~(filled >> row) & (cells >> row))
    left = beside | (filled & ~(filled << column) & _RIGHT_OF)
    zero, one = np.uint64(0), np.uint64(1)
    bits = np.uint64(up != zero) | (np.uint64(right != zero) << one)
    bits |= (np.uint64(down != zero) << np.uint64(2)) | (np.uint64(left != zero) << np.uint64(3))
    return bits


@kernel
def stuck(rules: Rules2048, board: np.uint64, high: np.uint64) -> bool:
    """Whether no move changes the board."""
    for move in range(4):
        slid, slid_high, _ = slide(rules, board, high, move)
        if slid != board or slid_high != high:
            return False
    return True


@kernel
def wide_slides(
    rules: Rules2048,
    board: np.uint64,
    high: np.uint64,
    after: Array,
    after_high: Array,
    rewards: Array,
    start: np.uint64,
) -> np.uint64:
    """`slides` for boards with tiles beyond 32768, or about to have one."""
    n = start
    for move in range(4):
        slid, slid_high, reward = slide(rules, board, high, move)
        if slid != board or slid_high != high:
            after[n], after_high[n], rewards[n] = slid, slid_high, reward
            n += np.uint64(1)
    return n - start


@kernel
def empty_cells(cells: np.uint64, board: np.uint64, high: np.uint64) -> np.uint64:
    """The lowest bit of each empty cell among the rules' `cells`."""
    taken = board | high
    taken |= taken >> np.uint64(1)
    taken |= taken >> np.uint64(2)
    return ~taken & cells


@inlined
def spawn(rules: Rules2048, board: np.uint64, high: np.uint64, bits: np.uint64) -> np.uint64:
    """The board with a new tile, chosen by 64 random bits, on one of its empty cells."""
    empty = empty_cells(rules.cells, board, high)
    nth = ((bits >> np.uint64(32)) * popcount(empty)) >> np.uint64(32)
    cell = pdep(np.uint64(1) << nth, empty)
    return board | (cell << np.uint64((bits & np.uint64(0xFFFFFFFF)) < rules.fours))


@kernel
def opening(rules: Rules2048, state: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The random stream's next state, and a board with the first two tiles."""
    zero = np.uint64(0)
    state, bits = draw(state)
    board = spawn(rules, rules.start, zero, bits)
    state, bits = draw(state)
    return state, spawn(rules, board, zero, bits)


@kernel
def view(board: np.uint64, high: np.uint64) -> np.uint64:
    """The board with tiles beyond 32768 seen as 32768: the input of a network."""
    return board | (high * _NIBBLE)


@kernel
def largest(board: np.uint64, high: np.uint64) -> np.uint64:
    """The largest exponent on the board."""
    best = np.uint64(0)
    for c in range(16):
        exponent = (board >> np.uint64(4 * c)) & _NIBBLE
        exponent |= ((high >> np.uint64(4 * c)) & np.uint64(1)) << np.uint64(4)
        best = max(best, exponent)
    return best


# 2048 as searches see it: a game for one player against chance. A position is the board and a second
# word: which cells hold tiles beyond 32768 (bits 0-15), whether a tile is about to appear (bit 16), and
# the points won since the search began (from bit 32). Boards that are equal at equal depth have equal
# points, so points do not keep a transposition table from finding them.

OVER = 1  # the ending
HIGHEST = 1e9  # more than any game's score

TILE_DUE = np.uint64(1 << 16)
_HIGH = np.uint64(0xFFFF)
_SCORE = np.uint64(32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@kernel
def _slide(rules: Rules2048, position: Words, move: Int) -> tuple[Words, bool]:
    """The after-state, and whether the move changes anything."""
    high = pdep(position[1] & _HIGH, LOWEST)
    board, out_high, reward = slide(rules, position[0], high, move)
    score = (position[1] >> _SCORE) + reward
    second = pext(out_high, LOWEST) | TILE_DUE | (score << _SCORE)
    return (board, second), board != position[0] or out_high != high


@inlined
def _players(game: Rules2048) -> Int:  # noqa: ARG001
    return 1


@inlined
def _side(game: Rules2048, position: Words) -> Int:  # noqa: ARG001
    return 0


@inlined
def _is_chance(game: Rules2048, position: Words) -> bool:  # noqa: ARG001
    return bool(position[1] & TILE_DUE != _ZERO)


@inlined
def _legal(game: Rules2048, position: Words, moves: Array, start: Int) -> Int:
    at = start
    for move in range(4):
        if _slide(game, position, move)[1]:
            moves[at] = move
            at += 1
    return at - start


@inlined
def _apply(game: Rules2048, position: Words, move: Int) -> Words:
    return _slide(game, position, move)[0]


@inlined
def _empty(game: Rules2048, position: Words) -> np.uint64:
    return empty_cells(game.cells, position[0], pdep(position[1] & _HIGH, LOWEST))


@inlined
def _count_outcomes(game: Rules2048, position: Words) -> Int:
    return 2 * np.int64(popcount(_empty(game, position)))


@inlined
def _probability(game: Rules2048, position: Words, outcome: Int) -> float:
    fours = np.float64(game.fours) * 2.0**-32
    share = fours if outcome & 1 else 1.0 - fours
    return share / np.float64(popcount(_empty(game, position)))


@inlined
def _apply_outcome(game: Rules2048, position: Words, outcome: Int) -> Words:
    """Outcome 2n is a 2 on empty cell n, 2n + 1 a 4."""
    cell = pdep(_ONE << np.uint64(outcome >> 1), _empty(game, position))
    return position[0] | (cell << np.uint64(outcome & 1)), position[1] & ~TILE_DUE


@inlined
def _ending(game: Rules2048, position: Words) -> Int:
    if position[1] & TILE_DUE == _ZERO:
        for move in range(4):
            if _slide(game, position, move)[1]:
                return ONGOING
        return OVER
    return ONGOING


@inlined
def _winner(game: Rules2048, ended: Int) -> Int:  # noqa: ARG001
    return NO_WINNER


@inlined
def _payoff(game: Rules2048, position: Words, ended: Int, rich: bool) -> float:  # noqa: ARG001
    return np.float64(position[1] >> _SCORE)


@inlined
def _value_range(game: Rules2048) -> tuple[float, float]:  # noqa: ARG001
    return -HIGHEST, HIGHEST


@inlined
def _estimate(game: Rules2048, position: Words) -> float:
    """The points so far, and a little for every empty cell."""
    return np.float64(position[1] >> _SCORE) + np.float64(popcount(_empty(game, position)))


@kernel
def _playout(
    game: Rules2048,
    position: Words,
    state: np.uint64,
    shortcuts: bool,  # noqa: ARG001
) -> tuple[np.uint64, Words]:
    """Random moves to the end, by the fast tables while no tile is beyond 32768."""
    across, down = game.across, game.down
    after, rewards = local_array(5, np.uint64), local_array(5, np.uint64)
    moves = local_array(4, np.uint8)
    board, second = position
    while second & _HIGH == _ZERO:
        if second & TILE_DUE != _ZERO:
            state, bits = draw(state)
            board = spawn(game, board, _ZERO, bits)
            second &= ~TILE_DUE
        count = slides(across, down, board, after, rewards, _ZERO)
        if count == _ZERO:
            return state, (board, second)
        if count > np.uint64(4):
            break
        state, bits = draw(state)
        pick = ((bits >> np.uint64(32)) * count) >> np.uint64(32)
        board = after[pick]
        second = (second + (rewards[pick] << _SCORE)) | TILE_DUE
    position = (board, second)
    while True:
        high = pdep(position[1] & _HIGH, LOWEST)
        state, bits = draw(state)
        if position[1] & TILE_DUE != _ZERO:
            board = spawn(game, position[0], high, bits)
            position = (board, position[1] & ~TILE_DUE)
            continue
        count = np.uint64(_legal(game, position, moves, 0))
        if count == _ZERO:
            return state, position
        pick = ((bits >> np.uint64(32)) * count) >> np.uint64(32)
        position = _apply(game, position, np.int64(moves[pick]))


register_game(
    Rules2048,
    4,
    players=_players,
    side=_side,
    is_chance=_is_chance,
    legal=_legal,
    apply=_apply,
    count_outcomes=_count_outcomes,
    probability=_probability,
    apply_outcome=_apply_outcome,
    ending=_ending,
    winner=_winner,
    payoff=_payoff,
    value_range=_value_range,
    estimate=_estimate,
    playout=_playout,
)
