"""2048 as the generic searches see it: a game for one player, against chance.

A position is the board and a second word: which cells hold tiles beyond 32768 (bits 0-15),
whether a tile is about to appear (bit 16), and the points won since the search began (from bit
32). Boards that are equal at equal depth have equal points, so that points do not keep a
transposition table from finding them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.board import Board
from tuplet.games.g2048.rules import Rules, empty_cells, slide, slides, spawn
from tuplet.games.game import NOBODY, ONGOING, Int, Words, register_game
from tuplet.kernel import draw, inlined, kernel, pdep, pext, popcount

Array = np.ndarray[Any, Any]

OVER = 1
HIGHEST = 1e9  # more than any game's score

LOWEST = np.uint64(0x1111111111111111)
_HIGH = np.uint64(0xFFFF)
TILE_DUE = np.uint64(1 << 16)
_SCORE = np.uint64(32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Game2048(NamedTuple):
    """The game, told from others by its type."""

    rules: Rules


def position_of(board: Board) -> Words:
    """A board before a move, with no points yet."""
    low, high = board.words
    return low, pext(high, LOWEST)


@kernel
def _slide(rules: Rules, position: Words, move: Int) -> tuple[Words, bool]:
    """The after-state, and whether the move changes anything."""
    high = pdep(position[1] & _HIGH, LOWEST)
    board, out_high, reward = slide(rules, position[0], high, move)
    score = (position[1] >> _SCORE) + reward
    second = pext(out_high, LOWEST) | TILE_DUE | (score << _SCORE)
    return (board, second), board != position[0] or out_high != high


@inlined
def _players(game: Game2048) -> Int:  # noqa: ARG001
    return 1


@inlined
def _side(game: Game2048, position: Words) -> Int:  # noqa: ARG001
    return 0


@inlined
def _is_chance(game: Game2048, position: Words) -> bool:  # noqa: ARG001
    return bool(position[1] & TILE_DUE != _ZERO)


@inlined
def _legal(game: Game2048, position: Words, moves: Array, start: Int) -> Int:
    at = start
    for move in range(4):
        if _slide(game.rules, position, move)[1]:
            moves[at] = move
            at += 1
    return at - start


@inlined
def _apply(game: Game2048, position: Words, move: Int) -> Words:
    return _slide(game.rules, position, move)[0]


@inlined
def _empty(game: Game2048, position: Words) -> np.uint64:
    return empty_cells(game.rules.cells, position[0], pdep(position[1] & _HIGH, LOWEST))


@inlined
def _outcomes(game: Game2048, position: Words) -> Int:
    return 2 * np.int64(popcount(_empty(game, position)))


@inlined
def _likelihood(game: Game2048, position: Words, outcome: Int) -> float:
    fours = np.float64(game.rules.fours) * 2.0**-32
    share = fours if outcome & 1 else 1.0 - fours
    return share / np.float64(popcount(_empty(game, position)))


@inlined
def _chance(game: Game2048, position: Words, outcome: Int) -> Words:
    """Outcome 2n is a 2 on empty cell n, 2n + 1 a 4."""
    cell = pdep(_ONE << np.uint64(outcome >> 1), _empty(game, position))
    return position[0] | (cell << np.uint64(outcome & 1)), position[1] & ~TILE_DUE


@inlined
def _ending(game: Game2048, position: Words) -> Int:
    if position[1] & TILE_DUE == _ZERO:
        for move in range(4):
            if _slide(game.rules, position, move)[1]:
                return ONGOING
        return OVER
    return ONGOING


@inlined
def _winner(game: Game2048, ended: Int) -> Int:  # noqa: ARG001
    return NOBODY


@inlined
def _payoff(game: Game2048, position: Words, ended: Int, rich: bool) -> float:  # noqa: ARG001
    return np.float64(position[1] >> _SCORE)


@inlined
def _value_range(game: Game2048) -> tuple[float, float]:  # noqa: ARG001
    return -HIGHEST, HIGHEST


@inlined
def _estimate(game: Game2048, position: Words) -> float:
    """The points so far, and a little for every empty cell."""
    return np.float64(position[1] >> _SCORE) + np.float64(popcount(_empty(game, position)))


@kernel
def _playout(
    game: Game2048,
    position: Words,
    state: np.uint64,
    shortcuts: bool,  # noqa: ARG001
) -> tuple[np.uint64, Words]:
    """Random moves to the end, by the fast tables while no tile is beyond 32768."""
    rules = game.rules
    across, down = rules.across, rules.down
    after, rewards = np.zeros(5, np.uint64), np.zeros(5, np.uint64)
    moves = np.zeros(4, np.uint8)
    board, second = position
    while second & _HIGH == _ZERO:
        if second & TILE_DUE != _ZERO:
            state, bits = draw(state)
            board = spawn(rules, board, _ZERO, bits)
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
            board = spawn(rules, position[0], high, bits)
            position = (board, position[1] & ~TILE_DUE)
            continue
        count = np.uint64(_legal(game, position, moves, 0))
        if count == _ZERO:
            return state, position
        pick = ((bits >> np.uint64(32)) * count) >> np.uint64(32)
        position = _apply(game, position, np.int64(moves[pick]))


register_game(
    Game2048,
    4,
    players=_players,
    side=_side,
    is_chance=_is_chance,
    legal=_legal,
    apply=_apply,
    outcomes=_outcomes,
    likelihood=_likelihood,
    chance=_chance,
    ending=_ending,
    winner=_winner,
    payoff=_payoff,
    value_range=_value_range,
    estimate=_estimate,
    playout=_playout,
)
