"""State and after-state values side by side: at equal games, equal time, and equal look-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import UNITS, Run, change, describe_change, draw_lines, learning_result, mean_at, runs_of
from tuplet.studies.verdicts import Cell
from tuplet.system.pictures import new_figure

CLAIM = (
    "Reports compare the two in words: a choice by states looks at up to 28 boards for each move, "
    "by after-states at one. None has a picture, or a number, of what that is worth."
)
STATE, AFTERSTATE = "state values", "after-state values"
VARIANTS = {STATE: LearnerVariant(states=True), AFTERSTATE: LearnerVariant()}


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn both, and compare them where both have spent the same."""
    runs = runs_of(context, VARIANTS, net, timed=True)
    cells, changes = [], {}
    for by, unit in UNITS.items():
        # All that the cheaper of the two spent: both have a curve up to there.
        spent = min(min(run["blocks"][by][-1] for run in some) for some in runs.values())
        at = f"{_short(spent)} {unit}"
        means = {name: mean_at([_point(run, by, spent) for run in some]) for name, some in runs.items()}
        changes[by] = change(means[AFTERSTATE], means[STATE])
        for name, ours in means.items():
            note = describe_change(changes[by], STATE) if name == AFTERSTATE else " "
            games = [_games(run, by, spent) for run in runs[name]]
            labels: dict[str, str | float] = {
                "equal": by.replace("_", "-"),
                "spent": at,
                "values": name,
                "games by then": round(sum(games) / len(games)),
            }
            cells.append(Cell(labels, ours, None, "points", note))
    settings = runs[STATE][0]["settings"]
    rates = {name: _per_game(some) for name, some in runs.items()}
    notes = [
        f"Ours is the mean score of the block of {settings['block']:,} games under way at "
        f"that point, the mean of {len(runs[STATE])} runs.",
        "A look-up is a weight that a plain program reads: m for each move to choose by "
        "after-states, m for each board that a spawn can make of each move to choose by states, and "
        "twice m for an update. Seconds are those of our kernels, which read fewer weights for states "
        "by adding differences.",
        *(
            f"{name}: {seconds * 1e3:,.1f} ms and {look_ups / 1e6:,.2f} million look-ups a game."
            for name, (seconds, look_ups) in rates.items()
        ),
        "Seconds depend on the machine and on its other load.",
    ]
    return learning_result(cells, runs, "in words only", notes, {"curves": lambda: draw(runs)}, changes, [*UNITS])


def _point(run: Run, by: str, spent: float) -> tuple[float, float, int]:
    """The block under way when `spent` was reached: mean, deviation, and games."""
    blocks = run["blocks"]
    number = next(n for n, so_far in enumerate(blocks[by]) if so_far >= spent)
    games = blocks["games"][number] - (blocks["games"][number - 1] if number else 0)
    return blocks["mean_score"][number], blocks["deviation"][number], games


def _games(run: Run, by: str, spent: float) -> Any:
    """The number of games when `spent` was reached, interpolated within the block under way."""
    blocks, before, games = run["blocks"], 0.0, 0
    for so_far, end in zip(blocks[by], blocks["games"], strict=True):
        if so_far >= spent:
            return games + (end - games) * (spent - before) / max(so_far - before, 1e-9)
        before, games = so_far, end
    return float(games)


def _short(number: float) -> str:
    """A number with three significant digits.

    >>> _short(100_000), _short(123.456), _short(10_512_345), _short(2.5e9)
    ('100,000', '123', '10.5 million', '2.5 billion')
    """
    for unit, word in ((1e9, " billion"), (1e6, " million")):
        if number >= unit:
            return f"{number / unit:.3g}{word}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _per_game(runs: Sequence[Run]) -> tuple[float, float]:
    """Seconds and look-ups of a game, on average."""
    games = sum(run["blocks"]["games"][-1] for run in runs)
    seconds = sum(run["blocks"]["seconds"][-1] for run in runs)
    return seconds / games, sum(run["blocks"]["look_ups"][-1] for run in runs) / games


def draw(runs: Mapping[str, Sequence[Run]]) -> Any:
    """A panel for each unit of cost."""
    figure = new_figure(11, 4)
    panels = figure.subplots(1, len(UNITS), sharey=True)
    for axes, by in zip(panels, UNITS, strict=True):
        draw_lines(axes, runs, by, log=by != "games")
        axes.set_title(f"equal {by.replace('_', '-')}", fontsize=10, loc="left")
    panels[0].set_ylabel("mean score of a block of games")
    panels[0].legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure
