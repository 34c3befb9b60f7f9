"""A player of 2048.

    tuplet eval template.py:Template --games 100 --threads 2
    tuplet eval template.py:Template,empty=1,reward=0.1 --games 100   (other settings)
    tuplet play 2048 --agent template.py:Template --watch
    python template.py                                                  (checks it)

Change what you like; only `choose` is required.
"""

import random

import tuplet


class Template:
    """Chooses the move that leaves many empty cells and similar neighbours."""

    def __init__(self, empty: float = 2.0, reward: float = 0.0) -> None:
        """Arguments are settings: `Template,empty=3` makes Template(empty=3.0).

        A setting may be an int, a float, a str, or a bool (written as yes or no).
        """
        self.empty, self.reward = empty, reward
        self.rng = random.Random(0)

    def choose(self, board):
        """Return "up", "right", "down" or "left". Only this method is required.

        A board does not change. It has `tiles` (a list, 0 is an empty cell), `empty` (the numbers of the empty cells),
        `largest`, `legal_moves()`, and `after_states()`: for each legal move the board after it, before a new tile
        appears, and its reward.
        """
        values = self.values(board)
        best = max(values.values())
        return self.rng.choice([move for move in values if values[move] == best])

    def values(self, board):
        """The value of each legal move."""
        moves = board.after_states().items()
        return {move: self.reward * points + self.value(after) for move, (after, points) in moves}

    def value(self, after):
        """Put your idea here: how good is a board?"""
        tiles, width = after.exponents, after.columns  # row by row: 0 is empty, 1 a 2, 2 a 4, ...
        rough = 0
        for cell, tile in enumerate(tiles):
            if (cell + 1) % width:
                rough += abs(tile - tiles[cell + 1])  # the neighbour to the right
            if cell + width < len(tiles):
                rough += abs(tile - tiles[cell + width])  # the one below
        return self.empty * len(after.empty) - rough

    # The methods below are optional.

    def open(self, start, side, state):
        """A game begins. `state` is a random number; `start` is the empty board, `side` is "player".

        Seed your random choices with it, and the same seed gives the same games on any number of cores.
        """
        self.rng = random.Random(int(state))

    def analyze(self, board):
        """The values of all moves: `tuplet analyze 2048 --agent template.py:Template`."""
        values = self.values(board)
        points = {move: reward for move, (_, reward) in board.after_states().items()}
        moves = [tuplet.MoveValue(move, float(value), reward=points[move]) for move, value in values.items()]
        best = max(values, key=values.get) if values else None
        note = "empty cells and similar neighbours"
        return tuplet.Analysis(moves, best, note=note, points=True, position=board)

    def end(self, last):
        """The game ended with this board; a learning player would learn here."""

    def close(self):
        """The player is not needed any more."""


if __name__ == "__main__":
    from tuplet.testing import check_agent

    check_agent(Template, "2048")
    print("Template is right.")
