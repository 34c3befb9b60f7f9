"""tuplet agents as OpenSpiel bots, and OpenSpiel's bots as tuplet agents.

`pyspiel.evaluate_bots(state, [AgentBot("best"), ...], seed)`: agents play the games of `adapters/openspiel.py`, and
OpenSpiel's own `einstein_wurfelt_nicht` and `2048`, whose states are parsed from their text.

`openspiel:bot=mcts,sims=1000`: on the standard EWN such a bot searches OpenSpiel's own game in C++, which mirrors
ours move by move. There White moves first; if Red does here, the board is turned round. On other games, and for
positions without a history, OpenSpiel's Python search runs on our rules, slowly: its C++ search cannot call a game in
Python (2.0.2 crashes, also with its own Python games).
"""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from tuplet.adapters.openspiel import CHANCE, TupletGame, TupletState, load, mcts, pyspiel, state_at
from tuplet.agents.agent import Named, agent_from
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.ewn import SIDES, EwnPosition
from tuplet.games.g2048.board import MOVES, Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.game import Game
from tuplet.kernel import as_seed, stream
from tuplet.system.settings import check, from_text, setting

EWN, G2048 = "einstein_wurfelt_nicht", "2048"  # as OpenSpiel calls its own
_UNDEALT = "the initial cubes or tiles are not dealt yet: the state has no position"
_DIRECTIONS = {"right": 0, "left": 0, "down": 1, "up": 1, "diag": 2}


def name_of(state: Any) -> str:
    """The game of a state."""
    return str(state.get_game().get_type().short_name)


def position_of(state: Any) -> Any:
    """An OpenSpiel state as a tuplet position; UserError for other games.

    OpenSpiel's Black starts top left, as Red does here, and is player 0; White always moves first.
    """
    if isinstance(state, TupletState):
        if state.position is None:
            raise UserError(_UNDEALT)
        return state.position
    name = name_of(state)
    if name == G2048:
        board = Board([int(tile) for tile in re.findall(r"\d+", str(state))])
        points = int(state.returns()[0])
        return Game2048().position(board, points, tile_due=state.is_chance_node())
    if name != EWN:
        raise UserError(f"tuplet does not know OpenSpiel's game {name}")
    if not state.full_history():
        raise UserError(_UNDEALT)
    cells = re.findall(r"\|(..)\|", str(state))
    marks = ["." if cell == "__" else "br"[cell[0] == "b"] + cell[1] for cell in cells]
    rows = "/".join("".join(marks[at : at + 5]) for at in range(0, 25, 5))
    last = state.full_history()[-1]
    rolled = last.player == CHANCE and not state.is_chance_node()
    side = _mover(state, last.player)
    return EwnPosition.parse(f"ewn {rows} {side} {last.action + 1 if rolled else '?'}")


def _mover(state: Any, last: int) -> str:
    """The side to move next, also before a roll or after the end."""
    player = state.current_player()
    if player < 0:
        player = 1 if last == CHANCE else 1 - last  # White begins
    return ("red", "blue")[player]


def moves_of(state: Any) -> dict[str, int]:
    """The legal moves of a state in tuplet's notation, and their OpenSpiel actions.

    OpenSpiel's own 2048 omits some: it overlooks a tile that was just merged and could merge with a neighbour. They
    can be played all the same.
    """
    if isinstance(state, TupletState):
        return {position_of(state).move_text(action): action for action in state.legal_actions()}
    if name_of(state) == G2048:
        return {move: MOVES.index(move) for move in position_of(state).legal_moves()}
    moves = {}
    for action in state.legal_actions():
        cube, direction = state.action_to_string(action).strip("*").split("-")
        moves[f"{cube[1]}{_DIRECTIONS[direction]}"] = action
    return moves


class AgentBot(pyspiel.Bot):  # type: ignore[misc]  # it says nothing of its types
    """A tuplet agent as a bot, given by name, by class or as an object: `AgentBot("mcts:sims=2000")`."""

    def __init__(self, agent: Named, seed: int = 0) -> None:
        pyspiel.Bot.__init__(self)
        self._named, self._seed = agent, as_seed(seed)
        self._agents: dict[str, Any] = {}  # by game
        self._games = 0
        self._begun = False

    def restart(self) -> None:
        """Another game begins."""
        self._begun = False

    def restart_at(self, state: Any) -> None:  # noqa: ARG002
        """The same."""
        self._begun = False

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Nothing to do: the next `step` sees the state."""

    def step(self, state: Any) -> int:
        """The agent's action."""
        position = position_of(state)
        if position.game not in self._agents:
            self._agents[position.game] = agent_from(self._named, position.game)
        agent = self._agents[position.game]
        if not self._begun:
            stream_start = np.uint64(stream(self._seed, np.uint64(self._games)))
            agent_hooks.begin(agent, position, position.turn, stream_start)
            self._begun, self._games = True, self._games + 1
        move = position.move_text(position.action_of(agent.choose(position)))
        return moves_of(state)[move]


def mcts_speed(sims: int) -> int:
    """Simulations per second of OpenSpiel's MCTS bot (C++) on its EWN, on one thread."""
    game = pyspiel.load_game("einstein_wurfelt_nicht")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 0), 2.0, sims, 1000, False, 0, False)
    began = time.perf_counter()
    bot.step(state)
    return round(sims / (time.perf_counter() - began))


@dataclass(kw_only=True)
class Bot:
    """A bot and its settings; the defaults of c, rollouts and solve are those of OpenSpiel's example."""

    bot: Literal["mcts", "random"] = setting("mcts", "Tree search, or random legal moves.")
    sims: int = setting(1000, "Simulations per move.", least=1, most=10**9)
    c: float = setting(2.0, "How much it explores.", least=0)
    rollouts: int = setting(1, "Random games per leaf.", least=1, most=10**6)
    solve: bool = setting(True, "Prove wins and losses.")
    time: float | None = setting(None, "Time limit per move, in seconds.", above=0)
    memory: int = setting(1000, "Memory for the tree, in megabytes.", least=1, most=10**6)

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
        if start.game.name != "ewn" or start.over:
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
    if game.players != 2:
        raise UserError(f"{spec.text}: OpenSpiel's bots play games for two players here, not {game.name}")
    bot = from_text(Bot, spec.settings, spec.text)
    if bot.bot == "random" and bot != Bot(bot="random"):
        raise UserError(f"{spec.text}: bot=random takes no other settings")
    if bot.time is not None and game.name != "ewn":
        raise UserError(f"{spec.text}: time is only for the game ewn: use sims")
    return OpenSpielAgent(spec.text, bot, game)
