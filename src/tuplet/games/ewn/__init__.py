"""EinStein würfelt nicht!: rules, positions, records."""

from tuplet.games.ewn.family import Family, family
from tuplet.games.ewn.position import SIDES, Position, Side
from tuplet.games.ewn.record import FORFEITS, Record

__all__ = ["FORFEITS", "SIDES", "Family", "Position", "Record", "Side", "family"]
