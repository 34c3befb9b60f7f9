"""The exploration constant c, with the formula as written and as the report's program had it."""

from __future__ import annotations

from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.ewn_agents import OPPONENTS, SIMS, cell, mcts, remarks, report, shares_picture, tuned
from tuplet.studies.report import StudyResult

CLAIM = (
    "The report varies c of its tuned UCB over 1.4, 1.0, 0.6 and 0.2, finds that it hardly "
    "matters, and chooses 0.6. Its program's formula makes these plain UCB with 0.35 to 0.05."
)
ROUNDS = 1000
CONSTANTS = ("1.4", "1.0", "0.6", "0.2")
PUBLISHED = {
    "easy": {"1.0": (990, 10), "0.6": (992, 8)},
    "normal": {"1.0": (957, 43), "0.6": (953, 47)},
    "hard": {"1.4": (833, 167), "1.0": (808, 192), "0.6": (832, 168), "0.2": (796, 204)},
}
FORMULAS = {"report": ("as the program had it", report), "tuned": ("as written", tuned)}


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play every c of both formulas against every opponent, hard first."""
    games = context.games(ROUNDS)
    pairings = [
        Pairing(f"{formula}-{c}-{opponent}", mcts(ucb(c), sims=sims), opponent, games)
        for opponent in reversed(OPPONENTS)
        for formula, (_, ucb) in FORMULAS.items()
        for c in CONSTANTS
    ]
    played = dict(zip([each.name for each in pairings], context.matches(pairings), strict=True))
    cells = {
        (formula, c, o): cell(
            {"formula": name, "c": c, "opponent": o},
            played[f"{formula}-{c}-{o}"],
            PUBLISHED[o].get(c) if formula == "report" else None,
            "" if formula == "report" and c in PUBLISHED[o] else "not in the report",
        )
        for o in reversed(OPPONENTS)
        for formula, (name, _) in FORMULAS.items()
        for c in CONSTANTS
    }
    panels = [
        (f"hard, formula {name}", [*CONSTANTS], [cells[formula, c, "hard"] for c in CONSTANTS])
        for formula, (name, _) in FORMULAS.items()
    ]
    settings = {f"c = {c}, {name}": mcts(ucb(c), sims=sims) for name, ucb in FORMULAS.values() for c in CONSTANTS}
    return StudyResult(list(cells.values()), settings, {"c": lambda: shares_picture(panels, "c")}, remarks(sims))
