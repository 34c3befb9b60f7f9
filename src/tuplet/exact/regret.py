"""Regret: how far a player is from perfect play, move by move.

The *loss* of a move is the expected score of optimal play before it, less its reward and the
expected score of optimal play after it. The losses of a game sum to its regret; the mean regret is
the difference between the expected scores of optimal play and of the player.

`exact_regret` computes the probability of every board that the player can reach, layer by layer.
`sampled_regret` plays games instead, for players that are slow or random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tuplet.errors import UserError
from tuplet.exact.layers import (
    Arrays,
    Layer,
    LayerValues,
    add_spawns,
    after_states,
    expect,
    find,
    first_layers,
    unpacked_layer,
)
from tuplet.exact.solution import Solution
from tuplet.games import agent_hooks
from tuplet.games.g2048.board import MOVES, Board, as_move
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.rules import Rules2048, largest, rules_for, slide
from tuplet.games.g2048.symmetry import canonical, canonical_all
from tuplet.games.protocol import Array
from tuplet.kernel import as_seed, kernel, local_array, stream
from tuplet.system.progress import Progress, Watcher
from tuplet.system.stop import Stop, Stopped
from tuplet.values.network import Network
from tuplet.values.tables import Tables, move_values

Policy = Callable[[Array], Array]  # boards -> the probability of each move, float64[boards, 4]

TWICE = 3  # boards of a layer on which a player must choose twice, to see whether it is random
EQUAL = 1e-9  # a move that loses less than this share of the value is optimal
_ZERO = np.uint64(0)
_SCORE, _LOSS, _OPTIMAL, _MOVES = range(4)  # the elements of `sums`


class Player(Protocol):
    """Chooses moves."""

    def choose(self, position: Any) -> object:
        """A legal move."""


class ExactRegret(NamedTuple):
    """A player's exact expected score and regret."""

    score: float
    regret: float  # a game
    optimal: float  # share of its moves that are optimal
    moves: float  # a game
    reached: dict[int, float]  # tile -> probability
    states: int  # that it can reach, counting mirror images separately

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {**self._asdict(), "reached": {str(t): c for t, c in self.reached.items()}}


class SampledRegret(NamedTuple):
    """The results of sampled games, one entry for each game."""

    scores: list[float]
    regrets: list[float]
    moves: list[int]
    optimal: list[int]  # optimal moves


def random_policy(rules: Rules2048) -> Policy:
    """Every legal move with the same probability."""

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        _random_shares(rules, boards, shares)
        return shares

    return policy


def network_policy(net: Network) -> Policy:
    """A network's greedy move: the first with the highest value."""
    rules = rules_for(*net.size, net.spawn4)

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        gamma = np.float32(net.gamma)
        _network_shares(rules, net.tables, net.target == "state", gamma, boards, shares)
        return shares

    return policy


def agent_policy(player: Player, game: Game2048, stop: Stop | None = None) -> Policy:
    """The moves of a player that always chooses the same move on the same board."""

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        for i, words in enumerate(boards.tolist()):
            board = Board.from_packed(words, 0, game.rows, game.columns)
            position = game.position(board)
            legal = board.legal_moves()
            if legal:
                with agent_hooks.listening(stop, player):
                    chosen = player.choose(position)
                _check(stop)
                move = as_move(chosen)
                if move not in legal:
                    raise UserError(f"{move} is not legal on this board: {board!r}")
                if i < TWICE and as_move(player.choose(position)) != move:
                    raise UserError(
                        "this player chooses different moves on the same board, so its regret must be "
                        "measured in games: set --games"
                    )
                shares[i, MOVES.index(move)] = 1.0
        return shares

    return policy


def _check(stop: Stop | None) -> None:
    if agent_hooks.is_stopped(stop):
        raise Stopped("stopped before every board was reached")


def exact_regret(
    solution: Solution, player: Policy | Network | Player, watch: Watcher = lambda _: None, stop: Stop | None = None
) -> ExactRegret:
    """A player's exact expected score and regret on the solution's board."""
    size, rules, spawn4 = (solution.rows, solution.columns), solution.rules, solution.spawn4
    if isinstance(player, Network):
        if player.size != size:
            raise UserError(
                f"the network is for {player.size[0]}x{player.size[1]} boards, the solution for {solution.size}"
            )
        policy = network_policy(player)
    else:
        policy = (
            agent_policy(player, Game2048((solution.rows, solution.columns), solution.spawn4), stop)
            if hasattr(player, "choose")
            else player
        )
    ahead = first_layers(rules, spawn4, False)
    sums, ended, states = np.zeros(4), np.zeros(18), 0
    tables: dict[int, LayerValues] = {}
    while ahead:
        total = min(ahead)
        layer = ahead.pop(total)
        tables = {t: tables.get(t) or _table(solution, t) for t in (total, total + 2, total + 4)}
        after = _step(rules, spawn4, policy, layer, [*tables.values()], sums, ended)
        add_spawns(rules, spawn4, False, after, total, ahead)
        states += len(layer)
        watch(Progress("states followed", states))
        _check(stop)
    top = int(np.flatnonzero(ended).max())
    reached = {1 << e: float(ended[e:].sum()) for e in range(2, top + 1)}
    score, loss, optimal, moves = sums.tolist()
    return ExactRegret(score, loss, optimal / moves, moves, reached, states)


