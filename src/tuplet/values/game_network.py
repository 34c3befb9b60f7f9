"""N-tuple networks for any game that has an encoding: `GameNetwork`, its kernels, and searches over its values.

The value of a position is what the side that moves next may expect: in a game for two the probability of winning
(a draw counts half), the logistic function of a sum of weights; in a game for one points, the sum itself.

A network is a text of tuples: `2x3` is every block of two rows and three columns, `0-1-5` a tuple of cells, and
`3x4/side` has coarser contents (one of the encoding's groups). Each tuple has a table, shared by its images under
the encoding's symmetries; each feature of the encoding has a table, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games import protocol
from tuplet.games.analysis import MoveValue, best_of
from tuplet.games.encoding import Encoding
from tuplet.games.game import Game
from tuplet.games.protocol import MOST_MOVES, ONGOING, Int, Words, ending, payoff, register_game, side
from tuplet.games.registry import find_game
from tuplet.kernel import inlined, kernel
from tuplet.values.network import Contribution, Memory, TableNetwork, allocate
from tuplet.values.tables import total

Array = np.ndarray[Any, Any]

MAX_WEIGHTS = 1 << 31
MAX_CODES = 128  # cells that are not empty
MAX_FEATURES = 16
_PART = 1 << 18  # weights that are read and written at a time
CERTAIN = 0.9999  # learned values stay this far inside the range of values: only proofs reach its ends


class GameTables(NamedTuple):
    """A network as kernels take it."""

    weights: Array  # float32: one table after the other
    memory: Array  # float32[k * len(weights)]: a learner's k numbers per weight; empty in play
    base: Array  # uint32[lanes]: where the table of each look-up begins
    rows: Array  # uint32[codes * lanes]: what a code adds to each index
    starts: Array  # uint32[features]: where the table of each feature begins
    encoding: Any  # the tables that `encode` reads
    logistic: bool


class Scratch(NamedTuple):
    """Working memory of `locate`."""

    codes: Array  # int64[MAX_CODES]
    numbers: Array  # int64[MAX_FEATURES]
    indices: Array  # uint32[m]


def make_scratch(m: int) -> Scratch:
    """Working memory for a network of m look-ups."""
    return Scratch(np.zeros(MAX_CODES, np.int64), np.zeros(MAX_FEATURES, np.int64), np.zeros(m, np.uint32))


@inlined
def locate(rules: Any, tables: GameTables, position: Words, scratch: Scratch) -> None:
    """Write the indices of a position's m weights to `scratch.indices`."""
    base, rows, starts = tables.base, tables.rows, tables.starts
    codes, numbers, indices = scratch.codes, scratch.numbers, scratch.indices
    lanes = np.uint64(len(base))
    count = protocol.encode(rules, tables.encoding, position, codes, numbers)
    for j in range(lanes):
        indices[j] = base[j]
    for i in range(count):
        row = np.uint64(codes[i]) * lanes
        for j in range(lanes):
            indices[j] += rows[row + j]
    for f in range(np.uint64(len(starts))):
        indices[lanes + f] = starts[f] + np.uint32(numbers[f])


@kernel
def value(rules: Any, tables: GameTables, position: Words, scratch: Scratch) -> np.float32:
    """What the side that moves next may expect."""
    locate(rules, tables, position, scratch)
    v = total(tables.weights, scratch.indices, np.uint64(0), np.uint64(len(scratch.indices)))
    return logistic(v) if tables.logistic else v


_LOG2_E, _LN2 = 1.4426950408889634, 0.6931471805599453
_POWERS = np.exp2(np.arange(-48.0, 49.0))


@inlined
def logistic(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)), the same bits on every machine: no library's exp."""
    y = min(max(-np.float64(x), -30.0), 30.0)
    k = np.int64(np.floor(y * _LOG2_E + 0.5))
    r = y - k * _LN2
    e = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r / 5040))))))
    return np.float32(1.0 / (1.0 + e * _POWERS[k + 48]))


