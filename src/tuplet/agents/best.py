"""Alpha-beta that reduces late moves and sets traps: the strongest agent of `ewn-6x7`."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.opponent_model import Traps
from tuplet.games.agent_hooks import told
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.rules import CYCLE
from tuplet.games.protocol import Words

DEFAULT_TIME = 1.0  # seconds a move, where no limit is set
SEARCHED = 0.65  # the share of the time after which it is seen whether a trap is needed


@dataclass
class Best(AlphaBeta):
    """Alpha-beta with `reduce`; where the outlook is bad and the die known, `traps`.

    A second a move unless `depth`, `time` or `nodes` say otherwise. What traps look at comes on
    top of `nodes`.
    """

    table: int = 21
    reduce: bool = True
    traps: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._traps = Traps()
        self._trapped = False

    def open(self, state: np.uint64) -> None:
        """Begin a game: forget the last one."""
        super().open(state)
        self._traps.forget()

    def all_settings(self, position: Any = None) -> dict[str, Any]:
        """Every setting, also those that nobody named."""
        usual = {"time": DEFAULT_TIME} if self.unlimited else {}
        told = super().all_settings(None if self.unlimited else position)
        return {**usual, **told}

    def think(self, game: Any, position: Words) -> int:
        """The move to play."""
        began = clock.monotonic()
        seconds = DEFAULT_TIME if self.unlimited else self.time
        trapping = self.traps and game.die == CYCLE
        self._trapped, self._spent = False, 0
        move = self.search(game, position, SEARCHED * seconds if trapping and seconds else seconds)
        if not trapping or self.value == 1 or told(self.stop):
            return move
        if self.value < 0:
            until = None if seconds is None else began + seconds
            trap = self._traps.move(game, position, self.value, self.work, until)
            self._trapped = trap is not None
            return move if trap is None else self.take(trap)
        left = None if seconds is None else began + seconds - clock.monotonic()
        if left is not None and self.stopped_by_time:
            return self.search(game, position, left)
        return move

    def warm_up(self, game: Any, position: Words) -> None:
        """Load what traps need, so that the first of them is not late."""
        self._traps.move(game, position, -1.0, self.work, clock.monotonic() + 0.001)
        self._traps.forget()

    @property
    def best_is_taken(self) -> bool:
        """Whether the last move is the one that was valued, and no trap."""
        return not self._trapped

    def analysis(self, text_of: Callable[[int], str]) -> Analysis:
        """Of the last move."""
        analysis = super().analysis(text_of)
        if not self._trapped:
            return analysis
        return replace(analysis, note=analysis.note + "; a trap for hard")
