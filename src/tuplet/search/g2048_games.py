"""Whole games of 2048, played by search."""

from __future__ import annotations

import numpy as np

from tuplet.games.g2048.rules import Rules, largest, opening, slide, spawn
from tuplet.games.g2048.statistics import Results
from tuplet.kernel import draw, kernel, stream
from tuplet.search.g2048 import LeafValues, Workspace, look


@kernel
def play_games(
    rules: Rules,
    leaf_values: LeafValues,
    depth: np.int64 | int,
    seconds: float,
    work: Workspace,
    seed: np.uint64,
    first: int,
    games: int,
    results: Results,
) -> int:
    """Play games number `first` to `first + games` by search, until the workspace's `stop` is set.

    Returns how many were finished. `results` begins with the first of them; a game's length there
    grows as the game goes.
    """
    values = work.root_values
    for game in range(first, first + games):
        state, board = opening(rules, stream(seed, np.uint64(game)))
        high, score, length = np.uint64(0), np.int64(0), 0
        while True:
            look(rules, leaf_values, board, high, np.int64(depth), seconds, work)
            best = -1
            for move in range(4):
                if not np.isnan(values[move]) and (best < 0 or values[move] > values[best]):
                    best = move
            if best < 0:
                break
            if work.stop[0]:
                return game - first
            board, high, reward = slide(rules, board, high, best)
            score += np.int64(reward)
            length += 1
            results.lengths[game - first] = length
            state, bits = draw(state)
            board = spawn(rules, board, high, bits)
        results.scores[game - first] = score
        results.tiles[game - first] = largest(board, high)
    return games
