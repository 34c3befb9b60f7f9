"""What agents that search have in common, whatever the game."""

from __future__ import annotations

from collections.abc import Callable

from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.searches import Mcts
from tuplet.games.analysis import Analysis
from tuplet.system.progress import Progress
from tuplet.system.stop import Stop


class Searching:
    """An agent with a search behind it, which can be watched and ended while it thinks."""

    search: Mcts | AlphaBeta
    look: Callable[[Analysis], object] | None = None  # told what it thinks so far, in its thread

    def watched(self, analysis: Callable[[], Analysis]) -> None:
        """Before a search: let whoever looks see what there is to tell while it goes on."""
        look = self.look
        self.search.look = None if look is None else lambda: look(analysis())

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
