"""The analysis of a position: the value of each move, and the expected line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tuplet.games.search_history import SearchHistory
from tuplet.games.tree import SPREAD, TreeView
from tuplet.system.settings import describe_settings
from tuplet.system.tables import Displayable, TextTable

MOST_PARTS = 12  # tuples and features that the text of an analysis shows


class MoveValue(NamedTuple):
    """A move and what it is worth.

    2048: reward + V, in points. A game for two: to the side that moves, from 0, lost, to 1, won.
    None if the move is illegal, or its value is not known.
    """

    move: str
    value: float | None
    legal: bool = True
    reward: int = 0  # points, where a game has them
    visits: int | None = None  # simulations
    # The value ± 1.96 standard errors of the simulations, as if these were independent: it shows how much was
    # simulated, and is no confidence interval of the true value, because the search chose what to simulate.
    ci95: tuple[float, float] | None = None
    proven: bool = False  # the value is exact
    ends_in: int | None = None  # moves of both sides until a proven win or loss, this one included, if known

    @property
    def proof(self) -> str:
        """What is proven: "won in 5", "lost in 4", or "proven"; "" where nothing is.

        The winner needs no more moves, and the loser can hold out as long. Where dice are rolled it may be sooner.
        """
        if self.ends_in is None or self.value is None:
            return "proven" if self.proven else ""
        return f"{'won' if self.value > 0.5 else 'lost'} in {self.ends_in}"

    def __repr__(self) -> str:
        fields = (
            f"{name}={value!r}"
            for name, value in self._asdict().items()
            if name in ("move", "value") or value != self._field_defaults[name]
        )
        return f"MoveValue({', '.join(fields)})"


class DepthResult(NamedTuple):
    """The result of one depth of an iterative deepening search."""

    depth: int
    value: float  # of the best move, as in `MoveValue`
    proven: bool
    line: list[str]  # the main line, the best move first


BANDS = ("best", "good", "inaccurate", "bad")  # how good a move is, by the share of the value that it gives up
_GOOD, _BAD = 0.01, 0.05  # shares
_EQUAL = 1e-9  # rounding alone makes a smaller share


def lost_share(loss: float, value: float) -> float:
    """A loss as a share of the best move's value, 0 to 1; 0 where rounding alone made it."""
    if loss <= _EQUAL * abs(value):
        return 0.0
    return min(1.0, loss / abs(value)) if value else 1.0


def band_of(share: float) -> str:
    """One of BANDS: a move gives up nothing, less than 1 % of the best move's value, up to 5 %, or more."""
    return BANDS[0 if not share else 1 if share < _GOOD else 3 if share > _BAD else 2]


def best_of(moves: Iterable[MoveValue]) -> str | None:
    """The legal move of the highest value (the first of equals), None if none is legal."""
    values = {move.move: move.value for move in moves if move.value is not None}
    return max(values, key=values.__getitem__, default=None)


