"""How much is done at once: turns to search and memory, shared fairly among clients.

Who asks for something that is not to be had now waits for it. Of those who wait, the one goes on
whose client has the least; so nobody who asks much can keep the others out.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tuplet.system.blocks import cores
from tuplet.system.memory import available_memory
from tuplet.system.stop import Stop, Stopped

MOST_MEMORY = 2 << 30  # bytes that the server takes, all in all
OWN_MEMORY = 704 << 20  # of these, for itself: Python, compiled code, threads, answers
FOR_SEARCHES = 128 << 20  # at least, however large a network is: two of the largest
TURNS = 3  # searches for each core, of each kind
PATIENCE = 10.0  # seconds that somebody waits
MOST_WAITING = 256
_LOOK = 0.1  # seconds between looks at whether to stop
_SEARCHES = "too many searches are under way: try again in a moment"
_ALL = "*"  # in place of a client


class Busy(Exception):  # noqa: N818  # nothing went wrong
    """There is too much under way."""


class Claim:
    """A client's part: so many bytes, and perhaps a turn of a kind."""

    def __init__(self, client: str, memory: int, turn: str | None, number: int) -> None:
        self.client, self.memory, self.turn, self.number = client, memory, turn, number
        self.granted = threading.Event()


class Limits:
    """What there is, and who has it.

    `memory` bytes are for searches (three eighths) and networks; by default they are a half of what
    is free, 2 GB at most. `turns` is how many searches of each kind go on at once, and a client has
    three quarters of them at most.
    """

    def __init__(self, memory: int | None = None, turns: int | None = None) -> None:
        room = min(available_memory() // 2, MOST_MEMORY) - OWN_MEMORY if memory is None else memory
        self.memory, self.turns = max(room, 3 * FOR_SEARCHES), turns or TURNS * cores()
        self.for_searches = 3 * self.memory // 8
        self.of_client = max(3 * self.turns // 4, 1)
        self._networks: list[tuple[weakref.ref[Any], int]] = []
        self._taken = self._read = 0  # bytes of searches, and of networks that are being read
        self._clients: Counter[str] = Counter()  # claims that are granted
        self._turns: Counter[tuple[str | None, str]] = Counter()  # of a kind, by client and in all
        self._waiting: list[Claim] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @contextmanager
    def taking(
        self, client: str, stop: Stop, *, memory: int = 0, turn: str | None = None, patience: float = PATIENCE
    ) -> Iterator[None]:
        """Have memory or a turn for a while. Raises Busy if there is none, Stopped if told to."""
        claim = Claim(client, memory, turn, next(self._numbers))
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                raise Busy(_SEARCHES)
            self._waiting.append(claim)
            self._grant()
        try:
            until = time.monotonic() + patience
            while not claim.granted.wait(_LOOK):
                if stop.is_set():
                    raise Stopped("stopped before it could begin")
                if time.monotonic() > until:
                    raise Busy(_SEARCHES)
            yield
        finally:
            with self._lock:
                if claim.granted.is_set():
                    self._count(claim, -1)
                else:
                    self._waiting.remove(claim)
                self._grant()

    def lacks(self, size: int) -> int:
        """How many bytes are too few to read a network now. One is read, however large it is."""
        taken = self.networks
        return max(taken + size - self.memory + self.for_searches, 0) if taken else 0

    @contextmanager
    def reading(self, size: int) -> Iterator[bool]:
        """Have so many bytes while a network is read; whether there are as many."""
        with self._lock:
            able = not self.lacks(size)
            self._read += size if able else 0
        try:
            yield able
        finally:
            with self._lock:
                self._read -= size if able else 0
                self._grant()

    def add_network(self, network: Any, size: int) -> None:
        """Count the bytes of a network as long as anybody has it."""
        with self._lock:
            self._networks.append((weakref.ref(network), size))

    @property
    def networks(self) -> int:
        """Bytes of the networks in memory, or on their way there."""
        self._networks = [each for each in self._networks if each[0]() is not None]
        return sum(size for _, size in self._networks) + self._read

    @property
    def free(self) -> int:
        """Bytes that searches may still have."""
        left = max(self.memory - self.networks, FOR_SEARCHES)
        return min(left, self.for_searches) - self._taken

    def _count(self, claim: Claim, more: int) -> None:
        self._taken += more * claim.memory
        self._clients[claim.client] += more
        self._turns[claim.turn, claim.client] += more
        self._turns[claim.turn, _ALL] += more
        self._clients, self._turns = +self._clients, +self._turns  # nobody who has left

    def _grant(self) -> None:
        """Let those go on for whom there is room."""
        while self._waiting:
            free = self.free
            able = [claim for claim in self._waiting if self._fits(claim, free)]
            if not able:
                return
            first = min(able, key=lambda claim: (self._clients[claim.client], claim.number))
            self._waiting.remove(first)
            self._count(first, 1)
            first.granted.set()

    def _fits(self, claim: Claim, free: int) -> bool:
        if claim.memory > max(free, 0):
            return False
        return claim.turn is None or (
            self._turns[claim.turn, _ALL] < self.turns and self._turns[claim.turn, claim.client] < self.of_client
        )
