"""What the shortcuts, the batch of 25 and the expansion at 200 are worth, one at a time."""

from __future__ import annotations

from typing import Any

from tuplet.arena.differences import paired_shares
from tuplet.arena.results import Match
from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.ewn_agents import SIMS, cell, mcts, remarks, report, shares_picture
from tuplet.studies.report import StudyResult

CLAIM = (
    "The report plays winning and only moves at once, in random games too, simulates 25 games at "
    "a time, and expands a leaf after 200; it publishes its result with all of them: 832-168 "
    "against hard with c = 0.6."
)
ROUNDS = 1000
OPPONENT = "hard"
AS_REPORTED: tuple[int, int] = (832, 168)
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "as-reported": ("as reported", {}),
    "shortcuts-no": ("no shortcuts", {"shortcuts": False}),
    "batch-1": ("batch of 1", {"batch": 1}),
    "batch-100": ("batch of 100", {"batch": 100}),
    "expand-25": ("expansion at 25", {"expand": 25}),
    "expand-1000": ("expansion at 1,000", {"expand": 1000}),
}


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Change one thing at a time."""
    games = context.games(ROUNDS)
    pairings = [
        Pairing(name, mcts(report("0.6"), sims=sims, **change), OPPONENT, games)
        for name, (_, change) in CHANGES.items()
    ]
    played = context.matches(pairings)
    base = played[0]
    cells = []
    for (name, (words, _)), found in zip(CHANGES.items(), played, strict=True):
        alone = name == "as-reported"
        note = "" if alone else f"not published; {_against(found, base)}"
        cells.append(cell({"agent": words}, found, AS_REPORTED if alone else None, note))
    panels = [("against hard, at equal simulations", [words for words, _ in CHANGES.values()], cells)]
    settings = {words: p.a for (words, _), p in zip(CHANGES.values(), pairings, strict=True)}
    notes = [*remarks(sims), "Simulations are equal, not time: a batch of 1, or an early expansion, takes longer."]
    return StudyResult(cells, settings, {"shortcuts": lambda: shares_picture(panels)}, notes)


def _against(found: Match, base: Match) -> str:
    """The difference from the agent as reported, in the same pairs of games."""
    apart = paired_shares(_by_pairs(found), _by_pairs(base))
    low, high = (100 * end for end in apart.interval())
    return f"{100 * apart.value:+.1f} points ({low:+.1f} to {high:+.1f}) in the same pairs"


def _by_pairs(match: Match) -> list[float]:
    """The share of points in each pair of games."""
    return [points / 2 for points in match.pair_points]
