"""Review of a recorded game of 2048: what did each move cost, and what was luck?

One judge values everything, so that luck and skill add up. It expects `value` more points if the best move is
made, and `played_value` after the move that was played. Then

    loss  = value - played_value                        what the move cost
    luck  = value of the board that followed - mean     what the new tile changed
    drift = reward + mean - played_value                the judge's re-estimate: 0 if it is exact

where the mean is over all tiles that could have appeared. A finished board is worth 0, so that over a game

    score = first_value + luck + drift - losses - left

where `left` is the value of the last board if the game was not played to its end.

Early in a game a bad move costs thousands of points, late in a game few. So a loss is measured as a share of
`value` (at most 1), and the shares are compared with what random moves would have lost on the same boards:

    accuracy = 1 - sum of lost shares / sum of a random move's mean lost share, at least 0

The judge's own play has 100 %, random play about 0 %. A board with one legal move does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tuplet.agents.agent import agent_from
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.specs import label_of, name_of
from tuplet.arena.evaluate import ask, streams_of
from tuplet.arena.pictures_2048 import draw_review, worst_boards
from tuplet.arena.review_two import TwoPlayerReview, review_two
from tuplet.errors import UserError
from tuplet.exact.solution import Solution
from tuplet.exact.solve import solve_board
from tuplet.games import agent_hooks
from tuplet.games.analysis import BANDS, Analysis, band_of, lost_share
from tuplet.games.formats import read_game
from tuplet.games.g2048 import Board
from tuplet.games.g2048.game import Game2048
from tuplet.games.record import Record
from tuplet.system.pictures import inline_svg, save_figure
from tuplet.system.progress import Progress, ProgressOption, RateMeter, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, percent, plural
from tuplet.values.players import DEFAULT_PLAYER

MOST_SOLVED_CELLS = 6  # of a board that is solved in a moment
ACCURACY_MEANS = (
    "Accuracy: 100 % means that every move was as good as the judge's best; 0 % that the moves "
    "gave up as much of the expected score as random moves would, or more."
)

_MOVE_KEYS = (
    *("number", "board", "played", "best", "played_value", "value", "loss", "band", "reward", "luck", "drift"),
    *("mean_value", "score", "expected", "lost_share", "random_share"),
)


@dataclass(frozen=True)
class MoveReview:
    """A move that was played, and the best one. Values are expected further points."""

    number: int  # counted from 1
    board: Board
    played: str
    best: str
    played_value: float
    value: float  # of the best move
    reward: int
    luck: float  # what the new tile changed
    mean_value: float  # of the next board, over all tiles that could have appeared
    score: int  # before the move
    random_share: float = 0.0  # the mean lost share over all legal moves

    @property
    def loss(self) -> float:
        """What the move cost; 0 for the best."""
        return self.value - self.played_value

    @property
    def drift(self) -> float:
        """The judge's re-estimate: the value of the after-state minus that of the move."""
        return self.reward + self.mean_value - self.played_value

    @property
    def expected(self) -> float:
        """The final score that the judge expects before the move."""
        return self.score + self.value

    @property
    def lost_share(self) -> float:
        """The loss as a share of the expected further points, 0 to 1."""
        return lost_share(self.loss, self.value)

    @property
    def band(self) -> str:
        """One of BANDS: the move lost nothing, under 1 %, up to 5 %, or more."""
        return band_of(self.lost_share)

    @property
    def blunder(self) -> bool:
        """Whether the move lost more than 5 %."""
        return self.band == "bad"

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {name: getattr(self, name) for name in _MOVE_KEYS} | {"board": self.board.tiles}


