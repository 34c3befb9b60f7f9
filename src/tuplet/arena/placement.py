"""`placement`: how should the cubes of EWN be arranged, if both sides choose at the same time?

Each side has an arrangement for every order of its cubes, 720 for six. The probability that Red wins, who moves
first, is a matrix over the arrangements of both sides, and choosing them is a zero-sum game. Reversing a side's
numbers (1 for 6, 2 for 5, ...) changes nothing where the die is fair, so an arrangement and its reversal count as
one: 360 for each side.

The matrix is estimated by games between all arrangements, few for each pair, in which both sides play greedily by
learned values, or at random where there are none. (The learned values alone say nothing: while no cube is gone, all
cubes are equally mobile.) Noise is then removed by least squares: an entry depends on which kinds of cubes, 1 or 6,
2 or 5, 3 or 4, stand on which squares of both sides, and each side's part also on the differences between its
numbers on every two squares. Regret matching+ (Tammelin 2014) finds mixed strategies that hardly lose to any
answer, in this matrix.

`error` is the standard error of its entries. `gap` says how far the strategies are from an equilibrium of the
matrix, and not how far the matrix is from the truth: for this, new games are played with the most likely
arrangements (`check`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.games.ewn.game import EwnGame
from tuplet.games.game import Game
from tuplet.games.protocol import (
    MOST_MOVES,
    ONGOING,
    Array,
    apply,
    apply_outcome,
    ending,
    is_chance,
    payoff,
    playout,
    random_outcome,
)
from tuplet.games.registry import find_game
from tuplet.kernel import as_seed, draw, kernel, stream
from tuplet.system import progress as progress_module
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable
from tuplet.values.game_network import GameNetwork, GameTables, Scratch, make_scratch, move_values
from tuplet.values.players import bundled_values

ROUNDS = 5000  # of regret matching
GREEDY_GAMES = 500_000  # by learned values, for the whole matrix
RANDOM_GAMES = 20_000_000
CHECK_SHARE = 0.04  # of these games, for each part of the check
SHOWN = 8  # arrangements of each side
LEAST = 0.001  # smaller probabilities are not shown


class Arrangement(NamedTuple):
    """An arrangement: the cubes' numbers on the starting squares, and how good it is."""

    cubes: str  # as `setup(red=...)` takes it
    probability: float  # of choosing it (or its reversal)
    value: float  # Red's probability of winning with it, against the other side's strategy


class Check(NamedTuple):
    """New games with the most likely arrangements: Red's share of wins, and its standard error."""

    both: float  # both sides have theirs
    red_only: float  # Blue's is any
    blue_only: float  # Red's is any
    neither: float  # of the games of the matrix
    error: float
    games: int  # of each of the first three


@dataclass(frozen=True, repr=False)
class Placement(Displayable):
    """Mixed strategies of both sides, and what they are worth."""

    game: str
    players: str  # who played the games
    games: int
    error: float  # the standard error of an entry of the matrix
    value: float  # Red's probability of winning, if both sides follow the strategies
    gap: float  # what a better answer could gain, in the matrix
    mean: float  # Red's probability of winning, if both sides place at random
    red: list[Arrangement]
    blue: list[Arrangement]
    check: Check

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        names = ("game", "players", "games", "error", "value", "gap", "mean")
        return {
            **{name: getattr(self, name) for name in names},
            "red": [each._asdict() for each in self.red],
            "blue": [each._asdict() for each in self.blue],
            "check": self.check._asdict(),
        }

    def text_tables(self) -> list[TextTable]:
        """The value, and the arrangements of each side."""
        check = self.check
        notes = [
            f"{self.games:,} games by {self.players}; red moves first; standard error {100 * self.error:.1f} points",
            f"red wins {100 * self.value:.1f} % if both follow these (a better answer gains {100 * self.gap:.2f} "
            f"points at most, by these games), {100 * self.mean:.1f} % if both place at random",
            f"{check.games:,} new games each with the first of each side: red wins {100 * check.both:.1f} %, "
            f"{100 * check.red_only:.1f} % if only red has it, {100 * check.blue_only:.1f} % if only blue has it, "
            f"{100 * check.neither:.1f} % if neither has (standard error {100 * check.error:.1f})",
        ]
        tables = [TextTable(f"{self.game}: placement", notes=notes)]
        for side, found in (("red", self.red), ("blue", self.blue)):
            rows = [
                [each.cubes, f"{100 * each.probability:.1f} %", f"{100 * each.value:.1f} %"] for each in found[:SHOWN]
            ]
            tables.append(TextTable(side, ["cubes", "choose", "red wins"], rows, words=(0,)))
        return tables

    def __repr__(self) -> str:
        return f"<Placement in {self.game}: red {self.red[0].cubes}, blue {self.blue[0].cubes}, value {self.value:.3f}>"


