"""Review of a recorded game for two: what the dice gave each side, and what its moves cost.

One judge values everything, as probabilities that a side wins. Before each roll it values a position by the mean over
all rolls. Then, to the side that rolls and moves,

    luck  = value after the roll - value before it      what the die gave
    loss  = value of the best move - value of the move  what the move cost
    drift = value after the move - value of the move    the judge's re-estimate: 0 if it is exact

A finished game is worth 1 or 0, so that for the first side, over a game,

    result = first_value + luck - losses - (the other side's luck - losses) + drift

A game that was not played to its end is valued where it stops; `left` is what a forfeit added to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tuplet.agents.agent import agent_from
from tuplet.agents.specs import label_of, name_of
from tuplet.arena.evaluate import ask, streams_of
from tuplet.errors import UserError
from tuplet.exact.endgames import EndgameTable
from tuplet.games import agent_hooks
from tuplet.games.analysis import BANDS, Analysis, MoveValue, band_of
from tuplet.games.record import Record
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, plural

JUDGE = "mcts:sims=5000"  # if none is named
LUCKY = 0.1  # of win probability: a side with this much more luck than the other is lucky
_EQUAL = 1e-6  # values of tables are rounded
ACCURACY_MEANS = (
    "Accuracy: 100 % means that every move was as good as the judge's best; 0 % that the moves "
    "gave up as much of the probability of winning as random moves would, or more."
)


@dataclass(frozen=True)
class TwoPlayerMove:
    """A move that was played, and the best one. Values are those of the side that moves."""

    number: int  # counted from 1
    side: str
    position: Any  # with the die rolled
    played: str
    best: str
    played_value: float
    value: float  # of the best move
    luck: float  # what the roll before it gave
    drift: float
    random_loss: float  # the mean loss over all legal moves
    played_ends_in: int | None = None  # moves until the end that the judge proved, as in `MoveValue`
    ends_in: int | None = None  # of the best move

    @property
    def loss(self) -> float:
        """What the move cost, in win probability."""
        return max(self.value - self.played_value, 0.0)

    @property
    def band(self) -> str:
        """One of BANDS: the move cost nothing, less than 0.01, up to 0.05, or more."""
        return band_of(self.loss if self.loss > _EQUAL else 0.0)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        names = ("number", "side", "played", "best", "played_value", "value", "loss", "band", "luck", "drift")
        ends = {name: n for name in ("played_ends_in", "ends_in") if (n := getattr(self, name)) is not None}
        return {name: getattr(self, name) for name in names} | ends | {"position": self.position.notation}


@dataclass(frozen=True)
class SideReview:
    """What the dice gave a side, and what its moves cost."""

    side: str
    name: str
    moves: list[TwoPlayerMove] = field(repr=False)

    @property
    def luck(self) -> float:
        """What its own rolls gave it."""
        return sum(move.luck for move in self.moves)

    @property
    def losses(self) -> float:
        """What its moves cost it."""
        return sum(move.loss for move in self.moves)

    @property
    def drift(self) -> float:
        """The judge's re-estimates of its moves."""
        return sum(move.drift for move in self.moves)

    @property
    def counts(self) -> dict[str, int]:
        """Number of best, good, inaccurate and bad moves."""
        bands = [move.band for move in self.moves]
        return {band: bands.count(band) for band in BANDS}

    @property
    def accuracy(self) -> float:
        """In percent: 100 if no move cost anything, 0 if they cost as much as random moves, or more."""
        at_random = sum(move.random_loss for move in self.moves)
        return 100 * max(0.0, 1 - self.losses / at_random) if at_random > _EQUAL else 100.0