@dataclass(frozen=True)
class Analysis(Displayable):
    """What an agent thinks of a position."""

    moves: list[MoveValue] = field(default_factory=list)
    best: str | None = None  # what it would play; None if the game is over
    line: list[str] = field(default_factory=list)  # the main line, until chance decides
    note: str = ""  # "depth 14, 1,200,000 nodes in 0.2 s"
    depth: int | None = None  # moves looked ahead
    other_depth: int | None = None  # below moves other than the best, where that is less
    points: bool = False  # values are points, of a game that counts them
    why: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # part -> move -> value
    position: Any = None
    interrupted: bool = False  # the search was stopped early
    agent: str = ""  # the agent's name
    settings: Mapping[str, Any] = field(default_factory=dict)  # the agent's, all of them
    tree: TreeView | None = None  # if requested
    growth: SearchHistory | None = None
    depths: list[DepthResult] = field(default_factory=list)  # of a search that is watched

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        keys: tuple[str, ...] = (
            ("move", "legal", "reward", "value") if self.points else ("move", "value", "visits", "ci95", "proven")
        )
        if self.points and any(move.visits is not None for move in self.moves):
            keys += ("visits", "ci95")
        report: dict[str, Any] = {
            "best": self.best,
            "moves": [
                {k: list(v) if isinstance(v := getattr(move, k), tuple) else v for k in keys}
                | ({"ends_in": move.ends_in} if move.ends_in is not None else {})
                for move in self.moves
            ],
        }
        if self.points:
            valued = [move for move in report["moves"] if move["value"] is not None]
            top = max((move["value"] for move in valued), default=0.0)
            for move in valued:
                loss = top - move["value"]
                move |= {"loss": loss, "band": band_of(lost_share(loss, top))}
        report |= {k: v for k in ("depth", "other_depth") if (v := getattr(self, k)) is not None}
        if not self.points:
            report |= {"line": self.line, "note": self.note}
        if self.why:
            report["why"] = {part: dict(worth) for part, worth in self.why.items()}
        if self.interrupted:
            report["interrupted"] = True
        if self.settings:
            report["settings"] = dict(self.settings)
        if self.tree is not None:
            report["tree"] = self.tree.as_json()
        if self.growth is not None:
            report["growth"] = self.growth.as_json()
        if self.depths:
            report["depths"] = [each._asdict() for each in self.depths]
        return report

    def text_tables(self) -> list[TextTable]:
        """The moves, and where their values come from."""
        if self.best is None:
            return [TextTable(notes=["No move is legal: the game is over."])]
        number = next(i for i, move in enumerate(self.moves) if move.move == self.best)
        table = self._points(number) if self.points else self._chances(number)
        notes = [f"line: {' '.join(self.line)}"] if self.line else []
        notes += self.note.split("\n") if self.note else []
        notes += describe_settings(self.agent or "settings", self.settings)
        text_tables = [table._replace(notes=notes)]
        if self.why and not self.points:
            text_tables.append(self._log_odds())
        elif self.why:
            moves = [move.move for move in self.moves if move.legal]
            rows = [[part, *(f"{worth[m]:,.1f}" for m in moves)] for part, worth in self.why.items()]
            rewards = {move.move: f"{move.reward:,}" for move in self.moves}
            rows.append(["reward", *(rewards[m] for m in moves)])
            strong = [1 + moves.index(self.best)]
            text_tables.append(TextTable("", ["tuple", *moves], rows, strong=strong))
        return text_tables

    def _log_odds(self) -> TextTable:
        """The tuples and features that tell the moves apart most."""
        moves = [move.move for move in self.moves if move.legal]
        spread = {part: max(worth.values()) - min(worth.values()) for part, worth in self.why.items()}
        shown = sorted(self.why, key=lambda part: -spread[part])[:MOST_PARTS]
        rows = [[part, *(f"{self.why[part][m]:+.3f}" if m in self.why[part] else "-" for m in moves)] for part in shown]
        left = len(self.why) - len(shown)
        notes = ["what tuples (cells, row by row) and features add to a move's log-odds of winning, one move ahead"]
        notes += [f"and {left} more with smaller differences"] if left else []
        strong = [1 + moves.index(self.best)] if self.best in moves else []
        return TextTable("", ["tuple", *moves], rows, notes, strong=strong)

    def _repr_html_(self) -> str:
        """How notebooks show it: the position, the tables, and the pictures there are."""
        board = getattr(self.position, "_repr_svg_", str)()
        drawn = [each._repr_svg_() for each in (self.tree, self.growth) if each is not None]
        pictures = "".join(f"<div>{svg[svg.find('<svg') :]}</div>" for svg in drawn)
        return board + super()._repr_html_() + pictures

    def _points(self, best: int) -> TextTable:
        top, rows = self.moves[best].value, []
        for move in self.moves:
            value = "illegal" if not move.legal else "-"
            behind = "best" if move.move == self.best else ""
            if move.value is not None and top is not None:
                value, behind = f"{move.value:,.1f}", behind or f"{move.value - top:,.1f}"
            visits = "" if move.visits is None else f"{move.visits:,}"
            reward = str(move.reward) if move.legal else "-"
            rows.append([move.move, reward, value, behind, visits])
        if any(move.visits is not None for move in self.moves):
            return TextTable("", ["move", "reward", "value", "behind", "visits"], rows, marked=best)
        rows = [row[:-1] for row in rows]
        return TextTable("", ["move", "reward", "value", "behind"], rows, marked=best)

    def _chances(self, best: int) -> TextTable:
        rows = []
        for move in self.moves:
            value = "-" if move.value is None else f"{move.value:.3f}"
            ci95 = move.proof
            if move.ci95 is not None and not move.proven:
                ci95 = "{:.3f} - {:.3f}".format(*move.ci95)
            visits = "" if move.visits is None else f"{move.visits:,}"
            rows.append([move.move, value, ci95, visits])
        simulated = any(move.ci95 is not None for move in self.moves)
        return TextTable("", ["move", "value", SPREAD if simulated else "", "visits"], rows, marked=best)
