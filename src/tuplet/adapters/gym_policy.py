"""A learned network as the policy of a Gymnasium environment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.adapters.boards import EnvConfig
from tuplet.agents.learned import LearnedAgent
from tuplet.errors import UserError
from tuplet.games.g2048.board import Board
from tuplet.games.g2048.rules import Rules2048, view
from tuplet.kernel import allocating, kernel, local_array
from tuplet.values.network import Network
from tuplet.values.tables import Tables, expected_value, move_values, value

Array = np.ndarray[Any, Any]


def packed_words(exponents: Array, columns: int) -> Array:
    """The words of boards: uint64[..., 2] from exponents of the shape [..., cells]."""
    shifts = np.array([16 * (cell // columns) + 4 * (cell % columns) for cell in range(exponents.shape[-1])], np.uint64)
    exponents = exponents.astype(np.uint64)
    parts = exponents & np.uint64(15), exponents >> np.uint64(4)
    return np.stack([(part << shifts).sum(axis=-1, dtype=np.uint64) for part in parts], axis=-1)


def points_of_tiles(exponents: Array) -> Array:
    """The points that each board is worth if all its tiles were made of twos.

    A move adds its points to that: after-states of one board differ by the rewards of their moves.
    """
    exponents = exponents.astype(np.int64)
    points = np.maximum(exponents - 1, 0) << exponents
    return points.sum(axis=-1)  # type: ignore[no-any-return]


@allocating("two buffers")
def after_values(rules: Rules2048, tables: Tables, states: bool, words: Array, values: Array) -> None:
    """The values of after-states."""
    m = tables.plan.shape[1]
    indices, seen = np.empty(m, np.uint64), np.empty(m, np.float32)
    for i in range(len(words)):
        low, high = words[i, 0], words[i, 1]
        if states:
            values[i] = expected_value(rules, tables, low, high, indices, seen)
        else:
            values[i] = value(tables, view(low, high))


@kernel
def values_of_moves(
    rules: Rules2048, tables: Tables, states: bool, gamma: np.float32, words: Array, values: Array
) -> None:
    """The values of the four moves of each board; NaN for illegal moves."""
    rewards = local_array(4, np.uint64)
    for i in range(len(words)):
        move_values(rules, tables, states, gamma, words[i, 0], words[i, 1], rewards, values[i])


class TuplePolicy:
    """Plays a Gymnasium environment of 2048, single or vector, by a network's values.

    `weights` is a run folder, a weight file, "small", or a `Network`. The policy is greedy, or searches `depth` moves
    ahead. It uses the observations alone; of after-states also the info, which has the legal moves.

        policy = TuplePolicy("small", env)
        action = policy(observation, info)
    """

    def __init__(self, weights: str | Path | Network, env: Any, *, depth: int = 1) -> None:
        config = getattr(env.unwrapped, "config", None)
        if config is None and hasattr(env.unwrapped, "get_attr"):  # Gymnasium's own vector environments
            with suppress(AttributeError):
                config = env.unwrapped.get_attr("config")[0]
        if not isinstance(config, EnvConfig):
            raise UserError(f"TuplePolicy plays tuplet/2048-v1, not {env}")
        network = weights if isinstance(weights, Network) else Network.load(weights)
        if network.size != config.size:
            (rows, columns), own = network.size, config.size
            raise UserError(
                f"this network looks at {rows}x{columns} boards, and the environment has "
                f"{own[0]}x{own[1]}: make it with board='{rows}x{columns}'"
            )
        self.config, self.network = config, network
        self.player = LearnedAgent(network, depth=depth, spawn4=config.spawn4)
        if config.observation == "afterstates" and depth > 1:  # the first move is made already
            self._behind = LearnedAgent(network, depth=depth - 1, spawn4=config.spawn4)

    def __call__(self, observation: Any, info: dict[str, Any] | None = None) -> Any:
        """The move for one observation as an int, or for many as an array."""
        shape, seen = self.config.shape, np.asarray(observation, np.uint8)
        if seen.shape[-len(shape) :] != shape or seen.ndim > len(shape) + 1:
            raise UserError(f"an observation must have the shape {shape} (got {seen.shape})")
        boards = seen.reshape(-1, *shape)
        if self.config.observation == "onehot":
            boards = boards.argmax(axis=1)
        values = self._values(boards.reshape(*boards.shape[:-2], -1), info)
        moves = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
        return moves if seen.ndim > len(shape) else int(moves[0])

    def _values(self, exponents: Array, info: dict[str, Any] | None) -> Array:
        """The values of the four moves of each board; NaN for illegal moves."""
        net, words = self.network, packed_words(exponents, self.config.size[1])
        settings, values = (self.config.rules, net.tables, net.target == "state"), np.empty((len(words), 4), np.float32)
        if self.config.observation == "afterstates":
            if info is None or "action_mask" not in info:
                raise UserError("after-states need the info: policy(observation, info)")
            if self.player.depth == 1:
                after_values(*settings, words.reshape(-1, 2), values.reshape(-1))
            else:
                boards = map(self._board, words.reshape(-1, 2))
                values.reshape(-1)[:] = [self._behind.expected(board)[0] for board in boards]
            points = points_of_tiles(exponents)
            values = (points - points[:, :1]).astype(np.float32) + np.float32(net.gamma) * values
            values[np.reshape(info["action_mask"], (-1, 4)) == 0] = np.nan
        elif self.player.depth == 1:
            values_of_moves(*settings, np.float32(net.gamma), words, values)
        else:
            moves = [self.player.moves(self._board(each)) for each in words]
            values[:] = [[np.nan if move.value is None else move.value for move in each] for each in moves]
        return values

    def _board(self, words: Array) -> Board:
        return Board.from_packed(int(words[0]), int(words[1]), *self.config.size)
