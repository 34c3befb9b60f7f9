"""2048 for Gymnasium: importing this module registers `tuplet/2048-v1`.

`gymnasium.make("tuplet.adapters.gym:tuplet/2048-v1")` imports it and makes the environment; `gymnasium.make_vec`
makes a vector environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from tuplet.adapters import as_word, boards, missing, one_of, seed_of

try:
    import gymnasium
    from gymnasium import Env
    from gymnasium.error import ResetNeeded
    from gymnasium.spaces import Box, Discrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as error:
    raise missing(error, "gymnasium", "gym") from None

from tuplet.adapters.boards import ENDED, KEEP, LEGAL, NEXT, NEXT_STEP, SAME_STEP, SCORE, SEED, EnvConfig, board_of
from tuplet.adapters.drawing import FPS, Screen, pixels, tiles_of
from tuplet.adapters.gym_policy import TuplePolicy
from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, Size
from tuplet.system.blocks import as_threads, cores

__all__ = ["ID", "Env2048", "TuplePolicy", "Vector2048"]

ID = "tuplet/2048-v1"
Array = np.ndarray[Any, Any]
Views = tuple[Array, Array, Array, Array]  # observations, rewards of moves, masks, scores

_NONE = np.zeros(0)  # instead of each move's reward, where that is not shown
_EVERY = np.ones(1, np.bool_)
_FIRST, _END = np.uint64(0), np.uint64(1)
SHARE = 2048  # boards per thread: waking one takes as long as some hundred steps
_RESETS = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: KEEP}
_LEAST_BITS = ~np.int64(3)


def observation_space(config: EnvConfig) -> Box:
    """The space of observations."""
    high = 1 if config.observation == "onehot" else config.largest
    return Box(0, high, config.shape, np.uint8)


def as_render_mode(mode: str | None, known: list[str]) -> str | None:
    """A checked render mode."""
    return None if mode is None else one_of("render_mode", mode, known)


class Env2048(Env[Array, int]):
    """A game of 2048 on a board of 2x2 to 4x4; moves are 0 up, 1 right, 2 down, 3 left.

    `observation` is "exponents" (0 empty, 1 a 2, 2 a 4, ...), "onehot" (a plane for each exponent) or "afterstates"
    (the boards after up, right, down and left, before the next tile; an illegal move leaves the board as it is).
    `reward` is "points" (the sum of merged tiles), "log" (the binary logarithm of the points, or 0) or "merges" (the
    number of merges). `illegal` says what a move does that changes nothing: "ignore" (nothing), "end" (it ends the
    episode) or "error" (it raises ValueError).

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
        return observation.reshape(self._shape), self._info(mask, gains)

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
        return observation.reshape(self._shape), reward, status == ENDED, False, self._info(mask, gains)

    def _info(self, mask: Array, gains: Array) -> dict[str, Any]:
        """The info of a step, which is drawn if a person watches."""
        if self.render_mode == "human":
            self.render()
        info = {"action_mask": mask, "score": self._score.item()}
        return info | {"rewards": gains} if self._foresees else info

    def _refusal(self, status: int, action: Any) -> Exception:
        """The error for a step that is refused."""
        if status == boards.NEEDS_RESET:
            return ResetNeeded("no episode has begun: call reset()")
        if not 0 <= int(action) < 4:
            return UserError(f"a move must be 0 (up), 1 (right), 2 (down) or 3 (left) (got {action})")
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


