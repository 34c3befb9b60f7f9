"""Monte-Carlo search, tree search, rich results, tuned UCB: each against each opponent."""

from __future__ import annotations

from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.ewn_agents import OPPONENTS, SIMS, cell, mcs, mcts, remarks, report, shares_picture, tuned, ucb1
from tuplet.studies.report import StudyResult

CLAIM = (
    "The report's table: 1,000 rounds of each agent against each opponent, 1.8 s a move. It "
    "concludes that the tree is what matters, and that tuned UCB gives no significant gain."
)
ROUNDS = 1000
PUBLISHED = {
    "mcs": {"easy": (991, 9), "normal": (783, 217), "hard": (477, 523)},
    "mcts": {"easy": (986, 14), "normal": (962, 38), "hard": (793, 207)},
    "rich": {"easy": (991, 9), "normal": (952, 48), "hard": (825, 175)},
    "report": {"easy": (990, 10), "normal": (957, 43), "hard": (808, 192)},
}
NAMES = {
    "mcs": "MCS",
    "mcts": "MCTS, normal UCB",
    "rich": "+ rich results",
    "report": "+ tuned UCB, as the program had it",
    "tuned": "+ tuned UCB, as written",
    "solver": "+ solver and reuse",
}


def agents(sims: int) -> dict[str, str]:
    """Step by step."""
    return {
        "mcs": mcs(ucb1("1.0"), sims=sims),
        "mcts": mcts(ucb1("1.0"), "plain", sims=sims),
        "rich": mcts(ucb1("1.0"), sims=sims),
        "report": mcts(report("1.0"), sims=sims),
        "tuned": mcts(tuned("1.0"), sims=sims),
        "solver": mcts(tuned("1.0"), sims=sims, solver=True, reuse=True),
    }


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play every agent against every opponent."""
    games, who = context.games(ROUNDS), agents(sims)
    pairings = [
        Pairing(f"{agent}-{opponent}", spec, opponent, games)
        for opponent in reversed(OPPONENTS)
        for agent, spec in who.items()
    ]
    played = dict(zip([each.name for each in pairings], context.matches(pairings), strict=True))
    cells = {
        (agent, opponent): cell(
            {"agent": NAMES[agent], "opponent": opponent},
            played[f"{agent}-{opponent}"],
            PUBLISHED.get(agent, {}).get(opponent),
            "" if agent in PUBLISHED else "not in the report",
        )
        for agent in who
        for opponent in OPPONENTS
    }
    steps = ["MCS", "MCTS", "+ rich", "+ program's tuned", "+ tuned", "+ solver, reuse"]
    panels = [(f"against {o}", steps, [cells[agent, o] for agent in who]) for o in OPPONENTS]
    settings = {NAMES[agent]: spec for agent, spec in who.items()}
    return StudyResult(list(cells.values()), settings, {"algorithms": lambda: shares_picture(panels)}, remarks(sims))
