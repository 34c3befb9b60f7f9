"""Connections: how many may be open, and how long a request may take to arrive.

uvicorn waits without end for a request, and counts silent connections like any other: a few hundred of them would
keep everyone else out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tuplet.web import limits


def max_connections() -> int:
    """How many connections may be open: at most half of the files that the process may open."""
    with suppress(ImportError):  # Windows
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files != resource.RLIM_INFINITY:
            return max(min(limits.MAX_CONNECTIONS, files // 2), 1)
    return limits.MAX_CONNECTIONS


class Connection(H11Protocol):
    """uvicorn's connection, with limits.

    If there are too many, an idle one is closed: the oldest of the client that has the most.
    """

    def __init__(self, *, limit: int, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limit = limit
        self._arriving, self._unread = (_Timer(self.loop, self._abort) for _ in range(2))
        self._last_used = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for it, and wait for its first request."""
        super().connection_made(transport)
        while len(self.connections) > self._limit:
            others = [c for c in self.connections if isinstance(c, Connection) and c is not self]
            count = Counter(other._host for other in others)
            idle = [other for other in others if other._is_idle]
            oldest = min(idle, key=lambda c: (-count[c._host], c._last_used), default=self)
            oldest._abort()
            if oldest is self:
                return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Read on; a request that has begun must arrive in full in time."""
        super().data_received(data)
        self._wait_for_request()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._last_used = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read: wait for it, but not for long."""
        super().pause_writing()
        self._unread.start()

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        self._unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        self._arriving.cancel()
        self._unread.cancel()
        super().connection_lost(exc)

    def _wait_for_request(self) -> None:
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if arriving and self in self.connections:
            self._arriving.start()
        else:  # it has arrived in full, or has become a websocket
            self._arriving.cancel()

    @property
    def _is_idle(self) -> bool:
        """Whether no response is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    def _abort(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


class _Timer:
    """Calls a function after the request timeout, unless it is cancelled."""

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
        self._loop, self._call = loop, call
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start it, if it is not running."""
        if self._handle is None:
            self._handle = self._loop.call_later(limits.REQUEST_TIMEOUT, self._call)

    def cancel(self) -> None:
        """Stop it."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
