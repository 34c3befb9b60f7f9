"""Boards of 2048 as environments play them: step, reset, masks and observations in one kernel.

A board is a row of eight words, a cache line of its own:

    BOARD, HIGH   the cells, as the rules have them
    LUCK          where the game's stream of random numbers is
    SEED, NEXT    game n of a seed has the stream that it has in `tuplet eval --seed`; the next n
    SCORE, STEPS  points and steps of the episode so far
    LEGAL         a bit for each legal move: up, right, down, left; and DONE, once it has ended

`setup`, a word for each setting, says what is shown, what is rewarded and what ends an episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tuplet.adapters import one_of
from tuplet.adapters.seeds import as_word
from tuplet.games.g2048.board import Board, Size, as_size
from tuplet.games.g2048.rules import (
    TOO_WIDE,
    Rules2048,
    empty_cells,
    legal_bits,
    opening,
    quick_slide,
    rules_for,
    slide,
    spawn,
)
from tuplet.kernel import draw, inlined, kernel, line_aligned, popcount, stream

Array = np.ndarray[Any, Any]
Int = int | np.signedinteger[Any]
Place = int | np.uint64

OBSERVATIONS = ("exponents", "onehot", "afterstates")
REWARDS = ("points", "log", "merges")
ILLEGAL = ("ignore", "end", "error")
KEEP, NEXT_STEP, SAME_STEP = range(3)  # what becomes of an episode that has ended

BOARD, HIGH, LUCK, SEED, NEXT, SCORE, STEPS, LEGAL = range(8)
ROWS, COLUMNS, CELLS, FOURS, SHOWN, REWARDED, REFUSED, RESETS, LIMIT = range(9)  # of `setup`
EXPONENTS, ONEHOT, AFTERSTATES = range(3)
POINTS, LOG, MERGES = range(3)
IGNORED, ENDING, FORBIDDEN = range(3)
GOES_ON, ENDED, WAS_ILLEGAL, NEEDS_RESET = range(4)  # what `step_one` returns

DONE = np.uint64(16)
_ZERO, _ONE, _FOUR = np.uint64(0), np.uint64(1), np.uint64(4)
_NIBBLE = np.uint64(15)
_NEAR = np.uint64(128)


@dataclass(frozen=True)
class EnvConfig:
    """What an environment is made from."""

    size: Size
    spawn4: float
    observation: str
    reward: str
    illegal: str

    @classmethod
    def of(cls, board: str | Size, spawn4: float, observation: str, reward: str, illegal: str) -> EnvConfig:
        """Terms from what users give; ValueError says what there is to choose from."""
        for name, given, known in (
            ("observation", observation, OBSERVATIONS),
            ("reward", reward, REWARDS),
            ("illegal", illegal, ILLEGAL),
        ):
            one_of(name, given, known)
        size = as_size(board)
        rules_for(*size, spawn4)  # refuses a share that is none
        return cls(size, float(spawn4), observation, reward, illegal)

    @property
    def rules(self) -> Rules2048:
        """The rules of the game."""
        return rules_for(*self.size, self.spawn4)

    @property
    def largest(self) -> int:
        """The exponent of the largest tile that such a board can have."""
        return self.size[0] * self.size[1] + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation; one-hot has a plane for each exponent, 0 the empty cells."""
        planes = {"exponents": (), "onehot": (self.largest + 1,), "afterstates": (4,)}
        return planes[self.observation] + self.size

    def setup(self, resets: int = KEEP, limit: int = 0) -> Array:
        """The settings as kernels take them; an episode is cut off after `limit` steps, if any."""
        rules = self.rules
        return np.array(
            [
                *self.size,
                rules.cells,
                rules.fours,
                OBSERVATIONS.index(self.observation),
                REWARDS.index(self.reward),
                ILLEGAL.index(self.illegal),
                resets,
                limit,
            ],
            np.uint64,
        )


def new_games(count: int) -> Array:
    """Room for so many boards, on none of which a game has begun."""
    games = line_aligned(8 * count, np.uint64).reshape(count, 8)
    games[:, LEGAL] = DONE
    return games


def first_legal(rules: Rules2048, seed: int) -> int:
    """The bits of the moves that are legal on the first board of a seed."""
    _, board = opening(rules, np.uint64(stream(np.uint64(as_word(seed)), _ZERO)))
    return int(legal_bits(rules.cells, np.uint64(board), _ZERO))


def board_of(game: Array, size: Size) -> Board:
    """A row of the games as a board that people hold."""
    return Board.from_packed(int(game[BOARD]), int(game[HIGH]), *size)


class KernelSettings(NamedTuple):
    """What a kernel is told, in place of `Rules2048`: the same, but for the tables, and the settings.

    (Numba counts references where it hands over arrays in a tuple, or to a function that uses them
    in some of its branches only. Both took as long as the step itself, and threads wait for each
    other there: what is called for each board takes and returns words.)
    """

    rows: np.int64
    columns: np.int64
    cells: np.uint64
    fours: np.uint64
    start: np.uint64
    rewarded: np.uint64


