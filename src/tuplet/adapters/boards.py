"""Boards of 2048 for environments: step, reset, masks and observations in one kernel.

A board is a row of eight words, one cache line:

    BOARD, HIGH   the cells, as the rules have them
    STATE         the state of the game's random stream
    SEED, NEXT    the seed and the number of its next game; game n has the stream of `tuplet eval --seed`
    SCORE, STEPS  points and steps of the episode so far
    LEGAL         a bit for each legal move (up, right, down, left), and DONE once the episode has ended

`setup` has a word for each setting: what is observed, what is rewarded, what ends an episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tuplet.adapters import one_of
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
KEEP, NEXT_STEP, SAME_STEP = range(3)  # what happens when an episode has ended

BOARD, HIGH, STATE, SEED, NEXT, SCORE, STEPS, LEGAL = range(8)
ROWS, COLUMNS, CELLS, FOURS, OBSERVED, REWARDED, REFUSED, RESETS, LIMIT = range(9)  # of `setup`
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
    """The settings of an environment."""

    size: Size
    spawn4: float
    observation: str
    reward: str
    illegal: str

    @classmethod
    def of(cls, board: str | Size, spawn4: float, observation: str, reward: str, illegal: str) -> EnvConfig:
        """Checked settings."""
        for name, value, known in (
            ("observation", observation, OBSERVATIONS),
            ("reward", reward, REWARDS),
            ("illegal", illegal, ILLEGAL),
        ):
            one_of(name, value, known)
        size = as_size(board)
        rules_for(*size, spawn4)  # checks spawn4
        return cls(size, float(spawn4), observation, reward, illegal)

    @property
    def rules(self) -> Rules2048:
        """The rules of the game."""
        return rules_for(*self.size, self.spawn4)

    @property
    def largest(self) -> int:
        """The exponent of the largest tile possible on the board."""
        return self.size[0] * self.size[1] + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation; one-hot has a plane for each exponent, 0 the empty cells."""
        planes = {"exponents": (), "onehot": (self.largest + 1,), "afterstates": (4,)}
        return planes[self.observation] + self.size

    def setup(self, resets: int = KEEP, limit: int = 0) -> Array:
        """The settings as kernels take them; `limit` steps truncate an episode (0: never)."""
        names = ((OBSERVATIONS, self.observation), (REWARDS, self.reward), (ILLEGAL, self.illegal))
        codes = [known.index(name) for known, name in names]
        return np.array([*self.size, self.rules.cells, self.rules.fours, *codes, resets, limit], np.uint64)


def new_games(count: int) -> Array:
    """An array of `count` boards; no game has begun."""
    games = line_aligned(8 * count, np.uint64).reshape(count, 8)
    games[:, LEGAL] = DONE
    return games


def board_of(game: Array, size: Size) -> Board:
    """A row of the games as a `Board`."""
    return Board.from_packed(int(game[BOARD]), int(game[HIGH]), *size)


class KernelSettings(NamedTuple):
    """The rules without their tables, and settings, as words.

    Numba counts references when arrays are passed in a tuple, or to a function that uses them in some branches only.
    Both took as long as the step itself, and made threads wait for each other.
    """

    rows: np.int64
    columns: np.int64
    cells: np.uint64
    fours: np.uint64
    start: np.uint64
    rewarded: np.uint64


@inlined
def _kernel_settings(setup: Array) -> Any:
    rows, columns = np.int64(setup[ROWS]), np.int64(setup[COLUMNS])
    return KernelSettings(rows, columns, setup[CELLS], setup[FOURS], _ZERO, setup[REWARDED])


@inlined
def _begun(settings: Any, seed: np.uint64, number: np.uint64) -> Any:
    """Game `number` of a seed: its board, random state and legal moves."""
    state, board = opening(settings, stream(seed, number))
    return board, state, legal_bits(settings.cells, board, _ZERO)


@inlined
def _slid(settings: Any, across: Array, down: Array, board: np.uint64, high: np.uint64, move: Int) -> Any:
    """The after-state of a move and its points, by table if possible."""
    slid, gained = quick_slide(across, down, board, move)
    slid_high = _ZERO
    if gained >= TOO_WIDE or high != _ZERO:
        slid, slid_high, gained = slide(settings, board, high, move)
    return slid, slid_high, gained


