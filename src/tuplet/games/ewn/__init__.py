"""EinStein würfelt nicht!: rules and positions."""

from tuplet.games.ewn.position import SIDES, Position, Side
from tuplet.games.ewn.variant import Variant, variant

__all__ = ["SIDES", "Position", "Side", "Variant", "variant"]
