"""What a client may ask for, and how the server's turns and memory are shared among clients.

A request that cannot be served now waits. Of those that wait, the one goes on whose client has the least, so a client
with many requests cannot keep the others out.
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

# Connections
MAX_CONNECTIONS = 512
REQUEST_TIMEOUT = 10.0  # seconds for a request to arrive in full, and for a client to read its response
KEEP_ALIVE = 30  # seconds that an idle connection stays open
MAX_BODY = 1 << 20  # bytes of a request
MAX_NAME = 256  # characters of a game's or an agent's name

# Calls over HTTP
CALL_TIMEOUT = 60.0  # seconds until a call is stopped; it returns what it has
STOP_TIMEOUT = 5.0  # seconds that a stopped call has for that
LOGIN_DELAY = 0.5  # seconds after a wrong token, which makes guessing slow

# The websocket
MAX_SOCKETS = 128
MAX_JOBS = 4  # per socket
MAX_MESSAGE = 1 << 20  # bytes
MESSAGE_RATE, MESSAGE_BURST = 200, 400  # messages a second, and at once; each 16 KiB count as one
MAX_QUEUED_FRAMES = 1000  # for a client that does not read
JOB_TIMEOUT = 600.0  # seconds of a job, except a game
IDLE_TIMEOUT = 3600.0  # seconds until a silent socket, or a game that nobody watches, is closed
STALL_TIMEOUT = 10.0  # seconds without an acknowledgement until a client counts as not watching
MAX_STEPS = 500  # moves of a game that wait for an acknowledgement

# Searches
MAX_SIMULATIONS, MAX_SECONDS, MAX_DEPTH, MAX_NODES, MAX_TABLE, MAX_BATCH = 10_000_000, 60.0, 24, 1_000_000, 22, 10_000
MAX_LOOKAHEAD = 6  # moves, over learned values
MAX_TREE_DEPTH = 12  # moves of a tree that is sent
MAX_GAMES = 100  # of an evaluation
MAX_LEARNED, MAX_SHOWN = 1000, 200  # games before the one that is shown step by step, and its moves
MAX_SHOWN_WEIGHTS = 1 << 19  # of its network
SHORT_SEARCH = 1.0  # seconds, about

# Runs
MAX_POINTS = 2000  # of a curve
KEPT_CURVES = 256  # runs whose curves are in memory
KEPT_ANSWERS = 4  # of each, with different numbers of points
MAX_LOOKS = 10  # at runs, each second, of all clients: they are told to look less often
MAX_POLL = 20  # seconds between looks of a client at most
LOOKS_WINDOW = 5.0  # seconds over which looks are counted
MAX_RUNS = 4  # under way at once
MAX_SETTING = 2000  # characters of a run's setting
RUN_MEMORY = 400 << 20  # bytes of a run's process beside its tables
CHECKPOINT = 5.0  # seconds between checkpoints at least, and the age from which on clients get a newer one
CHECKPOINT_RATE = 10e6  # bytes of a run's tables for each second between these: saving takes a fortieth
SAVE_TIMEOUT = 15.0  # seconds to wait for such a checkpoint
LOCK_TIMEOUT = 0.5  # seconds: who looks at a lock has it for an instant
PROCESS_POLL = 0.05  # seconds between looks at a process

# Sharing
MAX_MEMORY = 2 << 30  # bytes of the whole process
BASE_MEMORY = 704 << 20  # of these for Python, compiled code, threads and responses
SEARCH_MEMORY = 128 << 20  # bytes for searches at least, whatever networks take: two of the largest
SMALL_NETWORK = 64 << 20  # bytes of a network that may be read beside others
KEPT_NETWORKS = 4
TURNS_PER_CORE = 3  # searches of each kind (instant, short, long) at once
WAIT_TIMEOUT = 10.0  # seconds to wait for a turn or for memory
MAX_WAITING = 256  # requests
POLL = 0.1  # seconds between checks whether to stop

_BUSY = "too many searches are under way: try again in a moment"
_ALL = "*"  # in place of a client


class Busy(Exception):  # noqa: N818  # nothing went wrong
    """The server has no turn or no memory for this now."""


class Claim:
    """A client's request for memory and perhaps a turn."""

    def __init__(self, client: str, memory: int, turn: str | None, number: int) -> None:
        self.client, self.memory, self.turn, self.number = client, memory, turn, number
        self.granted = threading.Event()


