"""`best`: alpha-beta that reduces late moves and sets traps, made for `ewn-6x7`.

Traps are opponent-model search (Iida, Uiterwijk, van den Herik & Herschberg 1993; Carmel &
Markovitch 1993). Where the position is bad, the agent looks for a line that wins against an opponent
who sees less: the model is the course's `hard`, which looks 8 plies ahead at plain distances. It
plays the game on against the model, varying its own moves, until a line wins. It follows that line
for as long as the opponent plays as predicted and the moves are not much worse than the best ones.
Where every move loses, nothing is risked.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.agents.searchers import AlphaBeta
from tuplet.games.agent_hooks import is_stopped
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.rules import CYCLE, EwnRules
from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Int,
    Words,
    apply,
    call_apply,
    call_ending,
    ending,
    legal,
    side,
    winner,
)
from tuplet.kernel import draw, kernel, local_array, now
from tuplet.search import expectimax, transpositions

Array = np.ndarray[Any, Any]

DEFAULT_TIME = 1.0  # seconds per move, where no limit is set
SEARCH_SHARE = 0.65  # of the time, before it decides whether to look for a trap
MODEL_DEPTH = 8  # plies that the model looks ahead
OWN_DEPTH = 4  # plies that our side looks ahead within a line
RANDOM_SHARE = np.uint64(round(0.3 * 2**32))  # of our moves in a line, of 2^32
MOST_LINES = 30  # tried where time is not limited
RISK = 0.2  # how much worse than the best a move of a line may be
CHECK_NODES = 50_000  # spent on checking that
LONGEST = 256  # plies: more than any game has


@kernel
def _play_line(
    rules: EwnRules, position: Words, state: np.uint64, work: expectimax.Workspace, line: Array, until: float
) -> tuple[np.uint64, Int]:
    """Play a game to its end, the side to move against the model.

    Writes our positions and moves into `line` (uint64[LONGEST, 3]). Returns the random stream's next
    state and the length of the line: 0 if it loses, was stopped, or the clock shows `until`.
    """
    own, n = side(rules, position), 0
    moves = local_array(MOST_MOVES, np.uint8)
    while True:
        result = ending(rules, position)
        if result != ONGOING:
            return state, n if winner(rules, result) == own else 0
        if work.stop[0] or now() >= until:
            return state, 0
        if side(rules, position) != own:
            position = apply(rules, position, baseline_move(rules, position, MODEL_DEPTH))
            continue
        state, bits = draw(state)
        if (bits & np.uint64(0xFFFFFFFF)) < RANDOM_SHARE:
            count = np.uint64(legal(rules, position, moves, 0))
            move: Int = np.int64(moves[((bits >> np.uint64(32)) * count) >> np.uint64(32)])
        else:
            move, _, _ = expectimax.iterative_deepening(rules, position, OWN_DEPTH, np.inf, 1 << 62, work)
        line[n, 0], line[n, 1], line[n, 2] = position[0], position[1], np.uint64(move)
        n += 1
        position = apply(rules, position, move)


class OpponentModel:
    """Finds lines that win against the model, and remembers the current one."""

    _plan: dict[Words, int]  # our positions in the line, and the moves there

    def __init__(self) -> None:
        self._work = expectimax.make_workspace(12)
        self._line = np.zeros((LONGEST, 3), np.uint64)
        self.forget()

    def forget(self) -> None:
        """Begin a game."""
        self._plan = {}
        self._state = np.uint64(0)

    def move(
        self, rules: EwnRules, position: Words, value: float, work: expectimax.Workspace, until: float | None
    ) -> int | None:
        """The next move of a line that wins against the model; None if there is none.

        `value` is the position's value by search, `work` the search's memory. Ends when the clock
        (`time.monotonic`) shows `until`, or when `work` is told to stop.
        """
        for _ in range(MOST_LINES if until is None else LONGEST):
            if position in self._plan:
                move = self._plan[position]
                if value == -1 or self._move_value(rules, position, move, work, until) >= value - RISK:
                    return move
                self._plan = {}
            if work.stop[0] or (until is not None and clock.monotonic() >= until):
                return None
            self._work.table[:] = np.zeros(1, transpositions.ENTRY)
            own = self._work._replace(stop=work.stop)
            limit = np.inf if until is None else until
            state, length = _play_line(rules, position, self._state, own, self._line, limit)
            self._state = np.uint64(state)
            self._plan = {(red, blue): int(move) for red, blue, move in self._line[:length]}
        return None

    def _move_value(
        self, rules: EwnRules, position: Words, move: int, work: expectimax.Workspace, until: float | None
    ) -> float:
        """A move's value by search."""
        red, blue = call_apply(rules, position, move)
        child = (np.uint64(red), np.uint64(blue))
        if call_ending(rules, child):
            return 1.0
        left = np.inf if until is None else until - clock.monotonic()
        deepest = expectimax.DEEPEST - 1
        _, value, depth = expectimax.iterative_deepening(rules, child, deepest, left, CHECK_NODES, work)
        return -float(value) if depth else -1.0


@dataclass
class Best(AlphaBeta):
    """Alpha-beta with `reduce`; with `traps` where the position is bad and the die is known.

    A second per move unless `depth`, `time` or `nodes` is set. Positions looked at for traps are
    not counted in `nodes`.
    """

    table: int = 21
    reduce: bool = True
    traps: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._model = OpponentModel()
        self._trapped = False

    def open(self, state: np.uint64) -> None:
        """Begin a game: forget the last one."""
        super().open(state)
        self._model.forget()

    def all_settings(self, position: Any = None) -> dict[str, Any]:
        """Every setting, including defaults."""
        if self.unlimited:
            return {"time": DEFAULT_TIME, **super().all_settings()}
        return super().all_settings(position)

    def think(self, rules: Any, position: Words) -> int:
        """The move to play."""
        began = clock.monotonic()
        seconds = DEFAULT_TIME if self.unlimited else self.time
        trapping = self.traps and rules.die == CYCLE
        self._trapped, self._spent = False, 0
        move = self.search(rules, position, SEARCH_SHARE * seconds if trapping and seconds else seconds)
        if not trapping or self.value == 1 or is_stopped(self.stop):
            return move
        if self.value < 0:
            until = None if seconds is None else began + seconds
            trap = self._model.move(rules, position, self.value, self.work, until)
            self._trapped = trap is not None
            self._move = move if trap is None else trap
            return self._move
        left = None if seconds is None else began + seconds - clock.monotonic()
        if left is not None and self.stopped_by_time:
            return self.search(rules, position, left)
        return move

    def warm_up(self, rules: Any, position: Words) -> None:
        """Compile what traps need, so that the first one is not late."""
        self._model.move(rules, position, -1.0, self.work, clock.monotonic() + 0.001)
        self._model.forget()

    @property
    def best_is_played(self) -> bool:
        """Whether the last move is the one that was valued, and no trap."""
        return not self._trapped

    def analysis(self, position: Any) -> Analysis:
        """The result of the last search."""
        analysis = super().analysis(position)
        return replace(analysis, note=f"{analysis.note}; a trap for hard") if self._trapped else analysis
