"""How much does a player gain by searching ahead, at what time a move?

The same learned values, with searches of fixed depth and of fixed time. Timed games are played side by side, one to
a core, and nothing else should run meanwhile: the results depend on the machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.agent import agent_from
from tuplet.agents.learned import LearnedAgent
from tuplet.arena.evaluate import evaluate
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import score_interval
from tuplet.studies.context import StudyContext, list_of
from tuplet.studies.report import Curve, StudyResult, draw_curves
from tuplet.studies.verdicts import Cell, Estimate, tile_shares
from tuplet.system.blocks import Worker
from tuplet.system.pictures import error_bars
from tuplet.system.progress import Progress
from tuplet.system.settings import parse_duration
from tuplet.system.stop import Stopped
from tuplet.values.network import Network

DEPTHS = {1: 1000, 2: 300, 3: 100}  # moves ahead, and games in full
GAMES = 100  # with a time limit of at most a millisecond a move
FEWER, FEWEST = 60, 8  # with a longer one: FEWER divided by its milliseconds, but at least FEWEST
PART = 20  # games that are kept together
TILES = (8192, 16384, 32768)


class Lookahead(NamedTuple):
    """How a move is chosen: by depth, or by time."""

    depth: int | None
    milliseconds: float | None
    games: int

    @property
    def name(self) -> str:
        """Also in the names of files."""
        return f"{self.milliseconds:g} ms" if self.depth is None else f"depth {self.depth}"

    @property
    def cost(self) -> float:
        """About how many milliseconds a move takes; each move of depth takes ten times as long."""
        return self.milliseconds or 0.0003 * 10.0 ** (self.depth or 1)


def looking_ahead(
    context: StudyContext, player: str = "strong", times: str = "0.1ms 0.3ms 1ms 3ms 10ms", downgrade: int = 0
) -> StudyResult:
    """No report has this: mean score, and how often 16384 and 32768 are reached, against the time that a move may take.
    Of the literature, a network whose greedy play scores 324,710 reaches 32768 in 54 % of its games with about a
    millisecond a move.
    """
    agent = agent_from(player, "2048")
    if not isinstance(agent, LearnedAgent):
        raise UserError(f"{player} has no learned values: name a run, a weight file, or small")
    net = agent.network
    lookaheads = [Lookahead(depth, None, context.games(games)) for depth, games in DEPTHS.items()]
    read = partial(parse_duration, name="--times")
    for seconds in list_of(times, read, "--times must be times such as 0.1ms 1ms"):
        limit = 1000 * seconds
        full = GAMES if limit <= 1 else max(round(FEWER / limit), FEWEST)
        lookaheads.append(Lookahead(None, limit, context.games(full, least=4)))
    cost = sum(lookahead.cost * lookahead.games for lookahead in lookaheads) / 100
    parts = {
        f"{lookahead.name.replace(' ', '-')}-{first}": (
            net,
            lookahead,
            downgrade or None,
            first,
            min(PART, lookahead.games - first),
            context.seed,
            context.threads,
            lookahead.cost / cost,
        )
        for lookahead in lookaheads
        for first in range(0, lookahead.games, PART)
    }
    alone = replace(context, threads=1, executor=None)  # one part uses all cores
    percent = context.count(
        "percent", [part[4] * part[7] for part in parts.values()], [part[1].name for part in parts.values()]
    )
    results = alone.parts(play_part, parts, percent)
    cells = [
        _cell(lookahead, [results[name] for name in parts if parts[name][1] == lookahead]) for lookahead in lookaheads
    ]
    settings = {
        "player": f"{player}: {net.name}",
        "tile from which boards are lowered": str(downgrade or "none"),
        "games at a time": str(context.threads),
    }
    notes = [
        "With a time limit, a search of three moves or more looks one move less ahead behind a 4, and skips moves that "
        "seem to be worse than the best by 10,000 points."
    ]
    return StudyResult(cells, settings, {"scores": lambda: draw(cells)}, notes)


def play_part(
    net: Network,
    lookahead: Lookahead,
    downgrade: int | None,
    first: int,
    games: int,
    seed: int,
    threads: int,
    percent: float,
    worker: Worker,
) -> dict[str, Any] | None:
    """Play some games, each `percent` of the study's work; None if it was stopped."""
    done = np.zeros(1)

    def report(event: Progress) -> None:
        done[0] = percent * event.done if event.what == "games" else done[0]

    with worker.showing(done):
        try:
            played = evaluate(
                net,
                games=games,
                first=first,
                threads=threads,
                seed=seed,
                depth=lookahead.depth,
                time=None if lookahead.milliseconds is None else lookahead.milliseconds / 1000,
                downgrade=downgrade,
                progress=report,
                stop=worker.stop,
            )
        except Stopped:
            return None
    if played.interrupted:
        return None
    scores, tiles, lengths = played.results
    return {
        "scores": scores.tolist(),
        "tiles": [1 << int(tile) for tile in tiles],
        "moves": int(lengths.sum()),
        "seconds": threads * int(lengths.sum()) / played.moves_per_s,
    }


def _cell(lookahead: Lookahead, parts: list[dict[str, Any]]) -> Cell:
    scores = [score for part in parts for score in part["scores"]]
    milliseconds = 1000 * sum(part["seconds"] for part in parts) / sum(part["moves"] for part in parts)
    reached, words = tile_shares([tile for part in parts for tile in part["tiles"]], TILES)
    low, high = reached[TILES[-1]].ci95 or (0.0, 1.0)
    return Cell(
        {"looks": lookahead.name, "games": len(scores)},
        Estimate(float(np.mean(scores)), score_interval(scores)),
        None,
        "points",
        f"{words} ({100 * low:.0f} to {100 * high:.0f} %)",
        {
            "milliseconds": milliseconds,
            "best": max(scores),
            "reached": {str(tile): [each.value, *(each.ci95 or ())] for tile, each in reached.items()},
        },
    )


def draw(cells: list[Cell]) -> Any:
    """Mean score against milliseconds a move, and how often 32768 is reached."""
    kinds = {  # by the unit of their names; texts are above the one and below the other, so that they do not meet
        "depth": ("by depth", 1, (0, 6)),
        "ms": ("by the clock", 0, (0, -20)),
    }
    groups = [[cell for cell in cells if unit in str(cell.labels["looks"])] for unit in kinds]
    curves = [
        Curve(
            label,
            [float(cell.extra["milliseconds"]) for cell in own],
            *error_bars([(cell.ours.value, cell.ours.ci95) for cell in own]),
        )
        for (label, *_), own in zip(kinds.values(), groups, strict=True)
    ]
    axes = draw_curves(curves, "milliseconds a move", "mean score", log=True)
    for number, ((_, end, offset), own) in enumerate(zip(kinds.values(), groups, strict=True)):
        for cell in own:
            share = 100 * cell.extra["reached"][str(TILES[-1])][0]
            axes.annotate(
                f"{cell.labels['looks']}\n{share:.0f} %",
                (cell.extra["milliseconds"], (cell.ours.ci95 or (cell.ours.value,) * 2)[end]),
                textcoords="offset points",
                xytext=offset,
                ha="center",
                fontsize=7,
                color=f"C{number}",
            )
    axes.xaxis.set_major_formatter(lambda time, _: f"{time:g}")
    axes.margins(x=0.15)
    axes.get_legend().set_title(f"and how many games reach {TILES[-1]}")
    return axes.figure
