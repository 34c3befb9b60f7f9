"""EWN and its variants for PettingZoo, and any game for one or two players that passes `check_game`.

    env = tuplet.adapters.pettingzoo.env("ewn-6x7")

The legal moves are in the info or in the observation, the two conventions of PettingZoo.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.adapters import missing, one_of
from tuplet.errors import UserError

try:
    import pettingzoo
    from gymnasium.spaces import Box, Dict, Discrete, Space
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper
except ModuleNotFoundError as error:
    raise missing(error, "pettingzoo", "pettingzoo") from None

from tuplet.adapters import as_word
from tuplet.adapters.drawing import FPS, Cell, Screen, cubes_of, pixels, squares_of
from tuplet.games.drawing import LINE
from tuplet.games.ewn import SIDES, EwnPosition
from tuplet.games.game import Game
from tuplet.games.registry import game as game_of
from tuplet.kernel import stream

Array = np.ndarray[Any, Any]

__all__ = ["ID", "GameEnv", "env", "raw_env"]

ID = "tuplet/ewn-v1"
MASKS = ("info", "observation")
WORDS = 128  # bits of a position


class GameEnv(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A game between agents `player_0` and `player_1`, who move in turn; chance acts by itself.

    Actions are the game's numbers of moves. At the end the winner's reward is 1, the loser's -1; a game for one
    player ends with its points. An illegal move loses the game, or all points of a game for one player. `masks` says
    where `action_mask` is: in the "info", or in the "observation", which is then a dictionary.

    Each side observes EWN as if it played from the top left: a plane for each of its own cubes, each of the
    opponent's, each face of the die (of a known die, for its whole cycle from now on), and one that is all ones for
    the side to move. Of other games the observation has the 128 bits of a position, whether the agent is to move, and
    its number.
    """

    def __init__(self, game: str | Game = "ewn", render_mode: str | None = None, masks: str = "info") -> None:
        super().__init__()
        self.game = game_of(game)
        self._is_ewn = self.game.family == "ewn"  # which is seen as planes of cubes
        name = "".join(c if c.isalnum() else "_" for c in self.game.name.rpartition("/")[2])
        self.metadata: dict[str, Any] = {
            "render_modes": ["human", "ansi", "rgb_array"],
            "render_fps": FPS,
            "name": f"{name}_v1",
            "is_parallelizable": False,
        }
        if render_mode is not None:
            one_of("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode, self.masks = render_mode, one_of("masks", masks, MASKS)
        self.possible_agents = [f"player_{n}" for n in range(self.game.players)]
        self.agents: list[str] = []
        self.action_spaces = {each: Discrete(self.game.actions) for each in self.possible_agents}
        self.observation_spaces = {each: self._space() for each in self.possible_agents}
        self._seed: int | None = None
        self._number = 0  # the seed's next game
        self._screen = Screen()

    def _space(self) -> Space[Any]:
        kind: Any = self.game
        shape: tuple[int, ...] = (WORDS + 2,)
        if self._is_ewn:
            shape = (kind.rows, kind.columns, kind.cubes * (2 + max(kind.cycle, 1)) + 1)
        seen = Box(0, 1, shape, np.uint8)
        if self.masks == "info":
            return seen
        return Dict({"observation": seen, "action_mask": Box(0, 1, (self.game.actions,), np.int8)})

    def observation_space(self, agent: str) -> Space[Any]:
        """The observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Begin the first game of the seed, or without a seed the next game of the last seed."""
        if seed is not None or self._seed is None:
            self._seed, self._number = seeding.np_random(seed)[1], 0
        state = stream(np.uint64(as_word(self._seed)), np.uint64(self._number))
        self._number += 1
        self._state, self.position = self.game.initial_position(np.uint64(state))
        self._let_chance_act()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._turn()

    def _let_chance_act(self) -> None:
        while self.position.is_chance:
            self._state, outcome = self.position.random_outcome(self._state)
            self.position = self.position.apply_outcome(outcome)

    def _turn(self) -> None:
        """Select the agent to move, and set the infos."""
        side = self.position.sides.index(self.position.turn)
        self.agent_selection = self.possible_agents[side]
        in_info = self.masks == "info"
        self.infos = {a: {"action_mask": self._mask(a)} if in_info else {} for a in self.agents}
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Make the move of the selected agent."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not 0 <= int(action) < self.game.actions:
            raise UserError(f"an action must be 0 to {self.game.actions - 1} (got {action})")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if int(action) in self.position.legal_actions():
            self.position = self.position.after(int(action))
            self._let_chance_act()
            if self.position.over:
                self._end(self.position.result)
        else:
            self._end(float(self.possible_agents.index(agent)))  # the other agent has won
        self._accumulate_rewards()
        self._turn()

    def _end(self, outcome: float) -> None:
        """End the game with the first player's result: 1, 1/2 or 0, or points."""
        first, *others = self.agents
        self.rewards[first] = 2.0 * outcome - 1.0 if others else outcome
        for other in others:
            self.rewards[other] = 1.0 - 2.0 * outcome
        self.terminations = dict.fromkeys(self.agents, True)

    def observe(self, agent: str) -> Any:
        """An agent's observation."""
        side = self.possible_agents.index(agent)
        if self._is_ewn:
            seen = _planes(self.position, side)
        else:
            words = np.array(self.position.words, np.uint64).view(np.uint8)
            mine = self.position.turn == self.position.sides[side]
            bits = np.unpackbits(words, bitorder="little")
            seen = np.concatenate([bits, np.array([mine, side], np.uint8)])
        if self.masks == "info":
            return seen
        return {"observation": seen, "action_mask": self._mask(agent)}

    def _mask(self, agent: str) -> Array:
        """Ones at the legal moves of the agent to move; zeros for the other."""
        mask = np.zeros(self.game.actions, np.int8)
        if agent == self.agent_selection and not any(self.terminations.values()):
            mask[self.position.legal_actions()] = 1
        return mask

    def render(self) -> Any:
        """The position as text, as pixels, or drawn into the terminal."""
        if self._number == 0:
            raise UserError("no game has begun: call reset()")
        if self.render_mode == "ansi":
            return f"{self.position}\n"
        if self.render_mode == "rgb_array":
            return pixels(self._cells(), LINE)
        if self.render_mode == "human":
            self._screen.show(self._cells(), self.position.caption())
        return None

    def _cells(self) -> list[list[Cell]]:
        cells = self.position.cells
        return cubes_of(cells) if self._is_ewn else squares_of(cells, dict(self.game.colours))

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._screen.close()


def _planes(position: EwnPosition, side: int) -> Array:
    """A position of EWN as planes, turned so that `side` plays towards the bottom right."""
    kind = position.game
    count, faces = kind.cubes, max(kind.cycle, 1)
    planes = np.zeros((kind.rows, kind.columns, count * (2 + faces) + 1), np.uint8)
    for (owner, number), (row, column) in position.cubes.items():
        plane = number - kind.first_cube + count * (SIDES.index(owner) != side)
        planes[row, column, plane] = 1
    if side == 1:
        planes = planes[::-1, ::-1].copy()
    die = [] if position.die is None else [position.die]
    for n, face in enumerate(position.coming_die(faces) if kind.cycle else die):
        planes[:, :, count * (2 + n) + face - kind.first_cube] = 1
    planes[:, :, -1] = position.turn == SIDES[side]
    return planes


raw_env = GameEnv  # as PettingZoo calls it


def env(game: str | Game = "ewn", render_mode: str | None = None, masks: str = "info") -> AECEnv:
    """A `GameEnv` in PettingZoo's usual wrappers, which check actions and the order of calls."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(GameEnv(game, render_mode, masks)))


if hasattr(pettingzoo, "register") and ID not in pettingzoo.aec_registry:  # from 1.27 on
    pettingzoo.register("aec", ID, "tuplet.adapters.pettingzoo:env")
