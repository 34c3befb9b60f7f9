"""Learned values approach perfect play on boards that are solved.

Each learner starts from nothing on a small board, with a network that sees all of it. From time
to time its exact expected score is computed (`tuplet.exact.regret.follow`) and compared with that
of optimal play: what is left is its regret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tuplet.exact import Solution, solve
from tuplet.exact.regret import follow
from tuplet.learn.curves import new_figure, save_figure
from tuplet.learn.train import train
from tuplet.studies import Report
from tuplet.values.network import Network

LEARNERS: dict[str, dict[str, Any]] = {
    "TD(0), after-states": {"learner": "td", "target": "afterstate"},
    "TD(0), states": {"learner": "td", "target": "state"},
    "TC, after-states": {"learner": "tc", "target": "afterstate"},
    "TC, states": {"learner": "tc", "target": "state"},
}
COLUMNS = ("board", "learner", "games", "score", "optimal score", "regret", "optimal moves")
FLOOR = 1e-4  # on a logarithmic axis, less regret than this is drawn as none


def run(board: str = "2x2 2x3", games: int = 100_000, seed: int = 0) -> Report:
    """Learn on each of the boards."""
    rows: list[tuple[Any, ...]] = []
    for size in board.replace(",", " ").split():
        solution = solve(size)
        for name, settings in LEARNERS.items():
            for n, net in _learning(size, games, seed, settings):
                rows.append((size, name, n, *_judged(solution, net)))
    return Report(COLUMNS, rows, lambda path: draw(rows, path))


def _learning(
    size: str, games: int, seed: int, settings: dict[str, Any]
) -> Iterator[tuple[int, Network]]:
    """A network after 100, 200, 500, 1,000, ... games."""
    net = Network(board=size, target=settings["target"])
    done, stops = 0, [k * 10**e for e in range(2, 9) for k in (1, 2, 5)]
    for stop in (*(n for n in stops if n < games), games):
        train(net, games=stop - done, seed=seed + done, progress=False, **settings)
        done = stop
        yield done, net


def _judged(solution: Solution, net: Network) -> tuple[float, float, float, float]:
    found = follow(solution, net)
    return found.score, solution.expected_score, found.regret, found.optimal


def draw(rows: list[tuple[Any, ...]], path: Path) -> None:
    """Regret against games, a panel for each board."""
    boards = list(dict.fromkeys(row[0] for row in rows))
    figure = new_figure(4.2 * len(boards) + 0.4, 3.8)
    panels = figure.subplots(1, len(boards), squeeze=False)[0]
    for axes, size in zip(panels, boards, strict=True):
        for name in LEARNERS:
            points = [(row[2], max(row[5], FLOOR)) for row in rows if row[:2] == (size, name)]
            games, regrets = zip(*points, strict=True)
            axes.plot(games, regrets, marker="o", markersize=3, linewidth=1.2, label=name)
        axes.set(xscale="log", yscale="log", xlabel="games", title=size)
        axes.grid(True, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("regret: points a game behind optimal play")
    panels[0].legend(frameon=False)
    save_figure(figure, path)
