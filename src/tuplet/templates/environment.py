"""An environment of 2048: it decides which tiles appear, and where.

    tuplet eval greedy --environment template.py:Template --games 20
    tuplet eval small --environment template.py:Template,tile=4 --games 20 --threads 2

Change what you like; only `place` is required.
"""

import random


class Template:
    """Tries a few empty cells and takes the one that is worst for the player."""

    def __init__(self, cells: int = 3, tile: int = 2) -> None:
        """Arguments are settings: `Template,cells=1` makes Template(cells=1).

        A setting may be an int, a float, a str, or a bool (written as yes or no).
        """
        self.cells, self.tile = cells, tile
        self.rng = random.Random(0)

    def place(self, board):
        """Return an empty cell and the tile to place there. Only this method is required.

        Cells are numbered row by row, from 0 at the top left; `board.empty` has the empty ones.
        A game begins with two placements on an empty board, then player and environment take turns.
        """
        some = self.rng.sample(board.empty, min(max(self.cells, 1), len(board.empty)))
        return min(some, key=lambda cell: self.value(board.place(cell, self.tile))), self.tile

    def value(self, board):
        """Put your idea here: how good is a board for the player?"""
        rewards = [reward for _, reward in board.after_states().values()]
        return max(rewards, default=-1)

    # The methods below are optional.

    def open(self, start, side, state):
        """A game begins. `state` is a random number; `start` is the empty board, `side` is "environment".

        Seed your random choices with it, and the same seed gives the same games on any number of cores.
        """
        self.rng = random.Random(int(state))

    def end(self, last):
        """The game ended with this board."""

    def close(self):
        """The environment is not needed any more."""
