"""Which cells a tuple looks at, and its eight placements under rotation and reflection.

0 1 2 3      the tuple 012345 looks at      0 1 2 3     and, turned,     . . 4 0
4 5 6 7                                     4 5 . .                      . . 5 1
8 9 a b                                     . . . .                      . . . 2
c d e f                                     . . . .                      . . . 3
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NETWORKS = {
    "4x6": "012345 456789 012456 45689a",
    "5x6": "012345 456789 89abcd 012456 45689a",
    "8x6": "012456 456789 012345 234569 01259a 345678 134567 01489a",
    "5x4": "0123 4567 0145 1256 569a",
    "4x5": "01234 45678 01245 45689",
    "2x7": "0123456 456789a",
    "2x8": "01234567 456789ab",
}

Tuple = tuple[int, ...]  # cells, the first one lowest in a weight file's index


def _turn(cell: int) -> int:
    """Where a quarter turn clockwise carries a cell."""
    row, column = divmod(cell, 4)
    return 4 * column + 3 - row


def _mirror(cell: int) -> int:
    """Where left and right changed places carries a cell."""
    return cell ^ 3


def _symmetries() -> tuple[Tuple, ...]:
    maps = []
    for first in (range(16), [_mirror(c) for c in range(16)]):
        cells = list(first)
        for _ in range(4):
            maps.append(tuple(cells))
            cells = [_turn(c) for c in cells]
    return tuple(maps)


SYMMETRIES = _symmetries()  # eight maps from cell to cell, the identity first


def placements(cells: Tuple) -> list[Tuple]:
    """The eight placements of a tuple, itself first."""
    return [tuple(symmetry[c] for c in cells) for symmetry in SYMMETRIES]


def parse(pattern: str | Iterable[str | Sequence[int]]) -> list[Tuple]:
    """A network's tuples, from its name ("4x6"), "0123 4567 ...", or lists of cells.

    Raises ValueError, naming the tuple, where one is malformed or the same as another up to
    symmetry (they would be one table learned twice).
    """
    if isinstance(pattern, str):
        pattern = NETWORKS.get(pattern, pattern).replace(",", " ").split()
    tuples = [_cells(t) for t in pattern]
    if not tuples:
        raise ValueError(f"a network needs at least one tuple; known names: {', '.join(NETWORKS)}")
    seen: dict[frozenset[int], Tuple] = {}
    for cells in tuples:
        for placed in placements(cells):
            other = seen.get(frozenset(placed))
            if other is not None and other is not cells:
                raise ValueError(
                    f"tuples {spell(other)} and {spell(cells)} are the same up to symmetry: "
                    "leave one out"
                )
        seen[frozenset(cells)] = cells
    return tuples


def _cells(spec: str | Sequence[int]) -> Tuple:
    try:
        cells = tuple(int(c, 16) if isinstance(c, str) else int(c) for c in spec)
    except (ValueError, TypeError):
        raise ValueError(
            f"{spec!r} is neither a network ({', '.join(NETWORKS)}) nor a tuple of cells "
            "(hexadecimal digits 0-f, row by row)"
        ) from None
    if not 1 <= len(cells) <= 8:
        raise ValueError(f"tuple {spec!r} has {len(cells)} cells: a tuple has 1 to 8")
    if not all(0 <= c < 16 for c in cells):
        raise ValueError(f"tuple {spec!r} has a cell outside the board: cells are 0 to 15")
    if len(set(cells)) < len(cells):
        raise ValueError(f"tuple {spec!r} holds a cell twice")
    return cells


def spell(cells: Tuple) -> str:
    """A tuple as hexadecimal digits."""
    return "".join(f"{c:x}" for c in cells)


_CENTRE = {5, 6, 9, 10}
_CORNERS = {0, 3, 12, 15}


def storage_order(cells: Tuple) -> list[int]:
    """The positions in a tuple in the order its table is laid out, neighbours-in-memory first.

    A cache line holds the neighbouring values of the first two. A good player keeps large
    tiles on the rim, so the innermost cells vary most; counted on recorded games of 4x6, the
    last two of the innermost touch 15 % fewer lines than the first two cells of the tuple.
    """

    def outwards(position: int) -> int:
        cell = cells[position]
        return 0 if cell in _CENTRE else 2 if cell in _CORNERS else 1

    ranked = sorted(range(len(cells)), key=lambda p: (outwards(p), -cells[p]))
    return sorted(ranked[:2]) + sorted(ranked[2:])
