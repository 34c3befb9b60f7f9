"""A recorded game gone through with a player that knows better: what did each move cost?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tuplet.agents import LearnedPlayer
from tuplet.games.g2048 import Board, Episode, Move
from tuplet.games.g2048.episode import Slide
from tuplet.values.network import best_of

BLUNDER = 0.05  # of all that was still to be won


@dataclass(frozen=True)
class Judgement:
    """A move as it was played, and the best one; values are of points still to come."""

    number: int  # counted from 1
    board: Board
    played: Move
    best: Move
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


@dataclass(frozen=True)
class Review:
    """All moves of a game, judged."""

    episode: Episode
    moves: list[Judgement]

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

    def as_json(self) -> dict[str, Any]:
        """Totals, and a list of all moves."""
        return {
            "player": self.episode.slider, "score": self.episode.score,
            "mean_loss": self.mean_loss, "best_share": self.best_share,
            "blunders": self.blunders, "moves": [move.as_json() for move in self.moves],
        }  # fmt: skip


def review(
    episode: Episode, player: LearnedPlayer, watch: Callable[[int, int], None] | None = None
) -> Review:
    """Value every move of a game beside the player's best one.

    `watch` is told of moves judged. Raises ValueError for a game without moves.
    """
    moves: list[Judgement] = []
    for board, action in episode.replay():
        if not isinstance(action, Slide):
            continue
        known = player.moves(board)
        values = {move.move: move.value for move in known if move.value is not None}
        best = best_of(known)
        assert best is not None  # a move was made
        number, played = len(moves) + 1, action.move
        moves.append(Judgement(number, board, played, best, values[played], values[best]))
        if watch is not None:
            watch(len(moves), len(moves))
    if not moves:
        raise ValueError("the game has no moves that could be reviewed")
    return Review(episode, moves)