class Vector2048(VectorEnv[Array, Array, Array]):
    """Boards of 2048 that are stepped together, made by `gymnasium.make_vec`.

    Board i after `reset(seed=s)` is `Env2048` after `reset(seed=s + i)`, step by step; all results equal those of
    `gymnasium.vector.SyncVectorEnv`, infos included. It takes the settings of a single environment, any
    `autoreset_mode` of Gymnasium, `max_episode_steps`, which truncates episodes, and `threads` [default: one per
    core].
    """

    _pool: ThreadPoolExecutor | None = None  # made when first needed
    _owner = 0  # the process that made it

    def __init__(
        self,
        num_envs: int = 1,
        board: str | Size = "4x4",
        spawn4: float = 0.1,
        observation: str = "exponents",
        reward: str = "points",
        illegal: str = "ignore",
        render_mode: str | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        threads: int | None = None,
    ) -> None:
        if num_envs < 1:
            raise UserError(f"num_envs must be 1 or more (got {num_envs})")
        limit = max_episode_steps or -1  # no limit, as for `gymnasium.make`
        if limit < -1 or max_episode_steps == 0:
            raise UserError(f"max_episode_steps must be 1 or more (got {max_episode_steps})")
        self.config = EnvConfig.of(board, spawn4, observation, reward, illegal)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {
            "render_modes": ["ansi", "rgb_array"],
            "render_fps": FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = as_render_mode(render_mode, self.metadata["render_modes"])
        self.single_observation_space = observation_space(self.config)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = Discrete(4)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._across, self._down = self.config.rules.across, self.config.rules.down
        self._setup = self.config.setup(_RESETS[self.autoreset_mode], max(limit, 0))
        self._games = boards.new_games(num_envs)
        self._foresees = observation == "afterstates"
        self._ended = np.ones(num_envs, np.bool_)  # or not yet begun
        self._source: np.random.Generator | None = None  # the generator that the boards' seeds come from
        workers = min(as_threads(cores() if threads is None else threads), max(1, num_envs // SHARE))
        ends = [num_envs * n // workers for n in range(workers + 1)]
        self._shares = [(np.uint64(a), np.uint64(b)) for a, b in pairwise(ends)]

    @property
    def boards(self) -> list[Board]:
        """The current boards."""
        return [boards.board_of(game, self.config.size) for game in self._games]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a game on every board, or on those of `options["reset_mask"]`.

        Board i has the seed `seed + i`, or number i of a list; without a seed it begins the next
        game of the one that it has.
        """
        listed = isinstance(seed, Sequence | np.ndarray)
        chosen = self._chosen(options)
        super().reset(seed=None if listed else seed)  # type: ignore[arg-type]
        self._seed_boards(seed, chosen)
        self._ended[chosen] = False
        views = self._new_views()
        self._on_all(boards.reset_games, chosen, *views)
        if not chosen.all():  # infos are those of the boards that were reset
            for array in views[1:] if self._foresees else views[2:]:
                array[~chosen] = 0
        return views[0], self._infos(views, chosen)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Make a move on every board, and let tiles appear."""
        moves, count = self._moves(actions), self.num_envs
        views, rewards = self._new_views(), np.empty(count)
        over, cut = np.empty(count, np.bool_), np.empty(count, np.bool_)
        at_once = self.autoreset_mode is AutoresetMode.SAME_STEP
        last = self._new_views(blank=True) if at_once else views
        ended = self._on_all(boards.step_games, moves, *views, rewards, over, cut, *last)
        infos = self._infos(views, np.ones(count, np.bool_))
        if not at_once:
            self._ended = over | cut
        elif ended:
            infos |= self._last_infos(last, over | cut)
        return views[0], rewards, over, cut, infos

    def _new_views(self, blank: bool = False) -> Views:
        """New arrays, which users keep; `blank` for those that are written for a few boards only."""
        make, count = np.zeros if blank else np.empty, self.num_envs
        observations = np.empty((count, *self.config.shape), np.uint8)
        gains = make((count, 4) if self._foresees else (0, 4))
        return observations, gains, make((count, 4), np.int8), make(count, np.int64)

    def _on_all(self, kernel: Callable[..., int], *arrays: Array) -> int:
        """Run a kernel on every board, in the caller's thread and the others; the sum of results."""
        flat = [array.reshape(-1) for array in arrays]
        arguments = (self._across, self._down, self._setup, self._games, *flat)
        first, *rest = self._shares
        others = [self._threads().submit(kernel, *arguments, *share) for share in rest]
        return kernel(*arguments, *first) + sum(other.result() for other in others)

    def _threads(self) -> ThreadPoolExecutor:
        """The threads besides the caller's; a forked process makes its own."""
        if self._pool is None or self._owner != os.getpid():
            self._pool = ThreadPoolExecutor(len(self._shares) - 1, "tuplet")
            self._owner = os.getpid()
        return self._pool

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}  # threads cannot be copied

    def _infos(self, views: Views, known: Array) -> dict[str, Any]:
        """The infos, with Gymnasium's `_key` for each key: the boards that have it."""
        _, gains, masks, scores = views
        infos: dict[str, Any] = {"action_mask": masks, "_action_mask": known, "score": scores, "_score": known.copy()}
        if self._foresees:
            infos |= {"rewards": gains, "_rewards": known.copy()}
        return infos

    def _last_infos(self, last: Views, ended: Array) -> dict[str, Any]:
        """The last observations and infos of the episodes that have ended in this step."""
        where = np.flatnonzero(ended)
        final = np.full(self.num_envs, None, object)
        for board, observation in zip(where.tolist(), last[0][where], strict=True):
            final[board] = observation
        info = self._infos(last, ended.copy())
        return {"final_obs": final, "_final_obs": ended, "final_info": info, "_final_info": ended.copy()}

    def _chosen(self, options: dict[str, Any] | None) -> Array:
        """The boards to reset."""
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.array(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise UserError(
                f"options['reset_mask'] must have a bool for each of {self.num_envs} boards, at least one of them True"
            )
        return mask

    def _seed_boards(self, seed: int | Sequence[int | None] | None, chosen: Array) -> None:
        """Seed the boards that have no seed yet, or get another."""
        seeds: dict[int, int] = {}
        if self._source is not self.np_random:
            whom = chosen if isinstance(seed, int) and self._source else np.ones_like(chosen)
            first = seed_of(self)
            seeds = {board: first + board for board in np.flatnonzero(whom).tolist()}
        if seed is not None and not isinstance(seed, int):
            if len(seed) != self.num_envs:
                raise UserError(f"seed must have one value for each of {self.num_envs} boards (got {len(seed)})")
            own = {board: seed[board] for board in np.flatnonzero(chosen).tolist()}
            seeds |= {board: int(each) for board, each in own.items() if each is not None}
        where = list(seeds)
        self._games[where, SEED] = np.array([as_word(each) for each in seeds.values()], np.uint64)
        self._games[where, NEXT] = 0
        self._source = self.np_random

    def _moves(self, actions: Any) -> Array:
        """Checked moves, as kernels take them."""
        moves = np.asarray(actions)
        known = moves.dtype.kind in "iu" and moves.shape == (self.num_envs,)
        if known:
            moves = np.ascontiguousarray(moves, np.int64)
            if not moves.flags.writeable:  # a type of its own to the compiler
                moves = moves.copy()
        if not known or np.bitwise_or.reduce(moves) & _LEAST_BITS:
            raise UserError(f"actions must be {self.num_envs} moves, each 0 (up), 1 (right), 2 (down) or 3 (left)")
        waits = self.autoreset_mode is AutoresetMode.NEXT_STEP and self._source is not None
        if not waits and self._ended.any():
            raise ResetNeeded("no episode has begun on some boards: call reset()")
        if self.config.illegal == "error":
            legal = (self._games[:, LEGAL].astype(np.int64) >> moves) & 1 != 0
            if not (legal | self._ended).all():
                board = int(np.flatnonzero(~(legal | self._ended))[0])
                raise UserError(
                    f"{MOVES[int(moves[board])]} changes nothing on board {board}, and "
                    "illegal='error': infos['action_mask'] has the legal moves"
                )
        return moves

    def render(self) -> tuple[Any, ...] | None:
        """The boards as texts, or as arrays of pixels."""
        if self.render_mode == "ansi":
            scores = self._games[:, SCORE].tolist()
            return tuple(f"{b}\n{s:,} points\n" for b, s in zip(self.boards, scores, strict=True))
        if self.render_mode == "rgb_array":
            return tuple(pixels(tiles_of(board)) for board in self.boards)
        return None

    def close_extras(self, **_: Any) -> None:
        """Release the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


if ID not in gymnasium.registry:
    # The environment raises ResetNeeded itself and is checked by the tests; Gymnasium's wrappers for both would take
    # most of the time of a step.
    gymnasium.register(
        ID,
        "tuplet.adapters.gym:Env2048",
        vector_entry_point="tuplet.adapters.gym:Vector2048",
        order_enforce=False,
        disable_env_checker=True,
    )
