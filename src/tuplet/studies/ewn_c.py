"""The exploration constant c, with the formula as written and as the report's program had it."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.match_study import OPPONENTS, SIMS, MatchRow, mcts, report, run_match_study, tuned
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
    """Play every c of both formulas against every opponent."""
    rows = [
        MatchRow(
            f"{formula}-{c}-{opponent}",
            {"formula": name, "c": c, "opponent": opponent},
            mcts(ucb(c), sims=sims),
            opponent,
            ROUNDS,
            PUBLISHED[opponent].get(c) if formula == "report" else None,
            f"hard, formula {name}" if opponent == "hard" else None,
            c,
        )
        for opponent in reversed(OPPONENTS)
        for formula, (name, ucb) in FORMULAS.items()
        for c in CONSTANTS
    ]
    settings = {f"c = {c}, {name}": mcts(ucb(c), sims=sims) for name, ucb in FORMULAS.values() for c in CONSTANTS}
    return run_match_study(context, rows, settings, "c", sims=sims, xlabel="c")
