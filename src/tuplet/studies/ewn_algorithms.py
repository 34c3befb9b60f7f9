"""Monte-Carlo search, tree search, rich results and tuned UCB, each against three opponents."""

from __future__ import annotations

from tuplet.studies.context import StudyContext
from tuplet.studies.match_study import OPPONENTS, SIMS, MatchRow, mcs, mcts, report, run_match_study, tuned, ucb1
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


def run(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """Play every agent, each a step from the one before, against every opponent."""
    agents = {
        "mcs": ("MCS", "MCS", mcs(ucb1("1.0"), sims=sims)),
        "mcts": ("MCTS, normal UCB", "MCTS", mcts(ucb1("1.0"), "plain", sims=sims)),
        "rich": ("+ rich results", "+ rich", mcts(ucb1("1.0"), sims=sims)),
        "report": ("+ tuned UCB, as the program had it", "+ program's tuned", mcts(report("1.0"), sims=sims)),
        "tuned": ("+ tuned UCB, as written", "+ tuned", mcts(tuned("1.0"), sims=sims)),
        "solver": ("+ solver and reuse", "+ solver, reuse", mcts(tuned("1.0"), sims=sims, solver="yes", reuse="yes")),
    }
    rows = [
        MatchRow(
            f"{key}-{opponent}",
            {"agent": name, "opponent": opponent},
            agent,
            opponent,
            ROUNDS,
            PUBLISHED.get(key, {}).get(opponent),
            f"against {opponent}",
            tick,
        )
        for key, (name, tick, agent) in agents.items()
        for opponent in OPPONENTS
    ]
    settings = {name: agent for name, _, agent in agents.values()}
    return run_match_study(context, rows, settings, "algorithms", sims=sims)
