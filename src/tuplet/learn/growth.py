"""Networks that grow while they learn: small ones learn fast, large ones learn more.

Tuples that join have weights of 0. No board's value changes by that, only what can be learned.
"""

from __future__ import annotations

from tuplet.errors import UserError
from tuplet.games.g2048.board import Size
from tuplet.values.network import check_memory
from tuplet.values.patterns import Tuple, add_tuples, format_tuple, parse
from tuplet.values.tables import stage_size

Growth = list[tuple[float, list[Tuple]]]


def growth_of(net: str, grow: str, size: Size = (4, 4)) -> Growth:
    """Which tuples a network has, from which share of the run on.

    `grow` has steps, a share and the tuples that join then: a network's name (those of it that are
    still missing), or tuples, separated by spaces.

    >>> [(after, len(tuples)) for after, tuples in growth_of("4x6", "0.2:8g 0.5:0156ab 012356")]
    [(0.0, 4), (0.2, 8), (0.5, 10)]
    """
    growth: Growth = [(0.0, parse(net, size))]
    for after, names in _steps(grow):
        have = growth[-1][1]
        tuples = have
        for name in names:
            tuples = add_tuples(tuples, name, size)
        if tuples == have:
            raise UserError(f"to grow by {' '.join(names)} adds no tuple: the network has them")
        growth.append((after, tuples))
    return growth


def _steps(grow: str) -> list[tuple[float, list[str]]]:
    steps: list[tuple[float, list[str]]] = []
    sound = isinstance(grow, str)
    for word in grow.replace(",", " ").split() if sound else ():
        share, colon, name = word.partition(":")
        try:
            if colon:
                steps.append((float(share), []))
            steps[-1][1].append(name or share)
        except (IndexError, ValueError):
            sound = False
            break
    shares = [after for after, _ in steps]
    if not sound or shares != sorted(set(shares)) or not all(0 < after < 1 for after in shares):
        raise UserError(
            "a network grows by steps such as 0.2:8g (after a fifth of the run the tuples of 8g "
            f"join) or 0.5:0156ab, one after another, not {grow!r}"
        )
    return steps


def due(growth: Growth, done: float) -> list[Tuple]:
    """The tuples of a network when this share of the run is done."""
    return next(tuples for after, tuples in reversed(growth) if done >= after)


def ask_for_room(growth: Growth, stages: int, memory_per_weight: int) -> None:
    """Raise ValueError now, not when it has grown, if there is no memory for all its tuples."""
    largest = growth[-1][1]
    numbers = stage_size(largest, stages) * stages * (1 + memory_per_weight)
    check_memory(" ".join(map(format_tuple, largest)), numbers)