def placement(
    game: str | Game = "ewn",
    values: str | Path | GameNetwork | None = None,
    *,
    games: int | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Placement:
    """How to arrange the cubes of a game of the EWN family, where the die is rolled.

    `values` is a learned network of the game, or its file: both sides play greedily by it. By default it is the one
    that comes with tuplet; where there is none, games are random. `games` is their number (500,000, or 20 million
    random ones).
    Arrangements are those of `EwnGame.setup`: numbers on the starting squares, for Red row by row.
    """
    found = find_game(game)
    if not isinstance(found, EwnGame) or found.die != "rolled":
        raise UserError(f"placements are chosen in ewn and its family, where dice are rolled (got {found.name})")
    players = "random players"
    if values is None:
        values = bundled_values(found.name)
        players = f"the values of {found.name} that come with tuplet" if values is not None else players
    else:
        players = "learned values" if isinstance(values, GameNetwork) else str(values)
    network = GameNetwork.load(values, found) if isinstance(values, str | Path) else values
    planned = (RANDOM_GAMES if network is None else GREEDY_GAMES) if games is None else games
    if planned < 1:
        raise UserError(f"games must be 1 or more (got {planned})")
    every = permutations(range(1, found.cubes + 1))
    orders = [order for order in every if order <= tuple(found.cubes + 1 - n for n in order)]
    each = max(planned // len(orders) ** 2, 1)
    pairing = _Pairing(found, network, orders, seed)
    with watching(progress) as watch:
        watch(Progress(progress_module.COMPILING))
        seen = np.zeros((len(orders), len(orders)))
        for i in range(len(orders)):
            seen[i] = pairing.play(slice(i, i + 1), slice(None), each)[0]
            if stop is not None and stop.is_set():
                raise Stopped("stopped before the games were played")
            watch(Progress("arrangements", i + 1, len(orders)))
        matrix, error = smoothed(seen, orders, each)
        red, blue = solve_matrix(matrix)
        new = max(int(CHECK_SHARE * planned), len(orders))
        check = _check(pairing, int(np.argmax(red)), int(np.argmax(blue)), float(seen.mean()), new)
    against_blue, against_red = matrix @ blue, red @ matrix
    texts = ["".join(map(str, order)) for order in orders]

    def listed(strategy: Array, worth: Array) -> list[Arrangement]:
        likely = sorted(range(len(texts)), key=lambda n: -strategy[n])
        return [Arrangement(texts[n], float(strategy[n]), float(worth[n])) for n in likely if strategy[n] >= LEAST]

    return Placement(
        found.name,
        players,
        each * len(orders) ** 2,
        error,
        float(red @ matrix @ blue),
        float(against_blue.max() - against_red.min()),
        float(seen.mean()),
        listed(red, against_blue),
        listed(blue, against_red),
        check,
    )


class _Pairing:
    """Games between arrangements of both sides."""

    def __init__(self, game: EwnGame, network: GameNetwork | None, orders: list[tuple[int, ...]], seed: int) -> None:
        self.rules, self.network = game.rules, network
        self.reds = np.array([game.setup(red=order).words[0] for order in orders], np.uint64)
        self.blues = np.array([game.setup(blue=order).words[1] for order in orders], np.uint64)
        self.state = np.uint64(stream(as_seed(seed), np.uint64(0)))

    def play(self, rows: slice, columns: slice, games: int) -> Array:
        """Red's share of wins in the games of each pair, float64[rows, columns]."""
        reds, blues, network = self.reds[rows], self.blues[columns], self.network
        results = np.zeros((len(reds), len(blues)))
        if network is None:
            self.state = np.uint64(_play_random(self.rules, reds, blues, games, self.state, results))
        else:
            moves, out = np.zeros(MOST_MOVES, np.uint8), np.zeros(MOST_MOVES, np.float32)
            scratch = make_scratch(network.m)
            self.state = np.uint64(
                _play_greedily(
                    self.rules,
                    network.tables,
                    network.rewarded,
                    scratch,
                    reds,
                    blues,
                    games,
                    self.state,
                    moves,
                    out,
                    results,
                )
            )
        return results


def smoothed(seen: Array, orders: list[tuple[int, ...]], games: int) -> tuple[Array, float]:
    """The matrix without most of its noise, and the standard error of an entry."""
    cubes = len(orders[0])
    kinds = [[min(n, cubes + 1 - n) for n in order] for order in orders]
    simple = np.array(
        [[1.0, *(float(k == kind) for k in row for kind in range(1, (cubes + 1) // 2 + 1))] for row in kinds]
    )
    pairs = list(combinations(range(cubes), 2))
    fine = np.array([[abs(order[a] - order[b]) for a, b in pairs] for order in orders], float)
    both = np.hstack([simple, fine, fine**2])
    project, project_fine = (each @ np.linalg.pinv(each) for each in (simple, both))
    extra = project_fine - project
    rows, columns = extra @ seen.mean(axis=1), extra @ seen.mean(axis=0)
    matrix = project @ seen @ project.T + rows[:, None] + columns[None, :]
    noise = float(np.mean(seen * (1 - seen))) if games > 1 else float(seen.mean() * (1 - seen.mean()))
    noise = noise / (games - 1) if games > 1 else noise
    size = len(orders)
    weight = (np.trace(project) ** 2 + 2 * np.trace(extra)) / size**2
    return matrix, math.sqrt(noise * weight)


def solve_matrix(matrix: Array, rounds: int = ROUNDS) -> tuple[Array, Array]:
    """Mixed strategies of the game in which the rows' player gets an entry from the columns' player.

    >>> rows, columns = solve_matrix(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> [round(float(each), 2) for each in (*rows, *columns)]
    [0.33, 0.67, 0.67, 0.33]
    """
    counts = matrix.shape
    regrets = [np.zeros(n) for n in counts]
    totals = [np.zeros(n) for n in counts]

    def strategy(regret: Array) -> Array:
        total = regret.sum()
        return regret / total if total > 0 else np.full(len(regret), 1 / len(regret))

    for number in range(1, rounds + 1):
        row = strategy(regrets[0])
        gains = matrix @ strategy(regrets[1])
        regrets[0] = np.maximum(regrets[0] + gains - row @ gains, 0)
        row = strategy(regrets[0])  # players take turns, which converges faster
        column = strategy(regrets[1])
        losses = row @ matrix
        regrets[1] = np.maximum(regrets[1] + losses @ column - losses, 0)
        totals[0] += number * row
        totals[1] += number * strategy(regrets[1])
    return totals[0] / totals[0].sum(), totals[1] / totals[1].sum()


@kernel
def _play_random(rules: Any, reds: Array, blues: Array, games: int, state: np.uint64, results: Array) -> np.uint64:
    """Write Red's share of wins in random games into `results`; returns the random stream's next state."""
    for i in range(len(reds)):
        for j in range(len(blues)):
            total = 0.0
            for _ in range(games):
                state, last = playout(rules, (reds[i], blues[j]), state, True)
                total += payoff(rules, last, ending(rules, last), False)
            results[i, j] = total / games
    return state


@kernel
def _play_greedily(
    rules: Any,
    tables: GameTables,
    rewarded: bool,
    scratch: Scratch,
    reds: Array,
    blues: Array,
    games: int,
    state: np.uint64,
    moves: Array,
    out: Array,
    results: Array,
) -> np.uint64:
    """The same for games in which both sides play the move of the highest learned value."""
    for i in range(len(reds)):
        for j in range(len(blues)):
            total = 0.0
            for _ in range(games):
                position = (reds[i], blues[j])
                ended = ending(rules, position)
                while ended == ONGOING:
                    if is_chance(rules, position):
                        state, bits = draw(state)
                        position = apply_outcome(rules, position, random_outcome(rules, position, bits))
                        continue
                    best = 0
                    for k in range(move_values(rules, tables, position, rewarded, scratch, moves, out)):
                        best = k if out[k] > out[best] else best
                    position = apply(rules, position, np.int64(moves[best]))
                    ended = ending(rules, position)
                total += payoff(rules, position, ended, False)
            results[i, j] = total / games
    return state


def _check(pairing: _Pairing, red: int, blue: int, neither: float, games: int) -> Check:
    """New games between these arrangements, and of each against all of the other side."""
    games -= games % len(pairing.reds)
    rows, columns, each = slice(red, red + 1), slice(blue, blue + 1), games // len(pairing.reds)
    return Check(
        float(pairing.play(rows, columns, games).mean()),
        float(pairing.play(rows, slice(None), each).mean()),
        float(pairing.play(slice(None), columns, each).mean()),
        neither,
        math.sqrt(0.25 / games),
        games,
    )
