"""EinStein würfelt nicht!: rules, game and positions."""

from tuplet.games.ewn.game import EwnGame
from tuplet.games.ewn.position import EwnPosition
from tuplet.games.ewn.rules import SIDES, Side

__all__ = ["SIDES", "EwnGame", "EwnPosition", "Side"]
