"""An agent of my own, for EinStein würfelt nicht!, or any other game for two.

    tuplet match template.py:Template easy --games 100 --threads 2
    tuplet match template.py:Template,depth=3 easy --game ewn --games 20   (other settings, rules)
    tuplet play ewn-6x7 --agent template.py:Template
    python template.py                                                     (is it right?)

Change what you like: `choose` is all that is needed.
"""

import random

import tuplet


class Template:
    """Looks a few moves ahead, and values what it sees there."""

    def __init__(self, depth: int = 2) -> None:
        """Arguments are settings: `Template,depth=3` makes Template(depth=3).

        A setting may be an int, a float, a str, or a bool, which is written as yes or no.
        """
        self.depth = depth
        self.luck = random.Random(0)

    def choose(self, position):
        """A legal move, as `position.legal_moves()` writes it. This method is all an agent needs.

        A position does not change. It has `turn` (whose move it is), `over`, `winner` (None: a
        draw), `legal_moves()` and `play(move)`, the position after a move; where chance acts
        (`is_chance`), `chance_outcomes()` tells what can happen and how likely that is, `apply_outcome(outcome)`
        is the position after it. `print(position)` shows it; EWN's has `cubes` and `die`, too.
        """
        return self.analyze(position).best

    def value(self, position, me):
        """Here is the place for an idea of your own: how good is a position that is not over?

        From 0, `me` will lose, to 1, `me` will win.
        """
        return 0.5

    def search(self, position, me, depth):
        """What `me` may expect, `depth` moves ahead: expectimax."""
        if position.over:
            return 0.5 if position.winner is None else float(position.winner == me)
        if position.is_chance:
            return sum(
                likely * self.search(position.apply_outcome(outcome), me, depth)
                for outcome, likely in position.chance_outcomes().items()
            )
        if depth <= 0:
            return self.value(position, me)
        after = (position.play(move) for move in position.legal_moves())
        values = [self.search(each, me, depth - 1) for each in after]
        return max(values) if position.turn == me else min(values)

    # What follows is called if it is there (`choose` above uses `analyze`).

    def open(self, start, side, state):
        """A game begins at `start`, and the agent has `side` ("red"). `state` is a random number.

        Draw your luck from it alone, and the same seed gives the same games, on any number of
        cores.
        """
        self.luck = random.Random(int(state))

    def analyze(self, position):
        """What it thinks of a position: `tuplet analyze ewn-6x7 --agent template.py:Template`."""
        me = position.turn
        moves = [
            tuplet.MoveValue(move, self.search(position.play(move), me, self.depth - 1))
            for move in position.legal_moves()
        ]
        best = max(move.value for move in moves)
        equal = [move.move for move in moves if move.value == best]
        return tuplet.Analysis(moves, self.luck.choice(equal), note=f"{self.depth} moves ahead")

    def end(self, last):
        """The game ended with this position."""

    def close(self):
        """Nobody needs the agent any more."""


if __name__ == "__main__":
    from tuplet.testing import check_agent

    check_agent(Template, "ewn-6x7")
    print("Template is right.")
