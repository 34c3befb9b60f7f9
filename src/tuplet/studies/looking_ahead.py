"""How much does a player gain by looking ahead, for how much time a move?

The same learned values, with searches of fixed depth and of fixed time. Games by the clock are
played side by side, one to a core, and nothing else should run meanwhile: what comes out depends on
the machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.g2048 import player_from
from tuplet.agents.learned import LearnedAgent
from tuplet.arena.evaluate import evaluate
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_interval
from tuplet.studies.context import StudyContext
from tuplet.studies.report import StudyResult
from tuplet.studies.verdicts import Cell, Estimate, share
from tuplet.system.blocks import Worker
from tuplet.system.pictures import new_figure, style_axes
from tuplet.system.progress import Progress
from tuplet.system.stop import Stopped
from tuplet.values.network import Network

CLAIM = (
    "No report has this: mean score, and how often 16384 and 32768 are reached, against the time "
    "that a move may take. Of the literature, a network whose greedy play scores 324,710 reaches "
    "32768 in 54 % of its games with about a millisecond a move."
)
DEPTHS = {1: 1000, 2: 300, 3: 100}  # moves ahead, and games in full
GAMES = 100  # by the clock, up to a millisecond a move
FEWER, FEWEST = 60, 8  # beyond: so many for each millisecond of a move, and at least
PART = 20  # games that are kept together
TILES = (8192, 16384, 32768)


class LearnerVariant(NamedTuple):
    """How a move is chosen: so many moves ahead, or for so many milliseconds."""

    depth: int | None
    milliseconds: float | None
    games: int

    @property
    def name(self) -> str:
        """As people call it, and files."""
        return f"{self.milliseconds:g} ms" if self.depth is None else f"depth {self.depth}"

    @property
    def cost(self) -> float:
        """About how many milliseconds a move takes; at a depth, each move more takes ten times."""
        if self.milliseconds is not None:
            return self.milliseconds
        return 0.0003 * 10.0 ** (self.depth or 1)


def run(
    context: StudyContext, player: str = "strong", milliseconds: str = "0.1 0.3 1 3 10", downgrade: int = 0
) -> StudyResult:
    """Play by depth, then by time."""
    learned = player_from(player)
    if not isinstance(learned, LearnedAgent):
        raise UserError(f"{player} has no learned values: name a run, a weight file, or small")
    net = learned.network
    ways = [LearnerVariant(depth, None, context.games(games)) for depth, games in DEPTHS.items()]
    for each in _times(milliseconds):
        full = GAMES if each <= 1 else max(round(FEWER / each), FEWEST)
        ways.append(LearnerVariant(None, each, context.games(full, least=4)))
    parts: dict[str, tuple[Any, ...]] = {
        f"{way.name.replace(' ', '-')}-{first}": (
            net,
            way,
            downgrade or None,
            first,
            min(PART, way.games - first),
            context.seed,
            context.threads,
        )
        for way in ways
        for first in range(0, way.games, PART)
    }
    alone = replace(context, threads=1, executor=None)  # all cores play one part
    costs = [part[1].cost * part[4] for part in parts.values()]
    found = alone.parts(played, parts, _watched(context, costs, [part[1] for part in parts.values()]))
    cells = [_cell(way, [found[name] for name in parts if parts[name][1] == way]) for way in ways]
    settings = {
        "player": f"{player}: {net.name}",
        "boards with a tile of this size or more are seen lowered": str(downgrade or "none"),
        "games at a time": str(context.threads),
    }
    notes = ["By the clock, a search of three moves or more looks one less ahead behind a 4."]
    return StudyResult(cells, settings, {"scores": lambda: draw(cells)}, notes)


def _times(milliseconds: str) -> list[float]:
    try:
        times = sorted({float(word) for word in milliseconds.replace(",", " ").split()})
    except ValueError:
        times = []
    if not all(0 < time <= 60_000 for time in times):
        times = []
    if not times:
        raise UserError(f"milliseconds are numbers such as 0.1 1 10, not {milliseconds!r}")
    return times


def played(
    net: Network,
    way: LearnerVariant,
    downgrade: int | None,
    first: int,
    games: int,
    seed: int,
    threads: int,
    worker: Worker,
) -> dict[str, Any] | None:
    """Play some games in one way; None if told to stop."""
    seconds = None if way.milliseconds is None else way.milliseconds / 1000
    count = np.zeros(1)

    def look(seen: Progress) -> None:
        count[0] = seen.done if seen.what == "games" else count[0]

    with worker.showing(count):
        try:
            found = evaluate(
                net,
                games=games,
                first=first,
                threads=threads,
                seed=seed,
                depth=way.depth,
                time=seconds,
                downgrade=downgrade,
                progress=look,
                stop=worker.stop,
            )
        except Stopped:
            return None
    if found.interrupted:
        return None
    scores, tiles, lengths = found.results
    return {
        "scores": scores.tolist(),
        "tiles": [1 << int(tile) for tile in tiles],
        "moves": int(lengths.sum()),
        "seconds": threads * int(lengths.sum()) / found.moves_per_s,
    }


def _watched(context: StudyContext, costs: list[float], ways: list[LearnerVariant]) -> Any:
    """Tells how much of the work is done, by the time it takes: games by the clock take longer."""

    def look(done: int, worker: Worker) -> None:
        now = ways[min(done, len(ways) - 1)]
        played = sum(costs[:done]) + sum(float(each[0]) * now.cost for each in worker.under_way)
        share_done, before = (round(100 * x / sum(costs)) for x in (played, sum(costs[:done])))
        context.watch(Progress("percent", share_done, 100, figures={"now": now.name}, before=before))

    return look


def _cell(way: LearnerVariant, parts: list[dict[str, Any]]) -> Cell:
    scores = [score for part in parts for score in part["scores"]]
    tiles = [tile for part in parts for tile in part["tiles"]]
    each = 1000 * sum(part["seconds"] for part in parts) / sum(part["moves"] for part in parts)
    reached = {t: share(sum(tile >= t for tile in tiles), len(tiles)) for t in TILES}
    told = ", ".join(f"{tile} in {100 * one.value:.1f} %" for tile, one in reached.items())
    low, high = reached[TILES[-1]].ci95 or (0.0, 1.0)
    return Cell(
        {"looks": way.name, "games": len(scores)},
        Estimate(float(np.mean(scores)), score_interval(scores)),
        None,
        "points",
        f"{told} ({100 * low:.0f} to {100 * high:.0f} %)",
        {
            "milliseconds": each,
            "best": max(scores),
            "reached": {str(tile): [one.value, *(one.ci95 or ())] for tile, one in reached.items()},
        },
    )


def draw(cells: list[Cell]) -> Any:
    """Mean score against milliseconds a move, and how often 32768 is reached."""
    figure = new_figure(7, 4)
    axes = figure.subplots()
    sides = {"depth": ("by depth", "s", 1, (0, 6)), "ms": ("by the clock", "o", 0, (0, -20))}
    for unit, (label, look, end, away) in sides.items():  # on both sides, for texts not to meet
        own = [cell for cell in cells if unit in str(cell.where["looks"])]
        x = [float(cell.more["milliseconds"]) for cell in own]
        y = [cell.ours.value for cell in own]
        ends = [cell.ours.ci95 or (v, v) for cell, v in zip(own, y, strict=True)]
        bars = [
            [v - low for v, (low, _) in zip(y, ends, strict=True)],
            [high - v for v, (_, high) in zip(y, ends, strict=True)],
        ]
        drawn = axes.errorbar(x, y, yerr=bars, marker=look, capsize=2, label=label, linewidth=1.4)
        for cell, at, interval in zip(own, x, ends, strict=True):
            share_of = 100 * cell.more["reached"][str(TILES[-1])][0]
            text = f"{cell.where['looks']}\n{share_of:.0f} %"
            axes.annotate(
                text,
                (at, interval[end]),
                textcoords="offset points",
                xytext=away,
                ha="center",
                fontsize=7,
                color=drawn.lines[0].get_color(),
            )
    axes.set(xscale="log", xlabel="milliseconds a move", ylabel="mean score")
    axes.xaxis.set_major_formatter(lambda time, _: f"{time:g}")
    axes.yaxis.set_major_formatter(lambda score, _: f"{score:,.0f}")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.15)
    axes.legend(frameon=False, loc="lower right", title=f"and how many games reach {TILES[-1]}")
    style_axes(axes)
    return figure