class Limits:
    """The turns and the memory that there are, and the claims on them.

    `memory` bytes are for searches (three eighths) and networks; the default is half of the free memory, at most 2 GB
    with what the server itself takes. `turns` searches of each kind run at once; a client has at most three quarters
    of them.
    """

    def __init__(self, memory: int | None = None, turns: int | None = None) -> None:
        if memory is None:
            memory = min(available_memory() // 2, MAX_MEMORY) - BASE_MEMORY
        self.memory, self.turns = max(memory, 3 * SEARCH_MEMORY), turns or TURNS_PER_CORE * cores()
        self.for_searches = 3 * self.memory // 8
        self.turns_per_client = max(3 * self.turns // 4, 1)
        self._networks: list[tuple[weakref.ref[Any], int]] = []
        self._taken = self._loading = 0  # bytes of searches, and of networks that are being read
        self._clients: Counter[str] = Counter()  # granted claims
        self._turns: Counter[tuple[str | None, str]] = Counter()  # by kind and client, and by kind and _ALL
        self._waiting: list[Claim] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @contextmanager
    def taking(
        self, client: str, stop: Stop, *, memory: int = 0, turn: str | None = None, timeout: float | None = None
    ) -> Iterator[None]:
        """Have memory and a turn in a `with` block. Raises Busy after a timeout, Stopped if `stop` is set."""
        claim = Claim(client, memory, turn, next(self._numbers))
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                raise Busy(_BUSY)
            self._waiting.append(claim)
            self._grant()
        try:
            deadline = time.monotonic() + (WAIT_TIMEOUT if timeout is None else timeout)
            while not claim.granted.wait(POLL):
                if stop.is_set():
                    raise Stopped("stopped before it could begin")
                if time.monotonic() > deadline:
                    raise Busy(_BUSY)
            yield
        finally:
            with self._lock:
                if claim.granted.is_set():
                    self._count(claim, -1)
                else:
                    self._waiting.remove(claim)
                self._grant()

    def missing(self, size: int) -> int:
        """How many bytes are missing to read a network now. If there is no other, none are, whatever its size."""
        taken = self.networks
        return max(taken + size - self.memory + self.for_searches, 0) if taken else 0

    @contextmanager
    def loading(self, size: int) -> Iterator[bool]:
        """Reserve memory while a network is read; False if there is not enough."""
        with self._lock:
            reserved = 0 if self.missing(size) else size
            self._loading += reserved
        try:
            yield reserved == size
        finally:
            with self._lock:
                self._loading -= reserved
                self._grant()

    def add_network(self, network: Any, size: int) -> None:
        """Count the bytes of a network for as long as it is referenced."""
        with self._lock:
            self._networks.append((weakref.ref(network), size))

    @property
    def networks(self) -> int:
        """Bytes of the networks in memory, and of those being read."""
        self._networks = [each for each in self._networks if each[0]() is not None]
        return sum(size for _, size in self._networks) + self._loading

    @property
    def free(self) -> int:
        """Bytes left for searches."""
        return min(max(self.memory - self.networks, SEARCH_MEMORY), self.for_searches) - self._taken

    def _count(self, claim: Claim, change: int) -> None:
        self._taken += change * claim.memory
        self._clients[claim.client] += change
        for client in (claim.client, _ALL):
            self._turns[claim.turn, client] += change
        self._clients, self._turns = +self._clients, +self._turns  # without zeros

    def _grant(self) -> None:
        """Grant all claims that fit, the ones of clients with the least first."""
        while claims := [claim for claim in self._waiting if self._fits(claim)]:
            first = min(claims, key=lambda claim: (self._clients[claim.client], claim.number))
            self._waiting.remove(first)
            self._count(first, 1)
            first.granted.set()

    def _fits(self, claim: Claim) -> bool:
        if claim.memory > max(self.free, 0):
            return False
        return claim.turn is None or (
            self._turns[claim.turn, _ALL] < self.turns and self._turns[claim.turn, claim.client] < self.turns_per_client
        )
