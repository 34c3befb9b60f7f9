"""2048, TD and TC written as plainly as possible: what the kernels are compared with."""

from __future__ import annotations

import itertools

SYMMETRIES = [
    (lambda r, c: (r, c)),
    (lambda r, c: (c, 3 - r)),
    (lambda r, c: (3 - r, 3 - c)),
    (lambda r, c: (3 - c, r)),
    (lambda r, c: (r, 3 - c)),
    (lambda r, c: (3 - r, c)),
    (lambda r, c: (c, r)),
    (lambda r, c: (3 - c, 3 - r)),
]


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
    """Dictionaries instead of tables; an exponent beyond 15 is seen as 15.

    A later stage's weight starts as the stage before has it when it is first read.
    """

    def __init__(self, tuples: list[str], initial: float = 0.0, tc: bool = False, marks: tuple[int, ...] = ()) -> None:
        self.tuples: list[list[tuple[int, int]]] = []
        self.grow(tuples)
        self.born = len(tuples)
        self.weights: dict[tuple[int, ...], float] = {}
        self.coherence: dict[tuple[int, ...], tuple[float, float]] = {}
        self.start, self.tc, self.marks = initial / self.m, tc, marks

    def grow(self, tuples: list[str]) -> None:
        """Let tuples join whose weights are 0."""
        self.tuples += [[divmod(int(c, 16), 4) for c in t] for t in tuples]
        self.m = 8 * len(self.tuples)

    def stage(self, rows: list[list[int]]) -> int:
        tiles = [min(e, 15) for row in rows for e in row]
        bits = [any(e >= self.marks[0] for e in tiles)] if self.marks else [False]
        return int("".join(str(int(b)) for b in bits + [e in tiles for e in self.marks[1:]]), 2)

    def keys(self, rows: list[list[int]]) -> list[tuple[int, ...]]:
        return [
            (self.stage(rows), t, *(min(rows[a][b], 15) for a, b in (move(r, c) for r, c in cells)))
            for (t, cells), move in itertools.product(enumerate(self.tuples), SYMMETRIES)
        ]

    def weight(self, key: tuple[int, ...]) -> float:
        stage, *rest = key
        if key not in self.weights:
            earlier = ((s, *rest) for s in reversed(range(stage)) if (s, *rest) in self.weights)
            start = self.start if rest[0] < self.born else 0.0
            self.weights[key] = self.weights.get(next(earlier, key), start)
        return self.weights[key]

    def value(self, rows: list[list[int]]) -> float:
        return sum(self.weight(key) for key in self.keys(rows))

    def learn(self, rows: list[list[int]], target: float, alpha: float) -> None:
        step = alpha * (target - self.value(rows)) / self.m
        for key in self.keys(rows):
            rate = 1.0
            if self.tc:
                e, a = self.coherence.get(key, (0.0, 0.0))
                rate = abs(e) / a if a else 1.0
                self.coherence[key] = e + step, a + abs(step)
            self.weights[key] = self.weight(key) + step * rate


def learn_game(
    net: NaiveNetwork,
    boards: list[list[list[int]]],
    rewards: list[int],
    *,
    alpha: float,
    gamma: float = 1.0,
    lam: float = 0.0,
    steps: int = 1,
    order: str = "backward",
) -> None:
    """Learn from a game: `rewards[k]` is what the move behind `boards[k]` earned.

    Each board's return is written out as a sum over the rest of the game. From the end, values
    are taken as they were just after their own update; as the game goes, as they are.
    """
    last = len(boards)
    updated: dict[int, float] = {}

    def following(k: int) -> float:
        if k >= last:
            return 0.0
        return net.value(boards[k]) if order == "forward" else updated[k]

    target = 0.0
    for k in range(last) if order == "forward" else reversed(range(last)):
        if lam:
            target = rewards[k] + gamma * (lam * target + (1 - lam) * following(k + 1))
        else:
            earned = sum(gamma**i * r for i, r in enumerate(rewards[k : k + steps]))
            target = earned + gamma**steps * following(k + steps)
        net.learn(boards[k], target, alpha)
        updated[k] = net.value(boards[k])
