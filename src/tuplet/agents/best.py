"""`best`, the strongest agent of EWN, and `exploit`, which plays against a model of one opponent.

`exploit` is opponent-model search (Iida, Uiterwijk, van den Herik & Herschberg 1993; Carmel & Markovitch 1993) taken
to its end: the course's `normal` and `hard` never play the same position differently, so with a known die a whole game
against them can be foreseen. The agent plays the game on against the model, varying its own moves, until a line
wins, and follows that line for as long as the opponent plays as predicted.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tuplet.agents.baselines import baseline_move
from tuplet.agents.searchers import AlphaBeta, Searcher, load_values, search_from
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games.agent_hooks import is_stopped
from tuplet.games.analysis import Analysis
from tuplet.games.ewn.rules import CYCLE, EwnRules
from tuplet.games.protocol import MOST_MOVES, ONGOING, Array, Int, Words, apply, ending, legal, side, winner
from tuplet.kernel import draw, kernel, local_array, now
from tuplet.search import expectimax, transpositions

DEFAULT_TIME = 1.0  # seconds per move, where no limit is set
MODELS = {"normal": 2, "hard": 8}  # plies that they look ahead
LINE_SHARE = 0.6  # of the time, for lines; the rest is for a search
NOTE_SHARE = 0.05  # of the time, for values to show beside a move of a line
OWN_DEPTH = 4  # plies that our side looks ahead within a line
RANDOM_SHARE = np.uint64(round(0.3 * 2**32))  # of our moves in a line, of 2^32
MOST_LINES = 30  # tried where time is not limited
LONGEST = 256  # plies: more than any game has


@kernel
def _play_line(
    rules: EwnRules,
    game: Any,
    position: Words,
    model: Int,
    random: np.uint64,
    state: np.uint64,
    work: expectimax.Workspace,
    line: Array,
    until: float,
) -> tuple[np.uint64, Int]:
    """Play a game to its end, the side to move against a model that looks `model` plies ahead.

    `game` is the rules with our values, `random` the share of our moves that are random. Writes our positions and
    moves into `line` (uint64[LONGEST, 3]). Returns the random stream's next state and the length of the line: 0
    if it loses, was stopped, or the next step could take until the clock shows `until`.
    """
    own, n, slowest = side(rules, position), 0, 0.0
    moves = local_array(MOST_MOVES, np.uint8)
    while True:
        result = ending(rules, position)
        if result != ONGOING:
            return state, n if winner(rules, result) == own else 0
        began = now()
        if work.stop[0] or began + slowest >= until:
            return state, 0
        if side(rules, position) != own:
            position = apply(rules, position, baseline_move(rules, position, model))
            slowest = max(slowest, now() - began)
            continue
        state, bits = draw(state)
        if (bits & np.uint64(0xFFFFFFFF)) < random:
            count = np.uint64(legal(rules, position, moves, 0))
            move: Int = np.int64(moves[((bits >> np.uint64(32)) * count) >> np.uint64(32)])
        else:
            move, _, _ = expectimax.iterative_deepening(game, position, OWN_DEPTH, until - began, 1 << 62, work)
        line[n, 0], line[n, 1], line[n, 2] = position[0], position[1], np.uint64(move)
        n += 1
        position = apply(rules, position, move)


class OpponentModel:
    """Finds lines that win against a model, and remembers the current one."""

    def __init__(self, depth: int) -> None:
        self._depth = np.int64(depth)
        self._work = expectimax.make_workspace(12)
        self._line = np.zeros((LONGEST, 3), np.uint64)
        self.forget()

    def forget(self) -> None:
        """Begin a game."""
        self.plan: dict[Words, int] = {}  # our positions in the line, and the moves there
        self._state = np.uint64(0)

    def find(self, rules: EwnRules, game: Any, position: Words, work: expectimax.Workspace, until: float) -> bool:
        """Look for a line from this position that wins; whether there is one now.

        Ends when the clock (`time.monotonic`) shows `until`, or when `work` is told to stop.
        """
        for tried in range(MOST_LINES if until == np.inf else 1 << 20):
            if position in self.plan or work.stop[0] or clock.monotonic() >= until:
                break
            self._work.table[:] = np.zeros(1, transpositions.ENTRY)
            own = self._work._replace(stop=work.stop)
            random = RANDOM_SHARE if tried else np.uint64(0)  # our best moves first
            state, length = _play_line(rules, game, position, self._depth, random, self._state, own, self._line, until)
            self._state = np.uint64(state)
            self.plan = {(red, blue): int(move) for red, blue, move in self._line[:length]}
        return position in self.plan


@dataclass
class Best(AlphaBeta):
    """Alpha-beta, expectimax where the die is rolled, with `reduce`, over the learned values that come with tuplet.

    `values` are those of `ewn` and `ewn-6x7`, unless set; other boards have the game's own estimate. A second per
    move unless `depth`, `time` or `nodes` is set.
    """

    table: int = 21
    reduce: bool = True

    def all_settings(self, position: Any = None) -> dict[str, Any]:
        """Every setting, including defaults."""
        if self.unlimited:
            return {"time": DEFAULT_TIME, **super().all_settings()}
        return super().all_settings(position)

    @property
    def seconds(self) -> float | None:
        """The seconds of a move; None without a limit."""
        return DEFAULT_TIME if self.unlimited else self.time

    def think(self, rules: Any, position: Words) -> int:
        """The move to play."""
        self._spent = 0
        return self.search(rules, position, self.seconds)


@dataclass
class Exploit(Best):
    """`best` that first looks for a line which wins against the `opponent`, where the die is known.

    Positions looked at for lines are not counted in `nodes`.
    """

    opponent: str = "hard"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opponent not in MODELS:
            raise UserError(f"opponent must be {' or '.join(MODELS)} (got {self.opponent!r})")
        self._model = OpponentModel(MODELS[self.opponent])
        self._foreseen = False

    def open(self, state: np.uint64) -> None:
        """Begin a game: forget the last one."""
        super().open(state)
        self._model.forget()

    def think(self, rules: Any, position: Words) -> int:
        """The move to play: of a line that wins against the opponent, else the best one."""
        began, seconds, self._spent, self._foreseen = clock.monotonic(), self.seconds, 0, False
        if rules.die != CYCLE:
            return super().think(rules, position)
        self.load(rules, position)
        until = np.inf if seconds is None else began + LINE_SHARE * seconds
        found = self._model.find(rules, self.game(rules), position, self.work, until)
        if seconds is not None:
            seconds = NOTE_SHARE * seconds if found else max(began + seconds - clock.monotonic(), 0.0)
        move = self.search(rules, position, seconds)
        if found and not is_stopped(self.stop):
            self._foreseen = self._model.plan[position] != move
            self._move = move = self._model.plan[position]
        return move

    def warm_up(self, rules: Any, position: Words) -> None:
        """Compile what lines need, so that the first one is not late."""
        self._model.find(rules, self.game(rules), position, self.work, clock.monotonic() + 0.001)
        self._model.forget()

    @property
    def best_is_played(self) -> bool:
        """Whether the last move is the one that was valued, and no other one of a line."""
        return not self._foreseen

    def analysis(self, position: Any) -> Analysis:
        """The result of the last search."""
        analysis = super().analysis(position)
        found = position.words in self._model.plan
        return replace(analysis, note=f"{analysis.note}; a line wins against {self.opponent}") if found else analysis


def make_best(spec: Spec, game: Any, *, entry: Any, **_: Any) -> Searcher:
    """The agent of `best:time=0.1` or `exploit:hard,time=0.1`, with the learned values that come with tuplet."""
    from tuplet.values.players import bundled_values

    first, comma, rest = spec.settings.partition(",")
    text = spec.settings
    if entry.name == "exploit" and first in MODELS:
        text = f"opponent={first}{comma}{rest}"
    search = search_from(entry.settings_class(), spec, text)
    if search.values:
        return Searcher(spec.text, load_values(search, game, spec.path))
    file = bundled_values(game.name)
    if file is not None:
        from tuplet.values.game_network import GameNetwork

        search.values, search.network = game.name, GameNetwork.load(file, game)
    return Searcher(spec.text, search)
