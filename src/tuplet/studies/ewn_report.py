"""The experiments of the EWN report: matches of its agents, each beside the published result.

The agents have every setting named: nothing is left to our defaults. The report's program had no solver and kept no
tree from move to move; it simulated 25 games at a time, expanded a leaf after 200, and played the move with the best
win rate. Its 1.8 s a move were about 290,000 simulations. Its "tuned UCB" had the minimum outside the root, which makes
it UCB1 with c/4: that is `report` here, and `tuned` is the formula as written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tuplet.arena.differences import paired_shares
from tuplet.arena.results import Match
from tuplet.studies.context import StudyContext
from tuplet.studies.report import Curve, StudyResult, draw_curves
from tuplet.studies.verdicts import Cell, Estimate, match_share, share
from tuplet.system.pictures import error_bars, new_figure, style_axes

SIMS = 290_000  # simulations a move
ROUNDS = 1000  # of most published results
OPPONENTS = ("easy", "normal", "hard")
OPENING = "Games are of ewn-6x7, in pairs from the same start and dice, with sides exchanged."


def ucb1(c: str) -> str:
    """Plain UCB1: mean + c·√(ln N / n)."""
    return f"ucb1,c={c}"


def tuned(c: str) -> str:
    """UCB1-Tuned, as the report writes it."""
    return f"tuned,c={c},c1=1.414,c2=0.25"


def report(c: str) -> str:
    """What the report's program computed instead of UCB1-Tuned."""
    return f"report,c={c},c1=1.414,c2=0.25"


def mcts(ucb: str, sims: int, results: str = "rich", **changes: Any) -> str:
    """The report's tree search, with `changes` to its settings."""
    return _search("mcts", ucb, sims, {"results": results, "batch": 25, "expand": 200}, changes)


def mcs(ucb: str, sims: int) -> str:
    """The same bandit over the moves of the root alone."""
    return _search("mcs", ucb, sims, {"results": "plain", "batch": 25}, {})


def _search(name: str, ucb: str, sims: int, own: dict[str, Any], changes: dict[str, Any]) -> str:
    common = {"shortcuts": "yes", "solver": "no", "reuse": "no", "final": "rate", "nodes": 1_000_000, "sims": sims}
    settings = {**own, **common, **changes}
    return f"{name}:ucb={ucb}," + ",".join(f"{key}={value}" for key, value in settings.items())


class MatchRow(NamedTuple):
    """A row of a study's table: a match, and what was published about it."""

    name: str  # of the file that keeps its games
    labels: dict[str, str | float]
    agent: str
    opponent: str
    rounds: int
    published: tuple[int, int] | None  # wins and losses
    panel: str | None = None  # title of the panel that shows the row, None for no panel
    tick: str = ""  # its label there


def run_match_study(
    context: StudyContext,
    rows: Sequence[MatchRow],
    settings: Mapping[str, str],
    picture: str,
    *,
    sims: int,
    xlabel: str = "",
    notes: Sequence[str] = (),
    note: Callable[[Match, Match], str] = lambda _, __: "not in the report",
) -> StudyResult:
    """Play every row, the strongest opponents first, and compare each with what was published. `note` describes a row
    that was not published, from its match and that of the first row.
    """
    order = sorted(rows, key=lambda row: -OPPONENTS.index(row.opponent))
    matches = context.matches({row.name: (row.agent, row.opponent, context.games(row.rounds)) for row in order})
    cells: list[Cell] = []
    panels: dict[str, list[tuple[str, Cell]]] = {}
    for row in rows:
        match = matches[row.name]
        text = "" if row.published else note(match, matches[rows[0].name])
        cells.append(match_cell(row.labels, match, row.published, text))
        if row.panel is not None:
            panels.setdefault(row.panel, []).append((row.tick, cells[-1]))
    known = "what the report's program did in its 1.8 s" if sims == SIMS else f"the report's program did {SIMS:,}"
    remarks = [
        OPENING,
        "The c of the report's normal UCB is not published: it is 1.0 here.",
        f"{sims:,} simulations a move: {known}.",
        *notes,
    ]
    return StudyResult(cells, settings, {picture: lambda: draw_shares(panels, xlabel)}, remarks)


