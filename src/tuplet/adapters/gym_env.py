"""2048 as a Gymnasium environment."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from tuplet.adapters import boards, one_of
from tuplet.adapters.boards import ENDED, NEXT, SCORE, SEED, EnvConfig, board_of
from tuplet.adapters.drawing import FPS, Screen, pixels, tiles_of
from tuplet.adapters.seeds import as_word, seed_of
from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, Size

Array = np.ndarray[Any, Any]

_NONE = np.zeros(0)  # instead of each move's reward, where that is not shown
_EVERY = np.ones(1, np.bool_)
_FIRST, _END = np.uint64(0), np.uint64(1)


def observation_space(config: EnvConfig) -> Box:
    """The space of observations."""
    high = 1 if config.observation == "onehot" else config.largest
    return Box(0, high, config.shape, np.uint8)


def as_render_mode(mode: str | None, known: list[str]) -> str | None:
    """A checked render mode."""
    return None if mode is None else one_of("render_mode", mode, known)


class Env2048(Env[Array, int]):
    """A game of 2048 on a board of 2x2 to 4x4; moves are 0 up, 1 right, 2 down, 3 left.

    `observation` is "exponents" (0 empty, 1 a 2, 2 a 4, ...), "onehot" (a plane for each exponent) or "afterstates" (the
    boards after up, right, down and left, before the next tile; an illegal move leaves the board as it is). `reward` is
    "points" (the sum of merged tiles), "log" (the binary logarithm of the points, or 0) or "merges" (the number of merges).
    `illegal` says what a move does that changes nothing: "ignore" (nothing), "end" (it ends the episode) or "error" (it
    raises ValueError).

    The info has `action_mask` (int8, for `action_space.sample`), `score` (the points so far) and, with after-states,
    `rewards` (the reward of each move). Game n after `reset(seed=s)` is game n of `tuplet eval --seed s`.
    """

    metadata = {  # noqa: RUF012  # Gymnasium's own
        "render_modes": ["human", "ansi", "rgb_array"],
        "render_fps": FPS,
    }

    def __init__(
        self,
        board: str | Size = "4x4",
        spawn4: float = 0.1,
        observation: str = "exponents",
        reward: str = "points",
        illegal: str = "ignore",
        render_mode: str | None = None,
    ) -> None:
        self.config = EnvConfig.of(board, spawn4, observation, reward, illegal)
        self.render_mode = as_render_mode(render_mode, self.metadata["render_modes"])
        self.observation_space = observation_space(self.config)
        self.action_space: Any = Discrete(4)  # typed as np.int64; `step` takes any integer
        self._shape, self._cells = self.config.shape, int(np.prod(self.config.shape))
        self._games, rules = boards.new_games(1), self.config.rules
        self._arrays = rules.across, rules.down, self.config.setup(), self._games
        self._score = np.zeros(1, np.int64)
        self._foresees = observation == "afterstates"
        self._source: np.random.Generator | None = None  # the generator that the board's seed comes from
        self._screen = Screen()

    @property
    def board(self) -> Board:
        """The current board."""
        return board_of(self._games[0], self.config.size)

    @property
    def legal(self) -> int:
        """A bit for each legal move: up, right, down, left."""
        return int(self._games[0, boards.LEGAL]) & 15

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[Array, dict[str, Any]]:
        """Begin the first game of the seed, or without a seed the next game of the last seed."""
        super().reset(seed=seed)
        if self._source is not self.np_random:
            self._source = self.np_random
            self._games[0, SEED], self._games[0, NEXT] = as_word(seed_of(self)), 0
        observation, mask = np.empty(self._cells, np.uint8), np.empty(4, np.int8)
        gains = np.empty(4) if self._foresees else _NONE
        boards.reset_games(*self._arrays, _EVERY, observation, gains, mask, self._score, _FIRST, _END)
        if self.render_mode == "human":
            self.render()
        info: dict[str, Any] = {"action_mask": mask, "score": 0}
        if self._foresees:
            info["rewards"] = gains
        return observation.reshape(self._shape), info

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Make a move, and let a tile appear."""
        observation, mask = np.empty(self._cells, np.uint8), np.empty(4, np.int8)
        gains = np.empty(4) if self._foresees else _NONE
        across, down, setup, games = self._arrays
        reward, status = boards.step_one(
            across, down, setup, games, index(action), observation, gains, mask, self._score
        )
        if status > ENDED:
            raise self._refusal(status, action)
        if self.render_mode == "human":
            self.render()
        info = {"action_mask": mask, "score": self._score.item()}
        if self._foresees:
            info["rewards"] = gains
        return observation.reshape(self._shape), reward, status == ENDED, False, info

    def _refusal(self, status: int, action: Any) -> Exception:
        """The error for a step that is refused."""
        if status == boards.NEEDS_RESET:
            return ResetNeeded("no episode has begun: call reset()")
        if not 0 <= int(action) < 4:
            return UserError(f"a move is 0 up, 1 right, 2 down or 3 left, not {action}")
        return UserError(
            f"{MOVES[int(action)]} changes nothing here, and illegal='error': "
            f"info['action_mask'] has the legal moves, {', '.join(self.board.legal_moves())}"
        )

    def render(self) -> Any:
        """The board as text, as pixels, or drawn into the terminal."""
        score = int(self._games[0, SCORE])
        if self.render_mode == "ansi":
            return f"{self.board}\n{score:,} points\n"
        if self.render_mode == "rgb_array":
            return pixels(tiles_of(self.board))
        if self.render_mode == "human":
            self._screen.show(tiles_of(self.board), f"{score:,} points")
        return None

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._screen.close()