@inlined
def _told(setup: Array) -> Any:
    rows, columns = np.int64(setup[ROWS]), np.int64(setup[COLUMNS])
    return KernelSettings(rows, columns, setup[CELLS], setup[FOURS], _ZERO, setup[REWARDED])


@inlined
def _begun(told: Any, seed: np.uint64, number: np.uint64) -> Any:
    """A game of a seed: its board, where its luck is, and the moves that are legal."""
    luck, board = opening(told, stream(seed, number))
    return board, luck, legal_bits(told.cells, board, _ZERO)


@inlined
def _slid(told: Any, across: Array, down: Array, board: np.uint64, high: np.uint64, move: Int) -> Any:
    """The after-state of a move and its points, by table where that can be."""
    slid, gained = quick_slide(across, down, board, move)
    slid_high = _ZERO
    if gained >= TOO_WIDE or high != _ZERO:
        slid, slid_high, gained = slide(told, board, high, move)
    return slid, slid_high, gained


@inlined
def _reward(
    told: Any, board: np.uint64, high: np.uint64, slid: np.uint64, slid_high: np.uint64, gained: np.uint64
) -> float:
    """What a move brings, in the kind that is asked for."""
    if told.rewarded == np.uint64(POINTS):
        return np.float64(gained)
    if told.rewarded == np.uint64(LOG):
        return np.log2(np.float64(gained)) if gained != _ZERO else 0.0
    before = popcount(empty_cells(told.cells, board, high))
    return np.float64(popcount(empty_cells(told.cells, slid, slid_high)) - before)


@kernel
def _begin(setup: Array, games: Array, i: Place) -> None:
    """Begin the next game of a board's seed."""
    number = games[i, NEXT]
    board, luck, legal = _begun(_told(setup), games[i, SEED], number)
    games[i, BOARD], games[i, HIGH], games[i, LUCK] = board, _ZERO, luck
    games[i, NEXT], games[i, LEGAL] = number + _ONE, legal
    games[i, SCORE], games[i, STEPS] = _ZERO, _ZERO


@inlined
def _play(across: Array, down: Array, told: Any, games: Array, i: Place, move: Int) -> float:
    """A legal move and the tile after it; returns the reward."""
    board, high = games[i, BOARD], games[i, HIGH]
    slid, slid_high, gained = _slid(told, across, down, board, high, move)
    luck, bits = draw(games[i, LUCK])
    after = spawn(told, slid, slid_high, bits)
    games[i, BOARD], games[i, HIGH], games[i, LUCK] = after, slid_high, luck
    games[i, LEGAL] = legal_bits(told.cells, after, slid_high)
    games[i, SCORE] += gained
    return _reward(told, board, high, slid, slid_high, gained)


@kernel
def _step(
    across: Array,
    down: Array,
    setup: Array,
    games: Array,
    moves: Array,
    rewards: Array,
    terminated: Array,
    truncated: Array,
    first: Place,
    end: Place,
) -> int:
    """A step of some boards, each by its move; returns how many episodes have ended."""
    told, limit, ended = _told(setup), setup[LIMIT], 0
    ends = setup[REFUSED] == np.uint64(ENDING)
    for i in range(first, end):
        if games[i, LEGAL] & DONE != _ZERO:
            _begin(setup, games, i)
            rewards[i], terminated[i], truncated[i] = 0.0, False, False
            continue
        steps, reward = games[i, STEPS] + _ONE, 0.0
        games[i, STEPS] = steps
        if (games[i, LEGAL] >> np.uint64(moves[i])) & _ONE != _ZERO:
            reward = _play(across, down, told, games, i, moves[i])
        elif ends:
            games[i, LEGAL] = _ZERO
        over, cut = games[i, LEGAL] == _ZERO, limit != _ZERO and steps >= limit
        rewards[i], terminated[i], truncated[i] = reward, over, cut
        if over or cut:
            games[i, LEGAL] |= DONE
            ended += 1
    return ended


