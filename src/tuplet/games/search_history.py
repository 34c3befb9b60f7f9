"""Visits and values of each move during a tree search, against simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from tuplet.system.pictures import as_svg, new_figure, save_figure, style_axes
from tuplet.system.tables import Table, Tabular

STEP = 1.12  # from one sample to the next, in simulations: about twenty samples for a factor of ten
SHOWN = 7  # moves with their own colour: the most visited
COLOURS = ("#0b6e99", "#d2691e", "#3f8f4f", "#a3357a", "#c8a02f", "#5b5bd6", "#7a5c3e")
REST = "#b8b8b8"


@dataclass
class MoveHistory:
    """A move's figures, one for each sample."""

    visits: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # to the side to move
    ci95: list[tuple[float, float] | None] = field(default_factory=list)
    proven: list[bool] = field(default_factory=list)


@dataclass
class SearchHistory(Tabular):
    """Visits and values of each move, sampled during a search.

    Samples are taken at equal steps of a logarithmic scale; they do not change the search.
    """

    simulations: list[int] = field(default_factory=list)  # at each sample
    moves: dict[str, MoveHistory] = field(default_factory=dict)
    title: str = ""

    @property
    def due(self) -> int:
        """The number of simulations of the next sample."""
        return int(self.simulations[-1] * STEP) + 1 if self.simulations else 1

    def add(self, simulations: int, moves: Iterable[Any]) -> None:
        """Add a sample: every move's `MoveValue`."""
        if self.simulations and simulations <= self.simulations[-1]:
            return
        self.simulations.append(simulations)
        for move in moves:
            history = self.moves.setdefault(move.move, MoveHistory())
            history.visits.append(move.visits)
            history.values.append(move.value)
            history.ci95.append(move.ci95)
            history.proven.append(move.proven)

    def named(self, text_of: Callable[[int], str]) -> SearchHistory:
        """The same with moves as people write them, in place of their numbers."""
        moves = {text_of(int(code)): history for code, history in self.moves.items()}
        order = sorted(moves, key=lambda move: -moves[move].visits[-1])
        return SearchHistory(self.simulations, {move: moves[move] for move in order}, self.title)

    def as_json(self) -> dict[str, Any]:
        """As plain values: lists as long as `simulations`."""
        return {
            "simulations": self.simulations,
            "moves": {
                move: {
                    "visits": history.visits,
                    "value": history.values,
                    "ci95": [None if ci95 is None else list(ci95) for ci95 in history.ci95],
                    "proven": history.proven,
                }
                for move, history in self.moves.items()
            },
        }

    def table(self) -> Table:
        """A row for each move at each sample."""
        columns = ("simulations", "move", "visits", "value", "ci95_low", "ci95_high", "proven")
        rows = [
            (sims, move, history.visits[i], history.values[i], *(history.ci95[i] or (None, None)), history.proven[i])
            for i, sims in enumerate(self.simulations)
            for move, history in self.moves.items()
        ]
        return Table(columns, rows)

    def figure(self) -> Any:
        """Values with their intervals above, visits below, against simulations."""
        figure = new_figure(8.0, 6.4)
        above, below = figure.subplots(2, sharex=True, height_ratios=[3, 2])
        ends = []
        for number, (move, history) in enumerate(self.moves.items()):
            colour = COLOURS[number] if number < SHOWN else REST
            front = 3 + (number < SHOWN) + (number == 0)
            wide = 2.2 if number == 0 else 1.5 if number < SHOWN else 0.8
            xs = self.simulations
            bounds = [c or (v, v) for c, v in zip(history.ci95, history.values, strict=True)]
            if number < SHOWN:
                low, high = zip(*bounds, strict=True)
                above.fill_between(xs, low, high, color=colour, alpha=0.16, lw=0, zorder=front - 1)
            above.plot(xs, history.values, color=colour, lw=wide, zorder=front)
            below.plot(xs, history.visits, color=colour, lw=wide, zorder=front)
            if any(history.proven):
                at = history.proven.index(True)
                above.plot(xs[at], history.values[at], "D", color=colour, mec="white", ms=8, zorder=9)
            if number < SHOWN:
                ends += [(above, history.values[-1], move, colour), (below, history.visits[-1], move, colour)]
        above.set_ylabel("value to the side to move, ± 1.96 s.e.")
        below.set_ylabel("visits")
        below.set_xlabel("simulations")
        below.set_xscale("log")
        below.set_yscale("log")
        if len(self.simulations) > 1:
            below.set_xlim(self.simulations[0], self.simulations[-1])
        if self.title:
            above.set_title(self.title, loc="left", fontsize=11)
        for axes in (above, below):
            style_axes(axes)
        _name(above, [end[1:] for end in ends if end[0] is above])
        _name(below, [end[1:] for end in ends if end[0] is below])
        return figure

    def plot(self, path: str | Path) -> Path:
        """Draw it into a file: SVG, PNG or PDF."""
        return save_figure(self.figure(), path)

    def _repr_svg_(self) -> str:
        """How notebooks show it."""
        return as_svg(self.figure())


def _name(axes: Any, ends: list[tuple[float, str, str]]) -> None:
    """Write moves beside the ends of their lines, moved apart where they would overlap."""
    figure = axes.figure
    figure.canvas.draw()  # places are known once it is laid out
    points, gap = 72.0 / figure.dpi, 12.5
    at = [points * (axes.transData.transform((1.0, end[0]))[1] - axes.bbox.y0) for end in ends]
    order = sorted(range(len(ends)), key=lambda i: (at[i], -i))
    # Labels that would touch become a block, which stays around the middle of its places.
    blocks: list[list[float]] = []
    for number, i in enumerate(order):
        blocks.append([at[i] - gap * number])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    apart = [fmean(block) for block in blocks for _ in block]
    apart = [place + gap * number for number, place in enumerate(apart)]
    for i, place in zip(order, apart, strict=True):
        y, move, colour = ends[i]
        axes.annotate(
            move,
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, place - at[i]),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=10,
            fontweight="bold",
            annotation_clip=False,
        )
