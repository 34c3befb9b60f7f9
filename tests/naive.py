"""2048 and TD(0) written as plainly as possible: what the kernels are compared with."""

from __future__ import annotations

import itertools

SYMMETRIES = [
    (lambda r, c: (r, c)), (lambda r, c: (c, 3 - r)), (lambda r, c: (3 - r, 3 - c)),
    (lambda r, c: (3 - c, r)), (lambda r, c: (r, 3 - c)), (lambda r, c: (3 - r, c)),
    (lambda r, c: (c, r)), (lambda r, c: (3 - c, 3 - r)),
]  # fmt: skip


def slide_left(line: list[int]) -> tuple[list[int], int]:
    """A line of exponents slid towards its first cell, and the reward."""
    tiles = [t for t in line if t]
    out, reward = [], 0
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1]:
            out.append(tiles[0] + 1)
            reward += 2 ** (tiles[0] + 1)
            tiles = tiles[2:]
        else:
            out.append(tiles.pop(0))
    return out + [0] * (len(line) - len(out)), reward


def slide(rows: list[list[int]], move: str) -> tuple[list[list[int]], int]:
    """A grid of exponents after a move, and the reward."""
    lines = [list(line) for line in (zip(*rows, strict=True) if move in ("up", "down") else rows)]
    if move in ("right", "down"):
        lines = [line[::-1] for line in lines]
    slid = [slide_left(line) for line in lines]
    lines = [line[::-1] if move in ("right", "down") else line for line, _ in slid]
    if move in ("up", "down"):
        lines = [list(line) for line in zip(*lines, strict=True)]
    return lines, sum(reward for _, reward in slid)


class NaiveNetwork:
    """Dictionaries instead of tables; an exponent beyond 15 is seen as 15."""

    def __init__(self, tuples: list[str], initial: float = 0.0) -> None:
        self.tuples = [[divmod(int(c, 16), 4) for c in t] for t in tuples]
        self.m = 8 * len(tuples)
        self.weights: dict[tuple[int, ...], float] = {}
        self.start = initial / self.m

    def keys(self, rows: list[list[int]]) -> list[tuple[int, ...]]:
        return [
            (t, *(min(rows[a][b], 15) for a, b in (move(r, c) for r, c in cells)))
            for (t, cells), move in itertools.product(enumerate(self.tuples), SYMMETRIES)
        ]

    def value(self, rows: list[list[int]]) -> float:
        return sum(self.weights.get(key, self.start) for key in self.keys(rows))

    def learn(self, rows: list[list[int]], target: float, alpha: float) -> None:
        step = alpha * (target - self.value(rows)) / self.m
        for key in self.keys(rows):
            self.weights[key] = self.weights.get(key, self.start) + step
