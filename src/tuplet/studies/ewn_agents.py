"""The agents of the EWN report, with every setting named: nothing is left to our defaults.

The report's program had no solver and kept no tree from move to move; it simulated 25 games at a
time, expanded a leaf after 200, and played the move of the best rate. Its 1.8 s a move were about
290,000 simulations. What it called the tuned UCB had the minimum outside the root, which makes it
UCB1 with c/4: `report`, as against `tuned`, the formula as written.
"""

from __future__ import annotations

from typing import Any

from tuplet.arena.results import Match
from tuplet.studies.verdicts import Cell, Estimate, won, won_in
from tuplet.system.pictures import new_figure, style_axes

SIMS = 290_000  # a move
OPPONENTS = ("easy", "normal", "hard")
OPENING = "Games are of ewn-6x7, in pairs from the same start and dice, with sides exchanged."


def ucb1(c: str) -> str:
    """Normal UCB: mean + c·√(ln N / n)."""
    return f"ucb1,c={c}"


def tuned(c: str) -> str:
    """UCB1-Tuned, as the report has it written."""
    return f"tuned,c={c},c1=1.414,c2=0.25"


def report(c: str) -> str:
    """What the report's program computed in its place."""
    return f"report,c={c},c1=1.414,c2=0.25"


def softmax(k: int) -> str:
    """The descent by temperature 1/K."""
    return f"softmax,k={k}"


def mcts(
    ucb: str,
    results: str = "rich",
    *,
    sims: int = SIMS,
    batch: int = 25,
    expand: int = 200,
    shortcuts: bool = True,
    solver: bool = False,
    reuse: bool = False,
    final_k: int | None = None,
) -> str:
    """The report's tree search, but for what is named."""
    rest = _rest(sims, shortcuts, solver, reuse)
    drawn = "" if final_k is None else f",final_k={final_k}"
    return f"mcts:ucb={ucb},results={results},batch={batch},expand={expand},{rest}{drawn}"


def mcs(ucb: str, *, sims: int = SIMS) -> str:
    """The same bandit over the root's moves alone."""
    return f"mcs:ucb={ucb},results=plain,batch=25,{_rest(sims)}"


def _rest(sims: int, shortcuts: bool = True, solver: bool = False, reuse: bool = False) -> str:
    told = {"shortcuts": shortcuts, "solver": solver, "reuse": reuse}
    words = [f"{name}={'yes' if value else 'no'}" for name, value in told.items()]
    return ",".join([*words, "final=rate", "nodes=1000000", f"sims={sims}"])


def cell(where: dict[str, str | float], match: Match, published: tuple[int, int] | None, note: str = "") -> Cell:
    """A match beside the wins and losses that were published."""
    counts: dict[str, Any] = {"wins": match.wins, "losses": match.losses}
    theirs = None
    if published is not None:
        theirs = won(*published)
        counts |= dict(zip(("published_wins", "published_losses"), published, strict=True))
    return Cell(where, won_in(match), theirs, "share", note, counts)


def remarks(sims: int) -> list[str]:
    """What to know of every one of these studies."""
    told = [OPENING, "Normal UCB's c is not published: it is 1.0 here."]
    if sims != SIMS:
        return [*told, f"{sims:,} simulations a move, not the report's {SIMS:,}."]
    return [*told, f"{sims:,} simulations a move: what the report's program did in its 1.8 s."]


def bars(axes: Any, at: list[float], found: list[Estimate | None], label: str, number: int) -> None:
    """Shares in per cent with their intervals, as points on an axis."""
    known = [(x, each) for x, each in zip(at, found, strict=True) if each is not None]
    if not known:
        return
    values = [100 * each.value for _, each in known]
    ends = [each.ci95 or (each.value, each.value) for _, each in known]
    around = [
        [max(value - 100 * low, 0) for value, (low, _) in zip(values, ends, strict=True)],
        [max(100 * high - value, 0) for value, (_, high) in zip(values, ends, strict=True)],
    ]
    axes.errorbar(
        [x for x, _ in known],
        values,
        around,
        fmt="o" if number == 0 else "s",
        markersize=5,
        capsize=3,
        color=f"C{number}",
        label=label,
    )


def shares_picture(panels: list[tuple[str, list[str], list[Cell]]], xlabel: str = "") -> Any:
    """A panel for each group of cells: ours beside the published, with intervals."""
    figure = new_figure(max(3.4 * len(panels), 5.5), 3.6)
    for axes, (title, names, cells) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        places = [float(n) for n in range(len(cells))]
        bars(axes, [x - 0.08 for x in places], [c.ours for c in cells], "ours", 0)
        bars(axes, [x + 0.08 for x in places], [c.published for c in cells], "published", 1)
        axes.set_xticks(places, names, fontsize=8)
        if max(map(len, names)) > 6:
            axes.tick_params("x", rotation=35)
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        axes.set(title=title, xlabel=xlabel, xlim=(-0.5, len(cells) - 0.5))
        style_axes(axes)
        axes.yaxis.set_major_formatter("{x:g} %")
    axes.legend(frameon=False, fontsize=8)
    return figure
