"""An agent for EinStein würfelt nicht!, or any other game for two players.

    tuplet match template.py:Template easy --games 100 --threads 2
    tuplet match template.py:Template,depth=3 easy --game ewn --games 20   (other settings, rules)
    tuplet play ewn-6x7 --agent template.py:Template
    python template.py                                                     (checks it)

Change what you like; only `choose` is required.
"""

import random

import tuplet


class Template:
    """Searches a few moves ahead and values the positions there."""

    def __init__(self, depth: int = 2) -> None:
        """Arguments are settings: `Template,depth=3` makes Template(depth=3).

        A setting may be an int, a float, a str, or a bool (written as yes or no).
        """
        self.depth = depth
        self.rng = random.Random(0)

    def choose(self, position):
        """Return a legal move, as `position.legal_moves()` writes it. Only this method is required.

        A position does not change. It has `turn` (the side to move), `over`, `winner` (None: a draw), `legal_moves()`
        and `play(move)`, the position after a move. Where chance acts (`is_chance`), `chance_outcomes()` has the
        outcomes and their probabilities, and `apply_outcome(outcome)` is the position after one. `print(position)`
        shows it; a position of EWN also has `cubes` and `die`.
        """
        return self.analyze(position).best

    def value(self, position, me):
        """Put your idea here: how good is a position that is not over, from 0 (`me` loses) to 1 (`me` wins)?"""
        return 0.5

    def search(self, position, me, depth):
        """The expected result of `me`, searching `depth` moves ahead: expectimax."""
        if position.over:
            return 0.5 if position.winner is None else float(position.winner == me)
        if position.is_chance:
            return sum(
                probability * self.search(position.apply_outcome(outcome), me, depth)
                for outcome, probability in position.chance_outcomes().items()
            )
        if depth <= 0:
            return self.value(position, me)
        after = (position.play(move) for move in position.legal_moves())
        values = [self.search(each, me, depth - 1) for each in after]
        return max(values) if position.turn == me else min(values)

    # The methods below are optional (`choose` above uses `analyze`).

    def open(self, start, side, state):
        """A game begins at `start`; the agent plays `side` ("red"). `state` is a random number.

        Seed your random choices with it, and the same seed gives the same games on any number of cores.
        """
        self.rng = random.Random(int(state))

    def analyze(self, position):
        """The values of all moves: `tuplet analyze ewn-6x7 --agent template.py:Template`."""
        me = position.turn
        moves = [
            tuplet.MoveValue(move, self.search(position.play(move), me, self.depth - 1))
            for move in position.legal_moves()
        ]
        best = max(move.value for move in moves)
        equal = [move.move for move in moves if move.value == best]
        return tuplet.Analysis(moves, self.rng.choice(equal), note=f"{self.depth} moves ahead")

    def end(self, last):
        """The game ended with this position."""

    def close(self):
        """The agent is not needed any more."""


if __name__ == "__main__":
    from tuplet.testing import check_agent

    check_agent(Template, "ewn-6x7")
    print("Template is right.")