@inlined
def _reward(
    settings: Any, board: np.uint64, high: np.uint64, slid: np.uint64, slid_high: np.uint64, gained: np.uint64
) -> float:
    """The reward of a move, of the kind that `settings` says."""
    if settings.rewarded == np.uint64(POINTS):
        return np.float64(gained)
    if settings.rewarded == np.uint64(LOG):
        return np.log2(np.float64(gained)) if gained != _ZERO else 0.0
    before = popcount(empty_cells(settings.cells, board, high))
    return np.float64(popcount(empty_cells(settings.cells, slid, slid_high)) - before)


@kernel
def _begin(setup: Array, games: Array, i: Place) -> None:
    """Begin the next game of a board's seed."""
    number = games[i, NEXT]
    board, state, legal = _begun(_kernel_settings(setup), games[i, SEED], number)
    games[i, BOARD], games[i, HIGH], games[i, STATE] = board, _ZERO, state
    games[i, NEXT], games[i, LEGAL] = number + _ONE, legal
    games[i, SCORE], games[i, STEPS] = _ZERO, _ZERO


@inlined
def _play(across: Array, down: Array, settings: Any, games: Array, i: Place, move: Int) -> float:
    """Play a legal move and spawn a tile; returns the reward."""
    board, high = games[i, BOARD], games[i, HIGH]
    slid, slid_high, gained = _slid(settings, across, down, board, high, move)
    state, bits = draw(games[i, STATE])
    after = spawn(settings, slid, slid_high, bits)
    games[i, BOARD], games[i, HIGH], games[i, STATE] = after, slid_high, state
    games[i, LEGAL] = legal_bits(settings.cells, after, slid_high)
    games[i, SCORE] += gained
    return _reward(settings, board, high, slid, slid_high, gained)


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
    """Step some boards, each by its move; returns how many episodes have ended."""
    settings, limit, ended = _kernel_settings(setup), setup[LIMIT], 0
    ends = setup[REFUSED] == np.uint64(ENDING)
    for i in range(first, end):
        if games[i, LEGAL] & DONE != _ZERO:
            _begin(setup, games, i)
            rewards[i], terminated[i], truncated[i] = 0.0, False, False
            continue
        steps, reward = games[i, STEPS] + _ONE, 0.0
        games[i, STEPS] = steps
        if (games[i, LEGAL] >> np.uint64(moves[i])) & _ONE != _ZERO:
            reward = _play(across, down, settings, games, i, moves[i])
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
    """Write observations, masks, scores and the rewards of moves of some boards."""
    observed, rows, columns = setup[OBSERVED], setup[ROWS], setup[COLUMNS]
    cells = rows * columns
    for i in range(first, end):
        legal = games[i, LEGAL]
        for move in range(_FOUR):
            masks[_FOUR * i + move] = (legal >> move) & _ONE
        scores[i] = np.int64(games[i, SCORE])
    if observed == np.uint64(EXPONENTS):
        for i in range(first, end):
            _write(games[i, BOARD], games[i, HIGH], rows, columns, observations, i * cells)
    elif observed == np.uint64(ONEHOT):
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
        settings = _kernel_settings(setup)
        for i in range(first, end):
            board, high, legal = games[i, BOARD], games[i, HIGH], games[i, LEGAL]
            for move in range(4):
                at = _FOUR * i + np.uint64(move)
                slid, slid_high, gained = board, high, 0.0
                if (legal >> np.uint64(move)) & _ONE != _ZERO:
                    slid, slid_high, points = _slid(settings, across, down, board, high, move)
                    gained = _reward(settings, board, high, slid, slid_high, points)
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
    """Step a single board: its reward and status. A refused move changes nothing.

    A single environment spends its time in calls: arrays are passed one by one, as Numba takes three times as long
    for a tuple of them.
    """
    zero, status, reward = _ZERO, GOES_ON, 0.0
    legal = games[zero, LEGAL]
    if legal & DONE != zero:
        return reward, NEEDS_RESET
    legally = 0 <= move < 4 and (legal >> np.uint64(move)) & _ONE != zero
    if not legally and (setup[REFUSED] == np.uint64(FORBIDDEN) or not 0 <= move < 4):
        return reward, WAS_ILLEGAL
    if legally:
        reward = _play(across, down, _kernel_settings(setup), games, zero, move)
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
    """Step the boards from `first` to before `end`, each by its move; returns how many episodes ended.

    An ended episode begins again: by NEXT_STEP instead of the next move, by SAME_STEP at once; then the last
    observation is written to the `last_` arrays.
    """
    at_once, ended = setup[RESETS] == np.uint64(SAME_STEP), 0
    for at in range(first, end, _NEAR):  # as many as fit the first-level cache
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