def match_cell(labels: dict[str, str | float], match: Match, published: tuple[int, int] | None, note: str = "") -> Cell:
    """A match beside the wins and losses that were published."""
    counts: dict[str, Any] = {"wins": match.wins, "losses": match.losses}
    estimate = None
    if published is not None:
        estimate = share(published[0], sum(published))
        counts |= dict(zip(("published_wins", "published_losses"), published, strict=True))
    return Cell(labels, match_share(match), estimate, "share", note, counts)


def draw_shares(panels: Mapping[str, Sequence[tuple[str, Cell]]], xlabel: str = "") -> Any:
    """A panel for each group of cells: ours beside the published, with intervals."""
    figure = new_figure(max(3.4 * len(panels), 5.5), 3.6)
    for axes, (title, cells) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        _draw_points(axes, [cell.ours for _, cell in cells], "ours", "o", 0)
        _draw_points(axes, [cell.published for _, cell in cells], "published", "s", 1)
        names = [tick for tick, _ in cells]
        axes.set_xticks(range(len(cells)), names, fontsize=8)
        if max(map(len, names)) > 6:
            axes.tick_params("x", rotation=35)
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        axes.set(title=title, xlabel=xlabel, xlim=(-0.5, len(cells) - 0.5))
        style_axes(axes)
        axes.yaxis.set_major_formatter("{x:g} %")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _draw_points(axes: Any, estimates: Sequence[Estimate | None], label: str, marker: str, number: int) -> None:
    """Shares in per cent with their intervals."""
    points = [(x + 0.16 * number - 0.08, each) for x, each in enumerate(estimates) if each is not None]
    if points:
        values, bars = error_bars([(each.value, each.ci95) for _, each in points], 100)
        axes.errorbar(
            [x for x, _ in points], values, bars, fmt=marker, markersize=5, capsize=3, color=f"C{number}", label=label
        )


