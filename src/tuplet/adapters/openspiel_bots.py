"""tuplet agents as OpenSpiel bots: `pyspiel.evaluate_bots(state, [AgentBot("best"), ...], seed)`.

They play the games of `adapters/openspiel.py`, and OpenSpiel's own `einstein_wurfelt_nicht` and `2048`, whose states are
parsed from their text.
"""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np

from tuplet.adapters.openspiel import CHANCE, TupletState, pyspiel
from tuplet.agents.agent import Named, agent_from
from tuplet.errors import UserError
from tuplet.games import agent_hooks
from tuplet.games.ewn.position import EwnPosition
from tuplet.games.g2048.board import MOVES, Board, as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.position import Position2048
from tuplet.kernel import as_seed, stream

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

    OpenSpiel's own 2048 omits some: it overlooks a tile that was just merged and could merge with a neighbour. They can be
    played all the same.
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
            luck = np.uint64(stream(self._seed, np.uint64(self._games)))
            agent_hooks.begin(agent, position, position.turn, luck)
            self._begun, self._games = True, self._games + 1
        move = agent.choose(position)
        return moves_of(state)[as_move(move) if isinstance(position, Position2048) else str(move)]


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
