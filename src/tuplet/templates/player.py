"""A player of 2048 of my own.

    tuplet eval template.py:Template --games 100 --threads 2
    tuplet eval template.py:Template,empty=20,corner=0 --games 100   (other settings)
    tuplet play 2048 --agent template.py:Template --watch
    python template.py                                               (is it right?)

Change what you like: `choose` is all that is needed.
"""

import random

import tuplet


class Template:
    """Takes the move with the best sum of points, empty cells, and a large tile in a corner."""

    def __init__(self, empty: float = 10.0, corner: float = 50.0) -> None:
        """Arguments are settings: `Template,empty=20` makes Template(empty=20.0).

        A setting may be an int, a float, a str, or a bool, which is written as yes or no.
        """
        self.empty, self.corner = empty, corner
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
        return {move: reward + self.value(after) for move, (after, reward) in found}

    def value(self, after):
        """Here is the place for an idea of your own: how good is a board?"""
        corners = (after[0, 0], after[0, -1], after[-1, 0], after[-1, -1])  # by row and column
        return self.empty * len(after.empty) + self.corner * (after.largest in corners)

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
        return tuplet.Analysis(moves, best, note="points, empty cells, a corner", position=board)

    def end(self, last):
        """The game ended with this board; a player that learns would learn here."""

    def close(self):
        """Nobody needs the player any more."""


if __name__ == "__main__":
    from tuplet.testing import check_agent

    check_agent(Template, "2048")
    print("Template is right.")