@dataclass(frozen=True, repr=False)
class Review(Displayable):
    """All moves of a game, with their losses."""

    record: Record
    moves: list[MoveReview]
    judge: str = ""
    depth: int | None = None
    time: float | None = None
    spawn4: float = 0.1  # the probability that a new tile is a 4
    left: float = 0.0  # the value of the last board; 0 if the game was over

    @property
    def mean_loss(self) -> float:
        """Points lost per move."""
        return self.losses / len(self.moves)

    @property
    def best_share(self) -> float:
        """The share of moves that were the best, or as good."""
        return self.counts["best"] / len(self.moves)

    @property
    def blunders(self) -> int:
        """Number of moves that lost more than 5 %."""
        return self.counts["bad"]

    @property
    def counts(self) -> dict[str, int]:
        """Number of best, good, inaccurate and bad moves."""
        bands = [move.band for move in self.moves]
        return {band: bands.count(band) for band in BANDS}

    @property
    def accuracy(self) -> float:
        """In percent: 100 if no move lost anything, 0 if they lost as much as random moves, or more."""
        lost = sum(move.lost_share for move in self.moves)
        at_random = sum(move.random_share for move in self.moves)
        return 100 * max(0.0, 1 - lost / at_random) if at_random else 100.0

    @property
    def first_value(self) -> float:
        """The final score expected before the first move."""
        return self.moves[0].expected

    @property
    def luck(self) -> float:
        """What the new tiles changed."""
        return sum(move.luck for move in self.moves)

    @property
    def drift(self) -> float:
        """The judge's re-estimates."""
        return sum(move.drift for move in self.moves)

    @property
    def losses(self) -> float:
        """What all moves cost."""
        return sum(move.loss for move in self.moves)

    def worst(self, count: int) -> list[MoveReview]:
        """The moves that cost most, the costliest first."""
        costly = sorted((m for m in self.moves if m.lost_share), key=lambda m: -m.loss)
        return costly[:count]

    def text_tables(self) -> list[TextTable]:
        """Totals, what the score is made of, and the costliest moves."""
        record = self.record
        how = "" if self.depth is None else f", {plural(self.depth, 'move')} ahead"
        how = how if self.time is None else f", {self.time:g} s a move"
        title = f"{record.names[0]}  score {record.score:,}   {plural(len(self.moves), 'move')}   "
        bands = "   ".join(f"{band} {count:,}" for band, count in self.counts.items())
        totals = [
            f"judged by {self.judge}{how}",
            f"accuracy {self.accuracy:.1f} %   {bands}",
            f"best moves {percent(self.best_share)}   mean loss {self.mean_loss:,.1f} points per move   "
            f"blunders {self.blunders:,}",
        ]
        rows = []
        for m in self.worst(5):
            values = (m.played, f"{m.played_value:,.1f}", m.best, f"{m.value:,.1f}", f"{m.loss:,.1f}")
            rows.append([f"{m.number:,}", *values, "blunder" if m.blunder else ""])
        columns = ["move", "played", "value", "best", "value", "loss", ""]
        parts = self._parts()
        return [
            TextTable(f"{title}largest tile {record.position.largest}", notes=totals),
            TextTable("", (), parts, marked=len(parts) - 1),
            TextTable("", columns, rows, words=(1, 3, 6)),
        ]

    def _parts(self) -> list[list[str]]:
        """What the score is made of, a row for each part."""
        parts = [
            ("expected at the start", f"{self.first_value:,.1f}"),
            ("luck", f"{self.luck:+,.1f}"),
            ("mistakes", f"{0 - self.losses:+,.1f}"),
            ("re-estimates", f"{self.drift:+,.1f}"),
        ]
        if self.left:
            parts.append(("still to come where the record ends", f"{0 - self.left:+,.1f}"))
        return [*map(list, parts), ["final score", f"{self.record.score:,.1f}"]]

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure of the expected score, of luck and skill, and of what each move cost; saved to `path` if given."""
        figure = draw_review(self)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _repr_html_(self) -> str:
        """The tables, the figure, and the worst move."""
        boards = "".join(map(worst_boards, self.worst(1)))
        return super()._repr_html_() + inline_svg(self.plot) + boards

    def __repr__(self) -> str:
        moves = plural(len(self.moves), "move")
        best = f"{percent(self.best_share)} best moves, mean loss {self.mean_loss:,.1f}"
        return f"<Review of {moves}, score {self.record.score:,}: {best}>"

    def as_json(self) -> dict[str, Any]:
        """Totals, and a list of all moves."""
        board = self.record.position.board
        totals = ("accuracy", "counts", "first_value", "luck", "drift", "losses", "left")
        return {
            "player": self.record.names[0],
            "score": self.record.score,
            "mean_loss": self.mean_loss,
            "best_share": self.best_share,
            "blunders": self.blunders,
            "moves": [move.as_json() for move in self.moves],
            "game": Game2048((board.rows, board.columns), self.spawn4).name,
            "judge": self.judge,
            "depth": self.depth,
            "time": self.time,
            "accuracy_means": ACCURACY_MEANS,
            **{name: getattr(self, name) for name in totals},
        }


def review(
    record: Record | str | Path,
    agent: Any = None,
    *,
    number: int = 1,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Review | TwoPlayerReview:
    """Compare every move of a game with the best one, and separate luck from skill.

    `record` is a record, the text of one (of the 2048-Framework, tuplet or 2048verse), or a file of
    such lines, of which `number` (from 1) is taken; a saved match is such a file. A game for two is judged by any
    agent that values every move (mcts:sims=5000 by default), in probabilities of winning; what follows is of 2048.

    `agent` is the judge. By default it is the network that comes with tuplet, or the exact solution on boards of up
    to six cells. A judge with learned values looks `depth` moves ahead (1 by default), or as far as `time` seconds per
    move allow. Any other agent whose `analyze(board)` gives every legal move a value in points can judge
    (mcts:sims=1000, a class, an object); it is asked about every board that could have followed, which takes about
    twenty times as long.
    """
    if not isinstance(record, Record):
        record = read_game(record, number, any_game=True)
    game = record.start.game
    if game.players == 2:
        if any(value is not None for value in (depth, time, downgrade)):
            raise UserError(f"depth, time and downgrade are of 2048; for {game.name} say mcts:time=2")
        return review_two(record, agent, progress, stop)
    share = None if game.any_tile else float(game.spawn4)  # other formats do not say how many tiles are fours
    size = record.start.rows, record.start.columns
    label = ""
    if agent is None:
        label, agent = default_oracle(size, 0.1 if share is None else share)
    player = agent_from(agent, "2048", depth=depth, time=time, downgrade=downgrade, spawn4=share)
    if isinstance(player, Solution) and share not in (None, player.spawn4):
        raise UserError(
            f"the table is of {100 * player.spawn4:g} % fours, and the game of {100 * share:g} %: "
            f"tuplet solve 2048 --board {player.size} --spawn4 {share:g} makes another"
        )
    empty = Game2048(size, 0.1 if share is None else share).position(Board(rows=size[0], columns=size[1]))
    ask(player, "open", agent_hooks.begin, player, empty, "player", streams_of(0, 0)[0])
    judge = ValueOracle(player, stop, share)
    moves, left = _judged(judge, record, progress, stop)
    depth, time = (player.depth, player.time) if isinstance(player, LearnedAgent) else (None, None)
    return Review(record, moves, label or label_of(agent, player), depth, time, judge.spawn4, left)


def _judged(
    judge: ValueOracle, record: Record, progress: ProgressOption, stop: Stop | None
) -> tuple[list[MoveReview], float]:
    """All moves, and the value of the last board."""
    total, pace = len(record.moves), RateMeter()
    moves: list[MoveReview] = []
    known: dict[str, float] | None = None
    value = 0.0
    with watching(progress) as watch, agent_hooks.listening(stop, judge.player):
        for position, move, after, came in _turns(record):
            board, reward = position.board, after.score - position.score
            known = judge.moves(board) if known is None else known
            coming = {} if came is None else judge.moves(came)
            value = max(coming.values(), default=0.0)
            mean = judge.mean(after.board, came, value)
            if agent_hooks.is_stopped(stop):
                raise Stopped(f"stopped after {len(moves):,} of {plural(total, 'move')}")
            if move not in known or not (coming or came is None or came.over):
                raise UserError(judge.no_values_error)
            value = mean if came is None else value
            number, best = len(moves) + 1, max(known, key=known.__getitem__)
            top = known[best]
            at_random = sum(lost_share(top - other, top) for other in known.values()) / len(known)
            judged = MoveReview(
                number, board, move, best, known[move], top, reward, value - mean, mean, position.score, at_random
            )
            moves.append(judged)
            known = coming
            watch(Progress("moves", number, total, pace.rate(number)))
    if not moves:
        raise UserError("the game has no moves to review")
    return moves, value


def _turns(record: Record) -> Iterator[tuple[Any, str, Any, Board | None]]:
    """Each position that was moved on, the move, the position after it, and the board with the next tile.

    That last one is None where the record ends before a tile appeared.
    """
    tiles = iter(record.outcomes[record.start.tile_due :])
    for position, move in record.replay():
        after, tile = position.play(move), next(tiles, None)
        yield position, move, after, None if tile is None else after.apply_outcome(tile).board


class ValueOracle:
    """The values of a judge, for moves and after-states.

    A judge of a fixed depth values the boards after every tile by the same depth. A judge with a time per move
    reaches different depths; the mean is then taken at the depth that its time allows.
    """

    def __init__(self, player: Any, stop: Stop | None, spawn4: float | None = None) -> None:
        self.player, self.stop = player, stop
        share = getattr(player, "spawn4", spawn4)
        self.spawn4 = 0.1 if share is None else float(share)
        self._shallow = player.fresh() if isinstance(player, LearnedAgent) else None

    def moves(self, board: Board) -> dict[str, float]:
        """The value of each legal move, with its reward."""
        if isinstance(self.player, LearnedAgent | Solution):
            known = self.player.moves(board)
        else:
            known = self._analyzed(board)
        return {move.move: move.value for move in known if move.value is not None}

    def value(self, board: Board) -> float:
        """The value of the best move; 0 if none is legal."""
        values = self.moves(board)
        if not values and not board.over:
            raise UserError(self.no_values_error)
        return max(values.values(), default=0.0)

    def mean(self, after: Board, came: Board | None, value: float) -> float:
        """The mean value of an after-state over all tiles that may appear.

        `came` is the board that one of them made, and `value` its value, computed just before.
        """
        if isinstance(self.player, Solution):
            return self.player.expected(after)
        if not isinstance(self.player, LearnedAgent) or self._shallow is None:
            total = 0.0
            for board, probability in after.spawns(self.spawn4):
                if agent_hooks.is_stopped(self.stop):
                    break
                total += probability * self.value(board)
            return total
        mean, depth = self.player.expected(after)
        if came is None or depth == self.player.reached or agent_hooks.is_stopped(self.stop):
            return mean
        self._shallow.depth, self._shallow.time = depth, None
        values = [move.value for move in self._shallow.moves(came) if move.value is not None]
        return value - (max(values, default=0.0) - mean)

    def _analyzed(self, board: Board) -> list[Any]:
        """Move values from a user's `analyze`; none on finished boards."""
        if not agent_hooks.has(self.player, "analyze") or board.over:
            return []
        game = Game2048((board.rows, board.columns), self.spawn4)
        analysis = ask(self.player, "analyze", self.player.analyze, game.position(board))
        return analysis.moves if isinstance(analysis, Analysis) else []

    @property
    def no_values_error(self) -> str:
        """The message for a judge that gives moves no value."""
        return f"{name_of(self.player)} has no values to judge by: name a run or weights"


def default_oracle(size: tuple[int, int], spawn4: float) -> tuple[str, Any]:
    """The judge if none is named: its name, and an agent or a text."""
    rows, columns = size
    if size == (4, 4):
        return DEFAULT_PLAYER, DEFAULT_PLAYER
    if rows * columns <= MOST_SOLVED_CELLS:
        return "the exact solution", _solved(size, spawn4)
    raise UserError(
        f"tuplet has no player of {rows}x{columns}: name a judge, such as a run trained on it, a table of "
        "tuplet solve, or mcts:sims=1000"
    )


@lru_cache(maxsize=8)
def _solved(size: tuple[int, int], spawn4: float) -> Solution:
    return solve_board(size, spawn4=spawn4, progress=False)