def ewn_algorithms(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """The report's table: 1,000 rounds of each agent against each opponent, 1.8 s a move. It concludes that the tree is
    what matters, and that tuned UCB gives no significant gain.
    """
    agents = {  # each a step from the one before
        "mcs": ("MCS", "MCS", mcs(ucb1("1.0"), sims)),
        "mcts": ("MCTS, normal UCB", "MCTS", mcts(ucb1("1.0"), sims, "plain")),
        "rich": ("+ rich results", "+ rich", mcts(ucb1("1.0"), sims)),
        "report": ("+ tuned UCB, as the program had it", "+ program's tuned", mcts(report("1.0"), sims)),
        "tuned": ("+ tuned UCB, as written", "+ tuned", mcts(tuned("1.0"), sims)),
        "solver": ("+ solver and reuse", "+ solver, reuse", mcts(tuned("1.0"), sims, solver="yes", reuse="yes")),
    }
    published = {
        "mcs": {"easy": (991, 9), "normal": (783, 217), "hard": (477, 523)},
        "mcts": {"easy": (986, 14), "normal": (962, 38), "hard": (793, 207)},
        "rich": {"easy": (991, 9), "normal": (952, 48), "hard": (825, 175)},
        "report": {"easy": (990, 10), "normal": (957, 43), "hard": (808, 192)},
    }
    rows = [
        MatchRow(
            f"{key}-{opponent}",
            {"agent": name, "opponent": opponent},
            agent,
            opponent,
            ROUNDS,
            published.get(key, {}).get(opponent),
            f"against {opponent}",
            tick,
        )
        for key, (name, tick, agent) in agents.items()
        for opponent in OPPONENTS
    ]
    settings = {name: agent for name, _, agent in agents.values()}
    return run_match_study(context, rows, settings, "algorithms", sims=sims)


def ewn_c(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """The report varies c of its tuned UCB over 1.4, 1.0, 0.6 and 0.2, finds that it hardly matters, and chooses 0.6.
    Its program's formula makes these plain UCB with 0.35 to 0.05.
    """
    published = {
        "easy": {"1.0": (990, 10), "0.6": (992, 8)},
        "normal": {"1.0": (957, 43), "0.6": (953, 47)},
        "hard": {"1.4": (833, 167), "1.0": (808, 192), "0.6": (832, 168), "0.2": (796, 204)},
    }
    formulas = {"report": ("as the program had it", report), "tuned": ("as written", tuned)}
    constants = list(published["hard"])
    rows = [
        MatchRow(
            f"{formula}-{c}-{opponent}",
            {"formula": name, "c": c, "opponent": opponent},
            mcts(ucb(c), sims),
            opponent,
            ROUNDS,
            published[opponent].get(c) if formula == "report" else None,
            f"hard, formula {name}" if opponent == "hard" else None,
            c,
        )
        for opponent in reversed(OPPONENTS)
        for formula, (name, ucb) in formulas.items()
        for c in constants
    ]
    settings = {f"c = {c}, {name}": mcts(ucb(c), sims) for name, ucb in formulas.values() for c in constants}
    return run_match_study(context, rows, settings, "c", sims=sims, xlabel="c")


def ewn_temperature(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """The report draws moves by temperature 1/K, in the descent in place of the best UCB (200 rounds against hard) and
    at the final move (500 rounds). It concludes that it only hurts.
    """

    def agent(place: str, k: object) -> str:
        """A search that draws moves with probabilities in proportion to exp(K · win rate) in one of two places."""
        return mcts(f"softmax,k={k}", sims) if place == "descent" else mcts(report("0.6"), sims, final_k=k)

    places = {"descent": ("in the descent", 200), "final": ("at the final move", 500)}  # rounds
    published = {
        "descent": {0: (93, 107), 2: (115, 85), 5: (136, 64), 10: (143, 57), 20: (158, 42), 40: (161, 39)},
        "final": {0: (18, 482), 2: (86, 414), 5: (175, 325), 10: (225, 275), 20: (273, 227), 40: (351, 149)},
    }
    rows = [
        MatchRow(f"{place}-{k}", {"temperature": name, "K": k}, agent(place, k), "hard", rounds, score, name, str(k))
        for place, (name, rounds) in places.items()
        for k, score in published[place].items()
    ]
    settings = {f"{name}, K": agent(place, "K") for place, (name, _) in places.items()}
    notes = ["The agent at the final move has c = 0.6, which the report chose."]
    return run_match_study(context, rows, settings, "temperature", sims=sims, xlabel="K", notes=notes)


def ewn_shortcuts(context: StudyContext, sims: int = SIMS) -> StudyResult:
    """The report plays winning and only moves at once, in random games too, simulates 25 games at a time, and expands a
    leaf after 200; it publishes its result with all of them: 832-168 against hard with c = 0.6.
    """
    changed: dict[str, tuple[str, dict[str, Any]]] = {  # one setting at a time
        "as-reported": ("as reported", {}),
        "shortcuts-no": ("no shortcuts", {"shortcuts": "no"}),
        "batch-1": ("batch of 1", {"batch": 1}),
        "batch-100": ("batch of 100", {"batch": 100}),
        "expand-25": ("expansion at 25", {"expand": 25}),
        "expand-1000": ("expansion at 1,000", {"expand": 1000}),
    }
    panel = "against hard, at equal simulations"
    rows = [
        MatchRow(
            name,
            {"agent": words},
            mcts(report("0.6"), sims, **changes),
            "hard",
            ROUNDS,
            None if changes else (832, 168),
            panel,
            words,
        )
        for name, (words, changes) in changed.items()
    ]
    settings = {str(row.labels["agent"]): row.agent for row in rows}
    notes = ["Simulations are equal, not time: a batch of 1, or an early expansion, takes longer."]

    def against_first(match: Match, first: Match) -> str:
        """The difference from the agent as reported, in the same pairs of games."""
        difference = paired_shares(*([points / 2 for points in each.pair_points] for each in (match, first)))
        low, high = (100 * end for end in difference.interval())
        return f"not published; {100 * difference.value:+.1f} points ({low:+.1f} to {high:+.1f}) in the same pairs"

    return run_match_study(context, rows, settings, "shortcuts", sims=sims, notes=notes, note=against_first)


def ewn_variance(context: StudyContext, sims: int = SIMS // 10) -> StudyResult:
    """The report finds no significant gain from the variance term: 808-192 with it, 825-175 without, against hard. A
    difference of 3.4 points is within noise there, and its program's formula had no variance in it. Here both sides
    play each other until a sequential test decides.
    """
    games = context.games(20_000)  # at most
    formulas = {
        "tuned-ucb1": ("tuned, c = 1.0", "normal UCB, c = 1.0", tuned("1.0"), ucb1("1.0")),
        "tuned-cap": ("tuned, c = 1.0", "normal UCB, c = 0.5", tuned("1.0"), ucb1("0.5")),
        "report-ucb1": ("the program's tuned, c = 1.0", "normal UCB, c = 1.0", report("1.0"), ucb1("1.0")),
    }
    answers = {"H0": "no better (0 Elo)", "H1": "better (20 Elo)", None: "undecided"}
    pairings = {name: (mcts(a, sims), mcts(b, sims), games) for name, (_, _, a, b) in formulas.items()}
    matches = context.matches(pairings, sprt="0,20")
    settings: dict[str, str] = {}
    cells, more = [], {}
    for name, match in matches.items():
        a, b, *_ = formulas[name]
        settings |= {a: pairings[name][0], b: pairings[name][1]}
        low, high = match.elo_ci95
        answer = answers[match.decision]
        note = f"{answer}; {match.elo:+.1f} Elo ({low:+.1f} to {high:+.1f}), LLR {match.llr:.2f}"
        cells.append(match_cell({"agent": a, "against": b}, match, None, note))
        more[name] = {
            "games": match.games,
            "elo": match.elo,
            "elo_ci95": [low, high],
            "llr": match.llr,
            "answer": answer,
        }
    difference = share(808, 1000).value - share(825, 1000).value
    notes = [
        OPENING,
        f"{sims:,} simulations a move for both; at most {games:,} games, or until a test of 0 "
        "against 20 Elo decides (errors of 5 %).",
        f"The report's difference is {100 * difference:+.1f} points of 1,000 rounds each: ±3.4 is noise.",
        "UCB1-Tuned's root is never more than √0.25 of normal UCB's: with c = 1.0 it explores as "
        "normal UCB with c = 0.5, or less where results vary less. The second match measures "
        "what that is worth.",
    ]
    curves = {f"{formulas[name][0]} - {formulas[name][1]}": match for name, match in matches.items()}
    return StudyResult(cells, settings, {"variance": lambda: draw_tests(curves)}, notes, {"matches": more})


def draw_tests(matches: Mapping[str, Match]) -> Any:
    """The log likelihood ratio of sequential tests after each pair of games."""
    curves, bounds = [], (0.0, 0.0)
    for name, match in matches.items():
        counts, ratios = [0] * 5, []
        assert match.sprt is not None
        for points in match.pair_points:
            counts[round(2 * points)] += 1
            ratios.append(match.sprt.llr(*counts))
        curves.append(Curve(name, range(2, 2 * len(ratios) + 1, 2), ratios))
        bounds = match.sprt.bounds
    axes = draw_curves(curves, "games", "log likelihood ratio", marker="", legend="best")
    for bound, word in zip(bounds, ("no better", "better by 20 Elo"), strict=True):
        axes.axhline(bound, color="0.5", linewidth=0.8, linestyle=":")
        axes.annotate(word, (0, bound), xytext=(4, 3), textcoords="offset points", fontsize=8, color="0.4")
    return axes.figure
