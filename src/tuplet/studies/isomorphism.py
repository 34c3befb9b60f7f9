"""With and without the eight placements of a tuple, and how many tables they should have."""

from __future__ import annotations

from tuplet.studies.finding import Cell
from tuplet.studies.learner import Way
from tuplet.studies.learning import (
    change,
    change_told,
    changes_for,
    curves_for,
    picture,
    runs_of,
    scores_of,
    settings_told,
)
from tuplet.studies.report import Found
from tuplet.studies.work import Work

CLAIM = (
    "One report's author first had no isomorphisms (scores rose but stayed low), then asked "
    "whether 4 tables or 32 are right, and says 4; its program had a single one. It gives no "
    "numbers."
)
USUAL = "8 placements, 4 tables"
WAYS = {
    USUAL: (Way(), 8, 4),
    "8 placements, 1 table": (Way(shared=True), 8, 1),
    "8 placements, 32 tables": (Way(apart=True), 8, 32),
    "1 placement, 4 tables": (Way(single=True), 1, 4),
    "1 placement, 1 table": (Way(single=True, shared=True), 1, 1),
}


def run(work: Work) -> Found:
    """Learn after-state values with each."""
    runs = runs_of(work, {name: way for name, (way, _, _) in WAYS.items()})
    cells, changes, right = [], {}, scores_of(runs[USUAL], "fresh")
    for name, (_, placements, tables) in WAYS.items():
        ours, note = scores_of(runs[name], "fresh"), " "
        if name != USUAL:
            changes[name] = change(ours, right)
            note = change_told(changes[name], USUAL)
        where = {"placements": placements, "tables": tables, "weights": tables << 24}
        cells.append(Cell(where, ours, None, "points", note))
    own = runs[USUAL][0]["settings"]
    notes = [
        f"Ours is the mean score of {own['fresh']:,} fresh games after {own['games']:,} games of "
        f"learning, the mean of {len(runs[USUAL])} runs.",
        "α is shared by all look-ups of a board: 32 with eight placements, 4 with one.",
        "32 tables are right, too: they learn each placement by itself, and so each eight times as "
        "slowly. One table mixes up tuples of different shapes, but every game teaches it more.",
    ]
    return Found(
        cells, settings_told(runs, "no numbers"), {"curve": lambda: picture(runs)}, notes,
        {"curves": curves_for(runs), "changes": changes_for(changes)},
    )  # fmt: skip