@dataclass(frozen=True, repr=False)
class TwoPlayerReview(Displayable):
    """All moves of a game for two, with what dice and moves changed."""

    record: Record
    moves: list[TwoPlayerMove]
    judge: str
    first_value: float  # the first side's, before the first roll
    last_value: float  # the first side's, where the moves end
    skipped: int = 0  # moves before the first position that a table knows

    @property
    def sides(self) -> dict[str, SideReview]:
        """Each side's part, the first side first."""
        return {
            side: SideReview(side, name, [move for move in self.moves if move.side == side])
            for side, name in zip(self.record.sides, self.record.names, strict=True)
        }

    @property
    def result(self) -> float:
        """The first side's result: 1, 1/2 or 0; where the game was not finished, its last value."""
        record = self.record
        if record.winner is not None:
            return float(record.winner == record.sides[0])
        return 0.5 if record.over else self.last_value

    @property
    def left(self) -> float:
        """What a forfeit added to the first side's last value."""
        return self.result - self.last_value

    @property
    def drift(self) -> float:
        """The judge's re-estimates, as the first side sees them."""
        first, second = self.sides.values()
        return first.drift - second.drift

    def word(self, side: str) -> str:
        """How the dice treated a side, in one word: lucky, unlucky or even."""
        one, other = self.sides[side], next(each for name, each in self.sides.items() if name != side)
        lead = one.luck - other.luck
        return "lucky" if lead >= LUCKY else "unlucky" if lead <= -LUCKY else "even"

    def worst(self, count: int) -> list[TwoPlayerMove]:
        """The moves that cost most, the costliest first."""
        return sorted((m for m in self.moves if m.loss > _EQUAL), key=lambda m: -m.loss)[:count]

    def parts(self) -> list[tuple[str, float]]:
        """What the first side's result is made of; all but the last add up to the last."""
        first, second = self.sides.values()
        parts = [
            (f"{first.side}'s probability at the start", self.first_value),
            (f"{first.side}'s dice", first.luck),
            (f"{second.side}'s dice", 0 - second.luck),
            (f"{first.side}'s mistakes", 0 - first.losses),
            (f"{second.side}'s mistakes", second.losses),
            ("re-estimates", self.drift),
        ]
        if abs(self.left) > _EQUAL:
            parts.append(("forfeit", self.left))
        over = self.record.over
        return [*parts, (f"{first.side}'s result" if over else f"{first.side}'s probability at the end", self.result)]

    def text_tables(self) -> list[TextTable]:
        """What the result is made of, and a table for each side."""
        record = self.record
        ended = f"{record.winner} won ({record.termination})" if record.winner else "not finished"
        notes = [f"judged by {self.judge}"]
        if self.skipped:
            notes.append(f"the table knows the game from move {self.skipped + 1:,} on")
        parts = self.parts()
        rows = [
            [name, f"{value:.4f}" if i in (0, len(parts) - 1) else f"{value:+.4f}"]
            for i, (name, value) in enumerate(parts)
        ]
        title = f"{' - '.join(record.names)}  {ended}   {plural(len(self.moves), 'move')}"
        tables = [TextTable(title, notes=notes), TextTable("", (), rows, marked=len(parts) - 1)]
        for side, found in self.sides.items():
            bands = "   ".join(f"{band} {count:,}" for band, count in found.counts.items())
            costly = [m for m in self.worst(len(self.moves)) if m.side == side][:5]
            lines = [
                [
                    f"{m.number:,}",
                    m.played,
                    _worth(m.played_value, m.played_ends_in),
                    m.best,
                    _worth(m.value, m.ends_in),
                    f"{m.loss:.4f}",
                ]
                for m in costly
            ]
            tables.append(
                TextTable(
                    f"{side}  {found.name}: {self.word(side)}, accuracy {found.accuracy:.1f} %",
                    ["move", "played", "value", "best", "value", "cost"],
                    lines,
                    words=(1, 3),
                    notes=[f"dice {found.luck:+.4f}   mistakes {0 - found.losses:+.4f}   {bands}"],
                )
            )
        return tables

    def __repr__(self) -> str:
        sides = ", ".join(f"{name} {each.accuracy:.0f} % and {self.word(name)}" for name, each in self.sides.items())
        return f"<TwoPlayerReview of {plural(len(self.moves), 'move')}: {sides}>"

    def as_json(self) -> dict[str, Any]:
        """Totals of the game and of each side, and a list of all moves."""
        names = ("name", "luck", "losses", "drift", "accuracy", "counts")
        return {
            "game": self.record.start.game.name,
            "winner": self.record.winner,
            "kind": self.record.termination,
            "judge": self.judge,
            "first_side": self.record.sides[0],
            "first_value": self.first_value,
            "result": self.result,
            "drift": self.drift,
            "left": self.left,
            "skipped": self.skipped,
            "sides": {
                side: {name: getattr(found, name) for name in names} | {"word": self.word(side)}
                for side, found in self.sides.items()
            },
            "moves": [move.as_json() for move in self.moves],
            "accuracy_means": ACCURACY_MEANS,
        }


def _worth(value: float, ends_in: int | None) -> str:
    """A value, or "won in 5" where that is proven."""
    return f"{value:.4f}" if ends_in is None else MoveValue("", value, proven=True, ends_in=ends_in).proof


def review_two(record: Record, agent: Any, progress: ProgressOption, stop: Stop | None) -> TwoPlayerReview:
    """Review a game for two. `agent` judges it: any agent whose analysis values every legal move."""
    agent = JUDGE if agent is None else agent
    player = agent_from(agent, record.start.game)
    try:
        judge = _Judge(player, stop)
        with watching(progress) as watch, agent_hooks.listening(stop, player):
            return _judged(judge, record, label_of(agent, player), watch, stop)
    finally:
        if agent_hooks.has(player, "close") and player is not agent:
            player.close()


