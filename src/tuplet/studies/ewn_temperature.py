"""Moves drawn with probabilities in proportion to exp(K · win rate), instead of the best one."""

from __future__ import annotations

from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.ewn_agents import SIMS, cell, mcts, remarks, report, shares_picture, softmax
from tuplet.studies.report import StudyResult

CLAIM = (
    "The report draws moves by temperature 1/K, in the descent in place of the best UCB (200 "
    "rounds against hard) and at the final move (500 rounds). It concludes that it only hurts."
)
OPPONENT = "hard"
ROUNDS = {"descent": 200, "final": 500}
PUBLISHED = {
    "descent": {0: (93, 107), 2: (115, 85), 5: (136, 64), 10: (143, 57), 20: (158, 42), 40: (161, 39)},
    "final": {0: (18, 482), 2: (86, 414), 5: (175, 325), 10: (225, 275), 20: (273, 227), 40: (351, 149)},
}
NAMES = {"descent": "in the descent", "final": "at the final move"}


def agent(place: str, k: int, sims: int) -> str:
    """With temperature 1/K in one of two places."""
    if place == "descent":
        return mcts(softmax(k), sims=sims)
    return mcts(report("0.6"), sims=sims, final_k=k)


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play every K in both places."""
    pairings = [
        Pairing(f"{place}-{k}", agent(place, k, sims), OPPONENT, context.games(ROUNDS[place]))
        for place, published in PUBLISHED.items()
        for k in published
    ]
    played = dict(zip([each.name for each in pairings], context.matches(pairings), strict=True))
    cells = {
        place: [
            cell({"temperature": NAMES[place], "K": k}, played[f"{place}-{k}"], score) for k, score in published.items()
        ]
        for place, published in PUBLISHED.items()
    }
    panels = [(NAMES[place], [str(k) for k in PUBLISHED[place]], own) for place, own in cells.items()]
    settings = {f"{NAMES[place]}, K": agent(place, 0, sims).replace("k=0", "k=K") for place in PUBLISHED}
    notes = [*remarks(sims), "The agent at the final move has c = 0.6, which the report chose."]
    return StudyResult(
        [each for own in cells.values() for each in own],
        settings,
        {"temperature": lambda: shares_picture(panels, "K")},
        notes,
    )