@kernel
def _show(
    across: Array,
    down: Array,
    setup: Array,
    games: Array,
    observations: Array,
    gains: Array,
    masks: Array,
    scores: Array,
    first: Place,
    end: Place,
) -> None:
    """Write what players see of some boards: observations, masks, scores, what moves bring."""
    shown, rows, columns = setup[SHOWN], setup[ROWS], setup[COLUMNS]
    cells = rows * columns
    for i in range(first, end):
        legal = games[i, LEGAL]
        for move in range(_FOUR):
            masks[_FOUR * i + move] = (legal >> move) & _ONE
        scores[i] = np.int64(games[i, SCORE])
    if shown == np.uint64(EXPONENTS):
        for i in range(first, end):
            _write(games[i, BOARD], games[i, HIGH], rows, columns, observations, i * cells)
    elif shown == np.uint64(ONEHOT):
        size = (cells + np.uint64(2)) * cells
        for place in range(first * size, end * size):
            observations[place] = 0
        for i in range(first, end):
            board, high, at = games[i, BOARD], games[i, HIGH], i * size
            for row in range(rows):
                for column in range(columns):
                    shift = np.uint64(16) * row + _FOUR * column
                    exponent = (board >> shift) & _NIBBLE | ((high >> shift) & _ONE) << _FOUR
                    observations[at + exponent * cells + row * columns + column] = 1
    else:
        told = _told(setup)
        for i in range(first, end):
            board, high, legal = games[i, BOARD], games[i, HIGH], games[i, LEGAL]
            for move in range(4):
                at = _FOUR * i + np.uint64(move)
                slid, slid_high, gained = board, high, 0.0
                if (legal >> np.uint64(move)) & _ONE != _ZERO:
                    slid, slid_high, points = _slid(told, across, down, board, high, move)
                    gained = _reward(told, board, high, slid, slid_high, points)
                gains[at] = gained
                _write(slid, slid_high, rows, columns, observations, at * cells)


@inlined
def _write(board: np.uint64, high: np.uint64, rows: np.uint64, columns: np.uint64, out: Array, at: np.uint64) -> None:
    """A board's exponents, row by row."""
    if rows * columns == np.uint64(16):
        for cell in range(np.uint64(16)):
            out[at + cell] = (board >> (_FOUR * cell)) & _NIBBLE
    else:
        for row in range(rows):
            for column in range(columns):
                shift = np.uint64(16) * row + _FOUR * column
                out[at + row * columns + column] = (board >> shift) & _NIBBLE
    if high != _ZERO:  # tiles beyond 32768, which 4x4 alone can have
        for cell in range(np.uint64(16)):
            out[at + cell] |= ((high >> (_FOUR * cell)) & _ONE) << _FOUR


@kernel
def step_one(
    across: Array,
    down: Array,
    setup: Array,
    games: Array,
    move: int,
    observation: Array,
    gains: Array,
    mask: Array,
    score: Array,
) -> tuple[float, int]:
    """A step of the only board: its reward, and what became of it.

    Whatever is refused changes nothing. (A single environment spends its time in calls: arrays
    are handed over one by one, as Numba takes thrice as long for a tuple of them.)
    """
    zero, status, reward = _ZERO, GOES_ON, 0.0
    legal = games[zero, LEGAL]
    if legal & DONE != zero:
        return reward, NEEDS_RESET
    legally = 0 <= move < 4 and (legal >> np.uint64(move)) & _ONE != zero
    if not legally and (setup[REFUSED] == np.uint64(FORBIDDEN) or not 0 <= move < 4):
        return reward, WAS_ILLEGAL
    if legally:
        reward = _play(across, down, _told(setup), games, zero, move)
    elif setup[REFUSED] == np.uint64(ENDING):
        games[zero, LEGAL] = zero
    if games[zero, LEGAL] == zero:
        games[zero, LEGAL] |= DONE
        status = ENDED
    _show(across, down, setup, games, observation, gains, mask, score, zero, _ONE)
    return reward, status


@kernel
def step_games(
    across: Array,
    down: Array,
    setup: Array,
    games: Array,
    moves: Array,
    observations: Array,
    gains: Array,
    masks: Array,
    scores: Array,
    rewards: Array,
    terminated: Array,
    truncated: Array,
    last_observations: Array,
    last_gains: Array,
    last_masks: Array,
    last_scores: Array,
    first: Place,
    end: Place,
) -> int:
    """A step of the boards from `first` to before `end`, each by its move; returns how many ended.

    An episode that has ended begins anew, by NEXT_STEP instead of the next move, by SAME_STEP at
    once; what was seen last is then written to the arrays of `last_`.
    """
    at_once, ended = setup[RESETS] == np.uint64(SAME_STEP), 0
    for at in range(first, end, _NEAR):  # as many as the nearest cache holds
        to = min(np.uint64(at) + _NEAR, end)
        some = _step(across, down, setup, games, moves, rewards, terminated, truncated, at, to)
        ended += some
        if at_once and some > 0:
            for i in range(at, to):
                if games[i, LEGAL] & DONE != _ZERO:
                    _show(
                        across, down, setup, games, last_observations, last_gains, last_masks, last_scores, i, i + _ONE
                    )
                    _begin(setup, games, i)
        _show(across, down, setup, games, observations, gains, masks, scores, at, to)
    return ended


@kernel
def reset_games(
    across: Array,
    down: Array,
    setup: Array,
    games: Array,
    chosen: Array,
    observations: Array,
    gains: Array,
    masks: Array,
    scores: Array,
    first: Place,
    end: Place,
) -> int:
    """Begin a game on the chosen boards, and show all; returns how many have begun."""
    begun = 0
    for i in range(first, end):
        if chosen[i]:
            begun += 1
            _begin(setup, games, i)
    _show(across, down, setup, games, observations, gains, masks, scores, first, end)
    return begun
