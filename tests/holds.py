"""How often 95 % intervals hold the truth, by simulation: the tables of docs/statistics.md.

    python tests/holds.py

takes some minutes; the tests look at a few of its numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from tuplet.arena.statistics import Z_AFTER_TEST, Sprt, pair_share, ratings, share_at
from tuplet.games.g2048.statistics import score_interval
from tuplet.system.bootstrap import iqm_interval
from tuplet.system.intervals import Z

# 150 quantiles each of the scores of 3,000 games, seed 77: of `small`, and of a network that
# `tuplet train --recipe homework --games 5000 --seed 1` taught.
SCORES = json.loads((Path(__file__).parent / "data" / "scores.json").read_text())


def pair_results(share: float, split: float) -> list[float]:
    """Chances that a pair is lost, split, won; `split` 0: both games end alike, 1: the opposite.

    At `split` 0.5 and an even share the games of a pair are independent.
    """
    chance = split * 2 * min(share, 1 - share)
    return [max(1 - share - chance / 2, 0.0), chance, max(share - chance / 2, 0.0)]


def drawn_pairs(share: float, draws: float, alike: float) -> list[float]:
    """Chances of the five results of a pair, if `draws` of all games are drawn.

    `alike` 0: its games are independent; 1: they end alike; -1: the better the one, the worse the
    other; anything between is a mixture.
    """
    game = np.array([1 - share - draws / 2, draws, share - draws / 2])
    assert game.min() > -1e-9
    ends = np.cumsum(game)[:2]
    cuts = np.unique(np.clip([0, 1, *ends, *(1 - ends)], 0, 1))
    middle, chance = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    other = middle if alike > 0 else 1 - middle
    points = np.searchsorted(ends, middle) + np.searchsorted(ends, other)
    tied = np.bincount(points, chance, 5)
    chances = (1 - abs(alike)) * np.convolve(game, game) + abs(alike) * tied
    assert abs(chances @ np.arange(5) / 4 - share) < 1e-9
    return np.maximum(chances, 0).tolist()  # type: ignore[no-any-return]


# Up to shares at which even a hundred pairs seldom lose a game.
TRUE_SHARES = [*np.linspace(0.5, 0.9, 81), *np.linspace(0.9, 0.9999, 334)]


def shares(pairs: int, results: Callable[[float], list[float]]) -> float:
    """Of shares in so many pairs: the least over true shares, each counted exactly.

    `results` gives the chances of a pair's three or five results, by the true share.
    """
    kinds = len(results(0.5))
    bars = np.array([*combinations(range(pairs + kinds - 1), kinds - 1)])
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, pairs + kinds - 1)))
    counts = np.diff(edges) - 1  # every result of a match, one a row
    logs = np.array([math.lgamma(n + 1) for n in range(pairs + 1)])
    ways = logs[pairs] - logs[counts].sum(1)
    low, high = np.array([pair_share(*each)[1] for each in counts.tolist()]).T
    least = 1.0
    for share in TRUE_SHARES:
        likely = np.exp(ways + counts @ np.log(np.maximum(results(share), 1e-300)))
        least = min(least, float(likely[(low <= share) & (share <= high)].sum()))
    return least


def means(player: str, games: int, trials: int) -> float:
    """Of mean scores of so many games."""
    scores = np.array(SCORES[player], float)
    drawn = np.random.default_rng(games).choice(scores, (trials, games))
    ends = [score_interval(each) for each in drawn.tolist()]
    return sum(low <= scores.mean() <= high for low, high in ends) / trials


def shares_after_test(test: Sprt, elo: float, split: float, matches: int, z: float = Z_AFTER_TEST) -> float:
    """Of shares in matches that the test ended."""
    random, (low, high) = np.random.default_rng(11), test.bounds
    share = share_at(elo)
    ends = np.cumsum(pair_results(share, split))[:-1]
    counts, held = np.zeros((matches, 3)), 0
    while len(counts):
        results = np.searchsorted(ends, random.random((len(counts), 64)), side="right")
        path = counts[:, None] + np.cumsum(results[..., None] == np.arange(3), axis=1)
        llrs = test.llrs(path)
        outside = (llrs <= low) | (llrs >= high)
        ended = outside.any(1)
        for last in path[np.arange(len(counts)), outside.argmax(1)][ended].astype(int).tolist():
            first, second = pair_share(*last, z=z)[1]
            held += first <= share <= second
        counts = path[~ended, -1]
    return held / matches


def strengths(elo: float, agents: int) -> list[float]:
    """Agents spread evenly over a difference in Elo; their mean is 0."""
    return [elo * (0.5 - i / (agents - 1)) for i in range(agents)]


def rated(elo: float, agents: int, pairs: int, split: float, trials: int) -> float:
    """Of ratings in tournaments of agents that are so far apart, the least of all agents."""
    random, truth = np.random.default_rng(3), strengths(elo, agents)
    held = np.zeros(agents)
    for _ in range(trials):
        found = ratings(
            agents,
            {
                (i, j): tuple(random.multinomial(pairs, pair_results(share_at(truth[i] - truth[j]), split)).tolist())
                for i, j in combinations(range(agents), 2)
            },
        )
        held += [r.ci95[0] <= t <= r.ci95[1] for r, t in zip(found, truth, strict=True)]
    return float(held.min() / trials)


def over_seeds(runs: int, trials: int) -> float:
    """Of interquartile means of so many runs, whose scores are normal, by bootstrap."""
    random = np.random.default_rng(runs)
    held = 0
    for _ in range(trials):
        low, high = iqm_interval([random.normal(0, 1, runs)])
        held += low <= 0 <= high
    return held / trials


def table(rows: list[object], columns: list[object], cell: Callable[..., float]) -> None:
    """Print shares in per cent."""
    print("".join(f"{column!s:>16}" for column in ["", *columns]))
    for row in rows:
        told = [f"{100 * cell(row, column):.1f}" for column in columns]
        print(f"{row!s:>16}" + "".join(f"{each:>16}" for each in told), flush=True)


if __name__ == "__main__":
    print("mean scores, by games")
    table(["small", "homework"], [2, 3, 5, 10, 20, 50], lambda p, n: means(p, n, 20_000))
    print("shares: the least over true shares, by how many pairs are split, and pairs")
    table([0, 0.1, 0.5, 1], [5, 10, 20, 50, 100], lambda split, n: shares(n, lambda share: pair_results(share, split)))
    print("interquartile means over seeds, by runs")
    table(["normal"], [2, 3, 5, 10, 20], lambda _, n: over_seeds(n, 2000))
    tests = [(0, 50), (0, 100), (0, 200), (-50, 0), (200, 300), (300, 500)]
    for name, z in (("1.96", Z), ("2.58", Z_AFTER_TEST)):
        print(f"shares after a test has stopped, with {name}: the least over true Elos")
        table(
            tests,
            [0.1, 0.5, 0.9],
            lambda t, split: min(
                shares_after_test(Sprt(*t), t[0] + f * (t[1] - t[0]), split, 1000, z)  # noqa: B023
                for f in (-0.5, 0, 0.25, 0.5, 0.75, 1, 1.5)
            ),
        )
    for agents in (2, 3, 6):
        for split in (0.1, 0.5):
            print(f"ratings of {agents} agents, split {split}: by Elo and pairs")
            table([0, 200, 400, 700], [5, 10, 20, 100], lambda e, n: rated(e, agents, n, split, 300))  # noqa: B023
