"""A recorded game gone through with a player that knows better: what did each move cost?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuplet.agents.g2048 import adapted, player_from
from tuplet.agents.learned import LearnedPlayer
from tuplet.agents.specs import Spec, label_of, name_of
from tuplet.arena.g2048 import ask, streams_of
from tuplet.arena.pictures_2048 import draw_review, worst_boards
from tuplet.games import life
from tuplet.games.analysis import Analysis, MoveValue, best_of
from tuplet.games.g2048 import Board, Episode
from tuplet.games.g2048.episode import Slide
from tuplet.system.files import lines_of
from tuplet.system.kinds import what_is
from tuplet.system.pictures import inline, save_figure
from tuplet.system.progress import Pace, Progress, Show, watching
from tuplet.system.sheet import Sheet, Shown, counted, percent
from tuplet.system.stop import Stop, Stopped
from tuplet.values.weights import SHIPPED

DEPTH = 3  # where neither depth nor time is given
BLUNDER = 0.05  # of all that was still to be won


@dataclass(frozen=True)
class Judgement:
    """A move as it was played, and the best one; values are of points still to come."""

    number: int  # counted from 1
    board: Board
    played: str
    best: str
    played_value: float
    value: float  # the best move's

    @property
    def loss(self) -> float:
        """What the move cost: 0 if it was the best, or as good."""
        return self.value - self.played_value

    @property
    def blunder(self) -> bool:
        """Whether the move cost a good part of all that was to come."""
        return self.loss > BLUNDER * abs(self.value)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "number": self.number, "board": self.board.tiles, "played": self.played,
            "best": self.best, "played_value": self.played_value, "value": self.value,
            "loss": self.loss,
        }  # fmt: skip


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """All moves of a game, judged."""

    episode: Episode
    moves: list[Judgement]
    judge: str = ""
    depth: int | None = None
    time: float | None = None

    @property
    def mean_loss(self) -> float:
        """Points lost a move."""
        return sum(move.loss for move in self.moves) / len(self.moves)

    @property
    def best_share(self) -> float:
        """The share of moves that were the best, or as good."""
        return sum(move.loss == 0 for move in self.moves) / len(self.moves)

    @property
    def blunders(self) -> int:
        """How many moves cost more than a twentieth of all that was to come."""
        return sum(move.blunder for move in self.moves)

    def worst(self, count: int) -> list[Judgement]:
        """The moves that cost most, the costliest first."""
        costly = sorted((m for m in self.moves if m.loss > 0), key=lambda m: -m.loss)
        return costly[:count]

    def sheets(self) -> list[Sheet]:
        """Totals, and the costliest moves."""
        episode = self.episode
        how = "" if self.depth is None else f", {counted(self.depth, 'move')} ahead"
        how = how if self.time is None else f", {self.time:g} s a move"
        title = (
            f"{episode.slider}  score {episode.score:,}   {counted(len(self.moves), 'move')}   "
            f"largest tile {episode.board.largest}"
        )
        totals = [
            f"judged by {self.judge}{how}",
            f"best moves {percent(self.best_share)}   mean loss {self.mean_loss:,.1f} points a "
            f"move   blunders {self.blunders:,}",
        ]
        rows = [
            [f"{m.number:,}", m.played, f"{m.played_value:,.1f}", m.best, f"{m.value:,.1f}",
             f"{m.loss:,.1f}", "blunder" if m.blunder else ""]
            for m in self.worst(5)
        ]  # fmt: skip
        columns = ["move", "played", "value", "best", "value", "loss", ""]
        return [Sheet(title, notes=totals), Sheet("", columns, rows, words=(1, 3, 6))]

    def plot(self, path: str | Path | None = None) -> Any:
        """What each move cost, as a figure; saved to `path` if given."""
        figure = draw_review(self)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _repr_html_(self) -> str:
        """How notebooks show it: tables, losses where matplotlib is installed, the worst move."""
        boards = "".join(map(worst_boards, self.worst(1)))
        return super()._repr_html_() + inline(self.plot) + boards

    def __repr__(self) -> str:
        return (
            f"<Review of {self.episode!r}: {percent(self.best_share)} best moves, mean loss "
            f"{self.mean_loss:,.1f}>"
        )

    def as_json(self) -> dict[str, Any]:
        """Totals, and a list of all moves."""
        return {
            "player": self.episode.slider, "score": self.episode.score,
            "mean_loss": self.mean_loss, "best_share": self.best_share,
            "blunders": self.blunders, "moves": [move.as_json() for move in self.moves],
        }  # fmt: skip


def review(
    record: Episode | str | Path,
    agent: Any = None,
    *,
    game: int = 1,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    progress: Show = None,
    stop: Stop | None = None,
) -> Review:
    """Value every move of a game of 2048 beside the best one.

    `record` is an episode, its line of text, or a file of such lines, of which number `game`
    (counted from 1) is taken. The judge has learned values (those that come with tuplet if none is
    named), and looks `depth` moves ahead (3 if it is named by a text), or as far as `time` seconds
    a move allow; or is any player whose `analyze(board)` gives every legal move a value in points
    (mcts:sims=1000, a class, an object).
    """
    episode = record if isinstance(record, Episode) else read_episode(record, game)
    agent = SHIPPED if agent is None else agent
    player = player_from(agent)
    learned = isinstance(player, LearnedPlayer)
    if learned and isinstance(agent, str | Spec) and depth is None and time is None:
        depth = DEPTH
    player = adapted(player, depth=depth, time=time, downgrade=downgrade)
    ask(player, "open", life.begin, player, Board(), "player", streams_of(0, 0)[0])
    moves: list[Judgement] = []
    total, pace = len(episode.slides), Pace()
    with watching(progress) as watch, life.listening(stop, player):
        for board, action in episode.replay():
            if not isinstance(action, Slide):
                continue
            known = _values(player, board)
            if life.told(stop):
                raise Stopped(f"stopped after {len(moves):,} of {counted(total, 'move')}")
            values = {move.move: move.value for move in known if move.value is not None}
            best = best_of(known)
            if best is None or action.move not in values:
                raise ValueError(
                    f"{name_of(player)} has no values to judge by: name a run or weights"
                )
            number, played = len(moves) + 1, action.move
            moves.append(Judgement(number, board, played, best, values[played], values[best]))
            watch(Progress("moves", number, total, pace.rate(number)))
    if not moves:
        raise ValueError("the game has no moves that could be reviewed")
    depth, time = (player.depth, player.time) if isinstance(player, LearnedPlayer) else (None, None)
    return Review(episode, moves, label_of(agent, player), depth, time)


def _values(player: Any, board: Board) -> list[MoveValue]:
    """What a judge thinks of the moves of a board."""
    if isinstance(player, LearnedPlayer):
        return player.moves(board)
    found = ask(player, "analyze", player.analyze, board) if life.has(player, "analyze") else None
    return found.moves if isinstance(found, Analysis) else []


def read_episode(record: str | Path, game: int = 1) -> Episode:
    """Game number `game` of a file, or of a text that is a record itself."""
    where = "the record" if "|" in str(record) else str(record)
    if "|" in str(record) or not str(record).strip():
        text, number = _line([line.encode() for line in str(record).strip().split("\n")], game)
    else:
        if Path(record).is_dir():
            raise ValueError(f"{record} is {what_is(record)}, and not a file of games")
        with Path(record).open("rb") as file:
            text, number = _line(lines_of(file, record), game)
    if number != game:
        raise ValueError(f"{where or 'it'} has {counted(number, 'game')}: there is no game {game}")
    try:
        return Episode.parse(text)
    except ValueError as error:
        if where == str(record) and not what_is(record).startswith("games of 2048"):
            raise ValueError(
                f"{where} is not a file of games of 2048: it is {what_is(record)}"
            ) from None
        why = str(error)
        if text.lstrip().startswith("{"):
            why = "only games of 2048 on 4x4 are reviewed; tuplet show replays others"
        raise ValueError(f"{where}, game {game}: {why}") from None


def _line(lines: Iterable[bytes], game: int) -> tuple[str, int]:
    """The line of a game that is not blank, and its number; the last one's if there are fewer."""
    found, number = b"", 0
    for number, found in enumerate(filter(bytes.strip, lines), 1):  # noqa: B007  # used below
        if number == game:
            break
    return found.decode(errors="replace"), number
