"""TD(0) on state values: the learning curve that two reports show, with its numbers."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import largest, learning_result, picture, runs_of, statistics_cells

CLAIM = (
    "Two reports plot the mean score of 100,000 games of TD(0) on states, a point per 1,000 games. "
    "Neither text has the numbers of its plot, so there is nothing to compare with. This study shows "
    "what the update as derived gives, in the form of the course's block of statistics."
)
VARIANTS = {"state values": LearnerVariant(states=True)}


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn state values; report the last games of learning and fresh games."""
    runs = runs_of(context, VARIANTS, net)
    (ours,) = runs.values()
    own = ours[0]["settings"]
    cells = [
        *statistics_cells({"games": f"last {own['block']:,} of learning"}, ours, "last", note=" "),
        *statistics_cells({"games": f"{own['fresh']:,} fresh"}, ours, "fresh", note=" "),
    ]
    notes = [
        f"Each figure is the mean of {len(ours)} runs; its interval includes the deviation between runs.",
        f"The largest score of the last games was {largest(ours, 'last'):,}, of the fresh ones "
        f"{largest(ours, 'fresh'):,}.",
        "The study td-targets measures what the reports' own errors cost.",
    ]
    return learning_result(cells, runs, "plots without numbers", notes, {"curve": lambda: picture(runs)})
