"""Visits and values of each move during a tree search, against simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuplet.system.pictures import as_svg, new_figure, save_figure, spread_labels, style_axes
from tuplet.system.tables import Table, Tabular

STEP = 1.12  # from one sample to the next, in simulations: about twenty samples for a factor of ten
SHOWN = 7  # moves with their own colour: the most visited
COLOURS = ("#0b6e99", "#d2691e", "#3f8f4f", "#a3357a", "#c8a02f", "#5b5bd6", "#7a5c3e")
REST = "#b8b8b8"


@dataclass
class SearchHistory(Tabular):
    """Visits and values of each move, sampled during a search.

    Samples are taken at equal steps of a logarithmic scale; they do not change the search.
    """

    simulations: list[int] = field(default_factory=list)  # at each sample
    moves: dict[str, list[Any]] = field(default_factory=dict)  # a `MoveValue` at each sample
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
            self.moves.setdefault(move.move, []).append(move)

    def named(self, text_of: Callable[[int], str]) -> SearchHistory:
        """The same with moves as people write them, in place of their numbers."""
        moves: dict[str, list[Any]] = {}
        for code, history in sorted(self.moves.items(), key=lambda each: -each[1][-1].visits):
            text = text_of(int(code))
            moves[text] = [each._replace(move=text) for each in history]
        return SearchHistory(self.simulations, moves, self.title)

    def as_json(self) -> dict[str, Any]:
        """As plain values: lists as long as `simulations`."""
        return {
            "simulations": self.simulations,
            "moves": {
                move: {
                    "visits": [each.visits for each in history],
                    "value": [each.value for each in history],
                    "ci95": [each.ci95 and list(each.ci95) for each in history],
                    "proven": [each.proven for each in history],
                }
                for move, history in self.moves.items()
            },
        }

    def table(self) -> Table:
        """A row for each move at each sample."""
        columns = ("simulations", "move", "visits", "value", "ci95_low", "ci95_high", "proven")
        rows = [
            (sims, move, at.visits, at.value, *(at.ci95 or (None, None)), at.proven)
            for i, sims in enumerate(self.simulations)
            for move, at in ((move, history[i]) for move, history in self.moves.items())
        ]
        return Table(columns, rows)

    def figure(self) -> Any:
        """Values with their intervals above, visits below, against simulations."""
        figure = new_figure(8.0, 6.4)
        above, below = figure.subplots(2, sharex=True, height_ratios=[3, 2])
        xs, labels = self.simulations, [(above, list[Any]()), (below, list[Any]())]
        for number, (move, history) in enumerate(self.moves.items()):
            colour = COLOURS[number] if number < SHOWN else REST
            front = 3 + (number < SHOWN) + (number == 0)
            wide = 2.2 if number == 0 else 1.5 if number < SHOWN else 0.8
            values, visits = [each.value for each in history], [each.visits for each in history]
            if number < SHOWN:
                low, high = zip(*(each.ci95 or (each.value, each.value) for each in history), strict=True)
                above.fill_between(xs, low, high, color=colour, alpha=0.16, lw=0, zorder=front - 1)
                for (_, ends), last in zip(labels, (values[-1], visits[-1]), strict=True):
                    ends.append((xs[-1], last, move, colour))
            above.plot(xs, values, color=colour, lw=wide, zorder=front)
            below.plot(xs, visits, color=colour, lw=wide, zorder=front)
            at = next((i for i, each in enumerate(history) if each.proven), None)
            if at is not None:
                above.plot(xs[at], values[at], "D", color=colour, mec="white", ms=8, zorder=9)
        above.set_ylabel("value to the side to move, ± 1.96 s.e.")
        below.set_ylabel("visits")
        below.set_xlabel("simulations")
        below.set_xscale("log")
        below.set_yscale("log")
        if len(xs) > 1:
            below.set_xlim(xs[0], xs[-1])
        if self.title:
            above.set_title(self.title, loc="left", fontsize=11)
        for axes, ends in labels:
            style_axes(axes)
            spread_labels(figure, axes, ends)
        return figure

    def plot(self, path: str | Path) -> Path:
        """Draw it into a file: SVG, PNG or PDF."""
        return save_figure(self.figure(), path)

    def _repr_svg_(self) -> str:
        """How notebooks show it."""
        return as_svg(self.figure())
