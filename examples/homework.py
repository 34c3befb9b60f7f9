#!/usr/bin/env python3
"""The homework: a program that learns 2048, as the course's reports wrote it, in plain Python.

    python examples/homework.py --games 1000 --target afterstate
    python examples/homework.py --games 1000 --target state

It needs only Python. The five parts that every report describes have the same names here:
`estimate`, `update`, `indexof`, the best move, and `update_episode`. `tuplet train --recipe
homework` makes the same updates, more than a thousand times as fast; docs/methods explains them.

A board is a list of 16 exponents, row by row: 0 is an empty cell, 1 a 2, 2 a 4, ... 11 a 2048.
One step of a game is

    state --move, reward--> after-state --a tile appears--> next state
"""

import argparse
import random
import sys
from array import array
from collections import Counter

# ------------------------------------------------------------------- the rules

MOVES = ("up", "right", "down", "left")
LINES = {  # the cells of each line, the wall that tiles slide to first
    "up": [[c, c + 4, c + 8, c + 12] for c in range(4)],
    "right": [[r + 3, r + 2, r + 1, r] for r in (0, 4, 8, 12)],
    "down": [[c + 12, c + 8, c + 4, c] for c in range(4)],
    "left": [[r, r + 1, r + 2, r + 3] for r in (0, 4, 8, 12)],
}


def slide(board, move):
    """The after-state and the reward of a move (the same board, if the move is illegal)."""
    after, reward = [0] * 16, 0
    for line in LINES[move]:
        tiles = [board[cell] for cell in line if board[cell]]
        for cell in line:
            if len(tiles) > 1 and tiles[0] == tiles[1]:  # a pair merges, once
                after[cell] = tiles[0] + 1
                reward += 2 ** after[cell]
                tiles = tiles[2:]
            elif tiles:
                after[cell] = tiles.pop(0)
    return after, reward


def legal_moves(board):
    """(move, after-state, reward) for each move that changes the board."""
    slid = [(move, *slide(board, move)) for move in MOVES]
    return [(move, after, reward) for move, after, reward in slid if after != board]


def empty_cells(board):
    """Where a tile may appear."""
    return [cell for cell in range(16) if board[cell] == 0]


def put(board, cell, exponent):
    """The board with a tile on an empty cell."""
    return [*board[:cell], exponent, *board[cell + 1 :]]


# --------------------------------------------------------- the n-tuple network

TUPLES = ("012345", "456789", "012456", "45689a")  # cells, as hexadecimal digits


