"""What agents that search have in common, whatever the game."""

from __future__ import annotations

from tuplet.agents.searches import AlphaBeta, Mcts
from tuplet.system.progress import Progress
from tuplet.system.stop import Stop


class Searching:
    """An agent with a search behind it, which can be watched and ended while it thinks."""

    search: Mcts | AlphaBeta

    @property
    def stop(self) -> Stop | None:
        """Set, it ends the search that is under way; its move is the best found by then."""
        return self.search.stop

    @stop.setter
    def stop(self, stop: Stop | None) -> None:
        self.search.stop = stop

    def progress(self) -> Progress:
        """How far the search under way is."""
        return self.search.progress()
