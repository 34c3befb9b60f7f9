"""How many learn at once on this machine: found out while learning.

Threads that share the tables write to the same cache lines. Two of them learn at 1.7 times the
speed of one, or at 0.7 times, in spells of minutes, as the host moves the cores together or apart.
Threads that learn apart, each in tables of its own, do not suffer, but games learned apart teach
less, and need memory. So each way is tried for a moment, the best is kept, and the others are
looked at again later: soon if the speed changes, else more and more seldom.
"""

from __future__ import annotations

from collections.abc import Callable

APART = 0  # in place of a number of threads that share

TRY = 1.5  # seconds that a way is tried for
KEEP = 10.0  # seconds until others are looked at, at first
SELDOM = 240.0  # and at most
CLEAR = 1.3  # how much better a way is that needs no other look soon
CHANGED = 0.8  # of the speed it was chosen at: others are looked at now
# What a move is worth of one thread's. Two that share lose 2 % at most; two that learn apart lost
# nothing that could be measured, more of them did (docs/studies/rounds.md): a cautious figure.
_SHARED, _APART = 0.98, 0.8
_BEST = 0.95  # of one thread's speed, that each of several can have


class Hands:
    """The way that is taken now, and what is known of the others."""

    def __init__(self, most: int, now: float) -> None:
        self.most, self.way = most, most
        self.rates: dict[int, float] = {}  # moves a second, the last time
        self._chosen_at = 0.0  # the rate of `way` when it was chosen
        self._due = {way: now if way == 1 else now + KEEP for way in self._all()}
        self._wait = dict.fromkeys(self._all(), KEEP)

    def _all(self) -> list[int]:
        """Threads that share: as many as there are, half of them, ..., one; and apart."""
        ways = [self.most]
        while ways[-1] > 1:
            ways.append(ways[-1] // 2)
        return [*ways, APART]

    def worth(self, way: int) -> float:
        """What a way is known to learn in a second, in moves of one thread."""
        by = _APART if way == APART else _SHARED if way > 1 else 1.0
        return by * self.rates.get(way, 0.0)

    def next(self, now: float, room: Callable[[], bool]) -> tuple[int, float]:
        """How many threads share from now on, and for how many seconds.

        `room` tells whether they can learn apart.
        """
        if self.way not in self.rates:
            return self.way, TRY
        if self.way == APART and not room():
            self._take(1, now)
        others = [way for way in self._all() if way != self.way]
        for way in others:
            if now >= self._due[way] and (way != APART or (self._could_win() and room())):
                return way, TRY
        later = [self._due[way] for way in others if way != APART]
        return self.way, min(max(min(later) - now, TRY), KEEP)

    def _could_win(self) -> bool:
        """Whether to learn apart could be better: each thread is at most as fast as one alone."""
        best = max(self.worth(way) for way in self._all() if way != APART)
        return _APART * _BEST * self.most * self.rates.get(1, 0.0) > best

    def heard(self, way: int, rate: float, now: float) -> None:
        """A way has had this rate, in moves a second."""
        self.rates[way] = rate
        if self.way not in self.rates:  # one thread, that had to go first
            self._due[way] = now + KEEP
            return
        if way == self.way:
            best = max(self._all(), key=self.worth)
            if self.worth(best) > self.worth(way):  # as far as is known: look at it again
                self._due[best] = min(self._due[best], now)
            if rate < CHANGED * self._chosen_at:
                self._chosen_at = rate
                self._look_soon(now)
            self._chosen_at = self._chosen_at or rate
            return
        if self.worth(way) > self.worth(self.way):
            self._take(way, now)
            return
        clear = self.worth(self.way) > CLEAR * self.worth(way)
        self._wait[way] = min((4 if clear else 2) * self._wait[way], SELDOM)
        self._due[way] = now + self._wait[way]

    def _take(self, way: int, now: float) -> None:
        self._wait[self.way] = KEEP
        self._due[self.way] = now + KEEP
        self.way, self._chosen_at = way, self.rates.get(way, 0.0)

    def _look_soon(self, now: float) -> None:
        for way in self._all():
            self._wait[way], self._due[way] = KEEP, now