def isomorphs(cells):
    """The eight placements of a tuple: four quarter turns, and each of them mirrored."""
    placed = []
    for places in cells, [4 * (cell // 4) + 3 - cell % 4 for cell in cells]:
        for _ in range(4):
            placed.append(places)
            places = [4 * (cell % 4) + 3 - cell // 4 for cell in places]
    return placed


def indexof(cells, board):
    """The index of the tiles on these cells: four bits per cell, the first cell lowest."""
    index = 0
    for place, cell in enumerate(cells):
        index |= min(board[cell], 15) << 4 * place  # beyond 32768, tiles look alike
    return index


class Pattern:
    """One tuple, with a table of weights that its eight placements share."""

    def __init__(self, cells):
        self.isomorphs = isomorphs(cells)
        self.weights = array("f", bytes(4 * 16 ** len(cells)))  # zeros

    def estimate(self, board):
        """The sum of the weights of the eight placements."""
        return sum(self.weights[indexof(cells, board)] for cells in self.isomorphs)

    def update(self, board, u):
        """Divide u among the eight placements; return the new sum."""
        for cells in self.isomorphs:
            self.weights[indexof(cells, board)] += u / 8
        return self.estimate(board)


class Network:
    """V(board): the sum of all patterns."""

    def __init__(self, tuples=TUPLES, spawn4=0.1):
        self.patterns = [Pattern([int(digit, 16) for digit in cells]) for cells in tuples]
        self.spawn4 = spawn4  # how often a new tile is a 4

    def estimate(self, board):
        """V(board)."""
        return sum(pattern.estimate(board) for pattern in self.patterns)

    def update(self, board, u):
        """Add u to V(board), an equal part for each pattern; return the new V."""
        return sum(pattern.update(board, u / len(self.patterns)) for pattern in self.patterns)


# ------------------------------------------------- two ways to play, and to learn


class StateLearner(Network):
    """V(s) is what a game will still earn from state s on, before the player moves."""

    def best_move(self, board):
        """The move with the largest r + E[V(s'')], over a 2 or a 4 on every empty cell."""

        def worth(choice):
            _, after, reward = choice
            empty, expected = empty_cells(after), 0.0
            for cell in empty:
                expected += (1 - self.spawn4) * self.state_value(put(after, cell, 1))
                expected += self.spawn4 * self.state_value(put(after, cell, 2))
            return reward + expected / len(empty)

        return max(legal_moves(board), key=worth, default=None)

    def state_value(self, board):
        """V(s), or 0 if the game is over."""
        full = 0 not in board
        return 0.0 if full and not legal_moves(board) else self.estimate(board)

    def update_episode(self, path, alpha):
        """V(s) += alpha (r + V(s'') - V(s)), from the end."""
        value_next = 0.0  # of the state in which the game is over
        for state, _, reward in reversed(path):
            error = reward + value_next - self.estimate(state)
            value_next = self.update(state, alpha * error)


class AfterstateLearner(Network):
    """V(s') is what a game will still earn from after-state s' on, before a tile appears."""

    def best_move(self, board):
        """The move with the largest r + V(s')."""

        def worth(choice):
            _, after, reward = choice
            return reward + self.estimate(after)

        return max(legal_moves(board), key=worth, default=None)

    def update_episode(self, path, alpha):
        """V(s') += alpha (r_next + V(s'_next) - V(s')), from the end."""
        target = 0.0  # nothing comes after the last after-state
        for _, after, reward in reversed(path):
            error = target - self.estimate(after)
            target = reward + self.update(after, alpha * error)


# ---------------------------------------------------------------- the experiment


def spawn(board, spawn4):
    """A tile appears."""
    return put(board, random.choice(empty_cells(board)), 2 if random.random() < spawn4 else 1)


def play(learner):
    """Play the best moves: (state, after-state, reward) of each move, and the last board."""
    board, path = spawn(spawn([0] * 16, learner.spawn4), learner.spawn4), []
    while choice := learner.best_move(board):
        _, after, reward = choice
        path.append((board, after, reward))
        board = spawn(after, learner.spawn4)
    return path, board


def percent(share):
    """98.9%, 100%."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def show(games, scores, largest):
    """The course's block: mean, maximum, and for each tile the share that reached it (ended with it)."""
    print(f"{games}\tavg = {sum(scores) / len(scores):.1f}\tmax = {max(scores)}")
    ended, left = Counter(largest), len(largest)
    for exponent in sorted(ended):
        reached, left = left, left - ended[exponent]
        share = percent(ended[exponent] / len(largest))
        print(f"\t{2**exponent}\t{percent(reached / len(largest))}\t({share})", flush=True)


def main():
    """Play, learn, and print a block for every thousand games."""
    parser = argparse.ArgumentParser(description="Learn 2048 by TD(0), in plain Python.")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--target", choices=("state", "afterstate"), default="afterstate")
    parser.add_argument("--alpha", type=float, default=0.1, help="the learning rate")
    parser.add_argument("--spawn4", type=float, default=0.1, help="the share of fours")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.games < 1 or not 0 < options.alpha <= 1 or not 0 <= options.spawn4 <= 1:
        parser.error("games are 1 or more, alpha is above 0 and spawn4 from 0, both up to 1")

    random.seed(options.seed)
    kind = StateLearner if options.target == "state" else AfterstateLearner
    learner = kind(spawn4=options.spawn4)
    scores, largest = [], []
    for game in range(1, options.games + 1):
        path, last = play(learner)
        learner.update_episode(path, options.alpha)
        scores.append(sum(reward for _, _, reward in path))
        largest.append(max(last))
        if game % 1000 == 0 or game == options.games:
            show(game, scores, largest)
            scores, largest = [], []


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