@inlined
def result_of(rules: Any, tables: GameTables, position: Words, ended: int, mover: Int, rewarded: bool) -> np.float32:
    """What a finished game is worth to a side."""
    if rewarded:
        return np.float32(0)
    points = np.float32(payoff(rules, position, ended, False))
    return np.float32(1) - points if tables.logistic and mover == 1 else points


@inlined
def seen_by(tables: GameTables, v: np.float32, changes: bool) -> np.float32:
    """A value for the other side if the mover changes."""
    return np.float32(1) - v if tables.logistic and changes else v


@kernel
def move_values(
    rules: Any, tables: GameTables, position: Words, rewarded: bool, scratch: Scratch, moves: Array, out: Array
) -> int:
    """Write the legal moves and the value of each to the mover; returns how many there are."""
    count, mover = protocol.legal(rules, position, moves, 0), side(rules, position)
    for i in range(count):
        after = protocol.apply(rules, position, np.int64(moves[i]))
        ended = ending(rules, after)
        if ended != ONGOING:
            v = result_of(rules, tables, after, ended, mover, rewarded)
        else:
            v = seen_by(tables, value(rules, tables, after, scratch), side(rules, after) != mover)
        out[i] = np.float32(protocol.reward(rules, position, after)) + v if rewarded else v
    return count


@dataclass(frozen=True)
class Tuple:
    """The cells of a tuple, and how many contents it tells apart."""

    cells: tuple[int, ...]
    group: str  # "" for all contents
    contents: tuple[int, ...]  # for each kind, a number

    @property
    def base(self) -> int:
        """The number of contents."""
        return max(self.contents) + 1

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.base ** len(self.cells))

    def __str__(self) -> str:
        return "-".join(map(str, self.cells)) + (f"/{self.group}" if self.group else "")


def parse_tuples(encoding: Encoding, text: str) -> list[Tuple]:
    """The tuples that a text names; of tuples that are images of each other only the first."""
    tuples: list[Tuple] = []
    known: set[tuple[str, frozenset[int]]] = set()
    for word in text.replace(",", " ").split():
        for each in _expand(encoding, word):
            if (each.group, frozenset(each.cells)) not in known:
                tuples.append(each)
                known |= {(each.group, frozenset(image)) for image in images(encoding, each)}
    size = sum(each.size for each in tuples)
    if not tuples:
        raise UserError("a network needs at least one tuple, such as 2x3 or 0-1-5")
    if size > MAX_WEIGHTS:
        raise UserError(f"{text} has {size:,} weights, more than {MAX_WEIGHTS:,}: use smaller tuples")
    return tuples


def _expand(encoding: Encoding, word: str) -> list[Tuple]:
    shape, _, group = word.partition("/")
    contents = tuple(range(encoding.kinds)) if not group else encoding.groups.get(group)
    if contents is None:
        known = ", ".join(encoding.groups) or "none"
        raise UserError(f"{word}: there is no group {group!r} of contents (groups of this game: {known})")
    block = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", shape)
    if block:
        height, width = int(block[1]), int(block[2])
        if height > encoding.rows or width > encoding.columns:
            raise UserError(f"{shape} does not fit on a board of {encoding.rows}x{encoding.columns}")
        return [
            Tuple(
                tuple((r + i) * encoding.columns + c + j for i in range(height) for j in range(width)), group, contents
            )
            for r in range(encoding.rows - height + 1)
            for c in range(encoding.columns - width + 1)
        ]
    if not re.fullmatch(r"\d{1,3}(-\d{1,3})*", shape):
        raise UserError(f"tuples are blocks such as 2x3, or cells such as 0-1-5 (got {word!r})")
    cells = tuple(map(int, shape.split("-")))
    if max(cells) >= encoding.cells or len(set(cells)) < len(cells):
        raise UserError(f"cells must be different numbers from 0 to {encoding.cells - 1} (got {shape})")
    return [Tuple(cells, group, contents)]


