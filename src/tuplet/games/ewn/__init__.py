"""EinStein würfelt nicht!: rules, game and positions."""

from tuplet.games.ewn.game import EwnGame, EwnPosition
from tuplet.games.ewn.rules import SIDES, Side

__all__ = ["SIDES", "EwnGame", "EwnPosition", "Side"]
