"""Studies that play matches: rows of agent, opponent and published result, played and drawn.

Also the agents of the EWN report, with every setting named: nothing is left to our defaults. The report's program
had no solver and kept no tree from move to move; it simulated 25 games at a time, expanded a leaf after 200, and
played the move with the best win rate. Its 1.8 s a move were about 290,000 simulations. What it called the tuned UCB
had the minimum outside the root, which makes it UCB1 with c/4: `report`, as opposed to `tuned`, the formula as written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tuplet.arena.results import Match
from tuplet.studies.context import Pairing, StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell, Estimate, match_share, share
from tuplet.system.pictures import error_bars, new_figure, style_axes

SIMS = 290_000  # simulations a move
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


def mcts(ucb: str, results: str = "rich", *, sims: int = SIMS, **changes: Any) -> str:
    """The report's tree search, with `changes` to its settings."""
    return _spec("mcts", ucb, {"results": results, "batch": 25, "expand": 200, **_settings(sims), **changes})


def mcs(ucb: str, *, sims: int = SIMS) -> str:
    """The same bandit over the moves of the root alone."""
    return _spec("mcs", ucb, {"results": "plain", "batch": 25, **_settings(sims)})


def _settings(sims: int) -> dict[str, object]:
    return {"shortcuts": "yes", "solver": "no", "reuse": "no", "final": "rate", "nodes": 1_000_000, "sims": sims}


def _spec(name: str, ucb: str, settings: Mapping[str, object]) -> str:
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
    """Play every row, the strongest opponents first, and compare each with what was published.

    `note` describes a row that was not published, from its match and that of the first row.
    """
    order = sorted(rows, key=lambda row: -OPPONENTS.index(row.opponent))
    pairings = [Pairing(row.name, row.agent, row.opponent, context.games(row.rounds)) for row in order]
    matches = dict(zip([row.name for row in order], context.matches(pairings), strict=True))
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
