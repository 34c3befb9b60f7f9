"""Learned values approach perfect play on boards that are solved.

Each learner has a network that sees the whole board, so that nothing but learning stands between
it and perfect play. After runs of growing length its exact expected score is computed
(`tuplet.exact.regret.follow`); what it lacks of optimal play's is its regret.

Moves are always the best ones known: nothing is explored on purpose. OTD and OTC have an optimistic
start, all values at what optimal play scores, so that what was not tried looks good. OTC has
α = 0.3 and λ = 0: with one table for the whole board, α = 1 takes each first sample for the truth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tuplet.exact import Solution, solve
from tuplet.exact.regret import follow
from tuplet.learn.curves import new_figure, save_figure
from tuplet.learn.train import train
from tuplet.studies import Report, Watcher
from tuplet.values.network import Network, Target

LEARNERS: dict[str, dict[str, Any]] = {
    "TD": {"learner": "td"},
    "TC": {"learner": "tc"},
    "OTD": {"learner": "td"},
    "OTC": {"learner": "tc", "alpha": 0.3, "lam": 0.0},
}
TARGETS: tuple[Target, ...] = ("afterstate", "state")
OPTIMISTS = ("OTD", "OTC")  # their values start at the score of optimal play
COLUMNS = ("board", "learner", "values of", "games", "score", "regret", "optimal moves")
FLOOR = 1e-3  # on a logarithmic axis, less regret than this is drawn as this

Row = tuple[str, str, str, int, float, float, float]


def run(
    board: str = "2x2 2x3", games: int = 200_000, seed: int = 0, *, watch: Watcher = lambda *_: None
) -> Report:
    """Learn on each of the boards, in runs of up to this many games."""
    lengths = [k * 10**e for e in range(2, 9) for k in (1, 2, 5)]
    solutions = [solve(size) for size in board.replace(",", " ").split()]
    runs = [
        (solution, name, target, length)
        for solution in solutions
        for name in LEARNERS
        for target in TARGETS
        for length in (*(n for n in lengths if n < games), games)
    ]
    rows: list[Row] = []
    for done, (solution, name, target, length) in enumerate(runs):
        watch(done, len(runs), f"{solution.size} {name} {target} {length:,} games")
        rows.append(_learned(solution, name, target, length, seed))
    return Report(COLUMNS, rows, lambda path: draw(rows, path))


def _learned(solution: Solution, name: str, target: Target, games: int, seed: int) -> Row:
    initial = solution.expected_score if name in OPTIMISTS else 0.0
    net = Network(board=solution.size, target=target, initial=initial)
    if train(net, games=games, seed=seed, progress=False, **LEARNERS[name]).interrupted:
        raise KeyboardInterrupt
    found = follow(solution, net)
    return solution.size, name, target, games, found.score, found.regret, found.optimal


def draw(rows: list[Row], path: Path) -> None:
    """Regret against games, a panel for each board."""
    boards = list(dict.fromkeys(row[0] for row in rows))
    figure = new_figure(4.2 * len(boards) + 0.4, 3.8)
    panels = figure.subplots(1, len(boards), squeeze=False)[0]
    for axes, size in zip(panels, boards, strict=True):
        for number, name in enumerate(LEARNERS):
            for target, line in zip(TARGETS, ("-", ":"), strict=True):
                curve = [row for row in rows if row[:3] == (size, name, target)]
                axes.plot(
                    [row[3] for row in curve], [max(row[5], FLOOR) for row in curve], line,
                    color=f"C{number}", marker="o", markersize=2.5, linewidth=1.2,
                    label=f"{name}, {target}s",
                )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="games", title=size)
        axes.grid(True, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("regret: points a game behind optimal play")
    panels[-1].legend(frameon=False, fontsize=7)
    save_figure(figure, path)
