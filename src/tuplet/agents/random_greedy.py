"""`greedy`, and whole games of 2048 by `random` and `greedy`, compiled.

Compiled games draw from the same streams and break ties as the agents do, so they are the same games.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tuplet.games.g2048.rules import WIDE, Rules2048, largest, opening, slides, spawn, wide_slides
from tuplet.games.g2048.statistics import Results
from tuplet.games.protocol import Array
from tuplet.kernel import draw, inlined, kernel, line_aligned, stream

_LINE = 8  # words of a cache line
_ZERO, _HALF = np.uint64(0), np.uint64(32)


class GreedyAgent:
    """The move of the largest reward, the first of equals (up, right, down, left)."""

    name = "greedy"

    @classmethod
    def make(cls, *_: Any, **__: Any) -> GreedyAgent:
        """The agent that a text names."""
        return cls()

    def choose(self, position: Any) -> object:
        """The legal move that earns most now."""
        after = position.after_states()
        return max(after, key=lambda move: after[move][1])

    def fresh(self) -> GreedyAgent:
        """The same agent, for another thread."""
        return self


class Workspace(NamedTuple):
    """A thread's working memory, made once: the after-states of a board."""

    after: Array  # uint64[4]
    high: Array  # uint64[4]: the marks of tiles beyond 32768
    rewards: Array  # uint64[4]


def make_workspace() -> Workspace:
    """Arrays with a cache line each, and one on either side: no two threads write to one."""
    block = line_aligned(5 * _LINE, np.uint64)
    return Workspace(*(block[start * _LINE :][:_LINE] for start in (1, 2, 3)))


@inlined
def _lay_out(rules: Rules2048, board: np.uint64, high: np.uint64, workspace: Workspace) -> tuple[np.uint64, bool]:
    """The number of legal moves, and whether their after-states may have tiles beyond 32768."""
    if high == _ZERO:
        count = slides(rules.across, rules.down, board, workspace.after, workspace.rewards, _ZERO)
        if count != WIDE:
            return count, False
    return wide_slides(rules, board, high, workspace.after, workspace.high, workspace.rewards, _ZERO), True


@kernel
def play_games(
    rules: Rules2048,
    greedy: bool,
    player_seed: np.uint64,
    seed: np.uint64,
    first: int,
    results: Results,
    workspace: Workspace,
    stop: Array,
) -> int:
    """Play games from number `first` on until `results` is full or `stop[0]` is set.

    Moves are `greedy`, or drawn from the streams of `player_seed`. Returns the number of finished games.
    """
    for game in range(len(results.scores)):
        if stop[0]:
            return game
        number = np.uint64(first + game)
        state, board = opening(rules, stream(seed, number))
        own, high, score, length = stream(player_seed, number), _ZERO, _ZERO, 0
        while True:
            count, wide = _lay_out(rules, board, high, workspace)
            if count == _ZERO:
                break
            move = _ZERO
            if greedy:
                for n in range(np.uint64(1), count):
                    move = np.uint64(n) if workspace.rewards[n] > workspace.rewards[move] else move
            else:
                own, bits = draw(own)
                move = ((bits >> _HALF) * count) >> _HALF
            high = workspace.high[move] if wide else _ZERO
            score += workspace.rewards[move]
            length += 1
            state, bits = draw(state)
            board = spawn(rules, workspace.after[move], high, bits)
        results.scores[game], results.lengths[game] = np.int64(score), length
        results.tiles[game] = largest(board, high)
    return len(results.scores)
