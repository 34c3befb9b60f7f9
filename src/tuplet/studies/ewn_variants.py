"""Lorentz's table: tree search against plain Monte-Carlo on EWN and two variants of it.

R. J. Lorentz, "An MCTS Program to Play EinStein Würfelt Nicht!", Advances in Computer Games 2011.
"""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.ewn_report import draw_shares, match_cell
from tuplet.studies.report import StudyResult

SIMS = 20_000  # simulations a move, of both sides
ROUNDS = 1000
GAMES = {  # by name: the game, its title, and the published wins and losses
    "ewn": ("ewn", "EWN", (559, 439)),
    "hole": ("ewn:hole=yes", "black hole", (550, 450)),
    "backward": ("ewn:backward=yes", "capturing backwards", (815, 185)),
}


def ewn_variants(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Lorentz (2011) lets MCTS play plain Monte-Carlo at 30 s a move: on the standard game it wins 559 of 998 games,
    with a black hole 550 of 1,000, and where cubes may capture backwards 815 of 1,000.
    """
    tree, flat = f"mcts:sims={sims}", f"mcs:sims={sims}"
    cells, ticks = [], []
    for name, (game, title, published) in GAMES.items():
        match = context.matches({name: (tree, flat, context.games(ROUNDS))}, game=game)[name]
        cells.append(match_cell({"game": title}, match, published))
        ticks.append((title, cells[-1]))
    notes = [
        f"MCTS against MCS, {sims:,} simulations a move for both, in pairs from the same start and dice.",
        "Lorentz's programs had equal time, 30 s a move; ours have equal simulations.",
        "We could not read the paper itself: which figure belongs to which variant follows the order in which the "
        "figures were passed on to us.",
    ]
    settings = {"MCTS": tree, "MCS": flat}
    return StudyResult(cells, settings, {"variants": lambda: draw_shares({"MCTS against MCS": ticks})}, notes)
