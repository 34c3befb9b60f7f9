"""2048: rules on a 64-bit board, exact up to the 131072 tile; a `Board` to print and draw."""

from tuplet.games.g2048.board import MOVES, Board, Move, as_move
from tuplet.games.g2048.game import Game2048, Position2048
from tuplet.games.g2048.rules import Rules2048, rules_for

__all__ = ["MOVES", "Board", "Game2048", "Move", "Position2048", "Rules2048", "as_move", "rules_for"]
