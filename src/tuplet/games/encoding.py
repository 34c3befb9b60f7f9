"""How a position looks to an n-tuple network: cells with contents, their symmetries, and features beyond cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Encoding:
    """What the `encode` kernel of a game writes, always as the side that moves next sees it.

    A position is a content for each cell, a number below `kinds` (0 is an empty cell), and a number for each feature.
    """

    rows: int
    columns: int
    kinds: int
    net: str  # the network to use where none is named: see `values.game_network`
    # Permutations of cells that do not change a position's value, besides the identity: the content of
    # cell `symmetry[c]` of the image is that of cell c.
    symmetries: tuple[tuple[int, ...], ...] = ()
    # Coarser contents for large tuples, by name: for each kind a smaller number, 0 for the empty cell.
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)  # how many values each feature has
    # What suits learning, where options say nothing: moves that targets look ahead, and lambda (None: the learner's
    # own, or 0 if the game has chance).
    ahead: int = 1
    lam: float | None = None
    tables: Any = ()  # arrays that `encode` reads

    @property
    def cells(self) -> int:
        """The number of cells, row by row."""
        return self.rows * self.columns


def mirrored(rows: int, columns: int) -> tuple[int, ...]:
    """The symmetry that exchanges left and right."""
    return tuple(row * columns + columns - 1 - column for row in range(rows) for column in range(columns))


def transposed(size: int) -> tuple[int, ...]:
    """The symmetry of a square board that exchanges rows and columns."""
    return tuple(column * size + row for row in range(size) for column in range(size))
