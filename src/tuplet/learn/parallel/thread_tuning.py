"""How many threads train the same tables: measured while they learn.

Threads that share tables write to the same cache lines. Two of them may learn at 1.7 times the speed
of one, or at 0.7 times, in spells of minutes, as the host moves the cores closer together or further
apart. So each number of threads is tried for a moment, the best is kept, and the others are tried
again later: at once if the speed drops, else less and less often.
"""

from __future__ import annotations

TRY = 1.5  # seconds that a number of threads is tried for
KEEP = 10.0  # seconds until the others are tried, at first
SELDOM = 240.0  # and at most
CLEAR = 1.3  # how much better the best is if a number need not be tried again soon
DROPPED = 0.8  # of the speed at which the best was chosen: the others are tried now
SHARED = 0.98  # the worth of a move learned by several threads: they lose 2 % of quality at most


class ThreadTuner:
    """The best number of threads so far, and when to try others. Times are on any one clock."""

    def __init__(self, most: int, now: float) -> None:
        self.best = most
        self.rates: dict[int, float] = {}  # moves a second, the last time
        self._counts = [most]
        while self._counts[-1] > 1:
            self._counts.append(self._counts[-1] // 2)
        self._chosen_at = 0.0  # the rate of `best` when it was chosen
        self._due = {count: now if count == 1 else now + KEEP for count in self._counts}
        self._wait = dict.fromkeys(self._counts, KEEP)

    def worth(self, count: int) -> float:
        """The moves a second that a number of threads is worth."""
        return (SHARED if count > 1 else 1.0) * self.rates.get(count, 0.0)

    def next(self, now: float) -> tuple[int, float]:
        """How many threads to use, and for how many seconds."""
        if self.best not in self.rates:
            return self.best, TRY
        others = [count for count in self._counts if count != self.best]
        for count in others:
            if now >= self._due[count]:
                return count, TRY
        return self.best, min(max(min(self._due[count] for count in others) - now, TRY), KEEP)

    def record(self, count: int, rate: float, now: float) -> None:
        """Note the moves a second of a number of threads."""
        self.rates[count] = rate
        if self.best not in self.rates:  # one thread, which had to go first
            self._due[count] = now + KEEP
        elif count == self.best:
            better = max(self._counts, key=self.worth)
            if self.worth(better) > self.worth(count):
                self._due[better] = min(self._due[better], now)
            if rate < DROPPED * self._chosen_at:
                self._chosen_at = rate
                self._wait, self._due = dict.fromkeys(self._counts, KEEP), dict.fromkeys(self._counts, now)
            self._chosen_at = self._chosen_at or rate
        elif self.worth(count) > self.worth(self.best):
            self._wait[self.best], self._due[self.best] = KEEP, now + KEEP
            self.best, self._chosen_at = count, rate
        else:
            clear = self.worth(self.best) > CLEAR * self.worth(count)
            self._wait[count] = min((4 if clear else 2) * self._wait[count], SELDOM)
            self._due[count] = now + self._wait[count]
