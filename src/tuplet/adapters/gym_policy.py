"""A learned network as the policy of a Gymnasium environment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.adapters.boards import EnvConfig
from tuplet.agents.learned import LearnedAgent
from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board
from tuplet.games.g2048.rules import Rules2048, view
from tuplet.kernel import allocating, kernel
from tuplet.values.network import Network
from tuplet.values.tables import Tables, expected_value, move_values, value

Array = np.ndarray[Any, Any]

_ZERO, _ONE, _FOUR, _NIBBLE = (np.uint64(n) for n in (0, 1, 4, 15))


@kernel
def read_boards(observations: Array, onehot: bool, columns: int, words: Array) -> None:
    """Pack observations into the words of boards.

    `observations` is uint8[n, k, cells], with one board, four after-states or k one-hot planes per environment;
    `words` is uint64[n, 1 or 4, 2].
    """
    for i in range(observations.shape[0]):
        for k in range(observations.shape[1]):
            low, high = _ZERO, _ZERO
            for cell in range(observations.shape[2]):
                exponent = np.uint64(observations[i, k, cell])
                if onehot:
                    exponent *= np.uint64(k)
                at = np.uint64(4 * (4 * (cell // columns) + cell % columns))
                low |= (exponent & _NIBBLE) << at
                high |= (exponent >> _FOUR) << at
            if onehot:
                words[i, 0, 0] |= low
                words[i, 0, 1] |= high
            else:
                words[i, k, 0], words[i, k, 1] = low, high


@kernel
def worth(low: np.uint64, high: np.uint64) -> np.int64:
    """The points that a board is worth if all its tiles were made of twos.

    A move adds its points to that: after-states of one board differ by the rewards of their moves.
    """
    points = np.int64(0)
    for cell in range(np.uint64(16)):
        exponent = (low >> (_FOUR * cell)) & _NIBBLE
        exponent |= ((high >> (_FOUR * cell)) & _ONE) << _FOUR
        if exponent != _ZERO:
            points += (np.int64(exponent) - 1) << np.int64(exponent)
    return points


@allocating("four buffers")
def best_moves(
    rules: Rules2048, tables: Tables, states: bool, gamma: np.float32, words: Array, masks: Array, moves: Array
) -> None:
    """The move of highest value for each board, or each four after-states; 0 if there is none."""
    m = tables.plan.shape[1]
    indices, seen = np.empty(m, np.uint64), np.empty(m, np.float32)
    rewards, values = np.zeros(4, np.uint64), np.zeros(4, np.float32)
    for i in range(words.shape[0]):
        if words.shape[1] == 1:
            low, high = words[i, 0, 0], words[i, 0, 1]
            move_values(rules, tables, states, gamma, low, high, rewards, values)
        else:
            before = worth(words[i, 0, 0], words[i, 0, 1])
            for move in range(4):
                low, high = words[i, move, 0], words[i, move, 1]
                if masks[i, move] == 0:
                    values[move] = np.nan
                    continue
                if states:
                    v = expected_value(rules, tables, low, high, indices, seen)
                else:
                    v = value(tables, view(low, high))
                values[move] = np.float32(worth(low, high) - before) + gamma * v
        best = -1
        for move in range(4):
            if not np.isnan(values[move]) and (best < 0 or values[move] > values[best]):
                best = move
        moves[i] = max(best, 0)


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
        shape, onehot = self.config.shape, self.config.observation == "onehot"
        seen = np.array(observation, np.uint8, order="C")
        if seen.shape[-len(shape) :] != shape or seen.ndim > len(shape) + 1:
            raise UserError(f"an observation must have the shape {shape} (got {seen.shape})")
        seen = seen.reshape(-1, *(shape if len(shape) > 2 else (1, *shape)))
        count, views = len(seen), 4 if self.config.observation == "afterstates" else 1
        words = np.zeros((count, views, 2), np.uint64)
        flat = seen.reshape(count, seen.shape[1], -1)
        read_boards(flat, onehot, self.config.size[1], words)
        masks = self._masks(info, count) if views > 1 else np.zeros((0, 4), np.int8)
        moves = np.zeros(count, np.int64)
        if self.player.depth == 1:
            net, gamma = self.network, np.float32(self.network.gamma)
            best_moves(self.config.rules, net.tables, net.target == "state", gamma, words, masks, moves)
        else:
            moves[:] = [self._searched(words[i], masks[i : i + 1]) for i in range(count)]
        return moves if np.ndim(observation) > len(shape) else int(moves[0])

    def _masks(self, info: dict[str, Any] | None, count: int) -> Array:
        if info is None or "action_mask" not in info:
            raise UserError("after-states need the info: policy(observation, info)")
        return np.array(info["action_mask"], np.int8).reshape(count, 4)

    def _searched(self, words: Array, mask: Array) -> int:
        """The best move by search."""
        boards = [Board.from_packed(int(low), int(high), *self.config.size) for low, high in words]
        if len(boards) == 1:
            return MOVES.index(self.player.choose(boards[0]) or MOVES[0])
        before, values = worth(*words[0]), np.full(4, -np.inf)
        for move in np.flatnonzero(mask[0]):
            expected = self.network.gamma * self._behind.expected(boards[move])[0]
            values[move] = worth(*words[move]) - before + expected
        return int(values.argmax())
