"""`learning_steps`: one game of 2048 and what is learned from it, move by move, with every number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.board import MOVES, Board, as_move
from tuplet.games.g2048.game import Game2048, Position2048
from tuplet.games.g2048.rules import opening, rules_for
from tuplet.kernel import as_seed, stream
from tuplet.learn.learners import LEARNERS
from tuplet.learn.self_play import CHUNK, learn_chunk
from tuplet.learn.settings import Method
from tuplet.learn.step_kernels import (
    AFTER,
    BEFORE,
    FOLLOWING,
    TARGET,
    V_AFTER,
    V_BEFORE,
    WEIGHT,
    A,
    E,
    Recording,
    make_recording,
    record_game,
)
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.system.worker import Worker
from tuplet.values.network import Memory, Network, Target
from tuplet.values.patterns import parse, placements
from tuplet.values.tables import index_type, stage_size

LEARNER_NAMES = ("td", "tc")
LAST = 30  # moves that are shown
MOST_SHOWN = 1000
MOST_GAMES = 100_000  # learned from before
MOST_REMEMBERED = 1 << 19  # weights of a network that is remembered for the next call


@dataclass(frozen=True)
class Choice:
    """One of the four moves of a state."""

    move: str
    legal: bool
    reward: int
    board: Board  # the after-state
    value: float | None  # V(s'), or for state values the expected V(s''); None if it is illegal
    sum: float | None  # reward + gamma * value
    outcomes: list[tuple[str, float, float]]  # for state values: each tile that may appear, its probability, V(s'')


@dataclass(frozen=True)
class LookUp:
    """An entry of a table that the value of a board includes, and how it was updated."""

    tuple: int  # its number
    placement: int
    cells: list[int]  # numbered row by row
    tiles: list[int]  # on these cells
    index: int  # of the entry: four bits a cell, the first cell lowest
    times: int  # how many of the board's look-ups have this entry
    before: float  # its weight
    after: float
    rate: float  # the share of the update that it took: |E|/A for TC, 1 for TD
    sums: Sequence[float] | None  # TC: E and A before, E and A after


@dataclass(frozen=True)
class LearningStep:
    """One move, and the update of the value of its board: s for state values, s' for after-state values."""

    number: int  # of the move, from 0
    board: Board  # s
    move: str
    reward: int
    after: Board  # s'
    outcome: str  # the tile that appeared: 2@5
    before: float  # V before the update
    target: float
    following: float  # the value of the board after it, 0 at the end
    updated: float  # V after the update
    slot: int

    @property
    def error(self) -> float:
        """The TD error: the target minus V."""
        return float(np.float32(self.target) - np.float32(self.before))

    def as_json(self) -> dict[str, Any]:
        """The move and its update as JSON."""
        return {
            "number": self.number,
            "tiles": self.board.tiles,
            "move": self.move,
            "reward": self.reward,
            "after": self.after.tiles,
            "outcome": self.outcome,
            "before": self.before,
            "target": self.target,
            "following": self.following,
            "error": self.error,
            "updated": self.updated,
        }


@dataclass(frozen=True)
class LearningSteps(Displayable):
    """A game that was played and learned from; `steps` are its last moves."""

    network: Network  # after learning
    method: Method
    games: int
    seed: int
    start: Board
    end: Board
    score: int
    played: Sequence[str]  # all moves of the game
    record: Recording

    @cached_property
    def steps(self) -> list[LearningStep]:
        """The last moves of the game, in the order in which they were played."""
        n, count = len(self.record.boards), len(self.played)
        return [self._step(k, k % n) for k in range(max(count - n, 0), count)]

    def _step(self, k: int, slot: int) -> LearningStep:
        record, move = self.record, int(self.record.moves[k])
        tile = self._board(record.spawned[slot], 0)
        cell = next(i for i, exponent in enumerate(tile.exponents) if exponent)
        return LearningStep(
            k,
            self._board(*record.boards[slot]),
            MOVES[move],
            int(record.gains[slot, move]),
            self._board(*record.after[slot, move]),
            f"{tile.tiles[cell]}@{cell}",
            before=float(record.changes[slot, V_BEFORE]),
            target=float(record.changes[slot, TARGET]),
            following=float(record.changes[slot, FOLLOWING]),
            updated=float(record.changes[slot, V_AFTER]),
            slot=slot,
        )

    def _board(self, low: Any, high: Any) -> Board:
        return Board.from_packed(low, high, *self.network.size)

    def choices(self, step: LearningStep) -> list[Choice]:
        """The four moves that there were before a step, as the player valued them."""
        record, slot = self.record, step.slot
        game, found = Game2048(self.network.size, self.network.spawn4), []
        for number, move in enumerate(MOVES):
            board, value = self._board(*record.after[slot, number]), float(record.values[slot, number])
            legal = not np.isnan(value)
            outcomes = []
            if legal and self.network.target == "state":
                after: Position2048 = game.position(board, tile_due=True)
                for outcome, probability in after.chance_outcomes().items():
                    tile, cell = outcome.split("@")
                    row, column = divmod(int(cell), board.columns)
                    v = record.next_values[slot, number, 4 * row + column, int(tile == "4")]
                    outcomes.append((outcome, probability, float(v)))
            total = float(record.sums[slot, number]) if legal else None
            reward = int(record.gains[slot, number])
            found.append(Choice(move, legal, reward, board, value if legal else None, total, outcomes))
        return found

    def best(self, step: LearningStep) -> str:
        """The move with the largest sum, the first of equals."""
        return MOVES[int(self.record.best[step.slot])]

    def look_ups(self, step: LearningStep) -> list[LookUp]:
        """The table entries of the board that a step learned from."""
        record, slot, net = self.record, step.slot, self.network
        board = step.board if net.target == "state" else step.after
        indices, found = record.indices[slot].tolist(), []
        for j, cells in enumerate(placed_cells(net)):
            where = [board.columns * (cell // 4) + cell % 4 for cell in cells]
            entry = record.entries[slot, j]
            sums = tuple(float(entry[when, part]) for when in (BEFORE, AFTER) for part in (E, A))
            found.append(
                LookUp(
                    j // 8,
                    j % 8,
                    where,
                    [board.tiles[cell] for cell in where],
                    int(record.numbers[slot, j]),
                    indices.count(indices[j]),
                    float(entry[BEFORE, WEIGHT]),
                    float(entry[AFTER, WEIGHT]),
                    float(record.rates[slot, j]),
                    sums if self.method.learner == "tc" else None,
                )
            )
        return found

    def as_json(self, at: int | None = None) -> dict[str, Any]:
        """The game as JSON: each step with its choices and look-ups, or only the step of move number `at`.

        A negative number counts from the end: -1 is the last move, and those before the first one are the first.
        """
        net, method = self.network, self.method
        if at is not None:
            first, count, asked = self.steps[0].number, len(self.played), at
            at = max(at + count, first) if at < 0 else at
            if not first <= at < count:
                raise UserError(f"at must be the number of a move that is shown, {first} to {count - 1} (got {asked})")
        return {
            "net": net.name,
            "tuples": [
                [[net.size[1] * (c // 4) + c % 4 for c in placed] for placed in placements(cells, net.size)]
                for cells in net.tuples
            ],
            "learner": method.learner,
            "target": method.target,
            "order": method.order,
            "alpha": method.alpha,
            "lam": method.lam,
            "spawn4": method.spawn4,
            "games": self.games,
            "seed": self.seed,
            "start": self.start.tiles,
            "end": self.end.tiles,
            "score": self.score,
            "played": "".join(move[0] for move in self.played),
            "steps": [
                step.as_json() | (self._detail(step) if at is None or at == step.number else {}) for step in self.steps
            ],
        }

    def _detail(self, step: LearningStep) -> dict[str, Any]:
        return {
            "best": self.best(step),
            "choices": [
                {
                    "move": each.move,
                    "legal": each.legal,
                    "reward": each.reward,
                    "tiles": each.board.tiles,
                    "value": each.value,
                    "sum": each.sum,
                    "outcomes": [
                        {"outcome": outcome, "probability": probability, "value": value}
                        for outcome, probability, value in each.outcomes
                    ],
                }
                for each in self.choices(step)
            ],
            "look_ups": [
                {
                    "tuple": each.tuple,
                    "placement": each.placement,
                    "tiles": each.tiles,
                    "index": each.index,
                    "times": each.times,
                    "before": each.before,
                    "after": each.after,
                    "rate": each.rate,
                    **({"sums": list(each.sums)} if each.sums else {}),
                }
                for each in self.look_ups(step)
            ],
        }

    def text_tables(self) -> list[TextTable]:
        """The updates, in the order in which they were made."""
        kind = "V(s)" if self.network.target == "state" else "V(s')"
        ordered = self.steps if self.method.order == "forward" else self.steps[::-1]
        rows = [
            [str(s.number), s.move, f"{s.reward:,}", *(f"{v:,.3f}" for v in (s.before, s.target, s.error, s.updated))]
            for s in ordered
        ]
        columns = ["move", "", "reward", kind, "target", "error", f"new {kind}"]
        title = f"{self.method.name} on {self.network.name}, {plural(len(self.played), 'move')}, {self.score:,} points"
        return [TextTable(title, columns, rows, words=(1,))]


def placed_cells(net: Network) -> list[tuple[int, ...]]:
    """The cells of each look-up, on the 4x4 grid."""
    return [placed for cells in net.tuples for placed in placements(cells, net.size)]


def learning_steps(
    net: Network | str = "5x4",
    *,
    board: object = None,
    moves: str | Iterable[str] = (),
    last: int = LAST,
    games: int = 0,
    seed: int = 0,
    learner: Literal["td", "tc"] = "td",
    target: Target = "afterstate",
    order: Literal["backward", "forward"] = "backward",
    alpha: float | None = None,
    lam: float | None = None,
    spawn4: float = 0.1,
) -> LearningSteps:
    """Play a game of 2048, learn from it as `train` does, and return every number of its last moves.

    The network has learned from `games` games before, as `train(net, games=games)` does with seed 0 and the learner's
    usual alpha and lambda; with seed 0, too, the game that is returned is the next one of that run. A `Network` is
    copied and keeps its own weights, target and spawn4. The game begins with two tiles, or with a `board`, and with
    these `moves` (names, or a text of first letters: "uldr"); then the best ones are played to the end. Its last `last`
    moves are kept.
    """
    if learner not in LEARNER_NAMES:
        raise UserError(f"learner must be td or tc (got {learner!r})")
    if not 1 <= last <= MOST_SHOWN:
        raise UserError(f"last must be 1 to {MOST_SHOWN:,} moves (got {last})")
    if not 0 <= games <= MOST_GAMES:
        raise UserError(f"games must be 0 to {MOST_GAMES:,} (got {games:,})")
    known, number = LEARNERS[learner], as_seed(seed)
    if isinstance(net, Network):
        if games:
            raise UserError("a network has its own weights: leave out games, or name the network's tuples")
        network, target, spawn4 = _copy(net), net.target, net.spawn4
    else:
        small = stage_size(parse(net)) <= MOST_REMEMBERED
        settings = (net, learner, target, spawn4, games)
        network = _copy(_remembered(*settings)) if small else prepare(*settings)
    method = Method(
        net=network.name,
        board="x".join(map(str, network.size)),
        learner=learner,
        target=target,
        order=order,
        alpha=alpha,
        lam=lam,
        gamma=network.gamma,
        spawn4=spawn4,
    )
    rules, state = rules_for(*network.size, spawn4), np.uint64(stream(number, np.uint64(games)))
    if board is None:
        drawn, low = opening(rules, state)
        start, state = Board.from_packed(int(low), 0, *network.size), np.uint64(drawn)
    else:
        start = network.as_board(getattr(board, "board", board))
        if not any(start.exponents):
            raise UserError("the board is empty: a game begins with two tiles")
        if start.over:
            raise UserError("no move is legal on this board: the game is over")
    record = make_recording(max(last, 2), placed_cells(network), index_type(network.weights))
    given = [as_move(move) for move in moves]
    if len(given) > len(record.moves):
        raise UserError(f"a game has at most {len(record.moves):,} moves (got {len(given):,})")
    record.moves[: len(given)] = [MOVES.index(move) for move in given]
    tables = network.tables_with_memory(known.memory, known.memory_per_weight)
    low, high = start.packed
    hyper, states = method.hyperparameters_at(0.0), target == "state"
    count = int(
        record_game(rules, tables, hyper, states, known.memory_per_weight, low, high, state, len(given), record)
    )
    if count < 0:
        raise UserError(f"move {-count} ({given[-1 - count]}) changes nothing on its board")
    played = [MOVES[int(move)] for move in record.moves[:count]]
    (low, high), score = record.last, int(record.rewards[:count].sum())
    end = Board.from_packed(int(low), int(high), *network.size)
    return LearningSteps(network, method, games, seed, start, end, score, played, record)


def prepare(net: str, learner: str, target: Target, spawn4: float, games: int) -> Network:
    """A network after its first `games` games of a run with seed 0."""
    method = Method(net=net, learner=learner, target=target, spawn4=spawn4)
    network: Network = method.network()
    known, worker = LEARNERS[learner], Worker()
    tables = network.tables_with_memory(known.memory, known.memory_per_weight)
    hyper = method.hyperparameters_at(0.0)
    for first in range(0, games, CHUNK):
        learn_chunk(network, tables, hyper, 0, first, min(CHUNK, games - first), worker)
    return network


_remembered = lru_cache(maxsize=8)(prepare)  # never learn any more: they are copied


def _copy(net: Network) -> Network:
    copy = net.empty_copy()
    copy.weights[:] = net.weights
    if net.memory is not None:
        copy.memory = Memory(net.memory.name, net.memory.values.copy())
    return copy
