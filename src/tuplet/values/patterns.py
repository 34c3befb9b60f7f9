"""The tuples of a network: cells of the board, and their eight placements under symmetry.

0 1 2 3      the tuple 012345 reads      0 1 2 3     and, rotated,     . . 4 0
4 5 6 7                                  4 5 . .                       . . 5 1
8 9 a b                                  . . . .                       . . . 2
c d e f                                  . . . .                       . . . 3
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tuplet.errors import UserError
from tuplet.games.g2048.board import Size
from tuplet.games.g2048.symmetry import symmetries

#: The tuples of each named network: cells as hexadecimal digits, numbered row by row.
NETWORKS = {
    "4x6": "012345 456789 012456 45689a",
    "5x6": "012345 456789 89abcd 012456 45689a",
    "8x6": "012456 456789 012345 234569 01259a 345678 134567 01489a",
    "8g": "012345 456789 012456 45689a 234569 01259a 134567 01489a",
    "12g": "012345 456789 012456 45689a 234569 01259a 134567 01489a 12456a 01567b 0126ae 012459",
    "16g": "012345 456789 012456 45689a 234569 01259a 134567 01489a 12456a 01567b 0126ae 012459 "
    "01569a 012467 1259ae 012348",
    "5x4": "0123 4567 0145 1256 569a",
    "4x5": "01234 45678 01245 45689",
    "2x7": "0123456 456789a",
    "2x8": "01234567 456789ab",
}

Tuple = tuple[int, ...]  # cells on the 4x4 grid; the first has the lowest bits of a file's index

# On smaller boards, a table of all cells (or nearly all) is small enough.
SMALL_NETWORKS = {(2, 2): "0123", (2, 3): "012345", (3, 2): "012345", (3, 3): "012345 012346 013457"}


def placements(cells: Tuple, size: Size = (4, 4)) -> list[Tuple]:
    """The eight placements of a tuple, itself first."""
    return [tuple(symmetry[c] for c in cells) for symmetry in symmetries(size)]


def parse(pattern: str | Iterable[str | Sequence[int]], size: Size = (4, 4)) -> list[Tuple]:
    """A network's tuples, from its name ("4x6"), "0123 4567 ...", or lists of cells.

    Cells are numbered row by row on the board; in the result, on the 4x4 grid. Raises UserError if
    a tuple is malformed, or equal to another up to symmetry (both would learn the same table).
    """
    if isinstance(pattern, str):
        if size == (4, 4):
            pattern = NETWORKS.get(pattern, pattern)
        elif pattern in NETWORKS:
            raise UserError(
                f"network {pattern} is for the 4x4 board: name the tuples for a {size[0]}x{size[1]} board, "
                'such as "0123"'
            )
        pattern = pattern.replace(",", " ").split()
    tuples = [_cells(t, size) for t in pattern]
    if not tuples:
        raise UserError(f"a network needs at least one tuple; known names: {', '.join(NETWORKS)}")
    seen: dict[frozenset[int], Tuple] = {}
    for cells in tuples:
        for placed in placements(cells, size):
            other = seen.get(frozenset(placed))
            if other is not None and other is not cells:
                both = f"{format_tuple(other, size)} and {format_tuple(cells, size)}"
                raise UserError(f"tuples {both} are the same up to symmetry: leave one out")
        seen[frozenset(cells)] = cells
    return tuples


def add_tuples(tuples: list[Tuple], pattern: str, size: Size = (4, 4)) -> list[Tuple]:
    """The tuples, and those of another network that are not among them up to symmetry.

    >>> [format_tuple(t) for t in add_tuples(parse("0123 4567"), "0145 4567")]
    ['0123', '4567', '0145']
    """
    have = {frozenset(placed) for cells in tuples for placed in placements(cells, size)}
    return [*tuples, *(cells for cells in parse(pattern, size) if frozenset(cells) not in have)]


def _cells(spec: str | Sequence[int], size: Size) -> Tuple:
    try:
        cells = tuple(int(c, 16) if isinstance(c, str) else int(c) for c in spec)
    except (ValueError, TypeError):
        raise UserError(
            f"{spec!r} is neither a network ({', '.join(NETWORKS)}) nor a tuple of cells "
            "(hexadecimal digits 0-f, row by row)"
        ) from None
    if not 1 <= len(cells) <= 8:
        raise UserError(f"tuple {spec!r} has {len(cells)} cells: a tuple has 1 to 8")
    rows, columns = size
    if not all(0 <= c < rows * columns for c in cells):
        raise UserError(f"tuple {spec!r} has a cell outside the board: cells are 0 to {rows * columns - 1}")
    if len(set(cells)) < len(cells):
        raise UserError(f"tuple {spec!r} has a cell twice")
    return tuple(4 * (c // columns) + c % columns for c in cells)


def format_tuple(cells: Tuple, size: Size = (4, 4)) -> str:
    """A tuple as hexadecimal digits, cells numbered row by row on the board."""
    return "".join(f"{size[1] * (c // 4) + c % 4:x}" for c in cells)


def format_tuples(tuples: Iterable[Tuple], size: Size = (4, 4)) -> str:
    """Tuples as text that `parse` reads: "0123 4567"."""
    return " ".join(format_tuple(cells, size) for cells in tuples)


def default_network(size: Size) -> str:
    """The network to use on a board where none is named."""
    if size == (4, 4):
        return "4x6"
    if size not in SMALL_NETWORKS:
        raise UserError(f'there is no default network for a {size[0]}x{size[1]} board: name tuples, such as "012 345"')
    return SMALL_NETWORKS[size]


def parse_stages(tiles: str | Sequence[int]) -> tuple[int, ...]:
    """The tiles that define a network's stages, the largest first."""
    words = tiles.replace(",", " ").split() if isinstance(tiles, str) else tiles
    try:
        stages = tuple(sorted((int(word) for word in words), reverse=True))
    except (TypeError, ValueError):
        stages = (0,)
    if len(set(stages)) < len(stages) or not all(8 <= t <= 32768 and not t & (t - 1) for t in stages):
        raise UserError(f"stages must be different tiles from 8 to 32768 (got {tiles!r})")
    if len(stages) > 5:
        raise UserError(f"{len(stages)} tiles would make {2 ** len(stages)} stages: use at most 5")
    return stages


_CENTRE = {5, 6, 9, 10}
_CORNERS = {0, 3, 12, 15}


def storage_order(cells: Tuple) -> list[int]:
    """The order in which a table stores a tuple's cells, as positions in the tuple.

    A cache line holds the neighbouring values of the first two. Good play keeps large tiles on the
    rim, so the innermost cells vary most: in recorded games of 4x6, starting with the last two of
    the innermost touches 15 % fewer cache lines than the tuple's own order.
    """

    def outwards(position: int) -> int:
        cell = cells[position]
        return 0 if cell in _CENTRE else 2 if cell in _CORNERS else 1

    ranked = sorted(range(len(cells)), key=lambda p: (outwards(p), -cells[p]))
    return sorted(ranked[:2]) + sorted(ranked[2:])
