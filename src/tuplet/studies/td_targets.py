"""What the errors in the reports' updates cost, one at a time, against the update as derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import Run, change, describe_change, draw_lines, learning_result, runs_of, scores_of
from tuplet.studies.verdicts import Cell
from tuplet.system.pictures import new_figure

CLAIM = (
    "The listings of some reports do not compute what their formulas say. No report gives the cost: the authors did "
    "not notice."
)
GAMES = 30_000
STATE, AFTERSTATE = "states", "after-states"
AS_DERIVED = "as derived"
VARIANTS: dict[tuple[str, str], tuple[LearnerVariant, str]] = {
    (STATE, AS_DERIVED): (LearnerVariant(states=True), ""),
    (STATE, "the next move's reward in the target, not its own"): (
        LearnerVariant(states=True, swapped_reward=True),
        "1st report",
    ),
    (STATE, "α not divided over isomorphs: V moves 8 times as far"): (
        LearnerVariant(states=True, undivided_alpha=True),
        "1st report",
    ),
    (STATE, "both of these"): (
        LearnerVariant(states=True, swapped_reward=True, undivided_alpha=True),
        "1st report, both",
    ),
    (STATE, "the last state is not updated"): (LearnerVariant(states=True, no_terminal_update=True), "2nd report"),
    (STATE, "expectation not divided by the number of empty cells"): (
        LearnerVariant(states=True, summed_expectation=True),
        "5th report does not show whether it divides",
    ),
    (STATE, "states without moves looked up, not worth 0"): (
        LearnerVariant(states=True, no_terminal_check=True),
        "no listing checks for them",
    ),
    (AFTERSTATE, AS_DERIVED): (LearnerVariant(), ""),
    (AFTERSTATE, "its own move's reward in the target, not the next one's"): (
        LearnerVariant(swapped_reward=True),
        "no report: the 1st report's, reversed",
    ),
    (AFTERSTATE, "α not divided over isomorphs: V moves 8 times as far"): (
        LearnerVariant(undivided_alpha=True),
        "1st report's, for after-states",
    ),
    (AFTERSTATE, "the last after-state is not updated"): (
        LearnerVariant(no_terminal_update=True),
        "2nd report's, for after-states",
    ),
    (AFTERSTATE, "the first two after-states are not updated"): (
        LearnerVariant(skip_first=2),
        'a reading of the 4th report\'s "first two placements left out"',
    ),
}


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn with each error, and without."""
    runs = runs_of(context, {"; ".join(name): variant for name, (variant, _) in VARIANTS.items()}, net, GAMES)
    cells, changes = [], {}
    for (kind, error), (_, source) in VARIANTS.items():
        name, right = f"{kind}; {error}", f"{kind}; {AS_DERIVED}"
        ours, note = scores_of(runs[name], "fresh"), " "
        if error != AS_DERIVED:
            changes[name] = change(ours, scores_of(runs[right], "fresh"))
            note = describe_change(changes[name], AS_DERIVED)
        if not all(run["finite"] for run in runs[name]):
            note += "; its weights are no longer finite numbers"
        labels = {"values of": kind, "update": error, "found in": source}
        cells.append(Cell(labels, ours, None, "points", note))
    settings = runs[f"{STATE}; {AS_DERIVED}"][0]["settings"]
    notes = [
        f"Ours is the mean score of {settings['fresh']:,} fresh games after {settings['games']:,} games of "
        f"learning, the mean of {len(runs[right])} runs.",
        "The cost of an error is in % of the mean without it. Each interval has 95 % confidence by itself.",
    ]
    return learning_result(cells, runs, "no numbers", notes, {"curves": lambda: draw(runs)}, changes)


def draw(runs: Mapping[str, Sequence[Run]]) -> Any:
    """A panel for state values and one for after-state values."""
    figure = new_figure(11, 7.5)
    for axes, kind in zip(figure.subplots(2, 1), (STATE, AFTERSTATE), strict=True):
        lines = {name[len(kind) + 2 :]: each for name, each in runs.items() if name.startswith(f"{kind};")}
        draw_lines(axes, lines)
        axes.set_ylabel("mean score of a block of games")
        axes.set_title(f"values of {kind}", fontsize=10, loc="left")
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
