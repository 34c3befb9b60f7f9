"""Regret: how far a player is from perfect play, move by move.

The *loss* of a move is what optimal play would still score before it, less its reward and what
optimal play would still score after it. A game's losses sum to its regret, and the mean regret is
the gap between the player's expected score and the best one.

`follow` finds them exactly, without playing: it carries the chance of every board forward, layer
by layer, as the player moves and tiles appear. `sample` plays games, for players that think too
long for that, or decide by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tuplet.errors import UserError
from tuplet.exact.layers import Layer, expect, find, insert, unpack
from tuplet.exact.solution import Solution
from tuplet.games import agent_hooks
from tuplet.games.g2048.board import MOVES, Board, as_move
from tuplet.games.g2048.rules import Rules2048, empty_cells, largest, rules_for, slide
from tuplet.games.g2048.symmetry import canonical, canonical_all
from tuplet.kernel import as_seed, kernel, stream
from tuplet.system.progress import Progress, Watcher
from tuplet.system.stop import Stop, Stopped
from tuplet.values.network import Network
from tuplet.values.tables import Tables, move_values

Array = np.ndarray[Any, Any]
Policy = Callable[[Array], Array]  # of boards' words: the share of each move, float64[boards, 4]

PART = 1 << 14
TWICE = 3  # boards of a layer that a player is asked about twice
EQUAL = 1e-9  # a move whose loss is below this share of the value is as good as the best
_ZERO = np.uint64(0)
_SCORE, _LOSS, _OPTIMAL, _MOVES = range(4)  # what is summed up


class Player(Protocol):
    """Chooses moves."""

    def choose(self, board: Board) -> object:
        """A legal move."""


class ExactRegret(NamedTuple):
    """What a player scores on average, exactly."""

    score: float
    regret: float  # a game
    optimal: float  # share of its moves that are as good as the best
    moves: float  # a game
    reached: dict[int, float]  # tile -> chance
    states: int  # that it comes to, mirror images counted apart

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {**self._asdict(), "reached": {str(t): c for t, c in self.reached.items()}}


class SampledRegret(NamedTuple):
    """Games that were played: an entry for each."""

    scores: list[float]
    regrets: list[float]
    moves: list[int]
    optimal: list[int]  # moves that were as good as the best


class ChanceLayer(Layer):
    """A layer with the chance of each board."""

    def __init__(self) -> None:
        super().__init__()
        self.chances = np.zeros(len(self.boards))

    def reserve(self, more: int) -> None:
        """Make room for `more` boards."""
        super().reserve(more)
        if len(self.chances) < len(self.boards):
            chances = np.zeros(len(self.boards))
            chances[: self.count] = self.chances[: self.count]
            self.chances = chances


def random_policy(rules: Rules2048) -> Policy:
    """Every legal move alike."""

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        _random_shares(rules, boards, shares)
        return shares

    return policy


def network_policy(net: Network) -> Policy:
    """A network's move: the first of the highest value."""
    rules = rules_for(*net.size, net.spawn4)

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        gamma = np.float32(net.gamma)
        _network_shares(rules, net.tables, net.target == "state", gamma, boards, shares)
        return shares

    return policy


def agent_policy(player: Player, rows: int, columns: int, stop: Stop | None = None) -> Policy:
    """A player's moves; it is asked once for each board, and must always answer the same."""

    def policy(boards: Array) -> Array:
        shares = np.zeros((len(boards), 4))
        for i, words in enumerate(boards.tolist()):
            board = Board.from_packed(words, 0, rows, columns)
            legal = board.legal_moves()
            if legal:
                with agent_hooks.listening(stop, player):
                    chosen = player.choose(board)
                _go_on(stop)
                move = as_move(chosen)
                if move not in legal:
                    raise UserError(f"{move} changes nothing on this board: {board!r}")
                if i < TWICE and as_move(player.choose(board)) != move:
                    raise UserError(
                        "a player that answers one board in two ways is judged by the games it "
                        "plays: say how many with --games"
                    )
                shares[i, MOVES.index(move)] = 1.0
        return shares

    return policy


def _go_on(stop: Stop | None) -> None:
    if agent_hooks.told(stop):
        raise Stopped("stopped before every board was followed")


def follow(
    solution: Solution, player: Policy | Network | Player, watch: Watcher = lambda _: None, stop: Stop | None = None
) -> ExactRegret:
    """A player's exact expected score and regret on the solution's board."""
    size, rules, spawn4 = (solution.rows, solution.columns), solution.rules, solution.spawn4
    if isinstance(player, Network):
        if player.size != size:
            raise UserError(
                f"the network looks at {player.size[0]}x{player.size[1]} boards, the solution is of {solution.size}"
            )
        policy = network_policy(player)
    else:
        policy = agent_policy(player, *size, stop) if hasattr(player, "choose") else player
    tiles = [(e, share) for e, share in ((1, 1 - spawn4), (2, spawn4)) if share > 0]
    ahead: dict[int, ChanceLayer] = {}

    def spawn(after: ChanceLayer, total: int) -> None:
        for exponent, share in tiles if len(after) else ():
            layer = ahead.setdefault(total + (1 << exponent), ChanceLayer())
            for first in range(0, len(after), PART):
                last = min(first + PART, len(after))
                layer.reserve(9 * (last - first))
                layer.count = _carry_spawns(
                    rules.cells,
                    after.boards,
                    after.chances,
                    first,
                    last,
                    np.uint64(exponent),
                    share,
                    layer.boards,
                    layer.slots,
                    layer.count,
                    layer.chances,
                )

    empty = ChanceLayer()
    empty.count = 1
    empty.boards[0], empty.chances[0] = 0, 1.0
    spawn(empty, 0)
    single, ahead = ahead, {}
    for total, layer in single.items():
        spawn(layer, total)

    sums, ended, states = np.zeros(4), np.zeros(18), 0
    tables: dict[int, tuple[Layer, Array]] = {}
    while ahead:
        total = min(ahead)
        layer = ahead.pop(total)
        tables = {t: tables.get(t) or _table(solution, t) for t in (total, total + 2, total + 4)}
        after = _step(rules, spawn4, policy, layer, [*tables.values()], sums, ended)
        spawn(after, total)
        states += len(layer)
        watch(Progress("states followed", states))
        _go_on(stop)
    top = int(np.flatnonzero(ended).max())
    reached = {1 << e: float(ended[e:].sum()) for e in range(2, top + 1)}
    score, loss, optimal, moves = sums.tolist()
    return ExactRegret(score, loss, optimal / moves, moves, reached, states)


def _table(solution: Solution, total: int) -> tuple[Layer, Array]:
    """A layer of the solution, and its values as `expect` wants them."""
    span = solution.layer(total)
    keys = np.asarray(solution.keys[span])
    boards = np.empty(len(keys), np.uint64)
    unpack(solution.rules.cells, total, keys, boards)
    return Layer.of(boards), np.asarray(solution.values[span]).reshape(-1, 1)


def _step(
    rules: Rules2048,
    spawn4: float,
    policy: Policy,
    layer: ChanceLayer,
    tables: list[tuple[Layer, Array]],
    sums: Array,
    ended: Array,
) -> ChanceLayer:
    """Let the player move on all boards of a layer; returns the after-states."""
    boards = layer.boards[: len(layer)]
    shares = policy(boards)
    after = ChanceLayer()
    links, rewards = np.empty((len(layer), 4), np.int32), np.zeros((len(layer), 4), np.int32)
    for first in range(0, len(layer), PART):
        last = min(first + PART, len(layer))
        after.reserve(4 * (last - first))
        after.count = _carry_moves(
            rules,
            boards,
            layer.chances,
            shares,
            first,
            last,
            after.boards,
            after.slots,
            after.count,
            after.chances,
            links,
            rewards,
            ended,
        )
    canonicals = after.boards[: len(after)].copy()
    canonical_all(rules, canonicals)
    worth = np.empty((len(after), 1))
    (own, values), (near, near_values), (far, far_values) = tables
    sound = expect(
        rules,
        spawn4,
        canonicals,
        0,
        len(after),
        near.boards,
        near.slots,
        near_values,
        far.boards,
        far.slots,
        far_values,
        worth,
    ) and _account(rules, boards, layer.chances, shares, links, rewards, worth, own.boards, own.slots, values, sums)
    if not sound:
        raise UserError("the table lacks boards that come up in games: it is not sound")
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
    rewards, values = np.zeros(4, np.uint64), np.zeros(4, np.float32)
    for i in range(len(boards)):
        move_values(rules, tables, states, gamma, boards[i], _ZERO, rewards, values)
        best = -1
        for move in range(4):
            if not np.isnan(values[move]) and (best < 0 or values[move] > values[best]):
                best = move
        if best >= 0:
            shares[i, best] = 1.0


