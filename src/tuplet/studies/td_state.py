"""TD(0) on state values: the curve that two reports show, and what it comes to."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import curves_for, largest, picture, runs_of, settings_told, statistics

CLAIM = (
    "Two reports plot the mean score of 100,000 games of TD(0) on states, a point per 1,000 games. "
    "Neither plot has values at its axes in the text, so there is no number to compare with: what "
    "the update as derived gives is told here, as the course's block of statistics."
)
VARIANTS = {"state values": LearnerVariant(states=True)}


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn state values, and look at the last games and at fresh ones."""
    runs = runs_of(context, VARIANTS, net)
    (ours,) = runs.values()
    own = ours[0]["settings"]
    cells = [
        *statistics({"games": f"last {own['block']:,} of learning"}, ours, "last", note=" "),
        *statistics({"games": f"{own['fresh']:,} fresh"}, ours, "fresh", note=" "),
    ]
    notes = [
        f"Each figure is the mean of {len(ours)} runs; its interval has what runs deviate in it.",
        f"The largest score of the last games was {largest(ours, 'last'):,}, of the fresh ones "
        f"{largest(ours, 'fresh'):,}.",
        "What the reports' own slips cost is the study td-targets.",
    ]
    return StudyResult(
        cells,
        settings_told(runs, "plots without numbers"),
        {"curve": lambda: picture(runs)},
        notes,
        {"curves": curves_for(runs)},
    )