def images(encoding: Encoding, each: Tuple) -> list[tuple[int, ...]]:
    """A tuple's cells, and their images under the symmetries that are different sets of cells."""
    found = [each.cells]
    for symmetry in encoding.symmetries:
        image = tuple(symmetry[c] for c in each.cells)
        if all(set(image) != set(other) for other in found):
            found.append(image)
    return found


class GameNetwork(TableNetwork):
    """An n-tuple network for a game that has an encoding."""

    # What a network of 2048 may have.
    stages: tuple[int, ...] = ()
    initial = 0.0

    def __init__(self, game: Game, tuples: str | None = None, *, gamma: float = 1.0) -> None:
        self.game, self.encoding = game, encoding_of(game)
        self.name = " ".join((tuples or self.encoding.net).replace(",", " ").split())
        self.gamma = float(gamma)
        self.tuples = parse_tuples(self.encoding, self.name)
        self.features = dict(self.encoding.features)
        look_ups = sum(len(images(self.encoding, each)) for each in self.tuples) + len(self.features)
        self.biases = -look_ups % 8  # look-ups that always read the same weight: kernels take eight at a time
        self.m = look_ups + self.biases
        self.sizes = [*(each.size for each in self.tuples), *self.features.values(), max(self.biases, 1)]
        self.weights = allocate(self.name, sum(self.sizes))
        self.memory: Memory | None = None

    @classmethod
    def load(cls, path: str | Path, game: Game) -> GameNetwork:
        """Read the network of a run folder, a weight file or a bundled player, which must be for this game."""
        from tuplet.values.weights import load_game_network  # which imports this module

        return load_game_network(path, game)

    def save(self, path: str | Path) -> Path:
        """Write the visited weights to a weight file (safetensors)."""
        from tuplet.values.weights import save_weights

        return save_weights(self, path)

    def empty_copy(self) -> GameNetwork:
        """A network of the same kind, with no weights of its own yet."""
        return GameNetwork(self.game, self.name, gamma=self.gamma)

    def __repr__(self) -> str:
        return f"GameNetwork({self.game.name!r}, {self.name!r}, weights={len(self.weights):,})"

    @property
    def two_players(self) -> bool:
        """Whether values are probabilities of winning, and not points."""
        return self.game.players == 2

    @property
    def rewarded(self) -> bool:
        """Whether values are points still to come, and not those of the whole game."""
        return not self.two_players and protocol.has_rewards(self.game.rules)

    @property
    def trained(self) -> bool:
        """Whether any weight has changed."""
        return bool(self.weights.any())

    @property
    def metadata(self) -> dict[str, str]:
        """What a weight file says of it."""
        return {
            "game": self.game.name,
            "tuples": self.name,
            "gamma": repr(self.gamma),
            "weights": str(len(self.weights)),
        }

    def file_order(self, number: int) -> SameOrder:
        """The order of a table in files: that in memory."""
        return SameOrder(self.sizes[number])

    # Tables

    @cached_property
    def tables(self) -> GameTables:
        """The network as kernels take it."""
        encoding, starts = self.encoding, np.cumsum([0, *self.sizes])
        base: list[int] = []
        rows = np.zeros((encoding.cells * encoding.kinds, self.m - len(self.features)), np.uint32)
        for start, each in zip(starts, self.tuples, strict=False):
            for image in images(encoding, each):
                for place, cell in enumerate(image):
                    steps = np.array(each.contents) * each.base**place
                    rows[cell * encoding.kinds : (cell + 1) * encoding.kinds, len(base)] = steps
                base.append(int(start))
        base += range(int(starts[-2]), int(starts[-2]) + self.biases)
        return GameTables(
            self.weights,
            np.zeros(0, np.float32),
            np.array(base, np.uint32),
            rows.ravel(),
            starts[len(self.tuples) : len(self.tuples) + len(self.features)].astype(np.uint32),
            encoding.tables,
            self.two_players,
        )

    def table_slice(self, number: int) -> slice:
        """A table's place in `weights`: of a tuple, a feature, or the biases."""
        start = sum(self.sizes[:number])
        return slice(start, start + self.sizes[number])

    def table(self, number: int) -> Array:
        """The part of `weights` that is one table."""
        return self.weights[self.table_slice(number)]

    def initial_weight(self, number: int) -> np.float32:  # noqa: ARG002
        """The value of a table's weights before any learning."""
        return np.float32(0)

    def value(self, position: Any) -> float:
        """What the side that moves next may expect: its probability of winning, or points."""
        return float(value(position.rules, self.tables, position.words, make_scratch(self.m)))

    def moves(self, position: Any) -> list[MoveValue]:
        """The legal moves, each with what its player may expect."""
        moves, out = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES, np.float32)
        scratch = make_scratch(self.m)
        count = 0
        if not position.over and not position.is_chance:
            count = move_values(position.rules, self.tables, position.words, self.rewarded, scratch, moves, out)
        return [MoveValue(position.move_text(int(moves[i])), float(out[i])) for i in range(count)]

    def best_move(self, position: Any) -> str | None:
        """The legal move with the highest value; None if there is none."""
        return best_of(self.moves(position))

    def explain(self, position: Any) -> list[Contribution]:
        """What each tuple and each feature adds to the sum behind a position's value."""
        scratch = make_scratch(self.m)
        value(position.rules, self.tables, position.words, scratch)
        weights = iter(self.weights[scratch.indices].tolist())
        parts = []
        for each in self.tuples:
            placed = [(_cells_text(image), next(weights)) for image in images(self.encoding, each)]
            parts.append(Contribution(str(each), sum(weight for _, weight in placed), placed))
        biases = sum(next(weights) for _ in range(self.biases))
        for name in self.features:
            weight = next(weights)
            parts.append(Contribution(name, weight, [(name, weight)]))
        return [*parts, Contribution("bias", biases, [("bias", biases)])] if self.biases else parts

    def explain_moves(self, position: Any) -> dict[str, dict[str, float]]:
        """What each tuple and feature adds to each move's log-odds of winning (or points): part -> move -> value.

        A move that ends the game has none.
        """
        why: dict[str, dict[str, float]] = {}
        for move in position.legal_moves():
            after = position.play(move)
            if not after.over:
                sign = -1 if self.two_players and after.turn != position.turn else 1
                for part in self.explain(after):
                    why.setdefault(part.cells, {})[move] = sign * part.value
        return why


