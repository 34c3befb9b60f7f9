"""Learned values approach perfect play on boards that are solved.

Each learner has a network that sees the whole board, so that nothing but learning stands between
it and perfect play. After runs of growing length its exact expected score is computed
(`tuplet.exact.regret.exact_regret`); what it lacks of optimal play's is its regret.

Moves are always greedy: there is no exploration. OTD and OTC start optimistically, with all values at the score of
optimal play, so that untried moves look good. OTC has α = 0.3 and λ = 0: with one table for the whole board, α = 1
would replace each value by its first sample.
"""

from __future__ import annotations

from typing import Any

from tuplet.exact.regret import exact_regret
from tuplet.exact.solution import solvable
from tuplet.exact.solve import solve_board
from tuplet.learn.train import train
from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell, Estimate
from tuplet.system.blocks import Worker
from tuplet.system.pictures import new_figure, style_axes
from tuplet.values.network import Network, Target

GAMES = 200_000
VARIANTS: dict[str, dict[str, Any]] = {
    "TD": {"learner": "td"},
    "TC": {"learner": "tc"},
    "OTD": {"learner": "td"},
    "OTC": {"learner": "tc", "alpha": 0.3, "lam": 0.0},
}
TARGETS: tuple[Target, ...] = ("afterstate", "state")
OPTIMISTS = ("OTD", "OTC")  # their values start at the score of optimal play
COLUMNS = ("board", "learner", "values of", "games")
FLOOR = 1e-3  # on a logarithmic axis, less regret than this is drawn as this

Row = tuple[str, str, str, int, float, float, float]


def regret(context: StudyContext, board: str = "2x2 2x3") -> StudyResult:
    """No report has this: on boards that are solved, what a learner lacks of perfect play is known exactly."""
    games = context.games(GAMES, least=100)
    lengths = [k * 10**e for e in range(2, 9) for k in (1, 2, 5)]
    parts = {
        f"{size}-{name}-{target}-{length}": (size, name, target, length, context.seed)
        for size in board.replace(",", " ").split()
        for name in VARIANTS
        for target in TARGETS
        for length in (*(n for n in lengths if n < games), games)
    }
    for size in dict.fromkeys(part[0] for part in parts.values()):
        solvable(size)  # raises before anything runs
    rows: list[Row] = [
        (*part[:4], *result) for part, result in zip(parts.values(), context.parts(_train, parts).values(), strict=True)
    ]
    cells = [
        Cell(
            {**dict(zip(COLUMNS, row[:4], strict=True)), "score": score, "optimal moves": optimal},
            Estimate(lost, (lost, lost)),
            None,
            "number",
            " ",
            {"regret": lost},
        )
        for row in rows
        for score, lost, optimal in (row[4:],)
    ]
    settings = {name: ", ".join(f"{k}={v}" for k, v in variant.items()) for name, variant in VARIANTS.items()}
    notes = ["Ours is the regret: points a game behind optimal play, exact."]
    return StudyResult(cells, settings, {"regret": lambda: draw(rows)}, notes)


def _train(
    size: str, name: str, target: Target, games: int, seed: int, worker: Worker
) -> tuple[float, float, float] | None:
    """Train once; return the exact score, the regret, and the share of optimal moves."""
    solution = worker.share(size, lambda: solve_board(size, progress=False))
    initial = solution.expected_score if name in OPTIMISTS else 0.0
    net = Network(board=size, target=target, initial=initial)
    run = train(net, games=games, seed=seed, progress=False, stop=worker.stop, **VARIANTS[name])
    if run.interrupted:
        return None
    result = exact_regret(solution, net)
    return result.score, result.regret, result.optimal


def draw(rows: list[Row]) -> Any:
    """Regret against games, a panel for each board."""
    boards = list(dict.fromkeys(row[0] for row in rows))
    figure = new_figure(4.2 * len(boards) + 0.4, 3.8)
    panels = figure.subplots(1, len(boards), squeeze=False)[0]
    for axes, size in zip(panels, boards, strict=True):
        for number, name in enumerate(VARIANTS):
            for target, line in zip(TARGETS, ("-", ":"), strict=True):
                curve = [row for row in rows if row[:3] == (size, name, target)]
                axes.plot(
                    [row[3] for row in curve],
                    [max(row[5], FLOOR) for row in curve],
                    line,
                    color=f"C{number}",
                    marker="o",
                    markersize=2.5,
                    linewidth=1.2,
                    label=f"{name}, {target}s",
                )
        axes.set(xscale="log", yscale="log", xlabel="games", title=size)
        style_axes(axes)
    panels[0].set_ylabel("regret: points a game behind optimal play")
    panels[-1].legend(frameon=False, fontsize=7)
    return figure