class _Judge:
    """The values of a judge, each position asked about once."""

    def __init__(self, player: Any, stop: Stop | None) -> None:
        self.player, self.stop = player, stop
        self._known: dict[str, dict[str, MoveValue]] = {}

    def knows(self, position: Any) -> bool:
        """Whether it can value a position: a table has only some."""
        return not isinstance(self.player, EndgameTable) or self.player.knows(position)

    def moves(self, position: Any) -> dict[str, float]:
        """The value of each legal move, to the side that moves."""
        return {text: move.value for text, move in self.judged(position).items() if move.value is not None}

    def judged(self, position: Any) -> dict[str, MoveValue]:
        """Each legal move with its value."""
        legal = tuple(position.legal_moves())
        key = position.notation
        if position.game.family == "ewn":  # what was rolled matters only by the moves it allows
            key = f"{key.rpartition(' ')[0]} {position.ply} {legal}"
        if key not in self._known:
            self._known[key] = self._ask(position, legal)
        return self._known[key]

    def _ask(self, position: Any, legal: tuple[str, ...]) -> dict[str, MoveValue]:
        if agent_hooks.is_stopped(self.stop):
            return {}
        player = self.player
        ask(player, "open", agent_hooks.begin, player, position, position.turn, streams_of(0, 0)[0])
        found = ask(player, "analyze", player.analyze, position) if agent_hooks.has(player, "analyze") else None
        values = {m.move: m for m in found.moves if m.value is not None} if isinstance(found, Analysis) else {}
        if set(values) != set(legal) and not agent_hooks.is_stopped(self.stop):
            raise UserError(
                f"{name_of(player)} does not value every move: judges are mcts:sims=5000, alphabeta, "
                "or a table of tuplet solve"
            )
        return values

    def value(self, position: Any, side: str) -> float:
        """The value of a position to a side: the mean over what chance can do, and 1, 1/2 or 0 at the end."""
        if position.over:
            return 0.5 if position.winner is None else float(position.winner == side)
        if position.is_chance:
            outcomes = position.chance_outcomes().items()
            return math.fsum(share * self.value(position.apply_outcome(outcome), side) for outcome, share in outcomes)
        top = max(self.moves(position).values(), default=0.5)
        return top if position.turn == side else 1.0 - top


def _judged(judge: _Judge, record: Record, name: str, watch: Any, stop: Stop | None) -> TwoPlayerReview:
    moves: list[TwoPlayerMove] = []
    first, skipped, total, meter = None, 0, len(record.moves), RateMeter()
    side = record.sides[0]
    value = 0.0  # of the position before the roll, to the side that rolls next
    for before, position, move, after in _turns(record):
        if not judge.knows(before):
            skipped += 1
            continue
        if first is None:
            value = judge.value(before, before.turn)
            first = value if before.turn == side else 1.0 - value
        known = judge.moves(position)
        if agent_hooks.is_stopped(stop):
            raise Stopped(f"stopped after {len(moves):,} of {plural(total, 'move')}")
        turn, best = position.turn, max(known, key=known.__getitem__)
        top, played = known[best], known[move]
        then = judge.value(after, turn)
        if agent_hooks.is_stopped(stop):
            raise Stopped(f"stopped after {len(moves):,} of {plural(total, 'move')}")
        at_random = sum(top - other for other in known.values()) / len(known)
        number = skipped + len(moves) + 1
        ends = [judge.judged(position)[text].ends_in for text in (move, best)]
        moves.append(
            TwoPlayerMove(number, turn, position, move, best, played, top, top - value, then - played, at_random, *ends)
        )
        value = then if after.over or after.turn == turn else 1.0 - then
        watch(Progress("moves", number, total, meter.rate(number)))
    if first is None:
        what = "no moves to review" if not record.moves else "no position that the table knows"
        raise UserError(f"the game has {what}")
    last = judge.value(record.position, side)
    return TwoPlayerReview(record, moves, name, first, last, skipped)


def _turns(record: Record) -> Iterator[tuple[Any, Any, str, Any]]:
    """Each turn: the position before the roll, after it, the move, and the position after that."""
    before, outcomes = record.start, iter(record.outcomes)
    for move in record.moves:
        position = before
        while position.is_chance:
            position = position.apply_outcome(next(outcomes))
        after = position.play(move)
        yield before, position, move, after
        before = after