def _cells_text(cells: tuple[int, ...]) -> str:
    return "-".join(map(str, cells))


class SameOrder(NamedTuple):
    """A table whose indices in files and in memory are the same (compare `tables.FileOrder`)."""

    size: int

    def indices(self, where: Array) -> Array:
        """The indices in memory of indices in a file."""
        return where.astype(np.intp)

    def parts(self) -> Iterator[tuple[int, Array]]:
        """All indices in memory: part by part, with the first of each."""
        for start in range(0, self.size, _PART):
            yield start, np.arange(start, min(start + _PART, self.size))


def encoding_of(game: Game) -> Encoding:
    """The encoding of a game; UserError if it has none."""
    encoding = game.encoding
    if not isinstance(encoding, Encoding):
        raise UserError(f"{game.name} cannot be learned: it has no encoding (see docs/adding.md)")
    return encoding


def find_game_of(name: str, path: object, game: Game | None = None) -> Game:
    """The game of a weight file that names it; UserError if `game` is another one.

    A file cannot load code. The user's own game is the one that the caller passes, or one that was loaded before.
    """
    if game is None:
        return find_game(name)
    if name != game.name and name.rpartition(":")[2] != game.name.rpartition(":")[2]:
        raise UserError(f"{path} holds values of {name}, not of {game.name}")
    return game


def network_from(game: Game, notes: dict[str, str]) -> GameNetwork:
    """The empty network that a weight file's metadata describes, which are taken out of `notes`."""
    network = GameNetwork(game, str(notes.pop("tuples")), gamma=float(notes.pop("gamma", 1.0)))
    if int(notes.pop("weights", len(network.weights))) != len(network.weights):
        raise UserError(f"its tables do not fit the encoding that {game.name} has now: train it again")
    return network


