"""What the shortcuts, the batch of 25 and the expansion at 200 are worth, one at a time."""

from __future__ import annotations

from typing import Any

from tuplet.arena.differences import paired_shares
from tuplet.arena.results import Match
from tuplet.studies.context import StudyContext
from tuplet.studies.match_study import SIMS, MatchRow, mcts, report, run_match_study
from tuplet.studies.report import StudyResult
from tuplet.system.intervals import t_quantile

CLAIM = (
    "The report plays winning and only moves at once, in random games too, simulates 25 games at "
    "a time, and expands a leaf after 200; it publishes its result with all of them: 832-168 "
    "against hard with c = 0.6."
)
ROUNDS = 1000
AS_REPORTED = (832, 168)
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "as-reported": ("as reported", {}),
    "shortcuts-no": ("no shortcuts", {"shortcuts": "no"}),
    "batch-1": ("batch of 1", {"batch": 1}),
    "batch-100": ("batch of 100", {"batch": 100}),
    "expand-25": ("expansion at 25", {"expand": 25}),
    "expand-1000": ("expansion at 1,000", {"expand": 1000}),
}


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play the report's agent, and the agent with one setting changed at a time."""
    rows = [
        MatchRow(
            name,
            {"agent": words},
            mcts(report("0.6"), sims=sims, **changes),
            "hard",
            ROUNDS,
            None if changes else AS_REPORTED,
            "against hard, at equal simulations",
            words,
        )
        for name, (words, changes) in CHANGES.items()
    ]
    settings = {str(row.labels["agent"]): row.agent for row in rows}
    notes = ["Simulations are equal, not time: a batch of 1, or an early expansion, takes longer."]
    return run_match_study(context, rows, settings, "shortcuts", sims=sims, notes=notes, note=_against_first)


def _against_first(match: Match, first: Match) -> str:
    """The difference from the agent as reported, in the same pairs of games."""
    difference = paired_shares(*([points / 2 for points in each.pair_points] for each in (match, first)))
    half = t_quantile(difference.dof) * difference.stderr
    low, high = 100 * (difference.value - half), 100 * (difference.value + half)
    return f"not published; {100 * difference.value:+.1f} points ({low:+.1f} to {high:+.1f}) in the same pairs"
