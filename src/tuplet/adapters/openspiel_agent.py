"""OpenSpiel's bots as tuplet agents: `openspiel:bot=mcts,sims=1000`.

On the standard EWN they search OpenSpiel's own game in C++, which mirrors ours move by move. There White moves first; if Red
does here, the board is turned round. On other games, and for positions without a history, OpenSpiel's Python search runs on
our rules, slowly: its C++ search cannot call a game in Python (2.0.2 crashes, also with its own Python games).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from tuplet.adapters.openspiel import TupletGame, TupletState, load, mcts, pyspiel, state_at
from tuplet.adapters.openspiel_bots import EWN, moves_of, position_of
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games.ewn import SIDES, EwnPosition
from tuplet.games.game import Game
from tuplet.system.settings import check, from_text, setting


@dataclass(kw_only=True)
class Bot:
    """A bot and its settings; the defaults of c, rollouts and solve are those of OpenSpiel's example."""

    bot: Literal["mcts", "random"] = setting("mcts", "Its tree search, or any legal move.")
    sims: int = setting(1000, "Simulations a move.", least=1, most=10**9)
    c: float = setting(2.0, "How much it explores.", least=0)
    rollouts: int = setting(1, "Random games a leaf.", least=1, most=10**6)
    solve: bool = setting(True, "Prove wins and losses.")
    time: float | None = setting(None, "Seconds a move, at most.", above=0)
    memory: int = setting(1000, "Megabytes of its tree.", least=1, most=10**6)

    def __post_init__(self) -> None:
        check(self)

    def make(self, game: Any, player: int, seed: int) -> Any:
        """The bot of a side."""
        if self.bot == "random":
            return pyspiel.make_uniform_random_bot(player, seed)
        if isinstance(game, TupletGame):
            source = np.random.RandomState(seed)
            leaf = mcts.RandomRolloutEvaluator(self.rollouts, source)
            return mcts.MCTSBot(game, self.c, self.sims, leaf, self.solve, source)
        limit = {} if self.time is None else {"max_wall_clock_time": self.time}
        leaf = pyspiel.RandomRolloutEvaluator(self.rollouts, seed)
        return pyspiel.MCTSBot(game, leaf, self.c, self.sims, self.memory, self.solve, seed, False, **limit)


class OpenSpielAgent:
    """An OpenSpiel bot as an agent."""

    def __init__(self, name: str, bot: Bot, game: Game) -> None:
        self.name, self.bot, self.game = name, bot, game
        self._ours: Any = None  # our game as OpenSpiel's, where it is needed
        self._mirror: StateMirror | None = None
        self._bots: dict[tuple[bool, int], Any] = {}
        self._seed = 0

    @property
    def settings(self) -> dict[str, Any]:
        """All of them."""
        own = asdict(self.bot) if self.bot.bot == "mcts" else {"bot": self.bot.bot}
        return {name: value for name, value in own.items() if value is not None}

    def open(self, start: Any, side: str, state: np.uint64) -> None:  # noqa: ARG002
        """A game begins; the bot is seeded by the game's stream."""
        self._seed = int(state) & 0x7FFFFFFF
        self._bots.clear()
        self._mirror = StateMirror.of(start)

    def choose(self, position: Any) -> str:
        """What the bot plays."""
        state = None if self._mirror is None else self._mirror.follow(position)
        if state is None:
            self._ours = self._ours or load(self.game)
            state = state_at(self._ours, position)
        key = isinstance(state, TupletState), state.current_player()
        if key not in self._bots:
            self._bots[key] = self.bot.make(state.get_game(), key[1], self._seed)
        action = self._bots[key].step(state)
        move = next(move for move, number in moves_of(state).items() if number == action)
        if self._mirror is not None and not key[0]:
            self._mirror.play(move)
        return move


class StateMirror:
    """A game of the standard EWN, and the same game in OpenSpiel, move by move."""

    def __init__(self, position: EwnPosition, state: Any, turned: bool) -> None:
        self.position, self.state, self.turned = position, state, turned

    @classmethod
    def of(cls, start: Any) -> StateMirror | None:
        """From an initial position; None for other positions and games."""
        if not isinstance(start, EwnPosition) or start.game.name != "ewn" or start.over:
            return None
        turned = start.turn == SIDES[0]  # else Blue begins, as White does
        state = pyspiel.load_game(EWN).new_initial_state()
        places = _turned(start) if turned else start.cells
        for side, table in zip("rb", _placements(), strict=True):
            stands = tuple(cell if cell[:1] == side else "" for row in places for cell in row)
            if stands not in table:
                return None
            state.apply_action(table[stands])
        mirror = cls(start.at(_unrolled(start)), state, turned)
        if start.die is not None:
            mirror._roll(start.die)
        return mirror

    def follow(self, position: Any) -> Any:
        """OpenSpiel's state for a position that the game has reached; None if it has not.

        The opponent's roll is unknown: any number that allows its move will do.
        """
        here = self.position
        if position == here:
            return self.state
        if position.die is None:
            return None
        if here.is_chance and here.roll(position.die) == position:
            self._roll(position.die)
            return self.state
        rolls: list[tuple[int | None, EwnPosition]] = [(None, here)]
        if here.is_chance:
            rolls = [(number, here.roll(number)) for number in range(1, 7)]
        for number, rolled in rolls:
            for move in rolled.legal_moves():
                after = rolled.play(move)
                if not after.over and after.roll(position.die) == position:
                    if number is not None:
                        self._roll(number)
                    self.play(move)
                    self._roll(position.die)
                    return self.state
        return None

    def play(self, move: str) -> None:
        """A move."""
        self.state.apply_action(moves_of(self.state)[move])
        self.position = self.position.play(move)

    def _roll(self, number: int) -> None:
        self.state.apply_action(number - 1)
        self.position = self.position.roll(number)


def _unrolled(position: EwnPosition) -> tuple[np.uint64, np.uint64]:
    """A position's words before its die was rolled."""
    one, other = position.words
    return one, np.uint64(int(other) & ~(0xFF << 56) | 7 << 56)


def _turned(position: EwnPosition) -> list[list[str]]:
    """The board turned round, the sides exchanged."""
    swap = {"r": "b", "b": "r", "": ""}
    return [[swap[cell[:1]] + cell[1:] for cell in row[::-1]] for row in position.cells[::-1]]


@cache
def _placements() -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]]:
    """How its Black (Red here) and its White stand after each of its first two chance actions."""
    tables: list[dict[tuple[str, ...], int]] = []
    state = pyspiel.load_game(EWN).new_initial_state()
    for side in "rb":
        table = {}
        for action, _ in state.chance_outcomes():
            cells = [cell for row in position_of(state.child(action)).cells for cell in row]
            table[tuple(cell if cell[:1] == side else "" for cell in cells)] = action
        tables.append(table)
        state.apply_action(0)
    return tables[0], tables[1]


def make(spec: Spec, game: Game, **_: Any) -> OpenSpielAgent:
    """What `openspiel:bot=mcts,sims=1000` names, for a game."""
    spec.needs_trust("another library's bot")
    if game.players != 2:
        raise UserError(f"OpenSpiel's bots play games for two here, not {game.name}")
    bot = from_text(Bot, spec.settings, spec.text)
    if bot.bot == "random" and bot != Bot(bot="random"):
        raise UserError(f"{spec.text}: any legal move needs no other settings")
    if bot.time is not None and game.name != "ewn":
        raise UserError(f"{spec.text}: time is of the standard ewn; give sims")
    return OpenSpielAgent(spec.text, bot, game)