class ValuedGame(NamedTuple):
    """A game whose `estimate` is a network's value: every search takes it like the game itself.

    Two threads must not share one: `scratch` is written.
    """

    rules: Any
    tables: GameTables
    scratch: Scratch


def valued_game(rules: Any, network: GameNetwork) -> ValuedGame:
    """The rules of a position, with a network's values as estimates."""
    return ValuedGame(rules, network.tables, make_scratch(network.m))


@inlined
def _estimate(game: ValuedGame, position: Words) -> float:
    """The learned value, brought into the game's range of values, and strictly inside it."""
    v = np.float64(value(game.rules, game.tables, position, game.scratch))
    low, high = protocol.value_range(game.rules)
    if game.tables.logistic:
        v = low + (high - low) * v
    middle, reach = 0.5 * (low + high), CERTAIN * 0.5 * (high - low)
    return min(max(v, middle - reach), middle + reach)


# Everything else is asked of the rules.


@inlined
def _has_draws(game: ValuedGame) -> bool:
    return protocol.has_draws(game.rules)


@inlined
def _side(game: ValuedGame, position: Words) -> Any:
    return protocol.side(game.rules, position)


@inlined
def _is_chance(game: ValuedGame, position: Words) -> bool:
    return protocol.is_chance(game.rules, position)


@inlined
def _legal(game: ValuedGame, position: Words, moves: Array, start: Any) -> Any:
    return protocol.legal(game.rules, position, moves, start)


@inlined
def _apply(game: ValuedGame, position: Words, move: Any) -> Words:
    return protocol.apply(game.rules, position, move)


@inlined
def _count_outcomes(game: ValuedGame, position: Words) -> int:
    return protocol.count_outcomes(game.rules, position)


@inlined
def _probability(game: ValuedGame, position: Words, outcome: Any) -> float:
    return protocol.probability(game.rules, position, outcome)


@inlined
def _apply_outcome(game: ValuedGame, position: Words, outcome: Any) -> Words:
    return protocol.apply_outcome(game.rules, position, outcome)


@inlined
def _forgets_outcome(game: ValuedGame) -> bool:
    return protocol.forgets_outcome(game.rules)


@inlined
def _ending(game: ValuedGame, position: Words) -> int:
    return protocol.ending(game.rules, position)


@inlined
def _winner(game: ValuedGame, ended: Any) -> int:
    return protocol.winner(game.rules, ended)


@inlined
def _payoff(game: ValuedGame, position: Words, ended: Any, rich: bool) -> float:
    return protocol.payoff(game.rules, position, ended, rich)


@inlined
def _playout(game: ValuedGame, position: Words, state: np.uint64, shortcuts: bool) -> Any:
    return protocol.playout(game.rules, position, state, shortcuts)


@inlined
def _playout_step(game: ValuedGame, position: Words, state: np.uint64, shortcuts: bool, moves: Any) -> Any:
    return protocol.playout_step(game.rules, position, state, shortcuts, moves)


@inlined
def _value_range(game: ValuedGame) -> tuple[float, float]:
    return protocol.value_range(game.rules)


@inlined
def _move_priority(game: ValuedGame, position: Words, move: Any, child: Words) -> Any:
    return protocol.move_priority(game.rules, position, move, child)


@inlined
def _players(game: ValuedGame) -> Any:
    return protocol.players(game.rules)


register_game(
    ValuedGame,
    MOST_MOVES,
    estimate=_estimate,
    has_draws=_has_draws,
    side=_side,
    is_chance=_is_chance,
    legal=_legal,
    apply=_apply,
    count_outcomes=_count_outcomes,
    probability=_probability,
    apply_outcome=_apply_outcome,
    forgets_outcome=_forgets_outcome,
    ending=_ending,
    winner=_winner,
    payoff=_payoff,
    playout=_playout,
    playout_step=_playout_step,
    value_range=_value_range,
    move_priority=_move_priority,
    players=_players,
)
