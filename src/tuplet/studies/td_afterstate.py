"""TD(0) on after-state values: one report's strength table, with one table (its program) and a table for each tuple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import (
    Published,
    Run,
    largest,
    learning_result,
    mean_at,
    picture,
    runs_of,
    share_over_runs,
    statistics_cells,
)
from tuplet.studies.verdicts import Cell, Estimate
from tuplet.system.pictures import new_figure, style_axes

CLAIM = (
    "The fourth report's program scores 58,973 on average and makes 2048 in 92.1 % of its games. "
    "Its four tuples share one table, by mistake: its list of tables holds one table four times. It does "
    "not say how many games it learned from, or how many its shares are of; they have one "
    "decimal, as the course's statistics of 1,000 games do, so 1,000 is assumed. "
    "TDL2048-Demo, a program used in courses, prints its statistics after 100,000 games."
)
MEANT, SHARED = "a table each", "one table"  # as meant, and as programmed
SEEDS = 5
VARIANTS = {MEANT: LearnerVariant(), SHARED: LearnerVariant(shared=True)}
REPORT = Published(
    58_973,
    {128: 1.0, 512: 0.999, 1024: 0.995, 2048: 0.921, 4096: 0.582, 8192: 0.071, 16384: 0.001},
    {128: 0.001, 512: 0.004, 1024: 0.074, 2048: 0.339, 4096: 0.511, 8192: 0.070, 16384: 0.001},
)
REPORTS_LARGEST, REPORTS_MOVES = 236_596, 4_647
DEMO = Published(  # its block at 100,000 games
    68_663.7,
    {256: 1.0, 512: 0.998, 1024: 0.989, 2048: 0.912, 4096: 0.687, 8192: 0.148},
    {256: 0.002, 512: 0.009, 1024: 0.077, 2048: 0.225, 4096: 0.539, 8192: 0.148},
)
DEMOS_LARGEST = 177_508


def draw_tiles(runs: Mapping[str, Sequence[Run]]) -> Any:
    """The largest tiles of games: ours as bars, the published as diamonds."""
    figure = new_figure(11, 3.6)
    beside = [
        (SHARED, "fresh", REPORT, "the report"),
        (MEANT, "fresh", REPORT, "the report"),
        (MEANT, "last", DEMO, "TDL2048-Demo"),
    ]
    panels = figure.subplots(1, len(beside), sharey=True)
    for number, (axes, (name, which, published, source)) in enumerate(zip(panels, beside, strict=True)):
        tiles = list(range(7, 15))
        shares = [share_over_runs([[t == 1 << e for t in run[which]["tiles"]] for run in runs[name]]) for e in tiles]
        sides = [
            [100 * abs(each.value - end) for each in shares if each.ci95 for end in each.ci95[side : side + 1]]
            for side in (0, 1)
        ]
        colour = f"C{[*VARIANTS].index(name)}"  # as in the other picture
        axes.bar(
            tiles,
            [100 * each.value for each in shares],
            yerr=sides if sides[0] else None,
            color=colour,
            alpha=0.75,
            capsize=2.5,
            label="ours",
        )
        published_shares = [100 * published.ended.get(1 << e, 0.0) for e in tiles]
        axes.plot(tiles, published_shares, "kD", markersize=4.5, label=source)
        axes.set_xticks(tiles, [str(1 << e) for e in tiles], fontsize=7.5)
        axes.set_title(
            f"{name}\n{'last games of learning' if which == 'last' else 'fresh games'}", fontsize=9, loc="left"
        )
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        style_axes(axes)
        if number == 0:
            axes.set_ylabel("% of games with this largest tile")
    return figure


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn with one table for all tuples and with a table each."""
    runs = runs_of(context, VARIANTS, net, seeds=SEEDS)
    cells = []
    for name in (SHARED, MEANT):
        labels = {"program": name, "beside": "the report"}
        cells += statistics_cells(labels, runs[name], "fresh", REPORT)
        # A game begins with two placements, and each slide is followed by another.
        moves = mean_at([(2 * run["fresh"]["mean_moves"] + 2, 0.0, 1) for run in runs[name]])
        note = "if the report counts placements as moves, too; slides alone are half as many"
        figure = {**labels, "figure": "slides and placements"}
        cells.append(Cell(figure, moves, Estimate(REPORTS_MOVES), "points", note))
    demo = {"program": MEANT, "beside": "TDL2048-Demo"}
    cells += statistics_cells(demo, runs[MEANT], "last", DEMO)
    settings = runs[MEANT][0]["settings"]
    notes = [
        f"Beside the report: {settings['fresh']:,} fresh games of each run. Beside TDL2048-Demo: the "
        f"last {settings['block']:,} games that were learned from, as it prints them.",
        f"Each figure is the mean of {len(runs[MEANT])} runs. A published share is of one run: "
        "verdicts allow for another run to differ from ours as ours differ from each other.",
        f"Largest scores: {largest(runs[SHARED], 'fresh'):,} (one table) and "
        f"{largest(runs[MEANT], 'fresh'):,} (a table each) in fresh games, the report's "
        f"{REPORTS_LARGEST:,}; {largest(runs[MEANT], 'last'):,} in the last games of learning, "
        f"TDL2048-Demo's {DEMOS_LARGEST:,}. They are single games and prove nothing.",
        "Published means have no interval and cannot be tested. The second picture shows the largest "
        "tiles, whose shares are differences of two rows.",
        "The report does not update the first two placements of an episode. No move leads to them, "
        "so this changes nothing (td-targets measures the cost of not updating the first two "
        "after-states).",
    ]
    marks = {"the report: 58,973": REPORT.mean, "TDL2048-Demo: 68,664": DEMO.mean}
    pictures = {"curve": lambda: picture(runs, marks), "tiles": lambda: draw_tiles(runs)}
    return learning_result(cells, runs, "the 4th report's strength table; TDL2048-Demo's print-out", notes, pictures)