@kernel
def _carry_moves(
    rules: Rules2048,
    states: Array,
    chances: Array,
    shares: Array,
    first: int,
    last: int,
    after: Array,
    slots: Array,
    count: int,
    after_chances: Array,
    links: Array,
    rewards: Array,
    ended: Array,
) -> int:
    """Carry the chances of states `first` to `last` to their after-states; returns their count.

    `links` receives the after-states' numbers, -1 where no move is made; `ended` the chances of
    boards without one, by their largest exponent.
    """
    for i in range(first, last):
        moved = False
        for move in range(4):
            links[i, move] = -1
            if shares[i, move] > 0.0:
                moved = True
                slid, _, gained = slide(rules, states[i], _ZERO, move)
                count = insert(after, slots, count, slid)
                link = slots[find(after, slots, slid)]
                after_chances[link] += chances[i] * shares[i, move]
                links[i, move], rewards[i, move] = link, np.int32(gained)
        if not moved:
            ended[largest(states[i], _ZERO)] += chances[i]
    return count


@kernel
def _carry_spawns(
    cells: np.uint64,
    after: Array,
    after_chances: Array,
    first: int,
    last: int,
    exponent: np.uint64,
    share: float,
    boards: Array,
    slots: Array,
    count: int,
    chances: Array,
) -> int:
    """Carry the chances of after-states `first` to `last` to what a new tile makes of them."""
    for i in range(first, last):
        empty = empty_cells(cells, after[i], _ZERO)
        places, left = 0, empty
        while left != _ZERO:
            left &= left - np.uint64(1)
            places += 1
        while empty != _ZERO:
            cell = empty & (~empty + np.uint64(1))
            empty ^= cell
            board = after[i] | (cell * exponent)
            count = insert(boards, slots, count, board)
            chances[slots[find(boards, slots, board)]] += share * after_chances[i] / places
    return count


@kernel
def _account(
    rules: Rules2048,
    states: Array,
    chances: Array,
    shares: Array,
    links: Array,
    rewards: Array,
    worth: Array,
    table: Array,
    slots: Array,
    values: Array,
    sums: Array,
) -> bool:
    """Sum up score, loss, optimal moves and moves. False if a state is not in the table."""
    for i in range(len(states)):
        at = slots[find(table, slots, canonical(rules, states[i]))]
        if at < 0:
            return False
        best = values[at, 0]
        for move in range(4):
            if links[i, move] >= 0:
                chance = chances[i] * shares[i, move]
                loss = best - rewards[i, move] - worth[links[i, move], 0]
                sums[_SCORE] += chance * rewards[i, move]
                sums[_LOSS] += chance * max(loss, 0.0)
                if loss <= EQUAL * best:
                    sums[_OPTIMAL] += chance
                sums[_MOVES] += chance
    return True


def sample(
    solution: Solution, player: Player, *, games: int = 1000, seed: int = 0, first: int = 0, stop: Stop | None = None
) -> SampledRegret:
    """Let a player play games on the solution's board, and look up what each move loses.

    Game n, from `first` on, depends on the seed and n alone (and on the player).
    """
    start = as_seed(seed)
    played = SampledRegret([], [], [], [])
    for number in range(first, first + games):
        state = stream(start, np.uint64(number))
        board = Board(rows=solution.rows, columns=solution.columns)
        agent_hooks.begin(player, board, "player", np.uint64(stream(~start, np.uint64(number))))
        state, board = board.spawn(state, solution.spawn4)
        state, board = board.spawn(state, solution.spawn4)
        score, regret, moves, optimal = 0.0, 0.0, 0, 0
        while not board.over:
            values = {move.move: move for move in solution.moves(board)}
            best = max(move.value for move in values.values() if move.value is not None)
            with agent_hooks.listening(stop, player):
                answer = player.choose(board)
            if agent_hooks.told(stop):
                return played
            chosen = values[as_move(answer)]
            if chosen.value is None:
                raise UserError(f"{chosen.move} changes nothing on this board: {board!r}")
            loss = best - chosen.value
            score, regret, moves = score + chosen.reward, regret + loss, moves + 1
            optimal += loss <= EQUAL * best
            state, board = board.move(chosen.move)[0].spawn(state, solution.spawn4)
        played.scores.append(score)
        played.regrets.append(regret)
        played.moves.append(moves)
        played.optimal.append(optimal)
    return played
