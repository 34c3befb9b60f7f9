"""An environment of 2048 of my own: it decides which tiles appear, and where.

    tuplet eval greedy --environment template.py:Template --games 20
    tuplet eval small --environment template.py:Template,tile=4 --games 20 --threads 2

Change what you like: `place` is all that is needed.
"""

import random


class Template:
    """Looks at a few empty cells, and takes the one that leaves the player least."""

    def __init__(self, cells: int = 3, tile: int = 2) -> None:
        """Arguments are settings: `Template,cells=1` makes Template(cells=1).

        A setting may be an int, a float, a str, or a bool, which is written as yes or no.
        """
        self.cells, self.tile = cells, tile
        self.luck = random.Random(0)

    def place(self, board):
        """An empty cell and the tile to put there: this method is all an environment needs.

        Cells are numbered row by row, from 0 at the top left; `board.empty` has the empty ones.
        A game begins with two placements on an empty board, then player and environment take turns.
        """
        some = self.luck.sample(board.empty, min(max(self.cells, 1), len(board.empty)))
        return min(some, key=lambda cell: self.value(board.place(cell, self.tile))), self.tile

    def value(self, board):
        """Here is the place for an idea of your own: how much is a board worth to the player?"""
        rewards = [reward for _, reward in board.after_states().values()]
        return max(rewards, default=-1)

    # What follows is called if it is there.

    def open(self, start, side, state):
        """A game begins. `state` is a random number of the game's own.

        Draw your luck from it alone, and the same seed gives the same games, on any number of
        cores. `start` is the empty board, `side` is "environment".
        """
        self.luck = random.Random(int(state))

    def end(self, last):
        """The game ended with this board."""

    def close(self):
        """Nobody needs the environment any more."""
