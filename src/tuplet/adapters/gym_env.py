"""2048 as an environment of Gymnasium: one board."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from tuplet.adapters import boards, one_of
from tuplet.adapters.boards import ENDED, NEXT, SCORE, SEED, EnvConfig, board_of, first_legal
from tuplet.adapters.drawing import FPS, Screen, pixels, tiles_of
from tuplet.adapters.seeds import as_word, seed_of
from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, Size

Array = np.ndarray[Any, Any]

_NONE = np.zeros(0)  # in place of what each move would bring, where that is not shown
_EVERY = np.ones(1, np.bool_)
_FIRST, _END = np.uint64(0), np.uint64(1)


def observation_space(config: EnvConfig) -> Box:
    """What a board can look like."""
    high = 1 if config.observation == "onehot" else config.largest
    return Box(0, high, config.shape, np.uint8)


def as_render_mode(mode: str | None, known: list[str]) -> str | None:
    """A render mode that exists; ValueError for others."""
    return None if mode is None else one_of("render_mode", mode, known)


class LegalMoves(Discrete):
    """The four moves, of which it samples those that are legal on the environment's board.

    Gymnasium's checker seeds this space, samples a move, and only then resets the environment by
    the same seed. So the first sample after `seed` is legal on that seed's first board as well,
    where there is such a move.
    """

    def __init__(self, env: Env2048) -> None:
        super().__init__(4)
        self._env, self._seeded = env, -1

    def seed(self, seed: Any = None) -> Any:
        """Seed what is sampled."""
        self._seeded = seed if isinstance(seed, int) else -1
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A move; one that is legal, if neither a mask nor probabilities say which."""
        if mask is None and probability is None:
            now, first = self._env.legal, 0
            if self._seeded >= 0:
                first, self._seeded = int(first_legal(self._env.config.rules, self._seeded)), -1
            bits = now & first or now or first
            mask = np.array([bits >> move & 1 for move in range(4)], np.int8)
        return super().sample(mask) if probability is None else super().sample(mask, probability)


class Env2048(Env[Array, int]):
    """A game of 2048 on a board of 2x2 to 4x4; moves are 0 up, 1 right, 2 down, 3 left.

    `observation` is "exponents" (0 empty, 1 a 2, 2 a 4, ...), "onehot" (a plane for each exponent)
    or "afterstates" (the boards that up, right, down and left would leave before the next tile; a
    move that is not legal leaves the board as it is). `reward` is "points" (the tiles that were
    made), "log" (the binary logarithm of the points, 0 without any: the exponent, for one tile) or
    "merges" (how many tiles were made). `illegal` says what a move does that changes nothing:
    "ignore" (nothing), "end" (it ends the episode) or "error" (it raises ValueError).

    The info has `action_mask` (int8, as `action_space.sample` takes it), `score` (the points so
    far) and, with after-states, `rewards` (what each move would bring). Game n after
    `reset(seed=s)` is game n of `tuplet eval --seed s`.
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
        # (Discrete is a space of np.int64, and takes whatever is a whole number.)
        self.action_space: Any = LegalMoves(self) if illegal == "error" else Discrete(4)
        self._shape, self._cells = self.config.shape, int(np.prod(self.config.shape))
        self._across, self._down = self.config.rules.across, self.config.rules.down
        self._setup, self._games = self.config.setup(), boards.new_games(1)
        self._score = np.zeros(1, np.int64)
        self._foresees = observation == "afterstates"
        self._source: np.random.Generator | None = None  # whose seed the board has
        self._screen = Screen()

    @property
    def board(self) -> Board:
        """The board as people hold it."""
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
        """Begin the seed's first game, or without a seed the next game of the last one."""
        super().reset(seed=seed)
        if self._source is not self.np_random:
            self._source = self.np_random
            self._games[0, SEED], self._games[0, NEXT] = as_word(seed_of(self)), 0
        observation, mask = np.empty(self._cells, np.uint8), np.empty(4, np.int8)
        gains = np.empty(4) if self._foresees else _NONE
        boards.reset_games(
            self._across,
            self._down,
            self._setup,
            self._games,
            _EVERY,
            observation,
            gains,
            mask,
            self._score,
            _FIRST,
            _END,
        )
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
        reward, status = boards.step_one(
            self._across, self._down, self._setup, self._games, index(action), observation, gains, mask, self._score
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
        """Why a step was not made."""
        if status == boards.NEEDS_RESET:
            return ResetNeeded("no episode is under way: reset() begins one")
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
