"""What UCB1-Tuned's variance term gives at equal simulations, decided by a sequential test."""

from __future__ import annotations

from typing import Any

from tuplet.arena.results import Match
from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.match_study import OPENING, SIMS, match_cell, mcts, report, tuned, ucb1
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import share
from tuplet.system.pictures import line_style, new_figure, style_axes

CLAIM = (
    "The report finds no significant gain from the variance term: 808-192 with it, 825-175 "
    "without, against hard. A difference of 3.4 points is within noise there, and its program's "
    "formula had no variance in it. Here both sides play each other until a sequential test decides."
)
GAMES = 20_000  # at most
SPRT = "0,20"
MATCHES = {
    "tuned-ucb1": ("tuned, c = 1.0", "normal UCB, c = 1.0", tuned("1.0"), ucb1("1.0")),
    "tuned-cap": ("tuned, c = 1.0", "normal UCB, c = 0.5", tuned("1.0"), ucb1("0.5")),
    "report-ucb1": ("the program's tuned, c = 1.0", "normal UCB, c = 1.0", report("1.0"), ucb1("1.0")),
}
ANSWERS = {"H0": "no better (0 Elo)", "H1": "better (20 Elo)", None: "undecided"}


def run(context: StudyContext, sims: int = SIMS // 10) -> StudyResult:
    """Play the formulas against each other, with a tenth of the report's simulations."""
    games = context.games(GAMES)
    pairings = [
        Pairing(name, mcts(a, sims=sims), mcts(b, sims=sims), games, SPRT) for name, (_, _, a, b) in MATCHES.items()
    ]
    matches = context.matches(pairings)
    cells, more = [], {}
    for (name, (a, b, _, _)), match in zip(MATCHES.items(), matches, strict=True):
        low, high = match.elo_ci95
        answer = ANSWERS[match.decision]
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
    both = zip(MATCHES.values(), pairings, strict=True)
    settings = {name: spec for (a, b, *_), p in both for name, spec in ((a, p.a), (b, p.b))}
    return StudyResult(cells, settings, {"variance": lambda: draw(matches)}, notes, {"matches": more})


def draw(matches: list[Match]) -> Any:
    """The test's log likelihood ratio after each pair of games."""
    figure = new_figure(6.4, 3.6)
    axes = figure.subplots()
    for number, (match, (a, b, _, _)) in enumerate(zip(matches, MATCHES.values(), strict=True)):
        counts, ratios = [0] * 5, []
        assert match.sprt is not None
        for points in match.pair_points:
            counts[round(2 * points)] += 1
            ratios.append(match.sprt.llr(*counts))
        axes.plot(range(2, 2 * len(ratios) + 1, 2), ratios, label=f"{a} - {b}", linewidth=1.2, **line_style(number))
    assert matches[0].sprt is not None
    for bound, word in zip(matches[0].sprt.bounds, ("no better", "better by 20 Elo"), strict=True):
        axes.axhline(bound, color="0.5", linewidth=0.8, linestyle=":")
        axes.annotate(word, (0, bound), xytext=(4, 3), textcoords="offset points", fontsize=8, color="0.4")
    axes.set(xlabel="games", ylabel="log likelihood ratio")
    axes.legend(frameon=False, fontsize=8)
    style_axes(axes)
    return figure