def _table(solution: Solution, total: int) -> LayerValues:
    """A layer of the solution, with its values."""
    place = solution.layer(total)
    layer = unpacked_layer(solution.rules, total, np.asarray(solution.keys[place]))
    return LayerValues(layer, np.asarray(solution.values[place]).reshape(-1, 1))


def _step(
    rules: Rules2048, spawn4: float, policy: Policy, layer: Layer, tables: list[LayerValues], sums: Array, ended: Array
) -> Layer:
    """Let the player move on all boards of a layer; returns the after-states."""
    states = layer.arrays(slice(len(layer)))
    shares = policy(states.boards)
    after, links, rewards = after_states(rules, False, layer, shares)
    canonicals = after.boards[: len(after)].copy()
    canonical_all(rules, canonicals)
    own, near, far = tables
    values = np.empty((len(after), 1))
    if not (
        expect(rules, spawn4, canonicals, near, far, values)
        and _account(rules, states, shares, links, rewards, values, own.layer.arrays(), own.values, sums, ended)
    ):
        raise UserError("the table lacks boards that occur in games: it is not valid")
    return after


@kernel
def _random_shares(rules: Rules2048, boards: Array, shares: Array) -> None:
    for i in range(len(boards)):
        legal = 0
        for move in range(4):
            slid, _, _ = slide(rules, boards[i], _ZERO, move)
            if slid != boards[i]:
                shares[i, move] = 1.0
                legal += 1
        for move in range(4):
            shares[i, move] /= max(legal, 1)


@kernel
def _network_shares(
    rules: Rules2048, tables: Tables, states: bool, gamma: np.float32, boards: Array, shares: Array
) -> None:
    rewards, values = local_array(4, np.uint64), local_array(4, np.float32)
    for i in range(len(boards)):
        move_values(rules, tables, states, gamma, boards[i], _ZERO, rewards, values)
        best = -1
        for move in range(4):
            if not np.isnan(values[move]) and (best < 0 or values[move] > values[best]):
                best = move
        if best >= 0:
            shares[i, best] = 1.0


@kernel
def _account(
    rules: Rules2048,
    states: Arrays,
    shares: Array,
    links: Array,
    rewards: Array,
    after_values: Array,
    table: Arrays,
    values: Array,
    sums: Array,
    ended: Array,
) -> bool:
    """Add score, loss, optimal moves and moves to `sums`. False if a state is not in the table.

    `ended` receives the probabilities of boards without a move, by their largest exponent.
    """
    boards, probabilities, _ = states
    table_boards, _, slots = table
    for i in range(len(boards)):
        at = slots[find(table_boards, slots, canonical(rules, boards[i]))]
        if at < 0:
            return False
        best, over = values[at, 0], True
        for move in range(4):
            if links[i, move] >= 0:
                over = False
                probability = probabilities[i] * shares[i, move]
                loss = best - rewards[i, move] - after_values[links[i, move], 0]
                sums[_SCORE] += probability * rewards[i, move]
                sums[_LOSS] += probability * max(loss, 0.0)
                if loss <= EQUAL * best:
                    sums[_OPTIMAL] += probability
                sums[_MOVES] += probability
        if over:
            ended[largest(boards[i], _ZERO)] += probabilities[i]
    return True


def sampled_regret(
    solution: Solution, player: Player, *, games: int = 1000, seed: int = 0, first: int = 0, stop: Stop | None = None
) -> SampledRegret:
    """A player's regret in games on the solution's board.

    Game number n, counted from `first`, depends only on the player, the seed and n.
    """
    start = as_seed(seed)
    played, game = SampledRegret([], [], [], []), Game2048((solution.rows, solution.columns), solution.spawn4)
    for number in range(first, first + games):
        state = stream(start, np.uint64(number))
        board = Board(rows=solution.rows, columns=solution.columns)
        agent_hooks.begin(player, game.position(board), "player", np.uint64(stream(~start, np.uint64(number))))
        state, board = board.spawn(state, solution.spawn4)
        state, board = board.spawn(state, solution.spawn4)
        score, regret, moves, optimal = 0.0, 0.0, 0, 0
        while not board.over:
            values = {move.move: move for move in solution.moves(board)}
            best = max(move.value for move in values.values() if move.value is not None)
            with agent_hooks.listening(stop, player):
                answer = player.choose(game.position(board))
            if agent_hooks.is_stopped(stop):
                return played
            chosen = values[as_move(answer)]
            if chosen.value is None:
                raise UserError(f"{chosen.move} is not legal on this board: {board!r}")
            loss = best - chosen.value
            score, regret, moves = score + chosen.reward, regret + loss, moves + 1
            optimal += loss <= EQUAL * best
            state, board = board.move(chosen.move)[0].spawn(state, solution.spawn4)
        played.scores.append(score)
        played.regrets.append(regret)
        played.moves.append(moves)
        played.optimal.append(optimal)
    return played
