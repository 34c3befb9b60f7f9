"""EinStein würfelt nicht!: rules, positions, records."""

from tuplet.games.ewn.position import SIDES, Position, Side
from tuplet.games.ewn.record import FORFEITS, Forfeit, Record
from tuplet.games.ewn.variant import Variant, variant

__all__ = ["FORFEITS", "SIDES", "Forfeit", "Position", "Record", "Side", "Variant", "variant"]
