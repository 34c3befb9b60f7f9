"""Eight placements of each tuple or one, with one table, a table for each tuple, or one for each placement."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.report_learner import LearnerVariant
from tuplet.studies.run_tables import change, describe_change, learning_result, picture, runs_of, scores_of
from tuplet.studies.verdicts import Cell
from tuplet.values.patterns import parse

CLAIM = (
    "One report's author first had no isomorphisms (scores rose but stayed low), then considered "
    "whether 4 tables or 32 are right, and says 4; its program had a single one. It gives no "
    "numbers."
)
USUAL = "8 placements, a table for each tuple"
VARIANTS = {
    USUAL: LearnerVariant(),
    "8 placements, one table": LearnerVariant(shared=True),
    "8 placements, a table for each": LearnerVariant(table_per_placement=True),
    "1 placement, a table for each tuple": LearnerVariant(no_symmetry=True),
    "1 placement, one table": LearnerVariant(no_symmetry=True, shared=True),
}


def run(context: StudyContext, net: str = "4x6") -> StudyResult:
    """Learn after-state values with each variant."""
    runs, sizes = runs_of(context, VARIANTS, net), [16 ** len(cells) for cells in parse(net)]
    cells, changes, reference = [], {}, scores_of(runs[USUAL], "fresh")
    for name, variant in VARIANTS.items():
        ours, note = scores_of(runs[name], "fresh"), " "
        if name != USUAL:
            changes[name] = change(ours, reference)
            note = describe_change(changes[name], USUAL)
        tables = sizes[:1] if variant.shared else sizes * 8 if variant.table_per_placement else sizes
        labels = {"placements": 1 if variant.no_symmetry else 8, "tables": len(tables), "weights": sum(tables)}
        cells.append(Cell(labels, ours, None, "points", note))
    settings, look_ups = runs[USUAL][0]["settings"], 8 * len(sizes)
    notes = [
        f"Ours is the mean score of {settings['fresh']:,} fresh games after {settings['games']:,} games of "
        f"learning, the mean of {len(runs[USUAL])} runs.",
        f"α is divided among all look-ups of a board: {look_ups} with eight placements, {len(sizes)} with one.",
    ]
    return learning_result(cells, runs, "no numbers", notes, {"curve": lambda: picture(runs)}, changes)
