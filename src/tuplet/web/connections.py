"""Connections: how many may be open, and how long one may take to ask or to read its answer.

uvicorn itself waits without end for a request to arrive, and counts connections that say nothing
like those that ask: a few hundred of them would lock everybody out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 512
SECONDS = 10.0  # until a request has arrived whole, and while a client does not read its answer
KEEP_ALIVE = 30  # seconds that a connection is kept for the next request


def most_connections() -> int:
    """How many may be open: half of the files that the process may open, if that is less."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files != resource.RLIM_INFINITY:
            return max(min(MOST, files // 2), 1)
    return MOST


class Connection(H11Protocol):
    """One connection; uvicorn's own, with limits.

    When there are too many, one that waits for its next request is closed: the oldest of the client
    that has the most.
    """

    def __init__(self, *, most: int = MOST, seconds: float = SECONDS, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._most = most
        self._arriving, self._unread = (_Alarm(self.loop, seconds, self._abort) for _ in range(2))
        self._since = self.loop.time()  # when it was last of use

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for it, and wait for its first request."""
        super().connection_made(transport)
        while len(self.connections) > self._most:
            others = [c for c in self.connections if isinstance(c, Connection) and c is not self]
            count = Counter(other._host for other in others)
            idle = [other for other in others if other._is_idle]
            last = min(idle, key=lambda c: (-count[c._host], c._since), default=self)
            last._abort()
            if last is self:
                return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Read on; a request that begins has to arrive whole in time."""
        super().data_received(data)
        self._wait_for_request()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for a client that does not read, but not for long."""
        super().pause_writing()
        self._unread.set()

    def resume_writing(self) -> None:
        """It reads on."""
        super().resume_writing()
        self._unread.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._arriving.clear()
        self._unread.clear()
        super().connection_lost(exc)

    def _wait_for_request(self) -> None:
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if arriving and self in self.connections:
            self._arriving.set()
        else:  # all of it is here, or it became a socket
            self._arriving.clear()

    @property
    def _is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    def _abort(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


class _Alarm:
    """Calls something after some seconds, unless it is cleared before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, ring: Callable[[], object]) -> None:
        self._loop, self._seconds, self._ring = loop, seconds, ring
        self._timer: asyncio.TimerHandle | None = None

    def set(self) -> None:
        """The seconds begin, if they have not yet."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring)

    def clear(self) -> None:
        """It need not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
