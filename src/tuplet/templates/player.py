"""A player of 2048 of my own.

    tuplet eval template.py:Template --games 100 --threads 2
    tuplet eval template.py:Template,empty=1,reward=0.1 --games 100   (other settings)
    tuplet play 2048 --agent template.py:Template --watch
    python template.py                                                  (is it right?)

Change what you like: `choose` is all that is needed.
"""

import random

import tuplet


class Template:
    """Takes the move that leaves many empty cells, and neighbours that are alike."""

    def __init__(self, empty: float = 2.0, reward: float = 0.0) -> None:
        """Arguments are settings: `Template,empty=3` makes Template(empty=3.0).

        A setting may be an int, a float, a str, or a bool, which is written as yes or no.
        """
        self.empty, self.reward = empty, reward
        self.luck = random.Random(0)

    def choose(self, board):
        """The move to make: "up", "right", "down" or "left". This method is all a player needs.

        A board does not change. It has `tiles` (a list, 0 is an empty cell), `empty` (the numbers
        of the empty cells), `largest`, `legal_moves()`, and `after_states()`: for each legal move
        the board it leads to, before a new tile appears, and its reward.
        """
        values = self.values(board)
        best = max(values.values())
        return self.luck.choice([move for move in values if values[move] == best])

    def values(self, board):
        """What each legal move is worth."""
        found = board.after_states().items()
        return {move: self.reward * points + self.value(after) for move, (after, points) in found}

    def value(self, after):
        """Here is the place for an idea of your own: how good is a board?"""
        tiles, width = after.exponents, after.columns  # row by row: 0 is empty, 1 a 2, 2 a 4, ...
        rough = 0
        for cell, tile in enumerate(tiles):
            if (cell + 1) % width:
                rough += abs(tile - tiles[cell + 1])  # the neighbour to the right
            if cell + width < len(tiles):
                rough += abs(tile - tiles[cell + width])  # the one below
        return self.empty * len(after.empty) - rough

    # What follows is called if it is there.

    def open(self, start, side, state):
        """A game begins. `state` is a random number of the game's own.

        Draw your luck from it alone, and the same seed gives the same games, on any number of
        cores. `start` is the empty board, `side` is "player".
        """
        self.luck = random.Random(int(state))

    def analyze(self, board):
        """What it thinks of a board: `tuplet analyze 2048 --agent template.py:Template`."""
        values = self.values(board)
        moves = [tuplet.MoveValue(move, float(value)) for move, value in values.items()]
        best = max(values, key=values.get) if values else None
        note = "empty cells, and how alike neighbours are"
        return tuplet.Analysis(moves, best, note=note, points=True, position=board)

    def end(self, last):
        """The game ended with this board; a player that learns would learn here."""

    def close(self):
        """Nobody needs the player any more."""


if __name__ == "__main__":
    from tuplet.testing import check_agent

    check_agent(Template, "2048")
    print("Template is right.")
