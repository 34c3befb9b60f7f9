"""Moves drawn with probabilities in proportion to exp(K · win rate), instead of the best one."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.match_study import SIMS, MatchRow, mcts, report, run_match_study
from tuplet.studies.report import StudyResult

CLAIM = (
    "The report draws moves by temperature 1/K, in the descent in place of the best UCB (200 "
    "rounds against hard) and at the final move (500 rounds). It concludes that it only hurts."
)
PUBLISHED = {
    "descent": {0: (93, 107), 2: (115, 85), 5: (136, 64), 10: (143, 57), 20: (158, 42), 40: (161, 39)},
    "final": {0: (18, 482), 2: (86, 414), 5: (175, 325), 10: (225, 275), 20: (273, 227), 40: (351, 149)},
}
PLACES = {"descent": ("in the descent", 200), "final": ("at the final move", 500)}  # rounds


def agent(place: str, k: object, sims: int) -> str:
    """The tree search with temperature 1/K in one of two places."""
    if place == "descent":
        return mcts(f"softmax,k={k}", sims=sims)
    return f"{mcts(report('0.6'), sims=sims)},final_k={k}"


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play every K in both places."""
    rows = [
        MatchRow(
            f"{place}-{k}", {"temperature": name, "K": k}, agent(place, k, sims), "hard", rounds, score, name, str(k)
        )
        for place, (name, rounds) in PLACES.items()
        for k, score in PUBLISHED[place].items()
    ]
    settings = {f"{name}, K": agent(place, "K", sims) for place, (name, _) in PLACES.items()}
    notes = ["The agent at the final move has c = 0.6, which the report chose."]
    return run_match_study(context, rows, settings, "temperature", sims=sims, xlabel="K", notes=notes)
